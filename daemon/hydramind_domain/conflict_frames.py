"""Which single-valued attribute of which subject a clause fills, and with what: "the owner of billing is Alice"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hydramind_domain import lexicon
from hydramind_domain.conflict_tokens import PREPOSITIONS, Token, is_content

# The attribute of a bare "X is V" and of a bare move ("X moved to V").
PLAIN: Final = "="
MOVED: Final = ">"

_CHANGE: Final = lexicon.stems("change")
_MOVE: Final = lexicon.stems("move")
_REPLACE: Final = lexicon.stems("replace")
# Without one of these a clause rejects nothing.
_REJECTING_KEYS: Final = _MOVE | _REPLACE
_REJECTING_WORDS: Final = frozenset({"instead", "rather", "not"})
# Verbs whose past tense tells of a state that lasts: "joined Meta", "was assigned to Hermes".
_BECOMING: Final = _CHANGE | lexicon.stems("becoming")
# Words that name the kind of a thing rather than the thing: "the billing service" is "billing".
GENERIC: Final = lexicon.stems("generic")
_STOPS: Final = frozenset(
    {
        "in",
        "on",
        "for",
        "with",
        "during",
        "while",
        "when",
        "at",
        "under",
        "by",
        "if",
        "unless",
        "where",
        "per",
        "until",
        "before",
        "after",
        "as",
        "from",
        "via",
        "using",
        "of",
        "within",
        "since",
    }
)
_HE: Final = frozenset({"he", "she"})
_QUALIFIERS: Final = frozenset({"new", "current", "now", "own", "official", "latest"})


@dataclass(frozen=True, slots=True)
class Frame:
    """Subject, attribute and value.

    `context` holds what restricts the statement; `definite` says the subject is a
    definite description ("the CI runner"); `named` that the value reads as a proper name.
    """

    attribute: str
    subject: frozenset[str]
    value: tuple[Token, ...]
    context: frozenset[str]
    definite: bool
    moved: bool

    @property
    def start(self) -> int:
        """The first code point of the value."""
        return min(token.start for token in self.value)

    @property
    def end(self) -> int:
        """The end of the value, exclusive."""
        return max(token.end for token in self.value)

    @property
    def keys(self) -> frozenset[str]:
        """What the value names, without words for its kind."""
        keys = frozenset(token.key for token in self.value)
        return keys - GENERIC or keys

    @property
    def named(self) -> bool:
        """Whether every word of the value is capitalised, typed or has the look of code."""
        return all(t.capital or t.typed or any(c in t.folded for c in "._-/:0123456789") for t in self.value)

    @property
    def coded(self) -> bool:
        """Whether the value has the look of code: "eu-west-1", "release/2.0"."""
        return any(any(c in t.folded for c in "-_/.0123456789") for t in self.value)


def find_frames(tokens: list[Token], rejected: frozenset[str]) -> tuple[Frame, ...]:
    """At most four frames of a clause that is not negated."""
    keys = {token.key for token in tokens}
    found: list[Frame | None] = []
    if not lexicon.attribute_verbs().keys().isdisjoint(keys):
        found += [_verb_frame(tokens), _inverse_frame(tokens)]
    found.append(_copular_frame(tokens))
    if not _CHANGE.isdisjoint(keys):
        found.append(_change_frame(tokens))
    frames = [frame for frame in found if frame is not None and frame.value]
    frames += _tool_frames(tokens, rejected)
    return tuple(dict.fromkeys(frames))[:4]


def find_rejected(tokens: list[Token]) -> frozenset[str]:
    """What a clause says no longer holds: X of "replaced X with Y", "moved from X to Y", "Y instead of X", "Y, not X"."""
    if _REJECTING_KEYS.isdisjoint({t.key for t in tokens}) and _REJECTING_WORDS.isdisjoint({t.folded for t in tokens}):
        return frozenset()
    for index, token in enumerate(tokens):
        later = tokens[index + 1 :]
        if token.key in _REPLACE and token.role == "w":
            return _replaced(tokens, index)
        if token.key in _MOVE and token.role == "w":
            source = _between(later, {"from"}, {"to", "in", "for", "on", "at"})
            if source:
                return source
        if token.folded in {"instead", "rather"} and later and later[0].folded in {"of", "than"}:
            return frozenset(t.key for t in _until(later[1:], _STOPS | {"of"}) if is_content(t))
        if is_contrast(tokens, index):
            return frozenset(t.key for t in _until(later, _STOPS) if is_content(t))
    return frozenset()


def is_contrast(tokens: list[Token], index: int) -> bool:
    """As in "use uv, not pip": a negator behind the object, before a bare noun, with a verb ahead of it all."""
    if tokens[index].folded != "not" or not index:
        return False
    before = tokens[index - 1]
    ahead = tokens[index + 1 : index + 2]
    return (
        before.role == "w"
        and bool(ahead)
        and ahead[0].role == "w"
        and (not any(t.role in {"be", "aux", "modal"} for t in tokens[:index]) and index >= 2)
    )


def _replaced(tokens: list[Token], index: int) -> frozenset[str]:
    later = tokens[index + 1 :]
    passive = any(token.role == "be" for token in tokens[max(0, index - 3) : index])
    if passive:
        partner = any(token.folded in {"with", "by", "for"} for token in later)
        return frozenset(token.key for token in tokens[:index] if token.role == "w" and partner)
    if not any(token.folded in {"with", "by", "for"} for token in later):
        return frozenset()
    return frozenset(token.key for token in _until(later, {"with", "by", "for", "in", "on"}) if token.role == "w")


def _between(tokens: list[Token], opening: set[str], closing: set[str]) -> frozenset[str]:
    for index, token in enumerate(tokens):
        if token.folded in opening:
            return frozenset(t.key for t in _until(tokens[index + 1 :], closing) if is_content(t))
    return frozenset()


def _until(tokens: list[Token], stops: frozenset[str] | set[str]) -> list[Token]:
    for index, token in enumerate(tokens):
        if token.folded in stops or token.role in {"conj", "comma", "be", "mark"}:
            return tokens[:index]
    return tokens


def _subject(tokens: list[Token]) -> frozenset[str] | None:
    """The key of a subject phrase, or None where it refers to something named elsewhere."""
    keys: set[str] = set()
    for token in tokens:
        if token.folded in _HE:
            keys.add("@they1")
        elif token.role == "pron" and not token.key.startswith("@"):
            return None
        elif is_content(token) and token.folded not in _QUALIFIERS:
            keys.add(token.key)
        elif token.role == "conj":
            return None
    return frozenset(keys - GENERIC or keys)


def _value_and_context(tokens: list[Token]) -> tuple[tuple[Token, ...], frozenset[str]] | None:
    """The value right behind the predicate and whatever restricts it; None for lists, descriptions and clauses."""
    tokens = list(tokens)
    while tokens and (tokens[0].role in {"prep", "soft"} or tokens[0].folded == "the"):
        tokens = tokens[1:]
    if not tokens or tokens[0].folded in {"a", "an"} or tokens[0].role in {"neg", "pron", "modal"}:
        return None
    value: list[Token] = []
    rest = tokens
    while rest and not (rest[0].folded in _STOPS or rest[0].role in {"conj", "be", "mark", "modal", "neg", "prep"}):
        if is_content(rest[0]) and not (value and rest[0].temporal and value[0].value is None):
            value.append(rest[0])
        rest = rest[1:]
    if rest and rest[0].role in {"conj", "modal", "be"}:
        return None
    if not value or len(value) > 4 or any(t.folded.endswith("ing") and not t.capital and not t.typed for t in value):
        return None
    context = frozenset(token.key for token in rest if is_content(token) and not token.temporal)
    return tuple(value), context


def _verb_frame(tokens: list[Token]) -> Frame | None:
    table = lexicon.attribute_verbs()
    for index, token in enumerate(tokens):
        if token.role != "w" or token.key not in table or (index and tokens[index - 1].role == "art"):
            continue
        for form in table[token.key]:
            length = len(form.words)
            run = tokens[index : index + length]
            if form.kind != "verb" or tuple(t.key for t in run) != form.words:
                continue
            subject = _subject(tokens[:index])
            after = tokens[index + length : index + length + 1]
            if after and after[0].role == "prep":
                continue  # "is called by", "joined in May": not the verb of the list
            parts = _value_and_context(tokens[index + length :])
            if not subject or parts is None or (form.words == ("move", "to") and not parts[0][0].temporal):
                break
            if form.attribute == "employer" and not parts[0][0].capital:
                break
            if form.words == ("run", "on") and not any(char.isdigit() for char in parts[0][0].folded):
                break  # a service runs on many systems, but on one machine
            if form.attribute in _PERSONAL:
                parts = (parts[0], _without_company(tokens[index + length :]))
            changed = token.key in _BECOMING or token.folded.startswith("re")
            return Frame(form.attribute, subject, parts[0], parts[1], definite=False, moved=changed)
    return None


# Whom one lives with and as what one works restricts neither.
_PERSONAL: Final = frozenset({"location", "employer", "school"})


def _without_company(tokens: list[Token]) -> frozenset[str]:
    parts = _value_and_context(_until(tokens, {"with", "as"}))
    return parts[1] if parts is not None else frozenset()


def _inverse_frame(tokens: list[Token]) -> Frame | None:
    """As in "Alice leads the team": the subject is the value."""
    table = lexicon.attribute_verbs()
    for index, token in enumerate(tokens):
        forms = table.get(token.key, ()) if token.role == "w" and index else ()
        if not any(form.kind == "inverse" for form in forms):
            continue
        holder = [t for t in tokens[:index] if is_content(t)]
        if not holder or len(holder) > 3 or not all(t.capital for t in holder) or tokens[index - 1].role in {"be", "art", "prep"}:
            return None
        later = [t for t in tokens[index + 1 :] if t.role != "soft"]
        if not later or later[0].folded in {"a", "an"} or (later[0].folded != "the" and token.key == lexicon.lemma("own")):
            return None
        subject = _subject(_until(later, _STOPS))
        if not subject or any(t.role == "conj" for t in later):
            return None
        context = frozenset(t.key for t in later[len(_until(later, _STOPS)) :] if is_content(t) and not t.temporal)
        form = next(form for form in forms if form.kind == "inverse")
        return Frame(form.attribute, subject, tuple(holder), context, definite=False, moved=False)
    return None


def _copular_frame(tokens: list[Token]) -> Frame | None:
    link = next((i for i, token in enumerate(tokens) if token.role == "be"), None)
    if not link:
        return None
    left, right = tokens[:link], tokens[link + 1 :]
    moved = False
    verb = next((i for i, token in enumerate(right[:3]) if token.key in _CHANGE and token.role == "w"), None)
    if verb is not None:
        target = next((i for i in range(verb + 1, len(right)) if right[i].folded in {"to", "at", "until"}), None)
        if target is None:
            return None
        right, moved = right[target + 1 :], True
    role = None if moved else _role_frame(left, right)
    return role or _attribute_frame(left, right, moved=moved)


def _change_frame(tokens: list[Token]) -> Frame | None:
    """As in "We raised the read cap to 9k ops/s", "The deadline moved to 3 May", "Billing moved to PostgreSQL"."""
    for index, token in enumerate(tokens):
        if token.role != "w" or token.key not in _CHANGE or (index and tokens[index - 1].role in {"art", "be"}):
            continue
        target = next((i for i in range(index + 1, len(tokens)) if tokens[i].folded in {"to", "until", "over"}), None)
        if target is None:
            return None
        source = next((i for i in range(index + 1, target) if tokens[i].folded == "from"), target)
        middle = tokens[index + 1 : source]
        if any(is_content(t) for t in middle):
            return _attribute_frame(middle, tokens[target + 1 :], moved=True)
        named = _attribute_frame(tokens[:index], tokens[target + 1 :], moved=True)
        if named is not None and named.attribute != PLAIN:
            return named
        subject, parts = _subject(tokens[:index]), _value_and_context(tokens[target + 1 :])
        if not subject or parts is None:
            return None
        return Frame(PLAIN if parts[0][0].value is not None else MOVED, subject, parts[0], parts[1], definite=False, moved=True)
    return None


def _role_frame(left: list[Token], right: list[Token]) -> Frame | None:
    """As in "Bob is the CTO of Acme", "Bob is Acme's CTO": the value stands on the left."""
    holder = [token for token in left if is_content(token)]
    if not holder or len(holder) > 3 or not all(token.capital and token.role == "w" for token in holder):
        return None
    body = [token for token in right if token.role not in {"art", "soft"}]
    article = bool(right) and any(token.folded in {"a", "an"} for token in right[:2])
    for length in (3, 2, 1):
        for index in range(min(4, len(body) - length + 1)):
            form = lexicon.attribute_nouns().get(tuple(token.key for token in body[index : index + length]))
            if form is None or form.kind != "role":
                continue
            after = body[index + length :]
            if article or any(token.role == "conj" for token in right) or (after and after[0].role != "prep"):
                return None
            subject = _subject([*body[:index], *_until(after[1:], _STOPS)])
            if subject is None or (not subject and not any(token.folded == "the" for token in right[:2])):
                return None
            rest = after[1 + len(_until(after[1:], _STOPS)) :]
            context = frozenset(token.key for token in rest if is_content(token) and not token.temporal)
            return Frame(form.attribute, subject, tuple(holder), context, definite=True, moved=False)
    return None


def _attribute_frame(left: list[Token], right: list[Token], *, moved: bool) -> Frame | None:
    parts = _value_and_context(right)
    if parts is None:
        return None
    value, context = parts
    definite = any(token.folded in {"the", "our", "my"} or token.possessive for token in left)
    attribute, rest = _attribute_noun(left)
    subject = _subject(rest)
    if subject is None or (attribute == PLAIN and not subject):
        return None
    if attribute == PLAIN and any(token.role == "prep" and token.folded not in {"of", "for"} for token in left):
        context |= frozenset(token.key for token in left if is_content(token))
    return Frame(attribute, subject, value, context, definite=definite, moved=moved)


def _attribute_noun(left: list[Token]) -> tuple[str, list[Token]]:
    """The attribute that a noun phrase names, and the rest of the phrase: "the port of billing" → port, [of billing]."""
    table = lexicon.attribute_nouns()
    left = [token for token in left if token.role not in {"art", "soft"}]
    split = next((i for i, token in enumerate(left) if token.folded in PREPOSITIONS), len(left))
    head = left[:split]
    for length in (3, 2, 1):
        if length > len(head):
            continue
        form = table.get(tuple(token.key for token in head[-length:]))
        if form is not None:
            return form.attribute, [*head[:-length], *left[split:]]
    if head and lexicon.attribute_nouns().get((head[0].key,)) and table[head[0].key,].attribute == "favourite":
        return "favourite", left
    for index, token in enumerate(head):
        if token.folded in {"favorite", "favourite"}:
            return "favourite", [*head[:index], *left[index + 1 :]]
    return PLAIN, left


def _tool_frames(tokens: list[Token], rejected: frozenset[str]) -> list[Frame]:
    """As in "Billing uses MySQL": one job, one tool of an exclusive class."""
    frames: list[Frame] = []
    tools = [t for t in tokens if t.member is not None and t.member.class_name.startswith("tech-") and t.key not in rejected]
    for tool in tools:
        if [t.member.class_name for t in tools if t.member].count(tool.member.class_name if tool.member else "") != 1:
            continue
        at = tokens.index(tool)
        verb = next((i for i in range(at) if tokens[i].role == "w" and tokens[i].key in _TOOL_VERBS), None)
        if verb is None:
            continue
        subject = _subject(tokens[:verb])
        if subject is None:
            continue
        skipped = {t.key for t in tokens[verb + 1 : at] if t.role == "w"} - rejected
        context = frozenset(t.key for t in tokens[at + 1 :] if is_content(t) and not t.temporal and t.key not in rejected)
        name = tool.member.class_name if tool.member else ""
        frames.append(
            Frame(
                name,
                subject or frozenset({"@we"}),
                (tool,),
                context | (frozenset(skipped) - GENERIC - _TOOL_VERBS),
                definite=False,
                moved=tokens[verb].key in _MOVE | _REPLACE | _BECOMING,
            )
        )
    return frames


_TOOL_VERBS: Final = _MOVE | _REPLACE | lexicon.stems("tool verbs")

"""One clause made comparable: its content words in order, polarity, modality, tense, and the attributes it fills."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

from hydramind_domain import lexicon
from hydramind_domain.conflict_frames import GENERIC, Frame, find_frames, find_rejected, is_contrast
from hydramind_domain.conflict_tokens import (
    ADDITIVE,
    OBLIGATION,
    PERMISSION,
    Token,
    is_content,
    is_soft_content,
    tokenize,
)
from hydramind_domain.values import Value

_DEFINITE: Final = frozenset({"the", "my", "our", "his", "her", "their", "your", "this", "that", "these", "those", "its"})
# From here on a clause gives reasons or dates of the claim, no part of it.
_TAIL: Final = re.compile(
    r"[,\s](?:because|since|as of|due to|so that|thanks to|effective|starting|until further notice|for now|in order to|owing to"
    r"|which (?:is|was|means|makes)|by the way|as agreed|per (?:the )?(?:decision|agreement|ops|request)|following (?:the|a|an)"
    r"|from (?=\d|[Jj]an|[Ff]eb|[Mm]ar|[Aa]pr|[Mm]ay|[Jj]u[nl]|[Aa]ug|[Ss]ep|[Oo]ct|[Nn]ov|[Dd]ec))\b"
)
_VAGUE: Final = re.compile(
    r"(?:\bnot|n['’]t) (?:only|just|always|all|every|everyone|necessarily|merely|simply|exactly|really"
    r"|very|too|as|so|that|until|yet|more|less|the only|quite|fully|entirely|completely|even|sure)\b"
    r"|\bno (?:more|less|fewer|later|earlier|sooner|longer) than\b|\b(?:hardly|barely|scarcely|almost"
    r"|nearly|only if|without)\b|\bno (?:doubt|wonder|problem|matter|way|idea|worries)\b",
    re.IGNORECASE,
)
_NO_LONGER: Final = re.compile(r"\bno longer\b(?! than)|\bn(?:o|['’])t\b[^.,;]*\b(?:any ?more|any longer)\b", re.IGNORECASE)
_EXEMPT: Final = re.compile(
    r"\b(?:not|n['’]t) (?:have|need|required|obliged|necessary)\b|\bneed(?:n['’]t| not)\b|\boptional\b", re.IGNORECASE
)
_HAVE_TO: Final = re.compile(r"\b(?:have|has|had) to\b|\b(?:is|are) (?:required|obliged|supposed) to\b", re.IGNORECASE)
_ALLOWED_TO: Final = re.compile(r"\b(?:is|are|be) allowed to\b", re.IGNORECASE)
_USED_TO: Final = re.compile(
    r"\bused to (?!be (?:called|used))\w+|\b(?:previously|formerly|originally|back then|at the time"
    r"|in the past|in those days|once upon)\b",
    re.IGNORECASE,
)
_MULTI_VALUED: Final = lexicon.stems("multi valued")
_VERBS: Final = _MULTI_VALUED | lexicon.stems("verbs")
_PAST_ONLY: Final = lexicon.words("past only")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that asserts something.

    `core` are its content words in order, a leading prepositional phrase moved to the end; `governors` names, for
    each, the preposition it hangs on ("" for none); `verb_at` is the index in `core` at which the predicate begins;
    `copular` says the predicate is a form of "be", `multi_valued` that its verb can have many objects at once, `scene`
    that the clause describes one scene with an indefinite subject; `correction` is 0 none, 1 weak, 2 explicit; `have`
    holds the verb where that is "have". `mask`, `solid` and `slack` are a signature of the stems
    (256 bits, how many are not idle, how many of them share a bit), by which most pairs of clauses are told apart at once.
    """

    start: int
    end: int
    core: tuple[Token, ...]
    keys: tuple[str, ...]
    full: tuple[Token, ...]
    stems: frozenset[str]
    mask: int
    solid: int
    slack: int
    subjects: frozenset[frozenset[str]]
    governors: tuple[str, ...]
    verb_at: int
    negated: bool
    negation: tuple[int, int] | None
    no_longer: bool
    vague: bool
    modality: str
    past: bool
    past_event: bool
    copular: bool
    multi_valued: bool
    scene: bool
    definite: bool
    indefinite_object: bool
    deictic: bool
    additive: bool
    correction: int
    frames: tuple[Frame, ...]
    rejected: frozenset[str]
    have: tuple[Token, ...]
    value_types: tuple[str, ...]
    slot_words: tuple[str, ...]


class Draft(NamedTuple):
    """What a clause is found under, and what it takes to finish it when it is compared with another."""

    content: str
    start: int
    end: int
    stop: int
    tokens: list[Token]
    core: tuple[Token, ...]
    negators: list[Token]
    negated: bool
    correction: int
    frames: tuple[Frame, ...]
    rejected: frozenset[str]
    value_types: tuple[str, ...]
    slot_words: tuple[str, ...]

    def finish(self) -> Clause:
        """The clause, with all that the comparison asks for."""
        return _finish(self)


def draft_clause(
    content: str,
    start: int,
    end: int,
    values: tuple[Value, ...],
    *,
    correction: int = 0,
    about: tuple[int, int] | None = None,
    negated: bool = False,
) -> Draft:
    """Read content[start:end]; `about` spans what an announced correction is about, `negated` flips the polarity."""
    stop = _cut_tail(content, start, end)
    tokens = _leading_phrase_last(tokenize(content, start, stop, values))
    core = tuple([token for token in tokens if is_content(token)])
    negators = [t for i, t in enumerate(tokens) if t.role == "neg" and not is_contrast(tokens, i)]
    is_negated = (len(negators) % 2 == 1) != negated
    rejected = find_rejected(tokens) | _about(content, about, values)
    frames = () if is_negated or _is_dated_plan(tokens) else find_frames(tokens, rejected)
    return Draft(
        content,
        start,
        end,
        stop,
        tokens,
        core,
        negators,
        is_negated,
        correction,
        frames,
        rejected,
        _value_types(core),
        _slot_words(core, frames, rejected),
    )


def _finish(draft: Draft) -> Clause:
    tokens, core, negators, frames = draft.tokens, draft.core, draft.negators, draft.frames
    text = draft.content[draft.start : draft.stop]
    words = frozenset(token.folded for token in tokens)
    at, verb = _verb_at(tokens)
    past_event = verb is not None and _past_event(verb)
    keys = tuple(token.key for token in core)
    mask, solid, slack = _signature(core)
    first = negators[0] if negators else None
    return Clause(
        start=draft.start,
        end=draft.end,
        core=core,
        keys=keys,
        full=tuple(token for token in tokens if is_content(token) or is_soft_content(token)),
        stems=frozenset(keys),
        mask=mask,
        solid=solid,
        slack=slack,
        subjects=frozenset(frame.subject for frame in frames),
        governors=_governors(tokens),
        verb_at=at,
        negated=draft.negated,
        negation=(first.start, first.end) if first is not None else None,
        no_longer=bool(negators) and _NO_LONGER.search(text) is not None,
        vague=(bool(negators) or not words.isdisjoint(_VAGUE_WORDS)) and _VAGUE.search(text) is not None,
        modality=_modality(words, text),
        past=past_event or _speaks_of_past(words, text),
        past_event=past_event,
        copular=verb is not None and verb.role == "be",
        multi_valued=verb is not None and verb.role != "be" and (verb.role == "have" or verb.key in _MULTI_VALUED),
        scene=_is_scene(tokens, verb),
        definite=bool(tokens) and tokens[0].folded in _DEFINITE,
        indefinite_object=_indefinite_object(tokens, verb),
        deictic=_is_deictic(tokens),
        additive=not words.isdisjoint(ADDITIVE) or "as well" in text.lower() or "in addition" in text.lower(),
        correction=max(draft.correction, 1) if "actually" in words else draft.correction,
        frames=frames,
        rejected=draft.rejected,
        have=tuple(t for t in tokens if t.role == "have" and t is verb),
        value_types=draft.value_types,
        slot_words=draft.slot_words,
    )


def _is_dated_plan(tokens: list[Token]) -> bool:
    """Whether a clause speaks of another time: "will move next year"."""
    return any(token.folded in {"will", "'ll"} for token in tokens) and any(token.temporal for token in tokens)


def _speaks_of_past(words: frozenset[str], text: str) -> bool:
    if not words.isdisjoint(_PAST_WORDS):
        return True
    return not words.isdisjoint(_USED_WORDS) and _USED_TO.search(text) is not None


def _cut_tail(content: str, start: int, end: int) -> int:
    match = _TAIL.search(content, start, end)
    return match.start() if match is not None and match.start() > start + 3 else end


def _leading_phrase_last(tokens: list[Token]) -> list[Token]:
    """Move a leading phrase to the end: "In production, the port is 8080" → "the port is 8080 in production"."""
    if not tokens or tokens[0].role != "prep":
        return [token for token in tokens if token.role != "comma"]
    comma = next((i for i, token in enumerate(tokens) if token.role == "comma"), None)
    if comma is None or comma > 8 or comma + 2 >= len(tokens):
        return [token for token in tokens if token.role != "comma"]
    return [token for token in (*tokens[comma + 1 :], *tokens[:comma]) if token.role != "comma"]


def _governors(tokens: list[Token]) -> tuple[str, ...]:
    governor, found = "", []
    for token in tokens:
        if is_content(token):
            found.append(governor)
        if token.role == "prep":
            governor = token.folded
        elif token.role in {"be", "modal", "have", "conj"} or (token.role == "w" and token.key in _VERBS and not governor):
            governor = ""
    return tuple(found)


def _verb_at(tokens: list[Token]) -> tuple[int, Token | None]:
    """The index in the core at which the predicate begins, and the verb that begins it."""
    count = 0
    for index, token in enumerate(tokens):
        if token.role in {"be", "modal", "aux", "have"} and index:
            return count, _main_verb(tokens, index)
        if index and _looks_verbal(tokens, index):
            return count, token
        count += is_content(token)
    return (0, tokens[0]) if tokens and tokens[0].key in _VERBS else (count, None)


def _looks_verbal(tokens: list[Token], index: int) -> bool:
    token, before = tokens[index], tokens[index - 1]
    if token.role != "w" or token.typed or not _is_verb(token) or token.folded.endswith("ing"):
        return False
    if before.role in {"art", "prep"} or before.possessive or before.value is not None or before.folded in _DEFINITE:
        return False
    return before.role in {"w", "pron", "soft"}


def _is_verb(token: Token) -> bool:
    return token.key in _VERBS or token.key in lexicon.verb_keys()


def _main_verb(tokens: list[Token], index: int) -> Token:
    """The verb behind auxiliaries: "must not use" → use; "is not" → is."""
    token = tokens[index]
    for later in tokens[index:]:
        if later.role == "have" and token.role in {"aux", "modal"}:
            return later
        if later.role in {"w", "pron"} or (later.role == "be" and token.role != "be"):
            if token.role == "be" and not (later.role == "w" and later.folded.endswith("ing") and not later.typed):
                return token
            if token.role == "have" and not (later.folded.endswith(("ed", "en")) or later.folded == "been"):
                return token
            return later
        if later.role == "art":
            return token
    return token


def _past_event(verb: Token) -> bool:
    if verb.role == "have":
        return verb.folded == "had"
    return verb.role == "w" and (
        verb.folded in _PAST_ONLY or (verb.folded.endswith("ed") and len(verb.folded) > 3 and not verb.folded.endswith("eed"))
    )


def _is_scene(tokens: list[Token], verb: Token | None) -> bool:
    """An indefinite subject in a progressive, verbless or locative clause: a picture of one moment."""
    if not tokens or any(token.role == "modal" for token in tokens):
        return False
    first = tokens[0]
    if first.role == "pron" or _is_named(tokens):
        return False
    progressive = any(_is_participle(tokens, index) for index in range(1, len(tokens)))
    counted = first.value is not None or first.folded.endswith("s")
    indefinite = counted or first.folded in {"a", "an", "there", "several", "people"}
    return progressive or (indefinite and (verb is None or verb.role == "be" or len(tokens) > 6))


def _is_named(tokens: list[Token]) -> bool:
    """Whether the subject is one capitalised word that is no plural: "Alice is …"."""
    first = tokens[0]
    if not first.capital or first.role != "w" or first.typed or first.folded.endswith("s") or len(tokens) < 2:
        return False
    return tokens[1].role in {"be", "aux", "modal", "have"}


def _is_participle(tokens: list[Token], index: int) -> bool:
    token, before = tokens[index], tokens[index - 1]
    if token.role != "w" or not token.folded.endswith("ing") or len(token.folded) <= 4:
        return False
    return before.role not in {"art", "prep"} and not before.possessive and before.value is None


def _indefinite_object(tokens: list[Token], verb: Token | None) -> bool:
    return verb is not None and any(t.folded in {"a", "an", "some", "any"} and t.start > verb.start for t in tokens)


def _is_deictic(tokens: list[Token]) -> bool:
    """Whether the clause is about something that only its surroundings name ("it", "that", "you")."""
    rule = any(token.role in {"modal", "neg"} for token in tokens)
    for index, token in enumerate(tokens):
        if token.folded == "you" and rule and index == 0:
            continue  # "you must …" is a rule for everyone
        if token.role == "pron" and not token.key.startswith("@") and token.folded not in {"its", "your"}:
            return True
        if token.folded in {"this", "that", "these", "those"} and (index == 0 or index == len(tokens) - 1):
            return True
        if index == 0 and token.folded in {"your", "its"}:
            return True
    return False


def _modality(words: frozenset[str], text: str) -> str:
    if not words.isdisjoint(_EXEMPTING) and _EXEMPT.search(text):
        return "exempt"
    if words & OBLIGATION or (not words.isdisjoint(_OBLIGING) and _HAVE_TO.search(text)):
        return "obligation"
    if words & PERMISSION or ("allowed" in words and _ALLOWED_TO.search(text)):
        return "permission"
    return ""


_EXEMPTING: Final = frozenset({"have", "need", "required", "obliged", "necessary", "needn't", "optional"})
_OBLIGING: Final = frozenset({"have", "has", "had", "required", "obliged", "supposed"})
_PAST_WORDS: Final = frozenset({"was", "were", "did", "had"})
_USED_WORDS: Final = frozenset({"used", "previously", "formerly", "originally", "back", "time", "past", "days", "once"})
_VAGUE_WORDS: Final = frozenset({"hardly", "barely", "scarcely", "almost", "nearly", "only", "without", "no"})


def _about(content: str, about: tuple[int, int] | None, values: tuple[Value, ...]) -> frozenset[str]:
    if about is None:
        return frozenset()
    tokens = tokenize(content, *about, values)
    return frozenset(token.key for token in tokens if token.role == "w")


def _value_types(core: tuple[Token, ...]) -> tuple[str, ...]:
    kinds: dict[str, None] = {}
    for token in core:
        if token.value is not None:
            kind = token.value.kind
            kinds["number" if kind == "ordinal" else "date" if kind == "clock" else "name" if kind == "address" else kind] = None
        elif token.member is not None:
            kinds["name"] = None
    return tuple(kinds)


def _slot_words(core: tuple[Token, ...], frames: tuple[Frame, ...], rejected: frozenset[str]) -> tuple[str, ...]:
    # Sets come in an order that differs from process to process; what is cut from a long claim must not.
    words = dict.fromkeys(word for frame in frames for word in sorted(frame.subject))
    words.update(dict.fromkeys(token.key for token in core if token.value is None))
    words.update(dict.fromkeys(sorted(rejected)))
    words.pop("@me", None)
    return tuple(words)


def is_idle(token: Token) -> bool:
    """Whether a word says only when, what kind of thing, or "we": the two sides need not share it."""
    return token.temporal or token.key in GENERIC or token.key == "@we"


def _signature(core: tuple[Token, ...]) -> tuple[int, int, int]:
    stems = {token.key for token in core}
    solid = len({token.key for token in core if not is_idle(token)})
    mask = 0
    for stem in stems:
        mask |= 1 << (crc32(stem.encode()) & 255)
    return mask, solid, len(stems) - mask.bit_count()

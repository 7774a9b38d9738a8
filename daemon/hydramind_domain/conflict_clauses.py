"""One clause made comparable: its content words in order, polarity, modality, tense, and the attributes it fills."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hydramind_domain import lexicon
from hydramind_domain.conflict_frames import Frame, find_frames, find_rejected, is_contrast
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
    r"[,\s]\s*(?:because|since|as of|due to|so that|thanks to|effective|starting|until further notice|for now|in order to|owing to"
    r"|which (?:is|was|means|makes)|by the way|as agreed|per (?:the )?(?:decision|agreement|ops|request)|following (?:the|a|an)"
    r"|from (?=\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))\b.*$",
    re.IGNORECASE | re.DOTALL,
)
_VAGUE: Final = re.compile(
    r"\bnot (?:only|just|always|all|every|everyone|necessarily|merely|simply|exactly|really|very|too|as|so|that|until|yet|more|less|the only|quite|fully|entirely|completely|even|sure)\b"
    r"|\bno (?:more|less|fewer|later|earlier|sooner|longer) than\b|\b(?:hardly|barely|scarcely|almost|nearly|only if|without)\b|\bno (?:doubt|wonder|problem|matter|way|idea|worries)\b",
    re.IGNORECASE,
)
_NO_LONGER: Final = re.compile(r"\bno longer\b(?! than)|\bn(?:o|['’])t\b[^.,;]*\b(?:any ?more|any longer)\b", re.IGNORECASE)
_EXEMPT: Final = re.compile(
    r"\b(?:not|n['’]t) (?:have|need|required|obliged|necessary)\b|\bneed(?:n['’]t| not)\b|\boptional\b", re.IGNORECASE
)
_HAVE_TO: Final = re.compile(r"\b(?:have|has|had) to\b|\b(?:is|are) (?:required|obliged|supposed) to\b", re.IGNORECASE)
_ALLOWED_TO: Final = re.compile(r"\b(?:is|are|be) allowed to\b", re.IGNORECASE)
_USED_TO: Final = re.compile(
    r"\bused to (?!be (?:called|used))\w+|\b(?:previously|formerly|originally|back then|at the time|in the past|in those days|once upon)\b",
    re.IGNORECASE,
)
_NUMBER_LED: Final = re.compile(r"^\d")
_MULTI_VALUED: Final = frozenset(
    lexicon.lemma(word)
    for word in (
        "have like love enjoy hate dislike support speak know offer provide include contain sell visit see meet read watch play eat drink buy get make write "
        "want administer impose contribute add create attend learn teach study call export mention collaborate integrate test talk help follow share try cook "
        "recommend celebrate travel go bring own review discuss hear listen fix report find collect receive send accept handle cover publish save load open "
        "miss need remember invite compare explore sing paint draw bake photograph befriend adopt work"
    ).split()
)
_VERBS: Final = _MULTI_VALUED | frozenset(
    lexicon.lemma(word)
    for word in (
        "use uses run live reside belong depend require return take cost expire last start stop begin end open close fail pass deploy move switch migrate replace "
        "become remain stay keep set change store serve listen bind connect point default equal hold weigh measure earn prefer love join leave quit resign manage "
        "lead own maintain employ hire fire allow forbid permit prohibit enable disable block release ship launch ship scale route write retry rotate refresh "
        "trigger merge reject approve ignore log cache validate encrypt sign sort render expose emit produce consume publish subscribe poll limit throttle cap "
        "wait drive wear carry sit stand walk jump lie sleep"
    ).split()
)
_PAST_ONLY: Final = frozenset(
    {"went", "gone", "saw", "met", "bought", "sold", "left", "took", "gave", "got", "made", "wrote", "ran", "began", "held", "lost", "won", "found", "built", "broke",
     "sent", "spent", "taught", "brought", "caught", "felt", "came", "said", "told", "paid", "read", "ate", "drank", "swam", "flew", "drove", "rode", "had", "became",
     "led", "quit", "grew", "knew", "wore", "slept", "sang", "drew", "fell", "threw", "chose", "forgot", "hid", "spoke", "stole", "heard", "kept"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause that asserts something.

    `core` are its content words in order, a leading prepositional phrase moved to the end; `governors` names, for
    each, the preposition it hangs on ("" for none); `verb_at` is the index in `core` at which the predicate begins;
    `copular` says the predicate is a form of "be", `multi_valued` that its verb can have many objects at once, `scene`
    that the clause describes one scene with an indefinite subject; `correction` is 0 none, 1 weak, 2 explicit; `have`
    holds the verb where that is "have".
    """

    start: int
    end: int
    core: tuple[Token, ...]
    keys: tuple[str, ...]
    full: tuple[Token, ...]
    stems: frozenset[str]
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
    frame_keys: frozenset[tuple[str, frozenset[str]]]
    rejected: frozenset[str]
    have: tuple[Token, ...]
    value_types: tuple[str, ...]
    slot_words: tuple[str, ...]


def build_clause(
    content: str,
    start: int,
    end: int,
    values: tuple[Value, ...],
    *,
    correction: int = 0,
    about: tuple[int, int] | None = None,
    negated: bool = False,
) -> Clause:
    """Analyse content[start:end]; `about` spans what an announced correction is about, `negated` flips the polarity."""
    stop = _cut_tail(content, start, end)
    tokens = _leading_phrase_last(tokenize(content, start, stop, values))
    text = content[start:stop]
    core = tuple(token for token in tokens if is_content(token))
    governors = _governors(tokens)
    negators = [t for i, t in enumerate(tokens) if t.role == "neg" and not is_contrast(tokens, i)]
    is_negated = (len(negators) % 2 == 1) != negated
    at, verb = _verb_at(tokens)
    past_event = verb is not None and _past_event(verb)
    if any(token.folded == "actually" for token in tokens):
        correction = max(correction, 1)
    rejected = find_rejected(tokens) | _about(content, about, values)
    frames = () if is_negated else find_frames(tokens, rejected)
    keys = tuple(token.key for token in core)
    first = negators[0] if negators else None
    return Clause(
        start=start,
        end=end,
        core=core,
        keys=keys,
        full=tuple(token for token in tokens if is_content(token) or is_soft_content(token)),
        stems=frozenset(keys),
        governors=governors,
        verb_at=at,
        negated=is_negated,
        negation=(first.start, first.end) if first is not None else None,
        no_longer=_NO_LONGER.search(text) is not None,
        vague=_VAGUE.search(text) is not None,
        modality=_modality(tokens, text),
        past=past_event or any(t.folded in {"was", "were", "did", "had"} for t in tokens) or _USED_TO.search(text) is not None,
        past_event=past_event,
        copular=verb is not None and verb.role == "be",
        multi_valued=verb is not None and verb.role != "be" and (verb.role == "have" or verb.key in _MULTI_VALUED),
        scene=_is_scene(tokens, verb),
        definite=bool(tokens) and tokens[0].folded in _DEFINITE,
        indefinite_object=_indefinite_object(tokens, verb),
        deictic=_is_deictic(tokens),
        additive=any(token.folded in ADDITIVE for token in tokens) or "as well" in text.lower() or "in addition" in text.lower(),
        correction=correction,
        frames=frames,
        frame_keys=frozenset((frame.attribute, frame.subject) for frame in frames),
        rejected=rejected,
        have=tuple(t for t in tokens if t.role == "have" and t is verb),
        value_types=_value_types(core),
        slot_words=_slot_words(core, frames, rejected),
    )


def _cut_tail(content: str, start: int, end: int) -> int:
    match = _TAIL.search(content, start, end)
    return match.start() if match is not None and match.start() > start + 3 else end


def _leading_phrase_last(tokens: list[Token]) -> list[Token]:
    """ "In production, the port is 8080" reads as "the port is 8080 in production"."""
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
    if tokens and tokens[0].role == "w" and tokens[0].key in _VERBS and not tokens[0].capital:
        return 0, tokens[0]
    return (0, tokens[0]) if tokens and tokens[0].key in _VERBS else (count, None)


def _looks_verbal(tokens: list[Token], index: int) -> bool:
    token, before = tokens[index], tokens[index - 1]
    if token.role != "w" or token.typed or token.key not in _VERBS or token.folded.endswith("ing"):
        return False
    if before.role in {"art", "prep"} or before.possessive or before.value is not None or before.folded in _DEFINITE:
        return False
    return before.role in {"w", "pron", "soft"}


def _main_verb(tokens: list[Token], index: int) -> Token:
    """The verb behind auxiliaries: "must not use" → use; "is not" → is."""
    token = tokens[index]
    for later in tokens[index:]:
        if later.role in {"w", "pron"} or (later.role == "be" and token.role != "be"):
            if token.role == "be" and not (later.role == "w" and later.folded.endswith("ing")):
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
    return verb.role == "w" and (verb.folded in _PAST_ONLY or (verb.folded.endswith("ed") and len(verb.folded) > 4))


def _is_scene(tokens: list[Token], verb: Token | None) -> bool:
    """An indefinite subject in a progressive, verbless or locative clause: a picture of one moment."""
    if not tokens or any(token.role == "modal" for token in tokens):
        return False
    progressive = any(token.role == "w" and token.folded.endswith("ing") and len(token.folded) > 4 for token in tokens)
    first = tokens[0]
    indefinite = (
        first.folded in {"a", "an", "some", "there", "several", "many", "people"}
        or first.value is not None
        or first.folded.endswith("s")
    )
    return (indefinite and (verb is None or verb.role == "be" or len(tokens) > 6)) or progressive


def _indefinite_object(tokens: list[Token], verb: Token | None) -> bool:
    return verb is not None and any(t.folded in {"a", "an", "some", "any"} and t.start > verb.start for t in tokens)


def _is_deictic(tokens: list[Token]) -> bool:
    """Whether the clause is about something that only its surroundings name ("it", "that", "you")."""
    for index, token in enumerate(tokens):
        if token.role == "pron" and not token.key.startswith("@") and token.folded not in {"its", "your"}:
            return True
        if token.folded in {"this", "that", "these", "those"} and (index == 0 or index == len(tokens) - 1):
            return True
        if index == 0 and token.folded in {"your", "its"}:
            return True
    return False


def _modality(tokens: list[Token], text: str) -> str:
    if _EXEMPT.search(text):
        return "exempt"
    words = {token.folded for token in tokens if token.role == "modal"}
    if words & OBLIGATION or _HAVE_TO.search(text):
        return "obligation"
    if words & PERMISSION or _ALLOWED_TO.search(text):
        return "permission"
    return ""


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
    words = dict.fromkeys(word for frame in frames for word in frame.subject)
    words.update(dict.fromkeys(token.key for token in core if token.value is None))
    words.update(dict.fromkeys(rejected))
    return tuple(word for word in words if not word.startswith("@me"))

"""What a memory claims: the text work of conflict checking that can be done once for each content.

`analyse_claim` splits a content into clauses and notes, for each, whether it asserts anything at all (questions,
hypotheticals, quotations and reports do not), its polarity and modality, its typed values, and which single-valued
attribute of which subject it fills. `conflict.py` compares two claims with nothing but these facts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import zip_longest
from typing import Final

from hydramind_domain import lexicon
from hydramind_domain.conflict_clauses import Clause, Draft, draft_clause
from hydramind_domain.values import find_values

_MAX_CLAUSES: Final = 24
_MAX_SLOT_TERMS: Final = 24
_MAX_CHARS: Final = 4000

# Abbreviations keep their full stop inside the sentence; a digit after the stop is a number.
_SENTENCE_END: Final = re.compile(r"([.!?]+[\"')\]]*)(?=\s|$)|(\n+)|(;)(?=\s)")
_ABBREVIATION: Final = re.compile(r"(?:\b(?:[A-Z]|Mrs?|Dr|Ms|vs|St|Jr|No|e\.g|i\.e|etc|approx))$")
_CLAUSE_BREAK: Final = re.compile(
    r"(?:,|(?<=[^\s,]))\s+(?:but|however|whereas|although|though|yet)\b,?\s|\s[—–]\s|\s-{1,2}\s|,\s+(?=(?:and\s+"
    r"|so\s+)?(?:we|i|he|she|they|it)\s)",
    re.IGNORECASE,
)
_CODE_BLOCK: Final = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTE: Final = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"”“»]")

_STRONG: Final = (
    r"correction|scratch that|strike that|scrap that|disregard (?:that|my last(?: message| note)?"
    r"|the (?:previous|above|last)[^,.:;]{0,20})"
    r"|ignore (?:that|my last(?: message| note)?|the (?:previous|above|last)[^,.:;]{0,20})"
    r"|(?:no,? )?(?:sorry,? )?(?:that(?:'s| is| was)|this is|it(?:'s| is| was)) (?:wrong|not (?:right|true"
    r"|correct)|incorrect|false|untrue|a mistake|outdated|out of date|no longer (?:true|right|correct))"
    r"|(?:that|this|it) isn't (?:right|true|correct)"
    r"|(?:(?:i|we)(?: have|'ve)? )?(?:just )?changed (?:my|our) minds?|i take (?:that|it) back"
    r"|i was (?:wrong|mistaken)|we were (?:wrong|mistaken)|my mistake|my bad|i misspoke|i meant"
    r"|on second thoughts?|never ?mind|forget (?:that|what i said)|erratum|errata|edit"
)
_WEAK: Final = (
    r"actually|in fact|as it turns out|(?:it )?turns out(?: that)?|updated?|oops|sorry|wait|no|instead|rather"
    r"|from now on|as of now|as of today|going forward|effective immediately"
)
_FILLER: Final = (
    r"note|fyi|reminder|remember(?: that)?|important|decision|decided|rule|policy|fact|info|ok(?:ay)?|well|so|hey|yes|yeah"
    r"|and|please note that|note that|please|today"
)
_MARKER: Final = re.compile(
    rf"\s*(?:(?P<strong>{_STRONG})|(?P<weak>{_WEAK})|(?P<filler>{_FILLER}))(?P<about>\s+(?:about|on"
    rf"|regarding)\s+[^,.:;—–]+)?(?:\s*[,:;.!—–]+\s*|\s+[-–—]\s+|\s*$|(?<=that)\s+|(?<=meant)\s+"
    rf"|(?<=actually)\s+|(?<=now on)\s+)",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    r"(?:,|(?<=[^\s,]))\s+"
    r"(?:(?P<strong>is (?:wrong|incorrect|false|not true|a mistake))|(?P<weak>actually|instead|after all))\s*$",
    re.IGNORECASE,
)
_TRAILING_WORDS: Final = frozenset({"wrong", "incorrect", "false", "true", "mistake", "actually", "instead", "all"})
_FALSE_THAT: Final = re.compile(
    r"^\s*(?:it(?:'s| is)|it is)\s+(?:(?:simply|just)\s+)?(?:not\s+(?:true|correct|the case|right)|false"
    r"|wrong|untrue|incorrect|no longer (?:true|the case))\s+that\s+",
    re.IGNORECASE,
)

_QUESTION: Final = re.compile(
    r"^(?:who|what|when|where|why|which|whose|how|is|are|am|was|were|does|did|do (?!not\b|n't)|can|could"
    r"|should|shall|will|would|has|have|had|may|might|isn't|aren't|don't you|doesn't|didn't|won't|can't"
    r"|couldn't|shouldn't)\s+"
    r"(?:i|you|we|he|she|it|they|there|the|a|an|this|that|these|those|my|our|your|his|her|their|many|much"
    r"|about|come|often|long|[A-Z])"
)
_HYPOTHETICAL: Final = re.compile(
    r"\b(?:if|unless|would|wouldn't|could|might|maybe|perhaps|possibly|probably|suppos(?:e|ing)|assum(?:e"
    r"|ing)|imagine|hypothetical(?:ly)?|let's say|in theory|theoretically|wish|hope|hopefully|hoping"
    r"|consider(?:ing|s)?|propos(?:e|es|al|ed|ing)|suggest(?:s|ed|ion)?|thinking (?:of|about)|likely"
    r"|unlikely|seems?|seemed|apparently|i think|i guess|i believe|we think|not sure|unsure|unclear"
    r"|wonder(?:ing)?|e\.g|for example|for instance"
    r"|i'd|we'd|he'd|she'd|they'd|can we|should we|what about|how about|in case|pretend|as though|as if"
    r"|whether|supposedly|presumably|potentially|may be|may have|may become|tbd)\b",
    re.IGNORECASE,
)
_REPORT: Final = re.compile(
    r"\b(?:says?|said|saying|claims|claimed|claiming|stat(?:es|ed) that|according to|report(?:s|ed"
    r"|edly)(?! to)|told|tells|thinks|thought|believes|believed|heard|rumou?rs?|alleg(?:es|ed|edly)"
    r"|den(?:y|ies|ied) that"
    r"|quot(?:es?|ed|ing)|asks?|asked|argu(?:es|ed)|mention(?:s|ed)|insist(?:s|ed)|wrote that"
    r"|documented that|expects?|expected|predict(?:s|ed)?|asserts?|asserted|used to think|wondered|dreamed"
    r"|dreamt|in the (?:book|movie|film|novel|story))\b",
    re.IGNORECASE,
)


_GREETING: Final = re.compile(
    r"^(?:thank(?:s| you)|congrat(?:s|ulations)|hey|hi|hello|wow|good luck|bye|take care"
    r"|talk (?:to you )?(?:soon|later)|see you|cheers|(?:great|good|nice|glad) to (?:see|hear|meet"
    r"|talk))\b",
    re.IGNORECASE,
)


class Claim:
    """The analysis of one content; immutable to whoever reads it. `terms` are the slot terms as a set.

    Most memories are never compared with another one: their clauses stay drafts, which is all that the slot terms need.
    """

    __slots__ = ("_clauses", "_drafts", "content", "slots", "terms")

    def __init__(self, content: str, drafts: tuple[Draft, ...]) -> None:
        self.content: Final = content
        self.slots: Final = _slots(drafts)
        self.terms: Final = frozenset(self.slots)
        self._drafts = drafts
        self._clauses: tuple[Clause, ...] | None = None

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The asserted clauses only, finished when first asked for; two threads at once would finish equal ones."""
        clauses = self._clauses
        if clauses is None:
            # The drafts are let go only once the clauses stand, and are read before: another thread may be here too.
            drafts = self._drafts
            clauses = self._clauses or tuple(draft.finish() for draft in drafts)
            self._clauses = clauses
            self._drafts = ()
        return clauses


@lru_cache(maxsize=1024)
def analyse_claim(content: str) -> Claim:
    """Analyse `content` once; equal contents share one (cached) analysis. Only the first 4,000 characters count."""
    text = content[:_MAX_CHARS]
    values = find_values(text)
    silent = [match.span() for match in _CODE_BLOCK.finditer(text)]
    clauses: list[Draft] = []
    strength = 0
    for start, end, question in _spans(text):
        if len(clauses) >= _MAX_CLAUSES:
            break
        if any(start < b and a < end for a, b in silent):
            continue
        begin, found, about, negated = _strip_markers(text, start, end)
        strength = 2 if found == 2 else strength  # "Scratch that." holds for what follows, "actually" for its clause
        stop, trailing, trailing_negation = _strip_trailing(text, begin, end)
        if begin >= stop or question or not _asserts(text, begin, stop):
            if about is not None and found == 2:
                clauses.append(draft_clause(text, begin, begin, values, correction=2, about=about, negated=False))
            continue
        level = max(strength, found, trailing)
        clauses.append(
            draft_clause(text, begin, stop, values, correction=level, about=about, negated=negated or trailing_negation)
        )
    return Claim(content, tuple(clauses))


def slot_terms(claim: Claim) -> tuple[str, ...]:
    """At most 24 index keys; two claims can only conflict when they share at least one.

    Attributes come as "@owner", value types as "#number", "#date", "#version" or "#name", anything else is the stem
    of a word of the subject or predicate. A claim that asserts nothing has none.
    """
    return claim.slots


def _slots(clauses: tuple[Draft, ...]) -> tuple[str, ...]:
    """Attributes first, then the words in order of the clauses: what is cut from a long claim is its end."""
    ordered: dict[str, None] = {}
    for clause in clauses:
        ordered.update(dict.fromkeys(f"@{frame.attribute}" for frame in clause.frames))
    kinds = dict.fromkeys(f"#{kind}" for clause in clauses for kind in clause.value_types)
    if len(clauses) == 1:
        ordered.update(dict.fromkeys(clauses[0].slot_words))
    else:
        for layer in zip_longest(*(clause.slot_words for clause in clauses)):
            ordered.update(dict.fromkeys(word for word in layer if word is not None))
    room = _MAX_SLOT_TERMS - len(kinds)
    return (*list(ordered)[:room], *kinds)


def _spans(text: str) -> list[tuple[int, int, bool]]:
    """(start, end, is a question) of every clause; the end excludes the final punctuation."""
    spans: list[tuple[int, int, bool]] = []
    position = 0
    for match in _SENTENCE_END.finditer(text):
        if match[0] == "." and _ABBREVIATION.search(text, max(0, match.start() - 7), match.start()):
            continue
        _add(text, position, match.start(), "?" in match[0], spans)
        position = match.end()
    _add(text, position, len(text), question=False, spans=spans)
    return spans


def _add(text: str, start: int, end: int, question: bool, spans: list[tuple[int, int, bool]]) -> None:
    for match in _CLAUSE_BREAK.finditer(text, start, end):
        if match[0][-1].isspace() and match[0].lstrip().startswith(",") and _hedged(text[start : match.start()]):
            continue  # "If it rains, we stay": the condition holds for what follows
        if len(text[start : match.start()].split()) >= 2:
            _trimmed(text, start, match.start(), question, spans)
            start = match.end()
    _trimmed(text, start, end, question, spans)


def _trimmed(text: str, start: int, end: int, question: bool, spans: list[tuple[int, int, bool]]) -> None:
    while start < end and (text[start].isspace() or text[start] in "-*•>,.!"):
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        spans.append((start, end, question))


def _strip_markers(text: str, start: int, end: int) -> tuple[int, int, tuple[int, int] | None, bool]:
    """Skip what only announces the claim; the strength of a correction (0–2), what it is about, and "it is false that"."""
    strength, about = 0, None
    while start < end:
        match = _MARKER.match(text, start, end)
        if match is None:
            break
        strength = max(strength, 2 if match["strong"] else 1 if match["weak"] else 0)
        if match["about"] and match["strong"]:
            about = match.span("about")
        elif match["about"]:
            break
        start = match.end()
    false_that = _FALSE_THAT.match(text, start, end)
    if false_that is not None:
        return false_that.end(), 2, about, True
    return start, strength, about, False


def _strip_trailing(text: str, start: int, end: int) -> tuple[int, int, bool]:
    if start >= end or text[start:end].rsplit(None, 1)[-1].lower() not in _TRAILING_WORDS:
        return end, 0, False
    match = _TRAILING.search(text, start, end)
    if match is None or match.start() <= start:
        return end, 0, False
    if match["strong"]:
        return match.start(), 2, True
    return match.start(), 1, False


def _asserts(text: str, start: int, end: int) -> bool:
    """Whether a clause states something as a fact or rule of its own."""
    clause = text[start:end].replace("’", "'")
    if _GREETING.match(clause) or _QUESTION.match(clause[:1].lower() + clause[1:]) or _hedged(clause):
        return False
    if clause[0] in "\"“«'" and clause[-1] in "\"”»'":
        return len(clause.split()) < 3
    return not any(len(match[1].split()) >= 3 for match in _QUOTE.finditer(clause))


def _hedged(clause: str) -> bool:
    """Whether a clause supposes or reports. The look at single words spares most clauses the two long patterns."""
    words = set(_LETTERS.findall(clause.lower()))
    if not words.isdisjoint(_HEDGES) and _HYPOTHETICAL.search(clause) is not None:
        return True
    return not words.isdisjoint(_REPORTS) and _REPORT.search(clause) is not None


_LETTERS: Final = re.compile(r"[a-z]+")


_HEDGES: Final = lexicon.words("hedges")
_REPORTS: Final = lexicon.words("reports")

"""The deterministic entity extractor: code identifiers, quoted and back-ticked terms, names, paths, URLs, known entities.

No model and no store: the scope's known entities come as an argument, looked up by the n-grams of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from hydramind_domain import lexicon

_MAX_MENTIONS: Final = 64
_MAX_NGRAMS: Final = 200
_MAX_NAME_CHARS: Final = 256
_MAX_WORDS_OF_A_QUOTED_TERM: Final = 4

_SEPARATORS: Final = re.compile(r"[\s_\-\u2010-\u2015]+")
_WORD: Final = re.compile(r"[^\W_](?:\w|[.'’/@:+#](?=\w))*")
_CHUNK: Final = re.compile(r"\S+")
_QUOTED: Final = re.compile(
    r"`([^`\n]{1,256})`|(?<!\w)\"([^\"\n]{1,64})\"(?!\w)|“([^”\n]{1,64})”|«([^»\n]{1,64})»|(?<![\w'’])'([^'\n]{1,64})'(?!\w)"
)
# What one blank-free piece of text is, by its form alone; the first that fits the whole piece.
_FORMS: Final = (
    ("url", re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    (
        "path",
        re.compile(
            r"(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)*/?|[A-Za-z]:\\[\w\\.-]+|[\w.@+-]*[A-Za-z_][\w.@+-]*(?:/[\w.@+-]+)+/?"
        ),
    ),
    ("issue", re.compile(r"#\d{1,9}|[A-Z][A-Z0-9]{1,9}-\d{1,7}")),
    (
        "host",
        re.compile(
            r"(?:[A-Za-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|co|local|internal|cloud|edu|gov|eu|uk|de|fr)(?::\d+)?"
            r"|localhost(?::\d+)?|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"
        ),
    ),
    (
        "code",
        re.compile(
            r"[A-Za-z_]\w*(?:(?:::|\.|->)[A-Za-z_]\w*)+(?:\(\))?|[A-Za-z_]\w*\(\)|@?[A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+_*|[a-z]+(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}"
            r"|--?[a-z][\w-]+|[A-Za-z]+\d+[A-Za-z\d]*|[A-Za-z][A-Za-z0-9]*(?:[.-][A-Za-z0-9]+)+|\.[a-z][\w.-]+|@[A-Za-z]\w+|[A-Za-z]+(?:\+\+|\#)"
        ),
    ),
)
_NO_CODE: Final = frozenset(
    {"e.g", "i.e", "a.m", "p.m", "u.s", "vs.", "and/or", "he/she", "his/her", "s/he", "n/a", "w/o", "24/7", "either/or", "yes/no"}
)
_OPENING: Final = "([{<\"“«'‘*"
_CLOSING: Final = ")]}>\"”»'’*,;:!?.…"
_SENTENCE_ENDS: Final = frozenset(".!?:;…")
# A hyphenated word is a code-like name unless it is made of everyday English.
_EVERYDAY_PARTS: Final = lexicon.words("everyday parts")
# Capitalised words that open sentences, greet or stand for the speaker, and name nothing.
_IMPERATIVES: Final = lexicon.words("imperatives")
_ALSO_NAMES: Final = lexicon.words("also names")
_NOT_NAMES: Final = lexicon.words("not names")
# Behind the first word of a sentence these speak for a name: "Billing uses …", "Alice moved …".
_NAME_FOLLOWERS: Final = lexicon.words("name followers")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_JOINING: Final = frozenset({"of", "de", "van", "von", "der", "da", "di", "del", "la", "&"})


@dataclass(frozen=True, slots=True)
class EntityMention:
    """An entity named in a text: as written, normalised, its kind, and where (code points, end exclusive).

    `kind` is name, code, term (quoted or back-ticked), path, url, email, host, issue or known.
    """

    name: str
    norm: str
    kind: str
    start: int
    end: int


@lru_cache(maxsize=16384)
def normalise_entity(name: str) -> str:
    """The form under which entities are compared: "deploy-policy", "Deploy Policy" and "deploy_policy" are one."""
    if name.isascii():  # no other normal form, and case is all there is to fold
        folded = name.lower()
        return " ".join(folded.replace("-", " ").replace("_", " ").split()) or folded.strip()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFC", name)).casefold()
    # Case folding can undo the normal form, so that a second pass is part of the rule (Unicode: NFKC_Casefold).
    folded = unicodedata.normalize("NFKC", folded)
    return _SEPARATORS.sub(" ", folded).strip() or folded.strip()


def ngrams_to_look_up(text: str) -> tuple[str, ...]:
    """At most 200 normalised runs of one to four words, which the store looks up among the known entities of a scope."""
    return tuple(norm for norm, _start, _end in _ngrams(text))


@lru_cache(maxsize=1024)
def _ngrams(text: str) -> tuple[tuple[str, int, int], ...]:
    """Runs with their spans, the words of the text in order, shorter runs first at each word."""
    spans = [match.span() for match in _WORD.finditer(text)]
    norms = [_norm_word(text[start:end]) for start, end in spans]
    # A run goes on over blanks, hyphens and underscores only.
    gaps = [text[one[1] : two[0]] for one, two in pairwise(spans)]
    joined = [gap == " " or not gap.strip(" -_\t\n") for gap in gaps]
    found: dict[str, tuple[str, int, int]] = {}
    last = len(spans)
    for index in range(last):
        run, start = norms[index], spans[index][0]
        if run not in found:
            found[run] = (run, start, spans[index][1])
        for later in range(index + 1, min(index + 4, last)):
            if not joined[later - 1]:
                break
            run = f"{run} {norms[later]}"
            if run not in found:
                found[run] = (run, start, spans[later][1])
        if len(found) >= _MAX_NGRAMS:
            break
    return tuple(found.values())[:_MAX_NGRAMS]


@lru_cache(maxsize=16384)
def _norm_word(word: str) -> str:
    if word.isascii() and word.isalnum():  # no possessive, no separator
        return word.lower()
    return normalise_entity(_POSSESSIVE.sub("", word) or word)


def extract_entities(text: str, known: Collection[str]) -> tuple[EntityMention, ...]:
    """At most 64 entities of `text`, in order; `known` holds normalised names that the scope already has.

    The first mention of an entity counts. What the form gives away comes before a known entity of the same name.
    """
    found: dict[str, EntityMention] = {}
    for mention in (*_quoted(text), *_formed(text)):
        if mention.norm and len(mention.norm) <= _MAX_NAME_CHARS:
            found.setdefault(mention.norm, mention)
    if known:
        names = known if isinstance(known, (set, frozenset, dict)) else frozenset(known)
        for norm, start, end in _ngrams(text):
            if norm in names and norm not in found:
                found[norm] = EntityMention(text[start:end], norm, "known", start, end)
    ordered = sorted(found.values(), key=lambda mention: (mention.start, mention.end))
    return tuple(ordered[:_MAX_MENTIONS])


def _mention(text: str, start: int, end: int, kind: str) -> EntityMention:
    name = text[start:end]
    return EntityMention(name, normalise_entity(name), kind, start, end)


def _quoted(text: str) -> Iterator[EntityMention]:
    """Back-ticked terms, and quoted terms that are short; a longer quotation is speech and names nothing."""
    if not any(mark in text for mark in "`\"“«'"):
        return
    for match in _QUOTED.finditer(text):
        start, end = match.span(match.lastindex or 0)
        while start < end and text[start].isspace():
            start += 1
        while end > start and (text[end - 1].isspace() or text[end - 1] in ".,!?"):
            end -= 1
        words = len(text[start:end].split())
        if words and (text[match.start()] == "`" or words <= _MAX_WORDS_OF_A_QUOTED_TERM):
            yield _mention(text, start, end, "term")


def _formed(text: str) -> Iterator[EntityMention]:
    """Entities by their form: one pass over the pieces between blanks; plain lower-case words cost nothing more."""
    names: list[tuple[int, int]] = []
    for match in _CHUNK.finditer(text):
        piece = match[0]
        if piece.isalpha() and piece.islower() and piece not in _JOINING:
            if names:
                yield from _name(text, names)
                names = []
            continue
        start, end = _trimmed(text, match.start(), match.end())
        plain = _plain_word(text[start:end])
        if plain and (text[start].isupper() or (names and text[start:end] in _JOINING)):
            if names and (start != match.start() or text[names[-1][1] : start].strip()):
                yield from _name(text, names)
                names = []
            names.append((start, end))
        else:
            if names and not _continues_name(text, names, start, end):
                yield from _name(text, names)
                names = []
            kind = _kind(text, start, end)
            if kind is not None:
                yield _mention(text, start, end, kind)
        if names and end != match.end():
            yield from _name(text, names)
            names = []
    if names:
        yield from _name(text, names)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """A piece without the punctuation around it; "render()" keeps its brackets."""
    while start < end and text[start] in _OPENING:
        start += 1
    while end > start and text[end - 1] in _CLOSING and not text.startswith("()", end - 2):
        end -= 1
    return start, end


def _plain_word(piece: str) -> bool:
    """A word of letters, perhaps with an apostrophe, and no capital inside but in an acronym."""
    letters = piece.replace("'", "").replace("’", "")
    if letters == "&":
        return True
    return letters.isalpha() and (letters.isupper() or letters[1:].islower() or len(letters) == 1 or letters[:-1].isupper())


def _continues_name(text: str, names: list[tuple[int, int]], start: int, end: int) -> bool:
    """A number right behind a name belongs to it: "Python 3", "Project 17"."""
    if text[start:end].isdigit() and len(text[start:end]) <= 4 and text[names[-1][1] : start] == " ":
        names.append((start, end))
        return True
    return False


def _kind(text: str, start: int, end: int) -> str | None:
    piece = text[start:end]
    if not 2 <= len(piece) <= _MAX_NAME_CHARS or (piece.isalpha() and not any(char.isupper() for char in piece[1:])):
        return None
    if piece.isalpha():
        return "code" if piece[0].islower() else "name"
    folded = piece.lower()
    if folded in _NO_CODE or folded.rstrip(".") in _NO_CODE:
        return None
    for kind, pattern in _FORMS:
        if pattern.fullmatch(piece) is not None:
            return None if kind == "code" and _is_everyday(folded) else kind
    return None


def _is_everyday(folded: str) -> bool:
    """Hyphenated everyday English ("well-known") and contractions are no identifiers."""
    if folded.startswith("-"):
        return False
    parts = folded.split("-")
    return len(parts) > 1 and (
        any(part in _EVERYDAY_PARTS or part.endswith(("ed", "ing")) for part in parts) or not folded[0].isalpha()
    )


def _name(text: str, words: list[tuple[int, int]]) -> Iterator[EntityMention]:
    """A run of capitalised words as one name, cut at both ends; none when it only opens a sentence."""
    words = list(words)
    while words and text[words[-1][0] : words[-1][1]] in _JOINING:
        words.pop()
    while words and _names_nothing(text, *words[0], followed=len(words) > 1):
        words.pop(0)
    if not words:
        return
    start, end = words[0][0], words[-1][1]
    possessive = _POSSESSIVE.search(text, start, end)
    if possessive is not None and possessive.end() == end:
        end = possessive.start()
    surface = text[start:end]
    if len(surface) < 2:
        return
    for index, (at, stop) in enumerate(words[:-1]):
        if index and text[at:stop] == "of":  # "CTO of Acme" names Acme, "University of California" both
            yield from _name(text, words[index + 1 :])
            if text[start : words[index - 1][1]].isupper():
                return
            break
    if len(words) == 1 and possessive is None and _opens_sentence(text, start) and not _reads_as_name(text, surface, end):
        return
    yield _mention(text, start, end, "name")


def _names_nothing(text: str, start: int, end: int, *, followed: bool) -> bool:
    """Whether a capitalised word at the head of a run is an everyday word ("Ask Bob" names Bob, "Will Smith" is one)."""
    word = text[start:end]
    folded = word.casefold().replace("’", "'")
    opens = _opens_sentence(text, start)
    if followed and not opens and folded in _ALSO_NAMES:
        return False
    if opens and folded in _IMPERATIVES:
        return True
    return folded in _NOT_NAMES or folded.removesuffix("'s") in _NOT_NAMES or word.isdigit()


def _opens_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\"“'([*-•>#")
    return not before or before[-1] in _SENTENCE_ENDS or before[-1] == "\n"


def _reads_as_name(text: str, surface: str, end: int) -> bool:
    """Whether more than its place speaks for a capital: an acronym, the word again, or a verb right behind it."""
    if surface.isupper() or any(char.isdigit() for char in surface) or text.count(surface) > 1:
        return True
    following = re.match(r"\s+(\w+)", text[end:])
    return following is not None and following[1] in _NAME_FOLLOWERS

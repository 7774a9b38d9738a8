"""Text analysis: what a memory is indexed under and what a query asks for.

NFKC and case folding, Unicode words, compounds (camelCase, snake_case, kebab-case, paths, dotted names) split with the whole
kept too, English Snowball stems, stop words, bigrams for scripts written without spaces, numbers and versions kept whole.
Every offset is a code point of the ORIGINAL text. All work is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

import Stemmer

from hydramind_domain.vocabulary import IRREGULAR_FORMS, STOP_WORDS

__all__ = [
    "MAX_TERM_LENGTH",
    "STOP_WORDS",
    "Analysis",
    "Token",
    "Word",
    "about_term",
    "analyse",
    "analyse_query",
    "index_terms",
    "is_blank",
    "normalise_content",
    "stem",
    "words",
]

MAX_TERM_LENGTH: Final = 64
"""Longer words are cut to so many code points, in memories and queries alike, so that they still meet."""

_CACHE: Final = 1 << 16
_CONNECT = r"[-./:'@\\&]"
_ASCII_CHUNK: Final = re.compile(rf"\w+(?:{_CONNECT}\w+|::\w+|,\d\d\d(?!\w))*(?:\+\+|\#)?", re.ASCII)
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL: Final = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[^\WA-Z\d_]+\d*|\d+")
_DOTTED_NUMBER: Final = re.compile(r"v?\d+(?:[.,:]\d+)*(?:[-.]?(?:a|b|rc|alpha|beta|dev|post)[-.]?\d*)?")
_CUT: Final = re.compile(r"[-_/\\:@&]+|\.(?!\d)|(?<!\d)\.")
_SEGMENT: Final = re.compile(r"[^/\\]+")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WITHOUT_SPACES: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\U00020000-\U000323af"
)
"""Thai, Lao, Myanmar, Khmer, Han, Hiragana, Katakana: one run of letters is many words."""
_RUN: Final = re.compile(f"[{_WITHOUT_SPACES}]")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_INVISIBLE: Final = dict.fromkeys(map(ord, "\u00ad\u200c\u200d\u2060\ufeff"), "")
_SAME: Final = {ord("\u2019"): "'", ord("\u2018"): "'", ord("\u02bc"): "'", ord("\u200b"): " ", ord("\0"): " "}
_FOLDED: Final = {**_INVISIBLE, **_SAME}
_TO_FOLD: Final = re.compile("[" + "".join(map(chr, _FOLDED)) + "]")
_LOOKS_EMPTY: Final = frozenset("\u2800\u3164\u115f\u1160\uffa0")
_END_MARKS: Final = " .!,;:\u3002"

_stemmer: Final = Stemmer.Stemmer("english", 0)


@dataclass(frozen=True, slots=True)
class Token:
    """A term (normalised, stemmed) and where it stands in the text."""

    term: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written, its folded form (not stemmed), and where it stands in the text."""

    surface: str
    folded: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """A text and its tokens in order; a compound comes before its parts."""

    text: str
    tokens: tuple[Token, ...]

    @property
    def terms(self) -> tuple[str, ...]:
        """Distinct terms in order of first appearance."""
        return tuple(dict.fromkeys([token.term for token in self.tokens]))

    @property
    def length(self) -> int:
        """Number of tokens."""
        return len(self.tokens)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A term of a chunk, by offsets inside the chunk; whether it is a stop word."""

    term: str
    start: int
    end: int
    stop: bool


@lru_cache(_CACHE)
def stem(word: str) -> str:
    """English Snowball stem of a folded word, for irregular forms that of their base ("went" is "go").

    Words that are not ASCII letters stay as they are.
    """
    word = IRREGULAR_FORMS.get(word, word)
    if word.isascii() and word.replace("'", "").isalpha():
        # The C stemmer keeps state between calls, but each call holds the interpreter's lock.
        return str(_stemmer.stemWord(word))
    return word


def analyse(text: str) -> Analysis:
    """Tokens of a content to be indexed, stop words left out unless nothing else is there."""
    return _analyse(text, asked=False)


def analyse_query(text: str) -> Analysis:
    """Tokens of a query. As `analyse`, but a run of Han of two or more is asked for by its bigrams only."""
    return _analyse(text, asked=True)


def index_terms(text: str) -> tuple[tuple[str, ...], int]:
    """`analyse(text)`'s (terms, length) without offsets: the hot path of every write."""
    terms: list[str] = []
    chunks = _ASCII_CHUNK.findall(text) if text.isascii() else [chunk for chunk, _, _ in _chunks(text)]
    for chunk in chunks:
        terms.extend(_terms_cached(chunk) if len(chunk) <= MAX_TERM_LENGTH else _terms(chunk))
    if not terms:
        analysis = analyse(text)
        return analysis.terms, analysis.length
    return tuple(dict.fromkeys(terms)), len(terms)


def about_term(norm: str) -> str:
    """The term under which a memory is indexed for an entity that it was said to be about; no word of a text is like it."""
    return f"\x1e{norm}"


def words(text: str) -> tuple[Word, ...]:
    """Words as written, stop words too; compounds and contractions are one word."""
    return tuple(Word(text[start:end], chunk.casefold(), start, end) for chunk, start, end in _chunks(text))


def normalise_content(text: str) -> str:
    """The form in which two contents are the same claim: NFKC, case, white space, trailing full stops and emoji folded.

    A question mark stays: a question is not the claim.
    """
    folded = " ".join(unicodedata.normalize("NFKC", text.translate(_FOLDED)).casefold().split())
    end = len(folded)
    while end and (folded[end - 1] in _END_MARKS or _is_emoji(folded[end - 1])):
        end -= 1
    return folded[:end] or folded


def is_blank(text: str) -> bool:
    """Whether there is nothing to see: empty, or only white space, control, zero-width and combining characters."""
    return not text or all(char in _LOOKS_EMPTY or unicodedata.category(char)[0] in "ZCM" for char in text)


def _analyse(text: str, *, asked: bool) -> Analysis:
    tokens: list[Token] = []
    stops: list[Token] = []
    for chunk, start, end in _chunks(text):
        exact = end - start == len(chunk)
        for piece in _pieces(chunk, asked):
            at = (start + piece.start, start + piece.end) if exact else (start, end)
            (stops if piece.stop else tokens).append(Token(piece.term, *at))
    return Analysis(text, tuple(tokens or stops or _symbols(text)))


def _chunks(text: str) -> Iterator[tuple[str, int, int]]:
    """Words and compounds, with offsets in the original text."""
    if text.isascii():
        return ((m.group(), m.start(), m.end()) for m in _ASCII_CHUNK.finditer(text))
    return _unicode_chunks(text)


def _unicode_chunks(text: str) -> Iterator[tuple[str, int, int]]:
    if unicodedata.is_normalized("NFKC", text) and not _TO_FOLD.search(text):
        for match in _unicode_chunk().finditer(text):
            yield match.group(), match.start(), match.end()
        return
    folded, offsets = _normalised(text)
    for match in _unicode_chunk().finditer(folded):
        yield match.group(), offsets[match.start()][0], offsets[match.end() - 1][1]


def _normalised(text: str) -> tuple[str, list[tuple[int, int]]]:
    """NFKC of a text, and for each of its code points the span of the original that it came from."""
    parts: list[str] = []
    offsets: list[tuple[int, int]] = []
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _joins(text[end]):
            continue
        part = unicodedata.normalize("NFKC", text[start:end].translate(_FOLDED))
        parts.append(part)
        offsets.extend([(start, end)] * len(part))
        start = end
    return "".join(parts), offsets


def _joins(char: str) -> bool:
    """Whether a code point may compose with the one before it: marks, and vowels and finals of Hangul."""
    return char > "\u02ff" and (unicodedata.category(char)[0] == "M" or "\u1160" <= char <= "\u11ff")


@cache
def _unicode_chunk() -> re.Pattern[str]:
    """Words of any script. What Python calls a word character lacks combining marks, without which Indic words fall apart."""
    marks = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
    letter = rf"(?:(?![{_WITHOUT_SPACES}])[\w{marks}])"
    return re.compile(
        rf"[{_WITHOUT_SPACES}]+|{letter}+(?:{_CONNECT}{letter}+|::{letter}+|,\d\d\d(?!\w))*(?:\+\+|\#)?",
    )


def _pieces(chunk: str, asked: bool) -> tuple[_Piece, ...]:
    return _split_cached(chunk, asked) if len(chunk) <= MAX_TERM_LENGTH else tuple(_split(chunk, asked))


@lru_cache(_CACHE)
def _split_cached(chunk: str, asked: bool) -> tuple[_Piece, ...]:
    return tuple(_split(chunk, asked))


def _terms(chunk: str) -> tuple[str, ...]:
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk[1:].islower()):  # one plain word, as most are
        folded = chunk.lower()
        return () if folded in STOP_WORDS else (stem(folded)[:MAX_TERM_LENGTH],)
    return tuple(piece.term for piece in _pieces(chunk, asked=False) if not piece.stop)


_terms_cached: Final = lru_cache(_CACHE)(_terms)


def _split(chunk: str, asked: bool) -> Iterator[_Piece]:
    """The whole of a chunk, then its parts."""
    if _RUN.match(chunk):
        yield from _grams(chunk, asked)
        return
    folded = chunk.casefold()
    if folded.endswith("'s") and folded not in STOP_WORDS:
        chunk, folded = chunk[:-2], folded[:-2]
    if folded.isalpha() and folded.isascii() and (chunk[1:].islower() or chunk.isupper() or len(chunk) == 1):
        yield _piece(folded, 0, len(chunk))
        return
    if not folded.strip("_"):
        return
    yield _piece(folded, 0, len(chunk))
    yield from _number_forms(folded) if _DOTTED_NUMBER.fullmatch(folded) else _parts(chunk, folded)


def _piece(folded: str, start: int, end: int) -> _Piece:
    number = _THOUSANDS.fullmatch(folded)
    term = folded.replace(",", "") if number else stem(folded)
    return _Piece(term[:MAX_TERM_LENGTH], start, end, folded in STOP_WORDS)


def _number_forms(folded: str) -> Iterator[_Piece]:
    """A version is also known without its v."""
    if folded.startswith("v"):
        yield _Piece(folded[1 : MAX_TERM_LENGTH + 1], 1, len(folded), stop=False)


def _parts(chunk: str, folded: str) -> Iterator[_Piece]:
    """Parts of a compound, each once. Single letters and digits say nothing alone."""
    seen = {folded}
    for start, end in _spans(chunk):
        part = chunk[start:end].casefold()
        if len(part) > 1 and part not in seen:
            seen.add(part)
            yield _piece(part, start, end)


def _spans(chunk: str) -> Iterator[tuple[int, int]]:
    """Segments of a path, then segments between any connectors, then words of camelCase names."""
    if "/" in chunk or "\\" in chunk:
        yield from (match.span() for match in _SEGMENT.finditer(chunk))
    position = 0
    for cut in (*(match.span() for match in _CUT.finditer(chunk)), (len(chunk), len(chunk))):
        yield position, cut[0]
        if _HUMP.search(chunk, position, cut[0]):
            yield from (match.span() for match in _CAMEL.finditer(chunk, position, cut[0]))
        position = cut[1]


def _grams(run: str, asked: bool) -> Iterator[_Piece]:
    """Overlapping bigrams of a run; Han also by single characters, which are words of their own in content."""
    if len(run) == 1:
        yield _Piece(run, 0, 1, stop=False)
        return
    for i in range(len(run) - 1):
        yield _Piece(run[i : i + 2].casefold(), i, i + 2, stop=False)
    if not asked:
        for match in _HAN.finditer(run):
            yield _Piece(match.group(), *match.span(), stop=False)


def _symbols(text: str) -> Iterator[Token]:
    """Without any word (emoji, punctuation), the runs of visible symbols are the terms."""
    for match in re.finditer(r"\S+", text):
        term = unicodedata.normalize("NFKC", match.group()[:MAX_TERM_LENGTH]).casefold()
        yield Token(term, *match.span())


def _is_emoji(char: str) -> bool:
    """Emoji and dingbats, with their joiners and variation selectors."""
    return char in "\u200d\ufe0f" or "\u2600" <= char <= "\u27bf" or "\U0001f000" <= char <= "\U0001faff"

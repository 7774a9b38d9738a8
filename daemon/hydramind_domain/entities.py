"""The deterministic entity extractor: code identifiers, quoted and back-ticked terms, names, paths, URLs, known entities.

No model and no store: the scope's known entities come as an argument, looked up by the n-grams of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_MAX_MENTIONS: Final = 64
_MAX_NGRAMS: Final = 200
_MAX_CHARS: Final = 256

_SEPARATORS: Final = re.compile(r"[\s_\-\u2010-\u2015]+")
_WORD: Final = re.compile(r"[^\W_](?:\w|[.'’/@:+#-](?=\w))*")

# One scan finds what its form alone gives away, in the order of precedence.
_FORMS: Final = re.compile(
    r"""
      (?P<tick>`[^`\n]{1,256}`)
    | (?P<quote>(?<!\w)"[^"\n]{1,64}"(?!\w)|“[^”\n]{1,64}”|«[^»\n]{1,64}»|(?<![\w'])'[^'\n]{1,64}'(?!\w))
    | (?P<url>\b[a-z][a-z0-9+.-]*://[^\s<>"'`)\]}]+)
    | (?P<email>\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<path>(?<![\w/])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)*/?|\b[\w.@+-]+(?:/[\w.@+-]+)+\.\w{1,8}\b|\b(?:[\w@+-]+/){1,}[\w.@+-]*[\w@+-])
    | (?P<issue>(?<![\w&])\#\d{1,9}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b)
    | (?P<host>\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|ai|app|co|local|internal|cloud|edu|gov|eu|uk|de|fr)\b(?::\d+)?|\blocalhost(?::\d+)?\b)
    | (?P<code>\b[A-Za-z_]\w*(?:::\w+)+|\b[A-Za-z]\w*(?:\.[A-Za-z_]\w*)+(?:\(\))?|\b[A-Za-z_]\w*\(\)
        |\b[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|(?<!\w)--?[a-z][\w-]+|\b[a-z]+\d+[a-z\d]*\b)
    | (?P<kebab>\b[A-Za-z][a-z0-9]*(?:-[A-Za-z0-9]+)+\b)
    | (?P<name>\b[A-Z][\w’']*(?:[\ -](?:(?:of|de|van|von|the|and|&)\ )?[A-Z0-9][\w’']*)*)
    """,
    re.VERBOSE,
)
_KINDS: Final = {
    "tick": "term", "quote": "term", "url": "url", "email": "email", "path": "path", "issue": "issue", "host": "host",
    "code": "code", "kebab": "code", "name": "name",
}  # fmt: skip
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:;\n]\s*[\"“'(\[]?|^\s*[-*•>#]+\s*)\s*$")
# Capitalised words that open sentences or stand for the speaker and name nothing.
_NOT_NAMES: Final = frozenset(
    """i i'm i've i'll i'd the a an and or but if when while what who where why how which this that these those it its it's he she they we you my our your his
    her their there here is are was were do does did don't not no yes yeah ok okay hey hi hello thanks thank wow please well so now then also just for in on at to
    of with from by as be can could should would will must may might have has had let let's after before since because once each every all some any one two
    three four five six seven eight nine ten today tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday january february march april june
    july august september october november december mr mrs ms dr use uses using never always only both either neither however although though until unless
    actually correction update note todo fixme sure great good nice glad sorry oh haha cool awesome absolutely totally really maybe perhaps""".split()
)
_POSSESSIVE: Final = re.compile(r"(?:['’]s?|[.,:;!?]+)$")


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
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFC", name)).casefold()
    # Case folding can undo the normal form, so that a second pass is part of the rule (Unicode: NFKC_Casefold).
    folded = unicodedata.normalize("NFKC", folded)
    return _SEPARATORS.sub(" ", folded).strip() or folded.strip()


@lru_cache(maxsize=4096)
def ngrams_to_look_up(text: str) -> tuple[str, ...]:
    """At most 200 normalised runs of one to four words, which the store looks up among the known entities of a scope."""
    return tuple(dict.fromkeys(norm for norm, _start, _end in _ngrams(text)))


@lru_cache(maxsize=1024)
def _ngrams(text: str) -> tuple[tuple[str, int, int], ...]:
    """Runs with their spans, the words of the text in order, shorter runs first at each word."""
    words = [match.span() for match in _WORD.finditer(text)]
    norms = [_norm_word(text[start:end]) for start, end in words]
    found: dict[str, tuple[str, int, int]] = {}
    for index, (start, _end) in enumerate(words):
        run = ""
        for later in range(index, min(index + 4, len(words))):
            if later > index and _breaks(text, words[later - 1][1], words[later][0]):
                break
            run = f"{run} {norms[later]}" if run else norms[later]
            found.setdefault(run, (run, start, words[later][1]))
        if len(found) >= _MAX_NGRAMS:
            break
    return tuple(found.values())[:_MAX_NGRAMS]


def _norm_word(word: str) -> str:
    return normalise_entity(_POSSESSIVE.sub("", word) or word)


def _breaks(text: str, end: int, start: int) -> bool:
    """Whether something other than blanks, hyphens and underscores stands between two words."""
    return any(not (char.isspace() or char in "-_") for char in text[end:start])


def extract_entities(text: str, known: Collection[str]) -> tuple[EntityMention, ...]:
    """At most 64 entities of `text`, in order; `known` holds normalised names that the scope already has.

    The first mention of an entity counts. What the form gives away comes before a known entity of the same name.
    """
    found: dict[str, EntityMention] = {}
    for match in _FORMS.finditer(text):
        for mention in _mentions(text, match):
            if mention.norm and len(mention.norm) <= _MAX_CHARS:
                found.setdefault(mention.norm, mention)
    if known:
        names = known if isinstance(known, (set, frozenset, dict)) else frozenset(known)
        for norm, start, end in _ngrams(text):
            if norm in names:
                found.setdefault(norm, EntityMention(text[start:end], norm, "known", start, end))
    ordered = sorted(found.values(), key=lambda mention: (mention.start, mention.end))
    return tuple(ordered[:_MAX_MENTIONS])


def _mentions(text: str, match: re.Match[str]) -> list[EntityMention]:
    form = match.lastgroup or "name"
    start, end = match.span()
    if form in {"tick", "quote"}:
        return _quoted(text, start + 1, end - 1, form)
    if form == "name":
        return _names(text, start, end)
    while end > start and text[end - 1] in ".,:;!?'’":
        end -= 1
    return [_mention(text, start, end, _KINDS[form])] if _is_code(text[start:end], form) else []


def _mention(text: str, start: int, end: int, kind: str) -> EntityMention:
    return EntityMention(text[start:end], normalise_entity(text[start:end]), kind, start, end)


def _is_code(surface: str, form: str) -> bool:
    if form == "path":
        return "/" in surface.strip("/") or surface.startswith(("/", "~", "."))
    if form == "code":
        return len(surface) > 2 and surface.lower() not in {"e.g", "i.e", "a.m", "p.m", "u.s"}
    return True


def _quoted(text: str, start: int, end: int, form: str) -> list[EntityMention]:
    """A quoted term names something when it is short; a longer quotation is speech."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ".,!?"):
        end -= 1
    words = len(text[start:end].split())
    if not words or (form == "quote" and words > 4):
        return []
    return [_mention(text, start, end, "term")]


def _names(text: str, start: int, end: int) -> list[EntityMention]:
    """A run of capitalised words; one that only opens a sentence counts when it goes on or is not a common word."""
    words = text[start:end]
    while True:
        first = re.match(r"[\w’']+", words)
        if first is None:
            return []
        folded = first[0].casefold().replace("’", "'")
        rest = words[first.end() :].lstrip(" -&")
        if folded not in _NOT_NAMES and folded.removesuffix("'s") not in _NOT_NAMES:
            break
        if not rest:
            return []
        start, words = end - len(rest), rest
    surface = _POSSESSIVE.sub("", words)
    stop = start + len(surface)
    if len(surface) < 2 or (_opens_sentence(text, start) and " " not in surface and not _reads_as_name(text, surface, stop)):
        return []
    return [_mention(text, start, stop, "name")]


def _opens_sentence(text: str, start: int) -> bool:
    return start == 0 or _SENTENCE_START.search(text, max(0, start - 8), start) is not None


def _reads_as_name(text: str, surface: str, stop: int) -> bool:
    """A capital at the start of a sentence is a name when more speaks for it: an acronym, a digit, a possessive, the same
    word capitalised elsewhere, or a verb right behind it."""
    if surface.isupper() or any(char.isdigit() for char in surface) or any(char.isupper() for char in surface[1:]):
        return True
    if text[stop : stop + 2] in {"'s", "’s"}:
        return True
    if text.count(surface) > 1:
        return True
    following = re.match(r"\s+(\w+)", text[stop:])
    return following is not None and following[1] in _NAME_FOLLOWERS


_NAME_FOLLOWERS: Final = frozenset(
    """is was has had will must should can does did lives works owns uses likes loves hates prefers moved left joined said says runs manages leads reports
    administers imposed sold bought wants needs thinks knows became went uses listens depends requires supports and""".split()
)

"""The word lists behind the conflict classifier: opposites, closed classes, single-valued attributes, irregular forms.

The lists are data files beside this module, each with its source and licence in its first lines. They are read once,
on first use, and held as stems, so that any inflection of a word is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

import Stemmer

# Members of one class where the one lies inside the other: naming both is no contradiction.
_CONTAINED: Final = frozenset(
    frozenset(pair)
    for pair in (
        ("United Kingdom", "England"),
        ("United Kingdom", "Scotland"),
        ("United Kingdom", "Wales"),
        ("United Kingdom", "Northern Ireland"),
        ("Korea", "South Korea"),
        ("Korea", "North Korea"),
        ("blue", "navy"),
        ("blue", "turquoise"),
        ("blue", "teal"),
        ("red", "maroon"),
        ("white", "silver"),
        ("silver", "grey"),
        ("tan", "brown"),
        ("tan", "beige"),
        ("gold", "yellow"),
        ("purple", "lavender"),
        ("purple", "indigo"),
        ("green", "olive"),
        ("blond", "yellow"),
        ("blond", "gold"),
        ("cyan", "turquoise"),
        ("pink", "magenta"),
        ("shipped", "done"),
        ("shipped", "merged"),
        ("blocked", "paused"),
        ("blocked", "pending"),
        ("pending", "in review"),
        ("pending", "todo"),
        ("paused", "pending"),
        ("blocked", "todo"),
        ("merged", "done"),
    )
)


@dataclass(frozen=True, slots=True)
class ClassMember:
    """A member of a closed class: `class_name` (colour, country, tech-database …) and its `canonical` name."""

    class_name: str
    canonical: str


@dataclass(frozen=True, slots=True)
class AttributeForm:
    """How a single-valued `attribute` is named: `kind` is noun, role, verb or inverse; `words` are its stems."""

    attribute: str
    kind: str
    words: tuple[str, ...]


def _rows(name: str) -> list[list[str]]:
    text = files("hydramind_domain").joinpath("data", name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]


@cache
def _irregular() -> dict[str, str]:
    return {form: base for base, forms in _rows("irregular.tsv") for form in forms.split("|")}


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english", maxCacheSize=0)


@lru_cache(maxsize=16384)
def lemma(word: str) -> str:
    """The stem of a folded word, irregular forms brought to their base first (sold → sell, children → child)."""
    return str(_stemmer().stemWord(_irregular().get(word, word)))


@lru_cache(maxsize=16384)
def plain_stem(word: str) -> str:
    """The stem of a folded word as it stands ("left" stays "left", where `lemma` makes it "leav")."""
    return str(_stemmer().stemWord(word))


def word_keys(word: str) -> tuple[str, ...]:
    """`lemma` and, where it is another, `plain_stem` of a folded word; not cached, for callers that keep what they get."""
    plain = str(_stemmer().stemWord(word))
    base = _irregular().get(word, word)
    key = plain if base == word else str(_stemmer().stemWord(base))
    return (key,) if key == plain else (key, plain)


def phrase_key(phrase: str) -> str:
    """The key of a phrase of one or more folded words: its lemmas joined by blanks."""
    return " ".join(lemma(word) for word in phrase.split())


@cache
def _word_lists() -> dict[str, tuple[str, ...]]:
    return {name: tuple(text.split()) for name, text in _rows("words.tsv")}


def words(name: str) -> frozenset[str]:
    """A word list of `words.tsv`, folded words as they stand."""
    return frozenset(_word_lists()[name])


def stems(name: str) -> frozenset[str]:
    """A word list of `words.tsv` as lemmas."""
    return frozenset(lemma(word) for word in _word_lists()[name])


@cache
def opposites() -> dict[tuple[str, str], str]:
    """Every pair of opposites, both ways round, as phrase keys, with its kind (antonym, state, converse, preference)."""
    pairs: dict[tuple[str, str], str] = {}
    for word, opposite, _pos, _rank in _rows("wordnet_antonyms.tsv"):
        _put(pairs, word, opposite, "antonym")
    for kind, left, right in _opposite_rows():
        for word in left:
            for opposite in right:
                _put(pairs, word, opposite, kind)
    return pairs


# A verb's preposition is left to the alignment of the clauses; particles ("turn off") stay with their verb.
_TRAILING_PREPOSITIONS: Final = frozenset({"to", "for", "at", "by", "under", "from", "of", "against", "in", "with"})


def _bare(kind: str, phrase: str) -> str:
    words = phrase.split()
    if kind != "antonym" and len(words) > 1 and words[-1] in _TRAILING_PREPOSITIONS:
        words = words[:-1]
    return " ".join(words)


@cache
def _opposite_rows() -> tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]:
    """Our own rows: kind and the forms of both sides, verbs without their trailing preposition."""
    return tuple(
        (kind, tuple(_bare(kind, form) for form in left.split("|")), tuple(_bare(kind, form) for form in right.split("|")))
        for kind, left, right in _rows("opposites.tsv")
    )


@cache
def verb_keys() -> frozenset[str]:
    """The keys of every verb of the state, converse and preference pairs."""
    return frozenset(
        phrase_key(form)
        for kind, left, right in _opposite_rows()
        if kind != "antonym"
        for form in (*left, *right)
        if not form.startswith("be ")
    )


def _put(pairs: dict[tuple[str, str], str], word: str, opposite: str, kind: str) -> None:
    """Add a pair under its lemmas and, where "left" and the like differ, under its plain stems."""
    for stem in (phrase_key, lambda phrase: " ".join(plain_stem(part) for part in phrase.split())):
        one, two = stem(word), stem(opposite)
        if one != two:
            pairs[one, two] = pairs[two, one] = kind


@cache
def pair_count() -> int:
    """How many different pairs of words the data files hold (each counted once, whichever way round)."""
    pairs = {frozenset(row[:2]) for row in _rows("wordnet_antonyms.tsv")}
    for _kind, left, right in _rows("opposites.tsv"):
        pairs |= {frozenset((a, b)) for a in left.split("|") for b in right.split("|")}
    return len(pairs)


@cache
def phrases() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Phrases of two and more words to be read as one token: first lemma → the whole phrases' lemmas, longest first."""
    found: set[tuple[str, ...]] = set()
    for _kind, left, right in _opposite_rows():
        for phrase in (*left, *right):
            if " " in phrase and not phrase.startswith("be "):
                found.add(tuple(lemma(word) for word in phrase.split()))
    table: dict[str, list[tuple[str, ...]]] = {}
    for words in sorted(found, key=len, reverse=True):
        table.setdefault(words[0], []).append(words)
    return {first: tuple(rest) for first, rest in table.items()}


@cache
def class_members() -> dict[str, ClassMember]:
    """Folded form (of one or more words) → its closed class. Our own classes win over those of WordNet."""
    table: dict[str, ClassMember] = {}
    for name in ("wordnet_places.tsv", "classes.tsv"):
        for class_name, canonical, forms in _rows(name):
            for form in forms.split("|"):
                if class_name == "city" and form.casefold() in table:
                    continue
                member = ClassMember(class_name, canonical)
                table[form.casefold()] = member
                if class_name == "nationality" and not form.endswith(("s", "sh", "ch", "ese")):
                    table[form.casefold() + "s"] = member
    return table


@cache
def class_first_words() -> dict[str, int]:
    """First folded word of every class form of two or more words → the most words such a form has."""
    table: dict[str, int] = {}
    for form in class_members():
        words = form.split()
        if len(words) > 1:
            table[words[0]] = max(table.get(words[0], 0), len(words))
    return table


def classes_differ(one: ClassMember, two: ClassMember) -> bool:
    """Whether two members of one class exclude each other."""
    if one.class_name != two.class_name or one.canonical == two.canonical:
        return False
    return frozenset((one.canonical, two.canonical)) not in _CONTAINED


@cache
def attribute_nouns() -> dict[tuple[str, ...], AttributeForm]:
    """Stems of an attribute noun → the attribute."""
    return {form.words: form for form in _attribute_forms() if form.kind in {"noun", "role"}}


@cache
def attribute_verbs() -> dict[str, tuple[AttributeForm, ...]]:
    """First stem of a single-valued verb phrase → the forms that begin with it, longest first."""
    table: dict[str, list[AttributeForm]] = {}
    for form in sorted(_attribute_forms(), key=lambda form: len(form.words), reverse=True):
        if form.kind in {"verb", "inverse"}:
            table.setdefault(form.words[0], []).append(form)
    return {first: tuple(forms) for first, forms in table.items()}


@cache
def _attribute_forms() -> tuple[AttributeForm, ...]:
    return tuple(
        AttributeForm(attribute, kind, tuple(lemma(word) for word in form.split()))
        for attribute, kind, forms in _rows("attributes.tsv")
        for form in forms.split("|")
    )


def preload() -> None:
    """Read every list now (about 0.1 s of work), so that the first claim does not pay for it."""
    for table in (opposites, phrases, verb_keys, class_members, class_first_words, attribute_nouns, attribute_verbs):
        table()


def opposite_kind(one: tuple[str, ...], two: tuple[str, ...]) -> str | None:
    """The kind of opposition between two words, each given by its possible keys, or None."""
    table = opposites()
    for a in one:
        for b in two:
            kind = table.get((a, b))
            if kind is not None:
                return kind
    return None

"""What a query asks for: its terms with their kinds, the dates and entities it names, and what of it a scope has never seen."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from hydramind_domain.date_evidence import DateMention, find_dates
from hydramind_domain.entities import EntityMention, extract_entities
from hydramind_domain.text import Analysis, Token, about_term, stem
from hydramind_domain.vocabulary import GENERIC_WORDS

MAX_QUERY_TERMS: Final = 64
"""Further terms of a long query are left out, so that the work of one recall is bounded."""

_GENERIC: Final = frozenset(stem(word) for word in GENERIC_WORDS)
_FOCUS: Final = re.compile(r"\b(?:which|what)\s+(?:(?:kind|type|sort)s?\s+of\s+)?([a-z][\w-]*)", re.IGNORECASE)
"""The noun that a question asks for ("which editor …"): an answer seldom repeats it."""

_NAMING: Final = frozenset({"name", "code", "term", "path", "url", "email", "host", "issue"})


@dataclass(frozen=True, slots=True)
class AskedTerm:
    """A term of a query. `share` < 1 for a compound and its parts, which together ask for one thing.

    `frequency`: memories of the scope that hold it. `entity`: it is part of the name of an entity that the scope knows.
    """

    term: str
    surface: str
    start: int
    end: int
    frequency: int
    share: float
    generic: bool
    number: bool
    dated: bool
    entity: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A query as ranking sees it.

    `entities` are known to the scope, `said` holds for each how many memories were said to be about it (by normal form,
    those without any left out), `missing_names` are names that the scope has never seen.
    """

    terms: tuple[AskedTerm, ...]
    dates: tuple[DateMention, ...]
    entities: tuple[EntityMention, ...]
    said: Mapping[str, int]
    missing_names: tuple[str, ...]


def query_terms(query: Analysis, known_entities: Collection[str] = ()) -> tuple[str, ...]:
    """The terms whose frequencies a plan needs: those of the text, and one for each known entity in it."""
    return (*query.terms[:MAX_QUERY_TERMS], *(about_term(norm) for norm in sorted(known_entities)))


def read_question(query: Analysis, frequency: Mapping[str, int], known_entities: Collection[str]) -> Question:
    """Read a query against a scope. `known_entities` are those normal forms in it that the scope knows."""
    mentions = extract_entities(query.text, known_entities)
    entities = tuple(mention for mention in mentions if mention.norm in known_entities)
    dates = find_dates(query.text)
    terms = _asked(query, frequency, dates, entities)
    if dates and all(term.dated or term.generic for term in terms):
        dates, terms = (), _asked(query, frequency, (), entities)
    said = {m.norm: frequency[about_term(m.norm)] for m in entities if frequency.get(about_term(m.norm))}
    return Question(terms, dates, entities, said, _missing_names(mentions, terms, known_entities))


def _asked(
    query: Analysis, frequency: Mapping[str, int], dates: tuple[DateMention, ...], entities: tuple[EntityMention, ...]
) -> tuple[AskedTerm, ...]:
    asked: dict[str, AskedTerm] = {}
    focus = {match.start(1) for match in _FOCUS.finditer(query.text)}
    for group in _groups(query.tokens):
        kept = _kept(group, frequency, entities)
        share = 1.0 / math.sqrt(len(kept))
        for token in kept:
            if token.term not in asked and len(asked) < MAX_QUERY_TERMS:
                asked[token.term] = AskedTerm(
                    token.term,
                    query.text[token.start : token.end],
                    token.start,
                    token.end,
                    frequency.get(token.term, 0),
                    share,
                    generic=token.term in _GENERIC or (token.start in focus and token.term not in frequency),
                    number=token.term[0].isdigit(),
                    dated=_within(token, dates),
                    entity=_within(token, entities),
                )
    return tuple(asked.values())


def _groups(tokens: tuple[Token, ...]) -> list[list[Token]]:
    """A compound with its parts, which follow it inside its span; other tokens alone."""
    groups: list[list[Token]] = []
    for token in tokens:
        if groups and token.start < groups[-1][0].end and token.end <= groups[-1][0].end:
            groups[-1].append(token)
        else:
            groups.append([token])
    return groups


def _kept(group: list[Token], frequency: Mapping[str, int], entities: tuple[EntityMention, ...]) -> list[Token]:
    """A compound that no memory writes as one is asked for by its parts."""
    whole, *parts = group
    if parts and not frequency.get(whole.term) and not _within(whole, entities) and any(frequency.get(p.term) for p in parts):
        return parts
    return group


def _within(token: Token | AskedTerm, spans: tuple[DateMention, ...] | tuple[EntityMention, ...]) -> bool:
    return any(span.start <= token.start and token.end <= span.end for span in spans)


def _missing_names(mentions: tuple[EntityMention, ...], terms: tuple[AskedTerm, ...], known: Collection[str]) -> tuple[str, ...]:
    """Names with a word that the scope has never seen. A query in title case names nothing by its capitals."""
    capitals = not _title_case(terms)
    missing = []
    for mention in mentions:
        if mention.norm in known or mention.kind not in _NAMING or (mention.kind == "name" and not capitals):
            continue
        if any(_unseen(term) and _within(term, (mention,)) for term in terms):
            missing.append(mention.name)
    return tuple(missing)


def _unseen(term: AskedTerm) -> bool:
    return not (term.frequency or term.entity or term.generic or term.dated)


def _title_case(terms: tuple[AskedTerm, ...]) -> bool:
    return len(terms) > 3 and all(term.surface[0].isupper() or not term.surface[0].isalpha() for term in terms)

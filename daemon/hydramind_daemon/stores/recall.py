"""Reads of recall: frequencies, candidates with masks, entity evidence (design: exact pruning, docs/dev/store.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw

from hydramind_daemon.services.ports import RecallRow, RecallRows
from hydramind_daemon.stores import recall_sql
from hydramind_daemon.stores.connection import dumps
from hydramind_daemon.stores.errors import translate
from hydramind_daemon.stores.packing import STATUSES, block_of, entity_id, term_bytes
from hydramind_daemon.stores.read_sql import PLAIN
from hydramind_daemon.stores.reads import GraphReads
from hydramind_domain.errors import HydraMindError

_ALL_AT_ONCE: Final = 2
"""Postings up to so many budgets are read in one statement; beyond, block by block from the newest."""


@dataclass(frozen=True, slots=True)
class _Scope:
    id: int
    written: int
    counted_block: int
    purged: int


@dataclass(frozen=True, slots=True)
class _Term:
    """A term that exists: its id, and how many memories of the scope hold it."""

    id: int
    memories: int


@dataclass(frozen=True, slots=True)
class _Question:
    """A recall, as ids."""

    scope: _Scope
    masked: Mapping[int, bytes]
    required: Sequence[_Term]
    entities: Sequence[int]
    known: int | None

    @property
    def postings(self) -> int:
        return sum(term.memories for term in self.required)


class RecallReads(GraphReads):
    """Candidates for recall."""

    def __init__(self, connection: apsw.Connection, translated: Callable[[apsw.Error], HydraMindError] = translate) -> None:
        super().__init__(connection, translated)
        self._asked: dict[tuple[int, int | None, str], _Term | None] = {}

    def _scope(self, scope: str) -> _Scope | None:
        row = self._rows(PLAIN["scope"], (scope,))
        return _Scope(row[0], row[1], row[2], row[4]) if row else None

    def frequencies(self, scope: str, terms: Sequence[str], known: int | None = None) -> tuple[int, Sequence[int]]:
        """Memories written to the scope and not purged, and for each term those that hold it."""
        place = self._scope(scope)
        if place is None:
            return 0, [0] * len(terms)
        known = self._moment(known)
        found = self._terms(place, terms, known)
        return self._number(place, known), [found[t].memories if t in found else 0 for t in terms]

    def _number(self, place: _Scope, known: int | None) -> int:
        if known is None:
            return place.written - place.purged
        bindings = {"scope": place.id, "bound": self._bound(known), "known": known}
        purged = self._value(recall_sql.PURGED_THEN, bindings)
        return int(self._ordinal(place, known)) - int(purged)

    def _ordinal(self, place: _Scope, known: int | None) -> int:
        """Memories written to the scope up to a sequence."""
        if known is None:
            return place.written
        return int(self._value(recall_sql.ORDINAL_THEN, {"scope": place.id, "bound": self._bound(known)}))

    def _terms(self, place: _Scope, terms: Sequence[str], known: int | None) -> dict[str, _Term]:
        """Those of the terms that exist. A view is one moment, so that what was asked once need not be asked again."""
        unknown = [term for term in dict.fromkeys(terms) if (place.id, known, term) not in self._asked]
        if unknown:
            found = {unknown[position]: _Term(*term) for position, *term in self._ask_terms(place, unknown, known)}
            self._asked.update({(place.id, known, term): found.get(term) for term in unknown})
        answers = ((term, self._asked[place.id, known, term]) for term in terms)
        return {term: answer for term, answer in answers if answer is not None}

    def _ask_terms(self, place: _Scope, terms: Sequence[str], known: int | None) -> list[Any]:
        bindings: dict[str, object] = {"scope": place.id, "terms": dumps(list(terms))}
        if known is None:
            return self._rows(recall_sql.TERMS, {**bindings, "block": place.counted_block})
        blocks = dumps(list(range(block_of(self._ordinal(place, known)) + 1)))
        return self._rows(recall_sql.TERMS_THEN, {**bindings, "blocks": blocks, "bound": self._bound(known)})

    def recall_rows(
        self,
        scope: str,
        terms: Sequence[str],
        required: Sequence[str],
        entity_norms: Collection[str],
        budget: int,
        known: int | None = None,
    ) -> RecallRows:
        """Memories with at least one required term (and about one of the entities, if any), newest first, ≤ budget."""
        place = self._scope(scope)
        if place is None or not (required or entity_norms):
            return RecallRows([], truncated=False)
        known = self._moment(known)
        found = self._terms(place, [*dict.fromkeys((*terms, *required))], known)
        masked = {i: term_bytes(found[t].id) for i, t in enumerate(terms) if t in found}
        needed = [found[t] for t in dict.fromkeys(required) if t in found]
        entities = [entity_id(scope, norm) for norm in entity_norms]
        if required and not needed:
            return RecallRows([], truncated=False)
        question = _Question(place, masked, needed, entities, known)
        rows = self._by_entities(question, budget) if self._few_entities(question) else self._by_terms(question, budget)
        return RecallRows(_packed(rows[:budget], masked), truncated=len(rows) > budget)

    def _few_entities(self, question: _Question) -> bool:
        if not question.entities:
            return False
        if not question.required:
            return True
        return int(self._value(recall_sql.ENTITY_TOTAL, {"ids": dumps(question.entities)})) < question.postings

    def _ask(self, question: _Question, limit: int, *, by_entities: bool, **bindings: object) -> list[Any]:
        some = [term_bytes(term.id) for term in question.required] if by_entities else []
        sql = recall_sql.candidates(
            len(question.masked),
            by_entities=by_entities,
            also_about=bool(question.entities) and not by_entities,
            some_of=len(some),
        )
        direct = _direct(question.masked)
        packed = {
            name: item
            for i, (bit, data) in enumerate(question.masked.items())
            for name, item in ((f"t{i}", data), (f"s{i}", bit if direct else i % recall_sql.BITS))
        }
        needed = {f"r{i}": data for i, data in enumerate(some)}
        ids = dumps(question.entities)
        return self._timed(sql, question.known, scope=question.scope.id, ids=ids, limit=limit, **packed, **needed, **bindings)

    def _by_entities(self, question: _Question, budget: int) -> list[Any]:
        return self._ask(question, budget + 1, by_entities=True, before=1 << 62)

    def _by_terms(self, question: _Question, budget: int) -> list[Any]:
        required = dumps([term.id for term in question.required])
        newest = block_of(max(1, self._ordinal(question.scope, question.known)))
        blocks = list(range(newest, -1, -1))
        step = len(blocks)
        if question.postings > _ALL_AT_ONCE * budget:
            step = max(1, budget * len(blocks) // question.postings)
        found: list[Any] = []
        while blocks and len(found) <= budget:
            part, blocks = blocks[:step], blocks[step:]
            found += self._ask(question, budget + 1 - len(found), by_entities=False, blocks=dumps(part), required=required)
        return found

    def linked(self, scope: str, keys: Collection[int], entity_norms: Collection[str]) -> Mapping[int, frozenset[str]]:
        """Which of the entities each memory is about."""
        if not keys or not entity_norms:
            return {}
        names = {entity_id(scope, norm): norm for norm in entity_norms}
        found: defaultdict[int, set[str]] = defaultdict(set)
        for key, entity in self._rows(recall_sql.LINKED, {"keys": dumps(list(keys)), "ids": dumps(list(names))}):
            found[key].add(names[entity])
        return {key: frozenset(norms) for key, norms in found.items()}


def _direct(masked: Mapping[int, bytes]) -> bool:
    """Whether every bit has its own place in one column."""
    return all(bit < recall_sql.BITS for bit in masked)


def _packed(rows: Sequence[Sequence[Any]], masked: Mapping[int, bytes]) -> list[RecallRow]:
    """Rows of the statement as candidates; thousands a recall, so that a cheap way for the usual one column pays."""
    if len(masked) <= recall_sql.BITS and _direct(masked):
        return [
            RecallRow(key, columns[0] if columns else 0, length, trust, STATUSES[status], valid_from, valid_to)
            for key, length, trust, status, valid_from, valid_to, *columns in rows
        ]
    return [
        RecallRow(key, _spread(columns, masked), length, trust, STATUSES[status], valid_from, valid_to)
        for key, length, trust, status, valid_from, valid_to, *columns in rows
    ]


def _spread(columns: Sequence[int], masked: Mapping[int, bytes]) -> int:
    """The mask over all asked terms from columns over those that exist."""
    mask = 0
    for place, bit in enumerate(masked):
        column, offset = divmod(place, recall_sql.BITS)
        mask |= (columns[column] >> offset & 1) << bit
    return mask

"""Questions about memories and edges, for readers' views and the writer's snapshot alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import apsw

from hydramind_daemon.services.ports import Contest, EntityRow, GraphEdge, PastDrop, PastEvent
from hydramind_daemon.stores.connection import Bindings, dumps, rows, value
from hydramind_daemon.stores.errors import translate
from hydramind_daemon.stores.packing import ORIGINS, STATUSES, actor_of, entity_id
from hydramind_daemon.stores.read_sql import EDGES, PLAIN, TIMED, Timed
from hydramind_domain.errors import HydraMindError
from hydramind_domain.model import Drop, EntityLink, MemoryRecord, MemoryState

_CONTESTS: Final = 20
_HOPS_OF_SPREAD: Final = 2
_BEYOND_LIMIT: Final = 64
"""Conflict candidates beyond the limit are counted up to so many a pair of entity and slot term."""


class Connected:
    """A connection inside a transaction."""

    def __init__(self, connection: apsw.Connection, translated: Callable[[apsw.Error], HydraMindError] = translate) -> None:
        self._connection = connection
        self._translated = translated
        self._bounds: dict[int, int] = {}

    def _check(self) -> None:
        """Raise when no more questions may be asked."""

    def _rows(self, sql: str, bindings: Bindings = ()) -> list[Any]:
        self._check()
        try:
            return rows(self._connection, sql, bindings)
        except apsw.Error as error:
            raise self._translated(error) from error

    def ask(self, sql: str, bindings: Bindings = ()) -> list[Any]:
        """The rows of a statement, for the writer's own questions."""
        return self._rows(sql, bindings)

    def _value(self, sql: str, bindings: Bindings = ()) -> Any:
        self._check()
        try:
            return value(self._connection, sql, bindings)
        except apsw.Error as error:
            raise self._translated(error) from error

    def _bound(self, known: int) -> int:
        """Largest memory key after a commit."""
        if known not in self._bounds:
            self._bounds[known] = self._value(PLAIN["bound"], (known,)) or 0
        return self._bounds[known]

    def _moment(self, known: int | None) -> int | None:
        """None when `known` is the newest state, which is cheaper to read than the same through its past."""
        return known

    def _timed(self, question: Timed, known: int | None, **bindings: object) -> list[Any]:
        known = self._moment(known)
        moment = {} if known is None else {"known": known, "bound": self._bound(known)}
        return self._rows(question.at(known), {**bindings, **moment})

    def _of(self, question: str, keys: Collection[int], known: int | None = None) -> list[Any]:
        return self._timed(TIMED[question], known, keys=dumps(list(keys))) if keys else []


def record_of(row: Sequence[Any]) -> MemoryRecord:
    """A memory from its row."""
    key, memory_id, scope, content, source, actor, created_at, created_seq, valid_from, suspicious, claim_hash, *state = row
    return MemoryRecord(
        key,
        memory_id,
        scope,
        content,
        source,
        actor_of(actor),
        created_at,
        created_seq,
        valid_from,
        bool(suspicious),
        bytes.fromhex(claim_hash),
        state_of(key, state),
    )


def state_of(key: int, row: Sequence[Any]) -> MemoryState:
    """A state from its columns."""
    status, trust, valid_to, version, support = row
    return MemoryState(key, STATUSES[status], trust, valid_to, version, support)


def event_of(row: Sequence[Any]) -> PastEvent:
    """An event from its row."""
    seq, ordinal, at, scope, actor, kind, memory_id, other_id, before, after, status, reason, content = row
    return PastEvent(
        seq, ordinal, at, scope, actor_of(actor), kind, memory_id, other_id, before, after, STATUSES[status], reason, content
    )


def grouped(pairs: Iterable[Sequence[Any]]) -> dict[int, tuple[int, ...]]:
    """Second columns by the first, ascending."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        found[one].add(other)
    return {one: tuple(sorted(others)) for one, others in found.items()}


class GraphReads(Connected):
    """Memories, their states, and edges."""

    def find(self, memory_id: str, known: int | None = None) -> MemoryRecord | None:
        """A memory of any scope and status by external id."""
        row = self._timed(TIMED["find"], known, id=memory_id)
        return record_of(row[0]) if row else None

    def records(self, keys: Collection[int], known: int | None = None) -> Mapping[int, MemoryRecord]:
        """Memories by key, with content."""
        return {row[0]: record_of(row) for row in self._of("records", keys, known)}

    def current_states(self, keys: Collection[int]) -> Mapping[int, MemoryState]:
        """Current states without content."""
        return {row[0]: state_of(row[0], row[1:]) for row in self._of("states", keys)}

    def ids(self, keys: Collection[int]) -> Mapping[int, str]:
        """External ids."""
        return dict(self._rows(PLAIN["memory ids"], {"keys": dumps(list(keys))})) if keys else {}

    def links(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[EntityLink, ...]]:
        """Entities of memories, in the order in which they were linked."""
        found: defaultdict[int, list[EntityLink]] = defaultdict(list)
        for key, _, name, norm, kind, origin in sorted(self._of("links", keys, known)):
            found[key].append(EntityLink(name, norm, kind, ORIGINS[origin]))
        return {key: tuple(links) for key, links in found.items()}

    def contests(self, keys: Collection[int], known: int | None = None) -> Mapping[int, Contest]:
        """Standing contradictions on either side, without forgotten and purged counterparts."""
        against = self._counterparts("contested", keys, known)
        over = self._counterparts("contesting", keys, known)
        return {key: Contest(against.get(key, ()), over.get(key, ())) for key in against.keys() | over.keys()}

    def _counterparts(self, question: str, keys: Collection[int], known: int | None) -> Mapping[int, tuple[str, ...]]:
        found: defaultdict[int, list[str]] = defaultdict(list)
        for key, _, memory_id in sorted(self._of(question, keys, known), key=lambda row: -row[1]):
            if len(found[key]) < _CONTESTS:
                found[key].append(memory_id)
        return {key: tuple(ids) for key, ids in found.items()}

    def successors(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[int, str]]:
        """Old key → (key of the memory that replaced it, reason)."""
        return {old: (new, reason) for old, new, reason in self._of("successors", keys, known)}

    def predecessors(self, keys: Collection[int], known: int | None = None) -> Mapping[int, int]:
        """New key → key of the memory that it replaced."""
        return dict(self._of("predecessors", keys, known))

    def parents(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[int, ...]]:
        """Parents by DERIVED_FROM, ascending."""
        return grouped(self._of("parents", keys, known))

    def dependents(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[int, ...]]:
        """Children by DERIVED_FROM, ascending."""
        return grouped(self._of("dependents", keys, known))

    def evidence_superseded(self, keys: Collection[int], known: int | None = None) -> frozenset[int]:
        """Those of the keys with a parent that was superseded."""
        return frozenset(self._of("old evidence", keys, known))

    def drops_on(self, key: int, known: int | None = None) -> Sequence[PastDrop]:
        """Every drop that the memory ever got, by sequence."""
        found = [_past_drop(row, known) for row in self._timed(TIMED["drops on"], known, key=key)]
        return sorted(found, key=lambda past: (past.drop.seq, past.drop.cause, past.drop.hop))

    def events_of(self, key: int, known: int | None = None, limit: int = 500) -> Sequence[PastEvent]:
        """The memory's audit trail, in order."""
        return [event_of(row) for row in sorted(self._timed(TIMED["events of"], known, key=key, limit=limit))]

    def edges(self, keys: Collection[int], types: Collection[str], known: int | None = None) -> Sequence[GraphEdge]:
        """Edges of these types with at least one end among the keys, in a stable order."""
        if not keys:
            return []
        bound = dumps(list(keys))
        found = [row for kind in types for question in EDGES[kind] for row in self._timed(question, known, keys=bound)]
        return _edges(found)

    def about(self, entity_keys: Collection[int], known: int | None = None, limit: int = 200) -> Sequence[GraphEdge]:
        """ABOUT edges that end at these entities, newest memories first, at most `limit` an entity."""
        if not entity_keys:
            return []
        found = self._timed(TIMED["about"], known, keys=dumps(list(entity_keys)), limit=limit)
        return sorted(_edges(found), key=lambda edge: (edge.dst, -edge.src))

    def entity_rows(self, keys: Collection[int]) -> Mapping[int, EntityRow]:
        """Entities by key."""
        return {row[0]: EntityRow(*row) for row in self._rows(PLAIN["entity rows"], {"keys": dumps(list(keys))})}

    def open_cascades(self) -> Sequence[int]:
        """Causes whose cascades go on, oldest first."""
        return [cause for _, cause in sorted(self._rows(PLAIN["open cascades"]))]

    def spreading(self, key: int) -> bool:
        """Whether an open cascade was caused by this memory or by one that contradicted it or its parents within 2 hops."""
        causes = self.open_cascades()
        if not causes or key in causes:
            return bool(causes)
        reached, frontier = {key}, {key}
        for _ in range(_HOPS_OF_SPREAD):
            frontier = {parent for parents in self.parents(frontier).values() for parent in parents} - reached
            reached |= frontier
        return self._value(PLAIN["spread over"], {"keys": dumps(sorted(reached)), "open": dumps(causes)}) is not None

    def known_entities(self, scope: str, norms: Collection[str], known: int | None = None) -> Mapping[str, str]:
        """Norm → first-written name, of those that the scope knows."""
        return dict(self._of("known entities", [entity_id(scope, norm) for norm in norms], known))

    def active_duplicate(self, scope: str, claim_hash: bytes) -> int | None:
        """First active memory of the scope with this claim hash."""
        found = self._value(PLAIN["duplicate"], {"hash": claim_hash, "scope": scope})
        return None if found is None else int(found)

    def conflict_candidates(
        self, scope: str, entity_norms: Collection[str], slot_terms: Collection[str], limit: int
    ) -> tuple[Sequence[int], int]:
        """Active memories that share an entity and a slot term, newest first; and how many more there are.

        More than the limit are counted up to 64 a pair of entity and slot term; beyond, the number is a lower bound.
        """
        bindings = {
            "entities": dumps([entity_id(scope, norm) for norm in entity_norms]),
            "slots": dumps(list(slot_terms)),
            "cap": limit + _BEYOND_LIMIT,
        }
        found = {key for keys in self._rows(PLAIN["candidates"], bindings) for key in keys}
        return sorted(found, reverse=True)[:limit], max(0, len(found) - limit)


def _past_drop(row: Sequence[Any], known: int | None) -> PastDrop:
    *drop, cause_id, memory_id, withdrawn_seq, withdrawn_at, withdrawn_reason = row
    gone = withdrawn_seq is not None and (known is None or withdrawn_seq <= known)
    return PastDrop(Drop(*drop), cause_id, memory_id, withdrawn_at if gone else None, withdrawn_reason if gone else "")


def _edges(found: Iterable[Sequence[Any]]) -> list[GraphEdge]:
    unique = {(row[0], row[1], row[2], row[8]): row for row in found}
    return [
        GraphEdge(kind, src, dst, reason, at, bool(standing), before, after, hop, cause)
        for kind, src, dst, reason, at, standing, before, after, hop, cause in (
            unique[k] for k in sorted(unique, key=_edge_order)
        )
    ]


def _edge_order(name: tuple[str, int, int, int | None]) -> tuple[str, int, int, int]:
    kind, src, dst, hop = name
    return kind, src, dst, -1 if hop is None else hop

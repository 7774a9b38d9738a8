"""What a batch has applied and not yet written, and the rows that it becomes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hydramind_daemon.services.ports import CommitMeta
from hydramind_daemon.stores.connection import dumps, numbers
from hydramind_daemon.stores.packing import CURRENT_BELOW, ORIGIN_CODE, STATUS_CODE, actor_text, block_of, entity_id, pack_record
from hydramind_daemon.stores.write_sql import FLUSH_PARTS, POSTING_KEY_BITS
from hydramind_domain import plan_codec
from hydramind_domain.indexing import index_terms, with_entities
from hydramind_domain.model import Status
from hydramind_domain.plan import IndexTerms, MemoryAdded, Plan


@dataclass(slots=True)
class ScopeSlot:
    """A scope as the writer knows it: `written` counts what this batch adds, too."""

    id: int
    name: str
    written: int
    counted_block: int


@dataclass(frozen=True, slots=True)
class Birth:
    """A new memory with its place in the scope and its index."""

    added: MemoryAdded
    ordinal: int
    index: IndexTerms


@dataclass(frozen=True, slots=True)
class Unit:
    """One applied plan. `written` and `last_key` are those of the scope and the store after it."""

    seq: int
    plan: Plan
    meta: CommitMeta
    scope: ScopeSlot
    written: int
    last_key: int
    births: tuple[Birth, ...]


def births_of(plan: Plan, scope: ScopeSlot) -> tuple[Birth, ...]:
    """The new memories of a plan; `scope.written` rises with them."""
    made = []
    for added in plan.added:
        scope.written += 1
        index = with_entities(added.index or index_terms(added.content), added.entities)
        made.append(Birth(added, scope.written, index))
    return tuple(made)


def wanted_terms(units: Sequence[Unit]) -> set[str]:
    """Every term and slot term of the units."""
    wanted: set[str] = set()
    for unit in units:
        for birth in unit.births:
            wanted.update(birth.index.terms)
            wanted.update(birth.index.slot_terms)
    return wanted


@dataclass(frozen=True, slots=True)
class TermRef:
    """Id of a term, and its packed bytes as hex."""

    id: int
    hex: str


def flush_values(units: Sequence[Unit], terms: Mapping[str, TermRef], new_terms: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    """What `write_sql.FLUSH` binds: one JSON text a table."""
    parts = _gathered(units, terms, new_terms)
    return tuple(dumps(parts[part]) for part in FLUSH_PARTS)


def derived_values(
    units: Sequence[Unit], terms: Mapping[str, TermRef], new_terms: Sequence[tuple[int, str]]
) -> tuple[tuple[str, ...], str]:
    """As `flush_values`, without the tables that are the record; and (key, entities) of each memory."""
    parts = _gathered(units, terms, new_terms)
    entities = dumps([[row[0], row[10]] for row in parts["memories"]])  # type: ignore[index]
    parts["memories"], parts["log"] = [], []
    return tuple(dumps(parts[part]) for part in FLUSH_PARTS), entities


def _gathered(
    units: Sequence[Unit], terms: Mapping[str, TermRef], new_terms: Sequence[tuple[int, str]]
) -> dict[str, list[object]]:
    rows = _Rows(terms)
    for unit in units:
        rows.add(unit)
    rows.parts["terms"] = list(new_terms)
    rows.finish()
    return rows.parts


class _Rows:
    """Collects the rows of one flush."""

    def __init__(self, terms: Mapping[str, TermRef]) -> None:
        self.parts: dict[str, list[object]] = {part: [] for part in FLUSH_PARTS}
        self._terms = terms
        self._entities: dict[int, list[object]] = {}
        self._counts: Counter[int] = Counter()
        self._postings: defaultdict[tuple[int, int], list[tuple[int, Sequence[int]]]] = defaultdict(list)
        self._scopes: dict[int, list[object]] = {}

    def add(self, unit: Unit) -> None:
        """The rows of one plan that need no look at what is there already."""
        for birth in unit.births:
            self._birth(birth, unit)
        meta, plan, scope = unit.meta, unit.plan, unit.scope
        self.parts["derived"] += [[parent, child, unit.seq, meta.at] for child, parent in plan.derived]
        self.parts["events"] += [
            [unit.seq, i, scope.id, e.memory, e.other, e.kind, e.before, e.after, STATUS_CODE[Status(e.status)], e.reason]
            for i, e in enumerate(plan.events)
        ]
        self._log(unit)
        active = sum(birth.added.state.status is Status.ACTIVE for birth in unit.births)
        known = self._scopes.setdefault(scope.id, [scope.id, 0, 0, 0])
        self._scopes[scope.id] = [scope.id, unit.written, known[2] + active, meta.at]  # type: ignore[operator]

    def _log(self, unit: Unit) -> None:
        meta = unit.meta
        keyed = bool(meta.idempotency_key)
        self.parts["log"].append(
            [
                unit.seq,
                meta.at,
                unit.scope.id,
                meta.method,
                actor_text(meta.actor),
                unit.last_key,
                meta.idempotency_key or None,
                meta.request_hash.hex() if keyed else None,
                meta.outcome.hex() if keyed else None,
                pack_record(plan_codec.encode(unit.plan)).hex(),
            ]
        )

    def _birth(self, birth: Birth, unit: Unit) -> None:
        added, scope, index = birth.added, unit.scope, birth.index
        links = [(entity_id(scope.name, link.norm), link) for link in added.entities]
        ids = [entity for entity, _ in links]
        slots = [self._terms[term].id for term in index.slot_terms]
        self.parts["memories"].append(
            [
                added.key,
                added.memory_id,
                scope.id,
                added.created_at,
                unit.seq,
                added.valid_from,
                int(added.suspicious),
                added.claim_hash.hex(),
                added.source,
                actor_text(added.actor),
                f"[{','.join([f'[{entity},{ORIGIN_CODE[link.origin]}]' for entity, link in links])}]",
                added.content,
            ]
        )
        self._fact(birth, scope, slots)
        for entity, link in links:
            self._entities.setdefault(entity, [entity, scope.id, link.norm, link.name, link.kind, unit.seq])
        if ids:
            self.parts["about"].append([added.key, numbers(ids)])
        self.parts["derived"] += [[parent, added.key, unit.seq, unit.meta.at] for parent in added.parents]
        if STATUS_CODE[added.state.status] < CURRENT_BELOW:
            self._counts.update(set(ids))
        if ids and slots and added.state.status is Status.ACTIVE:
            self.parts["slots"].append([added.key, numbers(ids), numbers(slots)])

    def _fact(self, birth: Birth, scope: ScopeSlot, slots: Sequence[int]) -> None:
        added, state = birth.added, birth.added.state
        refs = [self._terms[term] for term in birth.index.terms]
        self.parts["facts"].append(
            [
                added.key,
                scope.id,
                birth.ordinal,
                STATUS_CODE[state.status],
                state.trust,
                added.valid_from,
                state.valid_to,
                state.version,
                state.support,
                birth.index.length,
                numbers(slots),
                "".join([ref.hex for ref in refs]),
            ]
        )
        self._postings[scope.id, block_of(birth.ordinal)].append((added.key, [ref.id for ref in refs]))

    def finish(self) -> None:
        """Rows that are summed over the units; postings are sorted, so that neighbours are written together."""
        self.parts["entities"] = list(self._entities.values())
        self.parts["counts"] = [[entity, n] for entity, n in self._counts.items()]
        self.parts["scopes"] = list(self._scopes.values())
        for (scope, block), memories in self._postings.items():
            base = memories[0][0]
            packed = sorted([term << POSTING_KEY_BITS | key - base for key, ids in memories for term in ids])
            self.parts["postings"].append([scope, block, base, numbers(packed)])

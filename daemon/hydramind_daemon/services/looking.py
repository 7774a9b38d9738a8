"""The plain reads: one memory, lists, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hydramind_daemon.services import pages, validate
from hydramind_daemon.services.answers import MemoryView, ids_of, memory_views, ordered
from hydramind_daemon.services.changing import no_such_memory
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef
from hydramind_daemon.services.moments import Moment
from hydramind_daemon.services.ports import ConflictRow, EntityRow, ReadView, ScopeCounts, ScopeRow
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.scopes import Scopes
from hydramind_domain.entities import normalise_entity
from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import MemoryRecord, Status

PAGE_MOST: Final = 500
_DEFAULT_STATUSES: Final = (Status.ACTIVE, Status.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class OneMemory:
    """A memory and its parents."""

    memory: MemoryView
    derived_from: tuple[str, ...]
    scope: ScopeAnswer


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """A page of memories, newest first; `total` in all pages."""

    memories: tuple[MemoryView, ...]
    next_token: str
    total: int
    scope: ScopeAnswer


@dataclass(frozen=True, slots=True)
class ScopePage:
    """A page of scopes, by name."""

    scopes: tuple[ScopeRow, ...]
    next_token: str


@dataclass(frozen=True, slots=True)
class EntityPage:
    """A page of entities."""

    entities: tuple[EntityRow, ...]
    next_token: str
    scope: ScopeAnswer


@dataclass(frozen=True, slots=True)
class ConflictPair:
    """A contradiction with both sides."""

    row: ConflictRow
    newer: MemoryView
    older: MemoryView


@dataclass(frozen=True, slots=True)
class ConflictPage:
    """A page of contradictions, newest first."""

    pairs: tuple[ConflictPair, ...]
    next_token: str
    scope: ScopeAnswer


@dataclass(frozen=True, slots=True)
class ScopeStats:
    """Numbers of a scope."""

    counts: ScopeCounts
    scope: ScopeAnswer


def existing(view: ReadView, scope: str, memory_id: str, known: int | None = None) -> MemoryRecord:
    """A memory of the scope in any status; else NotFound, the same for an unknown id and for one of another scope."""
    record = view.find(memory_id, known)
    if record is None or record.scope != scope:
        raise no_such_memory("memory_id", memory_id, scope)
    return record


class Looking:
    """Reads that need no rules."""

    def __init__(self, readers: Readers, scopes: Scopes) -> None:
        self._readers = readers
        self._scopes = scopes

    async def get(self, memory_id: str, ref: ScopeRef, known_at: str, call: Call) -> OneMemory:
        """One memory by id, also a forgotten or purged one."""
        wanted = validate.memory_id(memory_id)
        moment = Moment.of(known_at=known_at)
        scope = await self._scopes.for_read(ref, call)

        def read(view: ReadView) -> OneMemory:
            known = moment.known(view)
            record = existing(view, scope.scope, wanted, known)
            parents = view.parents([record.key], known).get(record.key, ())
            names = ids_of(view, parents)
            return OneMemory(
                memory_views(view, [record.key], known)[record.key], tuple(names[key] for key in parents if key in names), scope
            )

        return await self._readers.read(read, call.deadline)

    async def memories(
        self, ref: ScopeRef, statuses: tuple[Status, ...], entity: str, page_size: int, page_token: str, call: Call
    ) -> MemoryPage:
        """Memories of a scope, newest first; forgotten and purged ones are never listed."""
        if {Status.FORGOTTEN, Status.PURGED} & set(statuses):
            raise InvalidArgument.of("statuses", "names forgotten or purged, which are never listed")
        norm = normalise_entity(validate.name(entity, "entity")) if entity else None
        limit = validate.number(page_size, "page_size", 50, PAGE_MOST)
        at = pages.position(page_token, "memories", (int,))
        before = int(at[0]) if at else None
        scope = await self._scopes.for_read(ref, call)

        def read(view: ReadView) -> MemoryPage:
            keys, total = view.newest(scope.scope, statuses or _DEFAULT_STATUSES, norm, before, limit + 1)
            shown = list(keys[:limit])
            following = pages.token("memories", shown[-1]) if len(keys) > limit else ""
            return MemoryPage(tuple(ordered(view, shown)), following, total, scope)

        return await self._readers.read(read, call.deadline)

    async def scopes(self, page_size: int, page_token: str, call: Call) -> ScopePage:
        """Scopes by name."""
        limit = validate.number(page_size, "page_size", 100, PAGE_MOST)
        at = pages.position(page_token, "scopes", (str,))
        after = str(at[0]) if at else ""
        rows = await self._readers.read(lambda view: tuple(view.scopes(after, limit + 1)), call.deadline)
        shown = rows[:limit]
        return ScopePage(shown, pages.token("scopes", shown[-1].scope) if len(rows) > limit else "")

    async def entities(self, ref: ScopeRef, contains: str, page_size: int, page_token: str, call: Call) -> EntityPage:
        """Entities of a scope, those with most memories first."""
        part = validate.short(contains, "contains")
        limit = validate.number(page_size, "page_size", 100, PAGE_MOST)
        at = pages.position(page_token, "entities", (int,))
        offset = int(at[0]) if at else 0
        scope = await self._scopes.for_read(ref, call)
        rows = await self._readers.read(lambda view: tuple(view.entities(scope.scope, part, offset, limit + 1)), call.deadline)
        following = pages.token("entities", offset + limit) if len(rows) > limit else ""
        return EntityPage(rows[:limit], following, scope)

    async def conflicts(
        self, ref: ScopeRef, include_dismissed: bool, page_size: int, page_token: str, call: Call
    ) -> ConflictPage:
        """Contradictions of a scope, newest first."""
        limit = validate.number(page_size, "page_size", 50, PAGE_MOST)
        at = pages.position(page_token, "conflicts", (int, int))
        seq, done = (int(at[0]), int(at[1])) if at else (0, 0)
        scope = await self._scopes.for_read(ref, call)

        def read(view: ReadView) -> ConflictPage:
            # One commit can bring many contradictions: a page goes on inside it.
            before = seq + 1 if at else None
            rows = list(view.conflicts(scope.scope, include_dismissed, before, limit + 1 + done))
            rows = [row for i, row in enumerate(rows) if not (i < done and row.seq == seq)]
            shown = rows[:limit]
            views = memory_views(view, {key for row in shown for key in (row.newer, row.older)})
            pairs = tuple(ConflictPair(row, views[row.newer], views[row.older]) for row in shown)
            return ConflictPage(pairs, _following(shown, seq, done) if len(rows) > limit else "", scope)

        return await self._readers.read(read, call.deadline)

    async def stats(self, ref: ScopeRef, call: Call) -> ScopeStats:
        """Numbers of a scope."""
        scope = await self._scopes.for_read(ref, call)
        return ScopeStats(await self._readers.read(lambda view: view.counts(scope.scope), call.deadline), scope)


def _following(shown: list[ConflictRow], seq: int, done: int) -> str:
    last = shown[-1].seq
    same = sum(1 for row in shown if row.seq == last)
    return pages.token("conflicts", last, same + (done if last == seq else 0))

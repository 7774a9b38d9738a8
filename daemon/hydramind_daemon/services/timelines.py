"""Facts in order of valid time: of a scope, an entity, or one memory's chain of revisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hydramind_daemon.services import pages, validate
from hydramind_daemon.services.answers import MemoryView, ordered
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef
from hydramind_daemon.services.looking import PAGE_MOST, existing
from hydramind_daemon.services.moments import Moment
from hydramind_daemon.services.ports import ReadView
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.scopes import Scopes
from hydramind_domain.entities import normalise_entity
from hydramind_domain.model import Status

CHAIN: Final = 10_000
"""Longest chain of revisions that is followed."""


@dataclass(frozen=True, slots=True)
class TimelineRequest:
    """See the contract's TimelineRequest."""

    scope: ScopeRef = field(default_factory=ScopeRef)
    entity: str = ""
    memory_id: str = ""
    as_of: str = ""
    known_at: str = ""
    page_size: int = 0
    page_token: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory on a timeline, and why it is no longer plainly so."""

    memory: MemoryView
    reason: str


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """Facts by valid_from, then commit order."""

    facts: tuple[Fact, ...]
    next_token: str
    scope: ScopeAnswer


class Timelines:
    """Answers timelines."""

    def __init__(self, readers: Readers, scopes: Scopes) -> None:
        self._readers = readers
        self._scopes = scopes

    async def timeline(self, request: TimelineRequest, call: Call) -> TimelinePage:
        """A page of a timeline."""
        norm = normalise_entity(validate.name(request.entity, "entity")) if request.entity else None
        memory_id = validate.memory_id(request.memory_id) if request.memory_id else ""
        limit = validate.number(request.page_size, "page_size", 50, PAGE_MOST)
        at = pages.position(request.page_token, "timeline", (int, int))
        after = (int(at[0]), int(at[1])) if at else None
        moment = Moment.of(request.as_of, request.known_at)
        scope = await self._scopes.for_read(request.scope, call)

        def read(view: ReadView) -> TimelinePage:
            known = moment.known(view)
            chain = None
            if memory_id:
                chain = chain_of(view, existing(view, scope.scope, memory_id, known).key, known)
            keys = view.timeline(scope.scope, norm, chain, moment.as_of, after, limit + 1, known)
            facts = facts_of(view, list(keys[:limit]), known)
            following = ""
            if len(keys) > limit and facts:
                last = facts[-1].memory.record
                following = pages.token("timeline", last.valid_from, last.key)
            return TimelinePage(facts, following, scope)

        return await self._readers.read(read, call.deadline)


def chain_of(view: ReadView, key: int, known: int | None) -> Collection[int]:
    """The memory with all that it replaced and all that replaced it."""
    chain = {key}
    earlier = key
    while len(chain) < CHAIN and (before := view.predecessors([earlier], known).get(earlier)) is not None:
        if before in chain:
            break
        chain.add(before)
        earlier = before
    later = key
    while len(chain) < CHAIN and (found := view.successors([later], known).get(later)) is not None:
        if found[0] in chain:
            break
        chain.add(found[0])
        later = found[0]
    return chain


def facts_of(view: ReadView, keys: Sequence[int], known: int | None) -> tuple[Fact, ...]:
    """Memories with the reason why they were superseded or contradicted."""
    successors = view.successors(keys, known)
    contradicted = _contradictions(view, keys, known)
    return tuple(
        Fact(memory, successors[key][1] if key in successors else contradicted.get(key, ""))
        for memory in ordered(view, keys, known)
        for key in (memory.record.key,)
    )


def _contradictions(view: ReadView, keys: Sequence[int], known: int | None) -> Mapping[int, str]:
    records = view.records(keys, known)
    hit = [key for key, record in records.items() if record.status is Status.CONTRADICTED]
    if not hit:
        return {}
    edges = view.edges(hit, ("CONTRADICTS",), known)
    return {edge.dst: edge.reason for edge in sorted(edges, key=lambda edge: edge.at) if edge.standing}

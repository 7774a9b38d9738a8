"""What a command does to the graph. A plan is decided from a snapshot; a store applies it; applied again it is the same state.

A plan never holds content twice: `MemoryAdded.content` is the only place, and the commit log keeps it by reference.
"""

from __future__ import annotations

from dataclasses import dataclass

from hydramind_domain.model import Actor, Drop, EntityLink, Instant, MemoryState, Spans


@dataclass(frozen=True, slots=True)
class IndexTerms:
    """What the indexes hold of a content: distinct terms, number of tokens, conflict slot terms. Derived, never logged."""

    terms: tuple[str, ...]
    length: int
    slot_terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryAdded:
    """A new memory with its entities (ABOUT) and parents (DERIVED_FROM).

    `index` is there when the text work was done before the batch; a replay computes it from the content.
    """

    key: int
    memory_id: str
    scope: str
    content: str
    source: str
    actor: Actor
    created_at: Instant
    valid_from: Instant
    suspicious: bool
    claim_hash: bytes
    entities: tuple[EntityLink, ...]
    parents: tuple[int, ...]
    state: MemoryState
    index: IndexTerms | None = None


@dataclass(frozen=True, slots=True)
class ContradictsAdded:
    """CONTRADICTS from `newer` to `older`."""

    newer: int
    older: int
    reason_code: str
    reason: str
    spans: Spans
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class SupersededAdded:
    """SUPERSEDED_BY from `old` to `new`."""

    old: int
    new: int
    reason: str


@dataclass(frozen=True, slots=True)
class DropWithdrawn:
    """The withdrawing event of one drop."""

    drop_id: int
    memory: int
    hop: int
    before: float
    after: float
    reason: str


@dataclass(frozen=True, slots=True)
class ConflictResolved:
    """A decision on the contradiction `newer` → `older`. With `dismissed` the edge stands no longer."""

    newer: int
    older: int
    dismissed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a memory, for the audit trail and for watchers.

    kinds: remembered, supported, contradicted, decayed, withdrawn, superseded, forgotten, purged, resolved.
    """

    kind: str
    memory: int
    other: int | None
    before: float
    after: float
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All effects of one command, in the order in which they are applied.

    `states` are whole new states (last one of a key wins); `cascade_open` / `cascade_closed` are causes whose dependents
    are still to be visited by follow-up commands, or no longer. `derived` are late DERIVED_FROM edges (child, parent) between
    memories that exist. A CONTRADICTS edge stands exactly as long as the hop-0 drop that came with it.
    """

    method: str
    scope: str
    added: tuple[MemoryAdded, ...] = ()
    derived: tuple[tuple[int, int], ...] = ()
    states: tuple[MemoryState, ...] = ()
    contradicts: tuple[ContradictsAdded, ...] = ()
    superseded: tuple[SupersededAdded, ...] = ()
    drops: tuple[Drop, ...] = ()
    withdrawn: tuple[DropWithdrawn, ...] = ()
    resolved: tuple[ConflictResolved, ...] = ()
    purged: tuple[int, ...] = ()
    cascade_open: tuple[int, ...] = ()
    cascade_closed: tuple[int, ...] = ()
    events: tuple[Event, ...] = ()

"""Values of the memory graph. Times are integers: microseconds since 1970-01-01 UTC (`Instant`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

Instant = int
"""Microseconds since the epoch, UTC."""


class Status(StrEnum):
    """Where a memory stands."""

    ACTIVE = "active"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    PURGED = "purged"

    @property
    def current(self) -> bool:
        """Whether recall may answer with it by default."""
        return self in {Status.ACTIVE, Status.CONTRADICTED}


class Origin(StrEnum):
    """How an entity came to be linked to a memory."""

    EXPLICIT = "explicit"
    EXTRACTED = "extracted"
    INHERITED = "inherited"


@dataclass(frozen=True, slots=True)
class TrustRules:
    """Constants of trust (semantics: Trust)."""

    contradiction_drop: float = 0.40
    hop_drop: float = 0.15
    hops: int = 2
    floor: float = 0.05
    cascade_limit: int = 5_000


@dataclass(frozen=True, slots=True)
class Actor:
    """Who called, as the front end asserts it."""

    client_name: str = ""
    client_version: str = ""
    pid: int = 0
    session: str = ""


@dataclass(frozen=True, slots=True)
class EntityLink:
    """An entity a memory is about: name as first written in the scope, its normal form, its kind."""

    name: str
    norm: str
    kind: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The part of a memory that changes.

    `version` counts changes of status and validity; trust and support change without it.
    """

    key: int
    status: Status
    trust: float
    valid_to: Instant | None
    version: int
    support: int


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory: what never changes, and its state. `key` grows with the order of creation."""

    key: int
    memory_id: str
    scope: str
    content: str
    source: str
    actor: Actor
    created_at: Instant
    created_seq: int
    valid_from: Instant
    suspicious: bool
    claim_hash: bytes
    state: MemoryState

    @property
    def status(self) -> Status:
        """Status of its state."""
        return self.state.status

    @property
    def trust(self) -> float:
        """Trust of its state, in [floor, 1]."""
        return self.state.trust

    def valid_at(self, at: Instant) -> bool:
        """valid_from ≤ at < valid_to (semantics: Time)."""
        return self.valid_from <= at and (self.state.valid_to is None or at < self.state.valid_to)


@dataclass(frozen=True, slots=True)
class Drop:
    """One immutable drop of trust (an edge TRUST_DECAY from `cause` to `memory`)."""

    drop_id: int
    cause: int
    memory: int
    hop: int
    amount: float
    before: float
    after: float
    reason: str
    at: Instant
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Spans:
    """Where two contents disagree, in code points of either."""

    new_start: int = 0
    new_end: int = 0
    old_start: int = 0
    old_end: int = 0


@dataclass(frozen=True, slots=True)
class FoundConflict:
    """The classifier's verdict on a new claim against the memory `key`."""

    key: int
    reason_code: str
    reason: str
    spans: Spans = field(default_factory=Spans)

"""What a command answers. Kept under the idempotency key, so it refers to contents by id and span and never quotes them."""

from __future__ import annotations

from dataclasses import dataclass

from hydramind_domain.model import EntityLink, Instant, Spans, Status


@dataclass(frozen=True, slots=True)
class ConflictOutcome:
    """A contradicted older memory. `reason` is the fixed phrase of `reason_code`."""

    memory_id: str
    reason_code: str
    reason: str
    spans: Spans
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class DecayOutcome:
    """A dependent that lost trust."""

    memory_id: str
    hop: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class WithdrawnOutcome:
    """A drop that was withdrawn."""

    memory_id: str
    hop: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class RememberOutcome:
    """Answer of remember and revise (`superseded_id` and `dependents` belong to revise).

    At most `LISTED` decayed ones are listed; `decayed_total` counts all of this command.
    """

    memory_id: str
    scope: str
    trust: float
    version: int
    status: Status
    created_at: Instant
    valid_from: Instant
    entities: tuple[EntityLink, ...] = ()
    conflicts: tuple[ConflictOutcome, ...] = ()
    decayed: tuple[DecayOutcome, ...] = ()
    decayed_total: int = 0
    still_spreading: bool = False
    duplicate: bool = False
    echo: bool = False
    superseded_id: str = ""
    dependents: tuple[str, ...] = ()


LISTED = 1_000
"""Most dependents that one answer lists."""


@dataclass(frozen=True, slots=True)
class ForgetOutcome:
    """Answer of forget."""

    memory_id: str
    scope: str
    status: Status
    version: int
    withdrawn: tuple[WithdrawnOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolveOutcome:
    """Answer of resolve; `memory_id` is the newer side."""

    memory_id: str
    other_id: str
    scope: str
    dismissed: bool
    withdrawn: tuple[WithdrawnOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class PurgeOutcome:
    """Answer of purge."""

    memory_ids: tuple[str, ...]
    scope: str
    withdrawn: tuple[WithdrawnOutcome, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkOutcome:
    """Answer of a late link, and of a cascade's follow-up: how many edges or drops it made."""

    scope: str
    count: int


Outcome = RememberOutcome | ForgetOutcome | ResolveOutcome | PurgeOutcome | LinkOutcome

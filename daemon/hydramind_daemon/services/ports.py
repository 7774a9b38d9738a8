"""What the services need from the outside. Stores, locks, clock and ids implement these; one contract suite tests them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from hydramind_domain.model import Actor, Drop, EntityLink, Instant, MemoryRecord, Status
from hydramind_domain.plan import Plan
from hydramind_domain.snapshot import Snapshot


class Clock(Protocol):
    """Wall clock and monotonic clock."""

    def now(self) -> Instant:
        """Microseconds since the epoch, UTC. May jump."""
        ...

    def monotonic(self) -> float:
        """Seconds; never goes back."""
        ...


class IdSource(Protocol):
    """Source of external ids."""

    def memory_id(self) -> str:
        """A new memory id, never given before."""
        ...


@dataclass(frozen=True, slots=True)
class LockOutcome:
    """Scopes whose locks are held now, and the scopes that another process holds (with its pid, 0 when unknown)."""

    held: frozenset[str]
    blocked: Mapping[str, int]


class ScopeLocks(Protocol):
    """POSIX locks on scopes; called from the writer thread only."""

    def try_acquire(self, scopes: Collection[str]) -> LockOutcome:
        """Take what is free, without waiting, in sorted order."""
        ...

    def release_idle(self, older_than_s: float) -> None:
        """Give back the locks that no `try_acquire` named for so long."""
        ...

    def held(self) -> Sequence[str]:
        """Scopes held now."""
        ...

    def close(self) -> None:
        """Give back everything."""
        ...


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The first answer to an idempotency key: hash of the request, commit sequence, and the encoded outcome."""

    request_hash: bytes
    seq: int
    outcome: bytes


@dataclass(frozen=True, slots=True)
class CommitMeta:
    """What a command's log record carries beside its plan.

    `outcome` is the encoded answer, without content. `idempotency_key` empty: nothing is kept under a key.
    """

    at: Instant
    actor: Actor
    method: str
    scope: str
    idempotency_key: str
    request_hash: bytes
    outcome: bytes


class WriteBatch(Protocol):
    """One transaction of the store, on the writer thread. Every command runs between `savepoint` and `release`/`undo`."""

    @property
    def snapshot(self) -> Snapshot:
        """State that the commands before left; what a command is planned on."""
        ...

    def last_commit_at(self) -> Instant:
        """Transaction time of the last commit, including this batch's; 0 in an empty store."""
        ...

    def savepoint(self) -> None:
        """Begin a command."""
        ...

    def undo(self) -> None:
        """Take back everything since `savepoint`. Raises when the store has lost the whole transaction."""
        ...

    def apply(self, plan: Plan, meta: CommitMeta) -> int:
        """Apply a plan, append its log record, store its answer under its key; return the commit sequence."""
        ...

    def release(self) -> None:
        """End a command, keeping it."""
        ...

    def answer(self, scope: str, method: str, key: str) -> StoredAnswer | None:
        """What was answered to an idempotency key before."""
        ...

    def map_project(self, root: str, wanted: str) -> str:
        """Scope name of a project root: the stored mapping, else `wanted`, else `wanted`-<6 hex> when another root has it."""
        ...

    def commit(self) -> None:
        """Make it durable. Raises ResourceExhausted (disk full), Unavailable or Internal; then nothing was kept."""
        ...

    def rollback(self) -> None:
        """Keep nothing. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Contest:
    """Standing contradictions of a memory: newer ids against it, older ids that it contradicts; newest first, ≤ 20 each."""

    contradicted_by: tuple[str, ...]
    contradicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PastDrop:
    """A drop with its withdrawal, as the asked-for sequence knows it; ids are external."""

    drop: Drop
    cause_id: str
    memory_id: str
    withdrawn_at: Instant | None
    withdrawn_reason: str


@dataclass(frozen=True, slots=True)
class PastEvent:
    """An event of the audit trail with its commit; ids are external; `content` only of remembered events, for watchers."""

    seq: int
    ordinal: int
    at: Instant
    scope: str
    actor: Actor
    kind: str
    memory_id: str
    other_id: str
    before: float
    after: float
    status: Status
    reason: str
    content: str = ""


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge for traces and neighbourhoods. For ABOUT, `dst` is an entity key and the vertex is `entity`."""

    type: str
    src: int
    dst: int
    reason: str
    at: Instant
    standing: bool
    before: float | None = None
    after: float | None = None
    hop: int | None = None
    cause: int | None = None


class RecallRow(NamedTuple):
    """A candidate for recall: which query terms it holds (bit i = i-th asked term), and what scoring needs."""

    key: int
    mask: int
    length: int
    trust: float
    status: Status
    valid_from: Instant
    valid_to: Instant | None


@dataclass(frozen=True, slots=True)
class RecallRows:
    """Candidates, and whether the budget cut them short."""

    rows: Sequence[RecallRow]
    truncated: bool


@dataclass(frozen=True, slots=True)
class EntityRow:
    """An entity with the number of current memories about it."""

    key: int
    name: str
    norm: str
    kind: str
    memories: int


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """A scope, its current memories, its last write, the project folders mapped to it."""

    scope: str
    memories: int
    last_write_at: Instant | None
    project_roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConflictRow:
    """A contradiction of a scope. `verdict`: '' | 'stands' | 'dismissed'."""

    newer: int
    older: int
    reason_code: str
    reason: str
    at: Instant
    seq: int
    standing: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class ScopeCounts:
    """Numbers of a scope."""

    by_status: Mapping[Status, int]
    entities: int
    standing_conflicts: int
    last_write_at: Instant | None


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Health of the store. Sizes in bytes."""

    schema_version: int
    sequence: int
    memories: int
    scopes: int
    store_bytes: int
    wal_bytes: int
    open_cascades: int
    read_only_reason: str
    missing_sequences: tuple[str, ...]
    quarantined_files: tuple[str, ...]


class ReadView(Protocol):
    """A consistent read transaction on one connection, at most 5 s long.

    `known` is a commit sequence: the state after it (transaction time travel); None is the newest state, `sequence`.
    Keys of memories that did not exist at `known` are absent from answers. Scopes are names; an unknown scope is empty.
    """

    sequence: int

    def sequence_at(self, at: Instant) -> int:
        """Last commit sequence at or before a transaction time; 0 when there is none."""
        ...

    def find(self, memory_id: str, known: int | None = None) -> MemoryRecord | None:
        """A memory of any scope and status by external id."""
        ...

    def records(self, keys: Collection[int], known: int | None = None) -> Mapping[int, MemoryRecord]:
        """Memories by key, with content."""
        ...

    def links(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[EntityLink, ...]]:
        """Entities of memories."""
        ...

    def contests(self, keys: Collection[int], known: int | None = None) -> Mapping[int, Contest]:
        """Standing contradictions on either side; keys without any are absent."""
        ...

    def successors(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[int, str]]:
        """Old key → (key of the memory that replaced it, reason)."""
        ...

    def predecessors(self, keys: Collection[int], known: int | None = None) -> Mapping[int, int]:
        """New key → key of the memory that it replaced."""
        ...

    def parents(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[int, ...]]:
        """Parents by DERIVED_FROM."""
        ...

    def dependents(self, keys: Collection[int], known: int | None = None) -> Mapping[int, tuple[int, ...]]:
        """Children by DERIVED_FROM."""
        ...

    def evidence_superseded(self, keys: Collection[int], known: int | None = None) -> frozenset[int]:
        """Those of the keys with a parent that was superseded."""
        ...

    def drops_on(self, key: int, known: int | None = None) -> Sequence[PastDrop]:
        """Every drop that the memory ever got, by sequence."""
        ...

    def events_of(self, key: int, known: int | None = None, limit: int = 500) -> Sequence[PastEvent]:
        """The memory's audit trail, in order."""
        ...

    def edges(self, keys: Collection[int], types: Collection[str], known: int | None = None) -> Sequence[GraphEdge]:
        """Edges of these types with at least one end among the keys (for ABOUT: whose memory is among them)."""
        ...

    def about(self, entity_keys: Collection[int], known: int | None = None, limit: int = 200) -> Sequence[GraphEdge]:
        """ABOUT edges that end at these entities, newest memories first, at most `limit` an entity."""
        ...

    def entity_rows(self, keys: Collection[int]) -> Mapping[int, EntityRow]:
        """Entities by key."""
        ...

    def spreading(self, key: int) -> bool:
        """Whether an open cascade was caused by this memory or by one that contradicted it or its parents within 2 hops."""
        ...

    # --- recall and conflict check

    def scope_exists(self, scope: str) -> bool:
        """Whether anything was ever written there."""
        ...

    def scope_names(self) -> Sequence[str]:
        """Names of all scopes, sorted."""
        ...

    def known_entities(self, scope: str, norms: Collection[str], known: int | None = None) -> Mapping[str, str]:
        """Norm → first-written name, of those that the scope knows."""
        ...

    def frequencies(self, scope: str, terms: Sequence[str], known: int | None = None) -> tuple[int, Sequence[int]]:
        """Number of memories ever written to the scope and not purged, and for each term the number that hold it."""
        ...

    def recall_rows(
        self,
        scope: str,
        terms: Sequence[str],
        required: Sequence[str],
        entity_norms: Collection[str],
        budget: int,
        known: int | None = None,
    ) -> RecallRows:
        """Memories that hold at least one `required` term (and are about one of `entity_norms`, if any), newest first.

        `mask` says which of `terms` each holds. At most `budget` rows. Forgotten and purged memories are never among them;
        superseded ones are. Without `required` but with entities: all memories about the entities.
        """
        ...

    def linked(self, scope: str, keys: Collection[int], entity_norms: Collection[str]) -> Mapping[int, frozenset[str]]:
        """Which of the entities each memory is about; keys without any are absent."""
        ...

    def conflict_candidates(
        self, scope: str, entity_norms: Collection[str], slot_terms: Collection[str], limit: int
    ) -> tuple[Sequence[int], int]:
        """As `Snapshot.conflict_candidates`, on this view."""
        ...

    def active_duplicate(self, scope: str, claim_hash: bytes) -> int | None:
        """As `Snapshot.active_duplicate`, on this view."""
        ...

    # --- lists

    def timeline(
        self,
        scope: str,
        entity_norm: str | None,
        keys: Collection[int] | None,
        as_of: Instant | None,
        after: tuple[Instant, int] | None,
        limit: int,
        known: int | None = None,
    ) -> Sequence[int]:
        """Keys by (valid_from, key) after a position; forgotten and purged ones left out; with `keys`, only those."""
        ...

    def newest(
        self, scope: str, statuses: Collection[Status], entity_norm: str | None, before: int | None, limit: int
    ) -> tuple[Sequence[int], int]:
        """Keys newest first, below `before`; and the number in all pages."""
        ...

    def scopes(self, after: str, limit: int) -> Sequence[ScopeRow]:
        """Scopes by name after a name."""
        ...

    def entities(self, scope: str, contains: str, offset: int, limit: int) -> Sequence[EntityRow]:
        """Entities by number of current memories, then name."""
        ...

    def conflicts(self, scope: str, include_withdrawn: bool, before_seq: int | None, limit: int) -> Sequence[ConflictRow]:
        """Contradictions, newest first."""
        ...

    def counts(self, scope: str) -> ScopeCounts:
        """Numbers of a scope."""
        ...

    def export_keys(
        self, scope: str | None, after: int, limit: int, *, every_status: bool, known: int | None = None
    ) -> Sequence[int]:
        """Keys in commit order after a key; without `every_status`, forgotten and purged ones are left out."""
        ...

    # --- events

    def events_after(self, seq: int, scopes: Collection[str] | None, limit: int) -> Sequence[PastEvent]:
        """Events with a larger sequence, in order; always whole commits, so possibly a few more than `limit`."""
        ...

    def oldest_event(self) -> int:
        """Oldest commit sequence whose events are kept for watchers."""
        ...

    def stored_answer(self, scope: str, method: str, key: str) -> StoredAnswer | None:
        """As `WriteBatch.answer`."""
        ...

    def project_scope(self, root: str, wanted: str) -> str:
        """Scope name of a project root: the stored mapping, else the one that `WriteBatch.map_project` would make now."""
        ...


class Store(Protocol):
    """The embedded store. `begin` is for the writer thread; `read` may be called from any thread."""

    def begin(self) -> WriteBatch:
        """Open the one write transaction."""
        ...

    def read(self) -> AbstractContextManager[ReadView]:
        """Open a read transaction; readers never wait for the writer."""
        ...

    def status(self) -> StoreStatus:
        """Health; cheap."""
        ...

    def maintain(self) -> None:
        """Checkpoint the write-ahead log and the like; called by the writer when it is idle."""
        ...

    def backup(self, path: str) -> tuple[int, int]:
        """Consistent copy into a new file: (bytes, last sequence)."""
        ...

    def verify(self) -> Iterator[str]:
        """Problems found, none when all is well."""
        ...

    def rebuild(self) -> tuple[int, int]:
        """Derived tables anew from the log (writer thread): (log records, memories)."""
        ...

    def close(self) -> None:
        """Flush and close. Safe to call twice."""
        ...

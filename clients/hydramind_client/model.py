"""What the daemon answers, as frozen dataclasses with the field names of docs/dev/semantics.md ("Answers").

Times are aware and in UTC; trust, relevance and score are in [0, 1]. An optional field is None when the daemon said nothing.
The order of fields is the order of keys in JSON (`to_json`), the same for the shell, MCP and every later front end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hydramind_client.render import JsonObject, to_json


class Status(StrEnum):
    """Where a memory stands."""

    ACTIVE = "active"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"
    FORGOTTEN = "forgotten"
    PURGED = "purged"


class ScopeSource(StrEnum):
    """How the scope of a call was decided, strongest first."""

    EXPLICIT = "explicit"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    DEFAULT = "default"


class EntityOrigin(StrEnum):
    """How an entity came to be linked to a memory."""

    EXPLICIT = "explicit"
    EXTRACTED = "extracted"
    INHERITED = "inherited"


class Verdict(StrEnum):
    """What was decided about a contradiction."""

    STANDS = "stands"
    DISMISSED = "dismissed"


class Order(StrEnum):
    """Order of recalled memories."""

    SCORE = "score"
    NEWEST = "newest"


class Answer:
    """Base of everything here: renders itself as JSON-able values."""

    __slots__ = ()

    def to_json(self) -> JsonObject:
        """This answer as JSON-able values: names and order as in the semantics, absent optionals left out."""
        return to_json(self)


@dataclass(frozen=True, slots=True)
class Actor(Answer):
    """Who made a call, as the front end asserts it. Empty and 0 mean unknown."""

    client_name: str | None = None
    client_version: str | None = None
    pid: int | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True)
class EntityLink(Answer):
    """An entity that a memory is about; `from_` is called `from` in JSON."""

    name: str
    from_: EntityOrigin = field(metadata={"json": "from"})
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Span(Answer):
    """A half-open range of code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spans(Answer):
    """Where two claims contradict each other: in the new content and in the older one."""

    new: Span
    old: Span


@dataclass(frozen=True, slots=True)
class Memory(Answer):
    """One memory, as the asked-for moment sees it."""

    memory_id: str
    content: str
    trust_score: float
    status: Status
    source: str | None
    actor: Actor | None
    created_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    scope: str
    version: int
    support: int
    entities: tuple[EntityLink, ...]
    superseded_by: str | None
    suspicious: bool
    sequence: int
    evidence_superseded: bool
    contradicted_by: tuple[str, ...]
    contradicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict(Answer):
    """A contradiction with an older memory; `after_trust` is what it became, or for a check would become."""

    memory_id: str
    reason_code: str
    reason: str
    spans: Spans | None
    before_trust: float
    after_trust: float
    old_content: str | None


@dataclass(frozen=True, slots=True)
class Decay(Answer):
    """A dependent whose trust fell, or would fall, with a contradicted parent."""

    memory_id: str
    hop: int
    before_trust: float
    after_trust: float


@dataclass(frozen=True, slots=True)
class Remembered(Answer):
    """What `remember` did."""

    memory_id: str
    scope: str
    scope_from: ScopeSource | None
    trust_score: float
    version: int
    status: Status
    entities: tuple[EntityLink, ...]
    conflicts: tuple[Conflict, ...]
    decayed: tuple[Decay, ...]
    duplicate: bool
    replayed: bool
    decayed_total: int
    still_spreading: bool
    echo: bool
    sequence: int
    created_at: datetime | None
    valid_from: datetime | None


@dataclass(frozen=True, slots=True)
class Revised(Remembered):
    """What `revise` did: the new memory, and which one it replaced."""

    superseded_id: str
    dependents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemError(Answer):
    """Why one element of a stream was refused. `code` is the gRPC status code's number."""

    code: int
    reason: str
    message: str
    field: str | None


@dataclass(frozen=True, slots=True)
class BatchOutcome(Answer):
    """What came of element `index` of a batch: exactly one of `remembered` and `error` is set."""

    index: int
    remembered: Remembered | None
    error: ItemError | None


@dataclass(frozen=True, slots=True)
class RecalledMemory(Answer):
    """A memory that answers the question: score = trust × relevance."""

    memory_id: str
    content: str
    trust_score: float
    relevance: float
    score: float
    status: Status
    source: str | None
    actor: Actor | None
    created_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None
    entities: tuple[EntityLink, ...]
    contested: bool
    contradicted_by: tuple[str, ...]
    why: str
    contradicts: tuple[str, ...]
    version: int
    support: int
    superseded_by: str | None
    suspicious: bool
    evidence_superseded: bool
    sequence: int


@dataclass(frozen=True, slots=True)
class SuppressedMemory(Answer):
    """A memory that matched but is out."""

    memory_id: str
    status: Status
    superseded_by: str | None


@dataclass(frozen=True, slots=True)
class Recall(Answer):
    """What `recall` found, best first; or that it abstains, and why."""

    memories: tuple[RecalledMemory, ...]
    abstained: bool
    reason: str | None
    nearest: tuple[str, ...]
    suppressed: tuple[SuppressedMemory, ...]
    scope: str
    scope_from: ScopeSource | None
    sequence: int
    scorer: str
    truncated: bool
    near_scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineFact(Answer):
    """A fact on a timeline; `reason` says why it ended or lost trust."""

    memory_id: str
    content: str
    trust_score: float
    status: Status
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime | None
    superseded_by: str | None
    reason: str | None
    source: str | None
    actor: Actor | None
    entities: tuple[EntityLink, ...]
    version: int
    support: int
    suspicious: bool
    contradicted_by: tuple[str, ...]
    contradicts: tuple[str, ...]
    sequence: int


@dataclass(frozen=True, slots=True)
class Timeline(Answer):
    """Facts by valid time. An empty `next_page_token` is the only end mark."""

    facts: tuple[TimelineFact, ...]
    next_page_token: str
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class TraceVertex(Answer):
    """A memory (its id, its content shortened) or an entity (`entity:<name>`) on a path."""

    id: str
    kind: str
    label: str
    trust_score: float | None
    status: Status | None


@dataclass(frozen=True, slots=True)
class TraceEdge(Answer):
    """An edge on a path; `standing` is false once a contradiction or drop was withdrawn."""

    type: str
    from_id: str
    to_id: str
    reason: str | None
    standing: bool


@dataclass(frozen=True, slots=True)
class TracePath(Answer):
    """A path from the asked memory; edges are one fewer than vertices and keep their own direction."""

    vertices: tuple[TraceVertex, ...]
    edges: tuple[TraceEdge, ...]


@dataclass(frozen=True, slots=True)
class Trace(Answer):
    """Paths by length, then ids."""

    paths: tuple[TracePath, ...]
    truncated: bool
    engine: str
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class ConflictCheck(Answer):
    """What a claim would contradict, if it were remembered."""

    conflicts: tuple[Conflict, ...]
    candidates_checked: int
    candidates_skipped: int
    entities: tuple[EntityLink, ...]
    would_decay: tuple[Decay, ...]
    duplicate_of: str | None
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class TrustEvent(Answer):
    """Something that happened to a memory."""

    kind: str
    at: datetime | None
    sequence: int
    words: str
    other_id: str | None
    before_trust: float
    after_trust: float
    actor: Actor | None


@dataclass(frozen=True, slots=True)
class TrustDrop(Answer):
    """One drop of trust. `hop` 0: contradicted itself; 1 and 2: distance from a contradicted memory."""

    drop_id: str
    memory_id: str
    caused_by: str
    hop: int
    amount: float
    before_trust: float
    after_trust: float
    reason: str | None
    at: datetime | None
    sequence: int
    withdrawn: bool
    withdrawn_at: datetime | None
    withdrawn_reason: str | None


@dataclass(frozen=True, slots=True)
class TrustExplanation(Answer):
    """Why a memory has its trust, in words and as the events behind it."""

    memory_id: str
    trust_score: float
    explanation: str
    events: tuple[TrustEvent, ...]
    standing_drops: tuple[TrustDrop, ...]
    dependents: tuple[Decay, ...]
    status: Status
    still_spreading: bool
    withdrawn_drops: tuple[TrustDrop, ...]
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class Withdrawn(Answer):
    """A drop that was withdrawn: the memory's trust before and after."""

    memory_id: str
    hop: int
    before_trust: float
    after_trust: float


@dataclass(frozen=True, slots=True)
class Forgotten(Answer):
    """What `forget` did."""

    memory_id: str
    status: Status
    withdrawn: tuple[Withdrawn, ...]
    scope: str
    scope_from: ScopeSource | None
    version: int
    replayed: bool
    sequence: int


@dataclass(frozen=True, slots=True)
class Resolved(Answer):
    """What `resolve_conflict` did; `memory_id` is the newer side."""

    memory_id: str
    other_id: str
    verdict: Verdict
    withdrawn: tuple[Withdrawn, ...]
    scope: str
    scope_from: ScopeSource | None
    replayed: bool
    sequence: int


@dataclass(frozen=True, slots=True)
class Purged(Answer):
    """What `purge` erased, or would erase."""

    memory_ids: tuple[str, ...]
    withdrawn: tuple[Withdrawn, ...]
    dry_run: bool
    scope: str
    scope_from: ScopeSource | None
    replayed: bool
    sequence: int


@dataclass(frozen=True, slots=True)
class MemoryDetail(Answer):
    """One memory by id, with what it was derived from."""

    memory: Memory
    derived_from: tuple[str, ...]
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class MemoryList(Answer):
    """A page of memories, newest first; `total` counts all pages."""

    memories: tuple[Memory, ...]
    next_page_token: str
    total: int
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class ScopeSummary(Answer):
    """One scope; `memories` counts active and contradicted ones."""

    scope: str
    memories: int
    last_write_at: datetime | None
    project_roots: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScopeList(Answer):
    """A page of scopes, by name."""

    scopes: tuple[ScopeSummary, ...]
    next_page_token: str


@dataclass(frozen=True, slots=True)
class EntitySummary(Answer):
    """One entity; `memories` counts active and contradicted ones about it."""

    name: str
    kind: str | None
    memories: int


@dataclass(frozen=True, slots=True)
class EntityList(Answer):
    """A page of entities, by number of memories, then name."""

    entities: tuple[EntitySummary, ...]
    next_page_token: str
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class ConflictPair(Answer):
    """One contradiction with both sides. `verdict` is None until somebody decided."""

    newer: Memory
    older: Memory
    reason_code: str
    reason: str
    at: datetime | None
    standing: bool
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ConflictList(Answer):
    """A page of contradictions, newest first."""

    conflicts: tuple[ConflictPair, ...]
    next_page_token: str
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class MemoryEdge(Answer):
    """An edge between two memories. The optional fields belong to CONTRADICTS and TRUST_DECAY."""

    type: str
    from_id: str
    to_id: str
    reason: str | None
    at: datetime | None
    before_trust: float | None
    after_trust: float | None
    hop: int | None
    caused_by: str | None
    standing: bool


@dataclass(frozen=True, slots=True)
class Neighborhood(Answer):
    """The part of the graph around a memory; `total` counts what is within the distance, up to 10,000."""

    memories: tuple[Memory, ...]
    edges: tuple[MemoryEdge, ...]
    total: int
    scope: str
    scope_from: ScopeSource | None


@dataclass(frozen=True, slots=True)
class ScopeStats(Answer):
    """What a scope holds."""

    scope: str
    scope_from: ScopeSource | None
    active: int
    contradicted: int
    superseded: int
    forgotten: int
    purged: int
    entities: int
    standing_conflicts: int
    last_write_at: datetime | None

    @property
    def total(self) -> int:
        """Memories of every status."""
        return self.active + self.contradicted + self.superseded + self.forgotten + self.purged


@dataclass(frozen=True, slots=True)
class ExportedMemory(Memory):
    """A memory with its links, as `export` writes it and `import` reads it."""

    derived_from: tuple[str, ...]
    supersedes: str | None


@dataclass(frozen=True, slots=True)
class ImportOutcome(Answer):
    """What came of one record: `memory_id` is set when it is in the store now, else `error`."""

    line: int
    memory_id: str | None
    already_there: bool
    conflicts: int
    error: ItemError | None


@dataclass(frozen=True, slots=True)
class MemoryEvent(Answer):
    """What happened to a memory; several events of one command share a sequence and differ in `ordinal`."""

    sequence: int
    ordinal: int
    kind: str
    scope: str
    memory_id: str
    at: datetime | None
    other_id: str | None
    before_trust: float
    after_trust: float
    status: Status | None
    reason: str | None
    actor: Actor | None
    content: str | None


@dataclass(frozen=True, slots=True)
class ResyncRequired(Answer):
    """The reader lost the thread and must read the state anew; the last thing that a watch gives."""

    reason: str
    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class ServerInfo(Answer):
    """Identity of the running daemon."""

    version: str
    build_id: str
    api_level: int
    pid: int
    started_at: datetime | None
    record: str
    record_fingerprint: str | None
    managed: bool


@dataclass(frozen=True, slots=True)
class ServerStatus(Answer):
    """State of the daemon, with the identity's fields at the top level."""

    pid: int
    state: str
    state_reason: str | None
    version: str
    build_id: str
    api_level: int
    managed: bool
    started_at: datetime | None
    uptime_s: int
    home: str
    socket: str
    record: str
    record_fingerprint: str | None
    store_bytes: int
    wal_bytes: int
    disk_free_bytes: int
    schema_version: int
    sequence: int
    memories: int
    scopes: int
    queue_length: int
    watchers: int
    locked_scopes: tuple[str, ...]
    pending_cascades: int
    rss_bytes: int
    missing_sequences: tuple[str, ...]
    quarantined_files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BackedUp(Answer):
    """A consistent copy of the store."""

    path: str
    size_bytes: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Verified(Answer):
    """Result of a check of the store."""

    ok: bool
    problems: tuple[str, ...]
    memories: int
    records: int


@dataclass(frozen=True, slots=True)
class Rebuilt(Answer):
    """Derived tables were built anew."""

    records: int
    memories: int


@dataclass(frozen=True, slots=True)
class Draining(Answer):
    """The daemon with this pid is stopping."""

    pid: int


@dataclass(frozen=True, slots=True)
class NewMemory:
    """One element for `remember_batch`; the fields are those of `remember`."""

    content: str
    entities: Sequence[str] = ()
    derived_from: Sequence[str] = ()
    source: str | None = None
    valid_from: str | datetime | None = None
    idempotency_key: str | None = None


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One record for `import_`, as import files hold it; times are text in the accepted forms, empty means absent."""

    line: int
    content: str
    external_id: str = ""
    scope: str = ""
    entities: Sequence[str] = ()
    derived_from: Sequence[str] = ()
    source: str = ""
    valid_from: str = ""
    valid_to: str = ""
    created_at: str = ""
    supersedes: str = ""
    reason: str = ""

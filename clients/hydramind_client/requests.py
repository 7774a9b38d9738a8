"""Arguments into calls: each function checks what a caller can get wrong in Python and builds the request of one RPC.

Limits and rules of meaning are the daemon's; here only types, text that no message can hold, and moments are looked at. Both
clients run what these functions give, so that they cannot differ.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from hydramind.v1 import admin_pb2, common_pb2, event_pb2, memory_pb2
from hydramind_client import convert
from hydramind_client import model as m
from hydramind_client.errors import InvalidArgument
from hydramind_client.render import rfc3339
from hydramind_client.scope import ScopeRef

A = TypeVar("A")
E = TypeVar("E", m.Verdict, m.Order)

Moment: TypeAlias = str | dt.date | dt.datetime
"""A time as callers write it: text in an accepted form, a date (the UTC day), or an aware date-time."""

Scope: TypeAlias = str | ScopeRef | None
"""A scope argument: a name, a resolved scope, or None for the caller's own."""

STREAM_TIMEOUT_S = 3600.0
"""Deadline of calls that work through a whole scope or file."""

TEXT_MAX_BYTES = 1024 * 1024
"""Longest text that any field takes; more would only be refused after a long way."""

_SOURCES = {
    m.ScopeSource.EXPLICIT: common_pb2.SCOPE_SOURCE_EXPLICIT,
    m.ScopeSource.ENVIRONMENT: common_pb2.SCOPE_SOURCE_ENVIRONMENT,
    m.ScopeSource.PROJECT: common_pb2.SCOPE_SOURCE_PROJECT,
    m.ScopeSource.DEFAULT: common_pb2.SCOPE_SOURCE_DEFAULT,
}
_STATUSES = {
    m.Status.ACTIVE: common_pb2.MEMORY_STATUS_ACTIVE,
    m.Status.CONTRADICTED: common_pb2.MEMORY_STATUS_CONTRADICTED,
    m.Status.SUPERSEDED: common_pb2.MEMORY_STATUS_SUPERSEDED,
    m.Status.FORGOTTEN: common_pb2.MEMORY_STATUS_FORGOTTEN,
    m.Status.PURGED: common_pb2.MEMORY_STATUS_PURGED,
}
_VERDICTS = {
    m.Verdict.STANDS: memory_pb2.CONFLICT_VERDICT_STANDS,
    m.Verdict.DISMISSED: memory_pb2.CONFLICT_VERDICT_DISMISSED,
}
_ORDERS = {
    None: memory_pb2.RECALL_ORDER_UNSPECIFIED,
    m.Order.SCORE: memory_pb2.RECALL_ORDER_SCORE,
    m.Order.NEWEST: memory_pb2.RECALL_ORDER_NEWEST,
}


@dataclass(frozen=True, slots=True)
class Call(Generic[A]):
    """One unary call: which RPC, its request, how its response becomes an answer, and a mutation's key."""

    service: str
    method: str
    request: Message
    read: Callable[[Any], A]
    key: str = ""
    writes: bool = False
    starts: bool = True
    """A daemon may be started for it; never for a call that stops one."""


def new_key() -> str:
    """A fresh idempotency key."""
    return str(uuid.uuid4())


def text(field: str, value: str | None) -> str:
    """A string argument; None is absent. Raises `InvalidArgument`."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise InvalidArgument.of(field, f"must be a string, not {type(value).__name__}")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise InvalidArgument.of(field, "is not valid Unicode text (it has half of a surrogate pair)") from None
    if size > TEXT_MAX_BYTES:
        raise InvalidArgument.of(field, f"has {size} bytes, at most {TEXT_MAX_BYTES} are allowed")
    return value


def texts(field: str, values: Iterable[str] | None) -> list[str]:
    """A list of strings. A lone string would be taken apart into letters and is refused."""
    if values is None:
        return []
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidArgument.of(field, "must be a list of strings")
    return [_item(field, value) for value in values]


def _item(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidArgument.of(field, f"must hold strings only, not {type(value).__name__}")
    return text(field, value)


def whole(field: str, value: int | None, bits: int = 32) -> int:
    """An integer argument; None is absent (0)."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidArgument.of(field, f"must be a whole number, not {type(value).__name__}")
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise InvalidArgument.of(field, f"{value} is out of range")
    return value


def moment(field: str, value: Moment | None) -> str:
    """A time as the contract writes it. Raises `InvalidArgument` for a date-time without a zone."""
    if isinstance(value, dt.datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            raise InvalidArgument.of(
                field,
                f"{value.isoformat()} has no time zone; use an aware datetime, for example datetime.now(UTC)",
                reason="INVALID_TIME",
            )
        return rfc3339(value)
    if isinstance(value, dt.date):
        return value.isoformat()
    if value is not None and not isinstance(value, str):
        raise InvalidArgument.of(
            field, f"must be a string, a date or an aware datetime, not {type(value).__name__}", reason="INVALID_TIME"
        )
    return text(field, value)


def scope_message(scope: ScopeRef) -> common_pb2.ScopeRef:
    """A scope as the contract writes it."""
    name, root = text("scope", scope.name), text("scope", scope.project_root)
    return common_pb2.ScopeRef(name=name, project_root=root, source=_SOURCES[scope.source])


def status(value: m.Status | str, field: str = "include") -> common_pb2.MemoryStatus.ValueType:
    """A status argument, as a member or its name."""
    try:
        return _STATUSES[m.Status(value)]
    except ValueError:
        raise InvalidArgument.of(field, f"{value!r} is none of {', '.join(m.Status)}") from None


def _choice(field: str, kind: type[E], value: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise InvalidArgument.of(field, f"{value!r} is none of {', '.join(kind)}") from None


def _memory(method: str, request: Message, read: Callable[[Any], A], key: str = "", *, writes: bool = False) -> Call[A]:
    return Call("memory", method, request, read, key, writes)


def _admin(method: str, request: Message, read: Callable[[Any], A], *, writes: bool = False) -> Call[A]:
    return Call("admin", method, request, read, "", writes)


def remember_message(
    content: str,
    scope: ScopeRef,
    entities: Sequence[str] = (),
    derived_from: Sequence[str] = (),
    source: str | None = None,
    valid_from: Moment | None = None,
    idempotency_key: str | None = None,
) -> memory_pb2.RememberRequest:
    """Request of Remember, with a key in any case."""
    return memory_pb2.RememberRequest(
        content=_item("content", content),
        scope=scope_message(scope),
        entities=texts("entities", entities),
        derived_from=texts("derived_from", derived_from),
        source=text("source", source),
        valid_from=moment("valid_from", valid_from),
        idempotency_key=text("idempotency_key", idempotency_key) or new_key(),
    )


def remember(request: memory_pb2.RememberRequest) -> Call[m.Remembered]:
    """Call of Remember."""
    return _memory("Remember", request, convert.remembered, request.idempotency_key, writes=True)


def recall(
    query: str,
    scope: ScopeRef,
    entities: Sequence[str] = (),
    limit: int | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    include: Sequence[m.Status | str] = (),
    order: m.Order | str | None = None,
) -> Call[m.Recall]:
    """Call of Recall."""
    if isinstance(include, str):
        raise InvalidArgument.of("include", "must be a list of statuses")
    if limit == 0:
        raise InvalidArgument.of("limit", "must be 1 to 100")
    request = memory_pb2.RecallRequest(
        query=_item("query", query),
        scope=scope_message(scope),
        entities=texts("entities", entities),
        limit=whole("limit", limit),
        as_of=moment("as_of", as_of),
        known_at=moment("known_at", known_at),
        include=[status(item) for item in include],
        order=_ORDERS[None if order is None else _choice("order", m.Order, order)],
    )
    return _memory("Recall", request, convert.recall)


def revise(
    memory_id: str,
    content: str,
    scope: ScopeRef,
    reason: str,
    valid_from: Moment | None = None,
    expected_version: int | None = None,
    idempotency_key: str | None = None,
    source: str | None = None,
) -> Call[m.Revised]:
    """Call of Revise."""
    request = memory_pb2.ReviseRequest(
        memory_id=_item("memory_id", memory_id),
        content=_item("content", content),
        scope=scope_message(scope),
        reason=_item("reason", reason),
        valid_from=moment("valid_from", valid_from),
        expected_version=whole("expected_version", expected_version, 64),
        idempotency_key=text("idempotency_key", idempotency_key) or new_key(),
        source=text("source", source),
    )
    return _memory("Revise", request, convert.revised, request.idempotency_key, writes=True)


def timeline(
    scope: ScopeRef,
    entity: str | None = None,
    memory_id: str | None = None,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
    limit: int | None = None,
    page_token: str | None = None,
) -> Call[m.Timeline]:
    """Call of Timeline."""
    request = memory_pb2.TimelineRequest(
        scope=scope_message(scope),
        entity=text("entity", entity),
        memory_id=text("memory_id", memory_id),
        as_of=moment("as_of", as_of),
        known_at=moment("known_at", known_at),
        page_size=whole("limit", limit),
        page_token=text("page_token", page_token),
    )
    return _memory("Timeline", request, convert.timeline)


def trace_memory(
    memory_id: str,
    scope: ScopeRef,
    hops: int | None = None,
    relations: Sequence[str] = (),
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> Call[m.Trace]:
    """Call of TraceMemory."""
    if hops == 0:
        raise InvalidArgument.of("hops", "must be 1 to 3")
    request = memory_pb2.TraceMemoryRequest(
        memory_id=_item("memory_id", memory_id),
        scope=scope_message(scope),
        hops=whole("hops", hops),
        relations=texts("relations", relations),
        as_of=moment("as_of", as_of),
        known_at=moment("known_at", known_at),
    )
    return _memory("TraceMemory", request, convert.trace)


def check_conflict(content: str, scope: ScopeRef, entities: Sequence[str] = ()) -> Call[m.ConflictCheck]:
    """Call of CheckConflict."""
    request = memory_pb2.CheckConflictRequest(
        content=_item("content", content), scope=scope_message(scope), entities=texts("entities", entities)
    )
    return _memory("CheckConflict", request, convert.check)


def explain_trust(
    memory_id: str, scope: ScopeRef, as_of: Moment | None = None, known_at: Moment | None = None
) -> Call[m.TrustExplanation]:
    """Call of ExplainTrust."""
    request = memory_pb2.ExplainTrustRequest(
        memory_id=_item("memory_id", memory_id),
        scope=scope_message(scope),
        as_of=moment("as_of", as_of),
        known_at=moment("known_at", known_at),
    )
    return _memory("ExplainTrust", request, convert.explanation)


def forget(memory_id: str, scope: ScopeRef, reason: str | None = None, idempotency_key: str | None = None) -> Call[m.Forgotten]:
    """Call of Forget."""
    request = memory_pb2.ForgetRequest(
        memory_id=_item("memory_id", memory_id),
        scope=scope_message(scope),
        reason=text("reason", reason),
        idempotency_key=text("idempotency_key", idempotency_key) or new_key(),
    )
    return _memory("Forget", request, convert.forgotten, request.idempotency_key, writes=True)


def resolve_conflict(
    memory_id: str, other_id: str, verdict: m.Verdict | str, reason: str, scope: ScopeRef, idempotency_key: str | None = None
) -> Call[m.Resolved]:
    """Call of ResolveConflict."""
    request = memory_pb2.ResolveConflictRequest(
        memory_id=_item("memory_id", memory_id),
        other_id=_item("other_id", other_id),
        verdict=_VERDICTS[_choice("verdict", m.Verdict, verdict)],
        reason=_item("reason", reason),
        scope=scope_message(scope),
        idempotency_key=text("idempotency_key", idempotency_key) or new_key(),
    )
    return _memory("ResolveConflict", request, convert.resolved, request.idempotency_key, writes=True)


def purge(
    memory_ids: Sequence[str], scope: ScopeRef, reason: str, *, dry_run: bool = False, idempotency_key: str | None = None
) -> Call[m.Purged]:
    """Call of Purge."""
    request = memory_pb2.PurgeRequest(
        memory_ids=texts("memory_ids", memory_ids),
        scope=scope_message(scope),
        reason=_item("reason", reason),
        idempotency_key=text("idempotency_key", idempotency_key) or new_key(),
        dry_run=dry_run,
    )
    return _memory("Purge", request, convert.purged, "" if dry_run else request.idempotency_key, writes=not dry_run)


def get_memory(memory_id: str, scope: ScopeRef, known_at: Moment | None = None) -> Call[m.MemoryDetail]:
    """Call of GetMemory."""
    request = memory_pb2.GetMemoryRequest(
        memory_id=_item("memory_id", memory_id), scope=scope_message(scope), known_at=moment("known_at", known_at)
    )
    return _memory("GetMemory", request, convert.detail)


def list_memories(
    scope: ScopeRef,
    statuses: Sequence[m.Status | str] = (),
    entity: str | None = None,
    limit: int | None = None,
    page_token: str | None = None,
) -> Call[m.MemoryList]:
    """Call of ListMemories."""
    request = memory_pb2.ListMemoriesRequest(
        scope=scope_message(scope),
        statuses=[status(item, "statuses") for item in statuses],
        entity=text("entity", entity),
        page_size=whole("limit", limit),
        page_token=text("page_token", page_token),
    )
    return _memory("ListMemories", request, convert.memory_list)


def list_scopes(limit: int | None = None, page_token: str | None = None) -> Call[m.ScopeList]:
    """Call of ListScopes."""
    request = memory_pb2.ListScopesRequest(page_size=whole("limit", limit), page_token=text("page_token", page_token))
    return _memory("ListScopes", request, convert.scope_list)


def list_entities(
    scope: ScopeRef, contains: str | None = None, limit: int | None = None, page_token: str | None = None
) -> Call[m.EntityList]:
    """Call of ListEntities."""
    request = memory_pb2.ListEntitiesRequest(
        scope=scope_message(scope),
        contains=text("contains", contains),
        page_size=whole("limit", limit),
        page_token=text("page_token", page_token),
    )
    return _memory("ListEntities", request, convert.entity_list)


def list_conflicts(
    scope: ScopeRef, limit: int | None = None, page_token: str | None = None, *, include_dismissed: bool = False
) -> Call[m.ConflictList]:
    """Call of ListConflicts."""
    request = memory_pb2.ListConflictsRequest(
        scope=scope_message(scope),
        include_dismissed=include_dismissed,
        page_size=whole("limit", limit),
        page_token=text("page_token", page_token),
    )
    return _memory("ListConflicts", request, convert.conflict_list)


def get_neighborhood(
    memory_id: str, scope: ScopeRef, hops: int | None = None, limit: int | None = None, known_at: Moment | None = None
) -> Call[m.Neighborhood]:
    """Call of GetNeighborhood."""
    request = memory_pb2.GetNeighborhoodRequest(
        memory_id=_item("memory_id", memory_id),
        scope=scope_message(scope),
        hops=whole("hops", hops),
        limit=whole("limit", limit),
        known_at=moment("known_at", known_at),
    )
    return _memory("GetNeighborhood", request, convert.neighborhood)


def get_scope_stats(scope: ScopeRef) -> Call[m.ScopeStats]:
    """Call of GetScopeStats."""
    return _memory("GetScopeStats", memory_pb2.GetScopeStatsRequest(scope=scope_message(scope)), convert.scope_stats)


def get_server_info() -> Call[m.ServerInfo]:
    """Call of GetServerInfo."""
    return _admin("GetServerInfo", admin_pb2.GetServerInfoRequest(), convert.server_info)


def get_status() -> Call[m.ServerStatus]:
    """Call of GetStatus."""
    return _admin("GetStatus", admin_pb2.GetStatusRequest(), convert.server_status)


def backup(path: str) -> Call[m.BackedUp]:
    """Call of Backup."""
    return _admin("Backup", admin_pb2.BackupRequest(path=_item("path", path)), convert.backed_up, writes=True)


def verify() -> Call[m.Verified]:
    """Call of Verify."""
    return _admin("Verify", admin_pb2.VerifyRequest(), convert.verified)


def rebuild() -> Call[m.Rebuilt]:
    """Call of Rebuild."""
    return _admin("Rebuild", admin_pb2.RebuildRequest(), convert.rebuilt)


def drain(grace_s: int | None = None) -> Call[m.Draining]:
    """Call of Drain."""
    request = admin_pb2.DrainRequest(grace_s=whole("grace_s", grace_s))
    return Call("admin", "Drain", request, convert.draining, writes=True, starts=False)


def export(
    scope: ScopeRef,
    *,
    include_all: bool = False,
    every_scope: bool = False,
    as_of: Moment | None = None,
    known_at: Moment | None = None,
) -> memory_pb2.ExportRequest:
    """Request of Export."""
    return memory_pb2.ExportRequest(
        scope=scope_message(scope),
        all=include_all,
        every_scope=every_scope,
        as_of=moment("as_of", as_of),
        known_at=moment("known_at", known_at),
    )


def batch(items: Iterable[m.NewMemory], scope: ScopeRef) -> Iterable[memory_pb2.RememberBatchRequest]:
    """Requests of RememberBatch, one at a time as they are asked for."""
    for item in items:
        request = remember_message(
            item.content, scope, item.entities, item.derived_from, item.source, item.valid_from, item.idempotency_key
        )
        yield memory_pb2.RememberBatchRequest(remember=request)


def imports(
    records: Iterable[m.ImportRecord], scope: ScopeRef, refused: list[m.ImportOutcome], *, restore: bool
) -> Iterable[memory_pb2.ImportRequest]:
    """Requests of Import; scope and mode ride on the first. A record that no message can hold goes to `refused`."""
    first = True
    for record in records:
        try:
            request = memory_pb2.ImportRequest(record=import_record(record))
        except InvalidArgument as error:
            refused.append(refusal(record.line, error))
            continue
        if first:
            request.scope.CopyFrom(scope_message(scope))
            request.restore = restore
            first = False
        yield request


def refusal(line: int, error: InvalidArgument) -> m.ImportOutcome:
    """The outcome of a record that never left this process."""
    item = m.ItemError(grpc.StatusCode.INVALID_ARGUMENT.value[0], error.reason, error.message, error.field or None)
    return m.ImportOutcome(line, None, already_there=False, conflicts=0, error=item)


def import_record(record: m.ImportRecord) -> memory_pb2.ImportRecord:
    """One record of Import. Raises `InvalidArgument` naming the field."""
    return memory_pb2.ImportRecord(
        line=whole("line", record.line, 64),
        external_id=text("external_id", record.external_id),
        content=_item("content", record.content),
        scope=text("scope", record.scope),
        entities=texts("entities", record.entities),
        derived_from=texts("derived_from", record.derived_from),
        source=text("source", record.source),
        valid_from=text("valid_from", record.valid_from),
        valid_to=text("valid_to", record.valid_to),
        created_at=text("created_at", record.created_at),
        supersedes=text("supersedes", record.supersedes),
        reason=text("reason", record.reason),
    )


def watch(cursor: int | None, scopes: Sequence[str], heartbeat_s: int) -> event_pb2.WatchRequest:
    """Request of Watch."""
    request = event_pb2.WatchRequest(scopes=texts("scopes", scopes), heartbeat_s=whole("heartbeat_s", heartbeat_s))
    if cursor is not None:
        request.cursor = whole("cursor", cursor, 64)
    return request

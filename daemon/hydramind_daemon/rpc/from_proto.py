"""From messages to requests of services. Converts only; what is allowed is checked by the services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hydramind.v1 import common_pb2, memory_pb2
from hydramind_daemon.rpc.to_proto import SOURCE, STATUS
from hydramind_daemon.services.context import ScopeRef
from hydramind_daemon.services.recalling import Order, RecallRequest
from hydramind_daemon.services.requests import ForgetRequest, PurgeRequest, RememberRequest, ResolveRequest, ReviseRequest
from hydramind_daemon.services.timelines import TimelineRequest
from hydramind_daemon.services.tracing import TraceRequest
from hydramind_daemon.services.transfer import ExportRequest, ImportRecord
from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import Status

_SOURCE_OF: Final = {number: source for source, number in SOURCE.items()}
_STATUS_OF: Final = {number: status for status, number in STATUS.items()}
_ORDER: Final = {
    memory_pb2.RECALL_ORDER_UNSPECIFIED: Order.SCORE,
    memory_pb2.RECALL_ORDER_SCORE: Order.SCORE,
    memory_pb2.RECALL_ORDER_NEWEST: Order.NEWEST,
}
_DISMISSED: Final = {memory_pb2.CONFLICT_VERDICT_STANDS: False, memory_pb2.CONFLICT_VERDICT_DISMISSED: True}


def scope(ref: common_pb2.ScopeRef) -> ScopeRef:
    """The scope a call names."""
    return ScopeRef(ref.name, ref.project_root, _SOURCE_OF.get(ref.source))


def statuses(numbers: Iterable[int], field: str) -> tuple[Status, ...]:
    """Statuses of a filter. Raises InvalidArgument for a number that is none."""
    found = []
    for number in numbers:
        status = _STATUS_OF.get(number)  # type: ignore[call-overload]
        if status is None:
            raise InvalidArgument.of(field, f"has the value {number}, which is no status")
        found.append(status)
    return tuple(found)


def remember(m: memory_pb2.RememberRequest) -> RememberRequest:
    """Request of remember."""
    return RememberRequest(
        m.content, scope(m.scope), tuple(m.entities), tuple(m.derived_from), m.source, m.valid_from, m.idempotency_key
    )


def recall(m: memory_pb2.RecallRequest) -> RecallRequest:
    """Request of recall."""
    if m.order not in _ORDER:
        raise InvalidArgument.of("order", f"has the value {m.order}, which is no order")
    return RecallRequest(
        m.query,
        scope(m.scope),
        tuple(m.entities),
        m.limit,
        m.as_of,
        m.known_at,
        statuses(m.include, "include"),
        _ORDER[m.order],
    )


def revise(m: memory_pb2.ReviseRequest) -> ReviseRequest:
    """Request of revise."""
    return ReviseRequest(
        m.memory_id, m.content, m.reason, scope(m.scope), m.valid_from, m.expected_version, m.idempotency_key, m.source
    )


def forget(m: memory_pb2.ForgetRequest) -> ForgetRequest:
    """Request of forget."""
    return ForgetRequest(m.memory_id, scope(m.scope), m.reason, m.idempotency_key)


def resolve(m: memory_pb2.ResolveConflictRequest) -> ResolveRequest:
    """Request of resolve."""
    return ResolveRequest(m.memory_id, m.other_id, _DISMISSED.get(m.verdict), m.reason, scope(m.scope), m.idempotency_key)


def purge(m: memory_pb2.PurgeRequest) -> PurgeRequest:
    """Request of purge."""
    return PurgeRequest(tuple(m.memory_ids), m.reason, scope(m.scope), m.idempotency_key, m.dry_run)


def timeline(m: memory_pb2.TimelineRequest) -> TimelineRequest:
    """Request of a timeline."""
    return TimelineRequest(scope(m.scope), m.entity, m.memory_id, m.as_of, m.known_at, m.page_size, m.page_token)


def trace(m: memory_pb2.TraceMemoryRequest) -> TraceRequest:
    """Request of a trace."""
    return TraceRequest(m.memory_id, scope(m.scope), m.hops, tuple(m.relations), m.as_of, m.known_at)


def export(m: memory_pb2.ExportRequest) -> ExportRequest:
    """Request of an export."""
    return ExportRequest(scope(m.scope), m.all, m.every_scope, m.known_at, m.as_of)


def import_record(m: memory_pb2.ImportRecord) -> ImportRecord:
    """A record to import."""
    return ImportRecord(
        m.line,
        m.content,
        m.external_id,
        m.scope,
        tuple(m.entities),
        tuple(m.derived_from),
        m.source,
        m.valid_from,
        m.valid_to,
        m.created_at,
        m.supersedes,
        m.reason,
    )

"""From domain values and answers of services to messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from hydramind.v1 import common_pb2, memory_pb2
from hydramind_daemon.services.answers import ConflictView, MemoryView, Remembered
from hydramind_daemon.services.context import ScopeAnswer, ScopeSource
from hydramind_daemon.services.explaining import EventInWords
from hydramind_daemon.services.ports import PastDrop
from hydramind_daemon.services.tracing import EdgeView, Path, Vertex
from hydramind_domain.model import Actor, EntityLink, Instant, Origin, Status
from hydramind_domain.outcomes import DecayOutcome, WithdrawnOutcome

STATUS: Final = {
    Status.ACTIVE: common_pb2.MEMORY_STATUS_ACTIVE,
    Status.CONTRADICTED: common_pb2.MEMORY_STATUS_CONTRADICTED,
    Status.SUPERSEDED: common_pb2.MEMORY_STATUS_SUPERSEDED,
    Status.FORGOTTEN: common_pb2.MEMORY_STATUS_FORGOTTEN,
    Status.PURGED: common_pb2.MEMORY_STATUS_PURGED,
}
SOURCE: Final = {
    ScopeSource.EXPLICIT: common_pb2.SCOPE_SOURCE_EXPLICIT,
    ScopeSource.ENVIRONMENT: common_pb2.SCOPE_SOURCE_ENVIRONMENT,
    ScopeSource.PROJECT: common_pb2.SCOPE_SOURCE_PROJECT,
    ScopeSource.DEFAULT: common_pb2.SCOPE_SOURCE_DEFAULT,
}
_ORIGIN: Final = {
    Origin.EXPLICIT: common_pb2.ENTITY_ORIGIN_EXPLICIT,
    Origin.EXTRACTED: common_pb2.ENTITY_ORIGIN_EXTRACTED,
    Origin.INHERITED: common_pb2.ENTITY_ORIGIN_INHERITED,
}


def timestamp(instant: Instant) -> Timestamp:
    """Microseconds since the epoch as a Timestamp."""
    seconds, micros = divmod(instant, 1_000_000)
    return Timestamp(seconds=seconds, nanos=micros * 1_000)


def maybe_timestamp(instant: Instant | None) -> Timestamp | None:
    """As `timestamp`; None stays absent."""
    return None if instant is None else timestamp(instant)


def scope_info(scope: ScopeAnswer) -> common_pb2.ScopeInfo:
    """The scope answered for."""
    return common_pb2.ScopeInfo(scope=scope.scope, scope_from=SOURCE[scope.scope_from])


def actor(who: Actor) -> common_pb2.Actor:
    """Who called."""
    return common_pb2.Actor(client_name=who.client_name, client_version=who.client_version, pid=who.pid, session=who.session)


def entities(links: Iterable[EntityLink]) -> list[common_pb2.EntityLink]:
    """Entities of a memory."""
    return [common_pb2.EntityLink(name=link.name, kind=link.kind, **{"from": _ORIGIN[link.origin]}) for link in links]


def memory(view: MemoryView) -> common_pb2.Memory:
    """A memory with its surroundings."""
    record = view.record
    return common_pb2.Memory(
        memory_id=record.memory_id,
        content=record.content,
        source=record.source,
        actor=actor(record.actor),
        created_at=timestamp(record.created_at),
        valid_from=timestamp(record.valid_from),
        valid_to=maybe_timestamp(record.state.valid_to),
        scope=record.scope,
        trust_score=record.trust,
        status=STATUS[record.status],
        version=record.state.version,
        support=record.state.support,
        entities=entities(view.entities),
        superseded_by=view.superseded_by,
        suspicious=record.suspicious,
        sequence=record.created_seq,
        evidence_superseded=view.evidence_superseded,
        contradicted_by=view.contradicted_by,
        contradicts=view.contradicts,
    )


def conflict(view: ConflictView) -> common_pb2.Conflict:
    """A contradiction with an older memory."""
    spans = view.spans
    return common_pb2.Conflict(
        memory_id=view.memory_id,
        reason_code=view.reason_code,
        reason=view.reason,
        new_span=common_pb2.Span(start=spans.new_start, end=spans.new_end),
        old_span=common_pb2.Span(start=spans.old_start, end=spans.old_end),
        before_trust=view.before,
        after_trust=view.after,
        old_content=view.old_content,
    )


def decay(outcome: DecayOutcome) -> common_pb2.Decay:
    """A dependent that lost trust."""
    return common_pb2.Decay(memory_id=outcome.memory_id, hop=outcome.hop, before_trust=outcome.before, after_trust=outcome.after)


def withdrawn(outcomes: Iterable[WithdrawnOutcome]) -> list[memory_pb2.Withdrawn]:
    """Drops that were withdrawn."""
    return [memory_pb2.Withdrawn(memory_id=w.memory_id, before_trust=w.before, after_trust=w.after, hop=w.hop) for w in outcomes]


def remembered(done: Remembered) -> memory_pb2.RememberResponse:
    """Answer of remember."""
    out = done.outcome
    return memory_pb2.RememberResponse(
        memory_id=out.memory_id,
        scope=scope_info(done.scope),
        trust_score=out.trust,
        version=out.version,
        status=STATUS[out.status],
        entities=entities(out.entities),
        conflicts=[conflict(one) for one in done.conflicts],
        decayed=[decay(one) for one in out.decayed],
        duplicate=out.duplicate,
        replayed=done.replayed,
        decayed_total=out.decayed_total,
        still_spreading=out.still_spreading,
        echo=out.echo,
        sequence=done.seq,
        created_at=timestamp(out.created_at),
        valid_from=timestamp(out.valid_from),
    )


def drop(past: PastDrop) -> common_pb2.TrustDrop:
    """A drop of trust."""
    one = past.drop
    return common_pb2.TrustDrop(
        drop_id=f"{one.drop_id:x}",
        memory_id=past.memory_id,
        caused_by=past.cause_id,
        hop=one.hop,
        amount=one.amount,
        before_trust=one.before,
        after_trust=one.after,
        reason=one.reason,
        at=timestamp(one.at),
        sequence=one.seq,
        withdrawn=past.withdrawn_at is not None,
        withdrawn_at=maybe_timestamp(past.withdrawn_at),
        withdrawn_reason=past.withdrawn_reason,
    )


def trust_event(one: EventInWords) -> memory_pb2.TrustEvent:
    """An event of the audit trail."""
    event = one.event
    return memory_pb2.TrustEvent(
        kind=event.kind,
        at=timestamp(event.at),
        sequence=event.seq,
        words=one.words,
        other_id=event.other_id,
        before_trust=event.before,
        after_trust=event.after,
        actor=actor(event.actor),
    )


def edge(view: EdgeView) -> common_pb2.MemoryEdge:
    """An edge between two memories."""
    one = view.edge
    return common_pb2.MemoryEdge(
        type=one.type,
        from_id=view.from_id,
        to_id=view.to_id,
        reason=one.reason,
        at=timestamp(one.at),
        before_trust=one.before,
        after_trust=one.after,
        hop=one.hop,
        caused_by=view.cause_id,
        standing=one.standing,
    )


def _vertex(vertex: Vertex) -> memory_pb2.TraceVertex:
    status = common_pb2.MEMORY_STATUS_UNSPECIFIED if vertex.status is None else STATUS[vertex.status]
    return memory_pb2.TraceVertex(id=vertex.id, kind=vertex.kind, label=vertex.label, trust_score=vertex.trust, status=status)


def path(one: Path) -> memory_pb2.TracePath:
    """A path of a trace."""
    return memory_pb2.TracePath(
        vertices=[_vertex(vertex) for vertex in one.vertices],
        edges=[
            memory_pb2.TraceEdge(type=e.type, from_id=e.from_id, to_id=e.to_id, reason=e.reason, standing=e.standing)
            for e in one.edges
        ],
    )

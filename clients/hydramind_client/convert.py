"""Messages of the contract into answers. Nothing else in the client reads a response message."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from hydramind.v1 import admin_pb2, common_pb2, event_pb2, memory_pb2
from hydramind_client import model as m

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SOURCES = {
    common_pb2.SCOPE_SOURCE_EXPLICIT: m.ScopeSource.EXPLICIT,
    common_pb2.SCOPE_SOURCE_ENVIRONMENT: m.ScopeSource.ENVIRONMENT,
    common_pb2.SCOPE_SOURCE_PROJECT: m.ScopeSource.PROJECT,
    common_pb2.SCOPE_SOURCE_DEFAULT: m.ScopeSource.DEFAULT,
}
_STATUSES = {
    common_pb2.MEMORY_STATUS_ACTIVE: m.Status.ACTIVE,
    common_pb2.MEMORY_STATUS_CONTRADICTED: m.Status.CONTRADICTED,
    common_pb2.MEMORY_STATUS_SUPERSEDED: m.Status.SUPERSEDED,
    common_pb2.MEMORY_STATUS_FORGOTTEN: m.Status.FORGOTTEN,
    common_pb2.MEMORY_STATUS_PURGED: m.Status.PURGED,
}
_ORIGINS = {
    common_pb2.ENTITY_ORIGIN_EXPLICIT: m.EntityOrigin.EXPLICIT,
    common_pb2.ENTITY_ORIGIN_EXTRACTED: m.EntityOrigin.EXTRACTED,
    common_pb2.ENTITY_ORIGIN_INHERITED: m.EntityOrigin.INHERITED,
}
_VERDICTS = {
    memory_pb2.CONFLICT_VERDICT_STANDS: m.Verdict.STANDS,
    memory_pb2.CONFLICT_VERDICT_DISMISSED: m.Verdict.DISMISSED,
}


def _time(owner: Message, name: str) -> datetime | None:
    """Exact to the microsecond: through integers, never through a float."""
    if not owner.HasField(name):
        return None
    stamp = getattr(owner, name)
    assert isinstance(stamp, Timestamp)
    return _EPOCH + timedelta(seconds=stamp.seconds, microseconds=stamp.nanos // 1000)


def _scope(info: common_pb2.ScopeInfo) -> tuple[str, m.ScopeSource | None]:
    return info.scope, _SOURCES.get(info.scope_from)


def _actor(owner: Message) -> m.Actor | None:
    """Who; None when nobody said who they are."""
    actor = getattr(owner, "actor")  # noqa: B009 - Message has no such attribute in its type
    assert isinstance(actor, common_pb2.Actor)
    found = m.Actor(actor.client_name or None, actor.client_version or None, actor.pid or None, actor.session or None)
    return None if found == m.Actor() else found


def _entities(links: Iterable[common_pb2.EntityLink]) -> tuple[m.EntityLink, ...]:
    # `from` is a word of Python's grammar: the generated attribute is reached by name.
    return tuple(
        m.EntityLink(link.name, _ORIGINS.get(getattr(link, "from"), m.EntityOrigin.EXTRACTED), link.kind or None)
        for link in links
    )


def _span(span: common_pb2.Span) -> m.Span:
    return m.Span(span.start, span.end)


def _conflict(found: common_pb2.Conflict) -> m.Conflict:
    spans = m.Spans(_span(found.new_span), _span(found.old_span)) if found.HasField("new_span") else None
    return m.Conflict(
        found.memory_id, found.reason_code, found.reason, spans, found.before_trust, found.after_trust, found.old_content or None
    )


def _decay(found: common_pb2.Decay) -> m.Decay:
    return m.Decay(found.memory_id, found.hop, found.before_trust, found.after_trust)


def memory(found: common_pb2.Memory) -> m.Memory:
    """A memory."""
    return m.Memory(
        memory_id=found.memory_id,
        content=found.content,
        trust_score=found.trust_score,
        status=_STATUSES[found.status],
        source=found.source or None,
        actor=_actor(found),
        created_at=_time(found, "created_at"),
        valid_from=_time(found, "valid_from"),
        valid_to=_time(found, "valid_to"),
        scope=found.scope,
        version=found.version,
        support=found.support,
        entities=_entities(found.entities),
        superseded_by=found.superseded_by or None,
        suspicious=found.suspicious,
        sequence=found.sequence,
        evidence_superseded=found.evidence_superseded,
        contradicted_by=tuple(found.contradicted_by),
        contradicts=tuple(found.contradicts),
    )


def remembered(found: memory_pb2.RememberResponse) -> m.Remembered:
    """Answer of Remember."""
    scope, source = _scope(found.scope)
    return m.Remembered(
        memory_id=found.memory_id,
        scope=scope,
        scope_from=source,
        trust_score=found.trust_score,
        version=found.version,
        status=_STATUSES[found.status],
        entities=_entities(found.entities),
        conflicts=tuple(map(_conflict, found.conflicts)),
        decayed=tuple(map(_decay, found.decayed)),
        duplicate=found.duplicate,
        replayed=found.replayed,
        decayed_total=found.decayed_total,
        still_spreading=found.still_spreading,
        echo=found.echo,
        sequence=found.sequence,
        created_at=_time(found, "created_at"),
        valid_from=_time(found, "valid_from"),
    )


def revised(found: memory_pb2.ReviseResponse) -> m.Revised:
    """Answer of Revise."""
    base = remembered(found.remembered)
    values = {name: getattr(base, name) for name in m.Remembered.__dataclass_fields__}
    return m.Revised(**values, superseded_id=found.superseded_id, dependents=tuple(found.dependents))


def item_error(found: memory_pb2.ItemError) -> m.ItemError:
    """Why an element was refused."""
    return m.ItemError(found.code, found.reason, found.message, found.field or None)


def batch_outcome(found: memory_pb2.RememberBatchResponse) -> m.BatchOutcome:
    """One answer of RememberBatch."""
    if found.WhichOneof("outcome") == "error":
        return m.BatchOutcome(found.index, None, item_error(found.error))
    return m.BatchOutcome(found.index, remembered(found.remembered), None)


def _recalled(found: memory_pb2.RecalledMemory) -> m.RecalledMemory:
    shown = memory(found.memory)
    return m.RecalledMemory(
        memory_id=shown.memory_id,
        content=shown.content,
        trust_score=shown.trust_score,
        relevance=found.relevance,
        score=found.score,
        status=shown.status,
        source=shown.source,
        actor=shown.actor,
        created_at=shown.created_at,
        valid_from=shown.valid_from,
        valid_to=shown.valid_to,
        entities=shown.entities,
        contested=found.contested,
        contradicted_by=shown.contradicted_by,
        why=found.why,
        contradicts=shown.contradicts,
        version=shown.version,
        support=shown.support,
        superseded_by=shown.superseded_by,
        suspicious=shown.suspicious,
        evidence_superseded=shown.evidence_superseded,
        sequence=shown.sequence,
    )


def recall(found: memory_pb2.RecallResponse) -> m.Recall:
    """Answer of Recall."""
    scope, source = _scope(found.scope)
    return m.Recall(
        memories=tuple(map(_recalled, found.memories)),
        abstained=found.abstained,
        reason=found.reason or None,
        nearest=tuple(found.nearest),
        suppressed=tuple(m.SuppressedMemory(s.memory_id, _STATUSES[s.status], s.superseded_by or None) for s in found.suppressed),
        scope=scope,
        scope_from=source,
        sequence=found.sequence,
        scorer=found.scorer,
        truncated=found.truncated,
        near_scopes=tuple(found.near_scopes),
    )


def _fact(found: memory_pb2.TimelineFact) -> m.TimelineFact:
    shown = memory(found.memory)
    return m.TimelineFact(
        memory_id=shown.memory_id,
        content=shown.content,
        trust_score=shown.trust_score,
        status=shown.status,
        valid_from=shown.valid_from,
        valid_to=shown.valid_to,
        created_at=shown.created_at,
        superseded_by=shown.superseded_by,
        reason=found.reason or None,
        source=shown.source,
        actor=shown.actor,
        entities=shown.entities,
        version=shown.version,
        support=shown.support,
        suspicious=shown.suspicious,
        contradicted_by=shown.contradicted_by,
        contradicts=shown.contradicts,
        sequence=shown.sequence,
    )


def timeline(found: memory_pb2.TimelineResponse) -> m.Timeline:
    """Answer of Timeline."""
    return m.Timeline(tuple(map(_fact, found.facts)), found.next_page_token, *_scope(found.scope))


def _vertex(found: memory_pb2.TraceVertex) -> m.TraceVertex:
    trust = found.trust_score if found.HasField("trust_score") else None
    return m.TraceVertex(found.id, found.kind, found.label, trust, _STATUSES.get(found.status))


def _path(found: memory_pb2.TracePath) -> m.TracePath:
    edges = tuple(m.TraceEdge(e.type, e.from_id, e.to_id, e.reason or None, e.standing) for e in found.edges)
    return m.TracePath(tuple(map(_vertex, found.vertices)), edges)


def trace(found: memory_pb2.TraceMemoryResponse) -> m.Trace:
    """Answer of TraceMemory."""
    return m.Trace(tuple(map(_path, found.paths)), found.truncated, found.engine, *_scope(found.scope))


def check(found: memory_pb2.CheckConflictResponse) -> m.ConflictCheck:
    """Answer of CheckConflict."""
    return m.ConflictCheck(
        tuple(map(_conflict, found.conflicts)),
        found.candidates_checked,
        found.candidates_skipped,
        _entities(found.entities),
        tuple(map(_decay, found.would_decay)),
        found.duplicate_of or None,
        *_scope(found.scope),
    )


def _event_of_trust(found: memory_pb2.TrustEvent) -> m.TrustEvent:
    return m.TrustEvent(
        found.kind,
        _time(found, "at"),
        found.sequence,
        found.words,
        found.other_id or None,
        found.before_trust,
        found.after_trust,
        _actor(found),
    )


def _drop(found: common_pb2.TrustDrop) -> m.TrustDrop:
    return m.TrustDrop(
        drop_id=found.drop_id,
        memory_id=found.memory_id,
        caused_by=found.caused_by,
        hop=found.hop,
        amount=found.amount,
        before_trust=found.before_trust,
        after_trust=found.after_trust,
        reason=found.reason or None,
        at=_time(found, "at"),
        sequence=found.sequence,
        withdrawn=found.withdrawn,
        withdrawn_at=_time(found, "withdrawn_at"),
        withdrawn_reason=found.withdrawn_reason or None,
    )


def explanation(found: memory_pb2.ExplainTrustResponse) -> m.TrustExplanation:
    """Answer of ExplainTrust."""
    scope, source = _scope(found.scope)
    return m.TrustExplanation(
        memory_id=found.memory_id,
        trust_score=found.trust_score,
        explanation=found.explanation,
        events=tuple(map(_event_of_trust, found.events)),
        standing_drops=tuple(map(_drop, found.standing_drops)),
        dependents=tuple(map(_decay, found.dependents)),
        status=_STATUSES[found.status],
        still_spreading=found.still_spreading,
        withdrawn_drops=tuple(map(_drop, found.withdrawn_drops)),
        scope=scope,
        scope_from=source,
    )


def _withdrawn(found: Iterable[memory_pb2.Withdrawn]) -> tuple[m.Withdrawn, ...]:
    return tuple(m.Withdrawn(w.memory_id, w.hop, w.before_trust, w.after_trust) for w in found)


def forgotten(found: memory_pb2.ForgetResponse) -> m.Forgotten:
    """Answer of Forget."""
    scope, source = _scope(found.scope)
    status, taken_back = _STATUSES[found.status], _withdrawn(found.withdrawn)
    return m.Forgotten(found.memory_id, status, taken_back, scope, source, found.version, found.replayed, found.sequence)


def resolved(found: memory_pb2.ResolveConflictResponse) -> m.Resolved:
    """Answer of ResolveConflict."""
    scope, source = _scope(found.scope)
    verdict, taken_back = _VERDICTS[found.verdict], _withdrawn(found.withdrawn)
    return m.Resolved(found.memory_id, found.other_id, verdict, taken_back, scope, source, found.replayed, found.sequence)


def purged(found: memory_pb2.PurgeResponse) -> m.Purged:
    """Answer of Purge."""
    scope, source = _scope(found.scope)
    ids, taken_back = tuple(found.memory_ids), _withdrawn(found.withdrawn)
    return m.Purged(ids, taken_back, found.dry_run, scope, source, found.replayed, found.sequence)


def detail(found: memory_pb2.GetMemoryResponse) -> m.MemoryDetail:
    """Answer of GetMemory."""
    return m.MemoryDetail(memory(found.memory), tuple(found.derived_from), *_scope(found.scope))


def memory_list(found: memory_pb2.ListMemoriesResponse) -> m.MemoryList:
    """Answer of ListMemories."""
    return m.MemoryList(tuple(map(memory, found.memories)), found.next_page_token, found.total, *_scope(found.scope))


def scope_list(found: memory_pb2.ListScopesResponse) -> m.ScopeList:
    """Answer of ListScopes."""
    rows = (m.ScopeSummary(s.scope, s.memories, _time(s, "last_write_at"), tuple(s.project_roots)) for s in found.scopes)
    return m.ScopeList(tuple(rows), found.next_page_token)


def entity_list(found: memory_pb2.ListEntitiesResponse) -> m.EntityList:
    """Answer of ListEntities."""
    rows = tuple(m.EntitySummary(e.name, e.kind or None, e.memories) for e in found.entities)
    return m.EntityList(rows, found.next_page_token, *_scope(found.scope))


def _pair(found: memory_pb2.ConflictPair) -> m.ConflictPair:
    sides = memory(found.newer), memory(found.older)
    at, verdict = _time(found, "at"), _VERDICTS.get(found.verdict)
    return m.ConflictPair(*sides, found.reason_code, found.reason, at, found.standing, verdict)


def conflict_list(found: memory_pb2.ListConflictsResponse) -> m.ConflictList:
    """Answer of ListConflicts."""
    return m.ConflictList(tuple(map(_pair, found.conflicts)), found.next_page_token, *_scope(found.scope))


def _edge(found: common_pb2.MemoryEdge) -> m.MemoryEdge:
    return m.MemoryEdge(
        type=found.type,
        from_id=found.from_id,
        to_id=found.to_id,
        reason=found.reason or None,
        at=_time(found, "at"),
        before_trust=found.before_trust if found.HasField("before_trust") else None,
        after_trust=found.after_trust if found.HasField("after_trust") else None,
        hop=found.hop if found.HasField("hop") else None,
        caused_by=found.caused_by or None,
        standing=found.standing,
    )


def neighborhood(found: memory_pb2.GetNeighborhoodResponse) -> m.Neighborhood:
    """Answer of GetNeighborhood."""
    memories, edges = tuple(map(memory, found.memories)), tuple(map(_edge, found.edges))
    return m.Neighborhood(memories, edges, found.total, *_scope(found.scope))


def scope_stats(found: memory_pb2.GetScopeStatsResponse) -> m.ScopeStats:
    """Answer of GetScopeStats."""
    scope, source = _scope(found.scope)
    return m.ScopeStats(
        scope=scope,
        scope_from=source,
        active=found.active,
        contradicted=found.contradicted,
        superseded=found.superseded,
        forgotten=found.forgotten,
        purged=found.purged,
        entities=found.entities,
        standing_conflicts=found.standing_conflicts,
        last_write_at=_time(found, "last_write_at"),
    )


def exported(found: memory_pb2.ExportResponse) -> m.ExportedMemory:
    """One answer of Export."""
    base = memory(found.memory)
    values = {name: getattr(base, name) for name in m.Memory.__dataclass_fields__}
    values["contradicts"] = tuple(found.contradicts)
    return m.ExportedMemory(**values, derived_from=tuple(found.derived_from), supersedes=found.supersedes or None)


def import_outcome(found: memory_pb2.ImportResponse) -> m.ImportOutcome:
    """One answer of Import."""
    if found.WhichOneof("outcome") == "error":
        return m.ImportOutcome(found.line, None, already_there=False, conflicts=0, error=item_error(found.error))
    done = found.imported
    return m.ImportOutcome(found.line, done.memory_id, done.already_there, done.conflicts, None)


def event(found: event_pb2.MemoryEvent) -> m.MemoryEvent:
    """A change out of Watch."""
    return m.MemoryEvent(
        sequence=found.sequence,
        ordinal=found.ordinal,
        kind=found.kind,
        scope=found.scope,
        memory_id=found.memory_id,
        at=_time(found, "at"),
        other_id=found.other_id or None,
        before_trust=found.before_trust,
        after_trust=found.after_trust,
        status=_STATUSES.get(found.status),
        reason=found.reason or None,
        actor=_actor(found),
        content=found.content or None,
    )


def resync(found: event_pb2.ResyncRequired) -> m.ResyncRequired:
    """The last message of a Watch that lost the thread."""
    return m.ResyncRequired(found.reason, found.oldest, found.newest)


def server_info(found: admin_pb2.GetServerInfoResponse) -> m.ServerInfo:
    """Answer of GetServerInfo."""
    return m.ServerInfo(
        version=found.version,
        build_id=found.build_id,
        api_level=found.api_level,
        pid=found.pid,
        started_at=_time(found, "started_at"),
        record=found.record,
        record_fingerprint=found.record_fingerprint or None,
        managed=found.managed,
    )


def server_status(found: admin_pb2.GetStatusResponse) -> m.ServerStatus:
    """Answer of GetStatus."""
    server = server_info(found.server)
    return m.ServerStatus(
        pid=server.pid,
        state=found.state,
        state_reason=found.state_reason or None,
        version=server.version,
        build_id=server.build_id,
        api_level=server.api_level,
        managed=server.managed,
        started_at=server.started_at,
        uptime_s=found.uptime_s,
        home=found.home,
        socket=found.socket,
        record=server.record,
        record_fingerprint=server.record_fingerprint,
        store_bytes=found.store_bytes,
        wal_bytes=found.wal_bytes,
        disk_free_bytes=found.disk_free_bytes,
        schema_version=found.schema_version,
        sequence=found.sequence,
        memories=found.memories,
        scopes=found.scopes,
        queue_length=found.queue_length,
        watchers=found.watchers,
        locked_scopes=tuple(found.locked_scopes),
        pending_cascades=found.pending_cascades,
        rss_bytes=found.rss_bytes,
        missing_sequences=tuple(found.missing_sequences),
        quarantined_files=tuple(found.quarantined_files),
    )


def backed_up(found: admin_pb2.BackupResponse) -> m.BackedUp:
    """Answer of Backup."""
    return m.BackedUp(found.path, found.size_bytes, found.sequence)


def verified(found: admin_pb2.VerifyResponse) -> m.Verified:
    """Answer of Verify."""
    return m.Verified(found.ok, tuple(found.problems), found.memories, found.records)


def rebuilt(found: admin_pb2.RebuildResponse) -> m.Rebuilt:
    """Answer of Rebuild."""
    return m.Rebuilt(found.records, found.memories)


def draining(found: admin_pb2.DrainResponse) -> m.Draining:
    """Answer of Drain."""
    return m.Draining(found.pid)

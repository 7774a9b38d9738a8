"""MemoryService: converts, calls the service, converts back."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from hydramind.v1 import memory_pb2 as pb
from hydramind_daemon.rpc import from_proto, to_proto
from hydramind_daemon.services.container import Services
from hydramind_daemon.services.context import Call
from hydramind_daemon.services.recalling import Hit


class MemoryCalls:
    """Methods of the service with one answer; `Guard` puts them on the wire."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._changing = services.changing
        self._looking = services.looking

    async def remember(self, m: pb.RememberRequest, call: Call) -> pb.RememberResponse:
        """See the contract."""
        return to_proto.remembered(await self._changing.remember(from_proto.remember(m), call))

    async def revise(self, m: pb.ReviseRequest, call: Call) -> pb.ReviseResponse:
        """See the contract."""
        done = await self._changing.revise(from_proto.revise(m), call)
        return pb.ReviseResponse(
            remembered=to_proto.remembered(done),
            superseded_id=done.outcome.superseded_id,
            dependents=done.outcome.dependents,
        )

    async def recall(self, m: pb.RecallRequest, call: Call) -> pb.RecallResponse:
        """See the contract."""
        found = await self._services.recalling.recall(from_proto.recall(m), call, self._services.now())
        return pb.RecallResponse(
            memories=[_hit(hit) for hit in found.hits],
            abstained=found.abstained,
            reason=found.reason,
            nearest=found.nearest,
            suppressed=[
                pb.SuppressedMemory(memory_id=s.memory_id, status=to_proto.STATUS[s.status], superseded_by=s.superseded_by)
                for s in found.suppressed
            ],
            scope=to_proto.scope_info(found.scope),
            sequence=found.seq,
            scorer=found.scorer,
            truncated=found.truncated,
            near_scopes=found.near_scopes,
        )

    async def timeline(self, m: pb.TimelineRequest, call: Call) -> pb.TimelineResponse:
        """See the contract."""
        page = await self._services.timelines.timeline(from_proto.timeline(m), call)
        facts = [pb.TimelineFact(memory=to_proto.memory(fact.memory), reason=fact.reason) for fact in page.facts]
        return pb.TimelineResponse(facts=facts, next_page_token=page.next_token, scope=to_proto.scope_info(page.scope))

    async def trace_memory(self, m: pb.TraceMemoryRequest, call: Call) -> pb.TraceMemoryResponse:
        """See the contract."""
        trace = await self._services.tracing.trace(from_proto.trace(m), call)
        return pb.TraceMemoryResponse(
            paths=[to_proto.path(path) for path in trace.paths],
            truncated=trace.truncated,
            engine="store",
            scope=to_proto.scope_info(trace.scope),
        )

    async def check_conflict(self, m: pb.CheckConflictRequest, call: Call) -> pb.CheckConflictResponse:
        """See the contract."""
        check = await self._services.explaining.check(m.content, tuple(m.entities), from_proto.scope(m.scope), call)
        return pb.CheckConflictResponse(
            conflicts=[to_proto.conflict(one) for one in check.conflicts],
            candidates_checked=check.checked,
            candidates_skipped=check.skipped,
            entities=to_proto.entities(check.entities),
            would_decay=[to_proto.decay(one) for one in check.would_decay],
            duplicate_of=check.duplicate_of,
            scope=to_proto.scope_info(check.scope),
        )

    async def explain_trust(self, m: pb.ExplainTrustRequest, call: Call) -> pb.ExplainTrustResponse:
        """See the contract."""
        why = await self._services.explaining.explain(m.memory_id, from_proto.scope(m.scope), m.as_of, m.known_at, call)
        return pb.ExplainTrustResponse(
            memory_id=why.memory_id,
            trust_score=why.trust,
            explanation=why.words,
            events=[to_proto.trust_event(event) for event in why.events],
            standing_drops=[to_proto.drop(drop) for drop in why.standing],
            dependents=[to_proto.decay(one) for one in why.dependents],
            status=to_proto.STATUS[why.status],
            still_spreading=why.still_spreading,
            withdrawn_drops=[to_proto.drop(drop) for drop in why.withdrawn],
            scope=to_proto.scope_info(why.scope),
        )

    async def forget(self, m: pb.ForgetRequest, call: Call) -> pb.ForgetResponse:
        """See the contract."""
        done = await self._changing.forget(from_proto.forget(m), call)
        return pb.ForgetResponse(
            memory_id=done.outcome.memory_id,
            status=to_proto.STATUS[done.outcome.status],
            withdrawn=to_proto.withdrawn(done.outcome.withdrawn),
            scope=to_proto.scope_info(done.scope),
            replayed=done.replayed,
            sequence=done.seq,
            version=done.outcome.version,
        )

    async def resolve_conflict(self, m: pb.ResolveConflictRequest, call: Call) -> pb.ResolveConflictResponse:
        """See the contract."""
        done = await self._changing.resolve(from_proto.resolve(m), call)
        verdict = pb.CONFLICT_VERDICT_DISMISSED if done.outcome.dismissed else pb.CONFLICT_VERDICT_STANDS
        return pb.ResolveConflictResponse(
            memory_id=done.outcome.memory_id,
            other_id=done.outcome.other_id,
            verdict=verdict,
            withdrawn=to_proto.withdrawn(done.outcome.withdrawn),
            scope=to_proto.scope_info(done.scope),
            replayed=done.replayed,
            sequence=done.seq,
        )

    async def purge(self, m: pb.PurgeRequest, call: Call) -> pb.PurgeResponse:
        """See the contract."""
        done = await self._changing.purge(from_proto.purge(m), call)
        return pb.PurgeResponse(
            memory_ids=done.outcome.memory_ids,
            withdrawn=to_proto.withdrawn(done.outcome.withdrawn),
            scope=to_proto.scope_info(done.scope),
            replayed=done.replayed,
            sequence=done.seq,
            dry_run=done.dry_run,
        )

    async def get_memory(self, m: pb.GetMemoryRequest, call: Call) -> pb.GetMemoryResponse:
        """See the contract."""
        one = await self._looking.get(m.memory_id, from_proto.scope(m.scope), m.known_at, call)
        return pb.GetMemoryResponse(
            memory=to_proto.memory(one.memory), derived_from=one.derived_from, scope=to_proto.scope_info(one.scope)
        )

    async def list_memories(self, m: pb.ListMemoriesRequest, call: Call) -> pb.ListMemoriesResponse:
        """See the contract."""
        statuses = from_proto.statuses(m.statuses, "statuses")
        page = await self._looking.memories(from_proto.scope(m.scope), statuses, m.entity, m.page_size, m.page_token, call)
        return pb.ListMemoriesResponse(
            memories=[to_proto.memory(view) for view in page.memories],
            next_page_token=page.next_token,
            scope=to_proto.scope_info(page.scope),
            total=page.total,
        )

    async def list_scopes(self, m: pb.ListScopesRequest, call: Call) -> pb.ListScopesResponse:
        """See the contract."""
        page = await self._looking.scopes(m.page_size, m.page_token, call)
        rows = [
            pb.ScopeSummary(
                scope=row.scope,
                memories=row.memories,
                last_write_at=to_proto.maybe_timestamp(row.last_write_at),
                project_roots=row.project_roots,
            )
            for row in page.scopes
        ]
        return pb.ListScopesResponse(scopes=rows, next_page_token=page.next_token)

    async def list_entities(self, m: pb.ListEntitiesRequest, call: Call) -> pb.ListEntitiesResponse:
        """See the contract."""
        page = await self._looking.entities(from_proto.scope(m.scope), m.contains, m.page_size, m.page_token, call)
        rows = [pb.EntitySummary(name=row.name, kind=row.kind, memories=row.memories) for row in page.entities]
        return pb.ListEntitiesResponse(entities=rows, next_page_token=page.next_token, scope=to_proto.scope_info(page.scope))

    async def list_conflicts(self, m: pb.ListConflictsRequest, call: Call) -> pb.ListConflictsResponse:
        """See the contract."""
        page = await self._looking.conflicts(from_proto.scope(m.scope), m.include_dismissed, m.page_size, m.page_token, call)
        verdicts = {"stands": pb.CONFLICT_VERDICT_STANDS, "dismissed": pb.CONFLICT_VERDICT_DISMISSED}
        rows = [
            pb.ConflictPair(
                newer=to_proto.memory(pair.newer),
                older=to_proto.memory(pair.older),
                reason_code=pair.row.reason_code,
                reason=pair.row.reason,
                at=to_proto.timestamp(pair.row.at),
                standing=pair.row.standing,
                verdict=verdicts.get(pair.row.verdict, pb.CONFLICT_VERDICT_UNSPECIFIED),
            )
            for pair in page.pairs
        ]
        return pb.ListConflictsResponse(conflicts=rows, next_page_token=page.next_token, scope=to_proto.scope_info(page.scope))

    async def get_neighborhood(self, m: pb.GetNeighborhoodRequest, call: Call) -> pb.GetNeighborhoodResponse:
        """See the contract."""
        around = await self._services.tracing.neighborhood(
            m.memory_id, from_proto.scope(m.scope), m.hops, m.limit, m.known_at, call
        )
        return pb.GetNeighborhoodResponse(
            memories=[to_proto.memory(view) for view in around.memories],
            edges=[to_proto.edge(edge) for edge in around.edges],
            total=around.total,
            scope=to_proto.scope_info(around.scope),
        )

    async def get_scope_stats(self, m: pb.GetScopeStatsRequest, call: Call) -> pb.GetScopeStatsResponse:
        """See the contract."""
        stats = await self._looking.stats(from_proto.scope(m.scope), call)
        counts = stats.counts
        return pb.GetScopeStatsResponse(
            scope=to_proto.scope_info(stats.scope),
            **{status.value: counts.by_status.get(status, 0) for status in to_proto.STATUS},
            entities=counts.entities,
            standing_conflicts=counts.standing_conflicts,
            last_write_at=to_proto.maybe_timestamp(counts.last_write_at),
        )

    async def export(self, m: pb.ExportRequest, call: Call) -> AsyncGenerator[pb.ExportResponse, None]:
        """See the contract."""
        async for one in self._services.transfer.export(from_proto.export(m), call):
            yield pb.ExportResponse(
                memory=to_proto.memory(one.memory),
                derived_from=one.derived_from,
                contradicts=one.contradicts,
                supersedes=one.supersedes,
            )


def _hit(hit: Hit) -> pb.RecalledMemory:
    return pb.RecalledMemory(
        memory=to_proto.memory(hit.memory),
        relevance=hit.relevance,
        score=hit.score,
        contested=hit.contested,
        why=hit.why,
    )

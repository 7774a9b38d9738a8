"""Every RPC: it answers, it refuses by code and field, and a caller that goes away leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor

from hydramind.v1 import admin_pb2, common_pb2, event_pb2, memory_pb2
from tests.rpc.live import Live, details, ref

SERVICES = [service for module in (memory_pb2, event_pb2, admin_pb2) for service in module.DESCRIPTOR.services_by_name.values()]
RPCS = {method.name: method for service in SERVICES for method in service.methods}
CODE = grpc.StatusCode
ACME = ref("acme")


@dataclass(frozen=True)
class Case:
    """A good request (about the memories `ids` of the set-up) and a bad one with what it is refused for."""

    good: Callable[[list[str], Live], Any]
    bad: Any
    code: grpc.StatusCode
    field: str


def case(good: Any, bad: Any, field: str = "", code: grpc.StatusCode = CODE.INVALID_ARGUMENT) -> Case:
    return Case(good if callable(good) else (lambda _ids, _live: good), bad, code, field)


pb = memory_pb2
CASES = {
    "Remember": case(
        pb.RememberRequest(content="Backups run at night.", scope=ACME), pb.RememberRequest(content=" ", scope=ACME), "content"
    ),
    "RememberBatch": case(
        pb.RememberBatchRequest(remember=pb.RememberRequest(content="One of many.", scope=ACME)),
        pb.RememberBatchRequest(remember=pb.RememberRequest(content="", scope=ACME)),
        "content",
    ),
    "Recall": case(
        pb.RecallRequest(query="direct routing", scope=ACME), pb.RecallRequest(query="q", scope=ACME, limit=101), "limit"
    ),
    "Revise": case(
        lambda ids, _: pb.ReviseRequest(memory_id=ids[0], content="Deploys use a canary.", reason="new", scope=ACME),
        pb.ReviseRequest(memory_id="nope", content="x", reason="new", scope=ACME),
        "memory_id",
        CODE.NOT_FOUND,
    ),
    "Timeline": case(pb.TimelineRequest(scope=ACME), pb.TimelineRequest(scope=ACME, page_token="%%"), "page_token"),
    "TraceMemory": case(
        lambda ids, _: pb.TraceMemoryRequest(memory_id=ids[1], scope=ACME),
        pb.TraceMemoryRequest(memory_id="mem_000001", scope=ACME, relations=["KNOWS"]),
        "relations",
    ),
    "CheckConflict": case(
        pb.CheckConflictRequest(content="Production must not use direct routing.", scope=ACME),
        pb.CheckConflictRequest(content="a\0b", scope=ACME),
        "content",
    ),
    "ExplainTrust": case(
        lambda ids, _: pb.ExplainTrustRequest(memory_id=ids[0], scope=ACME),
        pb.ExplainTrustRequest(memory_id="mem_000001", scope=ref("other")),
        "memory_id",
        CODE.NOT_FOUND,
    ),
    "Forget": case(lambda ids, _: pb.ForgetRequest(memory_id=ids[0], scope=ACME), pb.ForgetRequest(scope=ACME), "memory_id"),
    "ResolveConflict": case(
        lambda ids, _: pb.ResolveConflictRequest(
            memory_id=ids[2], other_id=ids[0], verdict=pb.CONFLICT_VERDICT_STANDS, reason="seen", scope=ACME
        ),
        pb.ResolveConflictRequest(memory_id="a", other_id="b", reason="r", scope=ACME),
        "verdict",
    ),
    "Purge": case(
        lambda ids, _: pb.PurgeRequest(memory_ids=[ids[1]], reason="asked", scope=ACME),
        pb.PurgeRequest(memory_ids=["mem_000001"], reason="asked"),
        "scope",
    ),
    "GetMemory": case(
        lambda ids, _: pb.GetMemoryRequest(memory_id=ids[0], scope=ACME),
        pb.GetMemoryRequest(memory_id="mem_000001", scope=ACME, known_at="yesterday"),
        "known_at",
    ),
    "ListMemories": case(
        pb.ListMemoriesRequest(scope=ACME),
        pb.ListMemoriesRequest(scope=ACME, statuses=[common_pb2.MEMORY_STATUS_FORGOTTEN]),
        "statuses",
    ),
    "ListScopes": case(pb.ListScopesRequest(), pb.ListScopesRequest(page_size=501), "page_size"),
    "ListEntities": case(pb.ListEntitiesRequest(scope=ACME), pb.ListEntitiesRequest(scope=ACME, page_size=-1), "page_size"),
    "ListConflicts": case(
        pb.ListConflictsRequest(scope=ACME), pb.ListConflictsRequest(scope=ACME, page_token="bWU"), "page_token"
    ),
    "GetNeighborhood": case(
        lambda ids, _: pb.GetNeighborhoodRequest(memory_id=ids[0], scope=ACME),
        pb.GetNeighborhoodRequest(memory_id="mem_000001", scope=ACME, hops=4),
        "hops",
    ),
    "GetScopeStats": case(
        pb.GetScopeStatsRequest(scope=ACME),
        pb.GetScopeStatsRequest(scope=common_pb2.ScopeRef(name="a", project_root="/b")),
        "scope",
    ),
    "Export": case(pb.ExportRequest(scope=ACME), pb.ExportRequest(scope=ACME, as_of="2026-02-30"), "as_of"),
    "Import": case(
        pb.ImportRequest(record=pb.ImportRecord(line=1, content="From a file.", scope="acme")),
        pb.ImportRequest(record=pb.ImportRecord(line=1, content="x", valid_from="soon", scope="acme")),
        "valid_from",
    ),
    "Watch": case(event_pb2.WatchRequest(cursor=0), event_pb2.WatchRequest(heartbeat_s=61), "heartbeat_s"),
    "GetServerInfo": case(admin_pb2.GetServerInfoRequest(), None),
    "GetStatus": case(admin_pb2.GetStatusRequest(), None),
    "Backup": case(
        lambda _, live: admin_pb2.BackupRequest(path=str(live.folder / "copy.db")), admin_pb2.BackupRequest(path="copy"), "path"
    ),
    "Verify": case(admin_pb2.VerifyRequest(), None),
    "Rebuild": case(admin_pb2.RebuildRequest(), None),
    "Drain": case(admin_pb2.DrainRequest(grace_s=5), admin_pb2.DrainRequest(grace_s=61), "grace_s"),
}


def test_every_rpc_is_here():
    assert set(CASES) == set(RPCS)


async def memories(live: Live) -> list[str]:
    """An older memory, one derived from it, and a newer one that contradicts the older."""
    old = await live.remember("Production must use direct routing.", "deploy-policy")
    child = await live.remember("The checklist follows the deploy policy.", derived_from=[old.memory_id])
    new = await live.remember("Production must not use direct routing.", "deploy-policy")
    return [old.memory_id, child.memory_id, new.memory_id]


def stub(live: Live, method: MethodDescriptor) -> Any:
    services = {"MemoryService": live.memory, "EventService": live.events, "AdminService": live.admin}
    return getattr(services[method.containing_service.name], method.name)


async def once(request: Any) -> AsyncIterator[Any]:
    yield request


def start(live: Live, method: MethodDescriptor, request: Any) -> Any:
    return stub(live, method)(once(request) if method.client_streaming else request)


async def first_answer(live: Live, method: MethodDescriptor, request: Any) -> Any:
    call = start(live, method, request)
    if not method.server_streaming:
        return await call
    async for answer in call:
        call.cancel()
        return answer
    raise AssertionError("the stream ended without an answer")


@pytest.mark.parametrize("name", list(RPCS))
async def test_an_rpc_answers(live: Live, name: str):
    ids = await memories(live)
    answer = await first_answer(live, RPCS[name], CASES[name].good(ids, live))
    assert type(answer).__name__ == name + "Response"
    assert not (name in {"RememberBatch", "Import"} and answer.HasField("error"))


@pytest.mark.parametrize("name", [name for name, one in CASES.items() if one.bad is not None])
async def test_an_rpc_refuses_by_code_and_field_and_writes_nothing(live: Live, name: str):
    await memories(live)
    before = live.services.writer.last_seq
    bad = CASES[name]
    if name in {"RememberBatch", "Import"}:
        error = (await first_answer(live, RPCS[name], bad.bad)).error
        assert (error.code, error.field) == (bad.code.value[0], bad.field)
    else:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await first_answer(live, RPCS[name], bad.bad)
        code, reason, metadata = details(caught.value)
        assert (code, metadata["field"]) == (bad.code, bad.field)
        assert reason == reason.upper() != ""
    assert live.services.writer.last_seq == before


@pytest.mark.parametrize("name", ["GetServerInfo", "GetStatus", "Verify", "Rebuild"])
async def test_an_rpc_without_arguments_refuses_a_caller_that_it_cannot_read(live: Live, name: str):
    if name == "GetServerInfo":  # the cheapest call looks at nothing
        assert (await live.admin.GetServerInfo(CASES[name].good([], live))).pid == 4321
        return
    call = stub(live, RPCS[name])(CASES[name].good([], live), metadata=(("hydramind-actor-bin", b"\xff\xff"),))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    assert details(caught.value)[0] is CODE.INVALID_ARGUMENT


@pytest.mark.parametrize("name", list(RPCS))
async def test_a_caller_that_goes_away_leaves_nothing_behind(live: Live, name: str):
    ids = await memories(live)
    open_writer = await live.hold_writer()
    open_readers = await live.hold_readers()
    call = start(live, RPCS[name], CASES[name].good(ids, live))
    waiting = asyncio.ensure_future(_consume(call, RPCS[name].server_streaming))
    if name not in {"GetServerInfo", "Drain"}:
        await live.until(lambda: live.services.activity.calls > 0)
    call.cancel()
    ended = (await asyncio.gather(waiting, return_exceptions=True))[0]
    assert ended is None or isinstance(ended, (asyncio.CancelledError, grpc.aio.AioRpcError))
    assert ended is not None or name in {"GetServerInfo", "Drain"}  # these two wait for nothing
    open_writer()
    open_readers()
    await live.until(lambda: not live.services.busy())
    assert await live.contents() != []
    assert (await live.remember("Still writing.")).version == 1


async def _consume(call: Any, streams: bool) -> None:
    if streams:
        async for _ in call:
            pass
    else:
        await call

"""Watching: events exactly once across breaks, and the two ends of a watch."""

import asyncio
from pathlib import Path

import grpc
import pytest

from hydramind.v1 import admin_pb2, event_pb2, memory_pb2
from hydramind_client import AsyncClient, InvalidArgument, NotFound, Unavailable
from hydramind_client import model as m
from hydramind_client.client import Client
from tests.unit.client.fake_daemon import FakeDaemon, abort, remembered


def event(sequence: int, ordinal: int = 0) -> event_pb2.WatchResponse:
    return event_pb2.WatchResponse(
        event={"sequence": sequence, "ordinal": ordinal, "kind": "remembered", "memory_id": f"m-{sequence}"}
    )


def heartbeat(cursor: int) -> event_pb2.WatchResponse:
    return event_pb2.WatchResponse(heartbeat={"cursor": cursor})


LOST = event_pb2.WatchResponse(resync_required={"reason": "too slow", "oldest": 5, "newest": 9})


def script(*streams: list[event_pb2.WatchResponse]):
    """One list a stream; each but the last breaks off as a stopping daemon does."""
    left = list(streams)

    def answer(request, context):
        yield from left.pop(0)
        if left:
            abort(context, grpc.StatusCode.UNAVAILABLE, "stopping", "DRAINING")

    return answer


def seen(items) -> list[tuple[int, int]]:
    return [(item.sequence, item.ordinal) for item in items if isinstance(item, m.MemoryEvent)]


def test_a_watch_goes_on_where_it_broke_in_the_middle_of_a_commit(client: Client, daemon: FakeDaemon):
    daemon.answers["Watch"] = script([event(1), event(2), event(2, 1)], [event(2), event(2, 1), event(2, 2), event(3), LOST])
    items = list(client.watch(0))
    assert seen(items) == [(1, 0), (2, 0), (2, 1), (2, 2), (3, 0)]
    assert [request.cursor for request in daemon.calls("Watch")] == [0, 1]
    assert items[-1] == m.ResyncRequired("too slow", 5, 9)


def test_a_heartbeat_moves_the_cursor_of_the_next_stream(client: Client, daemon: FakeDaemon):
    daemon.answers["Watch"] = script([event(1), heartbeat(7)], [LOST])
    list(client.watch(0))
    assert [request.cursor for request in daemon.calls("Watch")] == [0, 7]


def test_a_watch_from_now_begins_at_the_sequence_of_its_call(client: Client, daemon: FakeDaemon):
    daemon.answers["GetStatus"] = lambda request, context: admin_pb2.GetStatusResponse(sequence=41)
    daemon.answers["Watch"] = script([LOST])
    list(client.watch())
    assert daemon.calls("Watch")[0].cursor == 41


def test_a_watch_of_an_error_that_will_not_pass_raises_it(client: Client, daemon: FakeDaemon):
    def answer(request, context):
        abort(context, grpc.StatusCode.NOT_FOUND, "no such scope", "NO_SCOPE")
        yield

    daemon.answers["Watch"] = answer
    with pytest.raises(NotFound):
        next(client.watch(0))


def test_a_watch_gives_up_after_the_stated_time(client: Client, daemon: FakeDaemon):
    daemon.answers["Watch"] = script([], [], [], [], [], [], [])
    with pytest.raises(Unavailable):
        next(client.watch(0, reconnect_s=0.0))


def test_wrong_arguments_of_a_watch_are_refused_at_its_call(client: Client):
    with pytest.raises(InvalidArgument):
        client.watch(0, "one-scope")


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 30), debug=True)


def test_the_asynchronous_client_calls_streams_and_watches(daemon: FakeDaemon):
    daemon.answers["Remember"] = lambda request, context: remembered(memory_id=request.content)
    daemon.answers["Export"] = lambda request, context: iter(
        [memory_pb2.ExportResponse(memory={"memory_id": "m-1", "status": 1})]
    )
    daemon.answers["Import"] = lambda request, context: memory_pb2.ImportResponse(
        line=request.record.line, imported={"memory_id": "m"}
    )
    daemon.answers["Watch"] = script([event(1)], [event(1), event(2), LOST])

    async def talk():
        async with AsyncClient(spawn=False, scope="acme") as client:
            many = await asyncio.gather(*(client.remember(f"m-{n}") for n in range(20)))
            exported = [e.memory_id async for e in client.export()]
            records = [m.ImportRecord(1, "a"), m.ImportRecord(2, "\ud800"), m.ImportRecord(3, "c")]
            imported = {o.line: o.error is None async for o in client.import_(records)}
            events = [item async for item in client.watch(0)]
            return [r.memory_id for r in many], exported, imported, seen(events)

    many, exported, imported, events = run(talk())
    assert many == [f"m-{n}" for n in range(20)]
    assert exported == ["m-1"]
    assert imported == {1: True, 2: False, 3: True}
    assert events == [(1, 0), (2, 0)]


def test_the_asynchronous_client_tries_again_and_raises_classes(daemon: FakeDaemon):
    tries = []

    def answer(request, context):
        tries.append(request.idempotency_key)
        if len(tries) < 3:
            abort(context, grpc.StatusCode.ABORTED, "stopping", "DRAINING")
        return remembered()

    daemon.answers["Remember"] = answer
    daemon.answers["Recall"] = lambda request, context: abort(context, grpc.StatusCode.NOT_FOUND, "no", "NO_SCOPE")

    async def talk():
        async with AsyncClient(spawn=False) as client:
            await client.remember("A fact.")
            with pytest.raises(NotFound) as caught:
                await client.recall("q")
            return caught.value.reason

    assert run(talk()) == "NO_SCOPE"
    assert len(tries) == 3
    assert len(set(tries)) == 1


def test_the_asynchronous_client_finds_a_daemon_that_came_back(daemon: FakeDaemon):
    async def talk():
        async with AsyncClient(spawn=False) as client:
            await client.get_server_info()
            await asyncio.to_thread(daemon.stop)
            with pytest.raises(Unavailable):
                await client.get_scope_stats("acme")
            await asyncio.to_thread(daemon.start)
            return (await client.get_server_info()).build_id

    assert run(talk()) == "fake"


def test_a_cancelled_call_leaves_the_client_usable(daemon: FakeDaemon):
    import threading

    release, arrived = threading.Event(), threading.Event()

    def answer(request, context):
        arrived.set()
        release.wait(20)
        return memory_pb2.RecallResponse()

    daemon.answers["Recall"] = answer

    async def talk():
        async with AsyncClient(spawn=False) as client:
            call = asyncio.ensure_future(client.recall("q", "acme"))
            await asyncio.to_thread(arrived.wait, 20)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            release.set()
            return (await client.get_server_info()).build_id

    assert run(talk()) == "fake"


def test_a_home_with_spaces_and_signs_in_its_path_is_reached(hydramind_home: Path):
    from hydramind import local

    place = hydramind_home / "mein Gedächtnis 100% #1"
    with FakeDaemon(Path(local.addresses(home=str(place)).socket)), Client(home=str(place), spawn=False) as client:
        assert client.get_server_info().build_id == "fake"

"""Watch: backlog, live events, heartbeats, slow readers, the end."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest

from hydramind.v1 import event_pb2
from hydramind_daemon.services import hub as hub_module
from tests.rpc.live import BOUND_S, Live, refused

pb = event_pb2


async def take(call: Any, count: int) -> list[Any]:
    """The next events, heartbeats left out."""
    events: list[Any] = []
    async with asyncio.timeout(BOUND_S):
        while len(events) < count:
            message = await call.read()
            assert message is not grpc.aio.EOF
            if message.WhichOneof("message") == "event":
                events.append(message.event)
    return events


async def test_a_watch_from_a_cursor_gets_the_backlog_then_live_events_in_order(live: Live):
    for n in range(3):
        await live.remember(f"Fact {n}.")
    call = live.events.Watch(pb.WatchRequest(cursor=1))
    assert [event.content for event in await take(call, 2)] == ["Fact 1.", "Fact 2."]
    await asyncio.gather(*(live.remember(f"Live {n}.") for n in range(20)))
    events = await take(call, 20)
    assert [event.sequence for event in events] == list(range(4, 24))
    call.cancel()


async def test_a_watch_without_a_cursor_gets_only_what_is_new(live: Live):
    await live.remember("Old.")
    call = live.events.Watch(pb.WatchRequest())
    await live.until(lambda: live.services.hub.watchers == 1)
    await live.remember("New.")
    assert [event.content for event in await take(call, 1)] == ["New."]
    call.cancel()


async def test_events_tell_what_a_contradiction_did(live: Live):
    call = live.events.Watch(pb.WatchRequest(cursor=0))
    old = await live.remember("Production must use direct routing.", "routing", session="s1")
    new = await live.remember("Production must not use direct routing.", "routing")
    events = await take(call, 3)
    assert [(e.kind, e.memory_id, e.other_id, e.before_trust, e.after_trust) for e in events] == [
        ("remembered", old.memory_id, "", 1.0, 1.0),
        ("remembered", new.memory_id, "", 1.0, 1.0),
        ("contradicted", old.memory_id, new.memory_id, 1.0, 0.6),
    ]
    assert (events[0].actor.session, events[1].sequence, events[1].ordinal, events[2].ordinal) == ("s1", 2, 0, 1)
    call.cancel()


async def test_a_watch_of_some_scopes_sees_no_other(live: Live):
    call = live.events.Watch(pb.WatchRequest(cursor=0, scopes=["mine"]))
    await live.remember("Theirs.", scope="theirs")
    await live.remember("Mine.", scope="mine")
    assert [event.content for event in await take(call, 1)] == ["Mine."]
    call.cancel()


async def test_heartbeats_carry_the_cursor_while_nothing_happens(live: Live):
    await live.remember("Fact.")
    call = live.events.Watch(pb.WatchRequest(heartbeat_s=1))
    async with asyncio.timeout(BOUND_S):
        beats = [await call.read() for _ in range(2)]
    assert [beat.heartbeat.cursor for beat in beats] == [1, 1]
    call.cancel()


async def test_a_watch_ends_with_its_last_cursor_when_the_daemon_drains(live: Live):
    call = live.events.Watch(pb.WatchRequest(cursor=0))
    await live.remember("Fact.")
    await take(call, 1)
    live.services.end_watches()
    last = await call.read()
    assert (last.heartbeat.draining, last.heartbeat.cursor) == (True, 1)
    assert await call.read() is grpc.aio.EOF


async def test_a_slow_reader_is_told_to_read_anew_and_holds_nothing(live: Live, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(hub_module, "BUFFERED_BYTES", 20_000)
    stream = live.services.hub.watch(None, (), 60)
    await anext(stream)  # the first heartbeat; then this reader reads no more
    for n in range(40):
        await live.remember(f"Fact number {n}.")
    (subscriber,) = live.services.hub._subscribers
    await live.until(lambda: subscriber.overflown)
    assert not subscriber.events
    message = await anext(stream)
    assert isinstance(message, hub_module.Resync)
    assert message.newest == 40
    with pytest.raises(StopAsyncIteration):
        await anext(stream)
    assert live.services.hub.watchers == 0


async def test_a_cursor_from_another_store_is_told_to_read_anew(live: Live):
    call = live.events.Watch(pb.WatchRequest(cursor=99))
    message = await call.read()
    assert (message.WhichOneof("message"), message.resync_required.newest) == ("resync_required", 0)
    assert await call.read() is grpc.aio.EOF


async def test_watches_have_a_budget_of_their_own(live: Live, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live.services.hub, "_most", 1)
    first = live.events.Watch(pb.WatchRequest(cursor=0))
    await live.until(lambda: live.services.hub.watchers == 1)
    code, reason, _ = await refused(_end(live.events.Watch(pb.WatchRequest(cursor=0))))
    assert (code, reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WATCHES")
    first.cancel()
    await live.until(lambda: live.services.hub.watchers == 0)


async def _end(call: Any) -> None:
    async for _ in call:
        pass

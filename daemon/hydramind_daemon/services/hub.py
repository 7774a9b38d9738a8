"""Watch: committed events to any number of readers (design: EventService).

A reader first pages through the backlog in the store, then gets live events. One read of the store serves all of them. A
reader that falls more than 8 MiB behind, or asks for what is no longer kept, is told to read anew.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from hydramind_daemon.services.ports import PastEvent, ReadView
from hydramind_daemon.services.readers import Readers
from hydramind_domain.errors import HydraMindError, ResourceExhausted

BUFFERED_BYTES: Final = 8 << 20
"""What is kept for one reader that does not read."""

_PAGE: Final = 500
_EVENT_BYTES: Final = 400
"""What an event costs beside its texts."""


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life: everything up to `cursor` was sent. `draining`: the server stops, the stream ends."""

    cursor: int
    draining: bool = False


@dataclass(frozen=True, slots=True)
class Resync:
    """The reader must read the state anew; the stream ends."""

    reason: str
    oldest: int
    newest: int


Message = PastEvent | Beat | Resync


def size_of(event: PastEvent) -> int:
    """About how many bytes an event holds."""
    texts = event.memory_id, event.other_id, event.scope, event.reason, event.content
    return _EVENT_BYTES + 4 * sum(map(len, texts))


class _Subscriber:
    """Live events that one reader has not taken yet."""

    __slots__ = ("bytes", "events", "overflown", "scopes", "wake")

    def __init__(self, scopes: Collection[str] | None) -> None:
        self.scopes = scopes
        self.events: deque[PastEvent] = deque()
        self.bytes = 0
        self.overflown = False
        self.wake = asyncio.Event()

    def offer(self, event: PastEvent) -> None:
        if self.overflown or (self.scopes is not None and event.scope not in self.scopes):
            return
        self.bytes += size_of(event)
        if self.bytes > BUFFERED_BYTES:
            self.overflown = True
            self.events.clear()
        else:
            self.events.append(event)
        self.wake.set()

    def take(self) -> PastEvent | None:
        if not self.events:
            return None
        event = self.events.popleft()
        self.bytes -= size_of(event)
        return event


class EventHub:
    """Hands committed events to watchers. For the event loop only."""

    def __init__(self, readers: Readers, most: int, last_seq: Callable[[], int]) -> None:
        self._readers = readers
        self._most = most
        self._last_seq = last_seq
        self._subscribers: set[_Subscriber] = set()
        self._position = 0
        self._reading = False
        self._ending = asyncio.Event()

    @property
    def watchers(self) -> int:
        """Open streams."""
        return len(self._subscribers)

    def end(self) -> None:
        """Every stream ends with its last cursor."""
        self._ending.set()
        for subscriber in self._subscribers:
            subscriber.wake.set()

    def committed(self, _seq: int) -> None:
        """Something was committed: read it once, for all."""
        if self._subscribers and not self._reading:
            self._reading = True
            self._readers.post(self._read_new, self._distribute)

    def _read_new(self, view: ReadView) -> list[PastEvent]:
        return list(view.events_after(self._position, None, _PAGE))

    def _distribute(self, read: list[PastEvent] | BaseException) -> None:
        self._reading = False
        if isinstance(read, BaseException):
            structlog.get_logger().error("events could not be read", reason=str(read))
            for subscriber in self._subscribers:
                subscriber.overflown = True
                subscriber.wake.set()
            return
        for event in read:
            for subscriber in self._subscribers:
                subscriber.offer(event)
        if read:
            self._position = read[-1].seq
        if self._position < self._last_seq() and read:
            self.committed(self._last_seq())

    async def watch(self, cursor: int | None, scopes: Collection[str], heartbeat_s: float) -> AsyncGenerator[Message, None]:
        """Events after a cursor (None: only new ones), heartbeats in between. Raises ResourceExhausted."""
        if len(self._subscribers) >= self._most:
            raise ResourceExhausted(f"{self._most} watches are open; close one", reason="TOO_MANY_WATCHES")
        wanted = frozenset(scopes) or None
        subscriber = _Subscriber(wanted)
        if not self._subscribers:
            self._position = self._last_seq()
        live_from = self._position
        self._subscribers.add(subscriber)
        try:
            start = self._last_seq() if cursor is None else cursor
            if start > self._last_seq():
                yield Resync("the cursor is ahead of this store", *await self._kept())
                return
            yield Beat(start)
            async for message in self._backlog(start, live_from, wanted):
                yield message
                if isinstance(message, Resync):
                    return
            async for live in self._live(subscriber, max(start, live_from), heartbeat_s):
                if not isinstance(live, PastEvent) or live.seq > start:
                    yield live
        finally:
            self._subscribers.discard(subscriber)

    async def _backlog(self, start: int, until: int, scopes: Collection[str] | None) -> AsyncGenerator[PastEvent | Resync, None]:
        at = start
        while at < until and not self._ending.is_set():
            read = partial(_page, after=at, scopes=scopes)
            oldest, newest, events = await self._readers.read(read)
            if at + 1 < oldest:
                yield Resync("events so old are no longer kept", oldest, newest)
                return
            for event in events:
                if event.seq <= until:
                    yield event
            if not events or events[-1].seq >= until:
                return
            at = events[-1].seq

    async def _live(self, subscriber: _Subscriber, cursor: int, heartbeat_s: float) -> AsyncGenerator[Message, None]:
        at = cursor
        while True:
            while (event := subscriber.take()) is not None:
                at = event.seq
                yield event
            if subscriber.overflown:
                yield Resync("the reader fell more than 8 MiB behind", *await self._kept())
                return
            if self._ending.is_set():
                yield Beat(at, draining=True)
                return
            if subscriber.events:
                continue
            subscriber.wake.clear()
            try:
                await asyncio.wait_for(subscriber.wake.wait(), heartbeat_s)
            except TimeoutError:
                # With nothing buffered, whatever was distributed is sent, also events of other scopes.
                at = max(at, self._position)
                yield Beat(at)

    async def _kept(self) -> tuple[int, int]:
        try:
            return await self._readers.read(lambda view: (view.oldest_event(), view.sequence))
        except HydraMindError:
            return 0, self._last_seq()


def _page(view: ReadView, after: int, scopes: Collection[str] | None) -> tuple[int, int, list[PastEvent]]:
    return view.oldest_event(), view.sequence, list(view.events_after(after, scopes, _PAGE))

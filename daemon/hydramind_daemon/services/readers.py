"""The threads that read: few, each with the store's connection of its own, so that nothing blocks the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from hydramind_daemon.services.mailbox import Mailbox, answer, refuse
from hydramind_daemon.services.ports import Clock, ReadView, Store
from hydramind_domain.errors import DeadlineExceeded, ResourceExhausted, Unavailable

T = TypeVar("T")

MOST_WAITING: Final = 4_096
"""Reads that may wait before new ones are refused."""


class _Work:
    """One piece of work for a reader thread."""

    __slots__ = ("deadline", "future", "run")

    def __init__(self, run: Callable[[], Any], future: asyncio.Future[Any], deadline: float | None) -> None:
        self.run = run
        self.future = future
        self.deadline = deadline


class Readers:
    """A small pool of threads. Work whose caller has gone, or whose time is over, is not begun."""

    def __init__(self, store: Store, clock: Clock, count: int) -> None:
        self._store = store
        self._clock = clock
        self._count = count
        self._queue: SimpleQueue[_Work | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._mailbox: Mailbox | None = None
        self._waiting = 0

    def start(self, mailbox: Mailbox) -> None:
        """Start the threads; results come through `mailbox`."""
        self._mailbox = mailbox
        for number in range(self._count):
            thread = threading.Thread(target=self._serve, name=f"hydramind-reader-{number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    async def stop(self) -> None:
        """Finish what waits and end the threads."""
        threads, self._threads = self._threads, []
        for _ in threads:
            self._queue.put(None)
        for thread in threads:
            await asyncio.to_thread(thread.join)

    async def read(self, work: Callable[[ReadView], T], deadline: float | None = None) -> T:
        """Run `work` on a consistent view of the store."""

        def on_view() -> T:
            with self._store.read() as view:
                return work(view)

        return await self.compute(on_view, deadline)

    def view(self) -> AbstractContextManager[ReadView]:
        """A consistent view of the store, for work that runs on one of the threads."""
        return self._store.read()

    async def compute(self, work: Callable[[], T], deadline: float | None = None) -> T:
        """Run `work` on a thread. Raises ResourceExhausted, Unavailable, DeadlineExceeded, and what it raises."""
        if not self._threads:
            raise Unavailable("the daemon is stopping; call again", reason="DRAINING")
        if self._waiting >= MOST_WAITING:
            raise ResourceExhausted(f"{self._waiting} reads are waiting; call again later", reason="TOO_MANY_READS")
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting += 1
        try:
            self._queue.put(_Work(work, future, deadline))
            return await future
        finally:
            self._waiting -= 1

    def post(self, work: Callable[[ReadView], T], done: Callable[[T | BaseException], None]) -> None:
        """Run `work` on a view and `done` with its result, or with what it raised, on the loop. Nobody waits."""

        def on_view() -> T:
            with self._store.read() as view:
                return work(view)

        def settled(future: asyncio.Future[T]) -> None:
            if not future.cancelled():
                done(future.exception() or future.result())

        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        future.add_done_callback(settled)
        self._queue.put(_Work(on_view, future, None))

    def _serve(self) -> None:
        assert self._mailbox is not None
        while (work := self._queue.get()) is not None:
            if not work.future.done():
                self._mailbox.post((self._done(work),))

    def _done(self, work: _Work) -> Callable[[], None]:
        if work.deadline is not None and self._clock.monotonic() >= work.deadline:
            return partial(refuse, work.future, DeadlineExceeded("the deadline passed before the read began"))
        try:
            return partial(answer, work.future, work.run())
        except Exception as error:  # noqa: BLE001 - the root of a thread: whoever waits gets what went wrong
            return partial(refuse, work.future, error)

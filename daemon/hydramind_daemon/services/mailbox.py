"""How threads hand results to the event loop: one wake-up for many results."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


class Mailbox:
    """Runs callbacks on the loop, in order of posting, each exactly once; may be posted to from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Callable[[], None]] = deque()
        self._scheduled = False

    def post(self, callbacks: Iterable[Callable[[], None]]) -> None:
        """Queue callbacks; a loop that is closed gets nothing."""
        self._waiting.extend(callbacks)
        if not self._scheduled:
            self._scheduled = True
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._deliver)

    def _deliver(self) -> None:
        # Lowered before the queue is read: a poster that still saw it raised has queued before that.
        self._scheduled = False
        while self._waiting:
            self._waiting.popleft()()


def answer(future: asyncio.Future[T], result: T) -> None:
    """Give a result to whoever still waits for it."""
    if not future.done():
        future.set_result(result)


def refuse(future: asyncio.Future[T], error: BaseException) -> None:
    """Give an error to whoever still waits."""
    if not future.done():
        future.set_exception(error)

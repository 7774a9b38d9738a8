"""Streams of requests: a window of elements is under way at once, answers come in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

from hydramind_daemon.services.transfer import WINDOW

S = TypeVar("S")
T = TypeVar("T")

_END: Final = object()


async def pipelined(source: AsyncIterator[S], begin: Callable[[S], Awaitable[Awaitable[T]]]) -> AsyncGenerator[T, None]:
    """Call `begin` on each element in order, and answer what the begun work gives, in order.

    `begin` prepares an element and answers what to wait for; reading goes on meanwhile, at most a window ahead. Both must
    turn refusals into answers; what they raise ends the stream.
    """
    queue: asyncio.Queue[Awaitable[T] | object] = asyncio.Queue(WINDOW)

    async def feed() -> None:
        async for element in source:
            await queue.put(await begin(element))
        await queue.put(_END)

    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(feed())
        try:
            while (pending := await queue.get()) is not _END:
                yield await pending  # type: ignore[misc]
        finally:
            feeding.cancel()

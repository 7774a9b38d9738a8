"""Streams of requests: a window of elements is under way at once, answers come in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

from hydramind_daemon.services.transfer import WINDOW

S = TypeVar("S")
P = TypeVar("P")
T = TypeVar("T")


class _End:
    """Nothing more comes."""


_END: Final = _End()


async def pipelined(
    source: AsyncIterator[S], begin: Callable[[S], Awaitable[P]], finish: Callable[[P], Awaitable[T]]
) -> AsyncGenerator[T, None]:
    """Call `begin` on each element in order, and answer what `finish` makes of each begun one, in order.

    Reading and beginning go on at most a window ahead. Both functions turn refusals into answers; what they raise ends the
    stream.
    """
    queue: asyncio.Queue[P | _End] = asyncio.Queue(WINDOW)

    async def feed() -> None:
        async for element in source:
            await queue.put(await begin(element))
        await queue.put(_END)

    async with asyncio.TaskGroup() as tasks:
        feeding = tasks.create_task(feed())
        try:
            while not isinstance(begun := await queue.get(), _End):
                yield await finish(begun)
        finally:
            feeding.cancel()

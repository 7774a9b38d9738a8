"""What surrounds every call: the caller's identity and deadline, counting, and errors that say no more than they should."""

from __future__ import annotations

import asyncio
import functools
import keyword
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message

from hydramind.v1 import common_pb2
from hydramind_daemon.rpc import errors
from hydramind_daemon.services.container import Services
from hydramind_daemon.services.context import Call
from hydramind_domain.errors import DeadlineExceeded, HydraMindError, InvalidArgument
from hydramind_domain.model import Actor

ACTOR_KEY: Final = "hydramind-actor-bin"
CEILING_S: Final = 60.0
"""Longest time that a call with one answer may take, whatever its deadline says."""

Context = grpc.aio.ServicerContext[Any, Any]
UnaryMethod = Callable[[Any, Call], Awaitable[Message]]
StreamMethod = Callable[[Any, Call], AsyncGenerator[Message, None]]


@functools.lru_cache(1_024)
def actor_of(data: bytes) -> Actor:
    """Who calls, as the front end asserts it. Raises InvalidArgument."""
    try:
        sent = common_pb2.Actor.FromString(data)
    except DecodeError as error:
        raise InvalidArgument.of(ACTOR_KEY, "is not an Actor message") from error
    return Actor(sent.client_name[:256], sent.client_version[:256], sent.pid, sent.session[:256])


_NOBODY: Final = Actor()
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _actor(context: Context) -> Actor:
    for key, value in context.invocation_metadata() or ():
        if key == ACTOR_KEY:
            return actor_of(value if isinstance(value, bytes) else value.encode())
    return _NOBODY


def method_name(rpc: str) -> str:
    """`RememberBatch` → `remember_batch`; `Import` → `import_`, as Python has a statement of that name."""
    name = _CAPITAL.sub("_", rpc).lower()
    return name + "_" if keyword.iskeyword(name) else name


class Guard:
    """Wraps the methods of servicers. Errors are translated here and nowhere else."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def method(self, calls: object, described: MethodDescriptor) -> Callable[[Any, Context], Awaitable[Any]]:
        """One guarded method."""
        inner = getattr(calls, method_name(described.name))
        if described.server_streaming:
            return self._stream(inner)
        return self._unary(inner, free=described.name == "GetServerInfo")

    def _call(self, context: Context, *, ceiling: bool) -> tuple[Call, float]:
        left = context.time_remaining()
        if ceiling:
            left = CEILING_S if left is None else min(left, CEILING_S)
        now = self._services.clock.monotonic()
        return Call(_actor(context), None if left is None else now + left), left or 0.0

    def _unary(self, method: UnaryMethod, *, free: bool) -> Callable[[Any, Context], Awaitable[Any]]:
        activity = self._services.activity

        async def guarded(request: Any, context: Context) -> Any:
            activity.begin()
            try:
                if free:
                    return await method(request, _FREE)
                call, left = self._call(context, ceiling=True)
                if left < CEILING_S:
                    return await method(request, call)  # gRPC itself ends the call at the caller's deadline
                async with asyncio.timeout(CEILING_S):
                    return await method(request, call)
            except HydraMindError as error:
                await errors.abort(context, error)
            except TimeoutError:
                await errors.abort(context, DeadlineExceeded(f"the call took longer than {CEILING_S:.0f} s"))
            except Exception as error:  # noqa: BLE001 - the border: nothing of a fault may leave but its id
                await errors.abort(context, errors.internal(error))
            finally:
                activity.end()

        return guarded

    def _stream(self, method: StreamMethod) -> Callable[[Any, Context], Awaitable[None]]:
        activity = self._services.activity

        async def guarded(request: Any, context: Context) -> None:
            activity.begin()
            try:
                call, _ = self._call(context, ceiling=False)
                async with aclosing(method(request, call)) as answers:
                    async for answer in answers:
                        if not await _written(context, answer):
                            return
            except HydraMindError as error:
                await errors.abort(context, error)
            except BaseExceptionGroup as group:
                await errors.abort(context, _first(group))
            except Exception as error:  # noqa: BLE001 - as above
                await errors.abort(context, errors.internal(error))
            finally:
                activity.end()

        return guarded


_FREE: Final = Call()


def _first(group: BaseExceptionGroup[BaseException]) -> HydraMindError:
    """The error of a stream whose parts ran in a task group."""
    one: BaseException = group
    while isinstance(one, BaseExceptionGroup):
        one = one.exceptions[0]
    return one if isinstance(one, HydraMindError) else errors.internal(one)


def servicer_class(name: str, base: type, service: ServiceDescriptor) -> type[Any]:
    """A servicer whose methods are those of a `calls` object, guarded: `made(calls, guard)`."""

    def start(self: Any, calls: object, guard: Guard) -> None:
        self.guarded = {method.name: guard.method(calls, method) for method in service.methods}

    methods = {method.name: _forward(method.name) for method in service.methods}
    return type(name, (base,), {"__init__": start, "__doc__": base.__doc__, **methods})


def _forward(name: str) -> Callable[[Any, Any, Context], Awaitable[Any]]:
    async def forward(self: Any, request: Any, context: Context) -> Any:
        return await self.guarded[name](request, context)

    forward.__name__ = name
    return forward


async def _written(context: Context, answer: Message) -> bool:
    """False when the caller has gone: gRPC then fails the write, and nobody is left to tell."""
    try:
        await context.write(answer)
    except grpc.aio.BaseError:
        return False
    return True

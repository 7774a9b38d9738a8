"""What surrounds every call: the caller's identity and deadline, counting, and errors that say no more than they should."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable
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
StreamMethod = Callable[[Any, Call], AsyncIterator[Message]]


@functools.lru_cache(1_024)
def actor_of(data: bytes) -> Actor:
    """Who calls, as the front end asserts it. Raises InvalidArgument."""
    try:
        sent = common_pb2.Actor.FromString(data)
    except DecodeError as error:
        raise InvalidArgument.of(ACTOR_KEY, "is not an Actor message") from error
    return Actor(sent.client_name[:256], sent.client_version[:256], sent.pid, sent.session[:256])


_NOBODY: Final = Actor()


def _actor(context: Context) -> Actor:
    for key, value in context.invocation_metadata() or ():
        if key == ACTOR_KEY:
            return actor_of(value if isinstance(value, bytes) else value.encode())
    return _NOBODY


class Guard:
    """Wraps the methods of servicers. Errors are translated here and nowhere else."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def method(self, calls: object, described: MethodDescriptor) -> Callable[[Any, Context], Awaitable[Any]]:
        """One guarded method."""
        inner = getattr(calls, described.name)
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
                async with aclosing(method(request, call)) as answers:  # type: ignore[type-var]
                    async for answer in answers:
                        await context.write(answer)
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
    ours = group.subgroup(HydraMindError)
    while isinstance(ours, BaseExceptionGroup):
        ours = ours.exceptions[0]
    return ours if isinstance(ours, HydraMindError) else errors.internal(group)


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

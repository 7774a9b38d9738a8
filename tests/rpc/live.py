"""A daemon's services and gRPC face in this process, on a real Unix socket and a real store, without fsync."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import grpc

from hydramind import settings
from hydramind.v1 import admin_pb2, admin_pb2_grpc, common_pb2, event_pb2, event_pb2_grpc, memory_pb2, memory_pb2_grpc
from hydramind_daemon.locks import ScopeLocks
from hydramind_daemon.rpc.server import MESSAGE_BYTES, Face, build_server
from hydramind_daemon.services.admin import ServerInfo
from hydramind_daemon.services.container import Services
from hydramind_daemon.stores.connection import Durability
from hydramind_daemon.stores.store import SqliteStore

BOUND_S = 30.0
START = 1_780_000_000_000_000
SECOND = 1_000_000


class FakeClock:
    """Goes on by a second at each look, so that nothing happens at the same time; tests may set it."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> int:
        self.time += SECOND
        return self.time

    def monotonic(self) -> float:
        return time.monotonic()


class CountingIds:
    def __init__(self) -> None:
        self._next = itertools.count(1)

    def memory_id(self) -> str:
        return f"mem_{next(self._next):06d}"


class Live:
    """What tests call. `a` is memory, `admin` and `events` are the other services."""

    def __init__(self, folder: Path, config: dict[str, settings.Value] | None = None) -> None:
        self.folder = folder
        self.config = {"daemon.readers": 2, **(config or {})}
        self.clock = FakeClock()
        self.ids = CountingIds()
        self.drained: list[float | None] = []
        self._gates: list[threading.Event] = []

    async def __aenter__(self) -> Self:
        self._stack = AsyncExitStack()
        locks = self.folder / "locks"
        locks.mkdir(exist_ok=True)
        self.store = SqliteStore.open(self.folder / "store.db", Durability(fsync=False))
        self._stack.callback(self.store.close)
        self.locks = ScopeLocks(locks)
        self.services = Services.build(self.store, self.locks, settings.load(self.config, {}), self.clock, self.ids)
        await self.services.start()
        self._stack.push_async_callback(self.services.drain)
        info = ServerInfo("1.2.3", "1.2.3+build", 1, 4321, START, True, str(self.folder), str(self.folder / "s"))
        self.face: Face = build_server(self.services, info, drain=self.drained.append)
        address = f"unix:{self.folder / 's'}"
        self.face.server.add_insecure_port(address)
        await self.face.server.start()
        await self.face.set_serving(True)
        self._stack.push_async_callback(self.face.server.stop, 0.5)
        self._stack.callback(self.services.end_watches)
        limits = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]
        self.channel = await self._stack.enter_async_context(grpc.aio.insecure_channel(address, options=limits))
        self.memory = memory_pb2_grpc.MemoryServiceStub(self.channel)
        self.events = event_pb2_grpc.EventServiceStub(self.channel)
        self.admin = admin_pb2_grpc.AdminServiceStub(self.channel)
        self._stack.callback(self.open_gates)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.wait_for(self._stack.aclose(), BOUND_S)

    # --- shorthands

    async def remember(self, content: str, *entities: str, scope: str = "acme", session: str = "", **more: Any) -> Any:
        request = memory_pb2.RememberRequest(content=content, entities=entities, scope=ref(scope), **more)
        return await self.memory.Remember(request, metadata=actor(session) if session else None)

    async def recall(self, query: str, *, scope: str = "acme", session: str = "", **more: Any) -> Any:
        request = memory_pb2.RecallRequest(query=query, scope=ref(scope), **more)
        return await self.memory.Recall(request, metadata=actor(session) if session else None)

    async def revise(self, memory_id: str, content: str, *, scope: str = "acme", reason: str = "it changed", **more: Any) -> Any:
        request = memory_pb2.ReviseRequest(memory_id=memory_id, content=content, reason=reason, scope=ref(scope), **more)
        return await self.memory.Revise(request)

    async def forget(self, memory_id: str, *, scope: str = "acme", **more: Any) -> Any:
        return await self.memory.Forget(memory_pb2.ForgetRequest(memory_id=memory_id, scope=ref(scope), **more))

    async def get(self, memory_id: str, *, scope: str = "acme", **more: Any) -> Any:
        answer = await self.memory.GetMemory(memory_pb2.GetMemoryRequest(memory_id=memory_id, scope=ref(scope), **more))
        return answer.memory

    async def contents(self, scope: str = "acme") -> list[str]:
        request = memory_pb2.ListMemoriesRequest(scope=ref(scope), page_size=500)
        return [memory.content for memory in (await self.memory.ListMemories(request)).memories]

    async def export(self, scope: str = "acme", **more: Any) -> list[Any]:
        return [one async for one in self.memory.Export(memory_pb2.ExportRequest(scope=ref(scope), **more))]

    # --- holding threads back

    async def hold_writer(self) -> Callable[[], None]:
        """Keep the writer thread busy until the answered function is called."""
        return await self._hold(self.services.writer.call)

    async def hold_readers(self) -> Callable[[], None]:
        """Keep all reader threads busy until the answered function is called."""
        gates = [await self._hold(self.services.readers.compute) for _ in range(2)]

        def open_all() -> None:
            for gate in gates:
                gate()

        return open_all

    async def _hold(self, run: Callable[[Callable[[], bool]], Any]) -> Callable[[], None]:
        reached, gate = threading.Event(), threading.Event()
        self._gates.append(gate)

        def work() -> bool:
            reached.set()
            return gate.wait(BOUND_S)

        self._held = getattr(self, "_held", [])
        self._held.append(asyncio.ensure_future(run(work)))
        await asyncio.to_thread(reached.wait, BOUND_S)
        return gate.set

    def open_gates(self) -> None:
        for gate in self._gates:
            gate.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that the loop will do."""

        async def poll() -> None:
            while not condition():  # noqa: ASYNC110 - the condition is anything that the loop will bring about
                await asyncio.sleep(0.001)

        await asyncio.wait_for(poll(), BOUND_S)


def ref(scope: str) -> common_pb2.ScopeRef:
    return common_pb2.ScopeRef(name=scope)


def actor(session: str, client: str = "tester") -> tuple[tuple[str, bytes], ...]:
    sent = common_pb2.Actor(client_name=client, client_version="1", pid=7, session=session)
    return (("hydramind-actor-bin", sent.SerializeToString()),)


def details(error: grpc.aio.AioRpcError) -> tuple[grpc.StatusCode, str, dict[str, str]]:
    """Code, reason and metadata of a rich error."""
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    status = rpc_status.from_call(error)  # type: ignore[arg-type]
    if status is None or not status.details:
        return error.code(), "", {}
    info = error_details_pb2.ErrorInfo()
    status.details[0].Unpack(info)
    assert info.domain == "hydramind"
    return error.code(), info.reason, dict(info.metadata)


async def refused(call: Any) -> tuple[grpc.StatusCode, str, dict[str, str]]:
    """What a call that must fail says."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        return details(error)
    raise AssertionError("the call was not refused")


__all__ = ["BOUND_S", "START", "Live", "actor", "admin_pb2", "details", "event_pb2", "memory_pb2", "ref", "refused"]

"""The composition root: the only place where store, locks, services and the gRPC server meet."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import grpc
import grpc.aio

from hydramind import local
from hydramind.local import Addresses
from hydramind.settings import Settings
from hydramind.v1 import admin_pb2, admin_pb2_grpc
from hydramind_daemon import metrics
from hydramind_daemon.exit_codes import DaemonExit, ExitCode
from hydramind_daemon.lifecycle import Lifecycle
from hydramind_daemon.lifecycle_signals import Signals
from hydramind_daemon.lifecycle_start import Readiness
from hydramind_daemon.locks import FileLock, ScopeLocks
from hydramind_daemon.logs import LogLevel
from hydramind_daemon.rpc.server import Face, build_server
from hydramind_daemon.sd_notify import Notifier
from hydramind_daemon.services.admin import ServerInfo
from hydramind_daemon.services.container import Services
from hydramind_daemon.services.context import Call
from hydramind_daemon.stores.errors import StoreError
from hydramind_daemon.stores.store import SqliteStore
from hydramind_domain.errors import HydraMindError, Internal, ResourceExhausted
from hydramind_domain.model import Instant

SELF_CALL_S = 30.0
"""How long the daemon waits for its own first answer before it gives up."""

_ID_BYTES = 10


class SystemClock:
    """The machine's clocks."""

    def now(self) -> Instant:
        """Microseconds since the epoch, UTC."""
        return time.time_ns() // 1_000

    def monotonic(self) -> float:
        """Seconds; never goes back."""
        return time.monotonic()


class RandomIds:
    """Ids of 80 random bits: too many to meet twice, and short enough for an agent to repeat without a slip."""

    def memory_id(self) -> str:
        """A new memory id."""
        return "mem_" + secrets.token_hex(_ID_BYTES)


class DaemonParts:
    """The real parts that the lifecycle runs (`lifecycle.Parts`)."""

    def __init__(self, where: Addresses, settings: Settings, *, managed: bool, drain: Callable[[float | None], None]) -> None:
        self._where = where
        self._settings = settings
        self._drain = drain
        self._clock = SystemClock()
        self._info = ServerInfo(
            version=local.version(),
            build_id=local.build_id(),
            api_level=local.API_LEVEL,
            pid=os.getpid(),
            started_at=self._clock.now(),
            managed=managed,
            home=where.home,
            socket=where.socket,
        )
        self._store: SqliteStore | None = None
        self._services: Services | None = None
        self._face: Face | None = None

    async def open(self) -> None:
        """Open or migrate the store, off the loop; start the services. Raises `DaemonExit`."""
        try:
            self._store = await asyncio.to_thread(SqliteStore.open, Path(self._where.store_file))
            locks = ScopeLocks(self._where.locks_dir)
            self._services = Services.build(self._store, locks, self._settings, self._clock, RandomIds())
            await self._services.start()
        except HydraMindError as error:
            raise DaemonExit(exit_code_of(error), error.message) from error

    async def bind(self) -> None:
        """Bind the socket and serve. Raises `DaemonExit` when it cannot be bound."""
        assert self._services is not None
        limits = self._settings.daemon
        self._face = build_server(
            self._services,
            self._info,
            drain=self._drain,
            max_calls=limits.max_calls,
            max_watches=limits.max_watches,
        )
        try:
            self._face.server.add_insecure_port(local.grpc_target(self._where.socket))
        except RuntimeError as error:
            raise DaemonExit(ExitCode.CANNOT_CREATE, f"cannot listen on {self._where.socket}: {error}") from error
        await self._face.server.start()
        await self._face.set_serving(True)

    async def self_call(self) -> None:
        """Ask ourselves who we are, as any client would. Raises `DaemonExit`."""
        async with grpc.aio.insecure_channel(local.grpc_target(self._where.socket)) as channel:
            stub = admin_pb2_grpc.AdminServiceStub(channel)
            try:
                await stub.GetServerInfo(admin_pb2.GetServerInfoRequest(), timeout=SELF_CALL_S, wait_for_ready=True)
            except grpc.aio.AioRpcError as error:
                words = f"the daemon gets no answer on {self._where.socket}: {error.code().name} {error.details()}"
                raise DaemonExit(ExitCode.UNAVAILABLE, words) from error

    async def ping(self) -> None:
        """Through the writer thread and the store and back."""
        assert self._services is not None
        await self._services.ping()

    async def publish(self) -> None:
        """Write the metrics file, if one is set."""
        path = self._settings.daemon.metrics_file
        if path and self._services is not None:
            status = await self._services.admin.status(self._where.home, Call())
            await asyncio.to_thread(metrics.write, Path(path), metrics.render(self._info, status))

    def idle_s(self) -> float:
        """Seconds without a call, a watch or work."""
        services = self._services
        if services is None or services.busy():
            return 0.0
        return self._clock.monotonic() - services.last_activity

    def apply(self, settings: Settings) -> None:
        """Take over what needs no restart."""
        self._settings = settings
        if self._services is not None:
            self._services.apply(settings)

    async def refuse_new(self) -> None:
        """Health NOT_SERVING."""
        if self._face is not None:
            await self._face.set_serving(False)

    async def end_watches(self) -> None:
        """Watch streams end with their last cursor."""
        if self._services is not None:
            self._services.end_watches()

    async def stop_server(self, grace_s: float) -> None:
        """No more calls; those under way get the grace period."""
        if self._face is not None:
            await self._face.server.stop(grace_s)

    async def close(self) -> None:
        """Commit what was accepted, join the threads, close the store."""
        if self._services is not None:
            await self._services.drain()
        if self._store is not None:
            await asyncio.to_thread(self._store.close)


def exit_code_of(error: HydraMindError) -> ExitCode:
    """Exit code of what kept the store from opening."""
    if isinstance(error, StoreError):
        return ExitCode(error.exit_code)
    if isinstance(error, ResourceExhausted):
        return ExitCode.CANNOT_CREATE
    if isinstance(error, Internal):
        return ExitCode.DATA if error.reason == "STORE_DAMAGED" else ExitCode.FAILURE
    return ExitCode.IO_ERROR if error.reason == "STORE_IO" else ExitCode.UNAVAILABLE


async def run_daemon(
    where: Addresses,
    settings: Settings,
    *,
    managed: bool,
    lock: FileLock,
    readiness: Readiness,
    signals: Signals,
    notifier: Notifier,
    reread: Callable[[], Settings],
    level: LogLevel,
) -> ExitCode:
    """Compose the daemon and run it on this loop until it is told to stop. Raises `DaemonExit` when it cannot start."""

    def drain(grace_s: float | None) -> None:
        life.request_stop("a Drain call", grace_s)

    parts = DaemonParts(where, settings, managed=managed, drain=drain)
    life = Lifecycle(
        parts,
        where,
        settings,
        lock=lock,
        readiness=readiness,
        notifier=notifier,
        managed=managed,
        reread=reread,
        set_level=level.set,
    )
    signals.attach(asyncio.get_running_loop(), life.request_stop, life.reload)
    return await life.run()

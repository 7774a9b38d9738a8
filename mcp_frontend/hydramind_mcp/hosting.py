"""The serving half of the MCP host: listens, runs a session for each shim, drains, and stops when nobody needs it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from hydramind import local
from hydramind_mcp import wire
from hydramind_mcp.manifest import write_manifest
from hydramind_mcp.memories import Memories
from hydramind_mcp.session import BadHello, Session, check_owner, read_hello, refusal_line

DRAIN_S = 10.0
"""How long answers under way may take once the host was told to stop."""

IDLE_CHECK_S = 1.0
"""Pause between two looks at a host that is past its time and still answers a request."""

SOCKET_CHECK_S = 5.0
"""Pause between two looks at whether the socket is still ours."""

BACKLOG = 512
"""Shims that may knock at once."""

_log = structlog.get_logger("hydramind.mcp")


def run_host(addresses: local.Addresses, *, idle_s: float, ready: Callable[[], None]) -> int:
    """Serve until SIGTERM, SIGINT, or `idle_s` without traffic; the caller holds the instance lock. Gives the exit code."""
    _configure_log()
    try:
        import uvloop
    except ImportError:
        asyncio.run(Host(addresses, idle_s).serve(ready))
    else:
        uvloop.run(Host(addresses, idle_s).serve(ready))
    return 0


@dataclass(slots=True)
class Host:
    """All sessions of one home."""

    addresses: local.Addresses
    idle_s: float
    build: str = field(default_factory=local.build_id)
    _sessions: set[Session] = field(default_factory=set)
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _last: float = field(default_factory=time.monotonic)
    _inode: int = 0

    async def serve(self, ready: Callable[[], None]) -> None:
        """Listen, call `ready`, and serve until told to stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        async with Memories.at(self.addresses) as memories, asyncio.TaskGroup() as tasks:
            server = await self._listen(tasks, memories)
            ready()
            _log.info("serving", socket=self.addresses.mcp_socket, pid=os.getpid(), build=self.build)
            running = [tasks.create_task(_chore(each), name=each.__name__) for each in self._chores(memories)]
            await self._stop.wait()
            server.close()
            self._unlink_socket()
            await self._drain()
            for chore in running:
                chore.cancel()
        _log.info("stopped", pid=os.getpid())

    def _chores(self, memories: Memories) -> tuple[Callable[[], Coroutine[None, None, None]], ...]:
        return self._record, memories.warm_up, self._watch_idleness, self._watch_socket

    async def _listen(self, tasks: asyncio.TaskGroup, memories: Memories) -> asyncio.Server:
        self._unlink_socket()  # the instance lock says that its owner is gone

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.create_task(self._serve_peer(reader, writer, memories))

        before = os.umask(0o077)
        try:
            limit = wire.MAX_LINE_BYTES + 65536
            server = await asyncio.start_unix_server(accept, path=self.addresses.mcp_socket, limit=limit, backlog=BACKLOG)
        finally:
            os.umask(before)
        self._inode = self._find_inode()
        return server

    async def _serve_peer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, memories: Memories) -> None:
        """Root of one connection: whatever happens in it, the others go on."""
        try:
            check_owner(writer.get_extra_info("socket"))
            hello = await read_hello(reader)
            if self._is_outdated(hello.build):
                self._stop.set()  # the shim comes back, and starts the new build
                return
            session = Session(reader, writer, hello, self)
            self._sessions.add(session)
            try:
                await session.run(memories.connect(hello), memories.find_scope(hello))
            finally:
                self._sessions.discard(session)
        except BadHello as error:
            _log.warning("refused", why=str(error))
            writer.write(refusal_line(str(error)))
        except Exception:  # noqa: BLE001 - one session's fault is not the others'
            _log.exception("session_failed")
        finally:
            writer.close()

    def _unlink_socket(self) -> None:
        """Remove a stale socket before listening, and our own afterwards; never one that somebody put in its place."""
        if self._find_inode() == self._inode or not self._inode:
            Path(self.addresses.mcp_socket).unlink(missing_ok=True)

    def _find_inode(self) -> int:
        try:
            return os.stat(self.addresses.mcp_socket).st_ino  # noqa: PTH116 - a number, not a path
        except OSError:
            return 0

    async def _watch_socket(self) -> None:
        """Stop when nobody can find this host any more: a logout clears the runtime folder, a test its home."""
        while self._find_inode() == self._inode:  # noqa: ASYNC110 - the file system tells nobody
            await asyncio.sleep(SOCKET_CHECK_S)
        _log.warning("socket_gone", socket=self.addresses.mcp_socket)
        self._stop.set()

    def touched(self) -> None:
        """Some session has traffic."""
        self._last = time.monotonic()

    def _is_outdated(self, build: str) -> bool:
        """This install was upgraded under the running host. Another install's shims are served, so nothing ping-pongs."""
        if build == self.build or local.build_id() == self.build:
            return False
        _log.info("outdated", running=self.build, installed=build)
        return True

    async def _record(self) -> None:
        try:
            await write_manifest(self.addresses.mcp_manifest, self.build)
        except OSError as error:  # without a manifest a cold start is slower, and that is all
            _log.warning("no_manifest", why=str(error))

    async def _watch_idleness(self) -> None:
        if self.idle_s <= 0:
            return
        while (left := self._last + self.idle_s - time.monotonic()) > 0 or self._busy():  # noqa: ASYNC110 - time itself
            await asyncio.sleep(max(left, IDLE_CHECK_S))
        _log.info("idle", after_s=self.idle_s, sessions=len(self._sessions))
        self._stop.set()

    def _busy(self) -> bool:
        return any(session.in_flight for session in self._sessions)

    async def _drain(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for session in tuple(self._sessions):
                tasks.create_task(session.finish(DRAIN_S))


async def _chore(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """Root of one of the host's own tasks: sessions are served whatever becomes of it."""
    try:
        await work()
    except Exception:  # noqa: BLE001 - a root
        _log.exception("chore_failed", chore=work.__name__)


def _configure_log() -> None:
    """JSON lines on stderr, which is the host's log; levels of the SDK and of gRPC from WARNING up."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )

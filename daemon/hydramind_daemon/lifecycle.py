"""The life of the daemon on its event loop: open, bind, prove that it answers, watch itself, drain.

Knows nothing of gRPC or SQLite: what is run comes in as a `Parts`, so that every order and failure here is tested with
fakes.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import structlog

from hydramind import settings as st
from hydramind.local import Addresses
from hydramind.settings import Settings
from hydramind_daemon.exit_codes import ExitCode
from hydramind_daemon.lifecycle_start import Readiness
from hydramind_daemon.locks import FileLock
from hydramind_daemon.sd_notify import Notifier
from hydramind_domain.errors import HydraMindError


class Parts(Protocol):
    """What the lifecycle runs, in this order; composed in app.py."""

    async def open(self) -> None:
        """Open the store (migrating it if needed) and start the services."""
        ...

    async def bind(self) -> None:
        """Bind the socket and answer calls."""
        ...

    async def self_call(self) -> None:
        """Call the daemon through its own socket; raises when no answer comes."""
        ...

    async def ping(self) -> None:
        """Go through writer thread and store and back; raises what went wrong there."""
        ...

    async def publish(self) -> None:
        """Write the numbers for a collector, if a file is set; raises OSError or what the store raises."""
        ...

    def idle_s(self) -> float:
        """Seconds without a call, watch or work; 0 while there is any."""
        ...

    def apply(self, settings: Settings) -> None:
        """Take over changed settings that need no restart."""
        ...

    async def refuse_new(self) -> None:
        """Health NOT_SERVING."""
        ...

    async def end_watches(self) -> None:
        """Tell every watch stream to end with its last cursor."""
        ...

    async def stop_server(self, grace_s: float) -> None:
        """Take no more calls; those under way get `grace_s`. The socket is gone afterwards."""
        ...

    async def close(self) -> None:
        """Finish accepted commands, flush and close the store. Also after a failed `open`."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """How often the daemon looks at itself, in seconds."""

    look_s: float = 5.0
    extend_s: float = 5.0


class Lifecycle:
    """Runs `Parts` from start to end under the instance lock, which the caller holds and releases afterwards."""

    def __init__(
        self,
        parts: Parts,
        where: Addresses,
        settings: Settings,
        *,
        lock: FileLock,
        readiness: Readiness,
        notifier: Notifier,
        managed: bool,
        reread: Callable[[], Settings],
        set_level: Callable[[str], None],
        pace: Pace | None = None,
    ) -> None:
        self._parts = parts
        self._where = where
        self._settings = settings
        self._lock = lock
        self._readiness = readiness
        self._notifier = notifier
        self._managed = managed
        self._reread = reread
        self._set_level = set_level
        self._pace = pace or Pace()
        self._stop = asyncio.Event()
        self._grace_s: float | None = None
        self._code = ExitCode.OK
        self._socket_inode = 0
        self._publish_failed = False
        self._idle_lock: FileLock | None = None
        self._log = structlog.get_logger()

    def request_stop(self, reason: str, grace_s: float | None = None, code: ExitCode = ExitCode.OK) -> None:
        """Begin to drain; the first reason counts. `grace_s` None: the setting."""
        if not self._stop.is_set():
            self._log.info("stopping", reason=reason)
            self._grace_s, self._code = grace_s, code
            self._stop.set()

    def reload(self) -> None:
        """Read the configuration again: all of it is taken over, or nothing."""
        self._notifier.reloading(time.monotonic_ns())
        try:
            new = self._reread()
        except st.SettingsError as error:
            self._log.error("configuration not taken over", reason=str(error))
        else:
            self._take_over(new)
        self._notifier.ready(self._status())

    async def run(self) -> ExitCode:
        """Serve until asked to stop; answers the exit code. Raises what kept it from starting."""
        try:
            await self._start()
            await self._serve()
        finally:
            await self._end()
        return self._code

    async def _start(self) -> None:
        if self._stop.is_set():
            return
        async with self._more_time():
            await self._parts.open()
            if self._stop.is_set():
                return
            await self._parts.bind()
            self._socket_inode = _inode(self._where.socket)
            await self._parts.self_call()
        self._notifier.ready(self._status())
        self._readiness.ready()
        self._log.info("ready", pid=os.getpid(), home=self._where.home, socket=self._where.socket)

    async def _serve(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            watchers = [tasks.create_task(self._look_around())]
            if self._notifier.watchdog_s is not None:
                watchers.append(tasks.create_task(self._feed_watchdog(self._notifier.watchdog_s)))
            await self._stop.wait()
            for watcher in watchers:
                watcher.cancel()

    async def _end(self) -> None:
        grace_s = self._settings.daemon.drain_s if self._grace_s is None else self._grace_s
        try:
            await self._parts.refuse_new()
            self._notifier.stopping("draining")
            self._notifier.extend_timeout(grace_s + self._pace.extend_s)
            await self._parts.end_watches()
            await self._parts.stop_server(grace_s)
        finally:  # whatever fails on the way, what was accepted is flushed
            async with self._more_time():
                await self._parts.close()
        self._readiness.close()
        self._log.info("stopped")

    async def _look_around(self) -> None:
        while not self._stop.is_set():
            limit_s = self._settings.daemon.idle_exit_s
            await self._pause(min(self._pace.look_s, max(limit_s / 4, 0.05)) if limit_s else self._pace.look_s)
            self._check_place()
            self._check_idle()
            await self._publish()

    async def _publish(self) -> None:
        try:
            await self._parts.publish()
        except (OSError, HydraMindError) as error:
            if not self._publish_failed:  # once, not every few seconds
                self._log.warning("the metrics file is not written", reason=str(error))
            self._publish_failed = True
        else:
            self._publish_failed = False

    async def _feed_watchdog(self, every_s: float) -> None:
        """A hung loop or store goes quiet here, and the service manager restarts the daemon.

        A store that answers with an error is not hung, and a restart would not mend a full disk: it counts as alive.
        """
        while not self._stop.is_set():
            status = await self._ping_status(every_s)
            if status is not None:
                self._notifier.status(status)
                self._notifier.watchdog()
            await self._pause(every_s / 3)

    async def _ping_status(self, bound_s: float) -> str | None:
        try:
            await asyncio.wait_for(self._parts.ping(), bound_s)
        except TimeoutError:
            self._log.error("the store does not answer", waited_s=bound_s)
            return None
        except (OSError, HydraMindError) as error:
            return f"degraded: {error}"
        return self._status()

    def _check_place(self) -> None:
        """Stop when nobody can reach us any more: the socket or the home was removed or replaced (logout, cleaners)."""
        if self._stop.is_set():
            return
        if _inode(self._where.socket) == self._socket_inode and self._lock.in_place():
            return
        code = ExitCode.IO_ERROR if self._managed else ExitCode.OK  # a unit starts us again
        self.request_stop("the socket or the lock file was removed or replaced", code=code)

    def _check_idle(self) -> None:
        limit = self._settings.daemon.idle_exit_s
        if self._managed or limit <= 0 or self._stop.is_set() or self._parts.idle_s() < limit:
            return
        # With the spawn lock nobody is just starting a daemon; it is kept until the process ends, so that the next
        # one finds either us answering or a free instance lock. A front end that connects now gets UNAVAILABLE.
        spawn = FileLock(self._where.spawn_lock)
        if not spawn.acquire():
            return
        if self._parts.idle_s() < limit:
            spawn.release()
            return
        self._idle_lock = spawn
        self.request_stop("idle")

    def _take_over(self, new: Settings) -> None:
        later = st.changed_needing_restart(self._settings, new)
        self._parts.apply(new)
        self._set_level(new.log.level)
        self._settings = new
        self._log.info("configuration taken over", file=new.file or None, after_restart=later or None)

    def _status(self) -> str:
        return f"Serving {self._where.home}"

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    @contextlib.asynccontextmanager
    async def _more_time(self) -> AsyncIterator[None]:
        """Ask the service manager for more time as long as the block runs: a migration or a last flush may take long."""
        every = self._pace.extend_s

        async def ask() -> None:
            while True:
                self._notifier.extend_timeout(every * 3)
                await asyncio.sleep(every)

        async with _in_background(ask()):
            yield


@contextlib.asynccontextmanager
async def _in_background(work: Awaitable[None]) -> AsyncIterator[None]:
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0

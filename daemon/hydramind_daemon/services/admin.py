"""What operators need: identity, health, backup, verification, rebuilding."""

from __future__ import annotations

import posixpath
import resource
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from hydramind_daemon.services.context import Call
from hydramind_daemon.services.hub import EventHub
from hydramind_daemon.services.ports import Clock, ScopeLocks, Store, StoreStatus
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.writer import Writer
from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import Instant

PROBLEMS: Final = 100


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Identity of the running daemon. Fixed from start to end."""

    version: str
    build_id: str
    api_level: int
    pid: int
    started_at: Instant
    managed: bool
    home: str
    socket: str


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """Health of the whole: store, writer, watchers, locks, process. Sizes in bytes."""

    state: str
    state_reason: str
    store: StoreStatus
    queue_length: int
    watchers: int
    locked_scopes: tuple[str, ...]
    rss_bytes: int
    now: Instant
    disk_free_bytes: int


@dataclass(frozen=True, slots=True)
class Verification:
    """What verification found, at most 100 problems."""

    problems: tuple[str, ...]
    memories: int
    records: int


class Admin:
    """Use cases of operators."""

    def __init__(self, store: Store, locks: ScopeLocks, clock: Clock, readers: Readers, writer: Writer, hub: EventHub) -> None:
        self._store = store
        self._locks = locks
        self._clock = clock
        self._readers = readers
        self._writer = writer
        self._hub = hub
        self.draining = False

    def store_status(self) -> StoreStatus:
        """Health of the store."""
        return self._store.status()

    async def status(self, home: str, call: Call) -> DaemonStatus:
        """Health now."""
        store, free = await self._readers.compute(lambda: (self._store.status(), _disk_free(home)), call.deadline)
        state, reason = self._state(store)
        return DaemonStatus(
            state,
            reason,
            store,
            self._writer.waiting,
            self._hub.watchers,
            tuple(self._locks.held()),
            rss_bytes(),
            self._clock.now(),
            free,
        )

    def _state(self, store: StoreStatus) -> tuple[str, str]:
        if self.draining:
            return "draining", "the daemon is stopping"
        if store.read_only_reason:
            return "read_only", store.read_only_reason
        if store.missing_sequences:
            return "degraded", "a damaged part of the store was set aside; see missing_sequences"
        return "serving", ""

    async def backup(self, path: str, call: Call) -> tuple[int, int]:
        """Write a consistent copy to a new file: (bytes, last sequence)."""
        if not posixpath.isabs(path) or "\0" in path:
            raise InvalidArgument.of("path", "is not an absolute path; the daemon's folder is not the caller's")
        return await self._readers.compute(lambda: self._store.backup(path), call.deadline)

    async def verify(self, call: Call) -> Verification:
        """Check the store."""

        def work() -> Verification:
            problems = tuple(islice(self._store.verify(), PROBLEMS))
            status = self._store.status()
            return Verification(problems, status.memories, status.sequence)

        return await self._readers.compute(work, call.deadline)

    async def rebuild(self) -> tuple[int, int]:
        """Build the derived tables anew, with no command in between: (log records, memories)."""
        return await self._writer.call(self._store.rebuild)


def _disk_free(home: str) -> int:
    try:
        return shutil.disk_usage(home).free
    except OSError:
        return 0


def rss_bytes(read: Callable[[], str] | None = None) -> int:
    """Resident memory of this process; the peak where the system does not tell the present."""
    try:
        text = read() if read else _statm()
        return int(text.split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def _statm() -> str:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - called for every status
        return file.read()

"""Locks between processes: the instance lock of a home (flock) and one lock a scope (fcntl record locks).

Lock files are never unlinked: a file that is removed while somebody holds it would let a second writer in.
"""

import errno
import fcntl
import hashlib
import os
import struct
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # the instance lock is taken before anything of the domain is loaded
    from hydramind_daemon.services.ports import LockOutcome

_OPEN_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_FLOCK_LINUX = "hhqqi4x"  # short l_type, l_whence; off_t l_start, l_len; pid_t l_pid
_FLOCK_DARWIN = "qqihh"  # off_t l_start, l_len; pid_t l_pid; short l_type, l_whence


class FileLock:
    """An exclusive flock on one file, held from `acquire` to `release`, gone with the process in any case.

    flock belongs to the open file: it is not inherited across exec (close-on-exec) and a stale file means nothing, so
    a crash or a recycled pid never locks anyone out.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1

    @property
    def held(self) -> bool:
        """This object holds the lock."""
        return self._fd >= 0

    def acquire(self) -> bool:
        """Take the lock if it is free; False when another process has it. Raises OSError when the file cannot be opened."""
        if self._fd >= 0:
            return True
        fd = os.open(self.path, _OPEN_FLAGS, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        return True

    def write_holder(self, *lines: str) -> None:
        """Write who holds it (pid, socket) into the file, for diagnosis and for front ends that look elsewhere."""
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, ("\n".join((str(os.getpid()), *lines)) + "\n").encode(), 0)

    def in_place(self) -> bool:
        """The path still leads to the file that is locked; False when it was removed or replaced."""
        try:
            return self._fd >= 0 and os.path.samestat(os.fstat(self._fd), Path(self.path).stat())
        except OSError:
            return False

    def release(self) -> None:
        """Give the lock back. Twice is harmless."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


@dataclass(slots=True)
class _Entry:
    fd: int
    locked: bool
    used_at: float


class ScopeLocks:
    """The fcntl locks that keep any other process out of a scope while this one writes it.

    One file a scope, `<folder>/<sha256(scope)[:32]>`, opened once and kept: closing *any* descriptor of a file drops
    every fcntl lock that the process has on it. At most `max_open` files stay open; the longest unused are released
    first. For one thread only (the writer); `held` may be called from any.
    """

    def __init__(self, folder: str | Path, *, clock: Callable[[], float] = time.monotonic, max_open: int = 512) -> None:
        self._folder = Path(folder)
        self._clock = clock
        self._max_open = max_open
        self._entries: OrderedDict[str, _Entry] = OrderedDict()

    def try_acquire(self, scopes: Collection[str]) -> "LockOutcome":
        """Take the locks of `scopes` without waiting, in sorted order; keeps those that were free.

        Raises OSError when a lock file cannot be made or locked for another reason than a holder.
        """
        from hydramind_daemon.services.ports import LockOutcome

        held: set[str] = set()
        blocked: dict[str, int] = {}
        for scope in sorted(set(scopes)):
            holder = self._take(scope)
            if holder is None:
                held.add(scope)
            else:
                blocked[scope] = holder
        self._shrink(keep=held)
        return LockOutcome(frozenset(held), blocked)

    def release_idle(self, older_than_s: float) -> None:
        """Give back the locks that were not asked for in the last `older_than_s` seconds."""
        limit = self._clock() - older_than_s
        for entry in self._entries.values():
            if entry.locked and entry.used_at <= limit:
                fcntl.lockf(entry.fd, fcntl.LOCK_UN)
                entry.locked = False

    def held(self) -> tuple[str, ...]:
        """Scopes whose lock this process holds, sorted."""
        return tuple(sorted(scope for scope, entry in self._entries.copy().items() if entry.locked))

    def close(self) -> None:
        """Release every lock and close every file."""
        while self._entries:
            _, entry = self._entries.popitem()
            os.close(entry.fd)

    def path_of(self, scope: str) -> Path:
        """Lock file of a scope."""
        return self._folder / hashlib.sha256(scope.encode()).hexdigest()[:32]

    def _take(self, scope: str) -> int | None:
        """None once held, else the pid of the holder."""
        entry = self._entries.get(scope)
        if entry is None:
            entry = _Entry(os.open(self.path_of(scope), _OPEN_FLAGS, 0o600), locked=False, used_at=0.0)
            self._entries[scope] = entry
        self._entries.move_to_end(scope)
        entry.used_at = self._clock()
        if entry.locked:
            return None
        try:
            fcntl.lockf(entry.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in {errno.EACCES, errno.EAGAIN}:
                raise
            return holder_pid(entry.fd)
        entry.locked = True
        _write_pid(entry.fd)
        return None

    def _shrink(self, keep: Collection[str]) -> None:
        surplus = len(self._entries) - self._max_open
        for scope in [s for s in self._entries if s not in keep][: max(surplus, 0)]:
            os.close(self._entries.pop(scope).fd)


def holder_pid(fd: int) -> int:
    """Pid of the process that holds the fcntl lock on this file, by F_GETLK; 0 when nobody does any more.

    A holder in another pid namespace shows as 0; then what the holder wrote into the file is answered.
    """
    linux = sys.platform == "linux"
    kind = fcntl.F_WRLCK
    query = struct.pack(_FLOCK_LINUX, kind, 0, 0, 0, 0) if linux else struct.pack(_FLOCK_DARWIN, 0, 0, 0, kind, 0)
    try:
        answer = fcntl.fcntl(fd, fcntl.F_GETLK, query)
    except OSError:
        return _written_pid(fd)
    if linux:
        found, _, _, _, pid = struct.unpack(_FLOCK_LINUX, answer)
    else:
        _, _, pid, found, _ = struct.unpack(_FLOCK_DARWIN, answer)
    if found == fcntl.F_UNLCK:
        return 0
    return pid if pid > 0 else _written_pid(fd)


def _write_pid(fd: int) -> None:
    # Only a diagnosis for people: a full disk must not take the lock away again.
    try:
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        return


def _written_pid(fd: int) -> int:
    text = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
    return int(text) if text.isdigit() else 0

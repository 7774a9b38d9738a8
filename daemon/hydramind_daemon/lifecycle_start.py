"""What happens before the event loop: folders, the instance lock, a stale socket, and word to whoever started us."""

import contextlib
import errno
import fcntl
import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

from hydramind.local import BUSY, READY, AddressError, Addresses, read_holder
from hydramind_daemon.exit_codes import DaemonExit, ExitCode
from hydramind_daemon.locks import FileLock

_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM})


class Readiness:
    """The descriptor that a spawner waits on: one line `READY <pid>` or `BUSY <pid>`, or end-of-file at our death.

    A spawner that has gone is no reason to fail: nothing here raises.
    """

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        if fd is not None:
            with contextlib.suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_SETFD, fcntl.FD_CLOEXEC)  # a program that we start must not keep the spawner waiting

    def ready(self) -> None:
        """Calls are answered."""
        self._say(f"{READY} {os.getpid()}\n")

    def busy(self, pid: int) -> None:
        """Another daemon holds the instance lock (pid 0: unknown)."""
        self._say(f"{BUSY} {pid}\n")

    def close(self) -> None:
        """End without a word: we have died."""
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.close(self._fd)
            self._fd = None

    def _say(self, line: str) -> None:
        if self._fd is not None:
            with contextlib.suppress(OSError):
                os.write(self._fd, line.encode())
        self.close()


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn an OSError within into a `DaemonExit` that says what could not be done, where, and why."""
    try:
        yield
    except AddressError as error:
        raise DaemonExit(ExitCode.NO_PERMISSION, str(error)) from error
    except OSError as error:
        code = ExitCode.NO_PERMISSION if error.errno in _NOT_ALLOWED else ExitCode.CANNOT_CREATE
        where = f" {error.filename}" if error.filename else ""
        raise DaemonExit(code, f"cannot {what}{where}: {error.strerror or error}") from error


def prepare_home(where: Addresses) -> None:
    """Create the folders and see that the home can be written. Raises `DaemonExit` 73 or 77."""
    with explained("create the folder"):
        where.make_folders()
    if not os.access(where.home, os.W_OK | os.X_OK):
        raise DaemonExit(ExitCode.NO_PERMISSION, f"cannot write to the home {where.home}: permission denied or read-only")


def take_instance_lock(where: Addresses, readiness: Readiness) -> FileLock:
    """Take the lock that makes this the only daemon of the home; raises `DaemonExit` 75 naming the holder."""
    lock = FileLock(where.instance_lock)
    with explained("lock"):
        taken = lock.acquire()
    if not taken:
        pid, listens = read_holder(where.instance_lock)
        readiness.busy(pid)
        raise DaemonExit(
            ExitCode.BUSY,
            f"another daemon holds {where.instance_lock}: pid {pid or 'unknown'}, socket {listens or 'not yet known'}",
        )
    with explained("write"):
        lock.write_holder(where.socket)
    return lock


def clear_stale_socket(path: str) -> None:
    """Remove what a crashed daemon left; only with the instance lock held. Raises `DaemonExit` when it is not ours.

    A *live* socket under our lock belongs to the daemon of another home: gRPC would take it over silently, and that
    daemon's stop would later delete ours.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise DaemonExit(ExitCode.CANNOT_CREATE, f"{path} is in the way of the socket and is not a socket")
    if _answers(path):
        raise DaemonExit(ExitCode.BUSY, f"the daemon of another home listens on {path}: name another socket")
    with explained("remove the stale socket"):
        Path(path).unlink(missing_ok=True)


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(path)
        except TimeoutError:
            return True  # somebody listens and does not accept
        except OSError:
            return False
        return True

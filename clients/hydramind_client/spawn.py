"""Finding the daemon, or starting it: many front ends at once end with exactly one daemon.

A plain `connect(2)` tells whether somebody listens. If not: an installed systemd user unit is started; else whoever gets the
spawn lock starts `python -m hydramind_daemon` and waits for a word on a descriptor, while all others try to connect again. A
daemon that holds its instance lock without a socket is stopping: then the starter hears BUSY, waits and tries again.
Everything here blocks; `AsyncClient` runs it in a thread.
"""

# Reason: paths come as text from hydramind.local and go to system calls.
# ruff: noqa: PTH113, PTH116, PTH123

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from hydramind import local
from hydramind_client.errors import FailedPrecondition, HydraMindError, PermissionDenied, ResourceExhausted, Unavailable

PAUSE_S = 0.03
"""Between two tries while another process starts the daemon or one stops."""

LOCK_PATIENCE_S = 15.0
"""How long to wait for the spawn lock before starting without it: its holder may have been stopped in mid-start."""

_ABSENT = frozenset({errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR})
_TRUE = frozenset({"1", "true", "yes", "on"})
_TAIL_BYTES = 16_384
# Of the service that our caller may run in; a daemon of ours must not speak to its manager.
_NOT_INHERITED = (
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "JOURNAL_STREAM",
)
_BY_EXIT_CODE: Mapping[int, tuple[type[HydraMindError], str]] = {
    65: (FailedPrecondition, "STORE_UNUSABLE"),
    73: (PermissionDenied, "CANNOT_CREATE"),
    74: (ResourceExhausted, "IO_ERROR"),
    77: (PermissionDenied, "NO_PERMISSION"),
    78: (FailedPrecondition, "BAD_CONFIGURATION"),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """How to reach one daemon."""

    addresses: local.Addresses
    environ: Mapping[str, str]
    may_start: bool = True
    limit_s: float = 30.0


def plan(
    environ: Mapping[str, str] | None = None,
    home: str = "",
    socket_path: str = "",
    *,
    may_start: bool = True,
    limit_s: float = 30.0,
) -> Plan:
    """Where the daemon is by flags and environment, and whether it may be started (HYDRAMIND_NO_SPAWN forbids)."""
    env = dict(os.environ if environ is None else environ)
    forbidden = env.get("HYDRAMIND_NO_SPAWN", "").strip().lower() in _TRUE
    return Plan(local.addresses(env, home, socket_path), env, may_start and not forbidden, limit_s)


def listening(path: str) -> bool:
    """Somebody accepts connections at this socket. Raises `PermissionDenied` when the path may not be used."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    probe.settimeout(0)
    try:
        probe.connect(path)
    except BlockingIOError:
        return True  # its backlog is full: it is there and busy
    except PermissionError as error:
        raise PermissionDenied(f"the socket {path} may not be used: {error.strerror}", reason="NO_PERMISSION") from error
    except OSError as error:
        if error.errno in _ABSENT:
            return False
        raise Unavailable(f"the socket {path} cannot be reached: {error.strerror or error}", reason="BAD_SOCKET") from error
    finally:
        probe.close()
    return True


def ensure_running(where: Plan) -> None:
    """Return once somebody listens on the socket; start a daemon if that is allowed.

    Raises `Unavailable` (not running and not to be started, or not within the limit), or what the daemon's exit says.
    """
    if not listening(where.addresses.socket):
        _Start(where).run()


class _Start:
    """One front end's way to a running daemon."""

    def __init__(self, where: Plan) -> None:
        self.where = where
        self.addresses = where.addresses
        self.begun = time.monotonic()
        self.lock_fd = -1
        self.tried_unit = False
        self.log_start = _size_of(where.addresses.log_file)

    @property
    def waited_s(self) -> float:
        return time.monotonic() - self.begun

    def run(self) -> None:
        if not self.where.may_start:
            raise Unavailable(
                f"no daemon listens on {self.addresses.socket}, and none may be started here; run `hydramind daemon start`",
                reason="NOT_RUNNING",
                metadata={"socket": self.addresses.socket},
            )
        try:
            self._make_folders()
            while not listening(self.addresses.socket):
                if self.waited_s > self.where.limit_s:
                    raise Unavailable(
                        f"the daemon did not listen on {self.addresses.socket} within {self.where.limit_s:g} s{self._log_note()}",
                        reason="START_TIMEOUT",
                    )
                self._step()
        finally:
            self._unlock()

    def _step(self) -> None:
        patience = min(LOCK_PATIENCE_S, self.where.limit_s / 2)
        if not self._lock() and self.waited_s < patience:
            time.sleep(PAUSE_S)
        elif not listening(self.addresses.socket) and not self._start_unit():
            self._start_process()

    def _make_folders(self) -> None:
        try:
            self.addresses.make_folders()
        except local.AddressError as error:
            raise PermissionDenied(str(error), reason="NO_PERMISSION") from error
        except OSError as error:
            where = error.filename or self.addresses.home
            raise PermissionDenied(f"cannot create {where}: {error.strerror or error}", reason="CANNOT_CREATE") from error

    def _lock(self) -> bool:
        if self.lock_fd >= 0:
            return True
        path = self.addresses.spawn_lock
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise PermissionDenied(f"cannot write {path}: {error.strerror or error}", reason="NO_PERMISSION") from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self.lock_fd = fd
        return True

    def _unlock(self) -> None:
        if self.lock_fd >= 0:
            os.close(self.lock_fd)
            self.lock_fd = -1

    def _start_unit(self) -> bool:
        """Start the installed user unit, once, if it serves this very socket; whether it was started."""
        if self.tried_unit or not _unit_serves(self.where):
            return False
        self.tried_unit = True
        command = ["systemctl", "--user", "start", local.UNIT_NAME]
        limit = max(1.0, self.where.limit_s - self.waited_s)
        with suppress(subprocess.TimeoutExpired, OSError):
            done = subprocess.run(command, capture_output=True, check=False, timeout=limit)  # noqa: S603 - fixed words
            return done.returncode == 0
        return False

    def _start_process(self) -> None:
        ours, theirs = os.pipe()
        try:
            child = self._popen(theirs)
        except OSError as error:
            os.close(ours)
            raise Unavailable(f"cannot start {sys.executable}: {error.strerror or error}", reason="CANNOT_START") from error
        finally:
            os.close(theirs)
        # Reaps it whenever it ends, so that a long-lived client keeps no zombie.
        threading.Thread(target=child.wait, name="hydramind-daemon-reaper", daemon=True).start()
        try:
            word = self._read_word(ours)
        finally:
            os.close(ours)
        if word.startswith(local.BUSY):
            self._on_busy(word)
        elif not word.startswith(local.READY):
            self._on_death(child)

    def _popen(self, ready_fd: int) -> subprocess.Popen[bytes]:
        addresses = self.addresses
        command = [sys.executable, "-P", "-m", local.DAEMON_MODULE, "--readiness-fd", str(ready_fd)]
        command += ["--home", addresses.home, "--socket", addresses.socket]
        env = {name: value for name, value in self.where.environ.items() if name not in _NOT_INHERITED}
        log = os.open(addresses.log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            return subprocess.Popen(  # noqa: S603 - our own module
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=env,
                pass_fds=(ready_fd,),
                start_new_session=True,
            )
        finally:
            os.close(log)

    def _read_word(self, fd: int) -> str:
        """READY, BUSY, or nothing when the daemon died; raises `Unavailable` at the limit."""
        word = b""
        while b"\n" not in word:
            left = self.where.limit_s - self.waited_s
            readable, _, _ = select.select([fd], [], [], max(0.0, left))
            if not readable:
                raise Unavailable(
                    f"the daemon did not become ready within {self.where.limit_s:g} s{self._log_note()}", reason="START_TIMEOUT"
                )
            data = os.read(fd, 256)
            if not data:
                return ""
            word += data
        return word.decode("ascii", "replace")

    def _on_busy(self, word: str) -> None:
        """Another daemon has this home: it starts, it stops, or it listens where we do not look."""
        pid, listens = local.read_holder(self.addresses.instance_lock)
        if listens and listens != self.addresses.socket and listening(listens):
            raise FailedPrecondition(
                f"the daemon of {self.addresses.home} (pid {pid}) listens on {listens}, not on {self.addresses.socket}: "
                "set HYDRAMIND_SOCKET or --socket to that path",
                reason="OTHER_SOCKET",
                metadata={"pid": str(pid), "socket": listens},
            )
        self._unlock()  # a stopping daemon that idles out, or another starter, may want it
        holder = word.split()[1] if len(word.split()) > 1 and word.split()[1].isdigit() else "0"
        until = time.monotonic() + 1.0
        while time.monotonic() < until and _alive(int(holder)) and not listening(self.addresses.socket):
            time.sleep(PAUSE_S)

    def _on_death(self, child: subprocess.Popen[bytes]) -> None:
        with suppress(subprocess.TimeoutExpired):
            child.wait(5)
        code = child.returncode or 0
        kind, reason = _BY_EXIT_CODE.get(code, (Unavailable, "START_FAILED"))
        raise kind(
            f"the daemon stopped while it started, exit {code}, home {self.addresses.home}{self._log_note()}",
            reason=reason,
            metadata={"exit_code": str(code), "log": self.addresses.log_file},
        )

    def _log_note(self) -> str:
        words = log_tail(self.addresses.log_file, since=self.log_start)
        return f": {words} (log: {self.addresses.log_file})" if words else f" (log: {self.addresses.log_file})"


def _unit_serves(where: Plan) -> bool:
    """The user unit is installed and its daemon would listen where we look: it knows nothing of our environment."""
    own = {name: value for name, value in where.environ.items() if not name.startswith("HYDRAMIND_")}
    if not os.path.isfile(local.user_unit_file(own)) or shutil.which("systemctl") is None:
        return False
    usual = local.addresses(own)
    return (usual.home, usual.socket) == (where.addresses.home, where.addresses.socket)


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def log_tail(path: str, lines: int = 3, since: int = 0) -> str:
    """The last lines of a daemon's log after byte `since`, in words; empty when there are none."""
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(since, file.tell() - _TAIL_BYTES))
            found = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return " | ".join(_in_words(line) for line in found[-lines:])[-1500:]


def _in_words(line: str) -> str:
    """The event of a JSON log line, with the last line of its traceback; or the line itself."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    event = record.get("event") if isinstance(record, dict) else None
    if not isinstance(event, str):
        return line
    trace = str(record.get("exception", "")).strip().splitlines()
    return f"{event}: {trace[-1]}" if trace else event

"""A shim's way to the MCP host: connect, and start the host when there is none.

Nothing here blocks: the shim goes on reading its agent while a host starts. Whoever holds the spawn lock starts one; all
others try to connect again and again. The host's own instance lock makes a second one harmless, so that a shim which
was stopped with the spawn lock in its hands delays the others and does not lock them out.
"""

# Reason: pathlib, subprocess and tempfile would each cost a shim more than everything it does.
# ruff: noqa: PTH123, SIM105

import errno
import os
import sys
from time import monotonic

from hydramind import local
from hydramind_mcp import wire

try:
    from _socket import AF_UNIX, SOCK_STREAM, socket  # the C half: `socket` itself loads enum and selectors
except ImportError:
    from socket import AF_UNIX, SOCK_STREAM, socket  # type: ignore[assignment]

HOST_MODULE = "hydramind_mcp.host"
"""Started as `python -m hydramind_mcp.host`."""

RETRY_S = 0.03
"""Pause between two tries while another process starts the host."""

BACKOFF_MAX_S = 1.0
"""Longest pause after a connection that ended before the host had said anything."""

LOCK_PATIENCE_S = 15.0
"""How long to wait for the spawn lock before starting a host without it."""

START_LIMIT_S = 60.0
"""How long a host may take until it answers."""

DOWN, WAITING, STARTING, UP = range(4)


class Link:
    """The connection to the host, and what it takes to have one.

    `state` is DOWN (nobody asked for a connection), WAITING (tries again at `due`), STARTING (`ready_fd` tells when the
    host that this shim started is ready) or UP (`sock` is connected). `failure` says why the last try was given up.
    """

    __slots__ = (
        "_asked", "_deaths", "_lock_fd", "_log_start", "_silent", "addresses", "due", "failure", "ready_fd", "sock", "state",
    )  # fmt: skip

    def __init__(self, addresses: local.Addresses) -> None:
        self.addresses = addresses
        self.state = DOWN
        self.sock: socket | None = None
        self.ready_fd = -1
        self.due = 0.0
        self.failure = ""
        self._lock_fd = -1
        self._log_start = 0
        self._asked = 0.0
        self._silent = 0
        self._deaths = 0

    def look(self) -> None:
        """Connect when a host is there already; start nothing."""
        try:
            self._connect()
        except OSError:
            return  # told to the first request, by `want`

    def want(self) -> None:
        """Ask for a connection; does nothing while there is one or one is on its way."""
        if self.state == DOWN:
            self.failure = ""
            self._asked = monotonic()
            self._deaths = 0
            self.step()

    def step(self) -> None:
        """One try; leaves the link UP, WAITING, STARTING, or DOWN with a `failure`."""
        try:
            if not self._connect():
                self._start_or_wait()
        except OSError as error:
            self._give_up(f"{error.strerror or error}: {error.filename or self.addresses.mcp_socket}")

    def heard(self) -> None:
        """The host has said something: the connection is a good one."""
        self._silent = 0

    def lost(self) -> None:
        """The host closed the connection or died."""
        self.close()
        self.state = DOWN

    def retry(self) -> None:
        """Ask again after a loss, later the more often a host hung up without a word."""
        self._silent += 1
        self._asked = monotonic()
        self._wait(min(RETRY_S * 2 ** min(self._silent - 1, 6), BACKOFF_MAX_S))

    def on_ready_fd(self) -> None:
        """The host that this shim started has written to its readiness descriptor, or died."""
        word = os.read(self.ready_fd, 256).decode("ascii", "replace")
        self._release()
        if word.startswith((local.READY, local.BUSY)):
            self._wait(0.0 if word.startswith(local.READY) else RETRY_S)
        elif self._deaths == 0:
            self._deaths = 1  # killed by somebody, perhaps; a host that cannot start dies again
            self._wait(RETRY_S)
        else:
            self._give_up("the memory host stopped while it started" + self._log_tail())

    def close(self) -> None:
        """Close everything that this link holds open."""
        self._release()
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def _connect(self) -> bool:
        sock = socket(AF_UNIX, SOCK_STREAM)
        sock.setblocking(False)  # noqa: FBT003 - the function takes it by position only
        try:
            sock.connect(self.addresses.mcp_socket)
        except OSError as error:
            sock.close()
            if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.EAGAIN, errno.ENOTDIR):
                return False
            raise
        self._release()
        self.sock = sock
        self.state = UP
        return True

    def _start_or_wait(self) -> None:
        now = monotonic()
        if os.environ.get("HYDRAMIND_NO_SPAWN", "").lower() in ("1", "true", "yes", "on"):
            self._give_up("no memory host is running and HYDRAMIND_NO_SPAWN forbids to start one; run `hydramind mcp-host`")
        elif now - self._asked > START_LIMIT_S:
            self._give_up(f"the memory host did not answer within {START_LIMIT_S:.0f} s" + self._log_tail())
        elif self.ready_fd < 0 and (self._lock() or now - self._asked > LOCK_PATIENCE_S):
            if not self._connect():
                self._spawn()
        else:
            self._wait(RETRY_S)

    def _lock(self) -> bool:
        from fcntl import LOCK_EX, LOCK_NB, flock

        self.addresses.make_folders()
        fd = os.open(self.addresses.mcp_spawn_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            flock(fd, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._lock_fd = fd
        return True

    def _spawn(self) -> None:
        log = os.open(self.addresses.mcp_log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._log_start = os.lseek(log, 0, os.SEEK_END)
        self.ready_fd, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become_host(log, theirs, self._lock_fd)
        os.close(theirs)
        os.close(log)
        self._unlock()  # the host has it now: this shim may be stopped at any moment, and must not hold up the others
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass  # the agent started this shim with SIGCHLD ignored, and the system has reaped it
        self.state = STARTING
        self.due = monotonic() + START_LIMIT_S

    def _wait(self, pause_s: float) -> None:
        self.state = WAITING
        self.due = monotonic() + pause_s

    def _give_up(self, why: str) -> None:
        self.close()
        self.state = DOWN
        self.failure = f"{why} (log: {self.addresses.mcp_log_file})"

    def _release(self) -> None:
        if self.ready_fd >= 0:
            os.close(self.ready_fd)
            self.ready_fd = -1
        self._unlock()

    def _unlock(self) -> None:
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def _log_tail(self) -> str:
        try:
            with open(self.addresses.mcp_log_file, "rb") as log:
                log.seek(self._log_start)
                lines = log.read(65536).decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return ": " + lines[-1][-500:] if lines else ""


def _become_host(log: int, ready: int, lock: int) -> None:
    """In the forked child: turn into the host, in a session of its own and with nothing of the agent's left open.

    The host keeps the spawn lock until it is ready, also when this shim ends before that.
    """
    try:
        os.setsid()
        if os.fork():
            os._exit(0)  # the host belongs to nobody, so that it leaves no zombie behind in an agent
        os.umask(0o077)
        os.chdir("/")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        kept = sorted(fd for fd in (ready, lock) if fd > 2)
        for fd, following in zip(kept, [*kept[1:], min(os.sysconf("SC_OPEN_MAX"), 65536)], strict=True):
            os.set_inheritable(fd, True)  # noqa: FBT003 - the function takes it by position only
            os.closerange(fd + 1, following)
        os.closerange(3, kept[0])
        flags = ["--ready-fd", str(ready), "--spawn-lock-fd", str(lock)]
        os.execv(sys.executable, [sys.executable, "-P", "-m", HOST_MODULE, *flags])  # noqa: S606
    finally:
        os._exit(127)


def hello(session: str, build: str) -> bytes:
    """Who this shim is and where its agent works, for the host."""
    env = {name: os.environ[name] for name in wire.ENVIRONMENT if name in os.environ}
    scope = env.get("HYDRAMIND_SCOPE", "").strip()
    return wire.hello_frame(
        {
            "v": wire.HELLO_VERSION,
            "build": build,
            "flavour": "hydramind",
            "cwd": _cwd(),
            "scope": scope,
            "scope_from": "environment" if scope else "",
            "env": env,
            "pid": os.getpid(),
            "ppid": os.getppid(),
            "session": session,
        },
    )


def _cwd() -> str:
    try:
        return os.getcwd()  # noqa: PTH109
    except OSError:  # the folder was deleted under the agent
        return ""

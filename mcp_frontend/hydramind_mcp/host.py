"""The MCP host: one process for a home, which holds the SDK and serves every shim of that home.

`python -m hydramind_mcp.host`, or `hydramind mcp-host`. This module takes the instance lock before it loads anything
heavy, so that a host too many costs its starter almost nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import sys
import threading
from pathlib import Path

from hydramind import local

EX_BUSY = 75
"""Exit code when another host holds the lock (sysexits: temporary failure)."""

EX_CANTCREAT = 73
"""Exit code when a folder, lock or log cannot be made."""

IDLE_S = 1800.0
"""A host without traffic for this long stops; shims start it again when they need it."""

LOG_BYTES = 5 * 1024 * 1024
"""A log over this size is set aside (one old log is kept) when a host starts."""


def main(argv: list[str] | None = None) -> int:
    """Run a host until it is told to stop or nobody uses it; gives the exit code."""
    options = _options(argv)
    addresses = local.addresses(home=options.home, socket=options.socket)
    try:
        addresses.make_folders()
        lock = _take_lock(addresses)
    except OSError as error:
        sys.stderr.write(f"the memory host cannot use {error.filename or addresses.home}: {error.strerror or error}\n")
        return EX_CANTCREAT
    if lock < 0:
        holder, _ = local.read_holder(addresses.mcp_host_lock)
        _tell(options.ready_fd, f"{local.BUSY} {holder}\n")
        return EX_BUSY
    _rotate_log(Path(addresses.mcp_log_file))
    # A daemon process, not a coroutine: it starts beside the import of the SDK, on another core.
    threading.Thread(target=_wake_daemon, args=(addresses,), daemon=True).start()
    from hydramind_mcp.hosting import run_host  # the SDK costs a second; only the one host pays it

    def ready() -> None:
        _tell(options.ready_fd, f"{local.READY} {os.getpid()}\n")
        if options.spawn_lock_fd >= 0:
            os.close(options.spawn_lock_fd)

    return run_host(addresses, idle_s=options.idle_s, ready=ready)


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hydramind mcp-host", description="Serves the MCP shims of one home.")
    parser.add_argument("--home", default="", help="folder of the store (default: HYDRAMIND_HOME or the user's data folder)")
    parser.add_argument("--socket", default="", help="socket of the daemon (default: HYDRAMIND_SOCKET or the home's own)")
    parser.add_argument("--idle-s", type=float, default=IDLE_S, help="stop after this many seconds without traffic; 0: never")
    parser.add_argument("--ready-fd", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--spawn-lock-fd", type=int, default=-1, help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def _take_lock(addresses: local.Addresses) -> int:
    """The descriptor that holds the instance lock; -1 when another host has it. Kept open until the process ends."""
    fd = os.open(addresses.mcp_host_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return -1
    os.ftruncate(fd, 0)
    os.pwrite(fd, f"{os.getpid()}\n{addresses.mcp_socket}\n".encode(), 0)
    return fd


def _tell(ready_fd: int, word: str) -> None:
    """Write to whoever started this host, who may be gone."""
    if ready_fd < 0:
        return
    with contextlib.suppress(BrokenPipeError):
        os.write(ready_fd, word.encode())
    os.close(ready_fd)


def _wake_daemon(addresses: local.Addresses) -> None:
    """Find or start the daemon; when that fails, the first call tries again and tells why."""
    from hydramind_client import spawn
    from hydramind_client.errors import HydraMindError

    with contextlib.suppress(HydraMindError, OSError):
        spawn.ensure_running(spawn.plan(home=addresses.home, socket_path=addresses.socket))


def _rotate_log(path: Path) -> None:
    """Set a long log aside; stderr follows when it is that log (a shim has opened it before it started this host)."""
    try:
        if path.stat().st_size <= LOG_BYTES:
            return
        ours = os.path.samestat(os.fstat(2), path.stat())
        path.replace(path.with_suffix(".log.1"))
        if ours:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(fd, 1)
            os.dup2(fd, 2)
            os.close(fd)
    except OSError:
        return


if __name__ == "__main__":
    sys.exit(main())

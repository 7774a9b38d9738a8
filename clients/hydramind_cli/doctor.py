"""Finding out what is wrong with a home, without a daemon's help; and mending what can be mended safely.

Lock files are never removed: a lock belongs to the open file of a living process, and a file without a holder is harmless.
Removing one that is held would let a second writer in.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from hydramind import local, settings
from hydramind_cli.context import Shell, command
from hydramind_cli.exit_codes import ExitCode
from hydramind_cli.output import Output, clean, size
from hydramind_client import spawn
from hydramind_client.errors import HydraMindError
from hydramind_client.render import JsonObject

_LOW_DISK_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `mend` repairs it, where that is safe."""

    name: str
    ok: bool
    words: str
    mend: Callable[[], str] | None = None

    def to_json(self) -> JsonObject:
        """For --json."""
        return {"name": self.name, "ok": self.ok, "words": self.words, "can_fix": self.mend is not None}


@command("doctor")
@click.option("--fix", is_flag=True, help="Mend what can be mended safely: folders, modes, a stale socket. Never a lock.")
def doctor_command(shell: Shell, fix: bool) -> int:
    """Look at home, socket, locks, disk and settings, and say what is wrong and what to do. Problems left: exit 1."""
    where = shell.addresses()
    findings = list(examine(where))
    mended: list[str] = []
    if fix:
        mended = [finding.mend() for finding in findings if not finding.ok and finding.mend is not None]
        findings = list(examine(where))
    out = shell.out
    if out.as_json:
        out.json({"ok": all(f.ok for f in findings), "findings": [f.to_json() for f in findings], "mended": list(mended)})
    else:
        _draw(out, findings, mended, fix=fix)
    return ExitCode.OK if all(finding.ok for finding in findings) else ExitCode.FAILED


def _draw(out: Output, findings: list[Finding], mended: list[str], *, fix: bool) -> None:
    for words in mended:
        out.line((f"{out.signs.up} mended: ", "cyan"), clean(words))
    for finding in findings:
        sign = (f"{out.signs.ok} ", "green") if finding.ok else (f"{out.signs.bad} ", "red")
        out.line(sign, (f"{finding.name:<10} ", "bold"), clean(finding.words))
    if not fix and any(not f.ok and f.mend for f in findings):
        out.line("`hydramind doctor --fix` mends what can be mended safely")


def examine(where: local.Addresses) -> Iterator[Finding]:
    """Everything that is worth a look, in the order in which one would ask."""
    yield _settings()
    yield from _home(where)
    yield _disk(where)
    yield _socket(where)
    yield _lock("lock", where.instance_lock, where)
    yield _lock("spawn lock", where.spawn_lock, where)
    yield _store(where)


def _settings() -> Finding:
    try:
        found = settings.load()
    except settings.SettingsError as error:
        return Finding("settings", ok=False, words=str(error))
    odd = "; ".join(found.warnings)
    return Finding(
        "settings", ok=True, words=odd or (f"from {found.file}" if found.file else "no file, all from environment and defaults")
    )


def _home(where: local.Addresses) -> Iterator[Finding]:
    folders = dict.fromkeys((where.home, str(Path(where.socket).parent)))
    for folder in folders:
        yield _folder("home" if folder == where.home else "run folder", folder, where)


def _folder(name: str, folder: str, where: local.Addresses) -> Finding:
    path = Path(folder)
    if not path.exists():
        above = _nearest(folder)
        if above.is_dir() and os.access(above, os.W_OK | os.X_OK):
            return Finding(name, ok=True, words=f"{folder} does not exist yet; the daemon creates it")
        return Finding(name, ok=False, words=f"{folder} does not exist and cannot be created in {above}: set HYDRAMIND_HOME")
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    problem = _problem_of(path, found)
    if problem:
        return Finding(name, ok=False, words=f"{folder} {problem}")
    if mode & 0o077 and folder == str(Path(where.socket).parent):
        return Finding(name, ok=False, words=f"{folder} holds the socket and is open to others", mend=lambda: _close_folder(path))
    return Finding(name, ok=True, words=f"{folder}, mode {mode:04o}")


def _problem_of(path: Path, found: os.stat_result) -> str:
    """What is wrong with a folder that no command can mend."""
    if not stat.S_ISDIR(found.st_mode):
        return "is not a folder: move it away or set HYDRAMIND_HOME"
    if found.st_uid != os.geteuid():
        return f"belongs to uid {found.st_uid}, you are {os.geteuid()}: chown it or set HYDRAMIND_HOME"
    if not os.access(path, os.W_OK | os.X_OK):
        return f"cannot be written (mode {stat.S_IMODE(found.st_mode):04o}, or a read-only disk)"
    return ""


def _close_folder(path: Path) -> str:
    path.chmod(0o700)
    return f"chmod 700 {path}"


def _nearest(folder: str) -> Path:
    """The folder itself, or what exists above it."""
    place = Path(folder)
    while not place.exists() and place != place.parent:
        place = place.parent
    return place


def _disk(where: local.Addresses) -> Finding:
    free = shutil.disk_usage(_nearest(where.home)).free
    words = f"{size(free)} free for {where.home}"
    return Finding(
        "disk",
        ok=free >= _LOW_DISK_BYTES,
        words=words if free >= _LOW_DISK_BYTES else f"only {words}: writes fail when it is full",
    )


def _socket(where: local.Addresses) -> Finding:
    path = where.socket
    try:
        if spawn.listening(path):
            return Finding("socket", ok=True, words=f"a daemon listens on {path}")
    except HydraMindError as error:
        return Finding("socket", ok=False, words=error.message)
    if not os.path.lexists(path):
        return Finding("socket", ok=True, words=f"nobody listens on {path}; the next command starts a daemon")
    if not stat.S_ISSOCK(Path(path).lstat().st_mode):
        return Finding("socket", ok=False, words=f"{path} is in the way and is not a socket: move it away")
    if _held(where.instance_lock):
        return Finding(
            "socket", ok=False, words=f"{path} does not answer, but the lock is held: the daemon starts, stops or hangs"
        )
    return Finding(
        "socket", ok=False, words=f"{path} is left over from a daemon that was killed", mend=lambda: _remove_socket(where)
    )


def _remove_socket(where: local.Addresses) -> str:
    with _holding(where.spawn_lock) as spawning, _holding(where.instance_lock) as alone:
        if not (spawning and alone) or spawn.listening(where.socket):
            return f"left {where.socket} alone: somebody came"
        Path(where.socket).unlink(missing_ok=True)
    return f"removed the stale socket {where.socket}"


def _lock(name: str, path: str, where: local.Addresses) -> Finding:
    if not Path(path).exists():
        return Finding(name, ok=True, words=f"{path} does not exist yet")
    if not _held(path):
        return Finding(name, ok=True, words=f"{path} is free; the file itself means nothing and stays")
    pid, listens = local.read_holder(path)
    holder = f"pid {pid}" if pid else "a process"
    if path != where.instance_lock:
        return Finding(name, ok=True, words=f"{holder} starts or stops a daemon right now")
    if listens and listens != where.socket:
        return Finding(
            name,
            ok=False,
            words=f"{holder} holds {path} and listens on {listens}, not {where.socket}: set HYDRAMIND_SOCKET to that",
        )
    if _silent(where.socket):
        return Finding(
            name,
            ok=False,
            words=f"{holder} holds {path} and does not listen: it starts, stops or hangs. "
            "Held locks are never removed; end the process",
        )
    return Finding(name, ok=True, words=f"held by the running daemon, {holder}")


def _silent(path: str) -> bool:
    try:
        return not spawn.listening(path)
    except HydraMindError:
        return True


def _store(where: local.Addresses) -> Finding:
    path = Path(where.store_file)
    if not path.exists():
        return Finding("store", ok=True, words=f"{path} does not exist yet: nothing is stored")
    if not os.access(path, os.R_OK | os.W_OK):
        return Finding("store", ok=False, words=f"{path} cannot be read and written by you")
    aside = sorted(str(p.name) for p in path.parent.glob("*.damaged*"))
    words = f"{path}, {size(path.stat().st_size)}" + (f"; set aside as damaged: {', '.join(aside)}" if aside else "")
    return Finding("store", ok=True, words=words)


def _held(path: str) -> bool:
    """Whether another process holds the flock of this file. Asks with a shared lock, for the shortest time."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


@contextmanager
def _holding(path: str) -> Iterator[bool]:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(fd)

"""The store's files: names, modes, and what a folder that cannot be written means."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from hydramind_daemon.stores.errors import NotPermitted, Unwritable

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
_FORBIDDEN: Final = {errno.EACCES, errno.EPERM}


def unwritable(path: Path, error: OSError) -> Unwritable:
    """The error for a path, with what to do."""
    kind = NotPermitted if error.errno in _FORBIDDEN else Unwritable
    return kind(
        f"{path} cannot be written: {error.strerror}; give HYDRAMIND_HOME a folder that you own and that has room",
        metadata={"path": str(path)},
    )


def prepare(path: Path) -> None:
    """Make the folder (0700) and the file (0600) if they are not there; the write-ahead log inherits the file's mode.

    Raises Unwritable.
    """
    try:
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE))
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise unwritable(path, error) from error


def companions(path: Path) -> tuple[Path, Path]:
    """The write-ahead log and its shared-memory index."""
    return Path(f"{path}-wal"), Path(f"{path}-shm")


def aside(path: Path) -> Path:
    """A free name beside `path` for a damaged file."""
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    return target


def quarantined(path: Path) -> tuple[str, ...]:
    """Files that were set aside in this folder, by name."""
    try:
        return tuple(sorted(entry.name for entry in path.parent.glob(f"{path.name}*.damaged-*")))
    except OSError:
        return ()


def size_of(path: Path) -> int:
    """Bytes of a file; 0 when it is not there."""
    try:
        return path.stat().st_size
    except OSError:
        return 0

"""A consistent copy while the store is in use."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from hydramind_daemon.stores import files
from hydramind_daemon.stores.connection import Durability, connect, run, value
from hydramind_daemon.stores.errors import translated
from hydramind_daemon.stores.read_sql import PLAIN
from hydramind_domain.errors import AlreadyExists, InvalidArgument


def copy(source: Path, target: Path, durability: Durability) -> tuple[int, int]:
    """Copy into a new file (0600): (bytes, last sequence).

    Raises AlreadyExists for a path that is there, InvalidArgument for one that cannot be made, ResourceExhausted, Unavailable.
    """
    _create(target)
    try:
        with translated():
            reader = connect(source, durability, reader=True)
            try:
                return _copied(reader, target)
            finally:
                reader.close(True)  # noqa: FBT003
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def _create(target: Path) -> None:
    try:
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, files.FILE_MODE))
    except FileExistsError as error:
        raise AlreadyExists(f"path: {target} is there already; give another", metadata={"field": "path"}) from error
    except OSError as error:
        raise InvalidArgument.of("path", f"{target} cannot be made: {error.strerror}") from error


def _copied(reader: apsw.Connection, target: Path) -> tuple[int, int]:
    """SQLite's VACUUM INTO reads one moment and writes each page once; an empty file that is there is accepted as target."""
    run(reader, "PRAGMA query_only=0")
    run(reader, "VACUUM INTO ?", (str(target),))
    made = connect(target, Durability(), reader=True)
    try:
        sequence = int(value(made, PLAIN["sequence"]))
    finally:
        made.close(True)  # noqa: FBT003
    for companion in files.companions(target):
        companion.unlink(missing_ok=True)
    _sync(target)
    return files.size_of(target), sequence


def _sync(target: Path) -> None:
    descriptor = os.open(target, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

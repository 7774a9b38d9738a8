"""Connections to the file, and the one way to ask.

Every statement gives one row with one JSON value. apsw gives up and takes back the interpreter's lock at each step, and a
thread that wants it back waits for as long as another one computes (the switch interval): a row a step would make a read of
1,000 rows wait 1,000 times beside a busy event loop.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw

Bindings = Sequence[object] | Mapping[str, object]

WRITER_CACHE_KIB: Final = 32 * 1024
READER_CACHE_KIB: Final = 8 * 1024
_BUSY_MS: Final = 5_000


@dataclass(frozen=True, slots=True)
class Durability:
    """`fsync`: each commit survives a power cut (synchronous=FULL). `vfs`: name of another VFS, for tests of faults.

    Such a VFS has no shared memory, so that the connection locks the file for itself alone.
    """

    fsync: bool = True
    vfs: str | None = None


QUICK: Final = Durability(fsync=False)
"""For files that do not outlive the process."""


def connect(path: Path, durability: Durability, *, reader: bool = False, page_size: int = 4_096) -> apsw.Connection:
    """Open the file. Raises apsw.Error."""
    flags = apsw.SQLITE_OPEN_READWRITE | (0 if reader else apsw.SQLITE_OPEN_CREATE)
    connection = apsw.Connection(str(path), flags=flags, vfs=durability.vfs, statementcachesize=256)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        for pragma in _pragmas(durability, reader=reader, page_size=page_size):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except apsw.Error:
        connection.close(True)  # noqa: FBT003 - apsw takes it by position only
        raise
    return connection


def _pragmas(durability: Durability, *, reader: bool, page_size: int) -> Sequence[str]:
    alone = ("locking_mode=EXCLUSIVE",) if durability.vfs else ()
    common = (*alone, "temp_store=MEMORY", "trusted_schema=0", "recursive_triggers=0")
    if reader:
        return (*common, f"cache_size=-{READER_CACHE_KIB}", "query_only=1", "wal_autocheckpoint=0")
    return (
        f"page_size={page_size}",
        *common,
        "journal_mode=WAL",
        f"synchronous={'FULL' if durability.fsync else 'OFF'}",
        "fullfsync=1",
        "checkpoint_fullfsync=1",
        "wal_autocheckpoint=0",
        f"journal_size_limit={16 << 20}",
        f"cache_size=-{WRITER_CACHE_KIB}",
    )


def value(connection: apsw.Connection, sql: str, bindings: Bindings = ()) -> Any:
    """First column of the first row; None when there is none. Raises apsw.Error."""
    row = connection.execute(sql, bindings).fetchone()
    return None if row is None else row[0]


def rows(connection: apsw.Connection, sql: str, bindings: Bindings = ()) -> list[Any]:
    """The JSON array that a statement's only row holds. Raises apsw.Error."""
    text = value(connection, sql, bindings)
    return [] if text is None else list(json.loads(text))


def run(connection: apsw.Connection, sql: str, bindings: Bindings = ()) -> None:
    """A statement without an answer. Raises apsw.Error."""
    connection.execute(sql, bindings).fetchall()


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))


def dumps(data: object) -> str:
    """A JSON value to bind."""
    return _ENCODER.encode(data)


def numbers(values: Iterable[int]) -> str:
    """A JSON array of integers."""
    return f"[{','.join(map(str, values))}]"

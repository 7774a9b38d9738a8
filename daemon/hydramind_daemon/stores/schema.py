"""Schema versions: numbered migrations, applied in order, each in one transaction."""

from __future__ import annotations

import re
from importlib import resources
from typing import Final

import apsw

from hydramind_daemon.stores.connection import run, value
from hydramind_daemon.stores.errors import Damaged, NewerSchema

APPLICATION_ID: Final = 0x48594D44
"""'HYMD' in the file's header: tells our file from any other SQLite file."""

_NAME: Final = re.compile(r"(\d{4})_\w+\.sql")


def migrations() -> dict[int, str]:
    """Number → SQL, in order."""
    folder = resources.files("hydramind_daemon.stores") / "migrations"
    found = {int(match[1]): entry for entry in folder.iterdir() if (match := _NAME.fullmatch(entry.name))}
    return {number: found[number].read_text("utf-8") for number in sorted(found)}


def version_of(connection: apsw.Connection) -> int:
    """Schema version of the file; 0 for a new one. Raises Damaged when it is a file of somebody else."""
    version = int(value(connection, "PRAGMA user_version"))
    owner = int(value(connection, "PRAGMA application_id"))
    foreign = owner != APPLICATION_ID if version else value(connection, "SELECT count(*) FROM sqlite_schema") > 0
    if foreign:
        raise Damaged(f"{connection.db_filename('main')} is a SQLite file, but not a HydraMind store; move it away")
    return version


def migrate(connection: apsw.Connection) -> int:
    """Bring the file to the newest schema and return that. Raises NewerSchema, Damaged, apsw.Error."""
    steps = migrations()
    newest = max(steps)
    version = version_of(connection)
    if version > newest:
        raise NewerSchema(
            f"the store has schema {version}, this version knows {newest}; run the newer "
            "HydraMind, or give another HYDRAMIND_HOME",
            metadata={"schema": str(version), "known": str(newest)},
        )
    for number, sql in steps.items():
        if number > version:
            _step(connection, number, sql)
    return newest


def _step(connection: apsw.Connection, number: int, sql: str) -> None:
    run(connection, "BEGIN IMMEDIATE")
    try:
        connection.execute(sql).fetchall()
        run(connection, f"PRAGMA application_id={APPLICATION_ID}")
        run(connection, f"PRAGMA user_version={number}")
        run(connection, "COMMIT")
    except apsw.Error:
        if connection.in_transaction:
            run(connection, "ROLLBACK")
        raise

"""The embedded store: one SQLite file, one writer, many readers (docs/dev/store.md)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final

import apsw

from hydramind_daemon.services.ports import StoreStatus
from hydramind_daemon.stores import backup, files, rebuild, recovery, schema, verify
from hydramind_daemon.stores.batch import SqliteBatch
from hydramind_daemon.stores.connection import Durability, connect, run
from hydramind_daemon.stores.errors import Damaged, translate, translated
from hydramind_daemon.stores.list_sql import LISTS
from hydramind_daemon.stores.view import LONGEST_S, Readers, SqliteView
from hydramind_daemon.stores.writer import Writer
from hydramind_domain.errors import Unavailable

FILE_NAME: Final = "hydramind.db"
_PASSIVE_PAGES: Final = 4_096
"""From 16 MiB of write-ahead log on, commits move it into the file; readers are not disturbed."""
_RESTART_PAGES: Final = 10_240
"""From 40 MiB on, the writer waits for readers to leave, so that the log starts over: it stays below 64 MiB."""
_IDLE_WAIT_MS: Final = 20
_RESTART_WAIT_MS: Final = int(LONGEST_S * 1_000) + 500


class SqliteStore:
    """`Store` on one file. Made by `open` or `ephemeral`."""

    def __init__(self, path: Path, durability: Durability, *, temporary: bool = False) -> None:
        self._path = path
        self._durability = durability
        self._temporary = temporary
        self._schema = 0
        self._wal_pages = 0
        self._writing = False
        self._read_only_reason = ""
        self._readers = Readers(lambda: connect(path, durability, reader=True))
        self._writer = self._start()

    @classmethod
    def open(cls, path: Path, durability: Durability | None = None) -> SqliteStore:
        """Open or make the store in a file, and keep what can be read of a damaged one.

        Raises NewerSchema, Damaged, Unwritable (errors.py).
        """
        chosen = durability or Durability()
        files.prepare(path)
        recovery.check_write_ahead_log(path)
        recovery.check_main_file(path, chosen)
        return cls(path, chosen)

    @classmethod
    def ephemeral(cls) -> SqliteStore:
        """A store in a folder of its own that goes when it is closed; nothing is synced."""
        folder = Path(tempfile.mkdtemp(prefix="hydramind-"))
        path = folder / FILE_NAME
        files.prepare(path)
        return cls(path, Durability(fsync=False), temporary=True)

    def _start(self) -> Writer:
        try:
            connection = connect(self._path, self._durability)
            connection.execute("PRAGMA secure_delete=ON").fetchall()
            self._schema = schema.migrate(connection)
            connection.set_wal_hook(self._note_wal)
            return Writer(connection)
        except apsw.NotADBError as error:
            raise Damaged(f"{self._path} is not a SQLite file: {error}") from error
        except apsw.Error as error:
            raise translate(error) from error

    def _note_wal(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    @property
    def writer_connection(self) -> apsw.Connection:
        """The write connection, for the writer thread's own readers of the log."""
        return self._writer.connection

    # --- Store

    def begin(self) -> SqliteBatch:
        """Open the one write transaction. Raises Unavailable when the store cannot be written."""
        if self._read_only_reason:
            raise Unavailable(f"the store is read only: {self._read_only_reason}", reason="STORE_READ_ONLY")
        with translated():
            run(self._writer.connection, "BEGIN IMMEDIATE")
        self._writing = True
        return SqliteBatch(self._writer, self._finished)

    def _finished(self, kept: bool) -> None:
        self._writing = False
        if not kept:
            with suppress(apsw.Error):
                self._writer.reload()
        elif self._wal_pages >= _PASSIVE_PAGES:
            self._checkpoint_under_load()

    def _checkpoint_under_load(self) -> None:
        # A checkpoint that fails (full disk, busy reader) loses nothing: the next commit tries again.
        with suppress(apsw.Error):
            if self._wal_pages < _RESTART_PAGES:
                self._writer.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                return
            self._readers.end_overdue()
            self._checkpoint(apsw.SQLITE_CHECKPOINT_RESTART, _RESTART_WAIT_MS)

    def _checkpoint(self, mode: int, wait_ms: int) -> None:
        connection = self._writer.connection
        connection.set_busy_timeout(wait_ms)
        try:
            connection.wal_checkpoint(mode=mode)
            self._wal_pages = 0
        finally:
            connection.set_busy_timeout(_RESTART_WAIT_MS)

    def read(self) -> AbstractContextManager[SqliteView]:
        """Open a read transaction; readers never wait for the writer. Raises Unavailable."""
        return self._readers.view()

    def status(self) -> StoreStatus:
        """Health; cheap."""
        wal, _ = files.companions(self._path)
        with self.read() as view:
            sequence, memories, scopes, cascades = view.ask(LISTS["status"])
            missing = view.ask(LISTS["missing"])
        return StoreStatus(
            self._schema,
            sequence,
            memories,
            scopes,
            files.size_of(self._path),
            files.size_of(wal),
            cascades,
            self._read_only_reason,
            tuple(missing),
            files.quarantined(self._path),
        )

    def maintain(self) -> None:
        """Move the write-ahead log into the file and cut it, when no reader needs it; the writer calls this when idle."""
        self._readers.end_overdue()
        wal, _ = files.companions(self._path)
        if not self._writing and files.size_of(wal):
            with suppress(apsw.Error):
                self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE, _IDLE_WAIT_MS)

    def backup(self, path: str) -> tuple[int, int]:
        """Consistent copy into a new file (0600): (bytes, last sequence). Raises AlreadyExists, Unavailable."""
        return backup.copy(self._path, Path(path), self._durability)

    def verify(self) -> Iterator[str]:
        """Problems found, none when all is well."""
        return verify.problems(self._path, self._durability)

    def rebuild(self) -> tuple[int, int]:
        """Derived tables anew from the log (writer thread): (log records, memories). One transaction."""
        with translated():
            counted = rebuild.rebuild(self._writer)
            self._writer.reload()
        return counted

    def close(self) -> None:
        """Flush and close. Safe to call twice."""
        self._readers.close()
        with suppress(apsw.Error):
            self._writer.connection.close(True)  # noqa: FBT003
        if self._temporary:
            shutil.rmtree(self._path.parent, ignore_errors=True)

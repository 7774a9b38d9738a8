"""The embedded store: one SQLite file, one writer, many readers (docs/dev/store.md)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Final

import apsw

from hydramind_daemon.services.ports import StoreStatus
from hydramind_daemon.stores import backup, files, rebuild, recovery, schema, verify
from hydramind_daemon.stores.batch import SqliteBatch
from hydramind_daemon.stores.connection import QUICK, Durability, connect, run
from hydramind_daemon.stores.errors import DAMAGE, NotPermitted, translate, translated
from hydramind_daemon.stores.list_sql import LISTS
from hydramind_daemon.stores.log_sql import LOG
from hydramind_daemon.stores.view import LONGEST_S, Readers, SqliteView
from hydramind_daemon.stores.watermark import Watermark
from hydramind_daemon.stores.writer import Writer
from hydramind_domain.errors import HydraMindError, Unavailable
from hydramind_domain.model import TrustRules

FILE_NAME: Final = "hydramind.db"
DEFAULT_FLOOR: Final = TrustRules().floor
_PASSIVE_PAGES: Final = 4_096
"""From 16 MiB of write-ahead log on, commits move it into the file; readers are not disturbed."""
_RESTART_PAGES: Final = 10_240
"""From 40 MiB on, the writer waits for readers to leave, so that the log starts over: it stays below 64 MiB."""
_IDLE_WAIT_MS: Final = 20
_RESTART_WAIT_MS: Final = int(LONGEST_S * 1_000) + 500


class SqliteStore:
    """`Store` on one file. Made by `open` or `ephemeral`."""

    def __init__(self, path: Path, durability: Durability, *, floor: float, temporary: bool = False) -> None:
        self._path = path
        self._durability = durability
        self._floor = floor
        self._temporary = temporary
        self._schema = 0
        self._wal_pages = 0
        self._writing = False
        self._read_only_reason = ""
        self._readers = Readers(lambda: connect(path, durability, reader=True), self._failed)
        self._writer = self._start()
        self._watermark = Watermark(path)
        self.lost = self._look_for_missing()

    @classmethod
    def open(cls, path: Path, durability: Durability | None = None, *, floor: float = DEFAULT_FLOOR) -> SqliteStore:
        """Open or make the store in a file, and keep what can be read of a damaged one.

        `floor` is the least trust by configuration; `verify` recomputes with it. Raises NewerSchema, Damaged, Unwritable.
        """
        chosen = durability or Durability()
        files.prepare(path)
        cut = recovery.check_write_ahead_log(path)
        try:
            if not recovery.looks_damaged(path, chosen):
                store = cls(path, chosen, floor=floor)
                if cut is not None and not store.lost:
                    cut.unlink(missing_ok=True)
                return store
        except DAMAGE:
            pass  # met while opening: keep what can be read, as for damage that was known before
        recovery.salvage(path, chosen, Watermark(path).read_and_close())
        return cls(path, chosen, floor=floor)

    @classmethod
    def ephemeral(cls, *, floor: float = DEFAULT_FLOOR) -> SqliteStore:
        """A store in a folder of its own that goes when it is closed; nothing is synced."""
        path = Path(tempfile.mkdtemp(prefix="hydramind-")) / FILE_NAME
        files.prepare(path)
        return cls(path, Durability(fsync=False), floor=floor, temporary=True)

    def _start(self) -> Writer:
        """Raises apsw's errors of damage as they are, others as ours."""
        try:
            connection = connect(self._path, self._durability)
            connection.execute("PRAGMA secure_delete=ON").fetchall()
            self._schema = schema.migrate(connection)
            connection.set_wal_hook(self._note_wal)
            return Writer(connection)
        except DAMAGE:
            raise
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
            raise NotPermitted(f"{self._path} cannot be opened for writing: {error}") from error
        except apsw.Error as error:
            raise translate(error, self._path.parent) from error

    def _look_for_missing(self) -> bool:
        """Whether commits that were acknowledged are not there: they are listed, and their numbers never given again."""
        acknowledged, last = self._watermark.read(), self._writer.seq
        if acknowledged <= last:
            return False
        log, _ = files.companions(self._path)
        if files.size_of(log) and not recovery.was_set_aside(self._path):
            recovery.set_wal_aside(self._path)
        with translated():
            recovery.note_missing(self._writer.connection, recovery.ranges(range(last + 1, acknowledged + 1)))
            run(self._writer.connection, LOG["set floor"], (acknowledged,))
            self._writer.reload()
        return True

    def _failed(self, error: apsw.Error) -> HydraMindError:
        """An error of SQLite as one of ours. Damage stops writing and marks the file for the next start."""
        if isinstance(error, DAMAGE):
            self._read_only_reason = f"damage was met ({error}); restart the daemon, it keeps what can be read"
            with suppress(OSError):
                recovery.suspect_mark(self._path).touch(files.FILE_MODE)
        return translate(error, self._path.parent)

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
        try:
            run(self._writer.connection, "BEGIN IMMEDIATE")
        except apsw.Error as error:
            raise self._failed(error) from error
        self._writing = True
        return SqliteBatch(self._writer, self._finished, self._failed)

    def _finished(self, kept: bool) -> None:
        self._writing = False
        if not kept:
            with suppress(apsw.Error):
                self._writer.reload()
            return
        self._watermark.write(self._writer.seq)
        if self._wal_pages >= _PASSIVE_PAGES:
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
        found = verify.problems(self._copy_pages, self._floor)
        for problem in found:
            if problem.startswith(verify.DAMAGED):
                recovery.suspect_mark(self._path).touch(files.FILE_MODE)
            yield problem

    def _copy_pages(self, target: Path) -> None:
        """A copy of the file's pages as they are, damage included."""
        with (
            closing(connect(self._path, self._durability, reader=True)) as source,
            closing(connect(target, QUICK)) as copy,
            copy.backup("main", source, "main") as work,
        ):
            work.step()

    def rebuild(self) -> tuple[int, int]:
        """Derived tables anew from the log (writer thread): (log records, memories). One transaction."""
        with translated():
            counted = rebuild.rebuild(self._writer)
            self._writer.reload()
        return counted

    def close(self) -> None:
        """Flush and close. Safe to call twice."""
        self._readers.close()
        self._watermark.close()
        with suppress(apsw.Error):
            self._writer.connection.close(True)  # noqa: FBT003
        if self._temporary:
            shutil.rmtree(self._path.parent, ignore_errors=True)

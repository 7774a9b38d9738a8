"""A reader's transaction: one moment of the store, at most 5 s long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import apsw

from hydramind_daemon.stores.connection import run
from hydramind_daemon.stores.errors import translate
from hydramind_daemon.stores.lists import ListReads
from hydramind_daemon.stores.read_sql import PLAIN
from hydramind_domain.errors import HydraMindError, Unavailable

LONGEST_S: Final = 5.0
"""A read transaction keeps the write-ahead log from starting over."""

_STEPS_BETWEEN_CHECKS: Final = 1_000_000


class SqliteView(ListReads):
    """`ReadView`."""

    def __init__(
        self,
        connection: apsw.Connection,
        ends_at: float,
        translated: Callable[[apsw.Error], HydraMindError] = translate,
    ) -> None:
        super().__init__(connection, translated)
        self._ends_at = ends_at
        self.sequence = 0
        self.sequence = int(self._value(PLAIN["sequence"]))

    def _check(self) -> None:
        if time.monotonic() > self._ends_at:
            raise Unavailable("the read took longer than a read transaction may last; ask for less", reason="READ_TOO_LONG")

    def _moment(self, known: int | None) -> int | None:
        return None if known is not None and known >= self.sequence else known


class Readers:
    """Connections for reading: made on demand, kept for the next reader, at most `most` at a time."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        translated: Callable[[apsw.Error], HydraMindError] = translate,
        most: int = 8,
    ) -> None:
        self._connect = connect
        self._translated = translated
        self._idle: list[apsw.Connection] = []
        self._busy: dict[apsw.Connection, float] = {}
        self._slots = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._closed = False

    @contextmanager
    def view(self) -> Iterator[SqliteView]:
        """A view of this moment. Raises Unavailable when no reader becomes free in 5 s."""
        if not self._slots.acquire(timeout=LONGEST_S):
            raise Unavailable("too many reads at once; try again", reason="READERS_BUSY")
        try:
            ends_at = time.monotonic() + LONGEST_S
            connection = self._take(ends_at)
            try:
                yield self._begin(connection, ends_at)
            finally:
                self._give_back(connection)
        finally:
            self._slots.release()

    def _begin(self, connection: apsw.Connection, ends_at: float) -> SqliteView:
        try:
            connection.set_progress_handler(lambda: time.monotonic() > ends_at, _STEPS_BETWEEN_CHECKS)
            run(connection, "BEGIN")
        except apsw.Error as error:
            raise self._translated(error) from error
        return SqliteView(connection, ends_at, self._translated)

    def _take(self, ends_at: float) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise Unavailable("the store is closed", reason="STORE_CLOSED")
            connection = self._idle.pop() if self._idle else None
        if connection is None:
            try:
                connection = self._connect()
            except apsw.Error as error:
                raise self._translated(error) from error
        with self._lock:
            self._busy[connection] = ends_at
        return connection

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._lock:
            self._busy.pop(connection, None)
            closed = self._closed
        try:
            if connection.in_transaction:
                run(connection, "ROLLBACK")
        except apsw.Error:
            closed = True  # a connection that cannot end its transaction is not used again
        if closed:
            with suppress(apsw.Error):
                connection.close(True)  # noqa: FBT003
            return
        with self._lock:
            self._idle.append(connection)

    def end_overdue(self) -> None:
        """Stop reads whose time is up, and end transactions that somebody holds without asking anything."""
        now = time.monotonic()
        with self._lock:
            overdue = [connection for connection, ends_at in self._busy.items() if now > ends_at]
        for connection in overdue:
            connection.interrupt()
            with suppress(apsw.Error):
                if connection.in_transaction:
                    run(connection, "ROLLBACK")

    def close(self) -> None:
        """Close the idle connections; those in use close when they are given back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            with suppress(apsw.Error):
                connection.close(True)  # noqa: FBT003

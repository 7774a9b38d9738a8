"""Opening what a crash, a bad disk or an editor left behind.

What can be read of a damaged file is applied, in order, to a fresh one; the damaged one is set aside by name. Commits that
cannot be read are missing: their numbers are listed in the store's status and never given again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import apsw

from hydramind_daemon.stores import files, schema, wal
from hydramind_daemon.stores.batch import SqliteBatch
from hydramind_daemon.stores.connection import Durability, connect, dumps, rows, run, value
from hydramind_daemon.stores.errors import DAMAGE, Damaged
from hydramind_daemon.stores.log import LogRecord, record_of
from hydramind_daemon.stores.log_sql import LOG
from hydramind_daemon.stores.writer import Writer
from hydramind_domain.plan import Plan

_MAGIC: Final = b"SQLite format 3\0"
_TOGETHER: Final = 64
_GIVE_UP_AFTER: Final = 10_000
"""Unreadable sequences in a row after which the end is assumed, when nothing says where it is."""


def suspect_mark(path: Path) -> Path:
    """A file that says: damage was met while running; look closely at the next start."""
    return Path(f"{path}-suspect")


def set_wal_aside(path: Path) -> str:
    """Keep a copy of the write-ahead log by name; SQLite will overwrite it."""
    log, _ = files.companions(path)
    target = files.aside(log)
    shutil.copyfile(log, target)
    target.chmod(files.FILE_MODE)
    return target.name


def was_set_aside(path: Path) -> bool:
    """Whether a copy of this very log is there already."""
    log, _ = files.companions(path)
    size = files.size_of(log)
    return any(files.size_of(other) == size for other in path.parent.glob(f"{log.name}.damaged-*"))


def check_write_ahead_log(path: Path) -> Path | None:
    """Set a copy of a damaged write-ahead log aside before SQLite cuts it off at the damage.

    Answers the copy when the log does no more than end inside a frame: that is what `kill -9` in the middle of a commit
    leaves, and no damage unless an acknowledged commit turns out to be missing.
    """
    log, _ = files.companions(path)
    report = wal.inspect(log)
    if not report.damaged:
        return None
    copy = path.with_name(set_wal_aside(path))
    return None if report.commits_after_damage else copy


def looks_damaged(path: Path, durability: Durability) -> bool:
    """Whether the file is no SQLite file any more, or was suspected and does not pass SQLite's own check."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) not in {_MAGIC, b""}:
            return True
    mark = suspect_mark(path)
    if not mark.exists():
        return False
    try:
        with closing(connect(path, durability)) as connection:
            found = value(connection, "PRAGMA integrity_check(1)")
    except DAMAGE:
        found = "damaged"
    mark.unlink(missing_ok=True)
    return bool(found != "ok")


def ranges(missing: Iterable[int]) -> list[str]:
    """'7' and '9-12' for sequences, ascending."""
    spans: list[list[int]] = []
    for sequence in sorted(missing):
        if spans and spans[-1][1] == sequence - 1:
            spans[-1][1] = sequence
        else:
            spans.append([sequence, sequence])
    return [str(first) if first == last else f"{first}-{last}" for first, last in spans]


def note_missing(connection: apsw.Connection, found: list[str]) -> None:
    """Add to the list of missing sequences. Raises apsw.Error."""
    known = rows(connection, LOG["missing"])
    run(connection, LOG["set missing"], (dumps([*known, *(item for item in found if item not in known)]),))


def salvage(path: Path, durability: Durability, last_known: int) -> None:
    """Put what can be read of the file at `path` into a fresh one there, and set the old one aside.

    Raises Damaged, and leaves everything as it was, when nothing of it can be read.
    """
    made, work = (path.with_name(f"{path.name}.{use}") for use in ("recovering", "reading"))
    _remove(made, work)
    try:
        files.prepare(made)
        with closing(connect(made, durability)) as fresh:
            schema.migrate(fresh)
            kept = _copy(path, work, fresh, durability, last_known)
        if not kept:
            raise _unreadable(path)
        _swap(path, made)
    finally:
        _remove(made, work)


def _remove(*paths: Path) -> None:
    for path in paths:
        for file in (path, *files.companions(path)):
            file.unlink(missing_ok=True)


def _unreadable(path: Path) -> Damaged:
    return Damaged(
        f"{path} is damaged and nothing of it can be read; move it away or put a backup in its place",
        metadata={"path": str(path)},
    )


def _swap(path: Path, made: Path) -> None:
    """Set the damaged file with its log aside, and put the fresh one in its place."""
    target = files.aside(path)
    for old, new in zip((path, *files.companions(path)), (target, *files.companions(target)), strict=True):
        with suppress(FileNotFoundError):
            old.rename(new)
    made.rename(path)
    suspect_mark(path).unlink(missing_ok=True)


def _copy(path: Path, work: Path, fresh: apsw.Connection, durability: Durability, last_known: int) -> int:
    """Apply every readable record to the fresh store; the number of them."""
    with closing(_readable(path, work, fresh, durability)) as source:
        end = _end(source, last_known)
        keeper = LogKeeper(fresh)
        for record in _readable_records(source, end):
            keeper.keep(record)
        keeper.finish()
        with suppress(*DAMAGE):
            for root, scope in rows(source, LOG["projects"]):
                run(fresh, "INSERT OR IGNORE INTO projects VALUES(?, ?)", (root, scope))
        missing = [sequence for sequence in range(1, (end or keeper.last) + 1) if sequence not in keeper.kept]
        note_missing(fresh, ranges(missing))
        run(fresh, LOG["set floor"], (max(end, keeper.last),))
        run(fresh, "PRAGMA wal_checkpoint(TRUNCATE)")
        return len(keeper.kept)


def _readable(path: Path, work: Path, fresh: apsw.Connection, durability: Durability) -> apsw.Connection:
    """A connection to a copy of the damaged file. When its first page is gone, the fresh store's stands in for it."""
    for name, copy in zip((path, files.companions(path)[0]), (work, files.companions(work)[0]), strict=True):
        with suppress(FileNotFoundError):
            shutil.copyfile(name, copy)
    try:
        source = connect(work, durability)
        value(source, "SELECT count(*) FROM sqlite_schema")
    except DAMAGE:
        _lend_first_page(work, fresh)
        try:
            source = connect(work, durability)
        except DAMAGE as error:
            raise _unreadable(path) from error
    return source


def _lend_first_page(work: Path, fresh: apsw.Connection) -> None:
    """Write the fresh store's header and schema over the copy's; tables are at the same pages in both."""
    run(fresh, "PRAGMA wal_checkpoint(TRUNCATE)")
    with Path(fresh.db_filename("main")).open("rb") as file:
        page = bytearray(file.read(4_096))
    page[28:32] = (files.size_of(work) // 4_096).to_bytes(4, "big")
    page[32:40] = bytes(8)  # no free pages: what is not reachable is not needed
    with work.open("r+b") as file:
        file.write(page)


def _end(source: apsw.Connection, last_known: int) -> int:
    """Last sequence that may be there; 0 when it cannot be told."""
    try:
        return max(last_known, int(value(source, "SELECT coalesce(max(seq), 0) FROM log")))
    except DAMAGE:
        return last_known


def _readable_records(source: apsw.Connection, end: int) -> Iterator[LogRecord]:
    """Each record that can be read whole, with its contents, in order."""
    failed = 0
    sequence = 0
    while sequence < end if end else failed < _GIVE_UP_AFTER:
        sequence += 1
        record = _record(source, sequence)
        if record is None:
            failed += 1
        else:
            failed = 0
            yield record


def _record(source: apsw.Connection, sequence: int) -> LogRecord | None:
    def content_of(key: int) -> str:
        found = value(source, LOG["content"], (key,))
        if found is None:
            raise KeyError(key)
        return str(found)

    try:
        row = rows(source, LOG["one"], (sequence,))
        return record_of(row, content_of) if row else None
    except (*DAMAGE, apsw.SQLError, ValueError, KeyError, TypeError, IndexError):
        return None


class LogKeeper:
    """Applies records to the fresh store under their own numbers."""

    def __init__(self, fresh: apsw.Connection) -> None:
        self._writer = Writer(fresh)
        self._batch: SqliteBatch | None = None
        self._count = 0
        self._keys: set[int] = set()
        self.kept: set[int] = set()
        self.last = 0

    def keep(self, record: LogRecord) -> None:
        """Apply one record, without what refers to memories that could not be read."""
        if self._batch is None:
            run(self._writer.connection, "BEGIN IMMEDIATE")
            self._batch = SqliteBatch(self._writer, lambda _kept: None)
        self._keys.update(added.key for added in record.plan.added)
        self._writer.seq = record.seq - 1
        self._batch.savepoint()
        self._batch.apply(without_lost(record.plan, self._keys), record.meta)
        self._batch.release()
        self.kept.add(record.seq)
        self.last = record.seq
        self._count += 1
        if self._count % _TOGETHER == 0:
            self.finish()

    def finish(self) -> None:
        """Commit."""
        if self._batch is not None:
            self._batch.commit()
            self._batch = None


def without_lost(plan: Plan, there: set[int]) -> Plan:
    """The plan without what refers to memories that are not there."""

    def known(*keys: Any) -> bool:
        return all(key is None or key in there for key in keys)

    return replace(
        plan,
        added=tuple(replace(a, parents=tuple(p for p in a.parents if p in there)) for a in plan.added),
        derived=tuple(pair for pair in plan.derived if known(*pair)),
        states=tuple(s for s in plan.states if known(s.key)),
        contradicts=tuple(c for c in plan.contradicts if known(c.newer, c.older)),
        superseded=tuple(s for s in plan.superseded if known(s.old, s.new)),
        drops=tuple(d for d in plan.drops if known(d.cause, d.memory)),
        withdrawn=tuple(w for w in plan.withdrawn if known(w.memory)),
        resolved=tuple(r for r in plan.resolved if known(r.newer, r.older)),
        purged=tuple(key for key in plan.purged if known(key)),
        cascade_open=tuple(key for key in plan.cascade_open if known(key)),
        cascade_closed=tuple(key for key in plan.cascade_closed if known(key)),
        events=tuple(e for e in plan.events if known(e.memory, e.other)),
    )

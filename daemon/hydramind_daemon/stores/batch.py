"""A batch of commands: one transaction.

New memories are gathered and written in one step (flush.py); what changes memories that exist is written at once, behind a
SAVEPOINT, after everything gathered before it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

import apsw

from hydramind_daemon.services.ports import CommitMeta, StoredAnswer
from hydramind_daemon.stores.changes import apply_changes, is_simple
from hydramind_daemon.stores.connection import rows, run, value
from hydramind_daemon.stores.errors import translate
from hydramind_daemon.stores.flush import ScopeSlot, Unit, births_of, flush_values, wanted_terms
from hydramind_daemon.stores.packing import BLOCK, project_name
from hydramind_daemon.stores.snapshot import BatchSnapshot
from hydramind_daemon.stores.write_sql import FLUSH, WRITES
from hydramind_daemon.stores.writer import Writer, claim_item, key_item
from hydramind_domain.errors import HydraMindError, Internal, InvalidArgument
from hydramind_domain.model import Instant
from hydramind_domain.plan import Plan

_T = TypeVar("_T")
_PENDING_CHARS: Final = 4 << 20
"""Gathered content beyond this is written before the batch ends, so that a batch of long texts does not fill the memory."""


class SqliteBatch:
    """`WriteBatch`. After any error of the store nothing of the batch is kept and every further call raises that error."""

    def __init__(
        self,
        writer: Writer,
        finished: Callable[[bool], None],
        translated: Callable[[apsw.Error], HydraMindError] = translate,
    ) -> None:
        self._writer = writer
        self._finished = finished
        self._translated = translated
        self._pending: list[Unit] = []
        self._pending_ids: set[str] = set()
        self._pending_chars = 0
        self._written_key = writer.last_key
        self._in_command = self._has_savepoint = False
        self._mark = 0
        self._position = (writer.seq, writer.last_at, writer.last_key)
        self._counters: dict[str, tuple[int, int]] = {}
        self._lost: HydraMindError | None = None
        self._open = True
        self.snapshot = BatchSnapshot(self)

    # --- what the snapshot asks

    @property
    def connection(self) -> apsw.Connection:
        """The write connection."""
        return self._writer.connection

    def failed(self, error: apsw.Error) -> HydraMindError:
        """End the batch because of an error of the store; that error, to be raised."""
        self._lost = self._translated(error)
        self._take_back()
        return self._lost

    def next_key(self) -> int:
        """Key of the next new memory."""
        return self._writer.last_key + 1

    def written_key(self) -> int:
        """Largest key that is written."""
        return self._written_key

    def holds(self, memory_id: str) -> bool:
        """Whether a new memory with this id is not written yet."""
        return memory_id in self._pending_ids

    def may_have_seen(self, item: bytes) -> bool:
        """Whether the filter of claims and idempotency keys may hold an item."""
        return item in self._writer.seen

    def write_pending(self) -> None:
        """Write what is applied; the running command's own part behind a SAVEPOINT."""
        own = bool(self._pending[self._mark :]) if self._in_command else False
        self._guarded(lambda: self._write(savepoint=own))

    # --- WriteBatch

    def last_commit_at(self) -> Instant:
        """Transaction time of the last commit, including this batch's; 0 in an empty store."""
        return self._writer.last_at

    def savepoint(self) -> None:
        """Begin a command."""
        self._raise_lost()
        self._in_command, self._has_savepoint = True, False
        self._mark = len(self._pending)
        self._position = (self._writer.seq, self._writer.last_at, self._writer.last_key)
        self._counters = self._writer.written()

    def undo(self) -> None:
        """Take back everything since `savepoint`. Raises when the store has lost the whole transaction."""
        self._raise_lost()
        if not self._in_command:
            raise Internal("there is no command to take back", reason="NO_COMMAND")
        if self._has_savepoint:
            self._guarded(self._undo_savepoint)
        else:
            for unit in self._pending[self._mark :]:
                self._pending_ids -= {added.memory_id for added in unit.plan.added}
            del self._pending[self._mark :]
            self._writer.restore(self._counters)
        self._writer.seq, self._writer.last_at, self._writer.last_key = self._position
        self._in_command = self._has_savepoint = False

    def _undo_savepoint(self) -> None:
        run(self.connection, "ROLLBACK TO command")
        run(self.connection, "RELEASE command")
        self._pending.clear()
        self._pending_ids.clear()
        self._writer.reload()
        self._written_key = self._writer.last_key

    def apply(self, plan: Plan, meta: CommitMeta) -> int:
        """Apply a plan, append its log record, store its answer under its key; return the commit sequence."""
        self._raise_lost()
        for added in plan.added:
            _check_text(added.content)
        unit = self._guarded(lambda: self._unit(plan, meta))
        self._pending.append(unit)
        self._pending_ids.update(added.memory_id for added in plan.added)
        self._pending_chars += sum(len(added.content) for added in plan.added)
        if not is_simple(plan):
            self._guarded(lambda: self._change(unit))
        elif self._pending_chars > _PENDING_CHARS:
            self.write_pending()
        return unit.seq

    def release(self) -> None:
        """End a command, keeping it."""
        self._raise_lost()
        if self._has_savepoint:
            self._guarded(lambda: run(self.connection, "RELEASE command"))
        self._in_command = self._has_savepoint = False

    def answer(self, scope: str, method: str, key: str) -> StoredAnswer | None:
        """What was answered to an idempotency key before."""
        self._raise_lost()
        if not self.may_have_seen(key_item(scope, method, key)):
            return None
        self.write_pending()
        row = self._guarded(lambda: rows(self.connection, WRITES["answer"], (scope, method, key)))
        return StoredAnswer(bytes.fromhex(row[0]), row[1], bytes.fromhex(row[2])) if row else None

    def map_project(self, root: str, wanted: str) -> str:
        """Scope name of a project root: the stored mapping, else `wanted`, else `wanted`-<6 hex> when another root has it."""
        self._raise_lost()
        return self._guarded(lambda: self._map_project(root, wanted))

    def _map_project(self, root: str, wanted: str) -> str:
        known = value(self.connection, WRITES["project"], (root,))
        if known is not None:
            return str(known)
        self._write(savepoint=self._in_command)
        taken = value(self.connection, WRITES["other root"], (wanted, root)) is not None
        scope = project_name(root, wanted, taken=taken)
        run(self.connection, WRITES["map project"], (root, scope))
        return scope

    def commit(self) -> None:
        """Make it durable. Raises ResourceExhausted, Unavailable or Internal; then nothing was kept."""
        self._raise_lost()
        self._guarded(lambda: self._write(savepoint=False))
        self._guarded(lambda: run(self.connection, "COMMIT"))
        self._end(kept=True)

    def rollback(self) -> None:
        """Keep nothing. Never raises."""
        if self._open:
            self._take_back()

    # --- inside

    def _guarded(self, action: Callable[[], _T]) -> _T:
        """Run something on the database; its error ends the batch, whatever SQLite has kept of the transaction."""
        self._raise_lost()
        try:
            return action()
        except apsw.Error as error:
            raise self.failed(error) from error

    def _raise_lost(self) -> None:
        if self._lost is not None:
            raise self._lost
        if not self._open:
            raise Internal("the batch has ended", reason="BATCH_ENDED")

    def _take_back(self) -> None:
        with suppress(apsw.Error):
            if self.connection.in_transaction:
                run(self.connection, "ROLLBACK")
        self._end(kept=False)

    def _end(self, *, kept: bool) -> None:
        self._open = False
        self._finished(kept)

    def _unit(self, plan: Plan, meta: CommitMeta) -> Unit:
        writer = self._writer
        scope = writer.scope(plan.scope)
        births = births_of(plan, scope)
        writer.seq += 1
        writer.last_at = meta.at
        writer.last_key = max([writer.last_key, *(added.key for added in plan.added)])
        for added in plan.added:
            writer.seen.add(claim_item(added.claim_hash))
        if meta.idempotency_key:
            writer.seen.add(key_item(meta.scope, meta.method, meta.idempotency_key))
        return Unit(writer.seq, plan, meta, scope, scope.written, writer.last_key, births)

    def _change(self, unit: Unit) -> None:
        self._write(savepoint=self._in_command)
        apply_changes(self.connection, unit)
        if unit.plan.purged:
            self._writer.forget_terms()

    def _write(self, *, savepoint: bool) -> None:
        """Write what is pending. With `savepoint`, the running command's part comes behind one."""
        if savepoint and not self._has_savepoint:
            self._flush(self._pending[: self._mark])
            run(self.connection, "SAVEPOINT command")
            self._has_savepoint = True
            self._flush(self._pending[self._mark :])
        else:
            self._flush(self._pending)
        self._pending = []
        self._pending_ids = set()
        self._pending_chars = self._mark = 0

    def _flush(self, units: list[Unit]) -> None:
        if not units:
            return
        terms, new = self._writer.terms(wanted_terms(units))
        run(self.connection, FLUSH, flush_values(units, terms, new))
        self._written_key = max(self._written_key, units[-1].last_key)
        for unit in {unit.scope.id: unit for unit in units}.values():
            self._sum_blocks(unit.scope, unit.written)

    def _sum_blocks(self, scope: ScopeSlot, written: int) -> None:
        """Blocks that are complete are summed up, so that a term's frequency is one look and one short walk."""
        complete = written // BLOCK
        if complete <= scope.counted_block:
            return
        for block in range(scope.counted_block, complete):
            run(self.connection, WRITES["sum block"], (scope.id, block))
        run(self.connection, WRITES["counted"], (complete, scope.id))
        scope.counted_block = complete


def _check_text(content: str) -> None:
    """Refuse what SQLite would cut off or cannot hold."""
    if "\0" in content:
        raise InvalidArgument.of("content", "has a NUL character; take it out")
    try:
        content.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgument.of("content", "has half a surrogate pair; send valid Unicode") from error

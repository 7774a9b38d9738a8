"""Derived tables anew: every log record applied again to empty tables, contents and log left as they are."""

# Reason: only fixed words of this package are put together; values are always bound.
# ruff: noqa: S608

from __future__ import annotations

from dataclasses import replace
from typing import Final

import apsw

from hydramind_daemon.stores.changes import apply_changes, is_simple
from hydramind_daemon.stores.connection import run, value
from hydramind_daemon.stores.flush import Unit, births_of, derived_values, wanted_terms
from hydramind_daemon.stores.log import LogRecord, records
from hydramind_daemon.stores.log_sql import DERIVED, LOG
from hydramind_daemon.stores.packing import BLOCK
from hydramind_daemon.stores.write_sql import FLUSH, WRITES
from hydramind_daemon.stores.writer import Writer

_TOGETHER: Final = 256


def rebuild(writer: Writer) -> tuple[int, int]:
    """(log records, memories), in one transaction: readers see the old tables until it ends. Raises apsw.Error."""
    connection = writer.connection
    run(connection, "BEGIN IMMEDIATE")
    try:
        for table in DERIVED:
            run(connection, f"DELETE FROM {table}")
        run(connection, LOG["reset scopes"])
        writer.reload()
        counted = _Rebuild(writer).all()
        memories = value(connection, LOG["memories"])
        run(connection, "COMMIT")
    except apsw.Error:
        if connection.in_transaction:
            run(connection, "ROLLBACK")
        writer.reload()
        raise
    return counted, int(memories)


class _Rebuild:
    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._units: list[Unit] = []

    def all(self) -> int:
        count = 0
        for record in records(self._writer.connection):
            count += 1
            unit = self._unit(record)
            self._units.append(unit)
            if not is_simple(unit.plan):
                self._flush()
                apply_changes(self._writer.connection, unit)
                if unit.plan.purged:
                    self._writer.forget_terms()
            elif len(self._units) >= _TOGETHER:
                self._flush()
        self._flush()
        return count

    def _unit(self, record: LogRecord) -> Unit:
        scope = self._writer.scope(record.plan.scope)
        births = births_of(record.plan, scope)
        meta = replace(record.meta, idempotency_key="")
        return Unit(record.seq, record.plan, meta, scope, scope.written, record.last_key, births)

    def _flush(self) -> None:
        units, self._units = self._units, []
        if not units:
            return
        connection = self._writer.connection
        terms, new = self._writer.terms(wanted_terms(units))
        values, entities = derived_values(units, terms, new)
        run(connection, FLUSH, values)
        run(connection, LOG["set entities"], (entities,))
        for unit in {unit.scope.id: unit for unit in units}.values():
            complete = unit.written // BLOCK
            for block in range(unit.scope.counted_block, complete):
                run(connection, WRITES["sum block"], (unit.scope.id, block))
            run(connection, WRITES["counted"], (complete, unit.scope.id))
            unit.scope.counted_block = max(complete, unit.scope.counted_block)

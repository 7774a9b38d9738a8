"""Reading the log in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import apsw

from hydramind_daemon.services.ports import CommitMeta
from hydramind_daemon.stores.connection import rows
from hydramind_daemon.stores.log_sql import LOG
from hydramind_daemon.stores.packing import actor_of, unpack_record
from hydramind_domain import plan_codec
from hydramind_domain.plan import Plan

_PAGE: Final = 256


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A commit as it was applied."""

    seq: int
    plan: Plan
    meta: CommitMeta
    last_key: int


def record_of(row: Sequence[Any], content_of: Callable[[int], str]) -> LogRecord:
    """A record from its row. Raises ValueError when its plan cannot be read."""
    seq, at, scope, method, actor, last_key, key, request_hash, outcome, plan = row
    meta = CommitMeta(
        at, actor_of(actor), method, scope, key or "", bytes.fromhex(request_hash or ""), bytes.fromhex(outcome or "")
    )
    return LogRecord(seq, plan_codec.decode(unpack_record(bytes.fromhex(plan)), content_of), meta, last_key)


def records(connection: apsw.Connection, after: int = 0, until: int | None = None) -> Iterator[LogRecord]:
    """Records in order, with contents. Raises apsw.Error."""
    last_key = 0
    if after:
        last_key = connection.execute("SELECT last_key FROM log WHERE seq = ?", (after,)).get
    while page := rows(connection, LOG["page"], (after, _PAGE)):
        contents: dict[int, str] = dict(rows(connection, LOG["contents"], (last_key, page[-1][5])))
        for row in page:
            if until is not None and row[0] > until:
                return
            yield record_of(row, lambda key, known=contents: known.get(key, ""))  # type: ignore[misc]
        after, last_key = page[-1][0], page[-1][5]

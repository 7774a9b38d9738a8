"""Looking for what is wrong: SQLite's own check, trust from standing drops, and the log replayed beside the tables.

Works on a copy, so that no read transaction on the store itself outlives the copying.
"""

# Reason: only table and column names of this module are put together.
# ruff: noqa: S608

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import apsw

from hydramind_daemon.stores import files, schema
from hydramind_daemon.stores.connection import QUICK, connect, rows, run
from hydramind_daemon.stores.errors import translated
from hydramind_daemon.stores.log import records
from hydramind_daemon.stores.packing import CURRENT_BELOW, STATUSES, term_ids
from hydramind_daemon.stores.recovery import LogKeeper
from hydramind_domain.model import Status
from hydramind_domain.trust import trust_of

_SHOWN: Final = 5
_PAGE: Final = 2_000
_COMPARED: Final[dict[str, str]] = {
    "scopes": "id, name, written, counted_block, last_write_at, active, contradicted, superseded, forgotten, purged"
    " FROM {0}.scopes WHERE last_write_at IS NOT NULL",
    "memories": "key, memory_id, scope, created_at, created_seq, valid_from, source, entities, content FROM {0}.memories",
    "facts": "key, scope, ordinal, status, trust, valid_from, valid_to, version, support, length FROM {0}.facts",
    "past": "* FROM {0}.past",
    "entities": "* FROM {0}.entities",
    "about": "* FROM {0}.about",
    "derived": "* FROM {0}.derived",
    "contradicts": "* FROM {0}.contradicts",
    "superseded": "* FROM {0}.superseded",
    "drops": "* FROM {0}.drops",
    "cascades": "* FROM {0}.cascades",
    "events": "* FROM {0}.events",
    "postings": "p.scope, p.block, t.term, p.key FROM {0}.postings p CROSS JOIN {0}.terms t ON t.id = p.term",
    "frequencies": "f.scope, t.term, f.memories FROM {0}.frequencies f CROSS JOIN {0}.terms t ON t.id = f.term"
    " WHERE f.memories > 0",
    "slots": "s.entity, t.term, s.key FROM {0}.slots s CROSS JOIN {0}.terms t ON t.id = s.term",
}


DAMAGED: Final = "the file is damaged: "


def problems(copy_to: Callable[[Path], None], floor: float) -> Iterator[str]:
    """Problems found, none when all is well. `copy_to` copies the store's pages into a new file."""
    with tempfile.TemporaryDirectory(prefix="hydramind-verify-") as folder, translated():
        copy, again = Path(folder) / "copy.db", Path(folder) / "again.db"
        try:
            copy_to(copy)
        except apsw.CorruptError as error:
            yield f"{DAMAGED}{error}"
            return
        with closing(connect(copy, QUICK)) as connection:
            run(connection, "PRAGMA temp_store=FILE")
            found = _file_check(connection)
            yield from found
            if not found:
                yield from _trust(connection, floor)
                _replay(again, connection)
                run(connection, "ATTACH ? AS again", (str(again),))
                yield from _differences(connection)
                yield from _masks(connection)


def _file_check(connection: apsw.Connection) -> list[str]:
    """What SQLite's integrity check says, unless all is well."""
    try:
        said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    except apsw.CorruptError as error:
        said = [str(error)]
    return [] if said == ["ok"] else [f"{DAMAGED}{line}" for line in said]


def _trust(connection: apsw.Connection, floor: float) -> Iterator[str]:
    """Trust and status of every memory against its standing drops."""
    last = 0
    while page := rows(connection, _TRUST_PAGE, (last, _PAGE)):
        amounts: defaultdict[int, list[float]] = defaultdict(list)
        contradicted = set()
        for key, amount, hop in rows(connection, _DROPS_PAGE, (page[0][0], page[-1][0])):
            amounts[key].append(amount)
            if hop == 0:
                contradicted.add(key)
        for key, trust, status in page:
            expected = trust_of(amounts[key], floor)
            if trust != expected:
                yield f"memory {key}: trust is {trust}, its standing drops give {expected}"
            if status < CURRENT_BELOW and (STATUSES[status] is Status.CONTRADICTED) != (key in contradicted):
                yield f"memory {key}: is {STATUSES[status].value}, its standing drops say otherwise"
        last = page[-1][0]


_TRUST_PAGE: Final = """SELECT json_group_array(json(row)) FROM (SELECT json_array(key, trust, status) AS row FROM facts
 WHERE key > ? ORDER BY key LIMIT ?)"""
_DROPS_PAGE: Final = """SELECT json_group_array(json_array(memory, amount, hop)) FROM drops
 WHERE memory BETWEEN ? AND ? AND withdrawn_seq IS NULL"""


def _differences(connection: apsw.Connection) -> Iterator[str]:
    for table, columns in _COMPARED.items():
        here, there = columns.format("main"), columns.format("again")
        for one, other, what in (
            (here, there, "is in the tables, not in the log"),
            (there, here, "is in the log, not in the tables"),
        ):
            sql = f"SELECT * FROM (SELECT {one} EXCEPT SELECT {other}) LIMIT {_SHOWN}"
            for row in connection.execute(sql).fetchall():
                yield f"{table}: {_short(row)} {what}"


def _short(row: tuple[object, ...]) -> str:
    """A row without long texts: contents do not belong into messages."""
    return ", ".join(str(item)[:40] if not isinstance(item, bytes) else item.hex()[:16] for item in row)


def _replay(target: Path, source: apsw.Connection) -> None:
    """A fresh store at `target`, filled from the log of `source`, with scopes under the same numbers."""
    files.prepare(target)
    with closing(connect(target, QUICK)) as connection:
        schema.migrate(connection)
        for scope in source.execute("SELECT id, name FROM scopes").fetchall():
            run(connection, "INSERT INTO scopes(id, name) VALUES(?, ?)", scope)
        keeper = LogKeeper(connection)
        for record in records(source):
            keeper.keep(record)
        keeper.finish()
        run(connection, "PRAGMA wal_checkpoint(TRUNCATE)")


def _masks(connection: apsw.Connection) -> Iterator[str]:
    """The words in each memory's own row, which recall's masks come from."""
    here, there = (_dictionary(connection, name) for name in ("main", "again"))
    last = 0
    while page := rows(connection, _TERMS_PAGE, (last, _PAGE)):
        for key, one, other, slots, other_slots in page:
            words = _words(here, term_ids(bytes.fromhex(one))) == _words(there, term_ids(bytes.fromhex(other)))
            if not words or _words(here, json.loads(slots)) != _words(there, json.loads(other_slots)):
                yield f"facts: memory {key} has other words than its content"
        last = page[-1][0]


def _dictionary(connection: apsw.Connection, name: str) -> dict[int, str]:
    return {int(str(term_id)): str(term) for term_id, term in connection.execute(f"SELECT id, term FROM {name}.terms")}


def _words(dictionary: dict[int, str], ids: Iterable[int]) -> set[str | None]:
    return {dictionary.get(term_id) for term_id in ids}


_TERMS_PAGE: Final = """SELECT json_group_array(json(row)) FROM (SELECT json_array(f.key, hex(f.terms), hex(g.terms), f.slots,
 g.slots) AS row FROM main.facts f CROSS JOIN again.facts g ON g.key = f.key WHERE f.key > ? ORDER BY f.key LIMIT ?)"""

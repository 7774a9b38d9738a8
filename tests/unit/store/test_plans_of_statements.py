"""SQLite's plan of every statement: no scan of a table that grows with the number of memories."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from hydramind_daemon.stores import recall_sql
from hydramind_daemon.stores.list_sql import LIST_TIMED, LISTS
from hydramind_daemon.stores.log_sql import LOG
from hydramind_daemon.stores.read_sql import EDGES, PLAIN, TIMED, Timed
from hydramind_daemon.stores.store import SqliteStore
from hydramind_daemon.stores.write_sql import SCANS, WRITES

ALLOWED_SCANS = frozenset({"projects", "scopes", "meta"})
"""Tables with a row a folder or scope, and two rows of settings."""
OF_OPEN_ONES = "SCAN cascades USING INDEX cascades_open"
"""The index holds open cascades only."""
WHOLE_LOG = frozenset({"memories", "projects"})
"""Statements of rebuild and recovery that count or copy a whole table on purpose."""


def both(name: str, question: Timed) -> Iterator[tuple[str, str]]:
    yield f"{name}, now", question.now
    yield f"{name}, then", question.then


def statements() -> Iterator[tuple[str, str]]:
    for name, question in (*TIMED.items(), *LIST_TIMED.items()):
        yield from both(name, question)
    for kind, questions in EDGES.items():
        for number, question in enumerate(questions):
            yield from both(f"edges {kind} {number}", question)
    yield from PLAIN.items()
    yield from LISTS.items()
    yield from ((name, sql) for name, sql in WRITES.items() if name not in SCANS)
    yield from ((name, sql) for name, sql in LOG.items() if name not in WHOLE_LOG)
    for name in ("TERMS", "TERMS_THEN", "ORDINAL_THEN", "PURGED_THEN", "ENTITY_TOTAL", "LINKED"):
        yield name, getattr(recall_sql, name)
    for by_entities in (False, True):
        question = recall_sql.candidates(5, by_entities=by_entities, also_about=not by_entities, some_of=2 if by_entities else 0)
        yield from both(f"candidates {by_entities}", question)


@pytest.fixture(scope="module")
def filled() -> Iterator[SqliteStore]:
    store = SqliteStore.ephemeral()
    yield store
    store.close()


def plan_of(store: SqliteStore, sql: str) -> list[str]:
    cursor = store.writer_connection.execute(f"EXPLAIN QUERY PLAN {sql}", Anything())
    return [str(row[3]) for row in cursor]


class Anything(dict):
    """A binding for every name and position: plans do not depend on values here."""

    def __missing__(self, key: str) -> int:
        return 1


def scans(plan: list[str]) -> list[str]:
    """Steps that walk a whole table or index of the file (json_each, subqueries and constants are not of the file)."""
    found = []
    for step in plan:
        match = re.match(r"SCAN (\w+)(.*)", step)
        if match is None or step == OF_OPEN_ONES or "VIRTUAL TABLE" in step:
            continue
        if match[1] != "CONSTANT" and not is_subquery(match[1], plan):
            found.append(step)
    return found


def is_subquery(name: str, plan: list[str]) -> bool:
    return any(re.match(rf"(CO-ROUTINE|MATERIALIZE) {name}\b", step) for step in plan)


TABLES = {"f": "facts", "m": "memories", "s": "scopes", "p": "projects"}


@pytest.mark.parametrize(("name", "sql"), [pytest.param(n, s, id=n) for n, s in statements()])
def test_no_statement_scans_what_grows_with_the_memories(filled: SqliteStore, name: str, sql: str) -> None:
    sql = re.sub(r"\?(\d*)", lambda m: f":p{m[1]}", sql)
    bad = [step for step in scans(plan_of(filled, sql)) if TABLES.get(step.split()[1], step.split()[1]) not in ALLOWED_SCANS]
    assert bad == [], plan_of(filled, sql)


def test_a_scan_would_be_noticed(filled: SqliteStore) -> None:
    assert scans(plan_of(filled, "SELECT f.trust FROM facts f WHERE f.trust < :p")) == ["SCAN f"]
    assert scans(plan_of(filled, "SELECT count(*) FROM postings p WHERE p.term = :p")) != []

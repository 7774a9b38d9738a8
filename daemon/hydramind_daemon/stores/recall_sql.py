"""Statements of recall: frequencies, candidates, masks.

Postings are walked block by block from the newest; the terms of a candidate come from its own row (`facts.terms`), so that a
common word in a query costs a look into the candidate and never a walk of its postings.
"""

# Reason: only fixed words of this package are put together; values are always bound.
# ruff: noqa: S608

from __future__ import annotations

from functools import lru_cache
from typing import Final

from hydramind_daemon.stores.read_sql import Timed

BITS: Final = 60
"""Bits of a mask in one column: SQLite's integers are signed 64-bit."""

TERMS: Final = """SELECT json_group_array(json_array(j.key, t.id, coalesce(f.memories, 0) + (SELECT count(*) FROM postings p
 WHERE p.scope = :scope AND p.block = :block AND p.term = t.id))) FROM json_each(:terms) j
 CROSS JOIN terms t ON t.term = j.value LEFT JOIN frequencies f ON f.scope = :scope AND f.term = t.id"""
"""(position, id, memories that hold it) of the terms that exist. `:block` is the one that is not summed up yet."""

TERMS_THEN: Final = """SELECT json_group_array(json_array(j.key, t.id, (SELECT count(*) FROM json_each(:blocks) b
 CROSS JOIN postings p ON p.scope = :scope AND p.block = b.value AND p.term = t.id WHERE p.key <= :bound)))
 FROM json_each(:terms) j CROSS JOIN terms t ON t.term = j.value"""

ORDINAL_THEN: Final = """SELECT coalesce(max((SELECT f.ordinal FROM facts f WHERE f.scope = :scope AND f.status = j.value
 AND f.key <= :bound ORDER BY f.key DESC LIMIT 1)), 0) FROM json_each('[0,1,2,3,4]') j"""

PURGED_THEN: Final = """SELECT count(*) FROM facts f WHERE f.scope = :scope AND f.status = 4 AND f.key <= :bound
 AND NOT EXISTS (SELECT 1 FROM past p WHERE p.key = f.key AND p.until_seq > :known)"""

ENTITY_TOTAL: Final = "SELECT coalesce(sum(e.memories), 0) FROM json_each(:ids) k CROSS JOIN entities e ON e.id = k.value"

LINKED: Final = """SELECT json_group_array(json_array(a.key, a.entity)) FROM json_each(:keys) k CROSS JOIN json_each(:ids) e
 CROSS JOIN about a ON a.entity = e.value AND a.key = k.value"""

_BY_TERMS: Final = """(SELECT DISTINCT p.key AS key FROM json_each(:blocks) b CROSS JOIN json_each(:required) t
 CROSS JOIN postings p ON p.scope = :scope AND p.block = b.value AND p.term = t.value) c"""
_BY_ENTITIES: Final = """(SELECT DISTINCT a.key AS key FROM json_each(:ids) e
 CROSS JOIN about a ON a.entity = e.value AND a.key < :before) c"""
_IS_ABOUT: Final = """ AND EXISTS (SELECT 1 FROM json_each(:ids) e CROSS JOIN about a ON a.entity = e.value AND a.key = f.key)"""


def mask_columns(count: int) -> list[str]:
    """One column for each 60 of `count` terms; term i is bound as :t<i> (packed) and its bit in the column as :s<i>."""
    return [
        " | ".join(f"((instr(f.terms, :t{i}) > 0) << :s{i})" for i in range(start, min(start + BITS, count)))
        for start in range(0, count, BITS)
    ]


@lru_cache(maxsize=512)
def candidates(count: int, *, by_entities: bool, also_about: bool, some_of: int) -> Timed:
    """Candidates with masks over `count` terms, newest first, at most :limit.

    By postings of :required, or by :ids (entities) when those are fewer. `also_about`: they must be about one of :ids.
    `some_of` > 0: they must hold one of the required terms :r0…
    """
    source = _BY_ENTITIES if by_entities else _BY_TERMS
    rule = _IS_ABOUT if also_about else ""
    if some_of:
        rule += " AND (" + " OR ".join(f"instr(f.terms, :r{i}) > 0" for i in range(some_of)) + ")"

    def form(status: str, trust: str, valid_to: str, past: str, keyed: str) -> str:
        columns = ["f.key", "f.length", trust, status, "f.valid_from", valid_to, *mask_columns(count)]
        named = ", ".join(f"{column} AS c{i}" for i, column in enumerate(columns))
        names = ", ".join(f"c{i}" for i in range(len(columns)))
        return f"""SELECT json_group_array(json_array({names})) FROM (SELECT {named} FROM {source}
 CROSS JOIN facts f ON f.key = c.key {past} WHERE {status} < 3{keyed}{rule} ORDER BY c.key DESC LIMIT :limit)"""

    past = """LEFT JOIN past p ON p.key = f.key AND p.until_seq =
 (SELECT q.until_seq FROM past q WHERE q.key = f.key AND q.until_seq > :known ORDER BY q.until_seq LIMIT 1)"""
    status, trust, valid_to = (f"iif(p.key IS NULL, f.{column}, p.{column})" for column in ("status", "trust", "valid_to"))
    return Timed(form("f.status", "f.trust", "f.valid_to", "", ""), form(status, trust, valid_to, past, " AND f.key <= :bound"))

"""Statements of readers, in two forms: of the newest state, and as known after a commit (`:known`).

A memory's state after commit k is the first one in `past` that was replaced later than k, else the one in `facts`.
The plan of each statement is tested: none scans memories, facts, postings, events or edges.
"""

# Reason: only fixed words of this package are put together; values are always bound.
# ruff: noqa: S608

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Timed:
    """One question in both forms."""

    now: str
    then: str

    def at(self, known: int | None) -> str:
        """The form for a sequence."""
        return self.now if known is None else self.then


_STATE_NOW: Final = "f.status, f.trust, f.valid_to, f.version, f.support"
_STATE_THEN: Final = ", ".join(
    f"iif(p.key IS NULL, f.{column}, p.{column})" for column in ("status", "trust", "valid_to", "version", "support")
)
_PAST: Final = """LEFT JOIN past p ON p.key = f.key AND p.until_seq =
 (SELECT q.until_seq FROM past q WHERE q.key = f.key AND q.until_seq > :known ORDER BY q.until_seq LIMIT 1)"""


_NOW: Final = {
    "state": _STATE_NOW,
    "status": "f.status",
    "past": "",
    "born": "",
    "keyed": "",
    "stands": "c.ended_seq IS NULL",
    "drawn": "",
    "was": "",
    "late": "",
    "made": "",
    "held": "x.withdrawn_seq IS NULL",
}
_THEN: Final = {
    "state": _STATE_THEN,
    "status": "iif(p.key IS NULL, f.status, p.status)",
    "past": _PAST,
    "born": "AND m.created_seq <= :known",
    "keyed": "AND f.key <= :bound",
    "stands": "(c.ended_seq IS NULL OR c.ended_seq > :known)",
    "drawn": "AND c.seq <= :known",
    "was": "AND x.seq <= :known",
    "late": "AND d.seq <= :known",
    "made": "AND x.created_seq <= :known",
    "held": "(x.withdrawn_seq IS NULL OR x.withdrawn_seq > :known)",
}


def timed(template: str) -> Timed:
    """Fill in what depends on the moment: m is a memory, f a fact, p its past, c a contradiction, x or d another edge."""
    return Timed(template.format(**_NOW), template.format(**_THEN))


_RECORD: Final = """json_array(m.key, m.memory_id, s.name, m.content, m.source, m.actor, m.created_at, m.created_seq,
 m.valid_from, m.suspicious, hex(m.claim_hash), {state})"""
_EACH: Final = "FROM json_each(:keys) k CROSS JOIN"
EVENT: Final = """json_array(x.seq, x.ordinal, l.at, s.name, l.actor, x.kind, m.memory_id, coalesce(o.memory_id, ''),
 x.before, x.after, x.status, x.reason"""
EVENT_JOINS: Final = """CROSS JOIN log l ON l.seq = x.seq CROSS JOIN scopes s ON s.id = x.scope
 CROSS JOIN memories m ON m.key = x.memory LEFT JOIN memories o ON o.key = x.other"""


def _edge(kind: str, table: str, ends: str, rest: str, rule: str, column: str) -> Timed:
    return timed(
        f"SELECT json_group_array(json_array('{kind}', {ends}, {rest})) {_EACH} {table} ON {column} = k.value WHERE true {rule}"
    )


_CONTRADICTS: Final = (
    "CONTRADICTS",
    "contradicts c",
    "c.newer, c.older",
    "c.reason, c.at, {stands}, c.before, c.after, 0, c.newer",
)
_SUPERSEDED: Final = ("SUPERSEDED_BY", "superseded x", "x.old, x.new", "x.reason, x.at, 1, NULL, NULL, NULL, NULL")
_DERIVED: Final = ("DERIVED_FROM", "derived x", "x.child, x.parent", "'', x.at, 1, NULL, NULL, NULL, NULL")
_DECAY: Final = ("TRUST_DECAY", "drops x", "x.cause, x.memory", "x.reason, x.at, {held}, x.before, x.after, x.hop, x.cause")

EDGES: Final[dict[str, tuple[Timed, ...]]] = {
    "ABOUT": (
        timed(
            f"""SELECT json_group_array(json_array('ABOUT', m.key, l.value->>0, '', g.at, 1, NULL, NULL, NULL, NULL)) {_EACH}
 memories m ON m.key = k.value CROSS JOIN json_each(m.entities) l CROSS JOIN log g ON g.seq = m.created_seq WHERE true {{born}}"""
        ),
    ),
    "DERIVED_FROM": (_edge(*_DERIVED, "{was}", "x.child"), _edge(*_DERIVED, "{was}", "x.parent")),
    "SUPERSEDED_BY": (_edge(*_SUPERSEDED, "{was}", "x.old"), _edge(*_SUPERSEDED, "{was}", "x.new")),
    "CONTRADICTS": (_edge(*_CONTRADICTS, "{drawn}", "c.newer"), _edge(*_CONTRADICTS, "{drawn}", "c.older")),
    "TRUST_DECAY": (_edge(*_DECAY, "{was}", "x.cause"), _edge(*_DECAY, "{was}", "x.memory")),
}
"""Edges by type, one statement an end. Columns: type, src, dst, reason, at, standing, before, after, hop, cause."""

TIMED: Final[dict[str, Timed]] = {
    "find": timed(
        f"""SELECT json_array({_RECORD}) FROM memories m CROSS JOIN facts f ON f.key = m.key
 CROSS JOIN scopes s ON s.id = m.scope {{past}} WHERE m.memory_id = :id {{born}}"""
    ),
    "records": timed(
        f"""SELECT json_group_array({_RECORD}) {_EACH} memories m ON m.key = k.value
 CROSS JOIN facts f ON f.key = m.key CROSS JOIN scopes s ON s.id = m.scope {{past}} WHERE true {{born}}"""
    ),
    "states": timed(
        f"SELECT json_group_array(json_array(f.key, {{state}})) {_EACH} facts f ON f.key = k.value {{past}} WHERE true {{keyed}}"
    ),
    "links": timed(
        f"""SELECT json_group_array(json_array(m.key, l.key, e.name, e.norm, e.kind, l.value->>1)) {_EACH}
 memories m ON m.key = k.value CROSS JOIN json_each(m.entities) l CROSS JOIN entities e ON e.id = l.value->>0
 WHERE true {{born}}"""
    ),
    "contested": timed(
        f"""SELECT json_group_array(json_array(c.older, c.newer, m.memory_id)) {_EACH} contradicts c ON c.older = k.value
 CROSS JOIN facts f ON f.key = c.newer CROSS JOIN memories m ON m.key = f.key {{past}}
 WHERE {{stands}} {{drawn}} AND {{status}} < 3"""
    ),
    "contesting": timed(
        f"""SELECT json_group_array(json_array(c.newer, c.older, m.memory_id)) {_EACH} contradicts c ON c.newer = k.value
 CROSS JOIN facts f ON f.key = c.older CROSS JOIN memories m ON m.key = f.key {{past}}
 WHERE {{stands}} {{drawn}} AND {{status}} < 3"""
    ),
    "successors": timed(
        f"SELECT json_group_array(json_array(x.old, x.new, x.reason)) {_EACH} superseded x ON x.old = k.value WHERE true {{was}}"
    ),
    "predecessors": timed(
        f"SELECT json_group_array(json_array(x.new, x.old)) {_EACH} superseded x ON x.new = k.value WHERE true {{was}}"
    ),
    "parents": timed(
        f"SELECT json_group_array(json_array(x.child, x.parent)) {_EACH} derived x ON x.child = k.value WHERE true {{was}}"
    ),
    "dependents": timed(
        f"SELECT json_group_array(json_array(x.parent, x.child)) {_EACH} derived x ON x.parent = k.value WHERE true {{was}}"
    ),
    "old evidence": timed(
        f"""SELECT json_group_array(d.child) {_EACH} derived d ON d.child = k.value CROSS JOIN superseded x ON x.old = d.parent
 WHERE true {{was}} {{late}}"""
    ),
    "drops on": timed(
        """SELECT json_group_array(json_array(x.id, x.cause, x.memory, x.hop, x.amount, x.before, x.after, x.reason, x.at, x.seq,
 c.memory_id, m.memory_id, x.withdrawn_seq, x.withdrawn_at, x.withdrawn_reason)) FROM drops x
 CROSS JOIN memories c ON c.key = x.cause CROSS JOIN memories m ON m.key = x.memory WHERE x.memory = :key {was}"""
    ),
    "events of": timed(
        f"""SELECT json_group_array(json(row)) FROM (SELECT {EVENT}, '') AS row FROM events x {EVENT_JOINS}
 WHERE x.memory = :key {{was}} ORDER BY x.seq, x.ordinal LIMIT :limit)"""
    ),
    "known entities": timed(
        f"SELECT json_group_array(json_array(x.norm, x.name)) {_EACH} entities x ON x.id = k.value WHERE true {{made}}"
    ),
    "about": timed(
        """SELECT json_group_array(json_array('ABOUT', m.key, a.entity, '', l.at, 1, NULL, NULL, NULL, NULL))
 FROM json_each(:keys) k CROSS JOIN about a ON a.entity = k.value AND a.key IN (SELECT f.key FROM about f
 WHERE f.entity = k.value {keyed} ORDER BY f.key DESC LIMIT :limit)
 CROSS JOIN memories m ON m.key = a.key CROSS JOIN log l ON l.seq = m.created_seq"""
    ),
}

PLAIN: Final[dict[str, str]] = {
    "sequence": "SELECT coalesce(max(seq), 0) FROM log",
    "sequence at": "SELECT coalesce(max(seq), 0) FROM log WHERE at = (SELECT max(at) FROM log WHERE at <= ?)",
    "bound": "SELECT last_key FROM log WHERE seq <= ? ORDER BY seq DESC LIMIT 1",
    "memory ids": f"SELECT json_group_array(json_array(m.key, m.memory_id)) {_EACH} memories m ON m.key = k.value",
    "entity rows": """SELECT json_group_array(json_array(e.id, e.name, e.norm, e.kind, e.memories)) FROM json_each(:keys) k
 CROSS JOIN entities e ON e.id = k.value""",
    "open cascades": """SELECT json_group_array(json_array(opened_seq, cause)) FROM cascades INDEXED BY cascades_open
 WHERE closed_seq IS NULL""",
    "standing drops on": """SELECT json_group_array(json_array(x.id, x.cause, x.memory, x.hop, x.amount, x.before, x.after,
 x.reason, x.at, x.seq)) FROM json_each(:keys) k CROSS JOIN drops x ON x.memory = k.value WHERE x.withdrawn_seq IS NULL""",
    "standing drops by": """SELECT json_group_array(json_array(x.id, x.cause, x.memory, x.hop, x.amount, x.before, x.after,
 x.reason, x.at, x.seq)) FROM drops x WHERE x.cause = :key AND x.withdrawn_seq IS NULL""",
    "dropped ever": "SELECT json_group_array(DISTINCT x.memory) FROM drops x WHERE x.cause = :key",
    "older": "SELECT json_group_array(older) FROM contradicts WHERE newer = :key AND ended_seq IS NULL",
    "newer": "SELECT json_group_array(newer) FROM contradicts WHERE older = :key AND ended_seq IS NULL",
    "spread over": """SELECT 1 FROM json_each(:keys) k CROSS JOIN contradicts c ON c.older = k.value
 WHERE c.newer IN (SELECT value FROM json_each(:open)) LIMIT 1""",
    "duplicate": """SELECT min(m.key) FROM memories m CROSS JOIN facts f ON f.key = m.key CROSS JOIN scopes s ON s.id = m.scope
 WHERE m.claim_hash = :hash AND s.name = :scope AND f.status = 0""",
    "candidates": """SELECT json_group_array(json((SELECT json_group_array(q.key) FROM (SELECT s.key FROM slots s
 WHERE s.entity = e.value AND s.term = t.id ORDER BY s.key DESC LIMIT :cap) q))) FROM json_each(:slots) j
 CROSS JOIN terms t ON t.term = j.value CROSS JOIN json_each(:entities) e""",
    "scope": "SELECT json_array(id, written, counted_block, last_write_at, purged) FROM scopes WHERE name = ?",
    "scope names": "SELECT json_group_array(name) FROM scopes WHERE last_write_at IS NOT NULL",
    "project": "SELECT scope FROM projects WHERE root = ?",
}

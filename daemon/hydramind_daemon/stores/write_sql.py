"""Statements of the writer. The plan of each is tested: none scans memories, facts, postings, events or edges.

`FLUSH` is one INSERT into a view of the writer's own whose trigger writes every table: one step for a whole batch
(connection.py says why). Rows come as JSON arrays; blobs as hex.
"""

# Reason: only fixed words of this package are put together; values are always bound.
# ruff: noqa: S608

from __future__ import annotations

from typing import Final

POSTING_KEY_BITS: Final = 20
"""A posting is bound as term << 20 | key − base."""

_FLUSH_STEPS: Final[dict[str, str]] = {
    "memories": """INSERT INTO memories SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
 unhex(value->>7), value->>8, value->>9, value->>10, value->>11 FROM json_each(NEW.memories)""",
    "facts": """INSERT INTO facts SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
 value->>7, value->>8, value->>9, value->>10, unhex(value->>11) FROM json_each(NEW.facts)""",
    "entities": """INSERT OR IGNORE INTO entities(id, scope, norm, name, kind, created_seq) SELECT value->>0, value->>1,
 value->>2, value->>3, value->>4, value->>5 FROM json_each(NEW.entities)""",
    "about": """INSERT OR IGNORE INTO about SELECT e.value, g.key FROM (SELECT value->>0 AS key, value->>1 AS entities
 FROM json_each(NEW.about) LIMIT -1) g CROSS JOIN json_each(g.entities) e""",
    "derived": "INSERT OR IGNORE INTO derived SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(NEW.derived)",
    "terms": "INSERT INTO terms SELECT value->>0, value->>1 FROM json_each(NEW.terms)",
    "postings": f"""INSERT OR IGNORE INTO postings SELECT g.scope, g.block, v.value >> {POSTING_KEY_BITS},
 g.base + (v.value & {(1 << POSTING_KEY_BITS) - 1}) FROM (SELECT value->>0 AS scope, value->>1 AS block, value->>2 AS base,
 value->>3 AS list FROM json_each(NEW.postings) LIMIT -1) g CROSS JOIN json_each(g.list) v""",
    "slots": """INSERT OR IGNORE INTO slots SELECT e.value, s.value, g.key FROM (SELECT value->>0 AS key, value->>1 AS entities,
 value->>2 AS terms FROM json_each(NEW.slots) LIMIT -1) g CROSS JOIN json_each(g.entities) e CROSS JOIN json_each(g.terms) s""",
    "events": """INSERT INTO events SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
 value->>7, value->>8, value->>9 FROM json_each(NEW.events)""",
    "log": """INSERT INTO log SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
 unhex(value->>7), unhex(value->>8), unhex(value->>9) FROM json_each(NEW.log)""",
    "counts": """UPDATE entities SET memories = memories + j.n FROM (SELECT value->>0 AS id, value->>1 AS n
 FROM json_each(NEW.counts)) j WHERE entities.id = j.id""",
    "scopes": """UPDATE scopes SET written = j.n, active = active + j.born, last_write_at = j.moment FROM (SELECT
 value->>0 AS id, value->>1 AS n, value->>2 AS born, value->>3 AS moment FROM json_each(NEW.scopes)) j WHERE scopes.id = j.id""",
}

FLUSH_PARTS: Final = tuple(_FLUSH_STEPS)
"""Columns of the view, in the order in which `FLUSH` binds them."""

FLUSH_SETUP: Final = (
    f"CREATE TEMP VIEW flush_input({', '.join(FLUSH_PARTS)}) AS SELECT {', '.join('NULL' for _ in FLUSH_PARTS)}",
    "CREATE TEMP TRIGGER flush_rows INSTEAD OF INSERT ON flush_input BEGIN\n"
    + "".join(f" {step};\n" for step in _FLUSH_STEPS.values())
    + "END",
)
FLUSH: Final = f"INSERT INTO flush_input VALUES({', '.join('?' for _ in FLUSH_PARTS)})"

WRITES: Final[dict[str, str]] = {
    **{f"flush {name}": step.replace(f"NEW.{name}", "?") for name, step in _FLUSH_STEPS.items()},
    "position": """SELECT json_array(max(coalesce(max(seq), 0),
 coalesce((SELECT value FROM meta WHERE name = 'sequence_floor'), 0)),
 coalesce((SELECT at FROM log WHERE seq = (SELECT max(seq) FROM log)), 0),
 coalesce((SELECT max(key) FROM facts), 0), coalesce((SELECT max(id) FROM terms), 0)) FROM log""",
    "term ids": "SELECT json_group_array(json_array(t.term, t.id)) FROM json_each(?) j CROSS JOIN terms t ON t.term = j.value",
    "scope": "SELECT json_array(id, written, counted_block) FROM scopes WHERE name = ?",
    "new scope": "INSERT INTO scopes(name) VALUES(?) RETURNING json_array(id, written, counted_block)",
    "sum block": """INSERT INTO frequencies SELECT scope, term, count(*) FROM postings WHERE scope = ? AND block = ?
 GROUP BY scope, term ON CONFLICT(scope, term) DO UPDATE SET memories = memories + excluded.memories""",
    "counted": "UPDATE scopes SET counted_block = ? WHERE id = ?",
    "touch": "UPDATE scopes SET last_write_at = ? WHERE id = ?",
    "answer": """SELECT json_array(hex(l.request_hash), l.seq, hex(l.outcome)) FROM scopes s CROSS JOIN log l ON l.scope = s.id
 WHERE s.name = ? AND l.method = ? AND l.idem_key = ?""",
    # --- changes of memories that exist
    "before": """SELECT json_group_array(json_array(f.key, f.scope, f.status, f.slots, m.entities)) FROM json_each(?) k
 CROSS JOIN facts f ON f.key = k.value CROSS JOIN memories m ON m.key = f.key""",
    "keep past": """INSERT OR IGNORE INTO past SELECT f.key, ?2, f.status, f.trust, f.valid_to, f.version, f.support
 FROM json_each(?1) k CROSS JOIN facts f ON f.key = k.value""",
    "set states": """UPDATE facts SET status = j.a, trust = j.b, valid_to = j.c, version = j.d, support = j.e FROM (SELECT
 value->>0 AS id, value->>1 AS a, value->>2 AS b, value->>3 AS c, value->>4 AS d, value->>5 AS e FROM json_each(?)) j
 WHERE facts.key = j.id""",
    "count entities": """UPDATE entities SET memories = memories + j.n FROM (SELECT value->>0 AS id, value->>1 AS n
 FROM json_each(?)) j WHERE entities.id = j.id""",
    "count statuses": """UPDATE scopes SET active = active + ?2, contradicted = contradicted + ?3, superseded = superseded + ?4,
 forgotten = forgotten + ?5, purged = purged + ?6 WHERE id = ?1""",
    "add slots": "INSERT OR IGNORE INTO slots SELECT value->>0, value->>1, value->>2 FROM json_each(?)",
    "drop slots": """DELETE FROM slots WHERE (entity, term, key) IN (SELECT value->>0, value->>1, value->>2 FROM json_each(?))""",
    "contradicts": """INSERT OR IGNORE INTO contradicts(newer, older, scope, seq, at, reason_code, reason, new_start, new_end,
 old_start, old_end, before, after) SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6,
 value->>7, value->>8, value->>9, value->>10, value->>11, value->>12 FROM json_each(?)""",
    "superseded": """INSERT OR IGNORE INTO superseded SELECT value->>0, value->>1, value->>2, value->>3, value->>4
 FROM json_each(?)""",
    "drops": """INSERT OR IGNORE INTO drops(id, cause, memory, hop, amount, before, after, reason, at, seq) SELECT value->>0,
 value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7, value->>8, value->>9 FROM json_each(?)""",
    "withdraw": """UPDATE drops SET withdrawn_seq = ?2, withdrawn_at = ?3, withdrawn_reason = j.said FROM (SELECT
 value->>0 AS id, value->>1 AS said FROM json_each(?1)) j WHERE drops.id = j.id AND drops.withdrawn_seq IS NULL""",
    "end contradictions": """UPDATE contradicts SET ended_seq = ?2 WHERE (newer, older) IN (SELECT d.cause, d.memory
 FROM json_each(?1) w CROSS JOIN drops d ON d.id = w.value->>0 WHERE d.hop = 0) AND coalesce(ended_seq, 0) = 0""",
    "verdict": "UPDATE contradicts SET verdict = ? WHERE newer = ? AND older = ?",
    "open cascade": "INSERT OR IGNORE INTO cascades(cause, opened_seq) VALUES(?, ?)",
    "close cascade": "UPDATE cascades SET closed_seq = ? WHERE cause = ? AND closed_seq IS NULL",
    # --- purge
    "purgeable": """SELECT json_array(f.scope, f.ordinal, m.created_seq, hex(f.terms), f.slots, m.entities) FROM facts f
 CROSS JOIN memories m ON m.key = f.key WHERE f.key = ?""",
    "empty memory": "UPDATE memories SET content = '', entities = '[]', claim_hash = x'' WHERE key = ?",
    "empty fact": "UPDATE facts SET terms = x'', slots = '[]', length = 0 WHERE key = ?",
    "drop postings": """DELETE FROM postings WHERE (scope, block, term, key) IN (SELECT ?1, ?2, value, ?3 FROM json_each(?4))""",
    "drop about": "DELETE FROM about WHERE (entity, key) IN (SELECT value, ?1 FROM json_each(?2))",
    "lower frequencies": """UPDATE frequencies SET memories = memories - 1 FROM (SELECT value AS term FROM json_each(?2)) j
 WHERE frequencies.scope = ?1 AND frequencies.term = j.term""",
    "next about": "SELECT min(key) FROM about WHERE entity = ?",
    "entity": "SELECT json_array(scope, norm, created_seq) FROM entities WHERE id = ?",
    "drop entity": "DELETE FROM entities WHERE id = ?",
    "rename entity": "UPDATE entities SET name = ?, kind = ?, created_seq = ? WHERE id = ?",
    "created at": "SELECT created_seq FROM memories WHERE key = ?",
    "log plan": "SELECT plan FROM log WHERE seq = ?",
    "log outcome": "SELECT outcome FROM log WHERE seq = ?",
    "redact log": "UPDATE log SET plan = ?, outcome = ? WHERE seq = ?",
    "used terms": """SELECT json_group_array(j.value) FROM json_each(?1) j WHERE EXISTS (SELECT 1 FROM scopes s
 CROSS JOIN json_each(?2) b CROSS JOIN postings p ON p.scope = s.id AND p.block = b.value AND p.term = j.value)""",
    "used slots": """SELECT json_group_array(DISTINCT s.value) FROM facts f CROSS JOIN json_each(f.slots) s
 WHERE s.value IN (SELECT value FROM json_each(?))""",
    "top block": "SELECT max(written) / 1024 FROM scopes",
    "counted block": "SELECT counted_block FROM scopes WHERE id = ?",
    "drop terms": "DELETE FROM terms WHERE id IN (SELECT value FROM json_each(?))",
    # --- projects
    "project": "SELECT scope FROM projects WHERE root = ?",
    "other root": "SELECT 1 FROM projects WHERE scope = ? AND root <> ? LIMIT 1",
    "map project": "INSERT INTO projects VALUES(?, ?)",
    # --- filters at start
    "claims": "SELECT json_group_array(hex(claim_hash)) FROM memories INDEXED BY memories_claim",
    "keys": """SELECT json_group_array(json_array(s.name, l.method, l.idem_key)) FROM log l INDEXED BY log_idem
 CROSS JOIN scopes s ON s.id = l.scope WHERE l.idem_key IS NOT NULL""",
}
SCANS: Final = frozenset({"used slots", "claims", "keys"})
"""Statements that read a whole table or index on purpose: purges (rare) and the start."""

"""Statements of the log's readers: rebuild, recovery, verify, backup. They read whole tables on purpose, a page at a time."""

from __future__ import annotations

from typing import Final

LOG: Final[dict[str, str]] = {
    "page": """SELECT json_group_array(json(row)) FROM (SELECT json_array(l.seq, l.at, s.name, l.method, l.actor, l.last_key,
 l.idem_key, hex(l.request_hash), hex(l.outcome), hex(l.plan)) AS row FROM log l CROSS JOIN scopes s ON s.id = l.scope
 WHERE l.seq > ? ORDER BY l.seq LIMIT ?)""",
    "one": """SELECT json_array(l.seq, l.at, s.name, l.method, l.actor, l.last_key, l.idem_key, hex(l.request_hash),
 hex(l.outcome), hex(l.plan)) FROM log l CROSS JOIN scopes s ON s.id = l.scope WHERE l.seq = ?""",
    "contents": "SELECT json_group_array(json_array(key, content)) FROM memories WHERE key > ? AND key <= ?",
    "content": "SELECT content FROM memories WHERE key = ?",
    "set entities": """UPDATE memories SET entities = j.list FROM (SELECT value->>0 AS id, value->>1 AS list
 FROM json_each(?)) j WHERE memories.key = j.id""",
    "reset scopes": """UPDATE scopes SET written = 0, counted_block = 0, active = 0, contradicted = 0, superseded = 0,
 forgotten = 0, purged = 0""",
    "memories": "SELECT count(*) FROM memories",
    "set missing": "INSERT INTO meta VALUES('missing_sequences', ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
    "set floor": "INSERT INTO meta VALUES('sequence_floor', ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value",
    "missing": "SELECT value FROM meta WHERE name = 'missing_sequences'",
    "projects": "SELECT json_group_array(json_array(root, scope)) FROM projects",
}

DERIVED: Final = (
    "facts",
    "past",
    "entities",
    "about",
    "derived",
    "contradicts",
    "superseded",
    "drops",
    "cascades",
    "events",
    "terms",
    "postings",
    "frequencies",
    "slots",
)
"""Tables that log and contents make anew."""

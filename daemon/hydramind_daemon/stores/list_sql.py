"""Statements of lists: timelines, pages of memories, scopes, entities, conflicts, exports, events."""

# Reason: only fixed words of this package are put together; values are always bound.
# ruff: noqa: S608

from __future__ import annotations

from typing import Final

from hydramind_daemon.stores.read_sql import EVENT, EVENT_JOINS, Timed, timed

_VISIBLE: Final = "{status} < 3 {keyed} AND (f.valid_from, f.key) > (:after_at, :after_key) AND f.valid_from <= :as_of"
_PAGE: Final = "ORDER BY f.valid_from, f.key LIMIT :limit"

LIST_TIMED: Final[dict[str, Timed]] = {
    "timeline scope": timed(
        f"""SELECT json_group_array(key) FROM (SELECT f.key FROM facts f INDEXED BY facts_valid {{past}}
 WHERE f.scope = :scope AND {_VISIBLE} {_PAGE})"""
    ),
    "timeline entity": timed(
        f"""SELECT json_group_array(key) FROM (SELECT f.key FROM about a CROSS JOIN facts f ON f.key = a.key {{past}}
 WHERE a.entity = :entity AND {_VISIBLE} {_PAGE})"""
    ),
    "timeline keys": timed(
        f"""SELECT json_group_array(key) FROM (SELECT f.key FROM json_each(:keys) k CROSS JOIN facts f ON f.key = k.value {{past}}
 WHERE f.scope = :scope AND {_VISIBLE} {_PAGE})"""
    ),
    "export": timed(
        """SELECT json_group_array(key) FROM (SELECT f.key FROM facts f {past} WHERE f.key > :after {keyed}
 AND {status} <= :worst ORDER BY f.key LIMIT :limit)"""
    ),
    # A memory's past status says nothing about its present one, so each present status is looked through.
    "export scope": timed(
        """SELECT json_group_array(json((SELECT json_group_array(q.key) FROM (SELECT f.key FROM facts f {past}
 WHERE f.scope = :scope AND f.status = j.value AND f.key > :after {keyed} AND {status} <= :worst ORDER BY f.key LIMIT :limit) q)))
 FROM json_each('[0,1,2,3,4]') j"""
    ),
}

LISTS: Final[dict[str, str]] = {
    "newest": """SELECT json_group_array(json((SELECT json_group_array(q.key) FROM (SELECT f.key FROM facts f
 WHERE f.scope = :scope AND f.status = j.value AND f.key < :before ORDER BY f.key DESC LIMIT :limit) q)))
 FROM json_each(:statuses) j""",
    "newest about": """SELECT json_group_array(key) FROM (SELECT f.key FROM about a CROSS JOIN facts f ON f.key = a.key
 WHERE a.entity = :entity AND a.key < :before AND f.status IN (SELECT value FROM json_each(:statuses)) ORDER BY a.key DESC
 LIMIT :limit)""",
    "number about": """SELECT count(*) FROM about a CROSS JOIN facts f ON f.key = a.key WHERE a.entity = :entity
 AND f.status IN (SELECT value FROM json_each(:statuses))""",
    "counters": """SELECT json_array(active, contradicted, superseded, forgotten, purged, last_write_at) FROM scopes
 WHERE id = :scope""",
    "entities number": "SELECT count(*) FROM entities WHERE scope = :scope AND memories > 0",
    "standing conflicts": """SELECT count(*) FROM contradicts c INDEXED BY contradicts_standing
 CROSS JOIN facts f ON f.key = c.newer CROSS JOIN facts g ON g.key = c.older WHERE c.scope = :scope AND c.ended_seq IS NULL
 AND f.status < 3 AND g.status < 3""",
    "scopes": """SELECT json_group_array(json(row)) FROM (SELECT json_array(s.name, s.active + s.contradicted, s.last_write_at,
 json((SELECT json_group_array(p.root) FROM projects p WHERE p.scope = s.name))) AS row FROM scopes s
 WHERE s.name > :after AND s.last_write_at IS NOT NULL ORDER BY s.name LIMIT :limit)""",
    "entities": """SELECT json_group_array(json(row)) FROM (SELECT json_array(e.id, e.name, e.norm, e.kind, e.memories) AS row
 FROM entities e WHERE e.scope = :scope AND e.memories > 0 AND instr(e.norm, :contains) > 0
 ORDER BY e.memories DESC, e.name, e.id LIMIT :limit OFFSET :offset)""",
    "conflicts": """SELECT json_group_array(json(row)) FROM (SELECT json_array(c.newer, c.older, c.reason_code, c.reason, c.at,
 c.seq, c.ended_seq IS NULL, c.verdict) AS row FROM contradicts c WHERE c.scope = :scope AND c.seq < :before ORDER BY c.seq DESC
 LIMIT :limit)""",
    "conflicts standing": """SELECT json_group_array(json(row)) FROM (SELECT json_array(c.newer, c.older, c.reason_code, c.reason,
 c.at, c.seq, 1, c.verdict) AS row FROM contradicts c INDEXED BY contradicts_standing CROSS JOIN facts f ON f.key = c.newer
 CROSS JOIN facts g ON g.key = c.older WHERE c.scope = :scope AND c.ended_seq IS NULL AND c.seq < :before AND f.status < 3
 AND g.status < 3 ORDER BY c.seq DESC LIMIT :limit)""",
    "events end": "SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > :after ORDER BY seq LIMIT :limit)",
    "events end in": """SELECT max(seq) FROM (SELECT seq FROM events WHERE seq > :after
 AND scope IN (SELECT value FROM json_each(:scopes)) ORDER BY seq LIMIT :limit)""",
    "events": f"""SELECT json_group_array({EVENT}, iif(x.kind = 'remembered' AND f.status < 3, m.content, ''))) FROM events x
 {EVENT_JOINS} LEFT JOIN facts f ON f.key = x.memory WHERE x.seq > :after AND x.seq <= :end
 AND (:scopes IS NULL OR x.scope IN (SELECT value FROM json_each(:scopes)))""",
    "oldest event": "SELECT coalesce(min(seq), 1) FROM events",
    "scope ids": "SELECT json_group_array(s.id) FROM json_each(:names) j CROSS JOIN scopes s ON s.name = j.value",
    "status": """SELECT json_array((SELECT coalesce(max(seq), 0) FROM log),
 (SELECT coalesce(sum(written), 0) FROM scopes),
 (SELECT count(*) FROM scopes WHERE last_write_at IS NOT NULL), (SELECT count(*) FROM cascades INDEXED BY cascades_open
 WHERE closed_seq IS NULL))""",
    "missing": "SELECT value FROM meta WHERE name = 'missing_sequences'",
}

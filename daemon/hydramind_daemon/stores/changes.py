"""Changes of memories that exist, written at once: states, contradictions, drops, withdrawals, purges."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from hydramind_daemon.stores.connection import dumps, rows, run, value
from hydramind_daemon.stores.flush import Unit
from hydramind_daemon.stores.packing import (
    CURRENT_BELOW,
    STATUS_CODE,
    STATUSES,
    block_of,
    pack_record,
    term_ids,
    unpack_record,
)
from hydramind_daemon.stores.write_sql import WRITES
from hydramind_domain import outcome_codec, plan_codec
from hydramind_domain.model import MemoryState
from hydramind_domain.outcomes import RememberOutcome
from hydramind_domain.plan import Plan

_ACTIVE = 0


def is_simple(plan: Plan) -> bool:
    """Whether the plan only adds active memories, edges of theirs, and events."""
    changes = (plan.states, plan.contradicts, plan.superseded, plan.drops, plan.withdrawn, plan.resolved, plan.purged)
    more = (plan.cascade_open, plan.cascade_closed)
    return not any(changes) and not any(more) and all(STATUS_CODE[a.state.status] == _ACTIVE for a in plan.added)


def apply_changes(connection: apsw.Connection, unit: Unit) -> None:
    """Everything of a plan that is not simple; its new memories are written already. Raises apsw.Error."""
    plan, seq = unit.plan, unit.seq
    _late_statuses(connection, unit)
    if plan.states:
        _set_states(connection, {state.key: state for state in plan.states}, seq)
    _add_edges(connection, unit)
    if plan.withdrawn:
        ids = dumps([[w.drop_id, w.reason] for w in plan.withdrawn])
        run(connection, WRITES["withdraw"], (ids, seq, unit.meta.at))
        run(connection, WRITES["end contradictions"], (ids, seq))
    for resolved in plan.resolved:
        verdict = "dismissed" if resolved.dismissed else "stands"
        run(connection, WRITES["verdict"], (verdict, resolved.newer, resolved.older))
    for cause in plan.cascade_open:
        run(connection, WRITES["open cascade"], (cause, seq))
    for cause in plan.cascade_closed:
        run(connection, WRITES["close cascade"], (seq, cause))
    for key in plan.purged:
        _purge(connection, key)


def _late_statuses(connection: apsw.Connection, unit: Unit) -> None:
    """Count new memories that are born with another status than active."""
    born = Counter(STATUS_CODE[birth.added.state.status] for birth in unit.births)
    born.pop(_ACTIVE, None)
    if born:
        run(connection, WRITES["count statuses"], (unit.scope.id, *(born[code] for code in range(len(STATUSES)))))


def _add_edges(connection: apsw.Connection, unit: Unit) -> None:
    plan, seq, at, scope = unit.plan, unit.seq, unit.meta.at, unit.scope.id
    if plan.contradicts:
        edges = [
            [
                *(c.newer, c.older, scope, seq, at, c.reason_code, c.reason),
                *(c.spans.new_start, c.spans.new_end, c.spans.old_start, c.spans.old_end, c.before, c.after),
            ]
            for c in plan.contradicts
        ]
        run(connection, WRITES["contradicts"], (dumps(edges),))
    if plan.superseded:
        run(connection, WRITES["superseded"], (dumps([[s.old, s.new, seq, at, s.reason] for s in plan.superseded]),))
    if plan.drops:
        drops = [[d.drop_id, d.cause, d.memory, d.hop, d.amount, d.before, d.after, d.reason, d.at, seq] for d in plan.drops]
        run(connection, WRITES["drops"], (dumps(drops),))


@dataclass(frozen=True, slots=True)
class _Was:
    """A memory before its state changes."""

    key: int
    scope: int
    status: int
    slots: Sequence[int]
    entities: Sequence[int]


def _set_states(connection: apsw.Connection, states: dict[int, MemoryState], seq: int) -> None:
    keys = dumps(list(states))
    found = [_was(row) for row in rows(connection, WRITES["before"], (keys,))]
    run(connection, WRITES["keep past"], (keys, seq))
    columns = [[s.key, STATUS_CODE[s.status], s.trust, s.valid_to, s.version, s.support] for s in states.values()]
    run(connection, WRITES["set states"], (dumps(columns),))
    changed = [(was, STATUS_CODE[states[was.key].status]) for was in found if was.status != STATUS_CODE[states[was.key].status]]
    if changed:
        _count_statuses(connection, changed)
        _count_entities(connection, changed)
        _move_slots(connection, changed)


def _was(row: Sequence[Any]) -> _Was:
    key, scope, status, slots, entities = row
    return _Was(key, scope, status, json.loads(slots), [entity for entity, _ in json.loads(entities)])


def _count_statuses(connection: apsw.Connection, changed: Sequence[tuple[_Was, int]]) -> None:
    deltas: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for was, status in changed:
        deltas[was.scope][was.status] -= 1
        deltas[was.scope][status] += 1
    for scope, delta in deltas.items():
        run(connection, WRITES["count statuses"], (scope, *(delta[code] for code in range(len(STATUSES)))))


def _count_entities(connection: apsw.Connection, changed: Sequence[tuple[_Was, int]]) -> None:
    delta: Counter[int] = Counter()
    for was, status in changed:
        step = int(status < CURRENT_BELOW) - int(was.status < CURRENT_BELOW)
        for entity in set(was.entities):
            delta[entity] += step
    moved = [[entity, n] for entity, n in delta.items() if n]
    if moved:
        run(connection, WRITES["count entities"], (dumps(moved),))


def _move_slots(connection: apsw.Connection, changed: Sequence[tuple[_Was, int]]) -> None:
    """The conflict index holds active memories only."""
    gone = [[e, s, was.key] for was, _ in changed if was.status == _ACTIVE for e in was.entities for s in was.slots]
    back = [[e, s, was.key] for was, status in changed if status == _ACTIVE for e in was.entities for s in was.slots]
    if gone:
        run(connection, WRITES["drop slots"], (dumps(gone),))
    if back:
        run(connection, WRITES["add slots"], (dumps(back),))


def _purge(connection: apsw.Connection, key: int) -> None:
    """Erase a content and everything that was derived from it; the id stays."""
    scope, ordinal, created_seq, packed, slots, entities = rows(connection, WRITES["purgeable"], (key,))
    terms = term_ids(bytes.fromhex(packed))
    run(connection, WRITES["empty memory"], (key,))
    run(connection, WRITES["empty fact"], (key,))
    run(connection, WRITES["drop postings"], (scope, block_of(ordinal), key, dumps(terms)))
    counted = value(connection, WRITES["counted block"], (scope,))
    if block_of(ordinal) < counted:
        run(connection, WRITES["lower frequencies"], (scope, dumps(terms)))
    _redact(connection, key, created_seq)
    _purge_entities(connection, key, created_seq, [entity for entity, _ in json.loads(entities)])
    _purge_terms(connection, [*dict.fromkeys([*terms, *json.loads(slots)])])


def _redact(connection: apsw.Connection, key: int, created_seq: int) -> None:
    """Take names and hash of a purged memory out of its log record and its stored answer."""
    plan = plan_codec.decode(unpack_record(value(connection, WRITES["log plan"], (created_seq,))), lambda _: "")
    added = tuple(replace(a, entities=(), claim_hash=b"") if a.key == key else a for a in plan.added)
    outcome = value(connection, WRITES["log outcome"], (created_seq,))
    record = pack_record(plan_codec.encode(replace(plan, added=added)))
    run(connection, WRITES["redact log"], (record, outcome and _without_names(outcome), created_seq))


def _without_names(outcome: bytes) -> bytes:
    answer = outcome_codec.decode(outcome)
    return outcome_codec.encode(replace(answer, entities=())) if isinstance(answer, RememberOutcome) else outcome


def _purge_entities(connection: apsw.Connection, key: int, created_seq: int, entities: Sequence[int]) -> None:
    """An entity that nothing else is about goes; one that this memory named first gets the next memory's way to write it."""
    run(connection, WRITES["drop about"], (key, dumps(list(entities))))
    for entity in entities:
        heir = value(connection, WRITES["next about"], (entity,))
        known = rows(connection, WRITES["entity"], (entity,))
        if heir is None:
            run(connection, WRITES["drop entity"], (entity,))
        elif known and known[2] == created_seq:
            _rename(connection, entity, known[1], heir)


def _rename(connection: apsw.Connection, entity: int, norm: str, heir: int) -> None:
    seq = value(connection, WRITES["created at"], (heir,))
    plan = plan_codec.decode(unpack_record(value(connection, WRITES["log plan"], (seq,))), lambda _: "")
    for link in (link for added in plan.added if added.key == heir for link in added.entities if link.norm == norm):
        run(connection, WRITES["rename entity"], (link.name, link.kind, seq, entity))


def _purge_terms(connection: apsw.Connection, terms: Sequence[int]) -> None:
    """Words that no memory holds any more leave the dictionary."""
    top = value(connection, WRITES["top block"]) or 0
    used = set(rows(connection, WRITES["used terms"], (dumps(list(terms)), dumps(list(range(top + 1))))))
    used |= set(rows(connection, WRITES["used slots"], (dumps(list(terms)),)))
    unused = [term for term in terms if term not in used]
    run(connection, WRITES["drop terms"], (dumps(unused),))

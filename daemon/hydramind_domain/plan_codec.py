"""Plans as bytes for the commit log. Content is left out: it is kept once, under the memory's key.

Form: JSON object {"v": 1, "m": method, "s": scope, <field>: [rows]}; a row is the dataclass's fields in order. Empty fields are
left out. `index` is derived and never written.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hydramind_domain.model import Actor, Drop, EntityLink, MemoryState, Origin, Spans, Status
from hydramind_domain.plan import ConflictResolved, ContradictsAdded, DropWithdrawn, Event, MemoryAdded, Plan, SupersededAdded

FORM = 1


def _state_row(state: MemoryState) -> list[object]:
    return [state.key, state.status.value, state.trust, state.valid_to, state.version, state.support]


def _added_row(added: MemoryAdded) -> list[object]:
    actor = added.actor
    return [
        added.key,
        added.memory_id,
        added.scope,
        added.source,
        [actor.client_name, actor.client_version, actor.pid, actor.session],
        added.created_at,
        added.valid_from,
        int(added.suspicious),
        added.claim_hash.hex(),
        [[link.name, link.norm, link.kind, link.origin.value] for link in added.entities],
        list(added.parents),
        _state_row(added.state),
    ]


def _contradicts_row(edge: ContradictsAdded) -> list[object]:
    spans = edge.spans
    return [
        edge.newer,
        edge.older,
        edge.reason_code,
        edge.reason,
        [spans.new_start, spans.new_end, spans.old_start, spans.old_end],
        edge.before,
        edge.after,
    ]


def _drop_row(drop: Drop) -> list[object]:
    return [drop.drop_id, drop.cause, drop.memory, drop.hop, drop.amount, drop.before, drop.after, drop.reason, drop.at]


def encode(plan: Plan) -> bytes:
    """A plan without contents."""
    rows: dict[str, list[object]] = {
        "added": [_added_row(a) for a in plan.added],
        "derived": [list(pair) for pair in plan.derived],
        "states": [_state_row(s) for s in plan.states],
        "contradicts": [_contradicts_row(c) for c in plan.contradicts],
        "superseded": [[s.old, s.new, s.reason] for s in plan.superseded],
        "drops": [_drop_row(d) for d in plan.drops],
        "withdrawn": [[w.drop_id, w.memory, w.hop, w.before, w.after, w.reason] for w in plan.withdrawn],
        "resolved": [[r.newer, r.older, int(r.dismissed), r.reason] for r in plan.resolved],
        "purged": list(plan.purged),
        "open": list(plan.cascade_open),
        "closed": list(plan.cascade_closed),
        "events": [[e.kind, e.memory, e.other, e.before, e.after, e.status, e.reason] for e in plan.events],
    }
    form = {"v": FORM, "m": plan.method, "s": plan.scope, **{name: value for name, value in rows.items() if value}}
    return json.dumps(form, ensure_ascii=False, separators=(",", ":")).encode()


def _state(row: list[Any]) -> MemoryState:
    return MemoryState(row[0], Status(row[1]), row[2], row[3], row[4], row[5])


def _added(row: list[Any], content: str) -> MemoryAdded:
    return MemoryAdded(
        row[0],
        row[1],
        row[2],
        content,
        row[3],
        Actor(*row[4]),
        row[5],
        row[6],
        bool(row[7]),
        bytes.fromhex(row[8]),
        tuple(EntityLink(name, norm, kind, Origin(origin)) for name, norm, kind, origin in row[9]),
        tuple(row[10]),
        _state(row[11]),
    )


def decode(data: bytes, content_of: Callable[[int], str]) -> Plan:
    """The plan again; contents come from `content_of` (empty for a purged memory).

    Raises ValueError for a form that this version does not know.
    """
    form = json.loads(data)
    if form.get("v") != FORM:
        raise ValueError(f"log record of form {form.get('v')!r}; this version reads form {FORM}")
    return Plan(
        form["m"],
        form["s"],
        added=tuple(_added(row, content_of(row[0])) for row in form.get("added", ())),
        derived=tuple((child, parent) for child, parent in form.get("derived", ())),
        states=tuple(_state(row) for row in form.get("states", ())),
        contradicts=tuple(
            ContradictsAdded(r[0], r[1], r[2], r[3], Spans(*r[4]), r[5], r[6]) for r in form.get("contradicts", ())
        ),
        superseded=tuple(SupersededAdded(*row) for row in form.get("superseded", ())),
        drops=tuple(Drop(*row) for row in form.get("drops", ())),
        withdrawn=tuple(DropWithdrawn(*row) for row in form.get("withdrawn", ())),
        resolved=tuple(ConflictResolved(r[0], r[1], bool(r[2]), r[3]) for r in form.get("resolved", ())),
        purged=tuple(form.get("purged", ())),
        cascade_open=tuple(form.get("open", ())),
        cascade_closed=tuple(form.get("closed", ())),
        events=tuple(Event(*row) for row in form.get("events", ())),
    )

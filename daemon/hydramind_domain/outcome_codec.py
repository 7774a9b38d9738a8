"""Outcomes as bytes, kept under idempotency keys. They hold ids, spans and numbers, never contents."""

from __future__ import annotations

import json
from typing import Any

from hydramind_domain.model import EntityLink, Origin, Spans, Status
from hydramind_domain.outcomes import (
    ConflictOutcome,
    DecayOutcome,
    ForgetOutcome,
    LinkOutcome,
    Outcome,
    PurgeOutcome,
    RememberOutcome,
    ResolveOutcome,
    WithdrawnOutcome,
)

FORM = 1


def _withdrawn_rows(withdrawn: tuple[WithdrawnOutcome, ...]) -> list[list[object]]:
    return [[w.memory_id, w.hop, w.before, w.after] for w in withdrawn]


def _withdrawn(rows: list[list[Any]]) -> tuple[WithdrawnOutcome, ...]:
    return tuple(WithdrawnOutcome(*row) for row in rows)


def _conflict_row(conflict: ConflictOutcome) -> list[object]:
    s = conflict.spans
    spans = [s.new_start, s.new_end, s.old_start, s.old_end]
    return [conflict.memory_id, conflict.reason_code, conflict.reason, spans, conflict.before, conflict.after]


def _remember_body(out: RememberOutcome) -> list[object]:
    return [
        out.memory_id,
        out.scope,
        out.trust,
        out.version,
        out.status.value,
        out.created_at,
        out.valid_from,
        [[link.name, link.norm, link.kind, link.origin.value] for link in out.entities],
        [_conflict_row(c) for c in out.conflicts],
        [[d.memory_id, d.hop, d.before, d.after] for d in out.decayed],
        out.decayed_total,
        int(out.still_spreading),
        int(out.duplicate),
        int(out.echo),
        out.superseded_id,
        list(out.dependents),
    ]


def _remember(b: list[Any]) -> RememberOutcome:
    return RememberOutcome(
        b[0],
        b[1],
        b[2],
        b[3],
        Status(b[4]),
        b[5],
        b[6],
        tuple(EntityLink(name, norm, kind, Origin(origin)) for name, norm, kind, origin in b[7]),
        tuple(ConflictOutcome(r[0], r[1], r[2], Spans(*r[3]), r[4], r[5]) for r in b[8]),
        tuple(DecayOutcome(*row) for row in b[9]),
        b[10],
        bool(b[11]),
        bool(b[12]),
        bool(b[13]),
        b[14],
        tuple(b[15]),
    )


def _body(outcome: Outcome) -> tuple[str, list[object]]:
    match outcome:
        case RememberOutcome():
            return "remember", _remember_body(outcome)
        case ForgetOutcome(memory_id, scope, status, version, withdrawn):
            return "forget", [memory_id, scope, status.value, version, _withdrawn_rows(withdrawn)]
        case ResolveOutcome(memory_id, other_id, scope, dismissed, withdrawn):
            return "resolve", [memory_id, other_id, scope, int(dismissed), _withdrawn_rows(withdrawn)]
        case PurgeOutcome(memory_ids, scope, withdrawn):
            return "purge", [list(memory_ids), scope, _withdrawn_rows(withdrawn)]
        case LinkOutcome(scope, count):
            return "link", [scope, count]


def encode(outcome: Outcome) -> bytes:
    """An outcome as versioned JSON."""
    kind, body = _body(outcome)
    return json.dumps([FORM, kind, body], ensure_ascii=False, separators=(",", ":")).encode()


def decode(data: bytes) -> Outcome:
    """The outcome again. Raises ValueError for a form or kind that this version does not know."""
    form, kind, b = json.loads(data)
    if form != FORM:
        raise ValueError(f"stored answer of form {form!r}; this version reads form {FORM}")
    match kind:
        case "remember":
            return _remember(b)
        case "forget":
            return ForgetOutcome(b[0], b[1], Status(b[2]), b[3], _withdrawn(b[4]))
        case "resolve":
            return ResolveOutcome(b[0], b[1], b[2], bool(b[3]), _withdrawn(b[4]))
        case "purge":
            return PurgeOutcome(tuple(b[0]), b[1], _withdrawn(b[2]))
        case "link":
            return LinkOutcome(b[0], b[1])
    raise ValueError(f"stored answer of unknown kind {kind!r}")

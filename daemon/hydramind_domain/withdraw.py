"""Planning of forget, resolve and purge, and the follow-up of long cascades. No event is edited; new ones withdraw drops.

Rules: docs/dev/semantics.md (Trust: withdrawing a cause; Revise, version, forget).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from hydramind_domain.cascade import Cause, Fall, affected, changeable, fall, falls
from hydramind_domain.commands import Forget, Purge, Resolve
from hydramind_domain.errors import NotFound
from hydramind_domain.model import Drop, Instant, MemoryRecord, MemoryState, Status, TrustRules
from hydramind_domain.outcomes import ForgetOutcome, LinkOutcome, PurgeOutcome, ResolveOutcome, WithdrawnOutcome
from hydramind_domain.plan import ConflictResolved, DropWithdrawn, Event, Plan
from hydramind_domain.rules import existing, fall_event
from hydramind_domain.snapshot import Snapshot
from hydramind_domain.trust import is_contradicted, trust_of


@dataclass(slots=True)
class _Working:
    """States and standing drops as they are while one command withdraws and adds."""

    states: dict[int, MemoryState]
    standing: dict[int, list[Drop]]
    withdrawn: list[DropWithdrawn] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)

    @classmethod
    def of(cls, snapshot: Snapshot, keys: Sequence[int]) -> _Working:
        standing = snapshot.standing_drops_on(keys)
        return cls(dict(snapshot.states(keys)), {key: list(standing.get(key, ())) for key in keys})

    def withdraw(self, drop: Drop, cause: int, reason: str, rules: TrustRules) -> None:
        """Add the withdrawing event of one drop; a memory without a standing contradiction is active again."""
        state = self.states[drop.memory]
        rest = [d for d in self.standing[drop.memory] if d.drop_id != drop.drop_id]
        after = trust_of((d.amount for d in rest), rules.floor)
        free = state.status is Status.CONTRADICTED and not is_contradicted(rest)
        new = replace(
            state,
            trust=after,
            status=Status.ACTIVE if free else state.status,
            version=state.version + int(free),
        )
        self.standing[drop.memory] = rest
        self.states[drop.memory] = new
        self.withdrawn.append(DropWithdrawn(drop.drop_id, drop.memory, drop.hop, state.trust, after, reason))
        self.events.append(Event("withdrawn", drop.memory, cause, state.trust, after, new.status, reason))

    def fall(self, key: int, hop: int, cause: Cause, rules: TrustRules) -> None:
        """Put a drop of another hop in the place of a withdrawn one."""
        fallen = fall(self.states[key], self.standing[key], cause, hop, rules)
        self.states[key] = fallen.state
        self.standing[key].append(fallen.drop)
        self.drops.append(fallen.drop)
        self.events.append(fall_event(fallen))

    def outcomes(self, ids: Mapping[int, str]) -> tuple[WithdrawnOutcome, ...]:
        return tuple(WithdrawnOutcome(ids[w.memory], w.hop, w.before, w.after) for w in self.withdrawn)


def _withdraw_all(snapshot: Snapshot, causes: Sequence[int], reason: str, rules: TrustRules, extra: Sequence[int]) -> _Working:
    """Withdraw every standing drop that the causes made. `extra` are further memories whose state the command changes."""
    by_cause = {cause: snapshot.standing_drops_by(cause) for cause in causes}
    keys = sorted({drop.memory for drops in by_cause.values() for drop in drops} | set(extra))
    work = _Working.of(snapshot, keys)
    for cause, drops in by_cause.items():
        for drop in drops:
            work.withdraw(drop, cause, reason, rules)
    return work


def forget(snapshot: Snapshot, command: Forget, now: Instant, rules: TrustRules) -> tuple[Plan, ForgetOutcome]:
    """Plan forgetting. A memory that is forgotten already stays so: the answer says it and nothing changes.

    Raises NotFound for an unknown, purged or foreign memory.
    """
    del now
    record = snapshot.find(command.memory_id)
    if record is not None and record.scope == command.scope and record.status is Status.FORGOTTEN:
        return Plan("forget", command.scope), ForgetOutcome(record.memory_id, command.scope, record.status, record.state.version)
    record = existing(snapshot, command.scope, command.memory_id)
    work = _withdraw_all(snapshot, [record.key], "the cause was forgotten", rules, [record.key])
    state = work.states[record.key]
    work.states[record.key] = replace(state, status=Status.FORGOTTEN, version=state.version + 1)
    event = Event("forgotten", record.key, None, state.trust, state.trust, Status.FORGOTTEN, command.reason)
    plan = Plan(
        "forget",
        command.scope,
        states=tuple(work.states.values()),
        withdrawn=tuple(work.withdrawn),
        cascade_closed=_closing(snapshot, [record.key]),
        events=(event, *work.events),
    )
    ids = snapshot.memory_ids(work.states)
    final = work.states[record.key]
    return plan, ForgetOutcome(record.memory_id, command.scope, final.status, final.version, work.outcomes(ids))


def _closing(snapshot: Snapshot, causes: Sequence[int]) -> tuple[int, ...]:
    return tuple(cause for cause in snapshot.open_cascades() if cause in causes)


def purge(snapshot: Snapshot, command: Purge, now: Instant, rules: TrustRules) -> tuple[Plan, PurgeOutcome]:
    """Plan erasing contents; ids stay as tombstones. Those purged already are left out.

    Raises NotFound for an unknown or foreign memory, before anything is erased.
    """
    del now
    records = [_purgeable(snapshot, command.scope, memory_id) for memory_id in dict.fromkeys(command.memory_ids)]
    keys = [record.key for record in records if record.status is not Status.PURGED]
    work = _withdraw_all(snapshot, keys, "the cause was purged", rules, keys)
    events = []
    for key in keys:
        state = work.states[key]
        work.states[key] = replace(state, status=Status.PURGED, version=state.version + 1)
        events.append(Event("purged", key, None, state.trust, state.trust, Status.PURGED, command.reason))
    plan = Plan(
        "purge",
        command.scope,
        states=tuple(work.states.values()),
        withdrawn=tuple(work.withdrawn),
        purged=tuple(keys),
        cascade_closed=_closing(snapshot, keys),
        events=(*events, *work.events),
    )
    ids = snapshot.memory_ids(work.states)
    return plan, PurgeOutcome(tuple(ids[key] for key in keys), command.scope, work.outcomes(ids))


def _purgeable(snapshot: Snapshot, scope: str, memory_id: str) -> MemoryRecord:
    record = snapshot.find(memory_id)
    if record is None or record.scope != scope:
        raise NotFound(
            f"memory_ids: there is no memory {memory_id!r} in scope {scope!r}",
            reason="MEMORY_NOT_FOUND",
            metadata={"field": "memory_ids", "memory_id": memory_id, "scope": scope},
        )
    return record


def _sides(snapshot: Snapshot, command: Resolve) -> tuple[MemoryRecord, MemoryRecord]:
    """(newer, older) of the standing contradiction between the two."""
    one = existing(snapshot, command.scope, command.memory_id)
    two = existing(snapshot, command.scope, command.other_id, "other_id")
    for newer, older in ((one, two), (two, one)):
        if older.key in snapshot.contradicted_by(newer.key):
            return newer, older
    raise NotFound(
        f"other_id: no contradiction stands between {command.memory_id} and {command.other_id}; "
        "the list of conflicts shows those that do",
        reason="CONFLICT_NOT_FOUND",
        metadata={"field": "other_id", "memory_id": command.memory_id, "other_id": command.other_id},
    )


def resolve(snapshot: Snapshot, command: Resolve, now: Instant, rules: TrustRules) -> tuple[Plan, ResolveOutcome]:
    """Plan the settling of a contradiction. Dismissed: every number is what it would be without it.

    Raises NotFound when either memory, or a standing contradiction between them, does not exist.
    """
    newer, older = _sides(snapshot, command)
    resolved = ConflictResolved(newer.key, older.key, command.dismissed, command.reason)
    if not command.dismissed:
        reason = f"it stands: {command.reason}"
        event = Event("resolved", older.key, newer.key, older.trust, older.trust, older.status, reason)
        plan = Plan("resolve", command.scope, resolved=(resolved,), events=(event,))
        return plan, ResolveOutcome(newer.memory_id, older.memory_id, command.scope, dismissed=False)
    work = _dismiss(snapshot, newer.key, older.key, Cause(newer.key, "contradicted by a newer memory", now), rules)
    final = work.states[older.key]
    # The withdrawals that follow say what became of the numbers.
    event = Event("resolved", older.key, newer.key, older.trust, older.trust, final.status, f"dismissed: {command.reason}")
    left = [key for key in snapshot.contradicted_by(newer.key) if key != older.key]
    plan = Plan(
        "resolve",
        command.scope,
        states=tuple(work.states.values()),
        drops=tuple(work.drops),
        withdrawn=tuple(work.withdrawn),
        resolved=(resolved,),
        cascade_closed=() if left else _closing(snapshot, [newer.key]),
        events=(event, *work.events),
    )
    ids = snapshot.memory_ids(work.states)
    return plan, ResolveOutcome(newer.memory_id, older.memory_id, command.scope, dismissed=True, withdrawn=work.outcomes(ids))


def _dismiss(snapshot: Snapshot, newer: int, older: int, cause: Cause, rules: TrustRules) -> _Working:
    """Withdraw the contradiction and put every other drop of its cause where the remaining contradictions leave it."""
    left = [key for key in snapshot.contradicted_by(newer) if key != older]
    target = {key: hop for hop, key in affected(snapshot, left, newer, rules)} if left else {}
    drops = snapshot.standing_drops_by(newer)
    work = _Working.of(snapshot, sorted({drop.memory for drop in drops}))
    for drop in drops:
        if drop.memory in left:
            continue
        hop = target.get(drop.memory)
        if hop == drop.hop:
            continue
        work.withdraw(drop, newer, "the contradiction was dismissed", rules)
        if hop is not None and (drop.memory != older or work.states[older].status.current):
            work.fall(drop.memory, hop, cause, rules)
    changed = {w.memory for w in work.withdrawn}
    work.states = {key: state for key, state in work.states.items() if key in changed}
    return work


def spread(snapshot: Snapshot, cause: int, now: Instant, rules: TrustRules) -> tuple[Plan, LinkOutcome]:
    """Plan the next part of a cascade that was cut at `cascade_limit` dependents."""
    record = snapshot.record(cause)
    done = set(snapshot.dropped_ever_by(cause))
    roots = snapshot.contradicted_by(cause)
    open_pairs = [pair for pair in affected(snapshot, roots, cause, rules) if pair[1] not in done] if roots else []
    reached = changeable(snapshot, open_pairs)
    part = reached[: rules.cascade_limit]
    made: Sequence[Fall] = falls(snapshot, part, Cause(cause, "contradicted by a newer memory", now), rules)
    plan = Plan(
        "spread",
        record.scope,
        states=tuple(fallen.state for fallen in made),
        drops=tuple(fallen.drop for fallen in made),
        cascade_closed=() if len(reached) > len(part) else (cause,),
        events=tuple(fall_event(fallen) for fallen in made),
    )
    return plan, LinkOutcome(record.scope, len(made))

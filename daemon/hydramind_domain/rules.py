"""Planning of remember, revise and late links: pure functions of a snapshot, a command and the commit's time.

Every rule here is stated in docs/dev/semantics.md (Trust; Conflict check; Revise, version, forget).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hydramind_domain.canonical import claim_hash
from hydramind_domain.cascade import Cause, Fall, affected, changeable, falls
from hydramind_domain.commands import Link, NewClaim, Remember, Revise
from hydramind_domain.errors import Conflict, FailedPrecondition, InvalidArgument, NotFound
from hydramind_domain.model import (
    Actor,
    EntityLink,
    FoundConflict,
    Instant,
    MemoryRecord,
    MemoryState,
    Origin,
    Status,
    TrustRules,
)
from hydramind_domain.outcomes import LISTED, ConflictOutcome, DecayOutcome, LinkOutcome, RememberOutcome
from hydramind_domain.plan import ContradictsAdded, Event, MemoryAdded, Plan, SupersededAdded
from hydramind_domain.snapshot import Snapshot
from hydramind_domain.trust import FULL_TRUST

_GONE = (Status.FORGOTTEN, Status.PURGED)
_DEPENDENTS_LISTED = 100


def existing(snapshot: Snapshot, scope: str, memory_id: str, field: str = "memory_id") -> MemoryRecord:
    """A memory of the scope that is neither forgotten nor purged; else NotFound, the same for a foreign scope."""
    record = snapshot.find(memory_id)
    if record is None or record.scope != scope or record.status in _GONE:
        raise NotFound(
            f"{field}: there is no memory {memory_id!r} in scope {scope!r}",
            reason="MEMORY_NOT_FOUND",
            metadata={"field": field, "memory_id": memory_id, "scope": scope},
        )
    return record


@dataclass(frozen=True, slots=True)
class _Impact:
    """What a new memory does to the others."""

    hits: Sequence[Fall]
    dependents: Sequence[Fall]
    found: Sequence[FoundConflict]
    spreading: bool

    @property
    def falls(self) -> Sequence[Fall]:
        return [*self.hits, *self.dependents]


def _impact(snapshot: Snapshot, claim: NewClaim, cause: Cause, excluded: frozenset[int], rules: TrustRules) -> _Impact:
    """Drops on what the claim contradicts (active ones only) and on what was derived from that."""
    by_key = {found.key: found for found in claim.conflicts if found.key not in excluded}
    states = snapshot.states(by_key)
    roots = sorted(key for key, state in states.items() if state.status is Status.ACTIVE)
    if not roots:
        return _Impact((), (), (), spreading=False)
    reached = changeable(snapshot, affected(snapshot, roots, cause.key, rules))
    now, later = reached[: rules.cascade_limit], reached[rules.cascade_limit :]
    return _Impact(
        falls(snapshot, [(0, key) for key in roots], cause, rules),
        falls(snapshot, now, cause, rules),
        [by_key[key] for key in roots],
        spreading=bool(later),
    )


def _contradicts(impact: _Impact, newer: int) -> tuple[ContradictsAdded, ...]:
    return tuple(
        ContradictsAdded(newer, hit.state.key, f.reason_code, f.reason, f.spans, hit.drop.before, hit.drop.after)
        for hit, f in zip(impact.hits, impact.found, strict=True)
    )


def fall_event(fallen: Fall) -> Event:
    """The audit event of a drop."""
    drop, state = fallen.drop, fallen.state
    kind = "contradicted" if drop.hop == 0 else "decayed"
    return Event(kind, drop.memory, drop.cause, drop.before, drop.after, state.status, drop.reason)


@dataclass(frozen=True, slots=True)
class _Birth:
    """What a new memory is made of, whichever command makes it."""

    key: int
    scope: str
    claim: NewClaim
    actor: Actor
    source: str
    created_at: Instant
    valid_from: Instant
    valid_to: Instant | None
    digest: bytes
    entities: tuple[EntityLink, ...]
    parents: tuple[int, ...]

    def added(self) -> MemoryAdded:
        state = MemoryState(self.key, Status.ACTIVE, FULL_TRUST, self.valid_to, 1, 1)
        return MemoryAdded(
            self.key,
            self.claim.memory_id,
            self.scope,
            self.claim.content,
            self.source,
            self.actor,
            self.created_at,
            self.valid_from,
            self.claim.suspicious,
            self.digest,
            self.entities,
            self.parents,
            state,
            self.claim.index,
        )


def _remembered_event(key: int) -> Event:
    return Event("remembered", key, None, FULL_TRUST, FULL_TRUST, Status.ACTIVE, "")


def _birth_plan(method: str, birth: _Birth, impact: _Impact) -> Plan:
    return Plan(
        method,
        birth.scope,
        added=(birth.added(),),
        states=tuple(fallen.state for fallen in impact.falls),
        contradicts=_contradicts(impact, birth.key),
        drops=tuple(fallen.drop for fallen in impact.falls),
        cascade_open=(birth.key,) if impact.spreading else (),
        events=(_remembered_event(birth.key), *(fall_event(fallen) for fallen in impact.falls)),
    )


def _birth_outcome(snapshot: Snapshot, birth: _Birth, impact: _Impact) -> RememberOutcome:
    listed = impact.dependents[:LISTED]
    ids = snapshot.memory_ids([f.state.key for f in (*impact.hits, *listed)])
    return RememberOutcome(
        birth.claim.memory_id,
        birth.scope,
        FULL_TRUST,
        1,
        Status.ACTIVE,
        birth.created_at,
        birth.valid_from,
        entities=birth.entities,
        conflicts=tuple(
            ConflictOutcome(ids[hit.state.key], f.reason_code, f.reason, f.spans, hit.drop.before, hit.drop.after)
            for hit, f in zip(impact.hits, impact.found, strict=True)
        ),
        decayed=tuple(DecayOutcome(ids[f.state.key], f.drop.hop, f.drop.before, f.drop.after) for f in listed),
        decayed_total=len(impact.dependents),
        still_spreading=impact.spreading,
    )


def _again(snapshot: Snapshot, command: Remember, key: int) -> tuple[Plan, RememberOutcome]:
    """The same claim again: support rises. An echo of what was just recalled raises nothing."""
    echo = command.echo_of is not None
    record = snapshot.record(key)
    outcome = RememberOutcome(
        record.memory_id,
        record.scope,
        record.trust,
        record.state.version,
        record.status,
        record.created_at,
        record.valid_from,
        entities=tuple(snapshot.entities(key)),
        duplicate=True,
        echo=echo,
    )
    if echo:
        return Plan("remember", command.scope), outcome
    state = replace(record.state, support=record.state.support + 1)
    event = Event("supported", key, None, state.trust, state.trust, state.status, command.source)
    return Plan("remember", command.scope, states=(state,), events=(event,)), outcome


def _check_validity(valid_from: Instant, valid_to: Instant | None) -> None:
    if valid_to is not None and valid_to < valid_from:
        raise InvalidArgument.of("valid_to", "is before valid_from; a fact cannot end before it begins")


def remember(snapshot: Snapshot, command: Remember, now: Instant, rules: TrustRules) -> tuple[Plan, RememberOutcome]:
    """Plan a new memory.

    Raises NotFound for an unknown parent, InvalidArgument for an impossible validity.
    """
    parents = tuple(dict.fromkeys(existing(snapshot, command.scope, p, "derived_from").key for p in command.parents))
    explicit = [link.norm for link in command.claim.entities if link.origin is Origin.EXPLICIT]
    digest = claim_hash(command.claim.content_norm, explicit, command.parents, command.valid_from)
    same = snapshot.active_duplicate(command.scope, digest) if command.echo_of is None else command.echo_of
    if same is not None:
        return _again(snapshot, command, same)
    created_at = now if command.created_at is None else command.created_at
    valid_from = created_at if command.valid_from is None else command.valid_from
    _check_validity(valid_from, command.valid_to)
    birth = _Birth(
        snapshot.next_key(),
        command.scope,
        command.claim,
        command.actor,
        command.source,
        created_at,
        valid_from,
        command.valid_to,
        digest,
        command.claim.entities,
        parents,
    )
    cause = Cause(birth.key, "contradicted by a newer memory", now)
    impact = _impact(snapshot, command.claim, cause, frozenset(), rules)
    return _birth_plan("remember", birth, impact), _birth_outcome(snapshot, birth, impact)


def _current(snapshot: Snapshot, key: int) -> MemoryRecord:
    """The end of a chain of revisions."""
    seen = {key}
    while (successor := snapshot.successor(key)) is not None and successor not in seen:
        key = successor
        seen.add(key)
    return snapshot.record(key)


def _revisable(snapshot: Snapshot, command: Revise) -> MemoryRecord:
    old = existing(snapshot, command.scope, command.memory_id)
    if old.status is Status.SUPERSEDED:
        current = _current(snapshot, old.key)
        raise FailedPrecondition(
            f"memory_id: {old.memory_id} was superseded; the current memory is {current.memory_id} "
            f"(version {current.state.version}); read it and revise that one",
            reason="ALREADY_SUPERSEDED",
            metadata={
                "field": "memory_id",
                "current_id": current.memory_id,
                "current_version": str(current.state.version),
                "current_status": current.status.value,
            },
        )
    if command.expected_version not in {0, old.state.version}:
        raise Conflict(
            f"expected_version: {old.memory_id} is at version {old.state.version}, not {command.expected_version}; "
            "somebody changed it; read it again and decide",
            reason="VERSION_MISMATCH",
            metadata={
                "field": "expected_version",
                "expected_version": str(command.expected_version),
                "actual_version": str(old.state.version),
            },
        )
    return old


def _inherited(snapshot: Snapshot, old: int, claim: NewClaim) -> tuple[EntityLink, ...]:
    """Entities found in the new content or given, then the old one's; what the old one was said to be about stays said."""
    before = snapshot.entities(old)
    said = {link.norm for link in before if link.origin is not Origin.EXTRACTED}
    found = {link.norm for link in claim.entities}
    mine = (
        replace(link, origin=Origin.INHERITED) if link.origin is Origin.EXTRACTED and link.norm in said else link
        for link in claim.entities
    )
    return (*mine, *(replace(link, origin=Origin.INHERITED) for link in before if link.norm not in found))


def _revision_start(command: Revise, old: MemoryRecord, created_at: Instant) -> Instant:
    if command.valid_from is None:
        return max(created_at, old.valid_from)
    if command.valid_from < old.valid_from:
        raise InvalidArgument.of("valid_from", "is before the old memory's valid_from; give that time or a later one")
    return command.valid_from


def _superseded(old: MemoryRecord, valid_from: Instant) -> MemoryState:
    end = valid_from if old.state.valid_to is None else min(old.state.valid_to, valid_from)
    return replace(old.state, status=Status.SUPERSEDED, valid_to=end, version=old.state.version + 1)


def revise(snapshot: Snapshot, command: Revise, now: Instant, rules: TrustRules) -> tuple[Plan, RememberOutcome]:
    """Plan a revision: the old memory is superseded and keeps its trust; dependents stay on it.

    Raises NotFound, FailedPrecondition (ALREADY_SUPERSEDED), Conflict (VERSION_MISMATCH), InvalidArgument.
    """
    old = _revisable(snapshot, command)
    created_at = now if command.created_at is None else command.created_at
    valid_from = _revision_start(command, old, created_at)
    entities = _inherited(snapshot, old.key, command.claim)
    parents = tuple(snapshot.parents(old.key))
    parent_ids = sorted(snapshot.memory_ids(parents).values())
    norms = [link.norm for link in entities if link.origin is not Origin.EXTRACTED]
    birth = _Birth(
        snapshot.next_key(),
        command.scope,
        command.claim,
        command.actor,
        command.source,
        created_at,
        valid_from,
        None,
        claim_hash(command.claim.content_norm, norms, parent_ids, command.valid_from),
        entities,
        parents,
    )
    cause = Cause(birth.key, "contradicted by a newer memory", now)
    impact = _impact(snapshot, command.claim, cause, frozenset({old.key}), rules)
    ended = _superseded(old, valid_from)
    plan = _birth_plan("revise", birth, impact)
    event = Event("superseded", old.key, birth.key, old.trust, old.trust, ended.status, command.reason)
    plan = replace(
        plan,
        states=(ended, *plan.states),
        superseded=(SupersededAdded(old.key, birth.key, command.reason),),
        events=(plan.events[0], event, *plan.events[1:]),
    )
    children = list(snapshot.dependents([old.key]).get(old.key, ()))[:_DEPENDENTS_LISTED]
    ids = snapshot.memory_ids(children)
    outcome = _birth_outcome(snapshot, birth, impact)
    return plan, replace(outcome, superseded_id=old.memory_id, dependents=tuple(ids[c] for c in children))


def link(snapshot: Snapshot, command: Link, now: Instant, rules: TrustRules) -> tuple[Plan, LinkOutcome]:
    """Plan late DERIVED_FROM edges; those that exist already are left out. Numbers do not change."""
    del now, rules
    child = existing(snapshot, command.scope, command.memory_id).key
    there = set(snapshot.parents(child))
    wanted = dict.fromkeys(existing(snapshot, command.scope, p, "derived_from").key for p in command.parents)
    new = tuple((child, parent) for parent in wanted if parent not in there and parent != child)
    return Plan("link", command.scope, derived=new), LinkOutcome(command.scope, len(new))

"""How a contradiction runs down the provenance (semantics: Trust)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hydramind_domain.model import Drop, Instant, MemoryState, Status, TrustRules
from hydramind_domain.snapshot import Snapshot
from hydramind_domain.trust import drop_amount, drop_id, trust_of

_CHANGEABLE = (Status.ACTIVE, Status.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class Fall:
    """A drop and the state that it leaves."""

    drop: Drop
    state: MemoryState


@dataclass(frozen=True, slots=True)
class Cause:
    """What every drop of one command shares."""

    key: int
    reason: str
    at: Instant


def distances(snapshot: Snapshot, roots: Collection[int], hops: int) -> Mapping[int, int]:
    """Least DERIVED_FROM distance (1..hops) of every dependent from the roots; roots are not among them.

    The walk passes through memories of any status; a cycle ends it because a vertex is visited once.
    """
    seen = set(roots)
    frontier: Collection[int] = seen
    found: dict[int, int] = {}
    for hop in range(1, hops + 1):
        reached = {child for children in snapshot.dependents(frontier).values() for child in children} - seen
        seen |= reached
        found.update(dict.fromkeys(reached, hop))
        frontier = reached
        if not reached:
            break
    return found


def affected(snapshot: Snapshot, roots: Collection[int], cause: int, rules: TrustRules) -> Sequence[tuple[int, int]]:
    """(hop, key) of the dependents that a contradiction by `cause` of `roots` reaches, nearest and oldest first.

    Only memories that were there before the cause count.
    """
    return sorted((hop, key) for key, hop in distances(snapshot, roots, rules.hops).items() if key < cause)


def changeable(snapshot: Snapshot, targets: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Those of the targets (hop, key) that a cascade changes: active and contradicted ones."""
    states = snapshot.states([key for _, key in targets])
    return [(hop, key) for hop, key in targets if states[key].status in _CHANGEABLE]


def fall(state: MemoryState, standing: Sequence[Drop], cause: Cause, hop: int, rules: TrustRules) -> Fall:
    """One drop on one memory. Status and version change at hop 0 only."""
    amount = drop_amount(hop, rules)
    after = trust_of([*(drop.amount for drop in standing), amount], rules.floor)
    drop = Drop(drop_id(cause.key, state.key, hop), cause.key, state.key, hop, amount, state.trust, after, cause.reason, cause.at)
    contradicted = hop == 0
    return Fall(
        drop,
        MemoryState(
            state.key,
            Status.CONTRADICTED if contradicted else state.status,
            after,
            state.valid_to,
            state.version + int(contradicted and state.status is not Status.CONTRADICTED),
            state.support,
        ),
    )


def falls(snapshot: Snapshot, targets: Sequence[tuple[int, int]], cause: Cause, rules: TrustRules) -> Sequence[Fall]:
    """Drops on the targets (hop, key), in the given order."""
    keys = [key for _, key in targets]
    states = snapshot.states(keys)
    standing = snapshot.standing_drops_on(keys)
    return [fall(states[key], standing.get(key, ()), cause, hop, rules) for hop, key in targets]

"""Laws of trust over random histories: a function of the set of standing drops, exactly undone, never across scopes."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from hydramind_domain.model import Drop, Status, TrustRules
from hydramind_domain.trust import drop_amount, drop_id, is_contradicted, trust_of
from tests.unit.domain.test_rules import World

RULES = TrustRules()
NAMES = [f"m{n}" for n in range(8)]


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, list[str], list[str]]]:
    """Memories with parents and contradicted memories among the earlier ones."""
    steps = []
    for n, name in enumerate(NAMES):
        earlier = NAMES[:n]
        parents = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if earlier else []
        against = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2)) if earlier else []
        steps.append((name, parents, against))
    return steps


def play(steps: list[tuple[str, list[str], list[str]]], rules: TrustRules = RULES) -> World:
    world = World(rules)
    for name, parents, against in steps:
        world.remember(name, on=parents, against=against)
    return world


def by_hand(world: World) -> dict[str, tuple[float, bool]]:
    """Trust and contradictedness from the standing drops alone."""
    found = {}
    for memory in world.graph.memories.values():
        standing = [d for d in world.graph.drops.values() if d.memory == memory.key and d.drop_id not in world.graph.withdrawn]
        trust = round(max(RULES.floor, 1 - math.fsum(d.amount for d in standing)), 6)
        found[memory.memory_id] = (trust, any(d.hop == 0 for d in standing))
    return found


@settings(max_examples=150, deadline=None)
@given(histories())
def test_trust_and_status_follow_from_the_standing_drops(steps) -> None:
    world = play(steps)
    for name, (trust, contradicted) in by_hand(world).items():
        assert world.trust(name) == [trust]
        assert (world.status(name) is Status.CONTRADICTED) == contradicted


@settings(max_examples=150, deadline=None)
@given(histories(), st.randoms(use_true_random=False))
def test_forgetting_every_cause_in_any_order_gives_full_trust_everywhere(steps, random) -> None:
    world = play(steps)
    names = list(NAMES)
    random.shuffle(names)
    for name in names:
        world.forget(name)
        for other, (trust, _) in by_hand(world).items():
            assert world.trust(other) == [trust]
    assert world.trust(*NAMES) == [1.0] * len(NAMES)


@settings(max_examples=150, deadline=None)
@given(histories())
def test_dismissing_every_contradiction_gives_full_trust_everywhere(steps) -> None:
    world = play(steps)
    for newer, older in sorted(world.graph.contradictions):
        world.dismiss(world.graph.record(newer).memory_id, world.graph.record(older).memory_id)
    assert world.trust(*NAMES) == [1.0] * len(NAMES)
    assert {world.status(n) for n in NAMES} == {Status.ACTIVE}


@settings(max_examples=100, deadline=None)
@given(histories(), st.integers(0, 7))
def test_dismissing_what_a_memory_contradicts_equals_never_having_contradicted_it(steps, which) -> None:
    name, parents, against = steps[which]
    if not against or which != len(steps) - 1:
        steps = [*steps, ("last", [], NAMES[:2])]
        name, parents, against = steps[-1]
    world = play(steps)
    really = [world.graph.record(older).memory_id for newer, older in world.graph.contradictions if newer == world.key(name)]
    for older in really:
        world.dismiss(name, older)
    without = play([*steps[:-1], (name, parents, [])])
    assert world.trust(*NAMES) == without.trust(*NAMES)
    assert [world.status(n) for n in NAMES] == [without.status(n) for n in NAMES]


@settings(max_examples=100, deadline=None)
@given(histories(), st.integers(1, 3))
def test_a_cascade_in_parts_ends_where_one_in_a_single_step_does(steps, limit) -> None:
    whole = play(steps)
    world = World(TrustRules(cascade_limit=limit))
    for name, parents, against in steps:
        world.remember(name, on=parents, against=against)
        world.spread()
    assert world.trust(*NAMES) == whole.trust(*NAMES)


@given(st.lists(st.floats(0, 0.5), max_size=20), st.randoms(use_true_random=False))
def test_trust_does_not_depend_on_the_order_of_drops(amounts, random) -> None:
    shuffled = list(amounts)
    random.shuffle(shuffled)
    assert trust_of(amounts, 0.05) == trust_of(shuffled, 0.05)
    assert 0.05 <= trust_of(amounts, 0.05) <= 1.0


def test_drops_have_the_sizes_of_the_rules() -> None:
    assert [drop_amount(hop, RULES) for hop in range(3)] == [0.4, 0.15, 0.3]
    other = TrustRules(contradiction_drop=0.5, hop_drop=0.1)
    assert [drop_amount(hop, other) for hop in range(3)] == [0.5, 0.1, 0.2]


def test_drop_ids_are_fixed_for_ever_and_differ_by_cause_memory_and_hop() -> None:
    ids = {drop_id(c, m, h) for c in range(20) for m in range(20) for h in range(3)}
    assert len(ids) == 1_200
    assert all(0 <= i < 2**63 for i in ids)
    assert drop_id(2, 1, 0) == 2572897287663255757


def test_only_a_drop_at_hop_zero_is_a_contradiction() -> None:
    near, far = (Drop(hop, 2, 1, hop, 0.1, 1.0, 0.9, "", 0) for hop in (0, 1))
    assert is_contradicted([far, near])
    assert not is_contradicted([far])

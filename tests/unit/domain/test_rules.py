"""Trust, contradiction, revision and forgetting, on the simplest graph there can be."""

from __future__ import annotations

from itertools import permutations

import pytest

from hydramind_domain import plan_codec, rules, withdraw
from hydramind_domain.commands import Forget, Link, NewClaim, Purge, Remember, Resolve, Revise
from hydramind_domain.errors import Conflict, FailedPrecondition, InvalidArgument, NotFound
from hydramind_domain.model import Actor, EntityLink, FoundConflict, Origin, Status, TrustRules
from hydramind_domain.outcomes import RememberOutcome
from tests.fakes.memory_graph import MemoryGraph

RULES = TrustRules()
ME = Actor("test", "1", 1, "s")
POLICY = EntityLink("deploy-policy", "deploy policy", "explicit", Origin.EXPLICIT)


class World:
    """Drives rules on a graph with short names for memories."""

    def __init__(self, rules_: TrustRules = RULES) -> None:
        self.graph = MemoryGraph()
        self.rules = rules_
        self.now = 1_000_000

    def tick(self) -> int:
        self.now += 1_000_000
        return self.now

    def remember(self, name: str, *, on=(), against=(), scope: str = "a", content: str | None = None, **kw) -> RememberOutcome:
        found = tuple(FoundConflict(self.key(o), "negation", "one negates the other") for o in against)
        text = name if content is None else content
        claim = NewClaim(name, text, text, (POLICY,), found)
        plan, outcome = rules.remember(self.graph, Remember(scope, claim, ME, parents=tuple(on), **kw), self.tick(), self.rules)
        self.apply(plan)
        return outcome

    def apply(self, plan) -> None:
        contents = {added.key: added.content for added in plan.added}
        assert plan_codec.decode(plan_codec.encode(plan), lambda key: contents[key]) == plan
        self.graph.apply(plan)

    def revise(self, name: str, new: str, *, against=(), **kw) -> RememberOutcome:
        found = tuple(FoundConflict(self.key(o), "negation", "one negates the other") for o in against)
        command = Revise(kw.pop("scope", "a"), name, NewClaim(new, new, new, (), found), ME, "because", **kw)
        plan, outcome = rules.revise(self.graph, command, self.tick(), self.rules)
        self.apply(plan)
        return outcome

    def forget(self, name: str, scope: str = "a"):
        plan, outcome = withdraw.forget(self.graph, Forget(scope, name, "wrong"), self.tick(), self.rules)
        self.apply(plan)
        return outcome

    def dismiss(self, one: str, two: str, *, dismissed: bool = True):
        command = Resolve("a", one, two, dismissed, "mistake")
        plan, outcome = withdraw.resolve(self.graph, command, self.tick(), self.rules)
        self.apply(plan)
        return outcome

    def purge(self, *names: str):
        plan, outcome = withdraw.purge(self.graph, Purge("a", names, "secret"), self.tick(), self.rules)
        self.apply(plan)
        return outcome

    def spread(self) -> int:
        rounds = 0
        while self.graph.cascades:
            plan, _ = withdraw.spread(self.graph, self.graph.cascades[0], self.tick(), self.rules)
            self.apply(plan)
            rounds += 1
        return rounds

    def key(self, name: str) -> int:
        record = self.graph.find(name)
        assert record is not None
        return record.key

    def trust(self, *names: str) -> list[float]:
        return [self.graph.record(self.key(n)).trust for n in names]

    def status(self, name: str) -> Status:
        return self.graph.record(self.key(name)).status


@pytest.fixture
def chain() -> World:
    """policy ← checklist ← runbook."""
    world = World()
    world.remember("policy")
    world.remember("checklist", on=["policy"])
    world.remember("runbook", on=["checklist"])
    return world


def test_a_contradiction_lowers_the_older_claim_and_its_dependents_within_two_hops(chain: World) -> None:
    chain.remember("card", on=["runbook"])
    outcome = chain.remember("opposite", against=["policy"])
    assert chain.trust("policy", "checklist", "runbook", "card", "opposite") == [0.6, 0.85, 0.7, 1.0, 1.0]
    assert [(c.memory_id, c.before, c.after) for c in outcome.conflicts] == [("policy", 1.0, 0.6)]
    assert [(d.memory_id, d.hop, d.after) for d in outcome.decayed] == [("checklist", 1, 0.85), ("runbook", 2, 0.7)]
    assert chain.status("policy") is Status.CONTRADICTED
    assert chain.status("checklist") is Status.ACTIVE


def test_versions_count_status_changes_and_not_trust(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    versions = [chain.graph.record(chain.key(n)).state.version for n in ("policy", "checklist", "opposite")]
    assert versions == [2, 1, 1]


def test_a_contradicted_memory_is_not_contradicted_again(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    again = chain.remember("opposite again", against=["policy"])
    assert again.conflicts == ()
    assert chain.trust("policy") == [0.6]


def test_forgetting_the_cause_gives_every_number_back(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    outcome = chain.forget("opposite")
    assert chain.trust("policy", "checklist", "runbook") == [1.0, 1.0, 1.0]
    assert chain.status("policy") is Status.ACTIVE
    assert [(w.memory_id, w.before, w.after) for w in outcome.withdrawn] == [
        ("policy", 0.6, 1.0),
        ("checklist", 0.85, 1.0),
        ("runbook", 0.7, 1.0),
    ]
    assert chain.graph.record(chain.key("policy")).state.version == 3


def test_forgetting_twice_changes_nothing_more(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    first = chain.forget("opposite")
    second = chain.forget("opposite")
    assert (second.status, second.version, second.withdrawn) == (first.status, first.version, ())


def test_dismissing_a_contradiction_gives_every_number_back_and_says_which(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    outcome = chain.dismiss("policy", "opposite")
    assert (outcome.memory_id, outcome.other_id) == ("opposite", "policy")
    assert chain.trust("policy", "checklist", "runbook", "opposite") == [1.0] * 4
    assert len(outcome.withdrawn) == 3
    with pytest.raises(NotFound) as error:
        chain.dismiss("policy", "opposite")
    assert error.value.reason == "CONFLICT_NOT_FOUND"


def test_confirming_a_contradiction_moves_no_number(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    outcome = chain.dismiss("opposite", "policy", dismissed=False)
    assert outcome.withdrawn == ()
    assert chain.trust("policy", "checklist", "runbook") == [0.6, 0.85, 0.7]


def test_dismissing_one_of_two_contradictions_leaves_what_the_other_alone_would_do() -> None:
    def build(against: list[str]) -> World:
        world = World()
        world.remember("one")
        world.remember("two", on=["one"])
        world.remember("child", on=["one"])
        world.remember("grandchild", on=["child", "two"])
        world.remember("opposite", against=against)
        return world

    names = ("one", "two", "child", "grandchild")
    for kept, dismissed in (("one", "two"), ("two", "one")):
        both = build(["one", "two"])
        both.dismiss("opposite", dismissed)
        alone = build([kept])
        assert both.trust(*names) == alone.trust(*names)
        assert [both.status(n) for n in names] == [alone.status(n) for n in names]


def test_a_diamond_drops_once_at_the_least_distance() -> None:
    world = World()
    world.remember("root")
    world.remember("left", on=["root"])
    world.remember("right", on=["root"])
    world.remember("bottom", on=["left", "right", "root"])
    world.remember("opposite", against=["root"])
    assert world.trust("left", "right", "bottom") == [0.85, 0.85, 0.85]


def test_two_contradicted_roots_with_one_child_drop_it_once() -> None:
    world = World()
    world.remember("one")
    world.remember("two")
    world.remember("child", on=["one", "two"])
    world.remember("opposite", against=["one", "two"])
    assert world.trust("one", "two", "child") == [0.6, 0.6, 0.85]


def test_a_contradicted_memory_derived_from_another_gets_only_its_own_drop() -> None:
    world = World()
    world.remember("one")
    world.remember("two", on=["one"])
    world.remember("three", on=["two"])
    world.remember("opposite", against=["one", "two"])
    assert world.trust("one", "two", "three") == [0.6, 0.6, 0.85]


def test_the_new_memory_is_no_dependent_of_what_it_contradicts() -> None:
    world = World()
    world.remember("one")
    world.remember("opposite", on=["one"], against=["one"])
    assert world.trust("one", "opposite") == [0.6, 1.0]


def test_a_cycle_ends_the_walk() -> None:
    world = World()
    for name in ("one", "two", "three"):
        world.remember(name)
    for child, parent in (("two", "one"), ("three", "two"), ("one", "three")):
        plan, _ = rules.link(world.graph, Link("a", child, (parent,)), world.tick(), RULES)
        world.apply(plan)
    world.remember("opposite", against=["one"])
    assert world.trust("one", "two", "three") == [0.6, 0.85, 0.7]


def test_the_walk_passes_through_superseded_and_forgotten_memories_without_touching_them(chain: World) -> None:
    chain.forget("checklist")
    chain.remember("opposite", against=["policy"])
    assert chain.trust("checklist", "runbook") == [1.0, 0.7]


def test_trust_never_falls_below_the_floor_and_comes_back_exactly() -> None:
    world = World()
    world.remember("root")
    world.remember("leaf", on=["root"])
    for n in range(9):
        world.remember(f"p{n}")
        plan, _ = rules.link(world.graph, Link("a", "leaf", (f"p{n}",)), world.tick(), RULES)
        world.apply(plan)
        world.remember(f"opposite {n}", against=[f"p{n}"])
    assert world.trust("leaf") == [0.05]
    for n in range(9):
        world.forget(f"opposite {n}")
    assert world.trust("leaf") == [1.0]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_withdrawing_in_any_order_ends_in_the_same_state(order: tuple[int, ...]) -> None:
    world = World()
    world.remember("root")
    for n in range(3):
        world.remember(f"parent {n}")
    world.remember("leaf", on=["root", *(f"parent {n}" for n in range(3))])
    for n in range(3):
        world.remember(f"opposite {n}", against=[f"parent {n}"])
    assert world.trust("leaf") == [0.55]
    for n in order[:2]:
        world.forget(f"opposite {n}")
    assert world.trust("leaf") == [0.85]


def test_a_long_cascade_goes_on_in_follow_ups_and_reaches_everybody_once() -> None:
    world = World(TrustRules(cascade_limit=4))
    world.remember("hub")
    for n in range(10):
        world.remember(f"leaf {n}", on=["hub"])
    world.forget("leaf 3")
    outcome = world.remember("opposite", against=["hub"])
    assert (outcome.still_spreading, outcome.decayed_total) == (True, 4)
    assert world.spread() == 2
    assert {n: world.trust(f"leaf {n}")[0] for n in range(10)} == {n: 1.0 if n == 3 else 0.85 for n in range(10)}


def test_forgetting_a_cause_ends_its_cascade() -> None:
    world = World(TrustRules(cascade_limit=1))
    world.remember("hub")
    for n in range(3):
        world.remember(f"leaf {n}", on=["hub"])
    world.remember("opposite", against=["hub"])
    world.forget("opposite")
    assert world.graph.cascades == []
    assert world.trust("hub", "leaf 0", "leaf 1", "leaf 2") == [1.0] * 4


def test_a_dismissal_in_mid_cascade_ends_it_and_restores_all() -> None:
    world = World(TrustRules(cascade_limit=1))
    world.remember("hub")
    for n in range(3):
        world.remember(f"leaf {n}", on=["hub"])
    world.remember("opposite", against=["hub"])
    world.dismiss("opposite", "hub")
    assert world.graph.cascades == []
    assert world.trust("hub", "leaf 0", "leaf 1", "leaf 2") == [1.0] * 4


def test_a_memory_written_after_the_contradiction_is_not_lowered_by_its_late_spread() -> None:
    world = World(TrustRules(cascade_limit=1))
    world.remember("hub")
    world.remember("leaf 0", on=["hub"])
    world.remember("leaf 1", on=["hub"])
    world.remember("opposite", against=["hub"])
    world.remember("later", on=["hub"])
    world.spread()
    assert world.trust("leaf 0", "leaf 1", "later") == [0.85, 0.85, 1.0]


def test_the_same_claim_again_raises_support_and_makes_no_second_memory(chain: World) -> None:
    outcome = chain.remember("other id", content="policy")
    assert (outcome.memory_id, outcome.duplicate) == ("policy", True)
    record = chain.graph.record(chain.key("policy"))
    assert (record.state.support, record.trust) == (2, 1.0)
    assert chain.graph.find("other id") is None


def test_the_same_words_with_another_validity_or_other_parents_are_another_claim(chain: World) -> None:
    assert not chain.remember("dated", content="policy", valid_from=5).duplicate
    assert not chain.remember("derived", content="policy", on=["runbook"]).duplicate


def test_an_echo_raises_nothing(chain: World) -> None:
    outcome = chain.remember("echo", content="policy", echo_of=chain.key("policy"))
    assert (outcome.duplicate, outcome.echo) == (True, True)
    assert chain.graph.record(chain.key("policy")).state.support == 1


def test_a_claim_after_its_contradiction_is_a_new_memory_and_wins(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    outcome = chain.remember("policy returns", content="policy", against=["opposite"])
    assert not outcome.duplicate
    assert chain.trust("policy", "opposite", "policy returns") == [0.6, 0.6, 1.0]


def test_parents_must_exist_in_the_same_scope(chain: World) -> None:
    chain.remember("foreign", scope="b")
    for parent in ("foreign", "nobody"):
        with pytest.raises(NotFound) as error:
            chain.remember("child", on=[parent])
        assert error.value.field == "derived_from"


def test_a_revision_supersedes_and_keeps_trust_entities_and_parents(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    outcome = chain.revise("checklist", "checklist 2")
    assert (outcome.superseded_id, outcome.dependents) == ("checklist", ("runbook",))
    old, new = chain.graph.record(chain.key("checklist")), chain.graph.record(chain.key("checklist 2"))
    assert (old.status, old.trust, old.state.version) == (Status.SUPERSEDED, 0.85, 2)
    assert old.state.valid_to == new.valid_from
    assert [(link.norm, link.origin) for link in chain.graph.entities(new.key)] == [("deploy policy", Origin.INHERITED)]
    assert chain.graph.parents(new.key) == [chain.key("policy")]
    assert chain.graph.parents(chain.key("runbook")) == [chain.key("checklist")]


def test_a_revision_never_contradicts_its_predecessor_but_may_contradict_others(chain: World) -> None:
    chain.remember("other")
    outcome = chain.revise("policy", "policy 2", against=["policy", "other"])
    assert [c.memory_id for c in outcome.conflicts] == ["other"]
    assert chain.trust("policy", "other") == [1.0, 0.6]


def test_a_contradicted_memory_can_be_revised(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    chain.revise("policy", "policy 2")
    assert chain.status("policy") is Status.SUPERSEDED
    chain.forget("opposite")
    assert chain.status("policy") is Status.SUPERSEDED
    assert chain.trust("policy") == [1.0]


def test_of_two_revisions_the_second_is_told_the_current_one(chain: World) -> None:
    chain.revise("policy", "policy 2")
    chain.revise("policy 2", "policy 3")
    with pytest.raises(FailedPrecondition) as error:
        chain.revise("policy", "policy x")
    assert error.value.reason == "ALREADY_SUPERSEDED"
    assert (error.value.metadata["current_id"], error.value.metadata["current_version"]) == ("policy 3", "1")


def test_an_unexpected_version_is_refused_with_both(chain: World) -> None:
    with pytest.raises(Conflict) as error:
        chain.revise("policy", "policy 2", expected_version=7)
    assert (error.value.metadata["expected_version"], error.value.metadata["actual_version"]) == ("7", "1")
    chain.revise("policy", "policy 2", expected_version=1)


def test_a_revision_cannot_begin_before_what_it_replaces(chain: World) -> None:
    start = chain.graph.record(chain.key("policy")).valid_from
    with pytest.raises(InvalidArgument) as error:
        chain.revise("policy", "policy 2", valid_from=start - 1)
    assert error.value.field == "valid_from"
    chain.revise("policy", "policy 2", valid_from=start)


def test_a_revision_of_a_future_fact_begins_with_it() -> None:
    world = World()
    world.remember("plan", valid_from=10**15)
    assert world.revise("plan", "plan 2").valid_from == 10**15


def test_an_imported_end_of_validity_is_not_moved_later_by_a_revision() -> None:
    world = World()
    world.remember("plan", valid_from=1, valid_to=500)
    world.revise("plan", "plan 2", valid_from=900)
    assert world.graph.record(world.key("plan")).state.valid_to == 500


def test_a_fact_cannot_end_before_it_begins() -> None:
    with pytest.raises(InvalidArgument) as error:
        World().remember("plan", valid_from=10, valid_to=9)
    assert error.value.field == "valid_to"


@pytest.mark.parametrize("act", ["revise", "forget", "dismiss"])
def test_forgotten_purged_foreign_and_unknown_memories_are_not_found(chain: World, act: str) -> None:
    chain.remember("foreign", scope="b")
    chain.remember("gone")
    chain.remember("erased")
    chain.forget("gone")
    chain.purge("erased")
    names = ["foreign", "erased", "nobody"] + ([] if act == "forget" else ["gone"])
    for name in names:
        with pytest.raises(NotFound) as error:
            {
                "revise": lambda n=name: chain.revise(n, "new"),
                "forget": lambda n=name: chain.forget(n),
                "dismiss": lambda n=name: chain.dismiss(n, "policy"),
            }[act]()
        assert error.value.field == "memory_id"


def test_a_purge_erases_content_withdraws_drops_and_is_all_or_nothing(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    with pytest.raises(NotFound):
        chain.purge("opposite", "nobody")
    assert chain.trust("policy") == [0.6]
    outcome = chain.purge("opposite", "runbook")
    assert outcome.memory_ids == ("opposite", "runbook")
    assert chain.trust("policy", "checklist", "runbook") == [1.0, 1.0, 1.0]
    assert chain.graph.record(chain.key("opposite")).content == ""
    assert [chain.status(n) for n in ("opposite", "runbook")] == [Status.PURGED, Status.PURGED]
    assert chain.purge("opposite").memory_ids == ()


def test_forgetting_a_contradicted_memory_leaves_the_contradicting_one_alone(chain: World) -> None:
    chain.remember("opposite", against=["policy"])
    chain.forget("policy")
    assert chain.trust("opposite", "checklist", "runbook") == [1.0, 0.85, 0.7]


def test_a_hub_of_ten_thousand_is_lowered_in_follow_ups() -> None:
    world = World()
    world.remember("hub")
    hub = world.key("hub")
    for n in range(10_000):
        claim = NewClaim(f"leaf {n}", f"leaf {n}", f"leaf {n}")
        plan, _ = rules.remember(_Fast(world.graph, hub), Remember("a", claim, ME, parents=("hub",)), world.tick(), RULES)
        world.graph.apply(plan)
    outcome = world.remember("opposite", against=["hub"])
    assert (outcome.decayed_total, len(outcome.decayed), outcome.still_spreading) == (5_000, 1_000, True)
    assert world.spread() == 1
    assert {m.trust for m in world.graph.memories.values() if m.memory_id.startswith("leaf")} == {0.85}


class _Fast:
    """The graph with constant-time answers for building a hub; everything else is the graph's own."""

    def __init__(self, graph: MemoryGraph, hub: int) -> None:
        self._graph, self._hub = graph, hub

    def next_key(self) -> int:
        return len(self._graph.memories) + 1

    def find(self, memory_id: str):
        return self._graph.record(self._hub)

    def active_duplicate(self, scope: str, claim_hash: bytes) -> None:
        return None

    def __getattr__(self, name: str):
        return getattr(self._graph, name)

"""Whole plans and answers, to the last field: what is logged and replayed must not change by accident."""

from __future__ import annotations

import pytest

from hydramind_domain import rules, withdraw
from hydramind_domain.commands import Forget, Link, NewClaim, Purge, Remember, Resolve, Revise
from hydramind_domain.errors import Conflict, FailedPrecondition, InvalidArgument, NotFound
from hydramind_domain.model import (
    Actor,
    Drop,
    EntityLink,
    FoundConflict,
    MemoryState,
    Origin,
    Spans,
    Status,
    TrustRules,
)
from hydramind_domain.outcomes import (
    ConflictOutcome,
    DecayOutcome,
    ForgetOutcome,
    LinkOutcome,
    PurgeOutcome,
    RememberOutcome,
    ResolveOutcome,
    WithdrawnOutcome,
)
from hydramind_domain.plan import (
    ConflictResolved,
    ContradictsAdded,
    DropWithdrawn,
    Event,
    IndexTerms,
    MemoryAdded,
    Plan,
    SupersededAdded,
)
from hydramind_domain.trust import drop_id
from tests.fakes.memory_graph import MemoryGraph

RULES = TrustRules()
ME = Actor("test", "1", 1, "s")
POLICY = EntityLink("deploy-policy", "deploy policy", "explicit", Origin.EXPLICIT)
FOUND = EntityLink("router", "router", "name", Origin.EXTRACTED)
SPANS = Spans(1, 2, 3, 4)
BY_NEWER = "contradicted by a newer memory"
INDEX = IndexTerms(("a",), 1, ("b",))


def state(key: int, status: Status = Status.ACTIVE, trust: float = 1.0, version: int = 1, **kw) -> MemoryState:
    return MemoryState(key, status, trust, kw.get("valid_to"), version, kw.get("support", 1))


def claim(name: str, *conflicts: FoundConflict, entities=(POLICY,), suspicious: bool = False) -> NewClaim:
    return NewClaim(name, f"text {name}", f"norm {name}", entities, conflicts, suspicious, INDEX)


@pytest.fixture
def graph() -> MemoryGraph:
    """m1 ← m2 ← m3, committed at 10, 20 and 30."""
    made = MemoryGraph()
    for n, parents in ((1, ()), (2, ("m1",)), (3, ("m2",))):
        command = Remember("a", claim(f"m{n}"), ME, parents=parents)
        made.apply(rules.remember(made, command, n * 10, RULES)[0])
    return made


def against(graph: MemoryGraph, *keys: int, name: str = "m4", now: int = 40) -> tuple[Plan, RememberOutcome]:
    found = [FoundConflict(key, "negation", "one negates the other", SPANS) for key in keys]
    plan, outcome = rules.remember(graph, Remember("a", claim(name, *found), ME, "notes"), now, RULES)
    graph.apply(plan)
    return plan, outcome


DROPS = (
    Drop(drop_id(4, 1, 0), 4, 1, 0, 0.4, 1.0, 0.6, BY_NEWER, 40),
    Drop(drop_id(4, 2, 1), 4, 2, 1, 0.15, 1.0, 0.85, BY_NEWER, 40),
    Drop(drop_id(4, 3, 2), 4, 3, 2, 0.3, 1.0, 0.7, BY_NEWER, 40),
)
BACK = (
    DropWithdrawn(drop_id(4, 1, 0), 1, 0, 0.6, 1.0, ""),
    DropWithdrawn(drop_id(4, 2, 1), 2, 1, 0.85, 1.0, ""),
    DropWithdrawn(drop_id(4, 3, 2), 3, 2, 0.7, 1.0, ""),
)
RESTORED = (
    WithdrawnOutcome("m1", 0, 0.6, 1.0),
    WithdrawnOutcome("m2", 1, 0.85, 1.0),
    WithdrawnOutcome("m3", 2, 0.7, 1.0),
)


def back(reason: str) -> tuple[DropWithdrawn, ...]:
    return tuple(DropWithdrawn(w.drop_id, w.memory, w.hop, w.before, w.after, reason) for w in BACK)


def back_events(reason: str) -> tuple[Event, ...]:
    return tuple(Event("withdrawn", w.memory, 4, w.before, w.after, "active", reason) for w in BACK)


def test_the_plan_of_a_first_memory() -> None:
    made = MemoryGraph()
    command = Remember(
        "a", claim("m1", entities=(POLICY, FOUND), suspicious=True), ME, "notes", valid_from=5, valid_to=9, created_at=7
    )
    plan, outcome = rules.remember(made, command, 40, RULES)
    (added,) = plan.added
    assert added == MemoryAdded(
        1, "m1", "a", "text m1", "notes", ME, 7, 5, True, added.claim_hash, (POLICY, FOUND), (), state(1, valid_to=9), INDEX
    )
    assert plan == Plan("remember", "a", added=(added,), events=(Event("remembered", 1, None, 1.0, 1.0, "active", ""),))
    assert outcome == RememberOutcome("m1", "a", 1.0, 1, Status.ACTIVE, 7, 5, (POLICY, FOUND))


def test_the_plan_of_a_contradiction(graph: MemoryGraph) -> None:
    plan, outcome = against(graph, 1)
    assert plan.method == "remember"
    assert plan.scope == "a"
    assert plan.states == (state(1, Status.CONTRADICTED, 0.6, 2), state(2, trust=0.85), state(3, trust=0.7))
    assert plan.contradicts == (ContradictsAdded(4, 1, "negation", "one negates the other", SPANS, 1.0, 0.6),)
    assert plan.drops == DROPS
    assert plan.cascade_open == ()
    assert plan.events == (
        Event("remembered", 4, None, 1.0, 1.0, "active", ""),
        Event("contradicted", 1, 4, 1.0, 0.6, "contradicted", BY_NEWER),
        Event("decayed", 2, 4, 1.0, 0.85, "active", BY_NEWER),
        Event("decayed", 3, 4, 1.0, 0.7, "active", BY_NEWER),
    )
    assert outcome == RememberOutcome(
        "m4",
        "a",
        1.0,
        1,
        Status.ACTIVE,
        40,
        40,
        (POLICY,),
        (ConflictOutcome("m1", "negation", "one negates the other", SPANS, 1.0, 0.6),),
        (DecayOutcome("m2", 1, 1.0, 0.85), DecayOutcome("m3", 2, 1.0, 0.7)),
        2,
    )


def test_a_contradiction_that_goes_on_opens_its_cascade(graph: MemoryGraph) -> None:
    found = FoundConflict(1, "negation", "x", SPANS)
    plan, outcome = rules.remember(graph, Remember("a", claim("m4", found), ME), 40, TrustRules(cascade_limit=1))
    assert plan.cascade_open == (4,)
    assert plan.drops == DROPS[:2]
    assert (outcome.still_spreading, outcome.decayed_total) == (True, 1)
    graph.apply(plan)
    plan, done = withdraw.spread(graph, 4, 40, TrustRules(cascade_limit=1))
    assert plan == Plan(
        "spread",
        "a",
        states=(state(3, trust=0.7),),
        drops=DROPS[2:],
        cascade_closed=(4,),
        events=(Event("decayed", 3, 4, 1.0, 0.7, "active", BY_NEWER),),
    )
    assert done == LinkOutcome("a", 1)


def test_the_plan_of_the_same_claim_again(graph: MemoryGraph) -> None:
    plan, outcome = rules.remember(graph, Remember("a", claim("m1"), ME, "again"), 40, RULES)
    assert plan == Plan(
        "remember", "a", states=(state(1, support=2),), events=(Event("supported", 1, None, 1.0, 1.0, "active", "again"),)
    )
    assert outcome == RememberOutcome("m1", "a", 1.0, 1, Status.ACTIVE, 10, 10, (POLICY,), duplicate=True)


def test_the_plan_of_an_echo_is_empty(graph: MemoryGraph) -> None:
    plan, outcome = rules.remember(graph, Remember("a", claim("paraphrase"), ME, echo_of=2), 40, RULES)
    assert plan == Plan("remember", "a")
    assert outcome == RememberOutcome("m2", "a", 1.0, 1, Status.ACTIVE, 20, 20, (POLICY,), duplicate=True, echo=True)


def test_the_plan_of_a_revision(graph: MemoryGraph) -> None:
    command = Revise("a", "m2", claim("m4", entities=(FOUND,)), ME, "moved", "notes", valid_from=35, expected_version=1)
    plan, outcome = rules.revise(graph, command, 40, RULES)
    (added,) = plan.added
    inherited = EntityLink("deploy-policy", "deploy policy", "explicit", Origin.INHERITED)
    assert added == MemoryAdded(
        4, "m4", "a", "text m4", "notes", ME, 40, 35, False, added.claim_hash, (FOUND, inherited), (1,), state(4), INDEX
    )
    assert plan == Plan(
        "revise",
        "a",
        added=(added,),
        states=(state(2, Status.SUPERSEDED, 1.0, 2, valid_to=35),),
        superseded=(SupersededAdded(2, 4, "moved"),),
        events=(
            Event("remembered", 4, None, 1.0, 1.0, "active", ""),
            Event("superseded", 2, 4, 1.0, 1.0, "superseded", "moved"),
        ),
    )
    assert outcome == RememberOutcome(
        "m4", "a", 1.0, 1, Status.ACTIVE, 40, 35, (FOUND, inherited), superseded_id="m2", dependents=("m3",)
    )


def test_a_revised_claim_is_the_same_as_the_one_remembered_with_its_entities_and_parents(graph: MemoryGraph) -> None:
    plan, _ = rules.revise(graph, Revise("a", "m2", claim("new", entities=(FOUND,)), ME, "moved"), 40, RULES)
    graph.apply(plan)
    again = NewClaim("other", "text new", "norm new", (POLICY, FOUND))
    _, outcome = rules.remember(graph, Remember("a", again, ME, parents=("m1",)), 50, RULES)
    assert (outcome.duplicate, outcome.memory_id) == (True, "new")


def test_what_a_memory_was_said_to_be_about_stays_said_when_the_new_content_names_it(graph: MemoryGraph) -> None:
    named = EntityLink("Deploy policy", "deploy policy", "known", Origin.EXTRACTED)
    _, outcome = rules.revise(graph, Revise("a", "m1", claim("m4", entities=(named,)), ME, "moved"), 40, RULES)
    assert [(link.norm, link.origin) for link in outcome.entities] == [("deploy policy", Origin.INHERITED)]


def test_an_imported_revision_keeps_its_time(graph: MemoryGraph) -> None:
    plan, outcome = rules.revise(graph, Revise("a", "m1", claim("m4"), ME, "old", created_at=33), 40, RULES)
    assert (plan.added[0].created_at, plan.added[0].valid_from, outcome.created_at) == (33, 33, 33)


def test_the_plan_of_forgetting(graph: MemoryGraph) -> None:
    against(graph, 1)
    plan, outcome = withdraw.forget(graph, Forget("a", "m4", "wrong"), 50, RULES)
    assert set(plan.states) == {state(1, version=3), state(2), state(3), state(4, Status.FORGOTTEN, version=2)}
    assert plan == Plan(
        "forget",
        "a",
        states=plan.states,
        withdrawn=back("the cause was forgotten"),
        events=(Event("forgotten", 4, None, 1.0, 1.0, "forgotten", "wrong"), *back_events("the cause was forgotten")),
    )
    assert outcome == ForgetOutcome("m4", "a", Status.FORGOTTEN, 2, RESTORED)
    graph.apply(plan)
    again, outcome = withdraw.forget(graph, Forget("a", "m4"), 60, RULES)
    assert again == Plan("forget", "a")
    assert outcome == ForgetOutcome("m4", "a", Status.FORGOTTEN, 2)


def test_the_plan_of_purging(graph: MemoryGraph) -> None:
    against(graph, 1)
    plan, outcome = withdraw.purge(graph, Purge("a", ("m4", "m4"), "secret"), 50, RULES)
    assert set(plan.states) == {state(1, version=3), state(2), state(3), state(4, Status.PURGED, version=2)}
    assert plan == Plan(
        "purge",
        "a",
        states=plan.states,
        withdrawn=back("the cause was purged"),
        purged=(4,),
        events=(Event("purged", 4, None, 1.0, 1.0, "purged", "secret"), *back_events("the cause was purged")),
    )
    assert outcome == PurgeOutcome(("m4",), "a", RESTORED)
    graph.apply(plan)
    again, outcome = withdraw.purge(graph, Purge("a", ("m4",), "secret"), 60, RULES)
    assert again == Plan("purge", "a")
    assert outcome == PurgeOutcome((), "a")


@pytest.mark.parametrize("end", ["forget", "purge", "dismiss"])
def test_whatever_ends_a_cause_closes_its_cascade_and_no_other(graph: MemoryGraph, end: str) -> None:
    graph.apply(rules.remember(graph, Remember("a", claim("other"), ME), 35, RULES)[0])
    graph.cascades = [4]
    found = FoundConflict(1, "negation", "x", SPANS)
    graph.apply(rules.remember(graph, Remember("a", claim("m5", found), ME), 40, TrustRules(cascade_limit=1))[0])
    assert graph.cascades == [4, 5]
    act = {
        "forget": lambda: withdraw.forget(graph, Forget("a", "m5"), 50, RULES),
        "purge": lambda: withdraw.purge(graph, Purge("a", ("m5",), "x"), 50, RULES),
        "dismiss": lambda: withdraw.resolve(graph, Resolve("a", "m5", "m1", True, "x"), 50, RULES),
    }[end]
    assert act()[0].cascade_closed == (5,)


def test_the_plan_of_a_dismissal(graph: MemoryGraph) -> None:
    against(graph, 1)
    plan, outcome = withdraw.resolve(graph, Resolve("a", "m1", "m4", True, "mistake"), 50, RULES)
    reason = "the contradiction was dismissed"
    assert set(plan.states) == {state(1, version=3), state(2), state(3)}
    assert plan == Plan(
        "resolve",
        "a",
        states=plan.states,
        withdrawn=back(reason),
        resolved=(ConflictResolved(4, 1, True, "mistake"),),
        events=(Event("resolved", 1, 4, 0.6, 0.6, "active", "dismissed: mistake"), *back_events(reason)),
    )
    assert outcome == ResolveOutcome("m4", "m1", "a", True, RESTORED)


def test_the_plan_of_a_dismissal_beside_a_contradiction_that_stays(graph: MemoryGraph) -> None:
    against(graph, 1, 2)
    assert [m.trust for m in graph.memories.values()] == [0.6, 0.6, 0.85, 1.0]
    plan, outcome = withdraw.resolve(graph, Resolve("a", "m4", "m2", True, "mistake"), 50, RULES)
    reason = "the contradiction was dismissed"
    assert set(plan.states) == {state(2, version=3, trust=0.85), state(3, trust=0.7)}
    assert plan.withdrawn == (
        DropWithdrawn(drop_id(4, 2, 0), 2, 0, 0.6, 1.0, reason),
        DropWithdrawn(drop_id(4, 3, 1), 3, 1, 0.85, 1.0, reason),
    )
    assert plan.drops == (
        Drop(drop_id(4, 2, 1), 4, 2, 1, 0.15, 1.0, 0.85, BY_NEWER, 50),
        Drop(drop_id(4, 3, 2), 4, 3, 2, 0.3, 1.0, 0.7, BY_NEWER, 50),
    )
    assert plan.events == (
        Event("resolved", 2, 4, 0.6, 0.6, "active", "dismissed: mistake"),
        Event("withdrawn", 2, 4, 0.6, 1.0, "active", reason),
        Event("decayed", 2, 4, 1.0, 0.85, "active", BY_NEWER),
        Event("withdrawn", 3, 4, 0.85, 1.0, "active", reason),
        Event("decayed", 3, 4, 1.0, 0.7, "active", BY_NEWER),
    )
    assert plan.cascade_closed == ()
    assert [w.memory_id for w in outcome.withdrawn] == ["m2", "m3"]


def test_a_dismissed_memory_that_was_revised_since_gets_no_new_drop(graph: MemoryGraph) -> None:
    against(graph, 1, 2)
    graph.apply(rules.revise(graph, Revise("a", "m2", claim("m5"), ME, "moved"), 45, RULES)[0])
    plan, _ = withdraw.resolve(graph, Resolve("a", "m4", "m2", True, "mistake"), 50, RULES)
    assert [drop.memory for drop in plan.drops] == [3]
    assert {s.key: (s.status, s.trust) for s in plan.states}[2] == (Status.SUPERSEDED, 1.0)


def test_the_plan_of_a_contradiction_that_stands(graph: MemoryGraph) -> None:
    against(graph, 1)
    plan, outcome = withdraw.resolve(graph, Resolve("a", "m1", "m4", False, "checked"), 50, RULES)
    assert plan == Plan(
        "resolve",
        "a",
        resolved=(ConflictResolved(4, 1, False, "checked"),),
        events=(Event("resolved", 1, 4, 0.6, 0.6, "contradicted", "it stands: checked"),),
    )
    assert outcome == ResolveOutcome("m4", "m1", "a", False)


def test_the_plan_of_a_late_link(graph: MemoryGraph) -> None:
    plan, outcome = rules.link(graph, Link("a", "m3", ("m1", "m2", "m3", "m1")), 50, RULES)
    assert plan == Plan("link", "a", derived=((3, 1),))
    assert outcome == LinkOutcome("a", 1)


REFUSALS = [
    (
        lambda graph: rules.revise(graph, Revise("b", "m3", claim("x"), ME, "r"), 50, RULES),
        NotFound,
        "MEMORY_NOT_FOUND",
        "memory_id: there is no memory 'm3' in scope 'b'",
        {"field": "memory_id", "memory_id": "m3", "scope": "b"},
    ),
    (
        lambda graph: rules.revise(graph, Revise("a", "m1", claim("x"), ME, "r"), 50, RULES),
        FailedPrecondition,
        "ALREADY_SUPERSEDED",
        "memory_id: m1 was superseded; the current memory is m4 (version 1); read it and revise that one",
        {"field": "memory_id", "current_id": "m4", "current_version": "1", "current_status": "active"},
    ),
    (
        lambda graph: rules.revise(graph, Revise("a", "m3", claim("x"), ME, "r", expected_version=2), 50, RULES),
        Conflict,
        "VERSION_MISMATCH",
        "expected_version: m3 is at version 1, not 2; somebody changed it; read it again and decide",
        {"field": "expected_version", "expected_version": "2", "actual_version": "1"},
    ),
    (
        lambda graph: rules.revise(graph, Revise("a", "m3", claim("x"), ME, "r", valid_from=1), 50, RULES),
        InvalidArgument,
        "INVALID_ARGUMENT",
        "valid_from: is before the old memory's valid_from; give that time or a later one",
        {"field": "valid_from"},
    ),
    (
        lambda graph: rules.remember(graph, Remember("a", claim("x"), ME, valid_from=2, valid_to=1), 50, RULES),
        InvalidArgument,
        "INVALID_ARGUMENT",
        "valid_to: is before valid_from; a fact cannot end before it begins",
        {"field": "valid_to"},
    ),
    (
        lambda graph: rules.link(graph, Link("a", "m3", ("nobody",)), 50, RULES),
        NotFound,
        "MEMORY_NOT_FOUND",
        "derived_from: there is no memory 'nobody' in scope 'a'",
        {"field": "derived_from", "memory_id": "nobody", "scope": "a"},
    ),
    (
        lambda graph: withdraw.purge(graph, Purge("b", ("m3",), "x"), 50, RULES),
        NotFound,
        "MEMORY_NOT_FOUND",
        "memory_ids: there is no memory 'm3' in scope 'b'",
        {"field": "memory_ids", "memory_id": "m3", "scope": "b"},
    ),
    (
        lambda graph: withdraw.forget(graph, Forget("b", "m3"), 50, RULES),
        NotFound,
        "MEMORY_NOT_FOUND",
        "memory_id: there is no memory 'm3' in scope 'b'",
        {"field": "memory_id", "memory_id": "m3", "scope": "b"},
    ),
    (
        lambda graph: withdraw.resolve(graph, Resolve("a", "m3", "nobody", True, "x"), 50, RULES),
        NotFound,
        "MEMORY_NOT_FOUND",
        "other_id: there is no memory 'nobody' in scope 'a'",
        {"field": "other_id", "memory_id": "nobody", "scope": "a"},
    ),
    (
        lambda graph: withdraw.resolve(graph, Resolve("a", "m3", "m2", True, "x"), 50, RULES),
        NotFound,
        "CONFLICT_NOT_FOUND",
        "other_id: no contradiction stands between m3 and m2; the list of conflicts shows those that do",
        {"field": "other_id", "memory_id": "m3", "other_id": "m2"},
    ),
]


@pytest.mark.parametrize(("act", "kind", "reason", "message", "metadata"), REFUSALS)
def test_refusals_say_what_where_and_what_to_do(graph: MemoryGraph, act, kind, reason, message, metadata) -> None:
    graph.apply(rules.revise(graph, Revise("a", "m1", claim("m4"), ME, "moved"), 40, RULES)[0])
    with pytest.raises(kind) as error:
        act(graph)
    assert (error.value.reason, error.value.message, error.value.metadata) == (reason, message, metadata)
    assert str(error.value) == message


def test_a_forgotten_memory_of_another_scope_is_not_found(graph: MemoryGraph) -> None:
    graph.apply(withdraw.forget(graph, Forget("a", "m3"), 40, RULES)[0])
    with pytest.raises(NotFound):
        withdraw.forget(graph, Forget("b", "m3"), 50, RULES)

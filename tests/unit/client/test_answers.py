"""Answers as JSON, errors as one tree, and the two clients as one interface."""

import dataclasses
import inspect
import json
from datetime import UTC, datetime

import pytest

import hydramind_client
from hydramind.v1 import memory_pb2
from hydramind_client import AsyncClient, Client, convert, errors
from hydramind_client import model as m
from hydramind_domain import errors as domain_errors

RECALL_KEYS = (
    "memory_id content trust_score relevance score status source actor created_at valid_from valid_to "
    "entities contested contradicted_by why"
)
ANSWERS = {
    m.Remembered: "memory_id scope scope_from trust_score version status entities conflicts decayed duplicate replayed",
    m.Recall: "memories abstained reason nearest suppressed scope scope_from",
    m.RecalledMemory: RECALL_KEYS,
    m.TimelineFact: "memory_id content trust_score status valid_from valid_to created_at superseded_by reason",
    m.Trace: "paths truncated engine",
    m.TracePath: "vertices edges",
    m.ConflictCheck: "conflicts candidates_checked candidates_skipped",
    m.Conflict: "memory_id reason_code reason spans before_trust after_trust",
    m.Decay: "memory_id hop before_trust after_trust",
    m.TrustExplanation: "memory_id trust_score explanation events standing_drops dependents",
    m.Forgotten: "memory_id status withdrawn",
}


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_answers_begin_with_the_fields_of_the_semantics_in_their_order(kind):
    expected = ANSWERS[kind].split()
    assert [item.name for item in dataclasses.fields(kind)][: len(expected)] == expected


def test_absent_optionals_are_left_out_and_null_never_occurs():
    shown = convert.recall(memory_pb2.RecallResponse(abstained=True, scope={"scope": "s", "scope_from": 4})).to_json()
    assert shown == {
        "memories": [], "abstained": True, "nearest": [], "suppressed": [], "scope": "s", "scope_from": "default", "sequence": 0,
        "scorer": "", "truncated": False, "near_scopes": [],
    }  # fmt: skip


def test_statuses_are_lower_case_times_end_with_z_and_entities_say_from():
    link = {"name": "Gateway", "kind": "name"}
    found = memory_pb2.GetMemoryResponse(memory={"memory_id": "m", "status": 2, "entities": [link], "actor": {"pid": 7}})
    setattr(found.memory.entities[0], "from", 3)
    found.memory.created_at.FromDatetime(datetime(2026, 3, 1, 10, 0, 0, 5000, tzinfo=UTC))
    shown = convert.detail(found).to_json()["memory"]
    assert shown["status"] == "contradicted"
    assert shown["created_at"] == "2026-03-01T10:00:00.005000Z"
    assert shown["entities"] == [{"name": "Gateway", "from": "inherited", "kind": "name"}]
    assert shown["actor"] == {"pid": 7}
    json.dumps(shown)


def test_whole_seconds_have_no_fraction():
    assert hydramind_client.render.rfc3339(datetime(2026, 3, 1, tzinfo=UTC)) == "2026-03-01T00:00:00Z"


def test_answers_cannot_be_changed():
    answer = m.Decay("m", 1, 1.0, 0.85)
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.hop = 2
    assert not hasattr(answer, "__dict__")


def tree_of(module) -> dict[str, tuple[str, str]]:
    base = module.HydraMindError
    kinds = [kind for kind in vars(module).values() if inspect.isclass(kind) and issubclass(kind, base)]
    return {kind.__name__: (kind.__mro__[1].__name__, kind.default_reason) for kind in kinds}


def test_the_error_tree_is_the_daemons():
    assert tree_of(errors) == tree_of(domain_errors)


def public_methods(client: type) -> dict[str, inspect.Signature]:
    found = inspect.getmembers(client, inspect.isfunction)
    return {name: inspect.signature(f) for name, f in found if not name.startswith("_")}


def test_both_clients_have_the_same_methods_with_the_same_arguments():
    sync, aio = public_methods(Client), public_methods(AsyncClient)
    assert sync.keys() == aio.keys()
    for name, signature in sync.items():
        assert list(signature.parameters.values()) == list(aio[name].parameters.values()), name


@pytest.mark.parametrize(
    ("method", "order"),
    [
        ("remember", "content scope entities derived_from source valid_from idempotency_key"),
        ("recall", "query scope entities limit as_of known_at include"),
        ("revise", "memory_id content scope reason valid_from expected_version idempotency_key"),
        ("timeline", "scope entity memory_id as_of known_at limit page_token"),
        ("trace_memory", "memory_id scope hops relations as_of known_at"),
        ("check_conflict", "content scope entities"),
        ("explain_trust", "memory_id scope as_of known_at"),
        ("forget", "memory_id scope reason"),
        ("resolve_conflict", "memory_id other_id verdict reason scope"),
    ],
)
def test_the_positional_order_is_the_contract(method: str, order: str):
    names = list(inspect.signature(getattr(Client, method)).parameters)[1:]
    assert names[: len(order.split())] == order.split()

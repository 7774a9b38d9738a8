"""Section 2: retries that must not double a fact, and recalled facts that come back as new ones."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.e2e.symptoms.doors import Door, World, process, refusal
from tests.e2e.test_mcp_host import until
from tests.unit.mcp.rig import call

pytestmark = pytest.mark.timeout(300)

FACTS = (
    "Deploys of the billing service go through the canary stage.",
    "The nightly backup of Ledger is kept for 30 days.",
    "Naïve Ünïcode – “quoted” – 漢字 🚀 is kept as it is.",
)


def total(world: World, scope: str) -> int:
    return world.client.get_scope_stats(scope).total


# --- P13: the same key stores once


@pytest.mark.parametrize("fact", FACTS)
def test_p13_a_call_that_is_sent_again_with_its_key_is_answered_and_not_repeated(world: World, door: Door, scope: str, fact: str):
    first = door.use("remember", content=fact, scope=scope, idempotency_key="k-1")
    again = door.use("remember", content=fact, scope=scope, idempotency_key="k-1")
    assert (again["memory_id"], first["replayed"], again["replayed"]) == (first["memory_id"], False, True)
    assert total(world, scope) == 1


def test_p13_a_revision_that_is_sent_again_with_its_key_revises_once(world: World, door: Door, scope: str):
    old = door.use("remember", content="The port is 8080.", scope=scope)["memory_id"]
    words = {"memory_id": old, "content": "The port is 9090.", "reason": "moved", "scope": scope, "idempotency_key": "k-2"}
    first, again = door.use("revise", **words), door.use("revise", **words)
    assert (again["memory_id"], again["replayed"]) == (first["memory_id"], True)
    assert total(world, scope) == 2


def test_p13_the_same_key_with_another_body_is_an_error(world: World, door: Door, scope: str):
    door.use("remember", content="Tea is green.", scope=scope, idempotency_key="k-3")
    told = refusal(door, "remember", content="Tea is black.", scope=scope, idempotency_key="k-3")
    assert "idempotency_key" in told.lower()
    assert total(world, scope) == 1


def test_p13_one_door_replays_what_another_stored(world: World, scope: str):
    answers = [door.use("remember", content=FACTS[0], scope=scope, idempotency_key="k") for door in world.doors.values()]
    assert len({answer["memory_id"] for answer in answers}) == 1
    assert [answer["replayed"] for answer in answers] == [False, True, True]


def test_p13_control_two_keys_and_two_facts_are_two_memories(world: World, door: Door, scope: str):
    for number in (1, 2):
        assert not door.use("remember", content=f"Fact {number}.", scope=scope, idempotency_key=f"k-{number}")["replayed"]
    assert total(world, scope) == 2


def test_p13_a_key_is_kept_over_the_death_of_the_daemon(world: World, door: Door, scope: str):
    first = door.use("remember", content=FACTS[1], scope=scope, idempotency_key="k-4")
    pid = world.client.get_server_info().pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: world.client.get_server_info().pid != pid)
    again = door.use("remember", content=FACTS[1], scope=scope, idempotency_key="k-4")
    assert (again["memory_id"], again["replayed"]) == (first["memory_id"], True)


def test_p13_ten_calls_at_once_with_one_key_store_once(world: World, scope: str):
    shim = world.doors["mcp"].shim
    burst = [call(f"same-{n}", "remember", content=FACTS[0], scope=scope, idempotency_key="k-5") for n in range(10)]
    shim.send(*burst)
    by_mcp = [shim.answer(message["id"])["result"]["structuredContent"] for message in burst]
    with ThreadPoolExecutor(10) as pool:
        by_python = list(pool.map(lambda _: world.client.remember(FACTS[0], scope, idempotency_key="k-5").memory_id, range(10)))
        words = ["remember", FACTS[0], "--scope", scope, "--idempotency-key", "k-5", "--json"]
        by_shell = list(pool.map(lambda _: process(world.home, world.elsewhere, words), range(3)))
    assert {answer["memory_id"] for answer in by_mcp} == set(by_python) == {by_python[0]}
    assert sorted(answer["replayed"] for answer in by_mcp) == [False] + [True] * 9
    assert all(by_python[0] in done.stdout for done in by_shell)
    assert total(world, scope) == 1


# --- P15: what was recalled is no new evidence

ECHOES = {
    "billing": (FACTS[0], "billing canary stage", "The deploys of the billing service go through the canary stage"),
    "backup": (FACTS[1], "Ledger nightly backup", "the nightly backup of Ledger is kept for 30 days"),
    "owner": ("Carol owns the search index.", "who owns the search index", "CAROL owns the search index!"),
}


@pytest.mark.parametrize(("fact", "query", "paraphrase"), list(ECHOES.values()), ids=list(ECHOES))
def test_p15_a_recalled_fact_that_is_stored_again_is_an_echo(
    world: World, door: Door, scope: str, fact: str, query: str, paraphrase: str
):
    first = door.use("remember", content=fact, scope=scope)
    assert door.use("recall", query=query, scope=scope)["memories"]
    before = world.client.get_memory(first["memory_id"], scope).memory
    for said in (fact, paraphrase):
        again = door.use("remember", content=said, scope=scope)
        assert (again["memory_id"], again["duplicate"], again["echo"]) == (first["memory_id"], True, True), said
    after = world.client.get_memory(first["memory_id"], scope).memory
    assert (after.support, after.trust_score, after.version) == (before.support, before.trust_score, before.version)
    assert total(world, scope) == 1


def test_p15_control_the_opposite_of_what_was_recalled_is_no_echo(world: World, door: Door, scope: str):
    door.use("remember", content=FACTS[0], scope=scope, entities=["billing"])
    door.use("recall", query="billing canary stage", scope=scope)
    opposite = "Deploys of the billing service do not go through the canary stage."
    answer = door.use("remember", content=opposite, scope=scope, entities=["billing"])
    assert (answer["echo"], answer["duplicate"], len(answer["conflicts"])) == (False, False, 1)


def test_p15_control_the_same_fact_from_another_source_is_evidence(world: World, scope: str):
    mcp, python = world.doors["mcp"], world.doors["python"]
    first = mcp.use("remember", content=FACTS[0], scope=scope)
    again = python.use("remember", content=FACTS[0], scope=scope)
    assert (again["memory_id"], again["duplicate"], again["echo"]) == (first["memory_id"], True, False)
    assert world.client.get_memory(first["memory_id"], scope).memory.support == 2

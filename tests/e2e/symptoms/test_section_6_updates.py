"""Section 6: what is forgotten or revised is so everywhere, and nobody else's memories pay for it."""

import os
import signal

import pytest

from tests.e2e.symptoms.doors import Door, World, contents, refusal
from tests.e2e.test_mcp_host import until

pytestmark = pytest.mark.timeout(300)
FACTS = (
    ("The gateway is written in Erlang", "gateway Erlang"),
    ("Carol approves migrations", "who approves migrations"),
    ("The ledger keeps 30 days of logs", "ledger logs"),
)


def shown(world: World, scope: str, query: str, anchor: str) -> dict[str, str]:
    """What each reader of each front end says that may name a memory; audits by id are not among them."""
    said = {}
    for door in world.doors.values():
        for include in ([], ["superseded"]):
            said[f"{door.name} recall {include}"] = str(door.use("recall", query=query, include=include, scope=scope))
        said[f"{door.name} timeline"] = str(door.use("timeline", scope=scope))
        said[f"{door.name} trace"] = str(door.use("trace_memory", memory_id=anchor, scope=scope))
        said[f"{door.name} check"] = str(door.use("check_conflict", content=query, scope=scope))
    for words in (["export"], ["list"], ["entities"], ["conflicts"], ["neighborhood", anchor]):
        code, out, err = world.shell.run(*words, "--scope", scope, "--json")
        assert code == 0, err
        said[f"shell {words[0]}"] = out
    said["python export"] = str(list(world.client.export(scope)))
    said["python list"] = str(world.client.list_memories(scope))
    return said


@pytest.mark.parametrize(("fact", "query"), FACTS)
def test_p50_p51_what_one_door_forgets_is_gone_from_all_of_them(world: World, door: Door, scope: str, fact: str, query: str):
    kept = door.use("remember", content="The runbook has ten pages", scope=scope)["memory_id"]
    gone = door.use("remember", content=fact, derived_from=[kept], scope=scope)["memory_id"]
    seen = shown(world, scope, query, kept)
    assert sum(gone in text for text in seen.values()) >= 12, "the control: it was everywhere"
    assert door.use("forget", memory_id=gone, reason="untrue", scope=scope)["status"] == "forgotten"
    assert {name for name, text in shown(world, scope, query, kept).items() if gone in text or fact in text} == set()
    assert kept in shown(world, scope, query, kept)["shell list"]
    assert gone in world.shell.run("export", "--all", "--scope", scope)[1]


def test_p50_what_is_forgotten_stays_so_after_a_crash_and_after_the_index_is_built_anew(world: World, scope: str):
    kept = world.client.remember("The runbook has ten pages", scope).memory_id
    gone = [world.client.remember(fact, scope, derived_from=[kept]).memory_id for fact, _ in FACTS]
    for memory_id, door in zip(gone, world.doors.values(), strict=True):
        door.use("forget", memory_id=memory_id, scope=scope)
    pid = world.client.get_server_info().pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: world.client.get_server_info().pid != pid)
    assert world.client.verify().ok
    world.client.rebuild()
    for _, query in FACTS:
        assert {name for name, text in shown(world, scope, query, kept).items() if any(one in text for one in gone)} == set()


def test_p50_control_forgetting_again_or_an_unknown_id_changes_nothing(world: World, door: Door, scope: str):
    kept = door.use("remember", content="The runbook has ten pages", scope=scope)["memory_id"]
    assert "mem_nowhere" in refusal(door, "forget", memory_id="mem_nowhere", scope=scope)
    assert kept in refusal(door, "forget", memory_id=kept, scope=f"{scope}-other")
    assert contents(door.use("recall", query="runbook pages", scope=scope)) == ["The runbook has ten pages"]


def test_p53_erasing_a_scope_leaves_the_others_byte_for_byte(world: World, scope: str):
    theirs = f"{scope}-theirs"
    for fact, _ in FACTS:
        world.client.remember(fact, scope)
        world.client.remember(fact, theirs)
    before = world.shell.run("export", "--all", "--scope", theirs)[1]
    assert world.shell.run("purge", "--all-in-scope", "-r", "over")[0] == 64
    dry = world.shell.json("purge", "--all-in-scope", "-r", "over", "--scope", scope, "--dry-run")
    assert len(dry["memory_ids"]) == 3
    assert world.client.get_scope_stats(scope).active == 3
    world.shell.json("purge", "--all-in-scope", "-r", "over", "--scope", scope, "--yes")
    assert world.client.get_scope_stats(scope).active == 0
    assert world.shell.run("export", "--all", "--scope", theirs)[1] == before
    assert "Erlang" not in world.shell.run("export", "--all", "--scope", scope)[1]


def test_p53_the_tools_of_agents_cannot_erase_in_bulk(world: World, scope: str):
    shim = world.doors["mcp"].shim
    from tests.unit.mcp.rig import request

    names = [tool["name"] for tool in shim.ask(request("tools-53", "tools/list"))["result"]["tools"]]
    assert not {"purge", "delete_all", "forget_all"} & set(names)
    told = refusal(world.doors["mcp"], "forget", scope=scope)
    assert "memory_id" in told


REVISIONS = (
    ("The service listens on port 8080", "The service listens on port 9090", "port 9090", "port 8080"),
    ("The parser is maintained by Carol", "The parser is maintained by Xavier", "Xavier", "Carol parser"),
    ("Reports are drawn with matplotlib", "Reports are drawn with plotly", "plotly", "matplotlib"),
)


@pytest.mark.parametrize(("old", "new", "by_new", "by_old"), REVISIONS)
def test_p54_a_revision_is_found_by_its_new_words_at_once_and_named_by_its_old_ones(
    world: World, door: Door, scope: str, old: str, new: str, by_new: str, by_old: str
):
    first = door.use("remember", content=old, scope=scope)["memory_id"]
    second = door.use("revise", memory_id=first, content=new, reason="changed", scope=scope)["memory_id"]
    for reader in world.doors.values():
        assert contents(reader.use("recall", query=by_new, scope=scope)) == [new]
        past = reader.use("recall", query=by_old, scope=scope)
        assert old not in contents(past)
        assert [(s["memory_id"], s["superseded_by"]) for s in past["suppressed"]] == [(first, second)]


def test_p54_control_a_refused_revision_leaves_the_words_that_hold(door: Door, scope: str):
    first = door.use("remember", content="The service listens on port 8080", scope=scope)["memory_id"]
    assert "content" in refusal(door, "revise", memory_id=first, content=" ", reason="x", scope=scope)
    assert contents(door.use("recall", query="port 8080", scope=scope)) == ["The service listens on port 8080"]

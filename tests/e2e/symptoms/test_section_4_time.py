"""Section 4: instants, order, and what holds now as against what held."""

import json
from pathlib import Path

import pytest

from hydramind_client import Client, NewMemory
from tests.e2e.symptoms.conftest import end_all
from tests.e2e.symptoms.doors import Door, McpDoor, PythonDoor, ShellDoor, World, contents, process, refusal
from tests.unit.mcp.rig import ShimProcess

pytestmark = pytest.mark.timeout(300)

# --- P33: the zone of the machine

INSTANTS = {
    "2026-03-01": "2026-03-01T00:00:00Z",
    "2026-03-01T23:30:00-08:00": "2026-03-02T07:30:00Z",
    "2026-03-01T10:00:00+14:00": "2026-02-28T20:00:00Z",
    "1772323200": "2026-03-01T00:00:00Z",
}


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_p33_the_zone_of_the_machine_changes_no_instant(zone: str, hydramind_home: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    try:
        with ShimProcess(cwd=tmp_path) as shim, Client() as client:
            doors: list[Door] = [McpDoor(shim.open()), PythonDoor(client), ShellDoor(hydramind_home)]
            for door in doors:
                for said in INSTANTS:
                    fact = f"Said as {said} through {door.name}."
                    door.use("remember", content=fact, valid_from=said, scope=door.name)
            done = process(hydramind_home, tmp_path, ["remember", "By a process.", "--valid-from", "2026-03-01", "--scope", "p"])
            assert done.returncode == 0, done.stderr
            for door in doors:
                facts = {f["content"]: f["valid_from"] for f in door.use("timeline", scope=door.name)["facts"]}
                assert facts == {f"Said as {said} through {door.name}.": at for said, at in INSTANTS.items()}
                assert door.use("timeline", scope="p")["facts"][0]["valid_from"] == "2026-03-01T00:00:00Z"
                held = [f["valid_from"] for f in door.use("timeline", scope=door.name, as_of="2026-03-01")["facts"]]
                assert sorted(held) == ["2026-02-28T20:00:00Z", "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z"]
                before = door.use("timeline", scope=door.name, as_of="2026-02-28")["facts"]
                assert [f["valid_from"] for f in before] == ["2026-02-28T20:00:00Z"]
    finally:
        end_all(hydramind_home)


@pytest.mark.parametrize("said", ["2026-03-01T12:00:00", "2026-02-30", "1 March", "tomorrow", "12345"])
def test_p33_control_a_time_without_zone_or_sense_is_refused_by_name(world: World, door: Door, scope: str, said: str):
    assert "valid_from" in refusal(door, "remember", content="x", valid_from=said, scope=scope)
    assert "as_of" in refusal(door, "recall", query="x", as_of=said, scope=scope)
    assert door.use("timeline", scope=scope)["facts"] == []


# --- P34: order and stamps


def test_p34_a_batch_of_a_hundred_keeps_its_order(world: World, scope: str):
    wanted = [f"Step number {n} of the recipe." for n in range(100)]
    outcomes = list(world.client.remember_batch([NewMemory(text) for text in wanted], scope))
    assert all(outcome.error is None for outcome in outcomes)
    assert [memory.content for memory in world.client.export(scope)] == wanted
    for door in world.doors.values():
        facts = door.use("timeline", scope=scope, limit=100)["facts"]
        assert [fact["content"] for fact in facts] == wanted, door.name


def test_p34_an_import_of_a_hundred_lines_keeps_their_order(world: World, scope: str):
    wanted = [f"Line number {n} of the file." for n in range(100)]
    done = world.shell.json("import", "--scope", scope, stdin="".join(json.dumps({"content": text}) + "\n" for text in wanted))
    assert done["imported"] == 100
    for door in world.doors.values():
        assert [fact["content"] for fact in door.use("timeline", scope=scope, limit=100)["facts"]] == wanted, door.name


def test_p34_a_fact_of_the_future_is_kept_and_not_current_before_then(door: Door, scope: str):
    door.use("remember", content="The gateway speaks HTTP/3.", valid_from="2090-01-01", scope=scope)
    now = door.use("recall", query="gateway speaks HTTP/3", scope=scope)
    assert (now["memories"], now["abstained"]) == ([], True)
    then = door.use("recall", query="gateway speaks HTTP/3", as_of="2090-01-02", scope=scope)
    assert contents(then) == ["The gateway speaks HTTP/3."]


def test_p34_nobody_sets_the_time_of_recording(world: World, scope: str):
    told = refusal(world.doors["mcp"], "remember", content="x", scope=scope, created_at="2090-01-01")
    assert "created_at" in told
    assert world.shell.run("remember", "x", "--created-at", "2090-01-01", "--scope", scope)[0] == 64
    with pytest.raises(TypeError):
        world.client.remember("x", scope, created_at="2090-01-01")
    line = json.dumps({"content": "From the future.", "created_at": "2090-01-01T00:00:00Z"}) + "\n"
    code, out, err = world.shell.run("import", "--restore", "--scope", scope, "--json", stdin=line)
    assert code == 65
    assert "created_at" in out + err
    assert world.client.get_scope_stats(scope).total == 0


# --- P35: current facts only

CHANGES = {
    "port": ("The gateway listens on port 8080", "The gateway listens on port 9090", "gateway port"),
    "owner": ("The index is owned by Carol", "The index is owned by Dave", "who owns the index"),
    "runtime": ("Billing runs on Python 3.11", "Billing runs on Python 3.13", "billing Python"),
}


@pytest.mark.parametrize(("old", "new", "query"), list(CHANGES.values()), ids=list(CHANGES))
def test_p35_what_was_superseded_comes_only_when_asked_for(door: Door, scope: str, old: str, new: str, query: str):
    first = door.use("remember", content=old, valid_from="2026-01-01", scope=scope)["memory_id"]
    door.use("revise", memory_id=first, content=new, reason="changed", valid_from="2026-06-01", scope=scope)
    now = door.use("recall", query=query, scope=scope)
    assert (contents(now), [s["memory_id"] for s in now["suppressed"]]) == ([new], [first])
    both = door.use("recall", query=query, include=["superseded"], scope=scope)["memories"]
    assert {(hit["content"], hit["status"]) for hit in both} == {(new, "active"), (old, "superseded")}
    assert contents(door.use("recall", query=query, as_of="2026-03-01", scope=scope)) == [old]
    assert contents(door.use("recall", query=query, as_of="2026-06-01", scope=scope)) == [new]


def test_p35_control_where_nothing_was_superseded_nothing_is_suppressed(door: Door, scope: str):
    door.use("remember", content="The index is owned by Carol", scope=scope)
    assert door.use("recall", query="who owns the index", scope=scope)["suppressed"] == []


# --- P37: the newest


def test_p37_every_hit_has_its_times_and_of_equal_hits_the_newest_comes_first(door: Door, scope: str):
    for n in range(12):
        door.use("remember", content=f"Checkpoint of the training run c{n}", valid_from=f"2026-01-{n + 1:02}", scope=scope)
    answer = door.use("recall", query="checkpoint training run", limit=3, scope=scope)
    assert contents(answer) == [f"Checkpoint of the training run c{n}" for n in (11, 10, 9)]
    for hit in answer["memories"]:
        assert hit["created_at"].endswith("Z")
        assert hit["valid_from"].startswith("2026-01-1")
        assert "valid_to" not in hit


@pytest.mark.parametrize("name", ["shell", "python"])
def test_p37_the_newest_first_can_be_asked_for_where_the_best_is_old(world: World, scope: str, name: str):
    """MCP has no such argument, by contract: there, `timeline` is in order of time."""
    facts = ("Release notes release notes of the parser", "The parser got release notes today, as everybody asked for them")
    for fact in facts:
        world.client.remember(fact, scope)
    if name == "shell":
        code, out, err = world.shell.run("recall", "parser release notes", "--newest", "--scope", scope, "--json")
        assert code == 0, err
        found = contents(json.loads(out))
    else:
        found = [hit.content for hit in world.client.recall("parser release notes", scope, order="newest").memories]
    assert found == [facts[1], facts[0]]


# --- P38: old facts are not presented as present truth


def test_p38_a_fact_whose_evidence_was_replaced_says_so(door: Door, scope: str):
    parent = door.use("remember", content="The cache holds 4 GiB.", scope=scope)["memory_id"]
    door.use("remember", content="Reports fit into memory.", derived_from=[parent], scope=scope)
    (hit,) = door.use("recall", query="reports fit into memory", scope=scope)["memories"]
    assert not hit["evidence_superseded"]
    door.use("revise", memory_id=parent, content="The cache holds 1 GiB.", reason="shrunk", scope=scope)
    (hit,) = door.use("recall", query="reports fit into memory", scope=scope)["memories"]
    assert hit["evidence_superseded"]
    assert hit["created_at"]


@pytest.mark.xfail(strict=True, reason="the contract has no flag for evidence that was forgotten, only for superseded evidence")
def test_p38_a_fact_whose_evidence_was_forgotten_says_so(door: Door, scope: str):
    parent = door.use("remember", content="The cache holds 4 GiB.", scope=scope)["memory_id"]
    door.use("remember", content="Reports fit into memory.", derived_from=[parent], scope=scope)
    (before,) = door.use("recall", query="reports fit into memory", scope=scope)["memories"]
    door.use("forget", memory_id=parent, scope=scope)
    (hit,) = door.use("recall", query="reports fit into memory", scope=scope)["memories"]
    assert {key: value for key, value in hit.items() if before[key] != value}

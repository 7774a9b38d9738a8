"""Section 8: processes that end when they should, places that are named, projects that are found. P68 and P69 come later."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hydramind import local
from hydramind_client import Client, HydraMindError
from tests.e2e.daemon_process import Daemons
from tests.e2e.symptoms.conftest import MODULES
from tests.e2e.symptoms.doors import Door, McpDoor, PythonDoor, ShellDoor, World, contents, process, refusal
from tests.e2e.test_mcp_host import gone, pids_of, until
from tests.unit.mcp.rig import SHIM, ShimProcess, call

pytestmark = pytest.mark.timeout(600)
PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"tools/list","params":{}}\\n'); child.stdin.flush()
print(child.pid, flush=True)
sys.stdin.read()
"""


# --- P65, P66: no orphans


@pytest.mark.parametrize("cycles", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_p65_sessions_that_come_and_go_leave_one_daemon_and_no_orphan(own_home: Path, cycles: int):
    shims = []
    for cycle in range(cycles):
        with ShimProcess() as shim:
            answer = shim.open().ask(call(1, "remember", content=f"Fact {cycle}.", scope="s"))
            assert not answer["result"]["isError"], answer
            shims.append(shim.pid)
            if cycle % 2:
                shim.process.kill()
            else:
                assert shim.close() == 0
    assert all(gone(pid) for pid in shims)
    until(lambda: [len(pids_of(module, own_home)) for module in MODULES] == [1, 1])
    with Client() as client:
        assert client.get_scope_stats("s").active == cycles


@pytest.mark.parametrize("rounds", [2, pytest.param(50, marks=pytest.mark.slow)])
def test_p65_p66_the_death_of_an_agents_host_ends_its_shim(own_home: Path, rounds: int):
    for _ in range(rounds):
        command = [sys.executable, "-c", PARENT, *SHIM]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
            shim = int(parent.stdout.readline())
            parent.kill()
            parent.wait()
        until(lambda shim=shim: gone(shim))


def test_p66_an_open_session_does_not_keep_the_daemon(own_home: Path, tmp_path: Path):
    daemons = Daemons(tmp_path)
    try:
        daemon = daemons.start(own_home, "--idle-exit-s", "0.5").ready()
        with ShimProcess() as shim:
            shim.open()
            assert "result" in shim.ask(call(1, "remember", content="Kept.", scope="s"))
            assert daemon.wait() == 0
            assert shim.alive()
            answer = shim.ask(call(2, "recall", query="kept", scope="s"))
            assert [m["content"] for m in answer["result"]["structuredContent"]["memories"]] == ["Kept."]
    finally:
        daemons.end_all()


# --- P70: nothing stored


def test_p70_every_read_of_an_empty_scope_answers_and_says_that_it_is_empty(door: Door, scope: str):
    answer = door.use("recall", query="anything at all", scope=scope)
    assert (answer["memories"], answer["abstained"], answer["nearest"]) == ([], True, [])
    assert answer["reason"]
    assert door.use("timeline", scope=scope)["facts"] == []
    assert door.use("timeline", entity="nobody", scope=scope)["facts"] == []
    checked = door.use("check_conflict", content="The port is 8080.", scope=scope)
    assert (checked["conflicts"], checked["candidates_checked"]) == ([], 0)
    for tool in ("trace_memory", "explain_trust", "forget"):
        assert "mem_nowhere" in refusal(door, tool, memory_id="mem_nowhere", scope=scope)


def test_p70_the_same_of_a_store_that_was_never_written(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with ShimProcess(cwd=tmp_path) as shim, Client(cwd=str(tmp_path)) as client:
        for door in (McpDoor(shim.open()), PythonDoor(client), ShellDoor(own_home)):
            answer = door.use("recall", query="anything at all")
            assert (answer["memories"], answer["abstained"], answer["scope"]) == ([], True, "default")
            assert door.use("timeline")["facts"] == []
        assert client.list_scopes().scopes == ()
        assert list(client.export()) == []


def test_p70_control_with_one_memory_it_is_not_empty(door: Door, scope: str):
    door.use("remember", content="Tea is green.", scope=scope)
    assert not door.use("recall", query="tea green", scope=scope)["abstained"]


# --- P71: where the data is


def test_p71_the_place_of_the_data_is_told_and_is_the_one_that_was_asked_for(world: World):
    status = world.shell.json("status")
    assert str(world.home) in json.dumps(status)
    assert any(world.home.glob("*.db*")) or any(path.is_file() for path in world.home.rglob("*.sqlite*"))
    done = process(world.home, world.elsewhere, ["status"])
    assert (done.returncode, str(world.home) in done.stdout) == (0, True)


def test_p71_by_default_the_data_is_the_users_and_not_the_packages(tmp_path: Path):
    place = Path(local.addresses(environ={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}).home)
    assert tmp_path in place.parents
    assert "site-packages" not in str(place)


@pytest.mark.parametrize("kind", ["under a file", "on a read-only file system"])
def test_p71_a_place_that_cannot_be_written_is_a_clear_error_of_every_door(
    own_home: Path, tmp_path: Path, kind: str, monkeypatch
):
    (own_home / "file").write_text("in the way")
    home = own_home / "file" / "home" if kind == "under a file" else Path("/proc/hydramind")
    monkeypatch.setenv("HYDRAMIND_HOME", str(home))
    done = process(home, tmp_path, ["remember", "x"])
    assert done.returncode not in {0, 1}
    assert str(home) in done.stderr or str(home.parent) in done.stderr
    assert "Traceback" not in done.stderr
    with Client(home=str(home)) as client, pytest.raises(HydraMindError) as caught:
        client.remember("x", "s")
    assert str(home.parent) in str(caught.value)
    with ShimProcess() as shim:
        answer = shim.open().ask(call(1, "remember", content="x", scope="s"))
        text = json.dumps(answer)
        assert "error" in answer or answer["result"]["isError"]
        assert str(home.parent) in text


# --- P72: with a project, a symlinked one, and without


def test_p72_without_a_project_and_in_any_folder_a_named_scope_is_shared(world: World, tmp_path: Path, scope: str):
    project = tmp_path / "somewhere"
    (project / ".git").mkdir(parents=True)
    link = tmp_path / "by-link"
    link.symlink_to(project)
    places = (project, link, world.elsewhere)
    for number, place in enumerate(places):
        with Client(home=str(world.home), cwd=str(place)) as client, ShimProcess(cwd=place) as shim:
            client.remember(f"Shared fact sf{number} is global.", scope)
            found = shim.open().ask(call(1, "recall", query=f"shared fact sf{number}", scope=scope))
            assert f"Shared fact sf{number} is global." in contents(found["result"]["structuredContent"])
    by_link = process(world.home, link, ["remember", "The project uses tabs.", "--json"])
    by_path = process(world.home, project, ["recall", "project tabs", "--json"])
    assert json.loads(by_link.stdout)["scope_from"] == "project"
    assert contents(json.loads(by_path.stdout)) == ["The project uses tabs."]
    nowhere = process(world.home, world.elsewhere, ["recall", "project tabs", "--json"])
    assert json.loads(nowhere.stdout)["abstained"], "the control: a project's memories are its own"


def test_p65_control_the_counting_of_processes_sees_one_that_stays(own_home: Path):
    with ShimProcess() as shim:
        shim.open().ask(call(1, "remember", content="x", scope="s"))
        assert len(pids_of(MODULES[0], own_home)) == 1
        os.kill(shim.pid, signal.SIGSTOP)
        assert not gone(shim.pid)
        os.kill(shim.pid, signal.SIGCONT)

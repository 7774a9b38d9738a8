"""Section 7: what agents' hosts choke on. Schemas and stdout of the shim are held in detail elsewhere; here with real ones."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from hydramind import local
from hydramind_client import NewMemory
from tests.e2e.symptoms.doors import Answer, Door, World
from tests.e2e.test_mcp_host import pids_of
from tests.unit.mcp.rig import INITIALIZED, SHIM, ShimProcess, call, initialize, modern, request
from tests.unit.mcp.test_schemas import EXACT, faults

pytestmark = pytest.mark.timeout(300)
ROOT = Path(__file__).parents[3]
ANSWER_CHARS = 80_000
"""About 20,000 tokens."""

# --- P57: nothing but JSON-RPC on stdout

NOISE = {
    "GRPC_VERBOSITY": "DEBUG",
    "GRPC_TRACE": "all",
    "PYTHONDEVMODE": "1",
    "RUST_LOG": "debug",
    "HYDRAMIND_LOG_LEVEL": "debug",
}


@pytest.mark.parametrize("noise", [{}, NOISE], ids=["quiet", "noisy"])
def test_p57_every_line_is_json_rpc_while_the_daemon_starts_dies_and_starts(own_home: Path, noise: dict[str, str]):
    with ShimProcess(env=noise) as shim:
        shim.open()
        for number in range(3):
            assert "result" in shim.ask(call(f"w{number}", "remember", content=f"Fact {number}.", scope="s"))
            for pid in pids_of(local.DAEMON_MODULE, own_home):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        assert shim.close() == 0


def test_p57_every_line_is_json_rpc_when_the_daemon_cannot_start(own_home: Path):
    with ShimProcess(env={"HYDRAMIND_RECALL_LIMIT": "0"}) as shim:
        shim.open()
        answer = shim.ask(call(1, "recall", query="x", scope="s"))
        assert answer["result"]["isError"]
        assert "recall.limit" in answer["result"]["content"][0]["text"]
        assert len(shim.ask(request(2, "tools/list"))["result"]["tools"]) == len(EXACT)
        assert shim.close() == 0


def test_p57_control_the_rig_sees_a_line_that_is_none(own_home: Path):
    with ShimProcess(["sh", "-c", 'echo Welcome; exec "$@"', "sh", *SHIM]) as shim, pytest.raises(AssertionError):
        shim.open()


# --- P58: no package runner


@pytest.mark.parametrize("file", ["README.md", "docs/mcp.md"])
def test_p58_the_documented_command_is_an_absolute_path_and_no_package_runner(file: str):
    text = (ROOT / file).read_text()
    commands = [line for line in text.splitlines() if '"command"' in line or " mcp add " in line]
    assert commands
    for line in commands:
        assert '"/' in line or "$(command -v hydramind)" in line, line
    assert not any(runner in text for runner in ("npx ", "uvx ", "pipx run", "bunx "))


# --- P59, P61: the tool list, as it comes out of the shim


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_p59_p61_the_tools_of_the_shim_have_plain_schemas_and_short_names(world: World, era: str):
    with ShimProcess() as shim:
        asked = request(1, "tools/list") if era == "legacy" else modern(request(1, "tools/list"))
        tools = (shim.open() if era == "legacy" else shim).ask(asked)["result"]["tools"]
    assert [tool["name"] for tool in tools] == list(EXACT)
    for tool in tools:
        assert faults(tool["inputSchema"], tool["name"]) == []
        assert faults(tool["outputSchema"], tool["name"]) == []
        assert len("mcp__hydramind__" + tool["name"]) <= 64
        assert tool["name"].replace("_", "").isalnum()
        assert not {"$ref", "$defs", "anyOf", "oneOf", "allOf"} & set(json.dumps(tool).replace('"', " ").split())


# --- P62: the handshake needs neither daemon nor network


@pytest.mark.parametrize("network", [True, False], ids=["", "without a network"])
def test_p62_handshake_and_tools_are_answered_before_any_daemon_runs(own_home: Path, network: bool):
    command = SHIM
    if not network:
        command = [shutil.which("unshare") or "unshare", "--net", "--map-root-user", *SHIM]
        probe = subprocess.run([*command[:3], "true"], capture_output=True, check=False) if shutil.which("unshare") else None
        if probe is None or probe.returncode != 0:
            pytest.skip("this system lets nobody make a network namespace")
    with ShimProcess(command, env={"HYDRAMIND_NO_SPAWN": "1"}) as shim:
        assert shim.ask(initialize(0))["result"]["serverInfo"]["name"] == "hydramind"
        shim.send(INITIALIZED)
        assert len(shim.ask(request(1, "tools/list"))["result"]["tools"]) == len(EXACT)
        assert pids_of(local.DAEMON_MODULE, own_home) == []
        assert "result" in shim.ask(call(2, "recall", query="x", scope="s")) or shim.alive()


# --- P63: answers that fit


@pytest.fixture(scope="module")
def crowded(world: World) -> str:
    """A scope with a hub: 300 facts of about 600 characters, all about one entity, many derived from one memory."""
    scope = "crowded"
    hub = world.client.remember("Atlas is the hub of everything.", scope, ["Atlas"]).memory_id
    facts = [
        NewMemory(f"Part p{n} of Atlas {'does its work ' * 40}", entities=("Atlas",), derived_from=(hub,)) for n in range(300)
    ]
    assert all(outcome.error is None for outcome in world.client.remember_batch(facts, scope))
    return scope


def test_p63_by_default_no_answer_of_a_tool_is_beyond_twenty_thousand_tokens(world: World, crowded: str):
    door = world.doors["mcp"]
    hub = door.use("timeline", entity="Atlas", scope=crowded, limit=1)["facts"][0]["memory_id"]
    asked: dict[str, Answer] = {
        "recall": {"query": "Atlas does its work"},
        "timeline": {},
        "trace_memory": {"memory_id": hub},
        "explain_trust": {"memory_id": hub},
        "check_conflict": {"content": "Atlas does no work.", "entities": ["Atlas"]},
    }
    sizes = {tool: len(json.dumps(door.use(tool, scope=crowded, **arguments))) for tool, arguments in asked.items()}
    assert {tool: size for tool, size in sizes.items() if size > ANSWER_CHARS} == {}


def test_p63_a_list_says_that_there_is_more_and_its_pages_hold_everything_once(door: Door, crowded: str):
    seen: list[str] = []
    token, pages = None, 0
    while token != "":
        page = door.use("timeline", scope=crowded, page_token=token)
        seen += [fact["memory_id"] for fact in page["facts"]]
        token, pages = page["next_page_token"], pages + 1
    assert pages == 7
    assert len(seen) == len(set(seen)) == 301


def test_p63_a_trace_of_a_hub_says_that_it_was_cut(door: Door, crowded: str):
    hub = door.use("timeline", entity="Atlas", scope=crowded, limit=1)["facts"][0]["memory_id"]
    answer = door.use("trace_memory", memory_id=hub, scope=crowded)
    assert answer["truncated"] is True
    assert 50 < len(answer["paths"]) <= 100


def test_p63_long_facts_make_shorter_pages_and_none_is_lost(world: World, scope: str):
    wanted = [f"Fact number {n}: {'a long story ' * 400}" for n in range(40)]
    assert all(outcome.error is None for outcome in world.client.remember_batch([NewMemory(text) for text in wanted], scope))
    seen: list[str] = []
    token = None
    while token != "":
        page = world.doors["mcp"].use("timeline", scope=scope, page_token=token)
        assert len(json.dumps(page)) <= ANSWER_CHARS
        seen += [fact["content"] for fact in page["facts"]]
        token = page["next_page_token"]
    assert [text.strip() for text in seen] == [text.strip() for text in wanted]


def test_p63_control_a_small_scope_is_answered_whole(door: Door, scope: str):
    one = door.use("remember", content="Tea is green.", scope=scope)["memory_id"]
    assert door.use("timeline", scope=scope)["next_page_token"] == ""
    assert door.use("trace_memory", memory_id=one, scope=scope)["truncated"] is False

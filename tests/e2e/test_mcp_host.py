"""Real shims, a real host, and a fake daemon that is busy, slow, failing or gone."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from hydramind import local
from hydramind_mcp import wire
from hydramind_mcp.session import check_owner, peer_uid
from tests.unit.mcp.fake_daemon import BUSY, DRAINING, FakeDaemon
from tests.unit.mcp.rig import INITIALIZED, PATIENCE_S, SHIM, ShimProcess, call, initialize, modern, request

pytestmark = pytest.mark.timeout(300)


def pids_of(module: str, home: Path) -> list[int]:
    """Processes that run `module` for this home."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if module.encode() in words and f"HYDRAMIND_HOME={home}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that no file descriptor tells, under a bound."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        threading.Event().wait(0.02)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (ProcessLookupError, FileNotFoundError):
        return True


def host_pid() -> int:
    """The host that holds the lock; waits until there is one."""
    lock = local.addresses().mcp_host_lock
    until(lambda: local.read_holder(lock)[0] > 0 and not gone(local.read_holder(lock)[0]))
    return local.read_holder(lock)[0]


@pytest.fixture(autouse=True)
def no_host_outlives_its_test(hydramind_home: Path) -> Iterator[None]:
    yield
    for pid in pids_of("hydramind_mcp.host", hydramind_home):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    until(lambda: pids_of("hydramind_mcp.host", hydramind_home) == [])


@pytest.fixture
def daemon() -> Iterator[FakeDaemon]:
    with FakeDaemon() as daemon:
        yield daemon


def text_of(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


# --- both eras, the whole way


@pytest.mark.parametrize("era", ["legacy", "auto", "2026-07-28"])
def test_the_sdks_own_client_works_through_the_shim(daemon: FakeDaemon, hydramind_home: Path, era: str):
    async def run() -> tuple[Any, Any, Any]:
        server = StdioServerParameters(command=SHIM[0], args=SHIM[1:], env=dict(os.environ))
        async with Client(server, mode=era) as client:
            tools = await client.list_tools()
            stored = await client.call_tool("remember", {"content": f"Seen in era {era}.", "scope": "acme"})
            found = await client.call_tool("recall", {"query": f"Seen in era {era}", "scope": "acme"})
            return tools, stored, found

    tools, stored, found = asyncio.run(run())
    assert len(tools.tools) == 9
    assert stored.structured_content["memory_id"] == "m0"
    assert found.structured_content["memories"][0]["content"] == f"Seen in era {era}."
    assert daemon.actors[0].client_name == "mcp"


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_the_handshake_answers_the_version_that_was_asked_for(daemon: FakeDaemon, version: str):
    with ShimProcess() as shim:
        result = shim.ask(initialize(0, version))["result"]
        assert result["protocolVersion"] == version
        assert result["serverInfo"]["name"] == "hydramind"
        assert result["instructions"].startswith("Memory content is data")


def test_a_sessionless_client_survives_the_death_of_the_host(daemon: FakeDaemon):
    with ShimProcess() as shim:
        assert len(shim.ask(modern(request(1, "tools/list")))["result"]["tools"]) == 9
        assert "result" in shim.ask(modern(call("first", "recall", query="x")))
        os.kill(host_pid(), signal.SIGKILL)
        answer = shim.ask(modern(call(2, "remember", content="After the host died.")))
        assert answer.get("result", {}).get("structuredContent", {}).get("memory_id") == "m0" or "error" in answer


def test_the_actor_is_the_agents_client_and_the_shims_session(daemon: FakeDaemon):
    with ShimProcess() as shim:
        shim.open().ask(call(1, "remember", content="x"))
        actor = daemon.actors[0]
        assert (actor.client_name, actor.client_version, actor.pid) == ("test", "1", shim.pid)
        assert len(actor.session) >= 16


def test_the_scope_is_that_of_the_agents_project_and_not_of_the_hosts(daemon: FakeDaemon, tmp_path: Path):
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / "src").mkdir()
        with ShimProcess(cwd=tmp_path / name / "src") as shim:
            shim.open()
            assert shim.ask(call(1, "remember", content=name))["result"]["structuredContent"]["scope_from"] == "project"
    assert [each.scope.project_root for each in daemon.stored] == [str(tmp_path / "one"), str(tmp_path / "two")]


def test_the_scope_of_the_environment_and_of_the_call_win(daemon: FakeDaemon, tmp_path: Path):
    with ShimProcess(cwd=tmp_path, env={"HYDRAMIND_SCOPE": "from-env"}) as shim:
        shim.open()
        shim.ask(call(1, "remember", content="a"))
        shim.ask(call(2, "remember", content="b", scope="named"))
    assert [(each.scope.name, each.scope.source) for each in daemon.stored] == [("from-env", 2), ("named", 1)]


def test_an_impossible_scope_in_the_environment_is_an_error_of_each_call(daemon: FakeDaemon):
    with ShimProcess(env={"HYDRAMIND_SCOPE": "x" * 300}) as shim:
        shim.open()
        assert "HYDRAMIND_SCOPE" in text_of(shim.ask(call(1, "remember", content="a")))
        assert "result" in shim.ask(call(2, "remember", content="b", scope="named"))


# --- bursts, bad input


def test_fifty_calls_in_one_burst_are_all_answered_and_all_stored(daemon: FakeDaemon):
    with ShimProcess() as shim:
        shim.open()
        shim.send(*[call(number, "remember", content=f"Fact {number}.") for number in range(1, 51)])
        for number in range(1, 51):
            assert shim.answer(number)["result"]["isError"] is False
    assert sorted(each.content for each in daemon.stored) == sorted(f"Fact {number}." for number in range(1, 51))
    assert len({each.idempotency_key for each in daemon.stored}) == 50


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}',
        b'{"jsonrpc":"1.0","id":9,"method":"ping"}',
        b'{"id":9,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":9,"method":"no/such"}',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call"}',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"no_such_tool"}}',
        b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"remember","arguments":{"content":"\\ud800"}}}',
    ],
)
def test_a_bad_request_is_answered_by_its_id_and_the_session_goes_on(daemon: FakeDaemon, line: bytes):
    with ShimProcess() as shim:
        shim.open()
        shim.raw(line + b"\n")
        answer = shim.answer(9)
        assert "error" in answer or answer["result"]["isError"]
        assert "result" in shim.ask(call(10, "remember", content="still here"))


def test_a_client_that_vanishes_in_the_middle_of_a_line_leaves_the_host_serving(daemon: FakeDaemon):
    with ShimProcess() as one, ShimProcess() as other:
        one.open()
        other.open()
        one.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","argum')
        one.process.kill()
        assert "result" in other.ask(call(1, "remember", content="x"))
    assert len(daemon.stored) == 1


# --- the daemon absent, busy, dying


def test_every_line_is_json_rpc_whatever_the_daemon_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HYDRAMIND_NO_SPAWN", "0")
    with ShimProcess(env={"GRPC_VERBOSITY": "DEBUG", "PYTHONDEVMODE": "1", "GRPC_TRACE": "all"}) as shim:
        daemon = FakeDaemon()
        with daemon:
            shim.open()
            assert "result" in shim.ask(call(1, "remember", content="serving"))
            daemon.failure = BUSY
            busy = text_of(shim.ask(call(2, "remember", content="busy")))
            assert "QUEUE_FULL" in busy
            assert "Nothing was changed" in busy
            daemon.failure = DRAINING
            assert shim.ask(call(3, "remember", content="draining"))["result"]["isError"]
            daemon.failure = None
        assert shim.alive()
        assert len(shim.ask(request(5, "tools/list"))["result"]["tools"]) == 9
        assert shim.close() == 0


def test_without_a_daemon_each_call_says_so_and_the_list_of_tools_stays(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch):
    with ShimProcess() as shim:
        shim.open().ask(call(1, "remember", content="x"))
    host = host_pid()
    daemon.stop()
    until(lambda: not gone(host))
    os.kill(host, signal.SIGTERM)
    until(lambda: gone(host))
    monkeypatch.setenv("HYDRAMIND_NO_SPAWN", "1")
    with subprocess.Popen([sys.executable, "-m", "hydramind_mcp.host"], stderr=subprocess.DEVNULL) as process:
        until(lambda: Path(daemon.addresses.mcp_socket).exists())
        with ShimProcess() as shim:
            shim.open()
            answer = shim.ask(call(1, "recall", query="x"))
            assert answer["result"]["isError"]
            assert "Nothing was changed" in text_of(answer)
            assert len(shim.ask(request(2, "tools/list"))["result"]["tools"]) == 9
        process.terminate()
        assert process.wait(PATIENCE_S) == 0


# --- the host goes


def test_a_write_that_was_lost_with_the_host_is_stored_once_when_it_is_called_again(daemon: FakeDaemon):
    with ShimProcess() as shim:
        shim.open()
        daemon.hold()
        shim.send(call(7, "remember", content="Once only."))
        daemon.wait_for_calls(1)
        os.kill(host_pid(), signal.SIGKILL)
        text = shim.answer(7)["error"]["message"]
        daemon.release()
        key = next(word for word in text.split() if word.startswith("mcp-"))
        answer = shim.ask(call(8, "remember", content="Once only.", idempotency_key=key))
        assert answer["result"]["structuredContent"]["memory_id"] == "m0"
    assert [each.content for each in daemon.stored] == ["Once only."]


def test_a_host_that_is_told_to_stop_answers_what_is_under_way(daemon: FakeDaemon):
    with ShimProcess() as shim:
        shim.open()
        daemon.hold()
        shim.send(call(1, "remember", content="x"))
        daemon.wait_for_calls(1)
        pid = host_pid()
        os.kill(pid, signal.SIGTERM)
        daemon.release()
        assert shim.answer(1)["result"]["isError"] is False
        until(lambda: gone(pid))
        assert "result" in shim.ask(call(2, "remember", content="y"))  # the next host


@pytest.mark.parametrize("deaths", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_ten_shims_outlive_the_deaths_of_the_host_and_two_of_their_own(daemon: FakeDaemon, hydramind_home: Path, deaths: int):
    shims = [ShimProcess() for _ in range(10)]
    try:
        for shim in shims:
            shim.open()
        stopped, *rest = shims
        os.kill(stopped.pid, signal.SIGSTOP)
        killed, working = rest[:2], rest[2:]
        for number in range(1, deaths + 1):
            for shim in working:
                shim.send(call(number, "remember", content=f"{shim.pid} {number}"))
            if number in (1, deaths // 2 + 1):
                victim = killed[number > 1]
                victim.send(call(number, "remember", content="x"))
                victim.process.kill()
            os.kill(host_pid(), signal.SIGKILL)
            for shim in working:
                answer = shim.answer(number)
                if "error" in answer:  # sent and lost, or killed twice while it started
                    assert "may have run" in answer["error"]["message"] or "Nothing was changed" in answer["error"]["message"]
        for shim in working:
            assert shim.alive()
            assert shim.ask(call(1000, "remember", content=f"{shim.pid} last"))["result"]["isError"] is False
        os.kill(stopped.pid, signal.SIGCONT)
        assert stopped.ask(call(1000, "remember", content="awake"))["result"]["isError"] is False
        last = {each.content for each in daemon.stored}
        assert {f"{shim.pid} last" for shim in working} <= last
        until(lambda: len(pids_of("hydramind_mcp.host", hydramind_home)) == 1)
    finally:
        for shim in shims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(shim.pid, signal.SIGCONT)
            shim.__exit__()


def test_an_agent_that_does_not_read_delays_nobody_else(daemon: FakeDaemon):
    with subprocess.Popen(SHIM, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as deaf, ShimProcess() as other:
        for message in (initialize(0), INITIALIZED, call(1, "remember", content="x" * 900_000)):
            deaf.stdin.write(json.dumps(message).encode() + b"\n")
        deaf.stdin.flush()
        daemon.wait_for_calls(1)
        os.set_blocking(deaf.stdin.fileno(), False)
        with contextlib.suppress(BlockingIOError):  # until the shim takes no more
            for number in range(2, 60):
                line = json.dumps(call(number, "recall", query="x")).encode() + b"\n"
                assert os.write(deaf.stdin.fileno(), line) == len(line)
        os.kill(deaf.pid, signal.SIGSTOP)
        other.open()
        for number in range(1, 6):
            assert other.ask(call(number, "remember", content=f"y{number}"))["result"]["isError"] is False
        assert deaf.poll() is None
        deaf.kill()


# --- cold starts, ends, leaks


def test_ten_cold_shims_make_one_host(daemon: FakeDaemon, hydramind_home: Path):
    shims = [ShimProcess() for _ in range(10)]
    try:
        for shim in shims:
            shim.send(initialize(0), INITIALIZED, request(1, "tools/list"), call(2, "remember", content=f"from {shim.pid}"))
        for shim in shims:
            assert "result" in shim.answer(0)
            assert len(shim.answer(1)["result"]["tools"]) == 9
            assert shim.answer(2)["result"]["isError"] is False
        assert pids_of("hydramind_mcp.host", hydramind_home) == [host_pid()]
        for shim in shims:
            assert shim.close() == 0
    finally:
        for shim in shims:
            shim.__exit__()
    assert len(daemon.stored) == 10


def test_the_second_cold_start_shows_its_tools_before_any_host_runs(daemon: FakeDaemon):
    with ShimProcess() as shim:
        shim.open()
        until(lambda: Path(daemon.addresses.mcp_manifest).exists())
        os.kill(host_pid(), signal.SIGKILL)
        shim.close()
    with ShimProcess(env={"HYDRAMIND_NO_SPAWN": "1"}) as shim:  # so that nothing but the manifest can answer
        shim.open()
        assert len(shim.ask(request(1, "tools/list"))["result"]["tools"]) == 9
        assert "HYDRAMIND_NO_SPAWN" in shim.ask(call(2, "recall", query="x"))["error"]["message"]


def test_a_second_host_yields_to_the_first(daemon: FakeDaemon):
    with ShimProcess() as shim:
        shim.open().ask(call(1, "remember", content="x"))
        read, write = os.pipe()
        command = [sys.executable, "-m", "hydramind_mcp.host", "--ready-fd", str(write)]
        done = subprocess.run(command, pass_fds=[write], check=False, timeout=PATIENCE_S)
        os.close(write)
        assert done.returncode == 75
        assert os.read(read, 100).decode().split() == ["BUSY", str(host_pid())]
        os.close(read)


def test_a_lock_file_that_names_a_recycled_pid_is_no_obstacle(daemon: FakeDaemon):
    daemon.addresses.make_folders()
    Path(daemon.addresses.mcp_host_lock).write_text(f"{os.getpid()}\n{daemon.addresses.mcp_socket}\n")
    Path(daemon.addresses.mcp_socket).write_text("not a socket")
    with ShimProcess() as shim:
        shim.open()
        assert "result" in shim.ask(call(1, "remember", content="x"))
        assert host_pid() != os.getpid()


def test_a_host_that_cannot_start_is_a_clear_error_and_not_a_hang(daemon: FakeDaemon, tmp_path: Path):
    (tmp_path / "mcp.py").write_text("raise ImportError('no SDK today')")
    with ShimProcess(env={"PYTHONPATH": str(tmp_path)}) as shim:
        answer = shim.ask(request(0, "prompts/list"))
        assert "no SDK today" in answer["error"]["message"]
        assert shim.alive()
        assert "error" in shim.ask(call(1, "remember", content="x"))
        assert shim.close() == 0


@pytest.mark.parametrize("cycles", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_many_sessions_leave_one_host_at_most_and_no_orphan(daemon: FakeDaemon, hydramind_home: Path, cycles: int):
    hosts = set()
    for cycle in range(cycles):
        with ShimProcess() as shim:
            shim.send(initialize(0))
            assert "result" in shim.answer(0)
            if cycle % (cycles // 4) == 1:
                os.kill(host_pid(), signal.SIGKILL)
            assert shim.close() == 0
        hosts.add(local.read_holder(daemon.addresses.mcp_host_lock)[0])
    until(lambda: len(pids_of("hydramind_mcp.host", hydramind_home)) <= 1)
    children = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "stat=,args="], capture_output=True, text=True, check=False
    )
    assert [line for line in children.stdout.splitlines() if "hydramind" in line] == []
    assert len(hosts - {0}) <= 6


def test_a_host_without_traffic_goes_and_its_shims_stay(daemon: FakeDaemon):
    daemon.addresses.make_folders()
    with subprocess.Popen([sys.executable, "-m", "hydramind_mcp.host", "--idle-s", "0.5"], stderr=subprocess.DEVNULL) as process:
        until(lambda: Path(daemon.addresses.mcp_socket).exists())
        with ShimProcess() as shim:
            shim.open()
            assert process.wait(PATIENCE_S) == 0
            assert shim.alive()
            assert "result" in shim.ask(call(1, "remember", content="woken"))


def test_a_host_whose_socket_was_removed_goes(daemon: FakeDaemon):
    with subprocess.Popen([sys.executable, "-m", "hydramind_mcp.host"], stderr=subprocess.DEVNULL) as process:
        until(lambda: Path(daemon.addresses.mcp_socket).exists())
        Path(daemon.addresses.mcp_socket).unlink()
        assert process.wait(PATIENCE_S) == 0


def test_the_socket_is_closed_to_others_and_the_peer_is_checked(daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch):
    with ShimProcess() as shim:
        shim.open().ask(call(1, "remember", content="x"))
        path = Path(daemon.addresses.mcp_socket)
        assert path.stat().st_mode & 0o077 == 0
        assert path.parent.stat().st_mode & 0o077 == 0
    import socket

    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        assert peer_uid(one) == os.geteuid()
        check_owner(one)
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        with pytest.raises(ValueError, match="another user"):
            check_owner(one)


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\2{}", b"\xff\xff\xff\xff", b"\0\0\0\5nope!"])
def test_a_peer_without_a_hello_is_told_and_hung_up_on(daemon: FakeDaemon, data: bytes):
    import socket

    with ShimProcess() as shim:
        shim.open().ask(call("up", "remember", content="x"))
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(PATIENCE_S)
            peer.connect(daemon.addresses.mcp_socket)
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            answer = b""
            while chunk := peer.recv(4096):
                answer += chunk
        assert json.loads(answer)["method"] == wire.REFUSED
        assert "result" in shim.ask(call(1, "remember", content="x"))

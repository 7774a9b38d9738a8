"""The shim, with the test as its agent on one side and as its host on the other."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramind import local
from hydramind_mcp import wire
from tests.unit.mcp.rig import INITIALIZED, MODERN, PATIENCE_S, SHIM, FakeHost, ShimProcess, call, initialize, modern, request


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHost]:
    monkeypatch.setenv("HYDRAMIND_NO_SPAWN", "1")  # the test is the only host
    with FakeHost() as host:
        yield host


def test_the_hello_comes_first_and_says_who_and_where(host: FakeHost, tmp_path):
    with ShimProcess(cwd=tmp_path, env={"HYDRAMIND_SCOPE": "acme", "HYDRAMIND_TOKEN": "secret"}) as shim:
        hello = host.accept().hello
    assert hello["v"] == wire.HELLO_VERSION
    assert (hello["flavour"], hello["cwd"], hello["pid"], hello["ppid"]) == ("hydramind", str(tmp_path), shim.pid, os.getpid())
    assert (hello["scope"], hello["scope_from"]) == ("acme", "environment")
    assert hello["build"] == local.build_id()
    assert hello["env"]["HYDRAMIND_SCOPE"] == "acme"
    assert "secret" not in json.dumps(hello)


def test_lines_pass_both_ways_unchanged(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        question = call("ä-1", "recall", query='Größe ☃ \\ " ')
        shim.send(question)
        assert peer.receive() == question
        peer.answer(question, {"snow": "☃"})
        assert shim.answer("ä-1")["result"] == {"snow": "☃"}


def test_stdin_end_ends_the_shim(host: FakeHost):
    with ShimProcess() as shim:
        host.accept()
        assert shim.close() == 0


def test_answers_that_are_due_at_the_end_of_stdin_still_arrive(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.send(call(1, "recall", query="x"))
        shim.process.stdin.close()
        peer.answer(peer.receive(), {"late": True})
        assert shim.answer(1)["result"] == {"late": True}
        assert shim.process.wait(PATIENCE_S) == 0


def test_a_last_line_without_its_end_is_a_message_too(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.raw(json.dumps(call(1, "recall", query="x")).encode())
        shim.process.stdin.close()
        peer.answer(peer.receive(), {})
        assert shim.answer(1)["result"] == {}


@pytest.mark.parametrize("line", [b"\0", b"garbage", b"{", b"{}{}", b'"\xff"', b"NaN", b"[" * 100_000, b"1" * 5000, b'{"a":\0}'])
def test_a_line_that_is_no_json_is_answered_and_kills_nothing(host: FakeHost, line: bytes):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.raw(line + b"\n")
        assert shim.next()["error"]["code"] == wire.PARSE_ERROR
        shim.send(request(1, "ping"))
        peer.answer(peer.receive(), {})
        assert shim.answer(1)["result"] == {}


@pytest.mark.parametrize("line", [b"[]", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', b"1", b"null", b'"x"', b'{"id":7}'])
def test_a_value_that_is_no_message_is_answered_as_such(host: FakeHost, line: bytes):
    with ShimProcess() as shim:
        host.accept()
        shim.raw(line + b"\n")
        assert shim.next()["error"]["code"] == wire.INVALID_REQUEST


@pytest.mark.parametrize("number", ["null", "1.5", "true", "[1]", "{}"])
def test_an_id_that_mcp_does_not_allow_is_refused(host: FakeHost, number: str):
    with ShimProcess() as shim:
        host.accept()
        shim.raw(f'{{"jsonrpc":"2.0","id":{number},"method":"ping"}}\n'.encode())
        assert shim.next()["error"]["code"] == wire.INVALID_REQUEST


def test_blank_lines_are_nothing(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.raw(b"\n  \n\r\n")
        shim.send(request(1, "ping"))
        assert peer.receive()["method"] == "ping"


def test_a_message_of_megabytes_passes_both_ways(host: FakeHost):
    content = "x" * (wire.MAX_LINE_BYTES - 1000)
    with ShimProcess() as shim:
        peer = host.accept()
        shim.send(call(1, "remember", content=content))
        message = peer.receive()
        assert message["params"]["arguments"]["content"] == content
        peer.answer(message, content)
        assert shim.answer(1)["result"] == content


def test_a_message_over_the_limit_is_answered_and_the_next_one_passes(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.raw(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * wire.MAX_LINE_BYTES + b'"}\n')
        assert shim.next()["error"]["code"] == wire.INVALID_REQUEST
        shim.send(request(2, "ping"))
        assert peer.receive()["id"] == 2


def test_a_message_in_single_bytes_is_one_message(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        for byte in json.dumps(request(1, "ping")).encode() + b"\n":
            shim.raw(bytes([byte]))
        assert peer.receive()["id"] == 1


def test_what_the_host_says_that_is_no_json_does_not_reach_the_agent(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.send(request(1, "ping"))
        message = peer.receive()
        peer.sock.sendall(b"Traceback (most recent call last):\n")
        peer.answer(message, {})
        assert shim.next() == {"jsonrpc": "2.0", "id": 1, "result": {}}
        shim.close()
        assert b"not JSON" in shim.errors


# --- the host goes


def test_a_read_whose_answer_was_lost_may_be_asked_again(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.send(call(1, "recall", query="x"))
        peer.receive()
        peer.close()
        text = shim.answer(1)["error"]["message"]
        assert "Nothing was changed" in text
        assert shim.alive()


def test_a_write_whose_answer_was_lost_may_have_run_and_names_its_key(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        session = peer.hello["session"]
        shim.send(call(7, "remember", content="x"))
        peer.receive()
        peer.close()
        text = shim.answer(7)["error"]["message"]
        assert "may have run" in text
        assert wire.idempotency_key(session, 7) in text


def test_the_session_goes_on_with_the_next_host_and_nothing_is_sent_twice(host: FakeHost):
    with ShimProcess() as shim:
        first = host.accept()
        shim.send(initialize(0))
        first.answer(first.receive(), {"host": 1})
        shim.send(INITIALIZED, call(1, "remember", content="lost"))
        assert first.receive() == INITIALIZED
        first.receive()
        first.close()
        assert "error" in shim.answer(1)
        second = host.accept()
        assert second.hello["session"] == first.hello["session"]
        assert second.receive() == initialize(0)
        assert second.receive() == INITIALIZED
        second.answer(initialize(0), {"host": 2})
        shim.send(call(2, "recall", query="x"))
        message = second.receive()
        assert message["id"] == 2
        second.answer(message, {})
        assert shim.answer(2)["result"] == {}
        assert shim.seen[0]["result"] == {"host": 1}
        assert shim.order == [0, 1, 2]  # the second answer to initialize was swallowed


def test_a_handshake_that_the_host_did_not_survive_is_finished_by_the_next(host: FakeHost):
    with ShimProcess() as shim:
        first = host.accept()
        shim.send(initialize(0))
        first.receive()
        first.close()
        second = host.accept()
        second.answer(second.receive(), {"host": 2})
        assert shim.answer(0)["result"] == {"host": 2}


def test_a_request_that_was_never_sent_goes_to_the_next_host(host: FakeHost):
    with ShimProcess() as shim:
        first = host.accept()
        first.sock.close()
        first.file.close()  # only now is the connection closed
        shim.send(call(1, "recall", query="x"))
        second = host.accept()
        message = second.receive()
        assert message["id"] == 1
        second.answer(message, {})
        assert shim.answer(1)["result"] == {}


def test_a_cancelled_request_is_not_answered_when_the_host_goes(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        shim.send(call(1, "recall", query="x"), cancelled)
        peer.receive()
        peer.receive()
        peer.close()
        shim.send(request(2, "ping"))
        second = host.accept()
        second.answer(second.receive(), {})
        assert shim.next()["id"] == 2


def test_a_host_that_refuses_says_why_to_whoever_waits(host: FakeHost):
    with ShimProcess() as shim:
        peer = host.accept()
        shim.send(initialize(0))
        peer.receive()
        peer.send({"jsonrpc": "2.0", "method": wire.REFUSED, "params": {"message": "this memory belongs to another user"}})
        assert "belongs to another user" in shim.answer(0)["error"]["message"]
        assert shim.alive()


def test_without_a_host_every_request_gets_a_clear_error_and_the_shim_lives(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HYDRAMIND_NO_SPAWN", "1")
    with ShimProcess() as shim:
        shim.open()
        for message in (request(1, "prompts/list"), call(2, "recall", query="x"), call(3, "remember", content="x")):
            text = shim.ask(message)["error"]["message"]
            assert "HYDRAMIND_NO_SPAWN" in text
            assert "Nothing was changed" in text
        assert shim.close() == 0


def test_a_home_that_cannot_be_made_is_a_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with ShimProcess(env={"HYDRAMIND_HOME": str(tmp_path / "file" / "home")}) as shim:
        text = shim.ask(request(0, "prompts/list"))["error"]["message"]
        assert str(tmp_path / "file") in text
        assert shim.close() == 0


def test_a_shim_that_is_asked_nothing_starts_nothing(hydramind_home: Path):
    with ShimProcess() as shim:
        shim.raw(b"\n")
        assert shim.close() == 0
    assert list(hydramind_home.iterdir()) == []


# --- the manifest


def write_manifest(host: FakeHost, build: str) -> None:
    answers = {"2025-11-25": {"initialize": 0, "tools/list": 1}, MODERN: {"server/discover": 0, "tools/list": 2}}
    texts = ['{"from":"manifest"}', '{"tools":["legacy"]}', '{"tools":["modern"]}']
    Path(host.addresses.mcp_manifest).write_text(json.dumps({"build": build, "answers": answers, "texts": texts}))


def test_while_no_host_is_there_the_manifest_opens_the_session(host: FakeHost):
    write_manifest(host, local.build_id())
    host.stop_listening()
    with ShimProcess() as shim:
        assert shim.ask(initialize(0))["result"] == {"from": "manifest"}
        shim.send(INITIALIZED)
        assert shim.ask(request("t", "tools/list"))["result"] == {"tools": ["legacy"]}
        host.listen()
        shim.send(call(2, "recall", query="x"))
        peer = host.accept()
        assert [peer.receive() for _ in range(2)] == [initialize(0), INITIALIZED]
        peer.answer(initialize(0), {"from": "host"})
        message = peer.receive()
        peer.answer(message, {})
        assert shim.answer(2)["result"] == {}
        assert shim.order == [0, "t", 2]


def test_the_manifest_opens_a_sessionless_client_too(host: FakeHost):
    write_manifest(host, local.build_id())
    host.stop_listening()
    with ShimProcess() as shim:
        assert shim.ask(modern(request(0, "server/discover")))["result"] == {"from": "manifest"}
        assert shim.ask(modern(request(1, "tools/list")))["result"] == {"tools": ["modern"]}


@pytest.mark.parametrize("build", ["another build", None, ""])
def test_a_manifest_of_another_build_is_not_believed(host: FakeHost, build: str | None):
    write_manifest(host, build)
    host.stop_listening()
    with ShimProcess() as shim:
        assert shim.ask(initialize(0))["result"]["serverInfo"]["name"] == "hydramind"  # from the package


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"build":1}', '{"build":"BUILD","answers":{"2025-11-25":{"initialize":9}},"texts":[]}']
)
def test_a_damaged_manifest_harms_nobody(host: FakeHost, damage: str):
    Path(host.addresses.mcp_manifest).write_text(damage.replace("BUILD", local.build_id()))
    host.stop_listening()
    with ShimProcess() as shim:
        assert shim.ask(initialize(0)).keys() & {"result", "error"}
        assert shim.alive()


def test_the_very_first_start_shows_its_tools_without_any_host(host: FakeHost):
    host.stop_listening()
    with ShimProcess() as shim:
        shim.open()
        assert len(shim.ask(request(1, "tools/list"))["result"]["tools"]) == 9


def test_a_version_that_the_manifest_does_not_know_is_left_to_the_host(host: FakeHost):
    write_manifest(host, local.build_id())
    host.stop_listening()
    with ShimProcess() as shim:
        assert "error" in shim.ask(initialize(0, "2099-01-01"))


def test_tools_that_were_asked_for_when_the_host_died_come_from_the_manifest(host: FakeHost):
    write_manifest(host, local.build_id())
    with ShimProcess() as shim:
        peer = host.accept()
        shim.send(initialize(0))
        peer.answer(peer.receive(), {})
        shim.send(request(1, "tools/list"))
        peer.receive()
        peer.close()
        assert shim.answer(1)["result"] == {"tools": ["legacy"]}


# --- back-pressure and ends


def test_an_agent_that_does_not_read_blocks_only_itself_and_loses_nothing(host: FakeHost):
    process = subprocess.Popen(SHIM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        peer = host.accept()
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x" * 100_000}}
        peer.sock.settimeout(1.0)
        with pytest.raises(TimeoutError):  # the shim stops taking more, long before these 20 MB
            peer.send(*[note] * 200)
        assert process.poll() is None
        assert json.loads(process.stdout.readline()) == note
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_an_agent_that_closes_stdout_ends_the_shim(host: FakeHost):
    process = subprocess.Popen(SHIM, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    host.accept()
    process.stdout.close()
    assert process.wait(PATIENCE_S) == 0
    process.stdin.close()


def test_the_death_of_the_parent_ends_the_shim_though_stdin_stays_open(host: FakeHost):
    read, write = os.pipe()  # held open by this test, as a leaked descriptor would be
    code = "import subprocess, sys, time; p = subprocess.Popen(sys.argv[1:], stdout=2); print(p.pid, flush=True); time.sleep(600)"
    parent = subprocess.Popen([sys.executable, "-c", code, *SHIM], stdin=read, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        shim = int(parent.stdout.readline())
        peer = host.accept()
        assert peer.hello["pid"] == shim
        parent.send_signal(signal.SIGKILL)
        parent.wait(PATIENCE_S)
        assert peer.file.read() == b""  # the connection ends with the shim
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
        os.close(read)
        os.close(write)


def test_an_interrupt_ends_the_shim_without_a_traceback(host: FakeHost):
    with ShimProcess() as shim:
        host.accept()
        shim.process.send_signal(signal.SIGINT)
        assert shim.process.wait(PATIENCE_S) == 130
        shim.close()
        assert b"Traceback" not in shim.errors


def test_a_shim_loads_no_more_than_it_needs():
    code = "import sys; before = set(sys.modules); import hydramind_mcp.shim; print(*(set(sys.modules) - before))"
    loaded = set(subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True).stdout.split())
    ours = {name for name in loaded if name.startswith("hydramind")}
    modules = {"hydramind_mcp", "hydramind_mcp.link", "hydramind_mcp.shim", "hydramind_mcp.wire"}
    assert ours == modules | {"hydramind", "hydramind.local"}
    assert loaded - ours <= {"select", "_socket", "_json", "errno", "time", "math", "stat", "_blake2"}

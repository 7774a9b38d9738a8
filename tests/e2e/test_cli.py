"""The shell as people run it: real processes, a real daemon, a home of the test's own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hydramind_cli.commands_admin import process_runs

ENTRY = "import sys; from hydramind_cli.entry import main; sys.exit(main())"
Done = subprocess.CompletedProcess[str]
Shell = Callable[..., Done]


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """Runs `hydramind …` outside of any project; the daemon that it started is stopped at the end."""

    def run(*argv: str, stdin: str = "", **env: str) -> Done:
        command = [sys.executable, "-c", ENTRY, *argv]
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **env}, timeout=60, check=False
        )

    yield run
    run("daemon", "stop", "--grace", "1")


def answer(done: Done) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_reference_example_over_the_shell(shell: Shell):
    policy = answer(shell("remember", "Production deploys must always use direct routing.", "-e", "deploy-policy", "--json"))
    checklist = answer(shell("remember", "Checklist follows deploy policy.", "-d", policy["memory_id"], "--json"))
    third = answer(shell("remember", "-", "-d", checklist["memory_id"], "--json", stdin="The runbook follows the checklist.\n"))
    asked = answer(shell("check", "Production deploys must not use direct routing.", "-e", "deploy-policy", "--json"))
    assert [(c["memory_id"], c["after_trust"]) for c in asked["conflicts"]] == [(policy["memory_id"], 0.6)]
    newer = answer(shell("remember", "Production deploys must not use direct routing.", "-e", "deploy-policy", "--json"))
    assert [(c["before_trust"], c["after_trust"]) for c in newer["conflicts"]] == [(1.0, 0.6)]
    assert {d["memory_id"]: (d["hop"], d["after_trust"]) for d in newer["decayed"]} == {
        checklist["memory_id"]: (1, 0.85),
        third["memory_id"]: (2, 0.70),
    }
    found = answer(shell("recall", "How should production route?", "-e", "deploy-policy", "--json"))
    assert next(iter(found)) == "memories"
    assert [(hit["memory_id"], hit["trust_score"]) for hit in found["memories"]] == [
        (newer["memory_id"], 1.0),
        (policy["memory_id"], 0.6),
    ]
    words = answer(shell("explain", third["memory_id"], "--json"))
    assert words["trust_score"] == 0.7
    assert newer["memory_id"] in words["explanation"]
    back = answer(shell("resolve", newer["memory_id"], policy["memory_id"], "dismissed", "-r", "wrong", "--json"))
    assert sorted(w["after_trust"] for w in back["withdrawn"]) == [1.0, 1.0, 1.0]
    nothing = answer(shell("recall", "Which airline does finance prefer?", "--json"))
    assert (nothing["memories"], nothing["abstained"]) == ([], True)


def test_drawn_answers_tell_the_same_in_plain_text(shell: Shell):
    first = answer(shell("remember", "Backups run every night.", "-e", "backups", "--json"))["memory_id"]
    shell("remember", "The audit relies on the backups.", "-d", first)
    drawn = shell("remember", "Backups do not run every night.", "-e", "backups", LANG="C", LC_ALL="C")
    assert drawn.returncode == 0
    assert drawn.stdout.isascii()
    assert "1.00 -> 0.60" in drawn.stdout
    assert "1.00 -> 0.85" in drawn.stdout
    for command in (
        ["trace", first],
        ["explain", first],
        ["timeline"],
        ["get", first],
        ["list"],
        ["conflicts"],
        ["neighborhood", first],
    ):
        shown = shell(*command)
        assert shown.returncode == 0, shown.stderr
        assert "Backups run every night." in shown.stdout, command
    for command in (["scopes"], ["entities"], ["stats"], ["status"]):
        assert shell(*command).returncode == 0


def test_a_revision_keeps_the_old_fact_with_its_dates(shell: Shell):
    old = answer(shell("remember", "The gateway runs on Python 3.11.", "--valid-from", "2026-01-15", "--json"))
    words = ["revise", old["memory_id"], "The gateway runs on Python 3.13.", "-r", "upgraded", "--json"]
    new = answer(shell(*words, "--valid-from", "2026-06-01", "--expected-version", str(old["version"])))
    facts = answer(shell("timeline", "--memory", new["memory_id"], "--json"))["facts"]
    assert [(f["valid_from"][:10], f.get("valid_to", "")[:10]) for f in facts] == [
        ("2026-01-15", "2026-06-01"),
        ("2026-06-01", ""),
    ]
    stale = shell(*words)
    assert (stale.returncode, json.loads(stale.stderr)["error"]["reason"]) == (1, "ALREADY_SUPERSEDED")
    past = answer(shell("recall", "gateway", "--as-of", "2026-03-01", "--json"))
    assert [hit["memory_id"] for hit in past["memories"]] == [old["memory_id"]]


BAD_INPUT = (
    (["remember", ""], 65, "content"),
    (["remember", "\u200b"], 65, "content"),
    (["remember", "x", "--valid-from", "2026-02-30"], 65, "valid_from"),
    (["remember", "x", "--valid-from", "2026-03-01T12:00"], 65, "valid_from"),
    (["remember", "x", "--scope", "y" * 300], 65, "scope"),
    (["remember", "x", "-d", "mem_nowhere"], 66, "derived_from"),
    (["get", "mem_nowhere"], 66, "memory_id"),
    (["forget", "mem_nowhere"], 66, "memory_id"),
)


def test_bad_input_is_an_error_that_names_the_field_and_stores_nothing(shell: Shell):
    told = [
        (argv, done.returncode, json.loads(done.stderr)["error"].get("field"))
        for argv, _, _ in BAD_INPUT
        for done in [shell(*argv, "--json")]
    ]
    assert told == [(argv, code, field) for argv, code, field in BAD_INPUT]
    assert answer(shell("stats", "--json"))["active"] == 0


def test_an_export_comes_back_through_import_and_a_second_run_changes_nothing(shell: Shell, tmp_path: Path):
    first = answer(shell("remember", "The cache holds 4 GiB.", "-e", "cache", "--json"))["memory_id"]
    answer(shell("revise", first, "The cache holds 8 GiB.", "-r", "grown", "--json"))
    shell("remember", "Reports are built on the cache.", "-d", first)
    file = tmp_path / "all.jsonl"
    assert shell("export", str(file)).returncode == 0
    assert len(file.read_text().splitlines()) == 3
    place = ("--scope", "copy")
    assert answer(shell("import", str(file), *place, "--restore", "--json"))["imported"] == 3
    before = shell("export", *place).stdout
    assert answer(shell("import", str(file), *place, "--restore", "--json"))["already_there"] == 3
    assert shell("export", *place).stdout == before
    copied = [json.loads(line) for line in before.splitlines()]
    originals = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(c["content"], c["status"], c["created_at"], c["valid_from"]) for c in copied] == [
        (o["content"], o["status"], o["created_at"], o["valid_from"]) for o in originals
    ]


def test_purging_one_scope_leaves_the_export_of_another_byte_for_byte(shell: Shell):
    for scope in ("ours", "theirs"):
        shell("remember", "Lunch is at noon.", "--scope", scope)
    before = shell("export", "--scope", "theirs").stdout
    assert shell("purge", "--all-in-scope", "-r", "over", "--scope", "ours", stdin="").returncode == 64
    assert shell("purge", "--all-in-scope", "-r", "over", "--scope", "ours", "--yes").returncode == 0
    assert shell("export", "--scope", "ours").stdout == ""
    assert shell("export", "--scope", "theirs").stdout == before


def test_two_commands_at_once_from_cold_both_succeed_with_one_daemon(shell: Shell, tmp_path: Path):
    command = [sys.executable, "-c", ENTRY, "status", "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path, text=True) for _ in range(2)]
    pids = {json.loads(process.communicate(timeout=60)[0])["pid"] for process in both}
    assert len(pids) == 1


def test_stop_ends_the_daemon_and_the_next_command_finds_everything_again(shell: Shell):
    kept = answer(shell("remember", "Tea is green.", "--json"))["memory_id"]
    pid = answer(shell("daemon", "stop", "--json"))["pid"]
    assert not process_runs(pid)
    assert shell("daemon", "status").returncode == 69
    assert answer(shell("get", kept, "--json"))["memory"]["content"] == "Tea is green."


def test_a_killed_daemon_is_replaced_without_any_cleaning_up(shell: Shell):
    kept = answer(shell("remember", "Tea is green.", "--json"))["memory_id"]
    os.kill(answer(shell("status", "--json"))["pid"], signal.SIGKILL)
    assert answer(shell("get", kept, "--json"))["memory"]["content"] == "Tea is green."


def test_watch_prints_what_happens_as_json_lines(shell: Shell, tmp_path: Path):
    shell("remember", "One.")
    shell("remember", "Two.")
    done = shell("watch", "--cursor", "0", "--count", "2", "--json")
    assert [json.loads(line)["content"] for line in done.stdout.splitlines()] == ["One.", "Two."]


def test_a_reader_that_goes_away_is_no_error(shell: Shell, tmp_path: Path):
    lines = "".join(json.dumps({"content": f"Fact number {n} is about {'x' * 300}."}) + "\n" for n in range(400))
    assert shell("import", stdin=lines).returncode == 0
    command = f"{sys.executable} -c '{ENTRY}' export | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_without_arguments_and_terminal_it_is_the_mcp_server(shell: Shell):
    asked = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }  # fmt: skip
    done = shell(stdin=json.dumps(asked) + "\n")
    assert done.returncode == 0
    assert json.loads(done.stdout.splitlines()[0])["id"] == 1


def test_doctor_never_removes_a_held_lock_and_mends_a_stale_socket(shell: Shell, hydramind_home: Path):
    import fcntl
    import socket

    run = hydramind_home / "run"
    run.mkdir(mode=0o755)
    run.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(run / "daemon.sock"))
    lock = hydramind_home / "daemon.lock"
    with lock.open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        done = shell("doctor", "--fix", "--json")
        assert done.returncode == 1
        assert (lock.exists(), (run / "daemon.sock").exists()) == (True, True)
        assert "never removed" in done.stdout
        assert run.stat().st_mode & 0o777 == 0o700
    done = shell("doctor", "--fix", "--json")
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (0, True)
    assert (lock.exists(), (run / "daemon.sock").exists()) == (True, False)


def test_the_project_around_the_working_directory_is_the_scope(shell: Shell, tmp_path: Path):
    (tmp_path / ".git").mkdir()
    shown = answer(shell("remember", "Tea is green.", "--json"))
    assert (shown["scope"], shown["scope_from"]) == (tmp_path.name, "project")
    assert answer(shell("remember", "Tea is black.", "--json", HYDRAMIND_SCOPE="env"))["scope_from"] == "environment"

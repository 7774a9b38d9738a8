"""What the shell sends, prints and exits with, against a daemon whose answers the test states."""

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import pytest

from hydramind import local
from hydramind.v1 import admin_pb2, memory_pb2
from hydramind_cli import app
from tests.unit.client.fake_daemon import FakeDaemon, abort, remembered

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def daemon(hydramind_home: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(Path(local.addresses(home=str(hydramind_home)).socket)) as running:
        yield running


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("HYDRAMIND_NO_SPAWN", "1")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)

    def run(*argv: str, stdin: bytes | None = None) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin or b"")))
        code = app.run(argv)
        out, err = capsys.readouterr()
        return int(code), out, err

    return run


def test_a_remembered_fact_is_sent_whole(shell: Run, daemon: FakeDaemon):
    daemon.answers["Remember"] = lambda request, context: remembered()
    words = ["remember", "A fact.", "-e", "x", "--entity", "y", "-d", "m-0", "--source", "s", "--valid-from", "2026-03-01"]
    code, out, _ = shell(*words, "--idempotency-key", "k", "--scope", "acme")
    sent = daemon.calls("Remember")[0]
    assert code == 0
    assert (sent.content, list(sent.entities), list(sent.derived_from), sent.source) == ("A fact.", ["x", "y"], ["m-0"], "s")
    assert (sent.valid_from, sent.idempotency_key, sent.scope.name) == ("2026-03-01", "k", "acme")
    assert "m-1" in out


@pytest.mark.parametrize("argv", [["--json", "remember", "a"], ["remember", "a", "--json"], ["remember", "--json", "a"]])
def test_global_options_stand_before_or_after_the_command(shell: Run, daemon: FakeDaemon, argv: list[str]):
    daemon.answers["Remember"] = lambda request, context: remembered()
    code, out, err = shell(*argv)
    assert (code, err) == (0, "")
    assert list(json.loads(out))[:3] == ["memory_id", "scope", "scope_from"]


def test_the_option_nearer_to_the_command_wins(shell: Run, daemon: FakeDaemon):
    shell("--scope", "outer", "stats", "--scope", "inner")
    assert daemon.calls("GetScopeStats")[0].scope.name == "inner"


@pytest.mark.parametrize("argv", [["remember", "-"], ["remember"]])
def test_content_comes_from_stdin(shell: Run, daemon: FakeDaemon, argv: list[str]):
    daemon.answers["Remember"] = lambda request, context: remembered()
    shell(*argv, stdin="two\nlines – ünïcode\n".encode())
    assert daemon.calls("Remember")[0].content == "two\nlines – ünïcode"


def test_stdin_that_is_not_text_is_bad_data(shell: Run, daemon: FakeDaemon):
    code, _, err = shell("remember", "-", stdin=b"\xff\xfe")
    assert code == 65
    assert "UTF-8" in err
    assert daemon.calls("Remember") == []


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, "BLANK", 65),
        (grpc.StatusCode.NOT_FOUND, "NOT_FOUND", 66),
        (grpc.StatusCode.FAILED_PRECONDITION, "ALREADY_SUPERSEDED", 1),
        (grpc.StatusCode.ABORTED, "VERSION_MISMATCH", 75),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "DISK_FULL", 75),
        (grpc.StatusCode.UNAVAILABLE, "SCOPE_LOCKED", 69),
        (grpc.StatusCode.PERMISSION_DENIED, "NO", 77),
        (grpc.StatusCode.ALREADY_EXISTS, "EXISTS", 73),
        (grpc.StatusCode.INTERNAL, "INTERNAL", 1),
    ],
)
def test_each_kind_of_error_has_its_exit_code(shell: Run, daemon: FakeDaemon, status, reason: str, expected: int):
    daemon.answers["GetMemory"] = lambda request, context: abort(context, status, "no good", reason, field="memory_id")
    code, out, err = shell("get", "m-1", "--json")
    problem = json.loads(err)["error"]
    assert (code, out) == (expected, "")
    assert (problem["reason"], problem["message"], problem["field"], problem["exit_code"]) == (
        reason,
        "no good",
        "memory_id",
        expected,
    )


def test_an_absent_daemon_is_69(shell: Run):
    code, _, err = shell("status")
    assert code == 69
    assert "no daemon listens" in err


def test_abstaining_is_an_answer(shell: Run, daemon: FakeDaemon):
    daemon.answers["Recall"] = lambda request, context: memory_pb2.RecallResponse(
        abstained=True, reason="no word of it", nearest=["m-9"], near_scopes=["acme"], scope={"scope": "acne"}
    )
    code, out, _ = shell("recall", "airlines?")
    assert code == 0
    assert "nothing is known" in out
    assert "m-9" in out
    assert "did you mean acme" in out


@pytest.mark.parametrize(
    ("argv", "hint"),
    [
        (["recal", "x"], "recall"),
        (["recall", "x", "--limt", "3"], "--limit"),
        (["recall", "x", "--limit", "0"], "0"),
        (["recall", "x", "--limit", "many"], "many"),
        (["revise", "m-1", "x"], "--reason"),
        (["resolve", "a", "b", "maybe", "-r", "x"], "dismissed"),
        (["purge", "m-1", "-r", "x"], "--scope"),
        (["purge", "-r", "x", "--scope", "s"], "--all-in-scope"),
        (["daemon", "strat"], "strat"),
    ],
)
def test_a_wrong_command_line_is_64_and_says_what_is_right(shell: Run, daemon: FakeDaemon, argv: list[str], hint: str):
    code, out, err = shell(*argv)
    assert (code, out) == (64, "")
    assert hint in err
    assert daemon.requests == []


def test_a_setting_that_is_not_allowed_is_78(shell: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HYDRAMIND_RECALL_LIMIT", "0")
    code, _, err = shell("config", "show")
    assert code == 78
    assert "recall.limit" in err


def test_config_shows_where_each_value_comes_from(shell: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HYDRAMIND_RECALL_LIMIT", "7")
    monkeypatch.setenv("HYDRAMIND_TOKEN", "geheim")
    code, out, _ = shell("config", "show", "--json")
    rows = {row["name"]: row for row in json.loads(out)["settings"]}
    assert code == 0
    assert (rows["recall.limit"]["value"], rows["recall.limit"]["source"]) == ("7", "environment")
    assert "geheim" not in out


def test_status_has_the_pid_at_the_top_level(shell: Run, daemon: FakeDaemon):
    daemon.answers["GetStatus"] = lambda request, context: admin_pb2.GetStatusResponse(server={"pid": 4711}, state="serving")
    assert json.loads(shell("status", "--json")[1])["pid"] == 4711


def test_stopping_what_does_not_run_is_fine_and_starts_nothing(shell: Run, hydramind_home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HYDRAMIND_NO_SPAWN")
    code, out, _ = shell("daemon", "stop", "--json")
    assert (code, json.loads(out)) == (0, {"stopped": False})
    assert not (hydramind_home / "logs").exists()


def test_control_characters_of_a_memory_never_reach_the_terminal(shell: Run, daemon: FakeDaemon):
    nasty = "\x1b[31mred\x07 \u202eflip [bold]not markup[/bold]"
    daemon.answers["Recall"] = lambda request, context: memory_pb2.RecallResponse(
        memories=[{"memory": {"memory_id": "m-1", "content": nasty, "status": 1}}]
    )
    out = shell("recall", "q")[1]
    assert not set("\x1b\x07\u202e") & set(out)
    assert "[bold]not markup[/bold]" in out
    assert json.loads(shell("recall", "q", "--json")[1])["memories"][0]["content"] == nasty


def test_a_pipe_gets_long_content_on_one_line(shell: Run, daemon: FakeDaemon):
    long = "word " * 200 + "end"
    daemon.answers["ListMemories"] = lambda request, context: memory_pb2.ListMemoriesResponse(
        memories=[{"memory_id": "m-1", "content": long, "status": 1}], total=1
    )
    assert any(long in line for line in shell("list")[1].splitlines())


def test_lang_c_gets_ascii_and_a_pipe_no_colour(shell: Run, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch):
    def answer(request, context):
        found = remembered()
        found.conflicts.add(memory_id="m-0", old_content="Old.", reason_code="negation", before_trust=1.0, after_trust=0.6)
        found.decayed.add(memory_id="m-2", hop=1, before_trust=1.0, after_trust=0.85)
        return found

    daemon.answers["Remember"] = answer
    daemon.answers["GetMemory"] = lambda request, context: memory_pb2.GetMemoryResponse(
        memory={"memory_id": request.memory_id, "content": "Built on it.", "status": 1}, derived_from=["m-0"]
    )
    monkeypatch.setenv("LANG", "C")
    plain = shell("remember", "New.")[1]
    assert plain.isascii()
    assert "\x1b" not in plain
    assert "`- Built on it." in plain
    assert "1.00 -> 0.60" in plain
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.setenv("FORCE_COLOR", "1")
    drawn = shell("remember", "New.")[1]
    assert "└─" in drawn
    assert "\x1b[" in drawn
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in shell("remember", "New.")[1]


def importer(known: set[str]):
    def answer(request, context):
        record = request.record
        if not record.content.strip():
            return memory_pb2.ImportResponse(
                line=record.line, error={"code": 3, "message": "content: is blank", "field": "content"}
            )
        there = record.content in known
        known.add(record.content)
        return memory_pb2.ImportResponse(line=record.line, imported={"memory_id": f"m-{record.line}", "already_there": there})

    return answer


def test_an_import_reports_each_bad_line_and_stores_the_others(shell: Run, daemon: FakeDaemon, tmp_path: Path):
    daemon.answers["Import"] = importer(set())
    file = tmp_path / "in.jsonl"
    lines = [
        '{"content": "one", "id": "a"}',
        "nonsense",
        "",
        '{"content": " "}',
        '{"contnt": "x"}',
        '{"content": "two", "entities": "x"}',
    ]
    file.write_text("\n".join([*lines, '{"content": "last"}']) + "\n")
    code, out, err = shell("import", str(file), "--restore")
    assert code == 65
    assert "2 imported" in out
    assert [line.split(":")[0] for line in err.splitlines()] == ["line 2", "line 4", "line 5", "line 6"]
    assert "did you mean content" in err
    code, out, _ = shell("import", str(file), "--json")
    summary = json.loads(out)
    assert (summary["imported"], summary["already_there"]) == (0, 2)
    assert [bad["line"] for bad in summary["refused"]] == [2, 4, 5, 6]
    assert [bad.get("field") for bad in summary["refused"]] == [None, "content", "contnt", "entities"]
    assert daemon.calls("Import")[0].restore


def test_an_import_from_stdin_without_bad_lines_is_0(shell: Run, daemon: FakeDaemon):
    daemon.answers["Import"] = importer(set())
    assert shell("import", stdin=b'\xef\xbb\xbf{"content": "one"}\n{"content": "two"}')[0] == 0


def test_the_scope_of_the_command_line_wins_over_that_of_a_record(shell: Run, daemon: FakeDaemon):
    daemon.answers["Import"] = importer(set())
    shell("import", stdin=b'{"content": "one", "scope": "theirs"}')
    shell("import", "--scope", "mine", stdin=b'{"content": "two", "scope": "theirs"}')
    first, second = daemon.calls("Import")
    assert first.record.scope == "theirs"
    assert (second.record.scope, second.scope.name) == ("", "mine")


def test_what_export_writes_import_reads(shell: Run, daemon: FakeDaemon):
    explicit = {"name": "gateway"}
    found = {"name": "Python"}

    def answer(request, context):
        one = memory_pb2.ExportResponse(
            memory={
                "memory_id": "m-1",
                "content": "Fact.",
                "status": 1,
                "scope": "acme",
                "source": "s",
                "entities": [explicit, found],
            },
            derived_from=["m-0"],
            supersedes="m-9",
            contradicts=["m-7"],
        )
        setattr(one.memory.entities[0], "from", 1)
        setattr(one.memory.entities[1], "from", 2)
        one.memory.created_at.FromJsonString("2026-03-01T10:00:00Z")
        one.memory.valid_from.FromJsonString("2026-02-01T00:00:00Z")
        yield one
        yield memory_pb2.ExportResponse(memory={"memory_id": "m-2", "status": 4})

    daemon.answers["Export"] = answer
    daemon.answers["Import"] = importer(set())
    exported = shell("export", "--all")[1]
    code, out, _ = shell("import", "--json", stdin=exported.encode())
    record = daemon.calls("Import")[0].record
    assert code == 0
    assert (json.loads(out)["imported"], json.loads(out)["skipped"]) == (1, 1)
    assert (record.external_id, record.content, record.scope, record.source) == ("m-1", "Fact.", "acme", "s")
    assert (list(record.entities), list(record.derived_from), record.supersedes) == (["gateway"], ["m-0"], "m-9")
    assert (record.created_at, record.valid_from) == ("2026-03-01T10:00:00Z", "2026-02-01T00:00:00Z")


def test_an_export_to_a_file_appears_whole_and_for_its_owner_only(shell: Run, daemon: FakeDaemon, tmp_path: Path):
    def answer(request, context):
        yield memory_pb2.ExportResponse(memory={"memory_id": "m-1", "status": 1})
        if request.all:
            abort(context, grpc.StatusCode.INTERNAL, "broke", "INTERNAL")

    daemon.answers["Export"] = answer
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    assert shell("export", str(good))[0] == 0
    assert good.stat().st_mode & 0o777 == 0o600
    assert json.loads(good.read_text())["memory_id"] == "m-1"
    assert shell("export", str(bad), "--all")[0] == 1
    assert sorted(p.name for p in tmp_path.iterdir() if "jsonl" in p.name) == ["good.jsonl"]


def purger(request, context):
    return memory_pb2.PurgeResponse(memory_ids=request.memory_ids, dry_run=request.dry_run)


def test_purge_counts_first_and_asks_unless_told_yes(shell: Run, daemon: FakeDaemon):
    daemon.answers["Purge"] = purger
    code, _, err = shell("purge", "m-1", "m-2", "-r", "why", "--scope", "acme")
    assert code == 64
    assert "2 memories in scope acme" in err
    assert [request.dry_run for request in daemon.calls("Purge")] == [True]
    code, out, _ = shell("purge", "m-1", "m-2", "-r", "why", "--scope", "acme", "--yes", "--json")
    assert (code, json.loads(out)["memory_ids"]) == (0, ["m-1", "m-2"])
    assert [request.dry_run for request in daemon.calls("Purge")] == [True, True, False]


def test_a_dry_run_of_a_whole_scope_goes_through_every_page(shell: Run, daemon: FakeDaemon):
    def page(request, context):
        token = "" if request.page_token else "next"
        return memory_pb2.ListMemoriesResponse(
            memories=[{"memory_id": f"m{request.page_token}", "status": 1}], next_page_token=token
        )

    daemon.answers["ListMemories"] = page
    daemon.answers["Purge"] = purger
    out = shell("purge", "--all-in-scope", "-r", "why", "--scope", "acme", "--dry-run", "--json")[1]
    assert json.loads(out)["memory_ids"] == ["m", "mnext"]
    assert json.loads(out)["dry_run"]


def test_a_store_that_is_not_sound_is_1(shell: Run, daemon: FakeDaemon):
    daemon.answers["Verify"] = lambda request, context: admin_pb2.VerifyResponse(ok=False, problems=["page 7 is torn"])
    code, out, _ = shell("verify")
    assert code == 1
    assert "page 7 is torn" in out


def test_every_command_has_help_and_json_in_it(shell: Run):
    for name in app.COMMANDS:
        code, out, _ = shell(name, "--help")
        assert code == 0, name
        assert "--json" in out or name in {"daemon", "config"}, name

"""The story, as `hydramind demo` and examples/demo.py tell it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hydramind_cli import story
from hydramind_cli.commands_admin import process_runs
from hydramind_client.client import Client
from tests.arch.sources import ROOT

ENTRY = "import sys; from hydramind_cli.entry import main; sys.exit(main())"


def run(command: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    place = {**os.environ, "TMPDIR": str(folder), **env}
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=100, env=place, check=False)


@pytest.fixture
def folder(hydramind_home: Path) -> Path:
    """A short place for throw-away homes: a socket must fit into it."""
    made = hydramind_home.parent / "t"
    made.mkdir()
    return made


def test_the_story_holds_and_leaves_nothing(folder: Path, hydramind_home: Path):
    done = run(["-c", ENTRY, "demo"], folder, LANG="C.UTF-8")
    assert done.returncode == 0, done.stdout + done.stderr
    for part in (
        "1.00 → 0.60",
        "1.00 → 0.85",
        "1.00 → 0.70",
        "0.60 → 1.00",
        "└─ Checklist follows",
        "2026-06-01",
        "nothing is known",
    ):
        assert part in done.stdout
    assert list(folder.iterdir()) == []
    assert list(hydramind_home.iterdir()) == []


def test_the_example_is_the_same_story(folder: Path):
    done = run([str(ROOT / "examples/demo.py"), "--json"], folder)
    told = json.loads(done.stdout)
    assert (done.returncode, told["ok"]) == (0, True)
    assert len(told["checks"]) > 20


def test_settings_of_the_person_do_not_change_it(folder: Path):
    done = run(
        ["-c", ENTRY, "demo", "--json"], folder, HYDRAMIND_TRUST_HOP_DROP="0.5", HYDRAMIND_NO_SPAWN="1", HYDRAMIND_SCOPE="x"
    )
    assert done.returncode == 0, done.stdout


def test_kept_it_can_be_looked_at_and_stopped(folder: Path):
    assert run(["-c", ENTRY, "demo", "--keep", "--json"], folder).returncode == 0
    (home,) = folder.iterdir()
    with Client(home=str(home), spawn=False) as client:
        scopes = client.list_scopes().scopes
        pid = client.get_server_info().pid
    assert scopes[0].memories >= 5
    assert run(["-c", ENTRY, "daemon", "stop", "--home", str(home)], folder).returncode == 0
    assert not process_runs(pid)


def test_on_a_given_home_it_erases_its_own_scope_and_touches_no_other(folder: Path, hydramind_home: Path):
    with Client() as client:
        kept = client.remember("Tea is green.", "mine").memory_id
        done = run(["-c", ENTRY, "demo", "--json", "--home", str(hydramind_home)], folder)
        assert done.returncode == 0, done.stdout
        assert client.get_memory(kept, "mine").memory.content == "Tea is green."
        assert next(iter(client.export(every_scope=True))).memory_id == kept
        assert len(list(client.export(every_scope=True))) == 1
        client.drain(1)


def test_a_wrong_number_is_told_and_fails(capsys: pytest.CaptureFixture[str]):
    from hydramind_cli.output import Output

    checks = [story.Check("trust of the policy", "0.6", "0.6"), story.Check("trust of the runbook", "0.7", "0.85")]
    assert story._verdict(Output(), checks) == 1
    assert "trust of the runbook: expected 0.7, got 0.85" in capsys.readouterr().out

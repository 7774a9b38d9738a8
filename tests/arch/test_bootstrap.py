"""`make bootstrap`: installs from the lock with hashes, does nothing twice, and never keeps an environment that cannot work."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.arch.sources import ROOT

# Stands for Python: makes "environments" of itself and writes down what pip was asked for.
STUB = """#!/bin/sh
case "$*" in
*"-m venv"*)
    mkdir -p "$3/bin"
    cp "$0" "$3/bin/python"
    echo "VIRTUAL_ENV=$(cd "$3" && pwd -P)" > "$3/bin/activate"
    echo venv >> "$CALLS" ;;
*"-m pip"*) echo "$*" >> "$CALLS" ;;
esac
"""


class Checkout:
    """A copy of what the script reads, with a stub as the only Python."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.python = folder / "python-stub"
        self.python.write_text(STUB)
        self.python.chmod(0o755)
        (self.root / "tools").mkdir(parents=True)
        shutil.copytree(ROOT / "requirements", self.root / "requirements")
        shutil.copy(ROOT / "pyproject.toml", self.root)
        shutil.copy(ROOT / "tools/bootstrap.sh", self.root / "tools")

    def run(self, *arguments: str) -> list[str]:
        """Run the script; answers what was done to the environment."""
        calls = self.root.parent / "calls"
        calls.write_text("")
        environ = {"PATH": os.environ["PATH"], "PYTHON": str(self.python), "CALLS": str(calls)}
        done = subprocess.run(
            ["sh", "tools/bootstrap.sh", *arguments], cwd=self.root, env=environ, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return calls.read_text().splitlines()

    def touch_lock(self, kind: str) -> None:
        with (self.root / f"requirements/{kind}.txt").open("a") as file:
            file.write("# changed\n")


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.mark.parametrize("kind", ["runtime", "dev"])
def test_everything_is_installed_from_the_lock_with_hashes_and_the_project_without_dependencies(checkout: Checkout, kind: str):
    made, locked, project = checkout.run(kind)
    assert made == "venv"
    assert f"--require-hashes -r requirements/{kind}.txt" in locked
    assert "--no-deps" in project
    assert "--no-build-isolation --editable ." in project


def test_a_second_run_does_nothing(checkout: Checkout):
    checkout.run("dev")
    assert checkout.run("dev") == []


def test_a_changed_lock_is_installed_into_the_same_environment(checkout: Checkout):
    checkout.run("dev")
    checkout.touch_lock("dev")
    assert [call.partition(" ")[0] for call in checkout.run("dev")] == ["-m", "-m"]


def test_the_development_environment_serves_the_demo(checkout: Checkout):
    checkout.run("dev")
    assert checkout.run("runtime") == []


def test_the_demos_environment_does_not_serve_the_tests(checkout: Checkout):
    checkout.run("runtime")
    assert len(checkout.run("dev")) == 2


def test_a_moved_checkout_makes_its_environment_anew(checkout: Checkout):
    checkout.run("dev")
    checkout.root = checkout.root.rename(checkout.root.with_name("elsewhere"))
    assert checkout.run("dev")[0] == "venv"


def test_an_environment_made_by_hand_is_kept(checkout: Checkout):
    environ = {**os.environ, "CALLS": os.devnull}
    subprocess.run([checkout.python, "-m", "venv", checkout.root / ".venv"], env=environ, check=True)
    kept = checkout.root / ".venv/kept"
    kept.touch()
    assert "venv" not in checkout.run("dev")
    assert kept.exists()


def test_an_unknown_kind_is_a_usage_error(checkout: Checkout):
    done = subprocess.run(["sh", "tools/bootstrap.sh", "prod"], cwd=checkout.root, capture_output=True, text=True, check=False)
    assert done.returncode == 64
    assert "runtime|dev" in done.stderr

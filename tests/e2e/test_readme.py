"""What README.md shows is what happens."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEMORY_ID = re.compile(r"\bmem_\w+")
SHELL = "import sys; from hydramind_cli.entry import main; sys.exit(main())"


def block(language: str, containing: str) -> str:
    (found,) = [b for b in re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL) if containing in b]
    return found


def run(cwd: Path, *arguments: str) -> str:
    environ = {**os.environ, "HYDRAMIND_SCOPE": "readme", "COLUMNS": "140", "LANG": "C.UTF-8"}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, cwd=cwd, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def cwd(hydramind_home: Path, tmp_path: Path) -> Iterator[Path]:
    """A working folder; the daemon that the first command starts is stopped afterwards."""
    yield tmp_path
    run(tmp_path, "-c", SHELL, "daemon", "stop")


def test_the_example_of_the_shell_moves_trust_as_shown(cwd: Path):
    lines = block("console", "hydramind remember").splitlines()
    ids: list[str] = []
    for line in [line for line in lines if line.startswith("$ ")]:
        words = [
            ids[-1] if word.startswith("<id of") else word for word in shlex.split(re.sub(r"(<id of [^>]*>)", r"'\1'", line))
        ]
        said = run(cwd, "-c", SHELL, *words[2:])
        ids.append(MEMORY_ID.findall(said)[0])
    shown = [line for line in lines if not line.startswith("$ ")]
    same = [MEMORY_ID.sub("mem_", line).rstrip() for line in said.splitlines()]
    assert [MEMORY_ID.sub("mem_", line).rstrip() for line in shown] == same[: len(shown)]


def test_the_example_of_python_prints_the_contradiction_and_the_newest_answer(cwd: Path):
    first, second = run(cwd, "-c", block("python", "from hydramind_client import Client")).splitlines()
    assert MEMORY_ID.sub("mem_", first) == "mem_ 1.0 → 0.6"
    assert second == "Production deploys must not use direct routing."


def test_the_other_commands_of_the_shell_run(cwd: Path):
    commands = [shlex.split(line) for line in block("sh", "hydramind timeline").splitlines()]
    run(cwd, "-c", SHELL, "remember", "Production deploys must use direct routing.", "--entity", "deploy-policy")
    for _, *words in commands:
        if ">" in words:  # a redirection: the shell's work, done here
            (cwd / words[words.index(">") + 1]).write_text(run(cwd, "-c", SHELL, *words[: words.index(">")]))
        elif "<id>" not in words:
            run(cwd, "-c", SHELL, *words)

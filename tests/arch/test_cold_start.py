"""The shell starts quickly because it imports little: the set of modules is held here, not a time."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.arch.sources import PACKAGES, ROOT

PROBE = """
import sys
before = set(sys.modules)
sys.argv[:] = ["hydramind", {argument!r}]
from hydramind_cli.entry import main
try:
    main()
except SystemExit:
    pass
print(*sorted(set(sys.modules) - before))
"""
# What `hydramind --version` may load of ours.
OWN = {"hydramind", "hydramind.local", "hydramind_cli", "hydramind_cli.entry"}
HEAVY = {
    "argparse", "asyncio", "concurrent", "ctypes", "dataclasses", "email", "grpc", "http", "importlib.metadata", "inspect",
    "json", "logging", "multiprocessing", "pathlib", "re", "select", "socket", "sqlite3", "ssl", "subprocess", "tempfile",
    "tomllib", "typing", "unittest", "urllib", "uuid",
}  # fmt: skip


def loaded_by(argument: str) -> set[str]:
    command = [sys.executable, "-S", "-c", PROBE.format(argument=argument)]
    path = ":".join(str(folder.parent) for folder in PACKAGES.values())
    done = subprocess.run(command, cwd=ROOT, env={"PYTHONPATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.fixture(scope="module")
def modules() -> set[str]:
    return loaded_by("--version")


def test_the_version_is_told_without_loading_the_client_or_a_library(modules: set[str]):
    ours = {name for name in modules if name.partition(".")[0] in PACKAGES}
    assert ours <= OWN
    others = {name.partition(".")[0] for name in modules - ours} - set(sys.stdlib_module_names)
    assert others == set()


def test_the_version_is_told_without_the_slow_parts_of_the_standard_library(modules: set[str]):
    assert modules & HEAVY == set()


def test_the_probe_sees_what_a_module_loads(tmp_path: Path):
    code = "import sys; before = set(sys.modules); import asyncio; print('asyncio' in set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"

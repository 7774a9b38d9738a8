"""The wheel holds everything that runs, and runs without the checkout."""

import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from tests.arch.sources import PACKAGES, ROOT, tracked_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SOURCES_ONLY = {".proto"}
SHIMS = {"hydramind-mcp"}  # speak JSON-RPC and nothing else, a version included


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(out)
    return out


def expected_files() -> set[str]:
    tracked = tracked_files()
    return {
        path.relative_to(folder.parent).as_posix()
        for folder in PACKAGES.values()
        for path in tracked
        if path.is_relative_to(folder) and path.suffix not in SOURCES_ONLY
    }


def test_the_wheel_holds_every_file_of_every_package(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert expected_files() - names == set()
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_holds_no_test_and_no_tool(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.partition("/")[0] for name in archive.namelist()}
    assert tops == {*PACKAGES, f"hydramind-{PROJECT['version']}.dist-info"}


def run_from(site: Path, cwd: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=cwd, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_is_found_outside_the_checkout(package: str, unpacked: Path, tmp_path: Path):
    done = run_from(unpacked, tmp_path, "-c", f"import {package}; print({package}.__file__)")
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).is_relative_to(unpacked)


def run_command(name: str, argument: str, site: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    entry = EntryPoint(name, PROJECT["scripts"][name], "console_scripts")
    code = (
        f"import sys; sys.argv[:] = [{name!r}, {argument!r}]; from {entry.module} import {entry.attr}; sys.exit({entry.attr}())"
    )
    return run_from(site, cwd, "-c", code)


@pytest.mark.parametrize("name", sorted(set(PROJECT["scripts"]) - SHIMS))
def test_a_command_tells_its_version_outside_the_checkout(name: str, unpacked: Path, tmp_path: Path):
    done = run_command(name, "--version", unpacked, tmp_path)
    assert done.returncode == 0, done.stderr
    assert PROJECT["version"] in done.stdout


@pytest.mark.parametrize("name", sorted(SHIMS))
def test_a_shim_whose_agent_has_gone_ends_quietly_outside_the_checkout(name: str, unpacked: Path, tmp_path: Path):
    done = run_command(name, "", unpacked, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

"""The lock files: complete, hashed, and silent about where a package comes from."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.arch.sources import ROOT

LOCKS = ("requirements/runtime.txt", "requirements/dev.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILD = [Requirement(line) for line in (ROOT / "requirements/build.in").read_text().splitlines() if not line.startswith("#")]
ENTRY = re.compile(r"^(?P<requirement>[A-Za-z0-9][^\\]*?)\s*\\\n(?P<hashes>(?:\s+--hash=\S+(?:\s*\\\n|\n))+)", re.MULTILINE)


def entries(text: str) -> list[tuple[Requirement, int]]:
    """Each locked requirement with the number of its hashes."""
    return [(Requirement(m["requirement"]), m["hashes"].count("--hash=sha256:")) for m in ENTRY.finditer(text)]


def versions(text: str) -> dict[str, set[Version]]:
    found: dict[str, set[Version]] = {}
    for requirement, _ in entries(text):
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        found.setdefault(canonicalize_name(requirement.name), set()).add(Version(pin.version))
    return found


def lock(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_one_exact_version_and_hashes(name: str):
    lines = [line for line in lock(name).splitlines() if line and not line.startswith(("#", " "))]
    locked = entries(lock(name))
    assert len(locked) == len(lines)
    assert all(hashes for _, hashes in locked)
    assert versions(lock(name))


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_no_address_and_no_option_but_hashes(name: str):
    text = lock(name)
    assert "://" not in text
    assert " @ " not in text
    assert set(re.findall(r"--[a-z-]+", text)) == {"--hash"}


def missing(wanted: list[Requirement], locked: dict[str, set[Version]]) -> list[str]:
    def satisfied(requirement: Requirement) -> bool:
        found = locked.get(canonicalize_name(requirement.name), set())
        return bool(found) and all(requirement.specifier.contains(v, prereleases=True) for v in found)

    return [str(requirement) for requirement in wanted if not satisfied(requirement)]


def test_the_locks_satisfy_pyproject():
    runtime = [Requirement(text) for text in PROJECT["dependencies"]] + BUILD
    dev = runtime + [Requirement(text) for text in PROJECT["optional-dependencies"]["dev"]]
    told = "run `make lock` and commit requirements/"
    assert missing(runtime, versions(lock(LOCKS[0]))) == [], told
    assert missing(dev, versions(lock(LOCKS[1]))) == [], told


def test_what_is_tested_is_what_is_shipped():
    runtime, dev = versions(lock(LOCKS[0])), versions(lock(LOCKS[1]))
    assert {name: found for name, found in runtime.items() if dev.get(name) != found} == {}


def test_generated_code_is_never_newer_than_the_runtime_that_loads_it():
    (compiler,) = versions(lock(LOCKS[1]))["grpcio-tools"]
    for name in ("grpcio", "grpcio-health-checking", "grpcio-reflection", "grpcio-status"):
        (floor,) = [r for r in map(Requirement, PROJECT["dependencies"]) if canonicalize_name(r.name) == name]
        assert floor.specifier.contains(compiler)
        assert all(found >= compiler for found in versions(lock(LOCKS[0]))[name])


def test_there_is_no_lock_of_a_tool_that_writes_addresses():
    assert not [path for path in ("uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock") if Path(ROOT / path).exists()]


def test_a_requirement_that_the_lock_lacks_is_found():
    locked = versions("click==8.2.1 \\\n    --hash=sha256:00\n")
    assert missing([Requirement("click>=8.2"), Requirement("click>=9"), Requirement("rich")], locked) == ["click>=9", "rich"]

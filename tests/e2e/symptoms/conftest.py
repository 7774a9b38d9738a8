"""One real daemon and one real session host for each module; a scope of its own for each test."""

import contextlib
import itertools
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramind import local
from hydramind_client import Client
from tests.conftest import ambient_variables
from tests.e2e.symptoms.doors import NAMES, Door, McpDoor, PythonDoor, ShellDoor, World
from tests.e2e.test_mcp_host import pids_of, until
from tests.unit.mcp.rig import ShimProcess

MODULES = ("hydramind_mcp.host", local.DAEMON_MODULE)
_numbers = itertools.count(1)


def end_all(home: Path) -> None:
    """End the host and the daemon of this home, also those that are just being started, and wait until they are gone."""

    def none_left() -> bool:
        running = [pid for module in MODULES for pid in pids_of(module, home)]
        for pid in running:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not running

    until(none_left)


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix="hs-", ignore_cleanup_errors=True) as folder:
        for name in ambient_variables(dict(os.environ)):
            patch.delenv(name)
        home, elsewhere = Path(folder).resolve() / "home", Path(folder).resolve() / "elsewhere"
        home.mkdir(mode=0o700)
        elsewhere.mkdir()
        patch.setenv("HYDRAMIND_HOME", str(home))
        patch.setenv("HOME", str(elsewhere))
        try:
            with ShimProcess(cwd=elsewhere) as shim, Client(home=str(home), cwd=str(elsewhere), timeout_s=60) as client:
                shim.open()
                yield World(home, elsewhere, {"mcp": McpDoor(shim), "shell": ShellDoor(home), "python": PythonDoor(client)})
        finally:
            end_all(home)  # not before the shim has gone: it would start the next host


@pytest.fixture(autouse=True)
def home_of_the_world(request: pytest.FixtureRequest, clean_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes that a test starts beside the shared ones belong to the shared home, too."""
    if "world" in request.fixturenames:
        monkeypatch.setenv("HYDRAMIND_HOME", str(request.getfixturevalue("world").home))


@pytest.fixture(params=NAMES)
def door(world: World, request: pytest.FixtureRequest) -> Door:
    """Each front end in turn."""
    return world.doors[request.param]


@pytest.fixture
def scope() -> str:
    """A scope that no other test uses."""
    return f"scope-{next(_numbers)}"


@pytest.fixture
def own_home(hydramind_home: Path) -> Iterator[Path]:
    """A home for a test that kills or restarts; whatever runs for it is ended afterwards."""
    yield hydramind_home
    end_all(hydramind_home)

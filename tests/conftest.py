"""Fixtures of every test: a clean environment and a home that dies with the test.

No test may read or change what the person running it has: their memories, their running daemon, their settings.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before anything imports gRPC: forked children are not its business, and its log lines are not ours.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

AMBIENT_PREFIXES = ("HYDRAMIND_", "HYDRADB_")
AMBIENT_NAMES = (
    "CACHE_DIRECTORY",
    "CONFIGURATION_DIRECTORY",
    "FORCE_COLOR",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NOTIFY_SOCKET",
    "NO_COLOR",
    "RUNTIME_DIRECTORY",
    "STATE_DIRECTORY",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
)
KEPT = frozenset({"HYDRAMIND_EVAL_DATA"})  # where the evaluation data is; not a setting of the product


def ambient_variables(environ: dict[str, str]) -> list[str]:
    """Names in `environ` that would steer HydraMind and that the test did not set itself."""
    return [name for name in environ if name not in KEPT and (name.startswith(AMBIENT_PREFIXES) or name in AMBIENT_NAMES)]


@pytest.fixture
def hydramind_home() -> Iterator[Path]:
    """A fresh home of this test alone. Its path is short enough for a Unix socket inside it."""
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
        home = Path(folder).resolve() / "home"
        home.mkdir(mode=0o700)
        yield home


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, hydramind_home: Path) -> None:
    """Hide ambient settings; whatever looks for a home finds the throw-away one, children included."""
    for name in ambient_variables(dict(os.environ)):
        monkeypatch.delenv(name)
    user = hydramind_home.parent / "user"
    user.mkdir(exist_ok=True)
    monkeypatch.setenv("HYDRAMIND_HOME", str(hydramind_home))
    monkeypatch.setenv("HOME", str(user))

"""The entry: every way to end has its exit code and its words, and nothing slow is imported before the lock is held."""

import faulthandler
import logging
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from hydramind import local
from hydramind_daemon import main as entry
from hydramind_daemon.exit_codes import DaemonExit, ExitCode
from hydramind_daemon.locks import FileLock

CAUGHT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)


@pytest.fixture(autouse=True)
def _restore_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    handlers = {number: signal.getsignal(number) for number in CAUGHT}
    root = logging.getLogger()
    root_handlers, level = list(root.handlers), root.level
    mask = os.umask(0o022)
    structlog.reset_defaults()
    yield
    os.umask(mask)
    faulthandler.unregister(signal.SIGUSR1)
    for number, handler in handlers.items():
        signal.signal(number, handler)
    root.handlers[:] = root_handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], dict[str, Any]]:
    """Put a function in the place of the composed daemon; answers what it is called with."""

    def put(result: Any) -> dict[str, Any]:
        seen: dict[str, Any] = {}

        async def run_daemon(where: local.Addresses, settings: Any, **rest: Any) -> ExitCode:
            seen.update(rest, where=where, settings=settings, umask=os.umask(0o077))
            if isinstance(result, Exception):
                raise result
            code: ExitCode = result() if callable(result) else result
            return code

        module = types.ModuleType("hydramind_daemon.app")
        module.run_daemon = run_daemon  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "hydramind_daemon.app", module)
        return seen

    return put


def pipe_flag() -> tuple[int, list[str]]:
    read_fd, write_fd = os.pipe()
    return read_fd, ["--readiness-fd", str(write_fd)]


def said(read_fd: int) -> str:
    text = os.read(read_fd, 100).decode()
    os.close(read_fd)
    return text


def test_daemon_runs_under_the_lock_with_a_private_umask_and_gives_it_back(
    app: Callable[[Any], dict[str, Any]], hydramind_home: Path
) -> None:
    where = local.addresses()

    def while_running() -> ExitCode:
        assert not FileLock(where.instance_lock).acquire()
        assert local.read_holder(where.instance_lock) == (os.getpid(), where.socket)
        return ExitCode.OK

    seen = app(while_running)
    assert entry.main(["--managed", "--idle-exit-s", "7"]) == 0
    assert (seen["where"].home, seen["managed"], seen["umask"]) == (str(hydramind_home), True, 0o077)
    assert seen["settings"].daemon.idle_exit_s == 7.0
    assert seen["reread"]().daemon.idle_exit_s == 7.0
    assert FileLock(where.instance_lock).acquire()


def test_exit_asked_for_deep_inside_keeps_its_code_and_words(
    app: Callable[[Any], dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> None:
    app(DaemonExit(ExitCode.DATA, "the store has schema 9"))
    read_fd, flag = pipe_flag()
    assert entry.main(flag) == 65
    assert said(read_fd) == ""
    assert "the store has schema 9" in capfd.readouterr().err


def test_fault_that_nobody_foresaw_ends_with_one_and_a_traceback(
    app: Callable[[Any], dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> None:
    app(RuntimeError("a bug"))
    assert entry.main([]) == 1
    assert "Traceback" in capfd.readouterr().err


def test_second_daemon_ends_busy(app: Callable[[Any], dict[str, Any]], capfd: pytest.CaptureFixture[str]) -> None:
    seen = app(ExitCode.OK)
    where = local.addresses()
    where.make_folders()
    with FileLock(where.instance_lock) as lock:
        assert lock.acquire()
        lock.write_holder(where.socket)
        read_fd, flag = pipe_flag()
        assert entry.main(flag) == 75
    assert said(read_fd) == f"BUSY {os.getpid()}\n"
    assert seen == {}
    assert str(os.getpid()) in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [([], {"HYDRAMIND_URI": "bolt://x"}), (["--drain-s", "61"], {}), ([], {"HYDRAMIND_LOG_LEVEL": "loud"})],
)
def test_wrong_setting_ends_before_anything_is_made(
    app: Callable[[Any], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    hydramind_home: Path,
    capfd: pytest.CaptureFixture[str],
    arguments: list[str],
    environment: dict[str, str],
) -> None:
    seen = app(ExitCode.OK)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert entry.main(arguments) == 78
    assert (seen, list(hydramind_home.iterdir())) == ({}, [])
    assert capfd.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--readiness-fd", "x"], ["--man"], ["stray"]])
def test_malformed_command_line_is_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        entry.main(arguments)
    assert caught.value.code == 64


def test_reread_refuses_a_record_that_this_build_does_not_have(
    app: Callable[[Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = app(ExitCode.OK)
    assert entry.main([]) == 0
    monkeypatch.setenv("HYDRAMIND_URI", "bolt://x")
    with pytest.raises(ValueError, match="embedded"):
        seen["reread"]()


def test_misspelt_variable_is_logged(
    app: Callable[[Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    app(ExitCode.OK)
    monkeypatch.setenv("HYDRAMIND_SCOPES", "x")
    assert entry.main([]) == 0
    assert "HYDRAMIND_SCOPE?" in capfd.readouterr().err


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_event_loop_is_the_one_that_was_set(
    app: Callable[[Any], dict[str, Any]], monkeypatch: pytest.MonkeyPatch, loop: str
) -> None:
    import asyncio

    found: list[str] = []

    def note() -> ExitCode:
        found.append(type(asyncio.get_running_loop()).__module__)
        return ExitCode.OK

    app(note)
    monkeypatch.setenv("HYDRAMIND_EVENT_LOOP", loop)
    assert entry.main([]) == 0
    assert found[0].startswith(loop)


def test_nothing_slow_is_imported_before_the_lock_is_held() -> None:
    code = "import sys; import hydramind_daemon.main; print(sorted({m.partition('.')[0] for m in sys.modules}))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"grpc", "apsw", "google", "uvloop", "hydramind_domain"} & set(eval(out.stdout)) == set()

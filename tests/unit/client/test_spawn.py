"""Finding or starting a daemon, with a stand-in for the daemon that does what a test tells it."""

import fcntl
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hydramind import local
from hydramind_client import FailedPrecondition, PermissionDenied, Unavailable, spawn

# Behaves as `python -m hydramind_daemon` towards whoever starts it; FAKE says how, FAKE_STARTS counts.
STAND_IN = """
import argparse, os, socket, sys, time
parser = argparse.ArgumentParser()
for name in ("home", "socket"): parser.add_argument("--" + name)
parser.add_argument("--readiness-fd", type=int)
given = parser.parse_args()
with open(os.environ["FAKE_STARTS"], "a") as file: file.write(f"{os.getpid()} {os.getsid(0)} {sorted(os.environ)}\\n")
mode = os.environ["FAKE"]
if mode == "die":
    print('{"event": "recall.limit must be 1 to 100"}', file=sys.stderr, flush=True)
    sys.exit(78)
if mode == "busy":
    os.write(given.readiness_fd, b"BUSY 0\\n"); os.close(given.readiness_fd)
    sys.exit(75)
if mode == "silent":
    time.sleep(60)
listener = socket.socket(socket.AF_UNIX); listener.bind(given.socket); listener.listen()
os.write(given.readiness_fd, b"READY %d\\n" % os.getpid()); os.close(given.readiness_fd)
listener.settimeout(30)
while True:
    try: peer, _ = listener.accept()
    except OSError: break
    peer.close()
"""


class Stage:
    """A home, and the processes that were started in it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.starts_file = folder / "starts"
        self.monkeypatch = monkeypatch
        module = folder / "stand_in_daemon.py"
        module.write_text(STAND_IN)
        monkeypatch.setattr(local, "DAEMON_MODULE", module.stem)
        self.addresses = local.addresses()

    def plan(self, mode: str, *, limit_s: float = 30.0, **more: str) -> spawn.Plan:
        env = {**os.environ, "FAKE": mode, "FAKE_STARTS": str(self.starts_file), "PYTHONPATH": str(self.folder), **more}
        return spawn.plan(env, limit_s=limit_s)

    def starts(self) -> list[str]:
        return self.starts_file.read_text().splitlines() if self.starts_file.exists() else []

    def pids(self) -> list[int]:
        return [int(line.split()[0]) for line in self.starts()]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    made = Stage(tmp_path, monkeypatch)
    yield made
    for pid in made.pids():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


@contextmanager
def held(path: str) -> Iterator[None]:
    local.make_private(str(Path(path).parent))
    with Path(path).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_an_absent_daemon_is_started_and_listens(stage: Stage):
    spawn.ensure_running(stage.plan("ready"))
    assert spawn.listening(stage.addresses.socket)
    assert len(stage.starts()) == 1


def test_a_listening_daemon_is_left_alone(stage: Stage):
    spawn.ensure_running(stage.plan("ready"))
    spawn.ensure_running(stage.plan("die"))
    assert len(stage.starts()) == 1


def test_it_runs_in_a_session_of_its_own_and_speaks_to_no_manager_of_the_caller(stage: Stage):
    spawn.ensure_running(stage.plan("ready", NOTIFY_SOCKET="/run/x", WATCHDOG_USEC="1", MINE="kept"))
    pid, session, names = stage.starts()[0].split(" ", 2)
    assert pid == session
    assert "NOTIFY_SOCKET" not in names
    assert "WATCHDOG_USEC" not in names
    assert "MINE" in names


def test_many_front_ends_at_once_start_one(stage: Stage):
    plan = stage.plan("ready")
    threads = [threading.Thread(target=spawn.ensure_running, args=(plan,)) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(40)
    assert len(stage.starts()) == 1


def test_a_socket_that_a_killed_daemon_left_is_no_daemon(stage: Stage):
    stage.addresses.make_folders()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(stage.addresses.socket)
    assert not spawn.listening(stage.addresses.socket)
    Path(stage.addresses.socket).unlink()  # what the real daemon does under its lock
    spawn.ensure_running(stage.plan("ready"))


def test_a_daemon_that_dies_at_once_is_told_with_its_last_words_and_its_exit_code(stage: Stage):
    with pytest.raises(FailedPrecondition) as caught:
        spawn.ensure_running(stage.plan("die"))
    assert caught.value.metadata["exit_code"] == "78"
    assert "recall.limit must be 1 to 100" in caught.value.message
    assert stage.addresses.log_file in caught.value.message


def test_words_of_an_earlier_start_are_not_repeated(stage: Stage):
    stage.addresses.make_folders()
    Path(stage.addresses.log_file).write_text('{"event": "an old complaint"}\n')
    with pytest.raises(FailedPrecondition) as caught:
        spawn.ensure_running(stage.plan("die"))
    assert "an old complaint" not in caught.value.message


def test_a_busy_daemon_is_waited_for_until_it_listens(stage: Stage):
    def come_late():
        while not stage.starts():
            pass
        with socket.socket(socket.AF_UNIX) as late:
            late.bind(stage.addresses.socket)
            late.listen()
            done.wait(20)

    done = threading.Event()
    other = threading.Thread(target=come_late)
    other.start()
    spawn.ensure_running(stage.plan("busy"))
    done.set()
    other.join(20)
    assert stage.starts()


def test_a_daemon_that_stays_busy_without_a_socket_ends_in_a_clear_error(stage: Stage):
    with pytest.raises(Unavailable) as caught:
        spawn.ensure_running(stage.plan("busy", limit_s=1.0))
    assert caught.value.reason == "START_TIMEOUT"


def test_a_daemon_that_says_nothing_ends_in_a_clear_error(stage: Stage):
    with pytest.raises(Unavailable) as caught:
        spawn.ensure_running(stage.plan("silent", limit_s=0.8))
    assert caught.value.reason == "START_TIMEOUT"


def test_a_spawn_lock_whose_holder_was_stopped_delays_and_does_not_lock_out(stage: Stage):
    with held(stage.addresses.spawn_lock):
        spawn.ensure_running(stage.plan("ready", limit_s=2.0))
    assert len(stage.starts()) == 1


def test_the_daemon_of_the_home_that_listens_elsewhere_is_named(stage: Stage):
    stage.addresses.make_folders()
    elsewhere = str(stage.folder / "other.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(elsewhere)
        other.listen()
        Path(stage.addresses.instance_lock).write_text(f"{os.getpid()}\n{elsewhere}\n")
        with pytest.raises(FailedPrecondition) as caught:
            spawn.ensure_running(stage.plan("busy"))
    assert caught.value.metadata["socket"] == elsewhere


@pytest.mark.parametrize("value", ["1", "true", "YES"])
def test_starting_can_be_forbidden(stage: Stage, value: str):
    with pytest.raises(Unavailable) as caught:
        spawn.ensure_running(stage.plan("ready", HYDRAMIND_NO_SPAWN=value))
    assert caught.value.reason == "NOT_RUNNING"
    assert stage.starts() == []


def test_a_file_in_the_way_of_the_home_is_told_by_name(stage: Stage):
    in_the_way = stage.folder / "file"
    in_the_way.write_text("")
    plan = spawn.plan({**os.environ, "HYDRAMIND_HOME": str(in_the_way / "home")})
    with pytest.raises(PermissionDenied) as caught:
        spawn.ensure_running(plan)
    assert str(in_the_way) in caught.value.message


def test_a_socket_folder_that_is_open_to_others_is_refused(stage: Stage):
    stage.addresses.make_folders()
    folder = Path(stage.addresses.socket).parent
    folder.chmod(0o755)
    with pytest.raises(PermissionDenied) as caught:
        spawn.ensure_running(stage.plan("ready"))
    assert "chmod 700" in caught.value.message


def fake_systemctl(stage: Stage, script: str) -> dict[str, str]:
    tools = stage.folder / "bin"
    tools.mkdir()
    (tools / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {stage.folder}/systemctl\n{script}\n')
    (tools / "systemctl").chmod(0o755)
    stage.monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    config, data = stage.folder / "config", stage.folder / "d"
    unit = config / "systemd" / "user" / local.UNIT_NAME
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n")
    return {"XDG_CONFIG_HOME": str(config), "XDG_DATA_HOME": str(data), "HYDRAMIND_HOME": "", "PATH": os.environ["PATH"]}


def test_an_installed_unit_is_started_instead_of_a_process(stage: Stage):
    env = fake_systemctl(stage, "")
    where = stage.plan("die", **env)
    address = where.addresses.socket
    script = f"""{sys.executable} -c "
import socket, os, threading
s = socket.socket(socket.AF_UNIX); s.bind('{address}'); s.listen()
if os.fork() == 0:
    for fd in (0, 1, 2): os.close(fd)
    s.settimeout(20)
    s.accept(); os._exit(0)
"
"""
    (stage.folder / "bin" / "systemctl").write_text(f'#!/bin/sh\necho "$@" >> {stage.folder}/systemctl\n{script}\n')
    spawn.ensure_running(where)
    assert (stage.folder / "systemctl").read_text().split() == ["--user", "start", local.UNIT_NAME]
    assert stage.starts() == []


def test_a_unit_that_does_not_start_is_replaced_by_a_process(stage: Stage):
    spawn.ensure_running(stage.plan("ready", **fake_systemctl(stage, "exit 1")))
    assert len(stage.starts()) == 1


def test_a_unit_does_not_serve_a_home_of_ones_own(stage: Stage):
    env = fake_systemctl(stage, "exit 1")
    spawn.ensure_running(stage.plan("ready", **{**env, "HYDRAMIND_HOME": str(stage.folder / "own")}))
    assert not (stage.folder / "systemctl").exists()

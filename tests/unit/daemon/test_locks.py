"""Locks between processes. The other process is a real one: fcntl locks do not conflict within one."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hydramind_daemon.locks import FileLock, ScopeLocks

HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
getattr(fcntl, sys.argv[2])(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""

Hold = Callable[[Path, str], "subprocess.Popen[str]"]


@pytest.fixture
def hold() -> Iterator[Hold]:
    """Holds a lock in another process until the test ends it or closes its stdin."""
    started: list[subprocess.Popen[str]] = []

    def start(path: Path, how: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path), how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.communicate("")


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def locks(tmp_path: Path, clock: FakeClock) -> Iterator[ScopeLocks]:
    made = ScopeLocks(tmp_path, clock=clock, max_open=3)
    yield made
    made.close()


def taken_by_another(path: Path) -> bool:
    """Whether another process finds the fcntl lock on this file taken."""
    code = "import fcntl, os, sys; fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)"
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=False)
    return done.returncode != 0


def test_free_scopes_are_held_and_shut_other_processes_out(locks: ScopeLocks) -> None:
    got = locks.try_acquire(["b", "a", "b"])
    assert (got.held, dict(got.blocked), locks.held()) == (frozenset("ab"), {}, ("a", "b"))
    assert taken_by_another(locks.path_of("a"))


def test_scope_held_elsewhere_is_named_with_its_holder_and_delays_no_other(locks: ScopeLocks, hold: Hold) -> None:
    other = hold(locks.path_of("theirs"), "lockf")
    got = locks.try_acquire(["ours", "theirs"])
    assert got.held == {"ours"}
    assert got.blocked == {"theirs": other.pid}
    other.communicate("")
    assert locks.try_acquire(["theirs"]).held == {"theirs"}


def test_holder_that_was_killed_blocks_nobody_even_when_its_pid_is_written_in_the_file(locks: ScopeLocks, hold: Hold) -> None:
    other = hold(locks.path_of("s"), "lockf")
    locks.path_of("s").write_text(f"{os.getppid()}\n")  # a recycled pid: alive, and somebody else
    other.kill()
    other.wait()
    assert locks.try_acquire(["s"]).held == {"s"}


def test_only_idle_locks_are_released(locks: ScopeLocks, clock: FakeClock) -> None:
    locks.try_acquire(["old", "used"])
    clock.now += 0.9
    locks.try_acquire(["used"])
    clock.now += 0.2
    locks.release_idle(1.0)
    assert locks.held() == ("used",)
    assert not taken_by_another(locks.path_of("old"))
    assert taken_by_another(locks.path_of("used"))
    assert locks.try_acquire(["old"]).held == {"old"}


def test_asking_again_for_a_held_scope_keeps_it(locks: ScopeLocks) -> None:
    locks.try_acquire(["s"])
    assert locks.try_acquire(["s"]).held == {"s"}
    assert taken_by_another(locks.path_of("s"))


def test_open_files_are_bounded_and_those_of_the_batch_are_kept(locks: ScopeLocks) -> None:
    locks.try_acquire(["1", "2", "3"])
    got = locks.try_acquire(["4", "5"])
    assert got.held == {"4", "5"}
    assert locks.held() == ("3", "4", "5")
    assert not taken_by_another(locks.path_of("1"))
    many = [str(n) for n in range(10)]
    assert locks.try_acquire(many).held == set(many)


def test_lock_files_are_private_name_their_holder_and_stay(locks: ScopeLocks) -> None:
    locks.try_acquire(["s"])
    path = locks.path_of("s")
    assert path.read_text() == f"{os.getpid()}\n"
    assert path.stat().st_mode & 0o777 == 0o600
    locks.close()
    assert path.exists()
    assert locks.held() == ()


@pytest.mark.parametrize("scope", ["../../etc/passwd", "a/b", "日本", "x" * 256, ".", "é"])
def test_any_scope_name_stays_inside_the_folder(locks: ScopeLocks, tmp_path: Path, scope: str) -> None:
    assert locks.try_acquire([scope]).held == {scope}
    assert locks.path_of(scope).parent == tmp_path


def test_link_in_place_of_a_lock_file_is_not_followed(locks: ScopeLocks, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    locks.path_of("s").symlink_to(target)
    with pytest.raises(OSError, match="symbolic"):
        locks.try_acquire(["s"])
    assert target.read_text() == "precious"


def test_file_lock_is_exclusive_between_processes_and_free_after_a_crash(tmp_path: Path, hold: Hold) -> None:
    path = tmp_path / "daemon.lock"
    other = hold(path, "flock")
    lock = FileLock(str(path))
    assert not lock.acquire()
    assert not lock.held
    other.kill()
    other.wait()
    assert lock.acquire()
    assert lock.acquire()
    lock.release()
    lock.release()
    assert not lock.held


def test_file_lock_names_holder_and_address(tmp_path: Path) -> None:
    path = tmp_path / "daemon.lock"
    path.write_text("a longer line than what will be written now\n" * 3)
    with FileLock(str(path)) as lock:
        assert lock.acquire()
        lock.write_holder("/run/daemon.sock")
        assert path.read_text() == f"{os.getpid()}\n/run/daemon.sock\n"
    assert not lock.held


def test_file_lock_is_not_passed_on_to_programs_that_are_started(tmp_path: Path, hold: Hold) -> None:
    path = tmp_path / "daemon.lock"
    lock = FileLock(str(path))
    assert lock.acquire()
    hold(tmp_path / "other", "flock")  # outlives the release below
    lock.release()
    assert FileLock(str(path)).acquire()

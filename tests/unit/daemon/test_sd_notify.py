"""What a service manager hears. The manager is a real datagram socket."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramind_daemon.sd_notify import Notifier


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(tmp_path / "notify"))
        sock.settimeout(5)
        yield sock


def notifier(tmp_path: Path, **env: str) -> Notifier:
    return Notifier.from_environ({"NOTIFY_SOCKET": str(tmp_path / "notify"), **env})


def test_each_state_has_its_datagram(tmp_path: Path, manager: socket.socket) -> None:
    to = notifier(tmp_path)
    to.extend_timeout(1.5)
    to.ready("serving")
    to.watchdog()
    to.status("busy")
    to.reloading(5_000)
    to.stopping("drain")
    to.close()
    heard = [manager.recv(4096).decode() for _ in range(6)]
    assert heard == [
        "EXTEND_TIMEOUT_USEC=1500000",
        f"READY=1\nSTATUS=serving\nMAINPID={os.getpid()}",
        "WATCHDOG=1",
        "STATUS=busy",
        "RELOADING=1\nMONOTONIC_USEC=5",
        "STOPPING=1\nSTATUS=drain",
    ]


def test_status_cannot_smuggle_in_an_assignment(tmp_path: Path, manager: socket.socket) -> None:
    to = notifier(tmp_path)
    to.status("fine\nREADY=1")
    to.close()
    assert manager.recv(4096) == b"STATUS=fine READY=1"


def test_abstract_address_is_understood() -> None:
    name = f"hydramind-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind("\0" + name)
        except OSError:
            pytest.skip("abstract sockets exist on Linux only")
        sock.settimeout(5)
        to = Notifier("@" + name)
        to.watchdog()
        to.close()
        assert sock.recv(100) == b"WATCHDOG=1"


def test_absent_or_deaf_manager_never_fails_the_daemon(tmp_path: Path) -> None:
    silent = Notifier.from_environ({})
    assert not silent.active
    silent.ready("x")
    gone = Notifier(str(tmp_path / "gone"))
    assert gone.active
    gone.ready("x")
    gone.stopping("x")
    gone.close()


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "3000000"}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}, 3.0),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
    ],
)
def test_watchdog_interval_counts_only_when_it_is_meant_for_this_process(env: dict[str, str], expected: float | None) -> None:
    assert Notifier.from_environ(env).watchdog_s == expected

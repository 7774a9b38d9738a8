"""A real daemon process under test: started with a readiness descriptor, waited for under a bound, never left behind."""

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from hydramind import local
from hydramind.v1 import admin_pb2, admin_pb2_grpc, event_pb2_grpc, memory_pb2_grpc

BOUND_S = 60.0


@dataclass
class Daemon:
    """One process of `python -m hydramind_daemon`."""

    home: Path
    process: "subprocess.Popen[bytes]"
    readiness_fd: int
    log: Path
    _said: str | None = field(default=None)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def socket(self) -> Path:
        return Path(local.addresses(home=str(self.home)).socket)

    def readiness(self) -> str:
        """The line on the readiness descriptor; empty when the process died without one."""
        if self._said is None:
            self._said = read_line(self.readiness_fd)
        return self._said

    def ready(self) -> "Daemon":
        assert self.readiness() == f"READY {self.pid}\n", self.log_text()
        return self

    def wait(self) -> int:
        return self.process.wait(BOUND_S)

    def terminate(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for_log(self, text: str) -> None:
        wait_until(lambda: text in self.log_text(), f"{text!r} in the log", self.log_text)

    @contextmanager
    def channel(self) -> Iterator[grpc.Channel]:
        with grpc.insecure_channel(local.grpc_target(str(self.socket))) as channel:
            yield channel

    @contextmanager
    def admin(self) -> Iterator["admin_pb2_grpc.AdminServiceStub"]:
        with self.channel() as channel:
            yield admin_pb2_grpc.AdminServiceStub(channel)

    @contextmanager
    def memory(self) -> Iterator["memory_pb2_grpc.MemoryServiceStub"]:
        with self.channel() as channel:
            yield memory_pb2_grpc.MemoryServiceStub(channel)

    @contextmanager
    def events(self) -> Iterator["event_pb2_grpc.EventServiceStub"]:
        with self.channel() as channel:
            yield event_pb2_grpc.EventServiceStub(channel)

    def info(self) -> admin_pb2.GetServerInfoResponse:
        with self.admin() as stub:
            return stub.GetServerInfo(admin_pb2.GetServerInfoRequest(), timeout=BOUND_S)


class Daemons:
    """Starts daemons and ends every one of them, whatever the test did."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[Daemon] = []

    def start(self, home: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Daemon:
        number = len(self._started)
        log = self._folder / f"daemon-{number}.log"
        read_fd, write_fd = os.pipe()
        command = [sys.executable, "-m", "hydramind_daemon", "--home", str(home), "--readiness-fd", str(write_fd)]
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                [*command, *arguments],
                env={**os.environ, "HYDRAMIND_EVENT_LOOP": "uvloop", **(env or {})},
                stdin=subprocess.DEVNULL,
                stderr=stderr,
                pass_fds=[write_fd],
                start_new_session=True,
            )
        os.close(write_fd)
        daemon = Daemon(home, process, read_fd, log)
        self._started.append(daemon)
        return daemon

    def end_all(self) -> None:
        for daemon in self._started:
            if daemon.process.poll() is None:
                daemon.process.kill()
            daemon.process.wait()
            os.close(daemon.readiness_fd)


def read_line(fd: int) -> str:
    """Everything up to a line end or end-of-file, under a bound."""
    said = b""
    with selectors.DefaultSelector() as selector:
        selector.register(fd, selectors.EVENT_READ)
        while not said.endswith(b"\n"):
            assert selector.select(BOUND_S), f"nothing on the readiness descriptor within {BOUND_S} s"
            more = os.read(fd, 100)
            if not more:
                break
            said += more
    return said.decode()


def wait_until(condition: Callable[[], bool], what: str, detail: Callable[[], str] = str) -> None:
    """Poll under a bound: for states of the file system and of other processes, which no event announces."""
    end = time.monotonic() + BOUND_S
    while not condition():
        assert time.monotonic() < end, f"not within {BOUND_S} s: {what}\n{detail()}"
        time.sleep(0.01)

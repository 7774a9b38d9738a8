"""The daemon as a process: start, signals, crashes, races. Each daemon here is a real one on a home of its own."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from hydramind import local
from hydramind.v1 import admin_pb2, common_pb2, event_pb2, memory_pb2
from hydramind_daemon.locks import ScopeLocks
from tests.e2e.daemon_process import BOUND_S, Daemon, Daemons, wait_until


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    made = Daemons(tmp_path)
    yield made
    made.end_all()


def remember(daemon: Daemon, content: str, scope: str = "s") -> str:
    request = memory_pb2.RememberRequest(content=content, scope=common_pb2.ScopeRef(name=scope))
    with daemon.memory() as stub:
        return stub.Remember(request, timeout=BOUND_S).memory_id


def heard_to_the_end(manager: socket.socket) -> int:
    """Number of datagrams until nothing comes within the socket's timeout."""
    for number in range(1000):
        try:
            manager.recv(4096)
        except TimeoutError:
            return number
    return 1000


def content_of(daemon: Daemon, memory_id: str, scope: str = "s") -> str:
    request = memory_pb2.GetMemoryRequest(memory_id=memory_id, scope=common_pb2.ScopeRef(name=scope))
    with daemon.memory() as stub:
        return stub.GetMemory(request, timeout=BOUND_S).memory.content


# --- start


@pytest.mark.parametrize("loop", ["uvloop", "asyncio"])
def test_daemon_says_who_it_is_and_keeps_everything_to_its_user(daemons: Daemons, hydramind_home: Path, loop: str) -> None:
    daemon = daemons.start(hydramind_home, env={"HYDRAMIND_EVENT_LOOP": loop}).ready()
    info = daemon.info()
    assert (info.pid, info.version, info.record, info.managed) == (daemon.pid, local.version(), "embedded", False)
    assert info.api_level == local.API_LEVEL
    assert daemon.socket.parent.stat().st_mode & 0o777 == 0o700
    modes = {p: p.stat().st_mode & 0o077 for p in hydramind_home.rglob("*")}
    assert [path for path, others in modes.items() if others] == []
    assert daemon.terminate() == 0


@pytest.mark.parametrize("name", ["with space", "100%41", "q?x#y", "日本"])
def test_home_may_have_any_name(daemons: Daemons, hydramind_home: Path, name: str) -> None:
    daemon = daemons.start(hydramind_home / name).ready()
    assert daemon.info().pid == daemon.pid
    assert daemon.terminate() == 0


def test_deep_home_is_served_on_a_short_socket(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home / ("d" * 110)).ready()
    assert len(str(daemon.socket).encode()) <= local.SOCKET_PATH_MAX
    assert daemon.info().pid == daemon.pid
    assert daemon.terminate() == 0


def test_second_daemon_gives_up_and_names_the_first(daemons: Daemons, hydramind_home: Path) -> None:
    first = daemons.start(hydramind_home).ready()
    second = daemons.start(hydramind_home)
    assert second.readiness() == f"BUSY {first.pid}\n"
    assert second.wait() == 75
    assert str(first.pid) in second.log_text()
    assert str(first.socket) in second.log_text()
    assert first.info().pid == first.pid


def test_of_sixteen_at_once_exactly_one_serves(daemons: Daemons, hydramind_home: Path) -> None:
    started = [daemons.start(hydramind_home) for _ in range(16)]
    said = [daemon.readiness() for daemon in started]
    serving = [daemon for daemon, line in zip(started, said, strict=True) if line.startswith("READY")]
    assert len(serving) == 1
    assert sorted(d.wait() for d in started if d is not serving[0]) == [75] * 15
    assert serving[0].info().pid == serving[0].pid


def test_daemon_of_another_home_on_the_same_socket_is_left_alone(daemons: Daemons, hydramind_home: Path) -> None:
    first = daemons.start(hydramind_home).ready()
    other = daemons.start(hydramind_home.parent / "other", "--socket", str(first.socket))
    assert other.wait() == 75
    assert "another home" in other.log_text()
    assert first.info().pid == first.pid
    assert first.terminate() == 0


# --- crashes


def test_after_kill_9_the_next_daemon_needs_no_cleaning_and_has_what_was_acknowledged(
    daemons: Daemons, hydramind_home: Path
) -> None:
    first = daemons.start(hydramind_home).ready()
    memory_id = remember(first, "Deploys go through the canary.")
    first.process.kill()
    first.wait()
    assert first.socket.exists()
    lock = Path(local.addresses(home=str(hydramind_home)).instance_lock)
    lock.write_text(f"{os.getpid()}\n{first.socket}\n")  # as if the pid were another program's by now
    second = daemons.start(hydramind_home).ready()
    assert content_of(second, memory_id) == "Deploys go through the canary."
    assert second.terminate() == 0


def test_file_in_the_place_of_the_socket_is_kept_and_named(daemons: Daemons, hydramind_home: Path) -> None:
    socket_path = Path(local.addresses(home=str(hydramind_home)).socket)
    socket_path.parent.mkdir(mode=0o700)
    socket_path.write_text("precious")
    daemon = daemons.start(hydramind_home)
    assert daemon.wait() == 73
    assert str(socket_path) in daemon.log_text()
    assert socket_path.read_text() == "precious"


@pytest.mark.parametrize("what", ["socket", "home"])
def test_daemon_that_nobody_can_reach_any_more_ends(daemons: Daemons, hydramind_home: Path, what: str) -> None:
    daemon = daemons.start(hydramind_home, "--idle-exit-s", "600").ready()
    path = daemon.socket if what == "socket" else hydramind_home
    path.rename(path.with_name("gone"))
    assert daemon.wait() == 0


# --- wrong surroundings


@pytest.mark.parametrize(
    ("arguments", "env", "code", "told"),
    [
        (["--nonsense"], {}, 64, "--nonsense"),
        (["--idle-exit-s", "soon"], {}, 78, "daemon.idle_exit_s"),
        ([], {"HYDRAMIND_RECALL_LIMIT": "0"}, 78, "HYDRAMIND_RECALL_LIMIT"),
        ([], {"HYDRAMIND_URI": "bolt://localhost"}, 78, "embedded record"),
        ([], {"HYDRAMIND_TOKEN": "s3cr3t"}, 78, "record.token"),
        ([], {"HYDRAMIND_CONFIG": "/nowhere/c.toml"}, 78, "/nowhere/c.toml"),
    ],
)
def test_wrong_settings_end_with_their_code_and_name_what_is_wrong(
    daemons: Daemons, hydramind_home: Path, arguments: list[str], env: dict[str, str], code: int, told: str
) -> None:
    daemon = daemons.start(hydramind_home, *arguments, env=env)
    assert daemon.wait() == code
    assert daemon.readiness() == ""
    assert told in daemon.log_text()
    assert "s3cr3t" not in daemon.log_text()
    assert "Traceback" not in daemon.log_text()


def test_home_under_a_file_ends_with_cannot_create(daemons: Daemons, hydramind_home: Path) -> None:
    (hydramind_home / "file").write_text("")
    daemon = daemons.start(hydramind_home / "file" / "h")
    assert daemon.wait() == 73
    assert str(hydramind_home / "file") in daemon.log_text()


def test_read_only_home_is_named_and_nothing_is_left_running(daemons: Daemons, hydramind_home: Path) -> None:
    hydramind_home.chmod(0o500)
    if os.access(hydramind_home, os.W_OK):
        pytest.skip("this user may write everywhere (root); see the mount test")
    daemon = daemons.start(hydramind_home)
    assert daemon.wait() in {73, 77}
    assert str(hydramind_home) in daemon.log_text()
    hydramind_home.chmod(0o700)


def test_home_on_a_read_only_file_system_is_named(hydramind_home: Path) -> None:
    inside = (
        'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && '
        'exec "$2" -m hydramind_daemon --home "$1"'
    )  # fmt: skip
    base = ["unshare", "--mount", "--map-root-user"]
    probe = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
    try:
        possible = subprocess.run([*base, "sh", "-c", probe, "sh", str(hydramind_home)], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if possible.returncode != 0:
        pytest.skip("mount namespaces are not allowed here")
    done = subprocess.run(
        [*base, "sh", "-c", inside, "sh", str(hydramind_home), sys.executable],
        capture_output=True, text=True, check=False, timeout=BOUND_S,
    )  # fmt: skip
    assert done.returncode in {73, 77}, done.stderr
    assert str(hydramind_home) in done.stderr
    assert "Traceback" not in done.stderr


def test_store_of_a_newer_version_is_refused_and_untouched(daemons: Daemons, hydramind_home: Path) -> None:
    import apsw

    daemons.start(hydramind_home).ready().terminate()
    store = Path(local.addresses(home=str(hydramind_home)).store_file)
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA user_version=9999")
    connection.close()
    before = store.read_bytes()
    daemon = daemons.start(hydramind_home)
    assert daemon.wait() == 65
    assert "9999" in daemon.log_text()
    assert store.read_bytes() == before


def test_file_that_is_no_store_is_refused_and_untouched(daemons: Daemons, hydramind_home: Path) -> None:
    store = Path(local.addresses(home=str(hydramind_home)).store_file)
    store.write_bytes(b"somebody's diary, and certainly no database " * 400)
    before = store.read_bytes()
    daemon = daemons.start(hydramind_home)
    assert daemon.wait() == 65
    assert str(store) in daemon.log_text()
    assert "Traceback" not in daemon.log_text()
    assert store.read_bytes() == before


HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


def test_scope_that_another_process_holds_is_refused_by_name_and_pid_and_delays_no_other(
    daemons: Daemons, hydramind_home: Path
) -> None:
    daemon = daemons.start(hydramind_home).ready()
    lock = ScopeLocks(local.addresses(home=str(hydramind_home)).locks_dir).path_of("repair")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        request = memory_pb2.RememberRequest(content="One fact.", scope=common_pb2.ScopeRef(name="repair"))
        with daemon.memory() as stub:
            waiting = stub.Remember.future(request, timeout=3.0)
            assert remember(daemon, "Another fact.", scope="free")
            assert not waiting.done()
            error = waiting.exception(BOUND_S)
            assert isinstance(error, grpc.RpcError)
            assert waiting.code() is grpc.StatusCode.UNAVAILABLE
            assert str(holder.pid) in waiting.details()
            assert "repair" in waiting.details()
        holder.communicate("")
    assert remember(daemon, "One fact.", scope="repair")


# --- signals and drain


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stop_signal_drains_frees_the_lock_and_removes_the_socket(
    daemons: Daemons, hydramind_home: Path, number: signal.Signals
) -> None:
    first = daemons.start(hydramind_home).ready()
    memory_id = remember(first, "Tests run before every merge.")
    first.process.send_signal(number)
    assert first.wait() == 0
    assert not first.socket.exists()
    second = daemons.start(hydramind_home).ready()
    assert content_of(second, memory_id) == "Tests run before every merge."


def test_stop_during_the_start_ends_cleanly(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home)
    lock = Path(local.addresses(home=str(hydramind_home)).instance_lock)
    wait_until(lambda: lock.exists() or daemon.process.poll() is not None, "the lock file", daemon.log_text)
    assert daemon.terminate() == 0
    assert daemon.readiness() in {"", f"READY {daemon.pid}\n"}
    daemons.start(hydramind_home).ready()


def test_drain_call_stops_like_a_signal(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home).ready()
    with daemon.admin() as stub:
        assert stub.Drain(admin_pb2.DrainRequest(), timeout=BOUND_S).pid == daemon.pid
    assert daemon.wait() == 0


def test_writes_under_way_while_draining_are_answered_and_kept_or_refused(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home).ready()
    acknowledged: dict[str, str] = {}
    refused: list[grpc.StatusCode] = []
    begun = threading.Barrier(9)

    def write(worker: int) -> None:
        with daemon.memory() as stub:
            begun.wait(BOUND_S)
            for number in range(1000):
                text = f"Worker {worker} has finished step {number}."
                try:
                    request = memory_pb2.RememberRequest(content=text, scope=common_pb2.ScopeRef(name="s"))
                    acknowledged[stub.Remember(request, timeout=BOUND_S).memory_id] = text
                except grpc.RpcError as error:
                    refused.append(error.code())
                    return

    workers = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for worker in workers:
        worker.start()
    begun.wait(BOUND_S)
    wait_until(lambda: len(acknowledged) > 20, "some writes", daemon.log_text)
    assert daemon.terminate() == 0
    for worker in workers:
        worker.join(BOUND_S)
    assert set(refused) <= {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED, grpc.StatusCode.CANCELLED}
    second = daemons.start(hydramind_home).ready()
    assert {memory_id: content_of(second, memory_id) for memory_id in acknowledged} == acknowledged


def test_watch_stream_is_told_its_last_cursor_when_the_daemon_stops(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home).ready()
    with daemon.events() as stub:
        stream = stub.Watch(event_pb2.WatchRequest(cursor=0), timeout=BOUND_S)
        remember(daemon, "Reviews need two people.")
        first = next(stream)
        while not first.HasField("event"):
            first = next(stream)
        daemon.process.send_signal(signal.SIGTERM)
        last = first
        for message in stream:
            last = message
    assert last.HasField("heartbeat")
    assert last.heartbeat.draining
    assert last.heartbeat.cursor >= first.event.sequence
    assert daemon.wait() == 0


def test_second_signal_stops_at_once(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home, "--drain-s", "60").ready()
    release = threading.Event()

    def held_open() -> Iterator[memory_pb2.ImportRequest]:
        record = memory_pb2.ImportRecord(line=1, external_id="a", content="One record.")
        yield memory_pb2.ImportRequest(record=record, scope=common_pb2.ScopeRef(name="s"))
        release.wait(BOUND_S)

    with daemon.memory() as stub:
        stream = stub.Import(held_open(), timeout=BOUND_S)
        next(stream)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait_for_log("stopping")
        wait_until(lambda: not daemon.socket.exists(), "the drain", daemon.log_text)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.wait() == 128 + signal.SIGTERM
        release.set()
    daemons.start(hydramind_home).ready()


def test_hangup_takes_over_a_good_file_and_keeps_everything_at_a_bad_one(
    daemons: Daemons, hydramind_home: Path, tmp_path: Path
) -> None:
    config = tmp_path / "c.toml"
    config.write_text("")
    daemon = daemons.start(hydramind_home, env={"HYDRAMIND_CONFIG": str(config)}).ready()
    config.write_text('[log]\nlevel = "error"\n[recall]\nlimit = 0\n')
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait_for_log("configuration not taken over")
    assert "recall.limit" in daemon.log_text()
    config.write_text("[recall]\nlimit = 3\n[daemon]\nreaders = 9\n")
    daemon.process.send_signal(signal.SIGHUP)
    daemon.wait_for_log("configuration taken over")
    assert "daemon.readers" in daemon.log_text()
    assert daemon.info().pid == daemon.pid


def test_usr1_writes_the_stacks_to_the_log(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home).ready()
    daemon.process.send_signal(signal.SIGUSR1)
    daemon.wait_for_log("Current thread")
    daemon.wait_for_log("stacks of all tasks")
    assert daemon.info().pid == daemon.pid


# --- idle


def test_daemon_on_demand_ends_when_idle_and_a_managed_one_does_not(daemons: Daemons, hydramind_home: Path) -> None:
    managed = daemons.start(hydramind_home.parent / "m", "--idle-exit-s", "0.2", "--managed").ready()
    spawned = daemons.start(hydramind_home, "--idle-exit-s", "0.2").ready()
    assert spawned.wait() == 0
    assert "idle" in spawned.log_text()
    assert managed.info().managed


def test_open_watch_keeps_an_idle_daemon(daemons: Daemons, hydramind_home: Path) -> None:
    daemon = daemons.start(hydramind_home, "--idle-exit-s", "0.5").ready()
    with daemon.events() as stub:
        stream = stub.Watch(event_pb2.WatchRequest(heartbeat_s=1), timeout=BOUND_S)
        for _ in range(2):
            assert next(stream).HasField("heartbeat")
        assert daemon.process.poll() is None
        stream.cancel()
    assert daemon.wait() == 0


# --- service manager


def test_service_manager_hears_ready_only_when_calls_are_answered_then_the_watchdog_then_the_end(
    daemons: Daemons, hydramind_home: Path, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = hydramind_home.parent / "notify"
        manager.bind(str(path))
        manager.settimeout(BOUND_S)
        env = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "300000"}
        daemon = daemons.start(hydramind_home, "--managed", env=env)
        heard: list[str] = []

        def hear_until(start: str) -> None:
            while not (heard and heard[-1].startswith(start)):
                heard.append(manager.recv(4096).decode())

        hear_until("READY=1")
        assert daemon.info().pid == daemon.pid
        assert all(line.startswith(("EXTEND_TIMEOUT_USEC", "STATUS")) for line in heard[:-1])
        hear_until("WATCHDOG=1")
        daemon.process.send_signal(signal.SIGTERM)
        hear_until("STOPPING=1")
    assert daemon.wait() == 0


def test_watchdog_falls_silent_when_the_loop_is_stopped(daemons: Daemons, hydramind_home: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = hydramind_home.parent / "notify"
        manager.bind(str(path))
        manager.settimeout(BOUND_S)
        daemon = daemons.start(hydramind_home, env={"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "150000"})
        while manager.recv(4096) != b"WATCHDOG=1":
            pass
        daemon.process.send_signal(signal.SIGSTOP)
        manager.settimeout(1.0)
        assert heard_to_the_end(manager) < 100
        daemon.process.send_signal(signal.SIGCONT)
        manager.settimeout(BOUND_S)
        while manager.recv(4096) != b"WATCHDOG=1":
            pass

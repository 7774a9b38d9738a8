"""The lifecycle with fake parts: order of start and drain, reload, watchdog, idle exit, vanished sockets."""
# ruff: noqa: ASYNC110 - the fakes are polled; what is under test has no event to wait on

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvloop

from hydramind import local, settings
from hydramind_daemon.exit_codes import DaemonExit, ExitCode
from hydramind_daemon.lifecycle import Lifecycle, Pace
from hydramind_daemon.lifecycle_start import Readiness, clear_stale_socket, prepare_home, take_instance_lock
from hydramind_daemon.locks import FileLock
from hydramind_daemon.sd_notify import Notifier
from hydramind_domain.errors import ResourceExhausted

BOUND_S = 20.0
Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=["asyncio-debug", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    def on_loop(work: Coroutine[Any, Any, Any]) -> Any:
        debug = request.param == "asyncio-debug"
        factory = asyncio.new_event_loop if debug else uvloop.new_event_loop
        with asyncio.Runner(debug=debug, loop_factory=factory) as runner:
            return runner.run(asyncio.wait_for(work, BOUND_S))

    return on_loop


class FakeNotifier(Notifier):
    def __init__(self, steps: list[str], watchdog_usec: int = 0) -> None:
        super().__init__("", watchdog_usec)
        self.steps = steps
        self.fed = asyncio.Event()
        self.said: list[str] = []

    def _send(self, message: str) -> None:
        first = message.partition("\n")[0]
        self.said.append(message)
        if not first.startswith(("EXTEND", "STATUS")):
            self.steps.append(first)
        if first == "WATCHDOG=1":
            self.fed.set()


class FakeParts:
    """Records what it is asked to do; binds a real socket file, so that its absence can be noticed."""

    def __init__(self, where: local.Addresses, steps: list[str]) -> None:
        self.where = where
        self.steps = steps
        self.idle = 0.0
        self.fail: dict[str, Exception] = {}
        self.ping_hangs = False
        self.applied: list[settings.Settings] = []
        self.grace_s: float | None = None
        self.serving = asyncio.Event()
        self.published = asyncio.Event()
        self.pinged = 0
        self.sock: socket.socket | None = None

    def _step(self, name: str) -> None:
        self.steps.append(name)
        if name in self.fail:
            raise self.fail[name]

    async def open(self) -> None:
        self._step("open")

    async def bind(self) -> None:
        self._step("bind")
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(self.where.socket)

    async def self_call(self) -> None:
        self._step("self_call")
        self.serving.set()

    async def ping(self) -> None:
        self.pinged += 1
        if self.ping_hangs:
            await asyncio.Event().wait()
        if "ping" in self.fail:
            raise self.fail["ping"]

    async def publish(self) -> None:
        self.published.set()
        if "publish" in self.fail:
            raise self.fail["publish"]

    def idle_s(self) -> float:
        return self.idle

    def apply(self, new: settings.Settings) -> None:
        self.applied.append(new)

    async def refuse_new(self) -> None:
        self._step("refuse_new")

    async def end_watches(self) -> None:
        self._step("end_watches")

    async def stop_server(self, grace_s: float) -> None:
        self.grace_s = grace_s
        if self.sock is not None:
            self.sock.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.where.socket)  # noqa: PTH108 - as the server does it
        self._step("stop_server")

    async def close(self) -> None:
        self._step("close")


class World:
    """One home with everything that a lifecycle needs."""

    def __init__(self, folder: Path) -> None:
        self.env = {"HOME": str(folder)}
        self.where = local.addresses(self.env, home=str(folder / "h"))
        self.where.make_folders()
        self.settings = settings.load({}, self.env)
        self.steps: list[str] = []
        self.parts = FakeParts(self.where, self.steps)
        self.notifier = FakeNotifier(self.steps)
        self.lock = FileLock(self.where.instance_lock)
        self.levels: list[str] = []
        self.read_fd, write_fd = os.pipe()
        self.readiness = Readiness(write_fd)
        assert self.lock.acquire()

    def lifecycle(self, *, managed: bool = False, reread: Callable[[], settings.Settings] | None = None) -> Lifecycle:
        return Lifecycle(
            self.parts,
            self.where,
            self.settings,
            lock=self.lock,
            readiness=self.readiness,
            notifier=self.notifier,
            managed=managed,
            reread=reread or (lambda: self.settings),
            set_level=self.levels.append,
            pace=Pace(look_s=0.001, extend_s=0.001),
        )

    def said_on_readiness_fd(self) -> str:
        self.readiness.close()
        return os.read(self.read_fd, 100).decode()

    def close(self) -> None:
        self.readiness.close()
        os.close(self.read_fd)
        self.lock.release()
        if self.parts.sock is not None:
            self.parts.sock.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


async def run_until_serving(world: World, life: Lifecycle, then: Callable[[], Any]) -> ExitCode:
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(life.run())
        await world.parts.serving.wait()
        done = then()
        if asyncio.iscoroutine(done):
            await done
    return running.result()


def test_ready_is_said_only_after_the_self_call_and_draining_keeps_its_order(world: World, run: Run) -> None:
    life = world.lifecycle()
    code = run(run_until_serving(world, life, lambda: life.request_stop("test", grace_s=3.5)))
    assert code is ExitCode.OK
    assert world.steps == [
        "open", "bind", "self_call", "READY=1",
        "refuse_new", "STOPPING=1", "end_watches", "stop_server", "close",
    ]  # fmt: skip
    assert world.parts.grace_s == 3.5
    assert world.said_on_readiness_fd() == f"READY {os.getpid()}\n"


def test_start_asks_the_manager_for_more_time_while_the_store_migrates(world: World, run: Run) -> None:
    async def slow_open() -> None:
        while len([s for s in world.notifier.said if s.startswith("EXTEND")]) < 3:
            await asyncio.sleep(0)

    world.parts.open = slow_open  # type: ignore[method-assign]
    life = world.lifecycle()
    run(run_until_serving(world, life, lambda: life.request_stop("test")))
    before_ready = world.notifier.said[: next(i for i, s in enumerate(world.notifier.said) if "READY" in s)]
    assert len(before_ready) >= 3


@pytest.mark.parametrize("step", ["open", "bind", "self_call"])
def test_failed_start_closes_what_was_opened_and_never_says_ready(world: World, run: Run, step: str) -> None:
    world.parts.fail[step] = DaemonExit(ExitCode.DATA, "newer schema")
    with pytest.raises(DaemonExit):
        run(world.lifecycle().run())
    assert world.steps[-1] == "close"
    assert "READY=1" not in world.steps
    assert world.said_on_readiness_fd() == ""


def test_stop_that_comes_during_the_start_never_binds(world: World, run: Run) -> None:
    async def stopped_at_open() -> ExitCode:
        life = world.lifecycle()

        async def open_() -> None:
            life.request_stop("SIGTERM")

        world.parts.open = open_  # type: ignore[method-assign]
        return await life.run()

    assert run(stopped_at_open()) is ExitCode.OK
    assert "bind" not in world.steps
    assert "READY=1" not in world.steps
    assert world.steps[-1] == "close"


def test_stop_that_came_before_the_start_opens_nothing(world: World, run: Run) -> None:
    async def stopped_before() -> ExitCode:
        life = world.lifecycle()
        life.request_stop("a signal during start")
        return await life.run()

    assert run(stopped_before()) is ExitCode.OK
    assert "open" not in world.steps
    assert world.said_on_readiness_fd() == ""


def test_first_reason_to_stop_decides_grace_and_code(world: World, run: Run) -> None:
    life = world.lifecycle()

    def twice() -> None:
        life.request_stop("first", grace_s=1.0)
        life.request_stop("second", grace_s=9.0, code=ExitCode.IO_ERROR)

    assert run(run_until_serving(world, life, twice)) is ExitCode.OK
    assert world.parts.grace_s == 1.0


def test_idle_daemon_on_demand_stops_holding_the_spawn_lock(world: World, run: Run) -> None:
    world.parts.idle = world.settings.daemon.idle_exit_s + 1
    assert run(world.lifecycle().run()) is ExitCode.OK
    assert "close" in world.steps
    assert not FileLock(world.where.spawn_lock).acquire()


def test_idle_daemon_waits_while_somebody_is_starting_one(world: World, run: Run) -> None:
    world.parts.idle = world.settings.daemon.idle_exit_s + 1
    starter = FileLock(world.where.spawn_lock)
    assert starter.acquire()
    asked: list[float] = []
    plain = world.parts.idle_s

    def counted() -> float:
        asked.append(plain())
        if len(asked) == 3:
            starter.release()
        return plain()

    world.parts.idle_s = counted  # type: ignore[method-assign]
    run(world.lifecycle().run())
    assert len(asked) > 3


def test_work_that_comes_while_the_spawn_lock_is_taken_keeps_the_daemon(world: World, run: Run) -> None:
    answers = iter([world.settings.daemon.idle_exit_s + 1, 0.0])
    life = world.lifecycle()

    def next_idle() -> float:
        idle = next(answers, None)
        if idle is None:
            life.request_stop("test")
            return 0.0
        return idle

    world.parts.idle_s = next_idle  # type: ignore[method-assign]
    run(life.run())
    assert FileLock(world.where.spawn_lock).acquire()


@pytest.mark.parametrize(("managed", "idle_exit_s"), [(True, 1.0), (False, 0.0)])
def test_managed_daemon_and_one_told_so_never_stop_when_idle(world: World, run: Run, managed: bool, idle_exit_s: float) -> None:
    world.settings = replace(world.settings, daemon=replace(world.settings.daemon, idle_exit_s=idle_exit_s))
    world.parts.idle = 1e9
    life = world.lifecycle(managed=managed)
    looked = asyncio.Event()
    in_place = world.lock.in_place

    def counted() -> bool:
        looked.set()
        return in_place()

    world.lock.in_place = counted  # type: ignore[method-assign]

    async def after_some_looks() -> None:
        for _ in range(3):
            looked.clear()
            await looked.wait()
        life.request_stop("test")

    assert run(run_until_serving(world, life, after_some_looks)) is ExitCode.OK
    assert FileLock(world.where.spawn_lock).acquire()


@pytest.mark.parametrize(("managed", "code"), [(False, ExitCode.OK), (True, ExitCode.IO_ERROR)])
@pytest.mark.parametrize("what", ["socket", "instance_lock", "home"])
def test_daemon_that_nobody_can_reach_any_more_stops(world: World, run: Run, managed: bool, code: ExitCode, what: str) -> None:
    def remove() -> None:
        path = Path(getattr(world.where, what))
        path.rename(path.with_name("elsewhere"))

    assert run(run_until_serving(world, world.lifecycle(managed=managed), remove)) is code


def test_watchdog_is_fed_from_a_round_trip(world: World, run: Run) -> None:
    world.notifier = FakeNotifier(world.steps, watchdog_usec=30_000)
    life = world.lifecycle()

    async def fed_twice() -> None:
        for _ in range(2):
            await world.notifier.fed.wait()
            world.notifier.fed.clear()
        life.request_stop("test")

    run(run_until_serving(world, life, fed_twice))
    assert world.parts.pinged >= 2


def test_watchdog_starves_when_the_store_hangs(world: World, run: Run) -> None:
    world.notifier = FakeNotifier(world.steps, watchdog_usec=3_000)
    world.parts.ping_hangs = True
    life = world.lifecycle()

    async def pinged_thrice() -> None:
        while world.parts.pinged < 3:
            await asyncio.sleep(0)
        life.request_stop("test")

    run(run_until_serving(world, life, pinged_thrice))
    assert "WATCHDOG=1" not in world.steps


def test_store_that_answers_with_an_error_is_degraded_and_no_reason_to_restart(world: World, run: Run) -> None:
    world.notifier = FakeNotifier(world.steps, watchdog_usec=30_000)
    world.parts.fail["ping"] = ResourceExhausted("disk full")
    life = world.lifecycle()

    async def fed() -> None:
        await world.notifier.fed.wait()
        life.request_stop("test")

    run(run_until_serving(world, life, fed))
    assert "STATUS=degraded: disk full" in world.notifier.said


def test_metrics_that_cannot_be_written_do_not_end_the_daemon(world: World, run: Run) -> None:
    world.parts.fail["publish"] = PermissionError("no")
    life = world.lifecycle()

    async def published_twice() -> None:
        for _ in range(2):
            world.parts.published.clear()
            await world.parts.published.wait()
        life.request_stop("test")

    assert run(run_until_serving(world, life, published_twice)) is ExitCode.OK


def test_reload_takes_over_everything_or_nothing(world: World, run: Run) -> None:
    new = settings.load({}, world.env | {"HYDRAMIND_LOG_LEVEL": "debug", "HYDRAMIND_DRAIN_S": "2"})
    answers: list[settings.Settings | Exception] = [settings.SettingsError("bad"), new]

    def reread() -> settings.Settings:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    life = world.lifecycle(reread=reread)

    def reload() -> None:
        life.reload()
        assert (world.parts.applied, world.levels) == ([], [])
        life.reload()
        life.request_stop("test")

    run(run_until_serving(world, life, reload))
    assert (world.parts.applied, world.levels, world.parts.grace_s) == ([new], ["debug"], 2.0)
    assert world.steps.count("RELOADING=1") == 2


def test_parts_that_fail_while_draining_still_let_the_store_close(world: World, run: Run) -> None:
    world.parts.fail["stop_server"] = RuntimeError("a bug")
    life = world.lifecycle()
    with pytest.raises(ExceptionGroup, match="unhandled"):
        run(run_until_serving(world, life, lambda: life.request_stop("test")))
    assert world.steps[-1] == "close"


# --- before the loop


def test_second_daemon_is_told_who_holds_the_lock(world: World) -> None:
    world.lock.write_holder("/run/first.sock")
    read_fd, write_fd = os.pipe()
    with pytest.raises(DaemonExit, match=f"pid {os.getpid()}, socket /run/first.sock") as caught:
        take_instance_lock(world.where, Readiness(write_fd))
    assert caught.value.code is ExitCode.BUSY
    assert os.read(read_fd, 100).decode() == f"BUSY {os.getpid()}\n"
    os.close(read_fd)


def test_stale_socket_is_removed_and_a_missing_one_is_fine(world: World) -> None:
    clear_stale_socket(world.where.socket)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(world.where.socket)
    clear_stale_socket(world.where.socket)
    assert not os.path.lexists(world.where.socket)


def test_live_socket_of_another_home_is_left_alone(world: World) -> None:
    with socket.socket(socket.AF_UNIX) as alive:
        alive.bind(world.where.socket)
        alive.listen()
        with pytest.raises(DaemonExit) as caught:
            clear_stale_socket(world.where.socket)
    assert caught.value.code is ExitCode.BUSY
    assert os.path.lexists(world.where.socket)


def test_file_in_the_way_of_the_socket_is_not_removed(world: World) -> None:
    Path(world.where.socket).write_text("precious")
    with pytest.raises(DaemonExit) as caught:
        clear_stale_socket(world.where.socket)
    assert caught.value.code is ExitCode.CANNOT_CREATE
    assert Path(world.where.socket).read_text() == "precious"


def test_home_that_cannot_be_made_ends_with_a_code_and_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    where = local.addresses({"HOME": str(tmp_path)}, home=str(tmp_path / "file" / "h"))
    with pytest.raises(DaemonExit, match=str(tmp_path / "file")) as caught:
        prepare_home(where)
    assert caught.value.code is ExitCode.CANNOT_CREATE


def test_socket_folder_open_to_others_ends_with_no_permission(world: World) -> None:
    Path(world.where.socket).parent.chmod(0o777)
    with pytest.raises(DaemonExit, match="chmod 700") as caught:
        prepare_home(world.where)
    assert caught.value.code is ExitCode.NO_PERMISSION


def test_spawner_that_has_gone_does_not_matter() -> None:
    read_fd, write_fd = os.pipe()
    os.close(read_fd)
    Readiness(write_fd).ready()
    Readiness(None).busy(3)
    Readiness(987).ready()

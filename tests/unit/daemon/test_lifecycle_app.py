"""The composed daemon within the test's process: real store, services and server on a home of its own."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import grpc.aio
import pytest
import uvloop
from grpc_health.v1 import health_pb2, health_pb2_grpc

from hydramind import local, settings
from hydramind.v1 import admin_pb2, admin_pb2_grpc, common_pb2, memory_pb2, memory_pb2_grpc
from hydramind_daemon import app
from hydramind_daemon.exit_codes import DaemonExit, ExitCode
from hydramind_daemon.stores.errors import Damaged, NewerSchema, NotPermitted, Unwritable
from hydramind_domain.errors import HydraMindError, Internal, ResourceExhausted, Unavailable

BOUND_S = 40.0


@pytest.fixture
def where(hydramind_home: Path) -> local.Addresses:
    found = local.addresses(home=str(hydramind_home))
    found.make_folders()
    return found


@pytest.fixture(params=["asyncio-debug", "uvloop"])
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner]:
    debug = request.param == "asyncio-debug"
    factory = asyncio.new_event_loop if debug else uvloop.new_event_loop
    with asyncio.Runner(debug=debug, loop_factory=factory) as made:
        yield made


def parts_of(where: local.Addresses, drains: list[float | None]) -> app.DaemonParts:
    return app.DaemonParts(where, settings.load({}, {"HOME": where.home}), managed=True, drain=drains.append)


async def serving(parts: app.DaemonParts, where: local.Addresses, use: Callable[[Any], Awaitable[Any]]) -> Any:
    try:
        await parts.open()
        await parts.bind()
        await parts.self_call()
        async with grpc.aio.insecure_channel(local.grpc_target(where.socket)) as channel:
            return await asyncio.wait_for(use(channel), BOUND_S)
    finally:
        await parts.refuse_new()
        await parts.end_watches()
        await parts.stop_server(5.0)
        await parts.close()


def test_daemon_identifies_itself_and_hands_drain_to_the_lifecycle(runner: asyncio.Runner, where: local.Addresses) -> None:
    drains: list[float | None] = []
    parts = parts_of(where, drains)

    async def use(channel: grpc.aio.Channel) -> admin_pb2.GetServerInfoResponse:
        admin = admin_pb2_grpc.AdminServiceStub(channel)
        await admin.Drain(admin_pb2.DrainRequest(grace_s=3))
        await admin.Drain(admin_pb2.DrainRequest())
        return await admin.GetServerInfo(admin_pb2.GetServerInfoRequest())

    info = runner.run(serving(parts, where, use))
    assert (info.build_id, info.api_level, info.managed) == (local.build_id(), local.API_LEVEL, True)
    assert drains == [3.0, None]


def test_health_says_serving_until_the_drain_and_then_not(runner: asyncio.Runner, where: local.Addresses) -> None:
    parts = parts_of(where, [])

    async def use(channel: grpc.aio.Channel) -> list[int]:
        health = health_pb2_grpc.HealthStub(channel)
        before = await health.Check(health_pb2.HealthCheckRequest())
        await parts.refuse_new()
        after = await health.Check(health_pb2.HealthCheckRequest())
        return [before.status, after.status]

    states = health_pb2.HealthCheckResponse
    assert runner.run(serving(parts, where, use)) == [states.SERVING, states.NOT_SERVING]


def test_ping_goes_through_writer_and_store_and_fails_after_the_end(runner: asyncio.Runner, where: local.Addresses) -> None:
    parts = parts_of(where, [])

    async def use(_channel: grpc.aio.Channel) -> None:
        await parts.ping()

    runner.run(serving(parts, where, use))
    with pytest.raises(Unavailable):
        runner.run(parts.ping())


def test_reloaded_settings_hold_for_the_next_write(runner: asyncio.Runner, where: local.Addresses) -> None:
    parts = parts_of(where, [])

    async def use(channel: grpc.aio.Channel) -> float:
        memory = memory_pb2_grpc.MemoryServiceStub(channel)
        scope = common_pb2.ScopeRef(name="s")
        parts.apply(settings.load({}, {"HOME": where.home, "HYDRAMIND_TRUST_CONTRADICTION_DROP": "0.3"}))
        for text in ("Deploys must always use direct routing.", "Deploys must not use direct routing."):
            made = await memory.Remember(memory_pb2.RememberRequest(content=text, scope=scope, entities=["deploy"]))
        return made.conflicts[0].after_trust

    assert runner.run(serving(parts, where, use)) == pytest.approx(0.7)


def test_idle_time_counts_from_the_last_call_and_a_daemon_that_is_not_open_is_not_idle(
    runner: asyncio.Runner, where: local.Addresses
) -> None:
    parts = parts_of(where, [])
    assert parts.idle_s() == 0.0

    async def use(channel: grpc.aio.Channel) -> list[float]:
        first = parts.idle_s()
        while parts.idle_s() <= first:  # noqa: ASYNC110 - time itself has no event
            await asyncio.sleep(0)
        grown = parts.idle_s()
        await admin_pb2_grpc.AdminServiceStub(channel).GetServerInfo(admin_pb2.GetServerInfoRequest())
        return [grown, parts._services.activity.calls]  # type: ignore[union-attr]

    grown, calls = runner.run(serving(parts, where, use))
    assert (grown > 0.0, calls) == (True, 0)


def test_metrics_file_is_replaced_as_a_whole_and_every_name_is_explained(
    runner: asyncio.Runner, where: local.Addresses, tmp_path: Path
) -> None:
    path = tmp_path / "hydramind.prom"
    env = {"HOME": where.home, "HYDRAMIND_METRICS_FILE": str(path)}
    parts = app.DaemonParts(where, settings.load({}, env), managed=True, drain=lambda _grace: None)

    async def use(channel: grpc.aio.Channel) -> None:
        await parts.publish()
        scope = common_pb2.ScopeRef(name="s")
        request = memory_pb2.RememberRequest(content="One fact.", scope=scope)
        await memory_pb2_grpc.MemoryServiceStub(channel).Remember(request)
        await parts.publish()

    runner.run(serving(parts, where, use))
    lines = path.read_text().splitlines()
    values = {line.split(" ")[0]: float(line.split(" ")[-1]) for line in lines if not line.startswith("#")}
    assert (values["hydramind_commit_sequence_total"], values["hydramind_memories"]) == (1.0, 1.0)
    assert values['hydramind_state{state="serving"}'] == 1.0
    helped = {line.split(" ")[2] for line in lines if line.startswith("# HELP")}
    assert {name.partition("{")[0] for name in values} == helped
    assert list(tmp_path.iterdir()) == [path]


def test_without_a_metrics_file_nothing_is_written(runner: asyncio.Runner, where: local.Addresses, tmp_path: Path) -> None:
    parts = parts_of(where, [])

    async def use(_channel: grpc.aio.Channel) -> None:
        await parts.publish()

    runner.run(serving(parts, where, use))
    assert list(tmp_path.iterdir()) == []


def test_store_of_a_newer_version_keeps_the_daemon_from_starting(runner: asyncio.Runner, where: local.Addresses) -> None:
    async def nothing(_channel: grpc.aio.Channel) -> None:
        return None

    runner.run(serving(parts_of(where, []), where, nothing))
    connection = apsw.Connection(where.store_file)
    connection.execute("PRAGMA user_version=9999")
    connection.close()
    with pytest.raises(DaemonExit, match="9999") as caught:
        runner.run(serving(parts_of(where, []), where, nothing))
    assert caught.value.code is ExitCode.DATA


def test_socket_that_cannot_be_bound_ends_with_cannot_create(runner: asyncio.Runner, where: local.Addresses) -> None:
    Path(where.socket).mkdir()

    async def nothing(_channel: grpc.aio.Channel) -> None:
        return None

    with pytest.raises(DaemonExit, match="cannot listen") as caught:
        runner.run(serving(parts_of(where, []), where, nothing))
    assert caught.value.code is ExitCode.CANNOT_CREATE


def test_parts_that_were_never_opened_can_be_ended(runner: asyncio.Runner, where: local.Addresses) -> None:
    async def end(parts: app.DaemonParts) -> None:
        await parts.refuse_new()
        await parts.end_watches()
        await parts.stop_server(0.0)
        await parts.close()

    runner.run(end(parts_of(where, [])))
    assert not Path(where.store_file).exists()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NewerSchema("x"), ExitCode.DATA),
        (Damaged("x"), ExitCode.DATA),
        (Unwritable("x"), ExitCode.CANNOT_CREATE),
        (NotPermitted("x"), ExitCode.NO_PERMISSION),
        (ResourceExhausted("x"), ExitCode.CANNOT_CREATE),
        (Unavailable("x", reason="STORE_IO"), ExitCode.IO_ERROR),
        (Unavailable("x", reason="STORE_BUSY"), ExitCode.UNAVAILABLE),
        (Internal("x", reason="STORE_DAMAGED"), ExitCode.DATA),
        (Internal("x"), ExitCode.FAILURE),
    ],
)
def test_what_kept_the_store_from_opening_has_its_exit_code(error: HydraMindError, code: ExitCode) -> None:
    assert app.exit_code_of(error) is code


def test_ids_differ_and_look_like_ids() -> None:
    ids = {app.RandomIds().memory_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(one.startswith("mem_") and len(one) == 24 for one in ids)


def test_daemon_runs_to_its_end_on_a_signal(
    runner: asyncio.Runner, where: local.Addresses, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from hydramind_daemon.lifecycle_signals import Signals
    from hydramind_daemon.lifecycle_start import Readiness
    from hydramind_daemon.locks import FileLock
    from hydramind_daemon.logs import LogLevel
    from hydramind_daemon.sd_notify import Notifier

    lock = FileLock(where.instance_lock)
    assert lock.acquire()
    read_fd, write_fd = os.pipe()
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    loaded = settings.load({}, {"HOME": where.home})

    async def run() -> ExitCode:
        loop = asyncio.get_running_loop()
        loop.add_reader(read_fd, lambda: (loop.remove_reader(read_fd), os.kill(os.getpid(), signal.SIGTERM)))
        return await app.run_daemon(
            where,
            loaded,
            managed=True,
            lock=lock,
            readiness=Readiness(write_fd),
            signals=Signals(),
            notifier=Notifier(),
            reread=lambda: loaded,
            level=LogLevel("info"),
        )

    try:
        assert runner.run(run()) is ExitCode.OK
        assert os.read(read_fd, 100).decode() == f"READY {os.getpid()}\n"
    finally:
        os.close(read_fd)
        lock.release()
        for number, handler in before.items():
            signal.signal(number, handler)
    assert not Path(where.socket).exists()

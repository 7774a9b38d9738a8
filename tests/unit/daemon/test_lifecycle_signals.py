"""Signals: none is lost between the first instruction and the event loop, and a second stop does not wait."""

import asyncio
import faulthandler
import os
import signal
from collections.abc import Iterator

import pytest
import structlog
import uvloop

from hydramind_daemon.lifecycle_signals import Signals

CAUGHT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)


@pytest.fixture(autouse=True)
def _restore_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in CAUGHT}
    yield
    faulthandler.unregister(signal.SIGUSR1)
    for number, handler in before.items():
        signal.signal(number, handler)


class Heard:
    """What reached the daemon."""

    def __init__(self) -> None:
        self.exits: list[int] = []
        self.stops: list[str] = []
        self.reloads = 0
        self.something = asyncio.Event()
        self.signals = Signals(exit_now=self.exits.append)
        self.signals.install()

    def stop(self, reason: str) -> None:
        self.stops.append(reason)
        self.something.set()

    def reload(self) -> None:
        self.reloads += 1
        self.something.set()

    def attach(self) -> None:
        self.signals.attach(asyncio.get_running_loop(), self.stop, self.reload)

    async def after(self, number: signal.Signals) -> None:
        self.something.clear()
        os.kill(os.getpid(), number)
        await asyncio.wait_for(self.something.wait(), 20)


def test_signals_before_the_loop_are_told_when_it_runs() -> None:
    heard = Heard()
    os.kill(os.getpid(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGTERM)
    assert heard.signals.stop_asked

    async def attached() -> None:
        heard.attach()

    asyncio.run(attached())
    assert (heard.stops, heard.reloads, heard.exits) == (["a signal during start"], 1, [])


def test_second_stop_before_the_loop_ends_at_once() -> None:
    heard = Heard()
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    assert heard.exits == [128 + signal.SIGINT]


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_signals_on_the_loop_stop_reload_and_then_end_at_once(factory: "type[asyncio.AbstractEventLoop]") -> None:
    heard = Heard()

    async def on_loop() -> None:
        heard.attach()
        await heard.after(signal.SIGHUP)
        await heard.after(signal.SIGTERM)
        assert heard.exits == []
        await heard.after(signal.SIGINT)

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(on_loop())
    assert (heard.stops[0], heard.reloads, heard.exits) == ("SIGTERM", 1, [128 + signal.SIGINT])


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_usr1_names_every_task_and_where_it_waits(
    factory: "type[asyncio.AbstractEventLoop]", capfd: pytest.CaptureFixture[str]
) -> None:
    heard = Heard()
    logged: list[dict[str, object]] = []

    def keep(_logger: object, _method: str, event: dict[str, object]) -> str:
        logged.append(event)
        return ""

    async def waits_for_ever() -> None:
        await asyncio.Event().wait()

    async def on_loop() -> None:
        heard.attach()
        waiting = asyncio.ensure_future(waits_for_ever())
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGUSR1)
        while not logged:  # noqa: ASYNC110 - the handler runs outside the loop
            await asyncio.sleep(0)
        waiting.cancel()

    structlog.configure(processors=[keep], logger_factory=structlog.ReturnLoggerFactory())
    try:
        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(on_loop())
    finally:
        structlog.reset_defaults()
    assert "waits_for_ever" in str(logged[0]["stacks"])
    os.kill(os.getpid(), signal.SIGUSR1)  # without tasks it must not fail either

"""Signals: caught before anything slow, then handed to the event loop.

SIGTERM and SIGINT drain, a second one stops at once; SIGHUP reads the configuration again; SIGUSR1 dumps the stacks of
every thread (even of a stuck loop) and of every task.
"""

import asyncio
import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import structlog

_STOP = (signal.SIGTERM, signal.SIGINT)


class Signals:
    """Remembers signals that come before the loop runs, and passes on those that come later."""

    def __init__(self, exit_now: Callable[[int], None] = os._exit) -> None:
        self._exit_now = exit_now
        self._stops = 0
        self._reload = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._on_stop: Callable[[str], None] = lambda _reason: None
        self._on_reload: Callable[[], None] = lambda: None

    def install(self) -> None:
        """Catch the signals; call it first of all, on the main thread."""
        for number in _STOP:
            signal.signal(number, self._early)
        signal.signal(signal.SIGHUP, self._early)
        signal.signal(signal.SIGUSR1, lambda _number, _frame: self._dump_tasks())
        # Written by C code, so it also works while Python code is stuck; chained to the handler above.
        faulthandler.register(signal.SIGUSR1, file=sys.__stderr__ or 2, all_threads=True, chain=True)

    def attach(self, loop: asyncio.AbstractEventLoop, on_stop: Callable[[str], None], on_reload: Callable[[], None]) -> None:
        """From now on call these on the loop; what came before is told at once."""
        self._loop, self._on_stop, self._on_reload = loop, on_stop, on_reload
        for number in _STOP:
            loop.add_signal_handler(number, self._stop, number)
        loop.add_signal_handler(signal.SIGHUP, on_reload)
        if self._stops:
            on_stop("a signal during start")
        if self._reload:
            on_reload()

    @property
    def stop_asked(self) -> bool:
        """A stop was asked for."""
        return self._stops > 0

    def _early(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            self._reload = True
        else:
            self._stop(signal.Signals(number))

    def _stop(self, number: signal.Signals) -> None:
        self._stops += 1
        if self._stops > 1:
            # What was acknowledged is on disk; the lock goes with the process, the socket is removed by the next start.
            self._exit_now(128 + number)
        self._on_stop(number.name)

    def _dump_tasks(self) -> None:
        loop = self._loop
        if loop is None:
            return
        stacks = [_stack_of(task) for task in asyncio.all_tasks(loop)]
        structlog.get_logger().warning("stacks of all tasks", stacks=stacks)


def _stack_of(task: "asyncio.Task[Any]") -> str:
    # Not Task.print_stack: it fails on frames of compiled modules (gRPC), whose source cannot be read.
    frames = [f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}" for frame in task.get_stack()]
    return f"{task.get_name()}: " + " < ".join(reversed(frames))

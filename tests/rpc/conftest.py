"""Tests of this folder are coroutines; each runs on asyncio in debug mode and on uvloop, with a daemon of its own."""

from __future__ import annotations

import asyncio
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.rpc.live import BOUND_S, Live


@pytest.fixture(params=["asyncio-debug", "uvloop"])
def loop_kind(request: pytest.FixtureRequest) -> str:
    kind: str = request.param
    return kind


@pytest.fixture
def live(loop_kind: str) -> Iterator[Live]:
    del loop_kind
    with tempfile.TemporaryDirectory(prefix="hm-rpc-", ignore_cleanup_errors=True) as folder:
        yield Live(Path(folder))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}

    async def body() -> None:
        async with asyncio.timeout(2 * BOUND_S):
            if "live" in arguments:
                async with arguments["live"]:
                    await pyfuncitem.obj(**arguments)
            else:
                await pyfuncitem.obj(**arguments)

    debug = pyfuncitem.funcargs["loop_kind"] == "asyncio-debug"
    with asyncio.Runner(debug=debug, loop_factory=asyncio.new_event_loop if debug else uvloop.new_event_loop) as runner:
        runner.run(body())
    return True

"""`kill -9` in a storm of remembering, revising and forgetting: the benchmark's own rig, whose promises are the test."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.crashes import Command, Daemon, storm
from hydramind_client import AsyncClient


@pytest.mark.parametrize(
    "crashes",
    [pytest.param(5, marks=pytest.mark.timeout(300)), pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(3000)])],
)
def test_nothing_acknowledged_is_lost_doubled_or_half_written_over_crashes(hydramind_home: Path, crashes: int):
    tally = asyncio.run(storm(hydramind_home, crashes, writers=8, seed=crashes))
    assert tally.losses == []
    assert tally.crashes == crashes
    assert tally.acknowledged >= crashes
    assert tally.verified >= 1


def test_control_the_rig_sees_a_write_that_is_not_there(hydramind_home: Path):
    """A key that was never sent is not answered as replayed: so a lost write would be counted."""

    async def sent_twice() -> list[bool]:
        async with AsyncClient(home=str(hydramind_home), scope="storm", spawn=False) as client:
            command = Command("remember", "only-one", "Crate c1 stands on shelf s1.", about="c1")
            return [await command.send(client), await command.send(client)]

    daemon = Daemon(hydramind_home)
    daemon.start()
    try:
        daemon.wait()
        assert asyncio.run(sent_twice()) == [False, True]
    finally:
        daemon.kill()

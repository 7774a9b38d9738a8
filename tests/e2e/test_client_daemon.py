"""The clients against a real daemon: starting it, losing it, stopping it in mid-call, and races of many."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hydramind_cli.commands_admin import process_runs
from hydramind_client import AsyncClient, Client, FailedPrecondition, InvalidArgument, NotFound, Unavailable
from hydramind_client import model as m

COLD = "from hydramind_client import Client; c = Client(); print(c.get_server_info().pid, c.remember({text!r}, 's').memory_id)"


@pytest.fixture(autouse=True)
def stop_daemon(hydramind_home: Path) -> Iterator[None]:
    yield
    with Client(home=str(hydramind_home), spawn=False) as client:
        try:
            pid = client.drain(1).pid
        except Unavailable:
            return
    while process_runs(pid):
        os.sched_yield()


def test_front_ends_from_cold_at_once_end_with_one_daemon_and_all_their_facts():
    commands = [[sys.executable, "-c", COLD.format(text=f"Fact {n} of the race.")] for n in range(8)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    said = [process.communicate(timeout=100)[0].split() for process in running]
    assert len({pid for pid, _ in said}) == 1
    with Client() as client:
        assert client.get_scope_stats("s").active == 8


def test_a_daemon_killed_under_a_client_is_started_again_and_keeps_what_it_said_it_kept():
    with Client(scope="s") as client:
        kept = [client.remember(f"Fact number {n}.").memory_id for n in range(3)]
        first = client.get_server_info().pid
        os.kill(first, signal.SIGKILL)
        assert client.get_memory(kept[2]).memory.content == "Fact number 2."
        assert client.get_server_info().pid != first
        assert client.get_scope_stats().active == 3


def test_writers_live_through_stops_of_the_daemon_without_losing_or_doubling_a_fact():
    errors: list[Exception] = []

    def write(writer: int) -> list[str]:
        with Client(scope="s", timeout_s=60) as client:
            return [client.remember(f"Writer {writer} wrote line {n}.").memory_id for n in range(12)]

    with ThreadPoolExecutor(4) as pool, Client(timeout_s=60) as stopper:
        writing = [pool.submit(write, n) for n in range(4)]
        for _ in range(2):
            try:
                stopper.drain(5)
            except Unavailable as error:
                errors.append(error)
        ids = [memory_id for future in writing for memory_id in future.result(100)]
    with Client(scope="s") as client:
        stats = client.get_scope_stats()
    assert len(set(ids)) == 48
    assert stats.total == 48


def test_the_same_key_after_a_restart_gives_the_first_answer():
    with Client(scope="s") as client:
        first = client.remember("Tea is green.", idempotency_key="k")
        client.drain(1)
        again = client.remember("Tea is green.", idempotency_key="k")
        assert (again.memory_id, again.replayed) == (first.memory_id, True)
        with pytest.raises(InvalidArgument) as caught:
            client.remember("Tea is black.", idempotency_key="k")
        assert caught.value.reason == "IDEMPOTENCY_KEY_REUSED"


def test_a_watch_goes_on_over_a_restart_with_each_event_once():
    seen: list[str] = []
    started = threading.Event()

    def watch(events) -> None:
        for event in events:
            if isinstance(event, m.MemoryEvent) and event.kind == "remembered":
                seen.append(event.content or "")
                started.set()
                if len(seen) == 4:
                    return

    with Client(scope="s") as client, Client() as watching:
        reader = threading.Thread(target=watch, args=(watching.watch(),))
        client.remember("Event one.")
        reader.start()
        client.remember("Event two.")
        started.wait(30)
        client.drain(1)
        client.remember("Event three.")
        client.remember("Event four.")
        reader.join(60)
    assert seen == ["Event one.", "Event two.", "Event three.", "Event four."]


def test_fifty_calls_in_one_burst_are_all_answered_and_all_there():
    async def burst() -> int:
        async with AsyncClient(scope="s") as client:
            base = [await client.remember(f"Base {n} exists.") for n in range(10)]
            writes = [client.remember(f"Burst {n} happened.") for n in range(30)]
            revisions = [client.revise(base[n].memory_id, f"Base {n} moved.", reason="burst") for n in range(5)]
            forgotten = [client.forget(base[n].memory_id) for n in range(5, 10)]
            reads = [client.recall("burst") for _ in range(10)]
            await asyncio.gather(*writes, *revisions, *forgotten, *reads)
            stats = await client.get_scope_stats()
            return stats.active, stats.superseded, stats.forgotten

    assert asyncio.run(burst()) == (35, 5, 5)


def test_a_settings_mistake_is_told_when_the_daemon_cannot_start(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HYDRAMIND_RECALL_LIMIT", "0")
    with Client() as client, pytest.raises(FailedPrecondition) as caught:
        client.get_status()
    assert caught.value.metadata["exit_code"] == "78"
    assert "recall.limit" in caught.value.message


def test_ids_of_another_scope_are_not_found():
    with Client() as client:
        theirs = client.remember("Tea is green.", "theirs").memory_id
        for call in (client.get_memory, client.explain_trust, client.trace_memory, client.forget):
            with pytest.raises(NotFound):
                call(theirs, "ours")


def test_every_read_of_the_contract_answers_typed():
    with Client(scope="s") as client:
        first = client.remember("Backups run every night.", entities=["backups"])
        second = client.remember("The audit relies on backups.", derived_from=[first.memory_id])
        newer = client.remember("Backups do not run every night.", entities=["backups"])
        assert isinstance(client.timeline(entity="backups").facts[0], m.TimelineFact)
        assert client.trace_memory(second.memory_id, hops=1).paths
        assert client.explain_trust(first.memory_id).standing_drops[0].caused_by == newer.memory_id
        assert client.list_conflicts().conflicts[0].newer.memory_id == newer.memory_id
        assert client.list_entities().entities[0].name == "backups"
        assert client.get_neighborhood(first.memory_id).total >= 2
        assert client.list_memories(statuses=["contradicted"]).memories[0].memory_id == first.memory_id
        assert client.get_scope_stats().total == 3
        assert client.verify().ok
        assert client.get_status().memories == 3
        outcomes = list(client.remember_batch([m.NewMemory("A batch came."), m.NewMemory(" ")]))
        assert [outcome.error is None for outcome in outcomes] == [True, False]

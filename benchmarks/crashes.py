"""`kill -9` at random moments in a storm of writes: what was acknowledged is there, once and whole, after every restart.

    python -m benchmarks.crashes [--crashes 100] [--writers 8] [--seed 1]

One throw-away home lives through all crashes. Eight writers remember, revise and forget, a tenth of the time against what they
said before, each call with a key of its own; the daemon is killed, sometimes again while it recovers. After each restart every
call of that round is sent once more: what was acknowledged must be answered as replayed and with the same memory, and what was
cut off must now succeed, whether it had been committed or not. Then the counts must be those that the writers expect. Every
tenth crash, and at the end, the daemon checks its files, recomputes trust and index from the log, and the export is compared
memory by memory. The figures go to `benchmarks/results/crashes.json`; a loss is printed and ends with exit code 1.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._report import disk_folder, percentiles, write_result
from hydramind_client import AsyncClient, HydraMindError

SCOPE = "storm"
PATIENCE_S = 60.0
VERIFY_EVERY = 10
SHOWN = 20


class Lost(Exception):
    """A promise was broken; the message says which."""


@dataclass
class Command:
    """One write with its own key, and what was answered; no answer: nobody knows whether it was done."""

    kind: str
    key: str
    text: str = ""
    target: str = ""
    parents: tuple[str, ...] = ()
    about: str = ""
    memory_id: str = ""

    async def send(self, client: AsyncClient) -> bool:
        """Call, and keep the memory's id; whether it was answered as replayed. Raises HydraMindError, and Lost on another id."""
        if self.kind == "remember":
            given = await client.remember(self.text, entities=[self.about], derived_from=self.parents, idempotency_key=self.key)
            memory_id, replayed = given.memory_id, given.replayed
        elif self.kind == "revise":
            revised = await client.revise(self.target, self.text, reason="moved", idempotency_key=self.key)
            memory_id, replayed = revised.memory_id, revised.replayed
        else:
            forgotten = await client.forget(self.target, reason="sold", idempotency_key=self.key)
            memory_id, replayed = forgotten.memory_id, forgotten.replayed
        if self.memory_id and memory_id != self.memory_id:
            raise Lost(f"{self.key}: acknowledged as {self.memory_id}, replayed as {memory_id}")
        self.memory_id = memory_id
        return replayed


@dataclass
class Writer:
    """One caller, and what the store must hold because of it: text and status by memory."""

    number: int
    rng: random.Random
    made: int = 0
    live: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    round: list[Command] = field(default_factory=list)
    cut_off: Command | None = None
    began: asyncio.Event = field(default_factory=asyncio.Event)

    def next(self) -> Command:
        """A new command: mostly something to remember, else a change of something of its own that is still live."""
        self.made += 1
        key, name, choice = f"w{self.number}-{self.made}", f"c{self.number}x{self.made}", self.rng.random()
        if choice < 0.6 or not self.live:
            parents = (self.rng.choice(self.live),) if self.live and self.rng.random() < 0.3 else ()
            text = f"Crate {name} stands on shelf s{self.made % 97}."
            if self.rng.random() < 0.2:  # every second one is against the one before
                name, never = f"lane{self.number}x{self.made // 2}", "not " if self.made % 2 else "always "
                text = f"Lane {name} must {never}use direct routing."
            return Command("remember", key, text, parents=parents, about=name)
        target = self.rng.choice(self.live)
        if choice < 0.85:
            return Command("revise", key, f"Crate {name} was moved to hall h{self.made}.", target)
        return Command("forget", key, target=target)

    async def storm(self, client: AsyncClient) -> None:
        """Write until the daemon dies."""
        while True:
            self.cut_off = command = self.next()
            await command.send(client)
            self.take(command)
            self.began.set()

    def take(self, command: Command) -> None:
        """Expect what was acknowledged from now on."""
        self.cut_off = None
        self.round.append(command)
        if command.target:
            self.live.remove(command.target)
            self.gone[command.target] = "forgotten" if command.kind == "forget" else "superseded"
        if command.text:
            self.live.append(command.memory_id)
            self.texts[command.memory_id] = command.text


@dataclass
class Tally:
    """What is counted over all crashes."""

    crashes: int = 0
    in_recovery: int = 0
    acknowledged: int = 0
    cut_off: int = 0
    cut_off_but_committed: int = 0
    verified: int = 0
    ready_s: list[float] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)


class Daemon:
    """The daemon of one home, started by hand and ended by kill -9."""

    def __init__(self, home: Path) -> None:
        self.home, self.process = home, None  # type: Path, subprocess.Popen[bytes] | None
        self._readiness = -1

    def start(self) -> None:
        """Execute it; `wait` says when it serves."""
        self._readiness, theirs = os.pipe()
        command = [sys.executable, "-m", "hydramind_daemon", "--home", str(self.home), "--readiness-fd", str(theirs)]
        with (self.home.parent / "daemon.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log, pass_fds=[theirs])
        os.close(theirs)

    def wait(self) -> None:
        """Return when it serves. Raises Lost when it does not open its store."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._readiness, selectors.EVENT_READ)
            said = os.read(self._readiness, 200) if selector.select(PATIENCE_S) else b"nothing in time"
        if not said.startswith(b"READY"):
            raise Lost(f"the daemon did not start again: {said.decode(errors='replace') or 'it ended'}")

    def kill(self) -> None:
        """End it as a crash does, and reap it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            os.close(self._readiness)
            self.process = None


@dataclass
class Run:
    """Many crashes of one home."""

    daemon: Daemon
    writers: list[Writer]
    rng: random.Random
    tally: Tally = field(default_factory=Tally)

    async def crash(self) -> None:
        """Kill the daemon in the middle of writing, start it again and check."""
        async with asyncio.TaskGroup() as group:
            for writer in self.writers:
                writer.began.clear()
                group.create_task(self._write_until_death(writer))
            group.create_task(self._kill_soon())
        self.daemon.start()
        if self.rng.random() < 0.1:
            await asyncio.sleep(self.rng.uniform(0.1, 0.6))
            self.daemon.kill()
            self.tally.in_recovery += 1
            self.daemon.start()
        began = time.perf_counter()
        await asyncio.to_thread(self.daemon.wait)
        self.tally.ready_s.append(time.perf_counter() - began)
        self.tally.crashes += 1
        async with self._client() as client:
            for writer in self.writers:
                await self._send_again(writer, client)
            await self._counts(client)

    async def check(self) -> None:
        """Files, trust, index and every memory."""
        async with self._client() as client:
            found = await client.verify()
            status = await client.get_status()
            if not found.ok or status.missing_sequences or status.quarantined_files:
                problems = (*found.problems, *status.missing_sequences, *status.quarantined_files)
                self.tally.losses += [f"verify: {problem}" for problem in problems]
            self.tally.verified += 1
            stored = [memory async for memory in client.export(include_all=True)]
        texts = {memory.memory_id: memory.content for memory in stored}
        status_of = {memory.memory_id: str(memory.status) for memory in stored}
        expected = {key: text for writer in self.writers for key, text in writer.texts.items()}
        self._report("content", (key for key in expected.keys() | texts.keys() if expected.get(key) != texts.get(key)))
        self._report("twice", (text for text, times in Counter(texts.values()).items() if times > 1))
        gone = {key: status for writer in self.writers for key, status in writer.gone.items()}
        self._report("status", (key for key, status in gone.items() if status_of.get(key) != status))

    def _client(self) -> AsyncClient:
        return AsyncClient(home=str(self.daemon.home), scope=SCOPE, spawn=False, timeout_s=PATIENCE_S)

    async def _write_until_death(self, writer: Writer) -> None:
        try:
            async with self._client() as client:
                await writer.storm(client)
        except HydraMindError as error:
            if self.daemon.process is not None and error.reason not in {"UNAVAILABLE", "NOT_RUNNING"}:
                self.tally.losses.append(f"{writer.cut_off}: {error.reason} {error}")
        finally:
            writer.began.set()  # whatever ended it, the kill must not wait for it

    async def _kill_soon(self) -> None:
        await asyncio.gather(*(writer.began.wait() for writer in self.writers))
        await asyncio.sleep(self.rng.uniform(0.0, 0.8))
        await asyncio.to_thread(self.daemon.kill)

    async def _send_again(self, writer: Writer, client: AsyncClient) -> None:
        self.tally.acknowledged += len(writer.round)
        for command in writer.round:
            if not await command.send(client):
                self.tally.losses.append(f"{command.key}: was acknowledged and had to be done again")
        if (unknown := writer.cut_off) is not None:
            self.tally.cut_off += 1
            self.tally.cut_off_but_committed += await unknown.send(client)
            writer.take(unknown)
        writer.round.clear()

    async def _counts(self, client: AsyncClient) -> None:
        stats = await client.get_scope_stats()
        statuses = Counter(status for writer in self.writers for status in writer.gone.values())
        expected = (sum(len(writer.texts) for writer in self.writers), statuses["superseded"], statuses["forgotten"])
        if (stats.total, stats.superseded, stats.forgotten) != expected:
            self.tally.losses.append(f"crash {self.tally.crashes}: expected {expected} memories, superseded, forgotten; {stats}")

    def _report(self, what: str, names: Iterable[str]) -> None:
        self.tally.losses += [f"{what}: {name}" for name in sorted(names)]


async def storm(home: Path, crashes: int, writers: int, seed: int) -> Tally:
    """Live through `crashes` crashes on `home`, and say what was counted; `losses` is empty when every promise held."""
    daemon = Daemon(home)
    run = Run(daemon, [Writer(number, random.Random(seed * 1_000 + number)) for number in range(writers)], random.Random(seed))
    try:
        daemon.start()
        await asyncio.to_thread(daemon.wait)
        for number in range(1, crashes + 1):
            await run.crash()
            if number % VERIFY_EVERY == 0 or number == crashes:
                await run.check()
            if run.tally.losses:
                break
    except (Lost, HydraMindError) as error:
        run.tally.losses.append(f"{type(error).__name__}: {error}")
    finally:
        daemon.kill()
    return run.tally


def result_of(tally: Tally) -> dict[str, object]:
    """The figures as they are kept."""
    return {
        "crashes": tally.crashes,
        "killed_again_while_starting": tally.in_recovery,
        "acknowledged_writes": tally.acknowledged,
        "cut_off_writes": tally.cut_off,
        "of_which_committed": tally.cut_off_but_committed,
        "full_checks": tally.verified,
        "start_to_ready": percentiles(tally.ready_s),
        "losses": tally.losses[:SHOWN],
        "lost": len(tally.losses),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crashes", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--crashes", type=int, default=100)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dir", help="folder on a disk for the throw-away home")
    parser.add_argument("--output", help="file for the result")
    given = parser.parse_args(arguments)
    folder = disk_folder(given.dir or tempfile.gettempdir())
    home = folder / "home"
    home.mkdir(mode=0o700)
    try:
        tally = asyncio.run(storm(home, given.crashes, given.writers, given.seed))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    result = result_of(tally)
    for name, value in result.items():
        print(f"{name}: {value}")
    print(write_result("crashes", {"seed": given.seed, "writers": given.writers, **result}, given.output))
    return 1 if tally.losses else 0


if __name__ == "__main__":
    sys.exit(main())

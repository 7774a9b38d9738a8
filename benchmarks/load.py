"""How fast is the daemon, beside its own empty call, in one run.

    python -m benchmarks.load [--sizes 1000,10000,100000] [--seconds 4] [--dir FOLDER] [--output FILE]

The load: fixed seed; 12 to 30 words a memory from a Zipf vocabulary of 50,000; 1,000 entities by Zipf, the top one in at least a
tenth of the memories; 1 % of writes contradict; queries of 3 to 8 terms, half with two of the 100 commonest, a third that nothing
answers. On a disk, never a tmpfs; the disk's own fdatasync is measured beside. Empty call, Remember and Recall at 1, 8 and 64
callers, interleaved; Recall again while 8 writers run. The clients run in this process, the daemon in its own.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import itertools
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from benchmarks._report import disk_folder, measure_fdatasync, percentiles, ratio, rss_bytes, write_result
from hydramind_client import AsyncClient, Client

SEED = 20261201
VOCABULARY = 50_000
ENTITIES = 1_000
CALLERS = (1, 8, 64)
SCOPE = "load"
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


class Zipf:
    """Ranks 0..n-1 with probability proportional to 1 / (rank + 1)^s."""

    def __init__(self, n: int, s: float, rng: random.Random) -> None:
        self._cumulative = list(itertools.accumulate(1 / (rank + 1) ** s for rank in range(n)))
        self._rng = rng

    def rank(self) -> int:
        return bisect.bisect_left(self._cumulative, self._rng.random() * self._cumulative[-1])


def word(rank: int) -> str:
    """A pronounceable word that is no English word, distinct for every rank."""
    letters = []
    rank += len(_SYLLABLES) ** 2
    while rank:
        rank, rest = divmod(rank, len(_SYLLABLES))
        letters.append(_SYLLABLES[rest])
    return "".join(letters)


@dataclass
class Load:
    """Everything that is written and asked, from one seed."""

    rng: random.Random = field(default_factory=lambda: random.Random(SEED))
    policies: list[tuple[str, str]] = field(default_factory=list)
    contradicting: int = 0

    def __post_init__(self) -> None:
        self.words = Zipf(VOCABULARY, 1.0, self.rng)
        self.entities = Zipf(ENTITIES, 1.0, self.rng)

    def entity(self) -> str:
        return f"service-{self.entities.rank()}"

    def filler(self, low: int, high: int) -> str:
        return " ".join(word(self.words.rank()) for _ in range(self.rng.randint(low, high)))

    def memory(self) -> tuple[str, str]:
        """(content, entity) of the next write; every hundredth contradicts an earlier one, as often one is laid for it."""
        draw = self.rng.random()
        if draw < 0.01 and self.policies:
            self.contradicting += 1
            entity, thing = self.policies.pop(self.rng.randrange(len(self.policies)))
            return f"The {entity} must not use {thing}. {self.filler(7, 24)}", entity
        entity = self.entity()
        if draw < 0.025:
            thing = word(self.words.rank())
            self.policies.append((entity, thing))
            return f"The {entity} must always use {thing}. {self.filler(6, 23)}", entity
        return self.filler(12, 30), entity

    def query(self) -> str:
        """3 to 8 terms; half with two of the 100 commonest; a third made of words that were never written."""
        n = self.rng.randint(3, 8)
        if self.rng.random() < 1 / 3:
            return " ".join(word(VOCABULARY + self.rng.randrange(10**6)) for _ in range(n))
        terms = [word(self.words.rank()) for _ in range(n)]
        if self.rng.random() < 0.5:
            terms[:2] = [word(self.rng.randrange(100)) for _ in range(2)]
        return " ".join(terms)


async def hammer(call: Callable[[], Awaitable[object]], callers: int, seconds: float) -> tuple[list[float], float]:
    """Durations of all calls that `callers` make one after the other for so long; and the time it really took."""
    samples: list[float] = []
    start = time.perf_counter()
    end = start + seconds

    async def one() -> None:
        while (begin := time.perf_counter()) < end:
            await call()
            samples.append(time.perf_counter() - begin)

    await asyncio.gather(*(one() for _ in range(callers)))
    return samples, time.perf_counter() - start


def figure(samples: list[float], took: float) -> dict[str, float]:
    """Throughput and percentiles of one measurement."""
    return {"per_s": round(len(samples) / took, 1), **percentiles(samples)}


@dataclass
class Calls:
    """The three calls."""

    client: AsyncClient
    load: Load

    async def empty(self) -> object:
        return await self.client.get_server_info()

    async def remember(self) -> object:
        content, entity = self.load.memory()
        return await self.client.remember(content, SCOPE, [entity])

    async def recall(self) -> object:
        return await self.client.recall(self.load.query(), SCOPE)


async def fill(client: AsyncClient, load: Load, wanted: int, batch: int = 500) -> None:
    """Bring the scope to `wanted` memories, in batches."""
    have = (await client.get_scope_stats(SCOPE)).total
    while have < wanted:
        n = min(batch, wanted - have)
        items = [load.memory() for _ in range(n)]
        await asyncio.gather(*(client.remember(content, SCOPE, [entity]) for content, entity in items))
        have += n
        if have % 10_000 == 0:
            print(f"  {have:,} memories", file=sys.stderr, flush=True)


async def at_size(calls: Calls, seconds: float) -> dict[str, object]:
    """All calls at all numbers of callers over the present size, interleaved."""
    result: dict[str, object] = {}
    for callers in CALLERS:
        row: dict[str, dict[str, float]] = {}
        for name in ("empty", "recall", "remember"):
            samples, took = await hammer(getattr(calls, name), callers, seconds)
            row[name] = figure(samples, took)
        empty = row["empty"]
        row["ratios"] = {
            "remember_throughput_to_empty": ratio(row["remember"]["per_s"], empty["per_s"]),
            "recall_p50_to_empty_p50": ratio(row["recall"]["p50_ms"], empty["p50_ms"]),
            "recall_p95_to_empty_p95": ratio(row["recall"]["p95_ms"], empty["p95_ms"]),
        }
        result[f"{callers} callers"] = row
        print(json.dumps({f"{callers} callers": row}), flush=True)
    result["recall under 8 writers"] = await under_writers(calls, seconds)
    return result


async def under_writers(calls: Calls, seconds: float) -> dict[str, object]:
    """Recall by one and by eight callers, idle and then beside 8 writers."""
    result: dict[str, object] = {}
    for callers in (1, 8):
        idle, took_idle = await hammer(calls.recall, callers, seconds)
        writers = asyncio.gather(hammer(calls.remember, 8, seconds), hammer(calls.recall, callers, seconds))
        (written, took_write), (busy, took_busy) = await writers
        row = {
            "idle": figure(idle, took_idle),
            "beside_writers": figure(busy, took_busy),
            "writers": figure(written, took_write),
        }
        row["ratios"] = {
            "p50": ratio(row["beside_writers"]["p50_ms"], row["idle"]["p50_ms"]),
            "p95": ratio(row["beside_writers"]["p95_ms"], row["idle"]["p95_ms"]),
        }
        result[f"{callers} readers"] = row
        print(json.dumps({f"{callers} readers": row}), flush=True)
    return result


def reopen(environ: dict[str, str]) -> dict[str, float]:
    """How long a stopped daemon takes until it answers again, and how long its store takes to open."""
    with Client(environ=environ) as client:
        client.drain()
    time.sleep(1)
    start = time.perf_counter()
    with Client(environ=environ, timeout_s=60) as client:
        client.get_server_info()
        return {"start_to_first_answer_s": round(time.perf_counter() - start, 3)}


def sizes_of(text: str) -> Iterator[int]:
    return (int(part.replace("_", "")) for part in text.split(","))


async def run(args: argparse.Namespace, environ: dict[str, str], folder: Path) -> dict[str, object]:
    load = Load()
    result: dict[str, object] = {"seed": SEED, "seconds_each": args.seconds, "fdatasync": measure_fdatasync(folder)}
    async with AsyncClient(environ=environ, timeout_s=60) as client:
        calls = Calls(client, load)
        pid = (await client.get_server_info()).pid
        for size in sizes_of(args.sizes):
            print(f"{size:,} memories", file=sys.stderr, flush=True)
            await fill(client, load, size)
            result[f"{size} memories"] = await at_size(calls, args.seconds)
        status = await client.get_status()
        result["daemon"] = {
            "rss_mib": round(rss_bytes(pid) / 2**20, 1),
            "store_mib": round(status.store_bytes / 2**20, 1),
            "wal_mib": round(status.wal_bytes / 2**20, 1),
            "memories": status.memories,
        }
        result["contradicting_writes"] = load.contradicting
    result["reopen"] = await asyncio.to_thread(reopen, environ)
    return result


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds a measurement")
    parser.add_argument("--dir", default=None, help="folder on a disk")
    parser.add_argument("--output", default=None)
    args = parser.parse_args()
    folder = disk_folder(args.dir)
    environ = {**os.environ, "HYDRAMIND_HOME": str(folder / "home")}
    try:
        result = uvloop.run(run(args, environ, folder))
        path = write_result("load", result, args.output)
        print(f"written to {path}")
    finally:
        try:
            with Client(environ={**environ, "HYDRAMIND_NO_SPAWN": "1"}) as client:
                client.drain()
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

"""What the store alone costs: a durable remember in batches of 64, and a recall, at several sizes of a scope.

    python -m benchmarks.store [--sizes 1000,10000,100000] [--folder DIR] [--no-busy]

Texts have 12-30 words of a Zipf vocabulary of 50,000; 1,000 entities by Zipf. Every figure is taken beside a thread that
computes in Python without pause (as a saturated event loop does), unless --no-busy. The folder must be on a disk.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydramind_daemon.services.ports import CommitMeta
from hydramind_daemon.stores.store import FILE_NAME, SqliteStore
from hydramind_domain import outcome_codec, rules
from hydramind_domain.commands import NewClaim, Remember
from hydramind_domain.model import Actor, EntityLink, FoundConflict, Origin, TrustRules
from hydramind_domain.plan import IndexTerms

VOCABULARY = 50_000
ENTITIES = 1_000
BATCH = 64
QUERIES = 300
COVERAGE = 0.5
BUDGET = 2_000
SEED = 20261201
SCOPE = "bench"
ACTOR = Actor("bench", "1", os.getpid(), "s")


class Zipf:
    """Numbers 0…n-1, the i-th with weight 1/(i+1)."""

    def __init__(self, n: int, rng: random.Random) -> None:
        total = 0.0
        self._sums = [total := total + 1 / (i + 1) for i in range(n)]
        self._rng = rng

    def draw(self) -> int:
        return bisect_left(self._sums, self._rng.random() * self._sums[-1])


@dataclass
class Load:
    """Texts, entities and queries, the same for a seed."""

    seed: int = SEED

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.words = Zipf(VOCABULARY, self.rng)
        self.names = Zipf(ENTITIES, self.rng)

    def claim(self, number: int) -> NewClaim:
        words = [f"w{self.words.draw():05d}" for _ in range(self.rng.randint(12, 30))]
        names = {f"entity-{self.names.draw():04d}" for _ in range(2)}
        links = tuple(EntityLink(n, n, "thing", Origin.EXPLICIT) for n in sorted(names))
        text = f"{' '.join(words)} n{number}"
        index = IndexTerms((*dict.fromkeys(words), f"n{number}"), len(words) + 1, tuple(dict.fromkeys(words[:4])))
        conflicts = (FoundConflict(number - 1, "values", "values differ"),) if number % 100 == 99 else ()
        return NewClaim(f"{number:032x}", text, text, links, conflicts, index=index)

    def query(self, number: int) -> list[str]:
        count = self.rng.randint(3, 8)
        terms = [f"w{self.words.draw():05d}" for _ in range(count)]
        if number % 2:
            terms[:2] = [f"w{self.rng.randrange(100):05d}" for _ in range(2)]
        return list(dict.fromkeys(terms))


def write(store: SqliteStore, load: Load, numbers: Sequence[int]) -> list[float]:
    """Seconds a batch of 64 durable remembers, planning included."""
    taken = []
    for start in range(0, len(numbers), BATCH):
        claims = [(n, load.claim(n)) for n in numbers[start : start + BATCH]]
        began = time.perf_counter()
        batch = store.begin()
        for number, claim in claims:
            remember(batch, number, claim)
        batch.commit()
        taken.append(time.perf_counter() - began)
    return taken


def remember(batch: object, number: int, claim: NewClaim) -> None:
    """One command, as the writer runs it."""
    at = 1_700_000_000_000_000 + number
    batch.savepoint()
    assert batch.answer(SCOPE, "remember", f"key-{number}") is None
    plan, outcome = rules.remember(batch.snapshot, Remember(SCOPE, claim, ACTOR), at, TrustRules())
    meta = CommitMeta(at, ACTOR, "remember", SCOPE, f"key-{number}", b"h" * 32, outcome_codec.encode(outcome))
    batch.apply(plan, meta)
    batch.release()


def required(terms: Sequence[str], total: int, counts: Sequence[int]) -> list[str]:
    """Terms by rarity until they weigh more than (1 - coverage) of the query."""
    import math

    weights = sorted(
        ((math.log((total + 1) / (count + 0.5)), term) for term, count in zip(terms, counts, strict=True)), reverse=True
    )
    whole = sum(weight for weight, _ in weights)
    chosen, weight = [], 0.0
    for part, term in weights:
        chosen.append(term)
        weight += part
        if weight > (1 - COVERAGE) * whole:
            break
    return chosen


def recall(store: SqliteStore, terms: list[str]) -> tuple[float, int, bool]:
    """Seconds of one recall's reads: frequencies, candidates, ten records with links and contests."""
    began = time.perf_counter()
    with store.read() as view:
        total, counts = view.frequencies(SCOPE, terms)
        found = view.recall_rows(SCOPE, terms, required(terms, total, counts), [], BUDGET)
        best = [row.key for row in sorted(found.rows, key=lambda row: -row.mask.bit_count())[:10]]
        view.records(best)
        view.links(best)
        view.contests(best)
    return time.perf_counter() - began, len(found.rows), found.truncated


def percentiles(values: Sequence[float], scale: float) -> dict[str, float]:
    ordered = sorted(values)
    return {f"p{p}": round(ordered[min(len(ordered) - 1, len(ordered) * p // 100)] * scale, 1) for p in (50, 95, 99)}


def fdatasync_ms(folder: Path) -> float:
    """Median time of writing and syncing 4 KiB in the folder."""
    path = folder / "sync-probe"
    taken = []
    with path.open("wb", buffering=0) as file:
        for _ in range(50):
            file.write(b"x" * 4096)
            began = time.perf_counter()
            os.fdatasync(file.fileno()) if hasattr(os, "fdatasync") else os.fsync(file.fileno())
            taken.append(time.perf_counter() - began)
    path.unlink()
    return round(sorted(taken)[25] * 1e3, 2)


def rss_mib() -> float:
    """Resident memory of this process."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except OSError:
        import resource

        return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 1)
    return round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1)


def spinning(stop: threading.Event) -> None:
    """A thread that always wants the interpreter."""
    number = 0
    while not stop.is_set():
        for step in range(2_000):
            number += step


def measure(store: SqliteStore, load: Load, numbers: Iterator[int], folder: Path) -> dict[str, object]:
    batches = write(store, load, list(itertools.islice(numbers, 20 * BATCH)))
    queries = [load.query(i) for i in range(QUERIES)]
    reads = [recall(store, terms) for terms in queries]
    return {
        "remember_us": percentiles([t / BATCH for t in batches], 1e6),
        "remembers_a_second": round(BATCH * len(batches) / sum(batches)),
        "recall_ms": percentiles([t for t, _, _ in reads], 1e3),
        "candidates": percentiles([float(n) for _, n, _ in reads], 1),
        "truncated": sum(cut for _, _, cut in reads),
        "file_mib": round((folder / FILE_NAME).stat().st_size / 2**20, 1),
        "wal_mib": round((folder / f"{FILE_NAME}-wal").stat().st_size / 2**20, 1),
        "rss_mib": rss_mib(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--folder", default="benchmarks/results")
    parser.add_argument("--no-busy", action="store_true")
    chosen = parser.parse_args()
    base = Path(chosen.folder)
    base.mkdir(parents=True, exist_ok=True)
    if "tmpfs" in subprocess.run(["df", "-T", str(base)], capture_output=True, text=True, check=False).stdout:
        sys.exit("the folder is in memory (tmpfs); give one on a disk")
    sys.setswitchinterval(0.0005)
    folder = Path(tempfile.mkdtemp(dir=base))
    try:
        result = run(folder, [int(size) for size in chosen.sizes.split(",")], busy=not chosen.no_busy)
    finally:
        shutil.rmtree(folder)
    print(json.dumps(result, indent=1))
    (base / "store.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def run(folder: Path, sizes: Sequence[int], *, busy: bool) -> dict[str, object]:
    load, store, numbers = Load(), SqliteStore.open(folder / FILE_NAME), itertools.count(1)
    result: dict[str, object] = {
        "machine": f"{platform.machine()} {os.cpu_count()} cores, Python {platform.python_version()}",
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
        ).stdout.strip(),
        "fdatasync_ms": fdatasync_ms(folder),
        "busy_thread": busy,
    }
    written = 0
    for size in sizes:
        fill = max(0, size - written)
        write(store, load, list(itertools.islice(numbers, fill)))
        store.maintain()
        stop = threading.Event()
        thread = threading.Thread(target=spinning, args=(stop,))
        if busy:
            thread.start()
        try:
            result[str(size)] = measure(store, load, numbers, folder)
        finally:
            stop.set()
            if busy:
                thread.join()
        written = size + 20 * BATCH
    store.close()
    began = time.perf_counter()
    SqliteStore.open(folder / FILE_NAME).close()
    result["open_s"] = round(time.perf_counter() - began, 3)
    return result


if __name__ == "__main__":
    main()

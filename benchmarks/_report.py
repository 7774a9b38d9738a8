"""What every benchmark needs: percentiles, the machine, a place for results that is on a disk."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
ROOT = Path(__file__).parent.parent


def percentiles(samples_s: Sequence[float]) -> dict[str, float]:
    """p50, p95, p99 and mean of durations, in milliseconds."""
    if not samples_s:
        return {"n": 0}
    ordered = sorted(samples_s)

    def at(share: float) -> float:
        return round(1_000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))], 4)

    return {"n": len(ordered), "p50_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99),
            "mean_ms": round(1_000 * statistics.fmean(ordered), 4)}  # fmt: skip


def ratio(one: float, other: float) -> float:
    """Quotient with three digits; 0 when there is nothing to compare with."""
    return round(one / other, 3) if other else 0.0


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine() -> dict[str, object]:
    """Where a number was measured."""
    return {
        "cores": os.cpu_count(),
        "arch": platform.machine(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "commit": _git("rev-parse", "--short", "HEAD") + ("+changes" if _git("status", "--porcelain", "-uno") else ""),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def write_result(name: str, result: dict[str, object], output: str | None = None) -> Path:
    """Keep a result beside the benchmarks, or where `output` says."""
    path = Path(output) if output else RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"benchmark": name, "machine": machine(), **result}, indent=2, ensure_ascii=False) + "\n")
    return path


def filesystem_of(folder: Path) -> str:
    """Type of the file system that holds a folder; empty when the system does not say."""
    best, kind = "", ""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    for line in mounts:
        _, point, fs, *_ = line.split()
        if str(folder).startswith(point.rstrip("/") + "/") and len(point) >= len(best):
            best, kind = point, fs
    return kind


def disk_folder(parent: str | None = None) -> Path:
    """A new folder on a disk. Raises SystemExit on tmpfs, where fsync costs nothing and every figure would flatter."""
    base = Path(parent or os.environ.get("HYDRAMIND_BENCH_DIR") or tempfile.gettempdir()).resolve()
    base.mkdir(parents=True, exist_ok=True)
    if filesystem_of(base) in {"tmpfs", "ramfs"}:
        raise SystemExit(f"{base} is a tmpfs; name a folder on a disk with --dir or HYDRAMIND_BENCH_DIR")
    return Path(tempfile.mkdtemp(prefix="hydramind-bench-", dir=base))


def measure_fdatasync(folder: Path, rounds: int = 200) -> dict[str, float]:
    """What one 4 KiB append with fdatasync costs on this disk now."""
    path = folder / "fdatasync.probe"
    samples = []
    with path.open("wb", buffering=0) as file:
        for _ in range(rounds):
            start = time.perf_counter()
            file.write(b"x" * 4096)
            getattr(os, "fdatasync", os.fsync)(file.fileno())
            samples.append(time.perf_counter() - start)
    path.unlink()
    return percentiles(samples)


def rss_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it cannot be read."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0

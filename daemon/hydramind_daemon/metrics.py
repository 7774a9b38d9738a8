"""Numbers of the daemon in the Prometheus text format, written to a file for a collector of text files.

A file and not a port: the daemon listens on one Unix socket and nowhere else.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hydramind_daemon.services.admin import DaemonStatus, ServerInfo

STATES = ("serving", "read_only", "degraded", "draining")


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric: its name without prefix, what it is, its value, and labels as they stand in the text."""

    name: str
    text: str
    value: float
    labels: str = ""
    kind: str = "gauge"


def samples(info: ServerInfo, status: DaemonStatus) -> Iterator[Sample]:
    """Every metric, in order; samples of one name follow each other."""
    store = status.store
    build = f'{{version="{info.version}",build_id="{info.build_id}"}}'
    yield Sample("build_info", "Always 1; the labels tell the build.", 1, build)
    yield Sample("start_time_seconds", "When the daemon started, in seconds since the epoch.", info.started_at / 1e6)
    for state in STATES:
        yield Sample("state", "1 for the state that holds now.", status.state == state, f'{{state="{state}"}}')
    yield Sample("commit_sequence", "Commits since the store was made.", store.sequence, kind="counter")
    yield Sample("memories", "Memories of every status.", store.memories)
    yield Sample("scopes", "Scopes.", store.scopes)
    yield Sample("commands_waiting", "Commands that wait for their commit.", status.queue_length)
    yield Sample("cascades_open", "Cascades that have not finished.", store.open_cascades)
    yield Sample("watch_streams", "Watch streams open.", status.watchers)
    yield Sample("scope_locks_held", "Scopes whose lock the daemon holds.", len(status.locked_scopes))
    yield Sample("store_bytes", "Size of the store file.", store.store_bytes)
    yield Sample("wal_bytes", "Size of the write-ahead log.", store.wal_bytes)
    yield Sample("disk_free_bytes", "Free on the disk of the store.", status.disk_free_bytes)
    yield Sample("resident_memory_bytes", "Resident memory of the daemon.", status.rss_bytes)
    yield Sample("quarantined_files", "Files that were set aside as damaged.", len(store.quarantined_files))


def render(info: ServerInfo, status: DaemonStatus) -> str:
    """The text of the file."""
    lines: list[str] = []
    headed = ""
    for sample in samples(info, status):
        name = f"hydramind_{sample.name}" + ("_total" if sample.kind == "counter" else "")
        if name != headed:
            lines += [f"# HELP {name} {sample.text}", f"# TYPE {name} {sample.kind}"]
            headed = name
        lines.append(f"{name}{sample.labels} {float(sample.value):.17g}")
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Replace the file in one step: a collector never reads half of it. Raises OSError."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.chmod(0o644)  # the collector is another user, and there is no content in it
    beside.replace(path)

"""Disks that fail: one that refuses writes, one that remembers what was never synced."""

# Reason: the methods have SQLite's names.
# ruff: noqa: N802

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import apsw


@dataclass
class Faults:
    """Fails with `error` from the `after`-th write or sync on, until `after` is None again. Counts them."""

    error: type[apsw.Error] = apsw.FullError
    after: int | None = None
    count: int = 0

    def check(self) -> None:
        self.count += 1
        if self.after is not None and self.count >= self.after:
            raise self.error("as the test wants it")


@dataclass(frozen=True)
class Op:
    """What reached a file: kind is write, truncate, sync, delete or ack."""

    kind: str
    path: str = ""
    offset: int = 0
    data: bytes = b""


@dataclass
class Disk:
    """Everything that happened, in order."""

    faults: Faults = field(default_factory=Faults)
    ops: list[Op] = field(default_factory=list)

    def acknowledged(self, sequence: int) -> None:
        self.ops.append(Op("ack", offset=sequence))


class FaultyVFS(apsw.VFS):
    """The default VFS with a `Disk` that sees and may refuse every write."""

    def __init__(self, name: str, disk: Disk) -> None:
        self.disk = disk
        super().__init__(name, "")

    def xOpen(self, name, flags):
        return FaultyFile(name, flags, self.disk)

    def xDelete(self, name, sync):
        self.disk.ops.append(Op("delete", name))
        super().xDelete(name, sync)


class FaultyFile(apsw.VFSFile):
    """One file of it."""

    def __init__(self, name, flags, disk: Disk) -> None:
        self.disk = disk
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data, offset):
        self.disk.faults.check()
        super().xWrite(data, offset)
        self.disk.ops.append(Op("write", self.path, offset, bytes(data)))

    def xTruncate(self, size):
        self.disk.faults.check()
        super().xTruncate(size)
        self.disk.ops.append(Op("truncate", self.path, size))

    def xSync(self, flags):
        self.disk.faults.check()
        super().xSync(flags)
        self.disk.ops.append(Op("sync", self.path))


def after_power_cut(ops: list[Op], rng: random.Random) -> tuple[dict[str, bytes], int]:
    """Files as a power cut after these operations may leave them, and the last acknowledged sequence.

    Of what was not synced, any part may be there, in any order, sector by sector.
    """
    durable: dict[str, bytearray] = {}
    pending: dict[str, list[Op]] = {}
    acknowledged = 0
    for op in ops:
        match op.kind:
            case "ack":
                acknowledged = op.offset
            case "delete":
                durable.pop(op.path, None)
                pending.pop(op.path, None)
            case "sync":
                for late in pending.pop(op.path, []):
                    put(durable.setdefault(op.path, bytearray()), late)
            case _:
                pending.setdefault(op.path, []).append(op)
    for path, late in pending.items():
        sectors = [part for op in late for part in parts(op)]
        kept = [part for part in sectors if rng.random() < 0.5]
        if rng.random() < 0.5:
            rng.shuffle(kept)
        for part in kept:
            put(durable.setdefault(path, bytearray()), part)
    return {path: bytes(data) for path, data in durable.items()}, acknowledged


def parts(op: Op, sector: int = 512) -> list[Op]:
    if op.kind != "write":
        return [op]
    return [Op("write", op.path, op.offset + i, op.data[i : i + sector]) for i in range(0, len(op.data), sector)]


def put(content: bytearray, op: Op) -> None:
    if op.kind == "truncate":
        del content[op.offset :]
        return
    if len(content) < op.offset:
        content.extend(bytes(op.offset - len(content)))
    content[op.offset : op.offset + len(op.data)] = op.data


def lay_out(files: dict[str, bytes], folder: Path) -> None:
    """Write the files under their own names into a folder."""
    for path, data in files.items():
        (folder / Path(path).name).write_bytes(data)

"""Looking into a write-ahead log before SQLite does.

SQLite reads it up to the first frame whose checksum is wrong and takes that for the end. After a crash that is right: what
follows was never acknowledged. After bad luck with the disk it is not, and nobody would know. So this module looks whether
whole commits follow the first bad frame. (Format: sqlite.org/fileformat2.html, "The Write-Ahead Log".)
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

_HEADER: Final = 32
_FRAME_HEADER: Final = 24
_MAGIC: Final = {0x377F0682: "<", 0x377F0683: ">"}


@dataclass(frozen=True, slots=True)
class WalReport:
    """Commits that SQLite will read, commits that follow damage, and whether the file ends inside a frame."""

    commits: int
    commits_after_damage: int
    cut_short: bool

    @property
    def damaged(self) -> bool:
        """Whether something is worth keeping for a person to look at."""
        return self.commits_after_damage > 0 or self.cut_short


def inspect(path: Path) -> WalReport:
    """Read the log at `path`. A file that is missing or shorter than its header holds nothing."""
    try:
        with path.open("rb") as file:
            return _inspect(file)
    except FileNotFoundError:
        return WalReport(0, 0, cut_short=False)


def _inspect(file: BinaryIO) -> WalReport:
    header = file.read(_HEADER)
    if len(header) < _HEADER:
        return WalReport(0, 0, cut_short=False)
    magic, _, page_size, _, salt_1, salt_2, sum_1, sum_2 = struct.unpack(">8I", header)
    order = _MAGIC.get(magic, ">")
    sums = _checksum(order, header[:24], (0, 0))
    intact = magic in _MAGIC and sums == (sum_1, sum_2)
    if not intact and not _plausible(page_size):
        page_size = 4_096
    commits = after = 0
    while frame := file.read(_FRAME_HEADER + page_size):
        if len(frame) < _FRAME_HEADER + page_size:
            return WalReport(commits, after, cut_short=frame[8:16] == header[16:24])
        _, size_after_commit, frame_salt_1, frame_salt_2, sum_1, sum_2 = struct.unpack(">6I", frame[:_FRAME_HEADER])
        ours = (frame_salt_1, frame_salt_2) == (salt_1, salt_2)
        sums = _checksum(order, frame[:8] + frame[_FRAME_HEADER:], sums) if intact else sums
        intact = intact and ours and sums == (sum_1, sum_2)
        commits += intact and size_after_commit > 0
        after += not intact and ours and size_after_commit > 0
    return WalReport(commits, after, cut_short=False)


def _plausible(page_size: int) -> bool:
    return 512 <= page_size <= 65_536 and page_size & (page_size - 1) == 0


def _checksum(order: str, data: bytes, start: tuple[int, int]) -> tuple[int, int]:
    one, two = start
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for i in range(0, len(words), 2):
        one = (one + words[i] + two) & 0xFFFFFFFF
        two = (two + words[i + 1] + one) & 0xFFFFFFFF
    return one, two

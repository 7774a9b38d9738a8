"""A Bloom filter of keys that were ever written: what it has never seen needs no question to the database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

_BITS_PER_ITEM: Final = 12
_PROBES: Final = 4
_LEAST: Final = 1 << 14


class SeenFilter:
    """May say that it saw what it never did (about 0.5 % when full), never the reverse."""

    __slots__ = ("_bits", "_count", "_mask")

    def __init__(self, expected: int) -> None:
        size = _LEAST
        while size < expected * _BITS_PER_ITEM:
            size *= 2
        self._bits = bytearray(size // 8)
        self._mask = size - 1
        self._count = 0

    @classmethod
    def of(cls, items: Iterable[bytes], expected: int) -> SeenFilter:
        """A filter that saw these, with room for as many again."""
        made = cls(2 * expected)
        for item in items:
            made.add(item)
        return made

    @property
    def full(self) -> bool:
        """Whether it holds so much that it should be made anew, larger."""
        return self._count * _BITS_PER_ITEM > self._mask + 1

    def _places(self, item: bytes) -> tuple[int, ...]:
        number = int.from_bytes(hashlib.blake2b(item, digest_size=16).digest(), "big")
        return tuple((number >> 32 * i) & self._mask for i in range(_PROBES))

    def add(self, item: bytes) -> None:
        """Remember an item."""
        self._count += 1
        for place in self._places(item):
            self._bits[place >> 3] |= 1 << (place & 7)

    def __contains__(self, item: bytes) -> bool:
        return all(self._bits[place >> 3] >> (place & 7) & 1 for place in self._places(item))

"""A Bloom filter of keys that were ever written: what it has never seen needs no question to the database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_BITS_PER_ITEM: Final = 12
_PROBES: Final = 4
_LEAST_ITEMS: Final = 4_096
_HASH: Final = (1 << 64) - 1


class _Layer:
    """Room for a fixed number of items."""

    __slots__ = ("_bits", "_mask", "room", "size")

    def __init__(self, expected: int) -> None:
        size = 1 << (expected * _BITS_PER_ITEM - 1).bit_length()
        self._bits = bytearray(size // 8)
        self._mask = size - 1
        self.size = self.room = size // _BITS_PER_ITEM

    def add(self, number: int) -> None:
        """Remember an item by its 64-bit hash."""
        bits, mask, step = self._bits, self._mask, number >> 32 | 1
        self.room -= 1
        for _ in range(_PROBES):
            place = number & mask
            bits[place >> 3] |= 1 << (place & 7)
            number += step

    def holds(self, number: int) -> bool:
        """Whether an item may have been added."""
        bits, mask, step = self._bits, self._mask, number >> 32 | 1
        for _ in range(_PROBES):
            place = number & mask
            if not bits[place >> 3] >> (place & 7) & 1:
                return False
            number += step
        return True


class SeenFilter:
    """May say that it saw what it never did (below 1 %), never the reverse. Grows by layers of twice the size.

    Python's own hash of bytes is seeded a process, which is as long as a filter lives.
    """

    __slots__ = ("_layers",)

    def __init__(self, items: Iterable[bytes] = (), expected: int = 0) -> None:
        self._layers = [_Layer(max(_LEAST_ITEMS, 2 * expected))]
        for item in items:
            self.add(item)

    def add(self, item: bytes) -> None:
        """Remember an item."""
        if self._layers[-1].room <= 0:
            self._layers.append(_Layer(2 * self._layers[-1].size))
        self._layers[-1].add(hash(item) & _HASH)

    def __contains__(self, item: bytes) -> bool:
        number = hash(item) & _HASH
        return any(layer.holds(number) for layer in self._layers)

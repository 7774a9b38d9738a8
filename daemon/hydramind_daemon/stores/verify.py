"""x"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hydramind_daemon.stores.connection import Durability


def problems(path: Path, durability: Durability) -> Iterator[str]:
    """X"""
    yield from ()

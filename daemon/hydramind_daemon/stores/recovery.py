"""Opening what a crash, a bad disk or an editor left behind."""

from __future__ import annotations

from pathlib import Path

from hydramind_daemon.stores.connection import Durability


def check_write_ahead_log(path: Path) -> None:
    """Placeholder"""


def check_main_file(path: Path, durability: Durability) -> None:
    """Placeholder"""

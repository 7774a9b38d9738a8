"""The store under every configuration that it is made in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hydramind_daemon.services.ports import Store
from hydramind_daemon.stores.store import FILE_NAME, SqliteStore
from tests.contract.history import History

ADAPTERS = ("file", "ephemeral")


def make(kind: str, folder: Path) -> Store:
    return SqliteStore.open(folder / FILE_NAME) if kind == "file" else SqliteStore.ephemeral()


@pytest.fixture(params=ADAPTERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = make(request.param, tmp_path)
    yield made
    made.close()


@pytest.fixture
def history(store: Store) -> History:
    return History(store)


@pytest.fixture
def fresh() -> Iterator[Callable[[], SqliteStore]]:
    """Empty stores that are closed at the end."""
    made: list[SqliteStore] = []

    def one() -> SqliteStore:
        made.append(SqliteStore.ephemeral())
        return made[-1]

    yield one
    for store in made:
        store.close()

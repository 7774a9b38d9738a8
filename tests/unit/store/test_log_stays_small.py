"""The write-ahead log starts over however long somebody would like to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramind_daemon.stores import store as store_module
from hydramind_daemon.stores.files import companions, size_of
from hydramind_daemon.stores.store import FILE_NAME, SqliteStore
from hydramind_domain.errors import Unavailable
from tests.contract.history import History

RESTART_PAGES = 128
FRAME = 4_096 + 24


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """A store that checkpoints after half a megabyte."""
    monkeypatch.setattr(store_module, "_PASSIVE_PAGES", RESTART_PAGES // 2)
    monkeypatch.setattr(store_module, "_RESTART_PAGES", RESTART_PAGES)
    monkeypatch.setattr(store_module, "_RESTART_WAIT_MS", 1)
    made = SqliteStore.open(tmp_path / FILE_NAME)
    yield made
    made.close()


def write(store: SqliteStore, batches: int) -> int:
    """Batches of some fifty pages; the largest size of the log between them."""
    largest = 0
    for number in range(batches):
        history = History(store)
        for item in range(8):
            history.remember(f"m{store.status().sequence}-{number}-{item}", f"n{number} i{item} " + "long text " * 2_000)
        history.commit()
        largest = max(largest, size_of(companions(store._path)[0]))
    return largest


def test_the_log_starts_over_under_load(store: SqliteStore) -> None:
    assert write(store, 20) < 3 * RESTART_PAGES * FRAME


def test_a_reader_in_time_keeps_its_moment(store: SqliteStore) -> None:
    write(store, 1)
    with store.read() as view:
        write(store, 3)
        assert view.sequence == 8
        assert len(view.export_keys("a", 0, 100, every_status=True)) == 8


def test_an_overdue_reader_is_told_so_and_does_not_hold_the_log(store: SqliteStore) -> None:
    write(store, 1)
    with store.read() as view:
        connection = view._connection
        store._readers._busy[connection] = 0.0
        view._ends_at = 0.0
        assert write(store, 20) < 3 * RESTART_PAGES * FRAME
        assert not connection.in_transaction
        with pytest.raises(Unavailable) as refused:
            view.find("m1")
        assert refused.value.reason == "READ_TOO_LONG"

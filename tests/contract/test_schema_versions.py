"""Stores of every schema version that was ever released open, and mean what they meant."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hydramind_daemon.stores.schema import migrations
from hydramind_daemon.stores.store import FILE_NAME, SqliteStore
from hydramind_domain.indexing import index_terms
from hydramind_domain.model import Status
from tests.contract.history import History

FIXTURES = Path(__file__).parents[1] / "fixtures" / "stores"
VERSIONS = sorted(FIXTURES.glob("schema-*.db.gz"))


def test_there_is_a_fixture_of_every_version() -> None:
    assert [int(path.name[7:11]) for path in VERSIONS] == list(migrations())


@pytest.mark.parametrize("fixture", VERSIONS, ids=lambda path: path.name)
def test_a_store_of_each_version_opens_with_its_facts_and_takes_new_ones(fixture: Path, tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(gzip.decompress(fixture.read_bytes()))
    store = SqliteStore.open(tmp_path / FILE_NAME)
    try:
        with store.read() as view:
            keys = view.export_keys(None, 0, 100, every_status=True)
            found = {r.memory_id: (r.trust, r.status) for r in view.records(keys).values()}
            assert view.project_scope("/somewhere/app", "other") == "app"
            assert view.stored_answer("a", "remember", "first") is not None
        assert found == {
            "policy": (0.6, Status.CONTRADICTED),
            "checklist": (0.85, Status.ACTIVE),
            "runbook": (0.7, Status.SUPERSEDED),
            "against": (1.0, Status.ACTIVE),
            "runbook-2": (1.0, Status.ACTIVE),
            "secret": (1.0, Status.PURGED),
            "gone": (1.0, Status.FORGOTTEN),
        }
        history = History(store, index=index_terms)
        history.remember("new", "Something else entirely.")
        history.commit()
        assert store.status().schema_version == max(migrations())
        store.rebuild()  # words may be cut otherwise today than when the fixture was made
        assert list(store.verify()) == []
    finally:
        store.close()

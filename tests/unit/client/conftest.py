"""A fake daemon where a client of this test would look."""

from collections.abc import Iterator

import pytest

from hydramind import local
from hydramind_client.client import Client
from tests.unit.client.fake_daemon import FakeDaemon


@pytest.fixture
def daemon(hydramind_home) -> Iterator[FakeDaemon]:
    from pathlib import Path

    with FakeDaemon(Path(local.addresses(home=str(hydramind_home)).socket)) as running:
        yield running


@pytest.fixture
def client(daemon: FakeDaemon) -> Iterator[Client]:
    with Client(spawn=False, scope="acme") as made:
        yield made

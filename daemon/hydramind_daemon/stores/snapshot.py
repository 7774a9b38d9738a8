"""The state that commands are planned on: the database inside the write transaction, and what is applied but not written yet.

What a batch has not written yet are new memories only (batch.py). A question that one of them could change writes them first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import apsw

from hydramind_daemon.stores.connection import dumps
from hydramind_daemon.stores.read_sql import PLAIN
from hydramind_daemon.stores.reads import GraphReads
from hydramind_daemon.stores.writer import claim_item
from hydramind_domain.errors import HydraMindError
from hydramind_domain.model import Drop, EntityLink, MemoryRecord, MemoryState


class Pending(Protocol):
    """What the snapshot asks of its batch."""

    @property
    def connection(self) -> apsw.Connection:
        """The write connection."""
        ...

    def failed(self, error: apsw.Error) -> HydraMindError:
        """End the batch because of an error of the store; that error, to be raised."""
        ...

    def next_key(self) -> int:
        """Key of the next new memory."""
        ...

    def written_key(self) -> int:
        """Largest key that is written."""
        ...

    def holds(self, memory_id: str) -> bool:
        """Whether a new memory with this id is not written yet."""
        ...

    def may_have_seen(self, item: bytes) -> bool:
        """Whether the filter of claims and idempotency keys may hold an item."""
        ...

    def write_pending(self) -> None:
        """Write what is applied."""
        ...


class BatchSnapshot:
    """`Snapshot` inside a write transaction."""

    def __init__(self, batch: Pending) -> None:
        self._batch = batch
        self._reads = GraphReads(batch.connection, batch.failed)

    def _settled(self, keys: Collection[int] = ()) -> GraphReads:
        """Reads, once everything that the keys (all, when none are named) depend on is written."""
        written = self._batch.written_key()
        if not keys or any(key > written for key in keys):
            self._batch.write_pending()
        return self._reads

    def next_key(self) -> int:
        """Key for the next new memory."""
        return self._batch.next_key()

    def find(self, memory_id: str) -> MemoryRecord | None:
        """A memory by external id."""
        if self._batch.holds(memory_id):
            self._batch.write_pending()
        return self._reads.find(memory_id)

    def record(self, key: int) -> MemoryRecord:
        """A memory that exists."""
        return self._settled([key]).records([key])[key]

    def states(self, keys: Collection[int]) -> Mapping[int, MemoryState]:
        """Current states."""
        return self._settled(keys).current_states(keys) if keys else {}

    def memory_ids(self, keys: Collection[int]) -> Mapping[int, str]:
        """External ids."""
        return self._settled(keys).ids(keys) if keys else {}

    def dependents(self, keys: Collection[int]) -> Mapping[int, Sequence[int]]:
        """Children by DERIVED_FROM, ascending."""
        return self._settled().dependents(keys) if keys else {}

    def parents(self, key: int) -> Sequence[int]:
        """Parents by DERIVED_FROM, ascending."""
        return self._settled([key]).parents([key]).get(key, ())

    def entities(self, key: int) -> Sequence[EntityLink]:
        """Entities, in the order in which they were linked."""
        return self._settled([key]).links([key]).get(key, ())

    def known_entities(self, scope: str, norms: Collection[str]) -> Mapping[str, str]:
        """Norm → first-written name, of those known."""
        return self._settled().known_entities(scope, norms) if norms else {}

    def standing_drops_on(self, keys: Collection[int]) -> Mapping[int, Sequence[Drop]]:
        """Standing drops on each memory."""
        if not keys:
            return {}
        found: defaultdict[int, list[Drop]] = defaultdict(list)
        for row in self._reads.ask(PLAIN["standing drops on"], {"keys": dumps(list(keys))}):
            found[row[2]].append(Drop(*row))
        return {key: sorted(drops, key=_drop_order) for key, drops in found.items()}

    def standing_drops_by(self, cause: int) -> Sequence[Drop]:
        """Standing drops caused by a memory, by (hop, memory)."""
        found = self._reads.ask(PLAIN["standing drops by"], {"key": cause})
        return sorted((Drop(*row) for row in found), key=lambda drop: (drop.hop, drop.memory))

    def dropped_ever_by(self, cause: int) -> Collection[int]:
        """Keys that ever got a drop from this cause."""
        return set(self._reads.ask(PLAIN["dropped ever"], {"key": cause}))

    def contradicted_by(self, cause: int) -> Sequence[int]:
        """Older memories with a standing contradiction from `cause`, ascending."""
        return sorted(self._reads.ask(PLAIN["older"], {"key": cause}))

    def contradicting(self, key: int) -> Sequence[int]:
        """Newer memories with a standing contradiction of `key`, ascending."""
        return sorted(self._reads.ask(PLAIN["newer"], {"key": key}))

    def successor(self, key: int) -> int | None:
        """The memory that replaced this one."""
        found = self._reads.successors([key]).get(key)
        return None if found is None else found[0]

    def active_duplicate(self, scope: str, claim_hash: bytes) -> int | None:
        """First active memory of the scope with this claim hash."""
        if not self._batch.may_have_seen(claim_item(claim_hash)):
            return None
        return self._settled().active_duplicate(scope, claim_hash)

    def open_cascades(self) -> Sequence[int]:
        """Causes whose cascades go on, oldest first."""
        return self._reads.open_cascades()

    def conflict_candidates(
        self, scope: str, entity_norms: Collection[str], slot_terms: Collection[str], limit: int
    ) -> tuple[Sequence[int], int]:
        """Candidates of the conflict check."""
        return self._settled().conflict_candidates(scope, entity_norms, slot_terms, limit)


def _drop_order(drop: Drop) -> tuple[int, int, int]:
    return drop.seq, drop.cause, drop.hop

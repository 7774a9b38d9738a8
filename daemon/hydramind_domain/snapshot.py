"""What rules may ask of the state they plan on. A store implements it inside its write transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from hydramind_domain.model import Drop, EntityLink, MemoryRecord, MemoryState


class Snapshot(Protocol):
    """A consistent state, including what earlier commands of the same batch did."""

    def next_key(self) -> int:
        """Key for the next new memory: one more than the largest ever used, also across scopes."""
        ...

    def find(self, memory_id: str) -> MemoryRecord | None:
        """A memory of any scope and status by external id."""
        ...

    def record(self, key: int) -> MemoryRecord:
        """A memory that exists."""
        ...

    def states(self, keys: Collection[int]) -> Mapping[int, MemoryState]:
        """Current states (without content) of memories that exist."""
        ...

    def memory_ids(self, keys: Collection[int]) -> Mapping[int, str]:
        """External ids of memories that exist."""
        ...

    def dependents(self, keys: Collection[int]) -> Mapping[int, Sequence[int]]:
        """Children by DERIVED_FROM (child → parent) of each key that has any, ascending, of every status."""
        ...

    def parents(self, key: int) -> Sequence[int]:
        """Parents by DERIVED_FROM, ascending."""
        ...

    def entities(self, key: int) -> Sequence[EntityLink]:
        """Entities of a memory, in the order in which they were linked."""
        ...

    def known_entities(self, scope: str, norms: Collection[str]) -> Mapping[str, str]:
        """Norm → first-written name, of those entities that the scope already knows."""
        ...

    def standing_drops_on(self, keys: Collection[int]) -> Mapping[int, Sequence[Drop]]:
        """Drops on each memory that no event has withdrawn; keys without one are absent."""
        ...

    def standing_drops_by(self, cause: int) -> Sequence[Drop]:
        """Drops caused by a memory that no event has withdrawn, by (hop, memory)."""
        ...

    def dropped_ever_by(self, cause: int) -> Collection[int]:
        """Keys that ever got a drop (standing or withdrawn) from this cause."""
        ...

    def contradicted_by(self, cause: int) -> Sequence[int]:
        """Older memories with a standing CONTRADICTS edge from `cause`, ascending."""
        ...

    def contradicting(self, key: int) -> Sequence[int]:
        """Newer memories with a standing CONTRADICTS edge to `key`, ascending."""
        ...

    def successor(self, key: int) -> int | None:
        """The memory that replaced this one."""
        ...

    def active_duplicate(self, scope: str, claim_hash: bytes) -> int | None:
        """First active memory of the scope with this claim hash."""
        ...

    def open_cascades(self) -> Sequence[int]:
        """Causes whose cascades go on, oldest first."""
        ...

    def conflict_candidates(
        self, scope: str, entity_norms: Collection[str], slot_terms: Collection[str], limit: int
    ) -> tuple[Sequence[int], int]:
        """Active memories of the scope that share an entity and a slot term, newest first; and how many more there are."""
        ...

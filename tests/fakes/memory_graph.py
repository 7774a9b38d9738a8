"""A memory graph in dictionaries: the simplest Snapshot there can be, and the reference that stores are held against."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hydramind_domain.model import Drop, EntityLink, MemoryRecord, MemoryState, Status
from hydramind_domain.plan import Plan


@dataclass
class MemoryGraph:
    """Implements hydramind_domain.snapshot.Snapshot; `apply` does what a store does with a plan."""

    memories: dict[int, MemoryRecord] = field(default_factory=dict)
    links: dict[int, tuple[EntityLink, ...]] = field(default_factory=dict)
    derived: set[tuple[int, int]] = field(default_factory=set)
    drops: dict[int, Drop] = field(default_factory=dict)
    withdrawn: set[int] = field(default_factory=set)
    contradictions: set[tuple[int, int]] = field(default_factory=set)
    successors: dict[int, int] = field(default_factory=dict)
    cascades: list[int] = field(default_factory=list)
    candidates: dict[str, tuple[int, ...]] = field(default_factory=dict)
    seq: int = 0

    def apply(self, plan: Plan) -> int:
        self.seq += 1
        for added in plan.added:
            self.memories[added.key] = MemoryRecord(
                added.key,
                added.memory_id,
                added.scope,
                added.content,
                added.source,
                added.actor,
                added.created_at,
                self.seq,
                added.valid_from,
                added.suspicious,
                added.claim_hash,
                added.state,
            )
            self.links[added.key] = added.entities
            self.derived |= {(added.key, parent) for parent in added.parents}
        self.derived |= set(plan.derived)
        for state in plan.states:
            self.memories[state.key] = replace(self.memories[state.key], state=state)
        self.contradictions |= {(edge.newer, edge.older) for edge in plan.contradicts}
        self.successors.update({edge.old: edge.new for edge in plan.superseded})
        self.drops.update({drop.drop_id: replace(drop, seq=self.seq) for drop in plan.drops})
        self.withdrawn |= {w.drop_id for w in plan.withdrawn}
        for key in plan.purged:
            self.memories[key] = replace(self.memories[key], content="")
        self.cascades = [c for c in [*self.cascades, *plan.cascade_open] if c not in plan.cascade_closed]
        return self.seq

    # --- Snapshot

    def next_key(self) -> int:
        return max(self.memories, default=0) + 1

    def find(self, memory_id: str) -> MemoryRecord | None:
        return next((m for m in self.memories.values() if m.memory_id == memory_id), None)

    def record(self, key: int) -> MemoryRecord:
        return self.memories[key]

    def states(self, keys: Collection[int]) -> Mapping[int, MemoryState]:
        return {key: self.memories[key].state for key in keys}

    def memory_ids(self, keys: Collection[int]) -> Mapping[int, str]:
        return {key: self.memories[key].memory_id for key in keys}

    def dependents(self, keys: Collection[int]) -> Mapping[int, Sequence[int]]:
        found: dict[int, list[int]] = {}
        for child, parent in sorted(self.derived):
            if parent in keys:
                found.setdefault(parent, []).append(child)
        return found

    def parents(self, key: int) -> Sequence[int]:
        return sorted(parent for child, parent in self.derived if child == key)

    def entities(self, key: int) -> Sequence[EntityLink]:
        return self.links[key]

    def known_entities(self, scope: str, norms: Collection[str]) -> Mapping[str, str]:
        return {
            link.norm: link.name
            for key, links in self.links.items()
            if self.memories[key].scope == scope
            for link in links
            if link.norm in norms
        }

    def _standing(self) -> list[Drop]:
        return [drop for drop in self.drops.values() if drop.drop_id not in self.withdrawn]

    def standing_drops_on(self, keys: Collection[int]) -> Mapping[int, Sequence[Drop]]:
        found: dict[int, list[Drop]] = {}
        for drop in self._standing():
            if drop.memory in keys:
                found.setdefault(drop.memory, []).append(drop)
        return found

    def standing_drops_by(self, cause: int) -> Sequence[Drop]:
        return sorted((d for d in self._standing() if d.cause == cause), key=lambda d: (d.hop, d.memory))

    def dropped_ever_by(self, cause: int) -> Collection[int]:
        return {drop.memory for drop in self.drops.values() if drop.cause == cause}

    def _stands(self, newer: int, older: int) -> bool:
        return any((d.cause, d.memory, d.hop) == (newer, older, 0) for d in self._standing())

    def contradicted_by(self, cause: int) -> Sequence[int]:
        return sorted(older for newer, older in self.contradictions if newer == cause and self._stands(newer, older))

    def contradicting(self, key: int) -> Sequence[int]:
        return sorted(newer for newer, older in self.contradictions if older == key and self._stands(newer, older))

    def successor(self, key: int) -> int | None:
        return self.successors.get(key)

    def active_duplicate(self, scope: str, claim_hash: bytes) -> int | None:
        same = (
            m.key for m in self.memories.values() if m.scope == scope and m.claim_hash == claim_hash and m.status is Status.ACTIVE
        )
        return min(same, default=None)

    def open_cascades(self) -> Sequence[int]:
        return list(self.cascades)

    def conflict_candidates(
        self, scope: str, entity_norms: Collection[str], slot_terms: Collection[str], limit: int
    ) -> tuple[Sequence[int], int]:
        raise NotImplementedError("verdicts are given to these tests by hand")

"""What the writer keeps in memory so that a command asks the store little: the batch so far, claims, names of entities.

A claim looks at the store before its batch. What earlier commands of the same batch added is found here, so that two claims of
one batch meet without a question to the store for each. For the writer thread only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hydramind_daemon.services.ports import ReadView
from hydramind_domain.claims import Claim, analyse_claim
from hydramind_domain.plan import MemoryAdded, Plan

CLAIMS: Final = 4_096
"""Analysed claims that are kept."""

CLAIM_CHARS: Final = 4_000
"""Code points of a content that conflict checking reads."""

NAMED_SCOPES: Final = 16
"""Scopes whose entities are kept by name."""

NAMES: Final = 20_000
"""A scope with more entities is asked in the store."""


@dataclass(frozen=True, slots=True)
class Added:
    """A memory that an earlier command of the batch added."""

    key: int
    claim: Claim
    slots: frozenset[str]


@dataclass(slots=True)
class _Fresh:
    """What the batch added to one scope: names of entities, and its memories by entity."""

    names: dict[str, str] = field(default_factory=dict)
    about: dict[str, list[Added]] = field(default_factory=lambda: defaultdict(list))


class Recent:
    """State of the writer between and during batches."""

    def __init__(self) -> None:
        self._fresh: dict[str, _Fresh] = {}
        self._claims: dict[int, Claim] = {}
        self._names: dict[str, dict[str, str] | None] = {}
        self.reopened = False

    def note(self, plan: Plan) -> None:
        """A plan of the batch was applied. After a withdrawal, memories may be candidates that no look has seen."""
        if plan.withdrawn:
            self.reopened = True
        if plan.purged:
            self._names.pop(plan.scope, None)
        for added in plan.added:
            self._note_added(added)

    def _note_added(self, added: MemoryAdded) -> None:
        fresh = self._fresh.setdefault(added.scope, _Fresh())
        slots = frozenset(added.index.slot_terms) if added.index is not None else frozenset()
        entry = Added(added.key, analyse_claim(added.content[:CLAIM_CHARS]), slots)
        for link in added.entities:
            fresh.names.setdefault(link.norm, link.name)
            fresh.about[link.norm].append(entry)

    def end(self, *, committed: bool) -> None:
        """The batch is over; what it added is kept only if it is durable."""
        if committed:
            for scope, fresh in self._fresh.items():
                self._keep(scope, fresh)
        self._fresh.clear()
        self.reopened = False

    def _keep(self, scope: str, fresh: _Fresh) -> None:
        for entries in fresh.about.values():
            for entry in entries:
                self._keep_claim(entry.key, entry.claim)
        names = self._names.get(scope)
        if names is not None:
            for norm, name in fresh.names.items():
                names.setdefault(norm, name)
            if len(names) > NAMES:
                self._names[scope] = None

    def _keep_claim(self, key: int, claim: Claim) -> None:
        self._claims[key] = claim
        if len(self._claims) > CLAIMS:
            del self._claims[next(iter(self._claims))]

    def claims(self, view: ReadView, keys: Collection[int]) -> Mapping[int, Claim]:
        """What memories claim; contents never change, so that an analysis is kept."""
        found = {key: self._claims[key] for key in keys if key in self._claims}
        missing = [key for key in keys if key not in found]
        for key, record in view.records(missing).items() if missing else ():
            found[key] = analyse_claim(record.content[:CLAIM_CHARS])
            self._keep_claim(key, found[key])
        return found

    def known(self, view: ReadView, scope: str, norms: Iterable[str]) -> Mapping[str, str]:
        """Which of the names the scope knows, as first written there."""
        if scope not in self._names:
            if len(self._names) >= NAMED_SCOPES:
                del self._names[next(iter(self._names))]
            rows = view.entities(scope, "", 0, NAMES + 1)
            self._names[scope] = None if len(rows) > NAMES else {row.norm: row.name for row in rows}
        names = self._names[scope]
        if names is None:
            return view.known_entities(scope, list(norms))
        return {norm: names[norm] for norm in norms if norm in names}

    def fresh_names(self, scope: str) -> Mapping[str, str]:
        """Entities that the batch added to a scope."""
        fresh = self._fresh.get(scope)
        return fresh.names if fresh else {}

    def candidates(self, scope: str, norms: Iterable[str], slots: frozenset[str]) -> Mapping[int, Claim]:
        """Memories that the batch added to a scope and that share an entity and a slot term."""
        fresh = self._fresh.get(scope)
        if fresh is None:
            return {}
        about = fresh.about
        return {
            entry.key: entry.claim
            for norm in norms
            if norm in about
            for entry in about[norm]
            if not slots.isdisjoint(entry.slots)
        }

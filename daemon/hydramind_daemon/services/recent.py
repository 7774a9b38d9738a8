"""What the last commands added, in memory, on the writer thread.

A claim is prepared before its batch, on the state of some commit. What was added since is looked up here, so that two claims of
one batch meet without a question to the store for each.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hydramind_daemon.services.ports import ReadView
from hydramind_domain.claims import Claim, analyse_claim
from hydramind_domain.plan import MemoryAdded, Plan

KEPT: Final = 2_048
"""Memories that are kept; a claim that was prepared before the oldest of them asks the store."""

CLAIMS: Final = 8_192
"""Analysed claims that are kept."""

CLAIM_CHARS: Final = 4_000
"""Code points of a content that conflict checking reads."""


@dataclass(frozen=True, slots=True)
class Added:
    """A memory that was added: its commit, and what a claim may share with it."""

    seq: int
    key: int
    scope: str
    claim: Claim
    names: Mapping[str, str]
    slots: frozenset[str]


class Recent:
    """The last memories added, and since which commit they are complete; what memories claim. For the writer thread."""

    def __init__(self) -> None:
        self._added: deque[Added] = deque()
        self._complete_since = 0
        self._reopened = 0
        self._new: list[Added] = []
        self._claims: dict[int, Claim] = {}

    def start(self, seq: int) -> None:
        """Nothing is known of what came before this commit."""
        self._added.clear()
        self._complete_since = seq
        self._reopened = seq

    def note(self, seq: int, plan: Plan) -> None:
        """A plan was applied."""
        if plan.withdrawn:
            self._reopened = seq
        for added in plan.added:
            entry = _entry(seq, added)
            self._added.append(entry)
            self._new.append(entry)
        while len(self._added) > KEPT:
            self._complete_since = self._added.popleft().seq

    def take_back(self, seq: int) -> None:
        """The batch after this commit was lost; its keys will be given again."""
        self._new.clear()
        while self._added and self._added[-1].seq > seq:
            self._added.pop()
        self._reopened = max(self._reopened, seq + 1)

    def committed(self) -> None:
        """What was noted is durable: its claims need no second analysis."""
        for entry in self._new:
            self._keep(entry.key, entry.claim)
        self._new.clear()

    def claims(self, view: ReadView, keys: Collection[int]) -> Mapping[int, Claim]:
        """What memories claim; contents never change, so that an analysis is kept."""
        missing = [key for key in keys if key not in self._claims]
        found = {key: self._claims[key] for key in keys if key in self._claims}
        for key, record in view.records(missing).items() if missing else ():
            found[key] = analyse_claim(record.content[:CLAIM_CHARS])
            self._keep(key, found[key])
        return found

    def _keep(self, key: int, claim: Claim) -> None:
        self._claims[key] = claim
        if len(self._claims) > CLAIMS:
            del self._claims[next(iter(self._claims))]

    def covers(self, seq: int) -> bool:
        """Whether everything that may have become a candidate after this commit is here."""
        return seq >= self._complete_since and seq >= self._reopened

    def since(self, seq: int, scope: str) -> Iterator[Added]:
        """Memories of a scope added after a commit, newest first."""
        for added in reversed(self._added):
            if added.seq <= seq:
                return
            if added.scope == scope:
                yield added


def shares(added: Added, norms: Collection[str], slots: frozenset[str]) -> bool:
    """Whether a memory is a candidate for a claim about these entities with these slot terms."""
    return not slots.isdisjoint(added.slots) and not added.names.keys().isdisjoint(norms)


def _entry(seq: int, added: MemoryAdded) -> Added:
    names = {link.norm: link.name for link in added.entities}
    slots = frozenset(added.index.slot_terms) if added.index is not None else frozenset()
    return Added(seq, added.key, added.scope, analyse_claim(added.content[:CLAIM_CHARS]), names, slots)

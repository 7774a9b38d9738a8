"""What use cases answer: domain outcomes and records with what a front end shows beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hydramind_daemon.services.context import ScopeAnswer
from hydramind_daemon.services.ports import ReadView
from hydramind_domain.explain import conflict_words
from hydramind_domain.model import EntityLink, MemoryRecord, Spans
from hydramind_domain.outcomes import ConflictOutcome, ForgetOutcome, PurgeOutcome, RememberOutcome, ResolveOutcome

EXCERPT: Final = 500
"""Code points of a content that an answer about another memory quotes."""


@dataclass(frozen=True, slots=True)
class MemoryView:
    """A memory with what stands around it, at one sequence."""

    record: MemoryRecord
    entities: tuple[EntityLink, ...]
    superseded_by: str
    evidence_superseded: bool
    contradicted_by: tuple[str, ...]
    contradicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A contradiction with an older memory, in words."""

    memory_id: str
    reason_code: str
    reason: str
    spans: Spans
    before: float
    after: float
    old_content: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """Answer of remember and revise."""

    outcome: RememberOutcome
    scope: ScopeAnswer
    seq: int
    replayed: bool
    conflicts: tuple[ConflictView, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Answer of forget."""

    outcome: ForgetOutcome
    scope: ScopeAnswer
    seq: int
    replayed: bool


@dataclass(frozen=True, slots=True)
class Resolved:
    """Answer of resolve."""

    outcome: ResolveOutcome
    scope: ScopeAnswer
    seq: int
    replayed: bool


@dataclass(frozen=True, slots=True)
class Purged:
    """Answer of purge; `seq` 0 for a dry run."""

    outcome: PurgeOutcome
    scope: ScopeAnswer
    seq: int
    replayed: bool
    dry_run: bool = False


def memory_views(view: ReadView, keys: Collection[int], known: int | None = None) -> Mapping[int, MemoryView]:
    """Memories with their surroundings; keys that did not exist at `known` are absent."""
    if not keys:
        return {}
    records = view.records(keys, known)
    links = view.links(keys, known)
    contests = view.contests(keys, known)
    successors = view.successors(keys, known)
    stale = view.evidence_superseded(keys, known)
    new_ids = ids_of(view, [new for new, _ in successors.values()])
    found: dict[int, MemoryView] = {}
    for key, record in records.items():
        contest = contests.get(key)
        found[key] = MemoryView(
            record,
            tuple(links.get(key, ())),
            new_ids.get(successors[key][0], "") if key in successors else "",
            key in stale,
            contest.contradicted_by if contest else (),
            contest.contradicts if contest else (),
        )
    return found


def ordered(view: ReadView, keys: Sequence[int], known: int | None = None) -> list[MemoryView]:
    """As `memory_views`, in the order of the keys."""
    found = memory_views(view, keys, known)
    return [found[key] for key in keys if key in found]


def ids_of(view: ReadView, keys: Collection[int]) -> Mapping[int, str]:
    """External ids."""
    return {key: record.memory_id for key, record in view.records(keys).items()} if keys else {}


def in_words(conflict: ConflictOutcome, new_content: str, old_content: str) -> ConflictView:
    """A contradiction with the pieces of text that it is about; a purged content leaves the fixed phrase."""
    spans = conflict.spans
    new, old = new_content[spans.new_start : spans.new_end], old_content[spans.old_start : spans.old_end]
    return ConflictView(
        conflict.memory_id,
        conflict.reason_code,
        conflict_words(conflict.reason_code, new, old),
        spans,
        conflict.before,
        conflict.after,
        old_content[:EXCERPT],
    )

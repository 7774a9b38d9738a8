"""Why a memory has the trust that it has, and what a claim would do before it is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from hydramind_daemon.services import validate
from hydramind_daemon.services.answers import EXCERPT, ConflictView, ids_of
from hydramind_daemon.services.changing import Changing
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef
from hydramind_daemon.services.looking import existing
from hydramind_daemon.services.moments import Moment
from hydramind_daemon.services.ports import PastDrop, PastEvent, ReadView
from hydramind_daemon.services.prepare import FromStore, PreparedClaim
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.scopes import Scopes
from hydramind_daemon.services.writer import Writer
from hydramind_domain.canonical import claim_hash
from hydramind_domain.cascade import Cause, affected, changeable, falls
from hydramind_domain.entities import normalise_entity
from hydramind_domain.errors import NotFound
from hydramind_domain.explain import NamedDrop, conflict_words, event_words, trust_words
from hydramind_domain.model import Drop, EntityLink, FoundConflict, MemoryState, Status, TrustRules
from hydramind_domain.outcomes import DecayOutcome
from hydramind_domain.snapshot import Snapshot

EVENTS: Final = 500
DEPENDENTS: Final = 100
_DEPTH: Final = 2
_PREVIEWED: Final = 1 << 62
"""Key of the memory that a preview pretends to write: newer than all."""


@dataclass(frozen=True, slots=True)
class EventInWords:
    """An event of the audit trail."""

    event: PastEvent
    words: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """Answer of explain_trust."""

    memory_id: str
    trust: float
    status: Status
    words: str
    events: tuple[EventInWords, ...]
    standing: tuple[PastDrop, ...]
    withdrawn: tuple[PastDrop, ...]
    dependents: tuple[DecayOutcome, ...]
    still_spreading: bool
    scope: ScopeAnswer


@dataclass(frozen=True, slots=True)
class ConflictCheck:
    """Answer of check_conflict."""

    conflicts: tuple[ConflictView, ...]
    checked: int
    skipped: int
    entities: tuple[EntityLink, ...]
    would_decay: tuple[DecayOutcome, ...]
    duplicate_of: str
    scope: ScopeAnswer


class Explaining:
    """Answers explain_trust and check_conflict; both write nothing."""

    def __init__(self, readers: Readers, writer: Writer, scopes: Scopes, changing: Changing) -> None:
        self._readers = readers
        self._writer = writer
        self._scopes = scopes
        self._changing = changing

    async def explain(self, memory_id: str, ref: ScopeRef, as_of: str, known_at: str, call: Call) -> Explanation:
        """A memory's trust in words, with the events behind it."""
        wanted = validate.memory_id(memory_id)
        moment = Moment.of(as_of, known_at)
        scope = await self._scopes.for_read(ref, call)

        def read(view: ReadView) -> Explanation:
            known = moment.known(view)
            record = existing(view, scope.scope, wanted, known)
            if moment.as_of is not None and not record.valid_at(moment.as_of):
                raise NotFound(
                    f"memory_id: {wanted} was not valid at the as_of that was asked for",
                    reason="NOT_VALID_THEN",
                    metadata={"field": "as_of", "memory_id": wanted},
                )
            return _explanation(view, record.key, known, scope, self._writer.rules)

        return await self._readers.read(read, call.deadline)

    async def check(self, content: str, entities: Sequence[str], ref: ScopeRef, call: Call) -> ConflictCheck:
        """What a claim would contradict."""
        text = validate.content(content)
        explicit = validate.names(entities, "entities")
        scope = await self._scopes.for_read(ref, call)

        def work() -> ConflictCheck:
            claim = self._changing.claim(scope.scope, text, explicit)
            with self._readers.view() as view:
                claim.look(view, FromStore())
                return _check(view, claim, scope, self._writer.rules)

        return await self._readers.compute(work, call.deadline)


def _explanation(view: ReadView, key: int, known: int | None, scope: ScopeAnswer, rules: TrustRules) -> Explanation:
    record = view.records([key], known)[key]
    drops = view.drops_on(key, known)
    standing = tuple(drop for drop in drops if drop.withdrawn_at is None)
    withdrawn = tuple(drop for drop in drops if drop.withdrawn_at is not None)
    reasons = {e.src: e.reason for e in view.edges([key], ("CONTRADICTS",), known) if e.dst == key}
    spreading = known is None and view.spreading(key)
    words = trust_words(
        record.trust,
        record.status,
        [_named(drop, reasons) for drop in standing],
        [_named(drop, reasons) for drop in withdrawn],
        rules.floor,
        support=record.state.support,
        spreading=spreading,
    )
    events = tuple(
        EventInWords(e, event_words(e.kind, e.other_id, e.before, e.after, e.reason, e.at))
        for e in view.events_of(key, known, EVENTS)
    )
    return Explanation(
        record.memory_id,
        record.trust,
        record.status,
        words,
        events,
        standing,
        withdrawn,
        _dependents(view, key, known),
        spreading,
        scope,
    )


def _named(past: PastDrop, reasons: Mapping[int, str]) -> NamedDrop:
    return NamedDrop(past.drop, past.cause_id, reasons.get(past.drop.cause, ""), past.withdrawn_reason)


def _dependents(view: ReadView, key: int, known: int | None) -> tuple[DecayOutcome, ...]:
    """Current memories derived from this one within two hops, nearest first, with their trust as it is."""
    found: dict[int, int] = {}
    frontier: set[int] = {key}
    seen = {key}
    for hop in range(1, _DEPTH + 1):
        frontier = {child for children in view.dependents(frontier, known).values() for child in children} - seen
        seen |= frontier
        found.update(dict.fromkeys(frontier, hop))
    records = view.records(found, known)
    rows = ((hop, child, records[child]) for child, hop in found.items() if child in records)
    shown = sorted((hop, child, r) for hop, child, r in rows if r.status not in {Status.FORGOTTEN, Status.PURGED})
    return tuple(DecayOutcome(r.memory_id, hop, r.trust, r.trust) for hop, _, r in shown[:DEPENDENTS])


class _Preview:
    """The part of a Snapshot that a cascade asks for, answered by a view."""

    def __init__(self, view: ReadView) -> None:
        self._view = view

    def states(self, keys: Collection[int]) -> Mapping[int, MemoryState]:
        """Current states."""
        return {key: record.state for key, record in self._view.records(keys).items()}

    def dependents(self, keys: Collection[int]) -> Mapping[int, Sequence[int]]:
        """Children."""
        return self._view.dependents(keys)

    def standing_drops_on(self, keys: Collection[int]) -> Mapping[int, Sequence[Drop]]:
        """Drops that stand."""
        return {key: [p.drop for p in self._view.drops_on(key) if p.withdrawn_at is None] for key in keys}


def _check(view: ReadView, claim: PreparedClaim, scope: ScopeAnswer, rules: TrustRules) -> ConflictCheck:
    found = {key: verdict for key, verdict in claim.verdicts.items() if verdict is not None}
    digest = claim_hash(claim.text.norm, map(normalise_entity, claim.explicit), (), None)
    same = view.active_duplicate(claim.scope, digest)
    names = ids_of(view, [same]) if same is not None else {}
    # The same claim again is no new memory: it would contradict nothing anew.
    conflicts, decays = _would_fall(view, claim, found, rules) if same is None else ((), ())
    return ConflictCheck(
        conflicts,
        claim.checked,
        claim.skipped,
        claim.links,
        decays,
        names.get(same, "") if same is not None else "",
        scope,
    )


def _would_fall(
    view: ReadView, claim: PreparedClaim, found: Mapping[int, FoundConflict], rules: TrustRules
) -> tuple[tuple[ConflictView, ...], tuple[DecayOutcome, ...]]:
    """The falls that the rules would plan if the claim were remembered now."""
    records = view.records(found)
    roots = sorted(key for key, record in records.items() if record.status is Status.ACTIVE)
    if not roots:
        return (), ()
    preview = cast("Snapshot", _Preview(view))
    cause = Cause(_PREVIEWED, "", 0)
    hits = falls(preview, [(0, key) for key in roots], cause, rules)
    reached = changeable(preview, affected(preview, roots, _PREVIEWED, rules))[:DEPENDENTS]
    decays = falls(preview, reached, cause, rules)
    names = ids_of(view, [fallen.state.key for fallen in decays])
    conflicts = tuple(
        _in_words(
            claim,
            found[fallen.state.key],
            records[fallen.state.key].content,
            records[fallen.state.key].memory_id,
            fallen.drop.before,
            fallen.drop.after,
        )
        for fallen in reversed(hits)
    )
    return conflicts, tuple(DecayOutcome(names[f.state.key], f.drop.hop, f.drop.before, f.drop.after) for f in decays)


def _in_words(claim: PreparedClaim, found: FoundConflict, old: str, memory_id: str, before: float, after: float) -> ConflictView:
    spans = found.spans
    new_piece = claim.text.content[spans.new_start : spans.new_end]
    words = conflict_words(found.reason_code, new_piece, old[spans.old_start : spans.old_end])
    return ConflictView(memory_id, found.reason_code, words, spans, before, after, old[:EXCERPT])

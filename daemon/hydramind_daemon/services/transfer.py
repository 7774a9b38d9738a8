"""Many memories at once: batches, import, export.

Import. The id in the file is the idempotency key, so that running an import again changes nothing. Parents may come later in
the file: a record is stored at once with the parents that are there, and the edges to those that come later follow at the end
of the stream. With `restore` a record's `created_at` is kept as the memory's; the log still says when the import was committed,
and `known_at` goes by the log: a restored store knew nothing before it was restored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hydramind_daemon.services import validate
from hydramind_daemon.services.answers import MemoryView, ids_of, ordered
from hydramind_daemon.services.changing import Changing
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef
from hydramind_daemon.services.jobs import Committed, Job
from hydramind_daemon.services.moments import Moment
from hydramind_daemon.services.ports import ReadView
from hydramind_daemon.services.prepare import PreparedClaim
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.requests import RememberRequest
from hydramind_daemon.services.scopes import Scopes
from hydramind_daemon.services.writer import Writer
from hydramind_domain import outcome_codec, rules
from hydramind_domain.canonical import Scalar, request_hash
from hydramind_domain.commands import Link, Remember, Revise
from hydramind_domain.errors import HydraMindError, InvalidArgument, NotFound
from hydramind_domain.model import Instant, Status
from hydramind_domain.outcomes import Outcome, RememberOutcome
from hydramind_domain.plan import Plan
from hydramind_domain.snapshot import Snapshot
from hydramind_domain.timeparse import parse

WINDOW: Final = 128
"""Elements of one stream that are under way at once."""

EXPORT_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """See the contract's ExportRequest."""

    scope: ScopeRef = field(default_factory=ScopeRef)
    every_status: bool = False
    every_scope: bool = False
    known_at: str = ""
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class Exported:
    """An exported memory with the ids that it refers to."""

    memory: MemoryView
    derived_from: tuple[str, ...]
    contradicts: tuple[str, ...]
    supersedes: str


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """See the contract's ImportRecord."""

    line: int
    content: str
    external_id: str = ""
    scope: str = ""
    entities: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    source: str = ""
    valid_from: str = ""
    valid_to: str = ""
    created_at: str = ""
    supersedes: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """A record that is in the store now."""

    line: int
    memory_id: str
    already_there: bool
    conflicts: int


@dataclass(frozen=True, slots=True)
class Refused:
    """An element of a stream that was refused; `position` is its line, or its place in the stream."""

    position: int
    error: HydraMindError


@dataclass(slots=True)
class _Checked:
    """A record that may be stored."""

    record: ImportRecord
    scope: str
    key: str
    digest: bytes
    explicit: tuple[str, ...]
    valid_from: Instant | None
    valid_to: Instant | None
    created_at: Instant | None


@dataclass(slots=True)
class ImportRun:
    """One import stream: which memory each external id of it has become, and which parents are still to come."""

    scope: ScopeRef
    restore: bool
    ids: dict[tuple[str, str], str] = field(default_factory=dict)
    late: list[tuple[int, str, str, tuple[str, ...]]] = field(default_factory=list)


class Transfer:
    """Streams in and out."""

    def __init__(self, readers: Readers, writer: Writer, scopes: Scopes, changing: Changing) -> None:
        self._readers = readers
        self._writer = writer
        self._scopes = scopes
        self._changing = changing

    # --- batches

    async def begin_remember(self, request: RememberRequest, call: Call) -> tuple[asyncio.Future[Committed], ScopeAnswer]:
        """Queue one element of a batch; elements are committed in the order of these calls."""
        self._writer.coming()
        try:
            job, scope = await self._changing.remember_job(request, call)
            return self._writer.submit(job), scope
        finally:
            self._writer.came()

    # --- import

    async def begin_import(self, run: ImportRun, record: ImportRecord, call: Call) -> asyncio.Future[Committed]:
        """Queue one record; records are committed in the order of these calls. Raises InvalidArgument and the like."""
        self._writer.coming()
        try:
            ref = ScopeRef(name=record.scope) if record.scope else run.scope
            scope = await self._scopes.for_write(ref)
            checked = self._check(record, scope.scope, restore=run.restore)
            claim = await self._changing.analysed(checked.scope, record.content, checked.explicit, call)
            return self._writer.submit(self._import_job(run, checked, claim, call))
        finally:
            self._writer.came()

    @staticmethod
    def imported(record: ImportRecord, done: Committed) -> Imported:
        """The answer to a record."""
        outcome = done.outcome
        assert isinstance(outcome, RememberOutcome)
        there = done.replayed or outcome.duplicate
        return Imported(record.line, outcome.memory_id, there, 0 if done.replayed else len(outcome.conflicts))

    async def finish_import(self, run: ImportRun, call: Call) -> Sequence[Refused]:
        """Add the edges to parents that came later; answers the records whose parents never came."""
        refused = []
        for line, scope, memory_id, parents in run.late:
            try:
                await self._link(run, scope, memory_id, parents, call)
            except HydraMindError as error:
                refused.append(Refused(line, error))
        return refused

    async def _link(self, run: ImportRun, scope: str, memory_id: str, parents: tuple[str, ...], call: Call) -> None:
        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            there, missing = _parents(snapshot, run, scope, parents)
            if missing:
                raise NotFound(
                    f"derived_from: {missing[0]!r} is neither in the file nor in scope {scope!r}; stored without it",
                    reason="PARENT_NOT_FOUND",
                    metadata={"field": "derived_from", "memory_id": memory_id},
                )
            return rules.link(snapshot, Link(scope, memory_id, there), now, self._writer.rules)

        await self._writer.submit(Job("link", scope, call.actor, plan, deadline=call.deadline))

    def _check(self, record: ImportRecord, scope: str, *, restore: bool) -> _Checked:
        validate.content(record.content)
        explicit = validate.names(record.entities, "entities")
        validate.memory_ids(record.derived_from, "derived_from")
        validate.short(record.source, "source")
        validate.short(record.reason, "reason")
        external = validate.key(record.external_id) if record.external_id else ""
        created_at = parse(record.created_at, "created_at") if restore and record.created_at.strip() else None
        fields: Mapping[str, Scalar | Sequence[str]] = {
            "content": record.content,
            "scope": scope,
            "entities": explicit,
            "derived_from": record.derived_from,
            "source": record.source,
            "valid_from": record.valid_from,
            "valid_to": record.valid_to,
            "created_at": record.created_at if restore else "",
            "supersedes": record.supersedes,
        }
        digest = request_hash("import", fields)
        return _Checked(
            record,
            scope,
            external or digest.hex(),
            digest,
            explicit,
            validate.time(record.valid_from, "valid_from"),
            validate.time(record.valid_to, "valid_to"),
            created_at,
        )

    def _look(self, view: ReadView, run: ImportRun, checked: _Checked, claim: PreparedClaim) -> None:
        """The text work, and what earlier runs made of the ids that the record names."""
        record, scope = checked.record, checked.scope
        claim.look(view, self._writer.recent)
        for name in filter(None, (record.external_id, record.supersedes, *record.derived_from)):
            stored = view.stored_answer(scope, "import", name) if (scope, name) not in run.ids else None
            outcome = outcome_codec.decode(stored.outcome) if stored is not None else None
            if isinstance(outcome, RememberOutcome):
                run.ids[scope, name] = outcome.memory_id
        mine = view.stored_answer(scope, "import", checked.key) if record.derived_from else None
        if mine is not None and mine.request_hash == checked.digest:
            # An earlier run may have ended before it came to the late edges.
            outcome = outcome_codec.decode(mine.outcome)
            assert isinstance(outcome, RememberOutcome)
            run.late.append((record.line, scope, outcome.memory_id, record.derived_from))

    def _import_job(self, run: ImportRun, checked: _Checked, claim: PreparedClaim, call: Call) -> Job:
        record, scope = checked.record, checked.scope

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            if checked.created_at is not None and checked.created_at > now:
                raise InvalidArgument.of("created_at", "is in the future; nothing can have been stored then")
            there, missing = _parents(snapshot, run, scope, record.derived_from)
            if record.supersedes:
                planned = self._plan_revision(snapshot, run, checked, claim, now, call)
                missing = record.derived_from
            else:
                command = Remember(
                    scope, claim.claim_on(snapshot, self._writer.recent), call.actor, record.source, there,
                    checked.valid_from, checked.valid_to, checked.created_at,
                )  # fmt: skip
                planned = rules.remember(snapshot, command, now, self._writer.rules)
            memory_id = planned[1].memory_id
            if record.external_id:
                run.ids[scope, record.external_id] = memory_id
            if missing:
                run.late.append((record.line, scope, memory_id, record.derived_from))
            return planned

        def look(view: ReadView) -> None:
            self._look(view, run, checked, claim)

        return Job("import", scope, call.actor, plan, checked.key, checked.digest, call.deadline, look)

    def _plan_revision(
        self, snapshot: Snapshot, run: ImportRun, checked: _Checked, claim: PreparedClaim, now: Instant, call: Call
    ) -> tuple[Plan, RememberOutcome]:
        record = checked.record
        old_id = run.ids.get((checked.scope, record.supersedes), record.supersedes)
        old = rules.existing(snapshot, checked.scope, old_id, "supersedes")
        command = Revise(
            checked.scope, old.memory_id, claim.claim_on(snapshot, self._writer.recent, snapshot.entities(old.key)), call.actor,
            record.reason or "import", record.source, checked.valid_from, 0, checked.created_at,
        )  # fmt: skip
        return rules.revise(snapshot, command, now, self._writer.rules)

    # --- export

    async def export(self, request: ExportRequest, call: Call) -> AsyncGenerator[Exported, None]:
        """Memories in commit order, all as one and the same sequence saw them."""
        moment = Moment.of(request.as_of, request.known_at)
        scope = None if request.every_scope else (await self._scopes.for_read(request.scope, call)).scope
        pinned = await self._readers.read(lambda view: _pinned(view, moment), call.deadline)
        after = 0
        while True:
            start = after

            def page(view: ReadView, start: int = start) -> tuple[int, list[Exported]]:
                # The newest state is quicker to read, and the same, while nothing was written.
                known = pinned if pinned < view.sequence else None
                return _export_page(view, scope, start, known, request.every_status, moment)

            after, exported = await self._readers.read(page, call.deadline)
            for one in exported:
                yield one
            if not after:
                return


def _pinned(view: ReadView, moment: Moment) -> int:
    known = moment.known(view)
    return view.sequence if known is None else known


def _export_page(
    view: ReadView, scope: str | None, after: int, known: int | None, every_status: bool, moment: Moment
) -> tuple[int, list[Exported]]:
    """(key to go on after, or 0 at the end; memories of the page)."""
    keys = view.export_keys(scope, after, EXPORT_PAGE, every_status=every_status, known=known)
    views = ordered(view, keys, known)
    if moment.as_of is not None:
        views = [one for one in views if one.record.valid_at(moment.as_of)]
    mine = [one.record.key for one in views]
    parents = view.parents(mine, known)
    before = view.predecessors(mine, known)
    hits: dict[int, list[int]] = {}
    for edge in view.edges(mine, ("CONTRADICTS",), known) if mine else ():
        if edge.standing:
            hits.setdefault(edge.src, []).append(edge.dst)
    wanted = {key for found in (*parents.values(), *hits.values()) for key in found} | set(before.values())
    shown = _visible_ids(view, wanted, known, every_status)
    exported = [
        Exported(
            one,
            tuple(shown[key] for key in parents.get(one.record.key, ()) if key in shown),
            tuple(shown[key] for key in sorted(hits.get(one.record.key, ())) if key in shown),
            shown.get(before.get(one.record.key, 0), ""),
        )
        for one in views
    ]
    return (keys[-1] if len(keys) == EXPORT_PAGE else 0), exported


def _visible_ids(view: ReadView, keys: set[int], known: int | None, every_status: bool) -> Mapping[int, str]:
    """Ids that an export may name: those of forgotten memories only when they are exported themselves."""
    if not keys:
        return {}
    if every_status:
        return ids_of(view, keys)
    gone = {Status.FORGOTTEN, Status.PURGED}
    return {key: record.memory_id for key, record in view.records(keys, known).items() if record.status not in gone}


def _parents(snapshot: Snapshot, run: ImportRun, scope: str, wanted: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Parents that are there, as ids of memories, and those that are not (yet)."""
    there, missing = [], []
    for name in wanted:
        memory_id = run.ids.get((scope, name), name)
        record = snapshot.find(memory_id)
        if record is None or record.scope != scope or record.status in {Status.FORGOTTEN, Status.PURGED}:
            missing.append(name)
        else:
            there.append(memory_id)
    return tuple(dict.fromkeys(there)), tuple(missing)

"""The use cases that change memory: remember, revise, forget, resolve, purge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from hydramind_daemon.services import validate
from hydramind_daemon.services.answers import (
    Forgotten,
    Purged,
    Remembered,
    Resolved,
    in_words,
)
from hydramind_daemon.services.context import Call, ScopeAnswer
from hydramind_daemon.services.echo import RECALL_SOURCE, EchoGuard, Recalled, echo_of
from hydramind_daemon.services.jobs import Committed, Job, Look, Planner
from hydramind_daemon.services.ports import IdSource, ReadView
from hydramind_daemon.services.prepare import SHORT_CHARS, PreparedClaim, Text
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.requests import ForgetRequest, PurgeRequest, RememberRequest, ResolveRequest, ReviseRequest
from hydramind_daemon.services.scopes import Scopes
from hydramind_daemon.services.writer import Writer
from hydramind_domain import rules, withdraw
from hydramind_domain.canonical import Scalar, request_hash
from hydramind_domain.commands import Forget, Purge, Remember, Resolve, Revise
from hydramind_domain.conflict import ConflictClassifier
from hydramind_domain.errors import InvalidArgument, NotFound
from hydramind_domain.model import Instant, Status
from hydramind_domain.outcomes import (
    ForgetOutcome,
    Outcome,
    PurgeOutcome,
    RememberOutcome,
    ResolveOutcome,
)
from hydramind_domain.plan import Plan
from hydramind_domain.snapshot import Snapshot

O = TypeVar("O", RememberOutcome, ForgetOutcome, ResolveOutcome, PurgeOutcome)  # noqa: E741 - an outcome

_ECHO_BUDGET: Final = 64
_ECHO_TERMS: Final = 4


class Changing:
    """Checks requests, does the text work, and hands commands to the writer."""

    def __init__(
        self,
        readers: Readers,
        writer: Writer,
        scopes: Scopes,
        ids: IdSource,
        classifier: ConflictClassifier,
        echoes: EchoGuard,
    ) -> None:
        self._readers = readers
        self._writer = writer
        self._scopes = scopes
        self._ids = ids
        self._classifier = classifier
        self._echoes = echoes

    async def remember(self, request: RememberRequest, call: Call) -> Remembered:
        """Store a claim."""
        self._writer.coming()
        try:
            job, scope = await self.remember_job(request, call)
            future = self._writer.submit(job)
        finally:
            self._writer.came()
        return await self.remembered(await future, scope, request.content, call)

    async def remember_job(self, request: RememberRequest, call: Call) -> tuple[Job, ScopeAnswer]:
        """The command of a remember, checked and with its text work done."""
        content = validate.content(request.content)
        explicit = validate.names(request.entities, "entities")
        parents = validate.memory_ids(request.derived_from, "derived_from")
        source = validate.short(request.source, "source")
        valid_from = validate.time(request.valid_from, "valid_from")
        key = validate.key(request.idempotency_key)
        scope = await self._scopes.for_write(request.scope)
        session = call.actor.session
        claim = await self.analysed(scope.scope, content, explicit, call)
        recent = self._writer.recent
        echo: int | None = None

        def look(view: ReadView) -> None:
            nonlocal echo
            claim.look(view, recent)
            echo = self._echo(view, claim, session, source)

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            again = echo if echo is not None and _current(snapshot, echo) else None
            new = claim.claim_on(snapshot, recent)
            command = Remember(scope.scope, new, call.actor, source, parents, valid_from, echo_of=again)
            return rules.remember(snapshot, command, now, self._writer.rules)

        fields: Mapping[str, Scalar | Sequence[str]] = {
            "content": content,
            "scope": scope.scope,
            "entities": explicit,
            "derived_from": parents,
            "source": source,
            "valid_from": valid_from,
        }
        return self.job("remember", scope.scope, call, plan, key, fields, look), scope

    async def revise(self, request: ReviseRequest, call: Call) -> Remembered:
        """Replace a memory."""
        self._writer.coming()
        try:
            job, scope = await self._revise_job(request, call)
            future = self._writer.submit(job)
        finally:
            self._writer.came()
        return await self.remembered(await future, scope, request.content, call)

    async def _revise_job(self, request: ReviseRequest, call: Call) -> tuple[Job, ScopeAnswer]:
        memory_id = validate.memory_id(request.memory_id)
        content = validate.content(request.content)
        reason = validate.short(request.reason, "reason", required=True)
        source = validate.short(request.source, "source")
        valid_from = validate.time(request.valid_from, "valid_from")
        version = request.expected_version
        if version < 0:
            raise InvalidArgument.of("expected_version", "is negative; give the version you read, or 0 for no check")
        key = validate.key(request.idempotency_key)
        scope = await self._scopes.for_write(request.scope)
        claim = await self.analysed(scope.scope, content, (), call)
        recent = self._writer.recent
        fields: Mapping[str, Scalar | Sequence[str]] = {
            "memory_id": memory_id,
            "content": content,
            "scope": scope.scope,
            "reason": reason,
            "source": source,
            "valid_from": valid_from,
            "expected_version": version,
        }

        def look(view: ReadView) -> None:
            old = view.find(memory_id)
            inherited = view.links([old.key]).get(old.key, ()) if old is not None and old.scope == scope.scope else ()
            claim.look(view, recent, inherited)

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            old = rules.existing(snapshot, scope.scope, memory_id)
            new = claim.claim_on(snapshot, recent, snapshot.entities(old.key))
            command = Revise(scope.scope, memory_id, new, call.actor, reason, source, valid_from, version)
            return rules.revise(snapshot, command, now, self._writer.rules)

        return self.job("revise", scope.scope, call, plan, key, fields, look), scope

    async def forget(self, request: ForgetRequest, call: Call) -> Forgotten:
        """Take a memory out of recall."""
        memory_id = validate.memory_id(request.memory_id)
        reason = validate.short(request.reason, "reason")
        key = validate.key(request.idempotency_key)
        scope = await self._scopes.for_write(request.scope)
        command = Forget(scope.scope, memory_id, reason)

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            return withdraw.forget(snapshot, command, now, self._writer.rules)

        fields: Mapping[str, Scalar] = {"memory_id": memory_id, "scope": scope.scope, "reason": reason}
        done = await self._writer.submit(self.job("forget", scope.scope, call, plan, key, fields))
        return Forgotten(_outcome(done, ForgetOutcome), scope, done.seq, done.replayed)

    async def resolve(self, request: ResolveRequest, call: Call) -> Resolved:
        """Settle a contradiction."""
        memory_id = validate.memory_id(request.memory_id)
        other_id = validate.memory_id(request.other_id, "other_id")
        if request.dismissed is None:
            raise InvalidArgument.of("verdict", "is not stated; say stands or dismissed")
        reason = validate.short(request.reason, "reason", required=True)
        key = validate.key(request.idempotency_key)
        scope = await self._scopes.for_write(request.scope)
        command = Resolve(scope.scope, memory_id, other_id, request.dismissed, reason)

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            return withdraw.resolve(snapshot, command, now, self._writer.rules)

        fields: Mapping[str, Scalar] = {
            "memory_id": memory_id,
            "other_id": other_id,
            "dismissed": request.dismissed,
            "reason": reason,
            "scope": scope.scope,
        }
        done = await self._writer.submit(self.job("resolve", scope.scope, call, plan, key, fields))
        return Resolved(_outcome(done, ResolveOutcome), scope, done.seq, done.replayed)

    async def purge(self, request: PurgeRequest, call: Call) -> Purged:
        """Erase contents. The scope must be stated: nothing is erased by a default."""
        if not request.scope.name and not request.scope.project_root:
            raise InvalidArgument.of("scope", "is not stated; purge wants an explicit scope")
        ids = validate.memory_ids(request.memory_ids, "memory_ids", validate.PURGED_AT_ONCE)
        if not ids:
            raise InvalidArgument.of("memory_ids", "is empty; name the memories to erase")
        reason = validate.short(request.reason, "reason", required=True)
        key = validate.key(request.idempotency_key)
        if request.dry_run:
            scope = await self._scopes.for_read(request.scope, call)
            found = await self._readers.read(lambda view: _would_purge(view, scope.scope, ids), call.deadline)
            return Purged(PurgeOutcome(found, scope.scope), scope, 0, replayed=False, dry_run=True)
        scope = await self._scopes.for_write(request.scope)
        command = Purge(scope.scope, ids, reason)

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            return withdraw.purge(snapshot, command, now, self._writer.rules)

        fields: Mapping[str, Scalar | Sequence[str]] = {"memory_ids": ids, "scope": scope.scope, "reason": reason}
        done = await self._writer.submit(self.job("purge", scope.scope, call, plan, key, fields))
        return Purged(_outcome(done, PurgeOutcome), scope, done.seq, done.replayed)

    async def remembered(self, done: Committed, scope: ScopeAnswer, content: str, call: Call) -> Remembered:
        """The answer to a remember or revise that is durable."""
        outcome = _outcome(done, RememberOutcome)
        if not outcome.conflicts:
            return Remembered(outcome, scope, done.seq, done.replayed)

        def contents(view: ReadView) -> Mapping[str, str]:
            found = (view.find(conflict.memory_id) for conflict in outcome.conflicts)
            return {record.memory_id: record.content for record in found if record is not None}

        old = await self._readers.read(contents, call.deadline)
        conflicts = tuple(in_words(conflict, content, old.get(conflict.memory_id, "")) for conflict in outcome.conflicts)
        return Remembered(outcome, scope, done.seq, done.replayed, conflicts)

    def claim(self, scope: str, content: str, explicit: tuple[str, ...]) -> PreparedClaim:
        """A claim that nothing was done for yet."""
        return PreparedClaim(self._ids.memory_id(), scope, content, explicit, self._classifier)

    async def analysed(self, scope: str, content: str, explicit: tuple[str, ...], call: Call) -> PreparedClaim:
        """A claim; a long content is analysed here, on a reader thread, a short one when its batch looks at it."""
        claim = self.claim(scope, content, explicit)
        if len(content) > SHORT_CHARS:
            claim.analysed = await self._readers.compute(lambda: Text.of(content), call.deadline)
        return claim

    def _echo(self, view: ReadView, claim: PreparedClaim, session: str, source: str) -> int | None:
        recalled = self._echoes.of_session(session, claim.scope) if session else []
        if source.strip().casefold() == RECALL_SOURCE:
            recalled += _alike(view, claim)
        return echo_of(claim.text, recalled) if recalled else None

    def job(
        self,
        method: str,
        scope: str,
        call: Call,
        plan: Planner,
        key: str,
        fields: Mapping[str, Scalar | Sequence[str]],
        look: Look | None = None,
    ) -> Job:
        """A command with the hash of its request."""
        digest = request_hash(method, fields) if key else b""
        return Job(method, scope, call.actor, plan, key, digest, call.deadline, look)


def _outcome(done: Committed, kind: type[O]) -> O:
    outcome: object = done.outcome
    assert isinstance(outcome, kind)
    return outcome


def _current(snapshot: Snapshot, key: int) -> bool:
    """Whether an echoed memory is still there to be pointed at."""
    return snapshot.states([key])[key].status in {Status.ACTIVE, Status.CONTRADICTED}


def _alike(view: ReadView, claim: PreparedClaim) -> list[Recalled]:
    """Memories that share the rarest terms of a claim which says of itself that it was recalled."""
    terms = claim.text.index.terms
    _, counts = view.frequencies(claim.scope, terms)
    rare = [term for count, term in sorted(zip(counts, terms, strict=True)) if count][:_ECHO_TERMS]
    rows = view.recall_rows(claim.scope, rare, rare, (), _ECHO_BUDGET).rows if rare else ()
    best = sorted(rows, key=lambda row: (-row.mask.bit_count(), -row.key))[:_ECHO_TERMS]
    records = view.records([row.key for row in best])
    return [Recalled.of(r.key, r.scope, r.content) for r in records.values() if r.status.current]


def _would_purge(view: ReadView, scope: str, ids: Sequence[str]) -> tuple[str, ...]:
    found = []
    for memory_id in ids:
        record = view.find(memory_id)
        if record is None or record.scope != scope:
            raise no_such_memory("memory_ids", memory_id, scope)
        if record.status is not Status.PURGED:
            found.append(memory_id)
    return tuple(found)


def no_such_memory(field: str, memory_id: str, scope: str) -> NotFound:
    """The one answer to an unknown id and to an id of another scope."""
    return NotFound(
        f"{field}: there is no memory {memory_id!r} in scope {scope!r}",
        reason="MEMORY_NOT_FOUND",
        metadata={"field": field, "memory_id": memory_id, "scope": scope},
    )

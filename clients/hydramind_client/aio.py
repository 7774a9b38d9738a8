"""The asynchronous client: the methods of `Client` as coroutines. A test holds the two signatures together."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

import grpc
import grpc.aio

from hydramind_client import convert, requests, spawn, wire
from hydramind_client import model as m
from hydramind_client.errors import DeadlineExceeded, HydraMindError, Unavailable
from hydramind_client.identity import default_actor
from hydramind_client.requests import STREAM_TIMEOUT_S, Call, Moment, Scope
from hydramind_client.scope import ScopeRef, resolve_scope

A = TypeVar("A")


class _Link:
    """The channel to one daemon, shared by a client and its views."""

    def __init__(self, plan: spawn.Plan, channel: grpc.aio.Channel | None) -> None:
        self.plan = plan
        self.channel = channel
        self.stubs: Mapping[str, Any] = {} if channel is None else wire.stubs(channel)
        self.given = channel is not None
        self.up = self.given
        self.closed = False
        self._lock = asyncio.Lock()

    async def ensure(self, attempts: wire.Attempts, *, starts: bool = True) -> None:
        """Have a daemon and a channel to it. Raises `HydraMindError`, or `grpc.RpcError` like a call."""
        if self.closed:
            raise Unavailable("this client was closed", reason=wire.CLOSED)
        if self.up:
            return
        async with self._lock:
            if not self.up:
                await self._connect(attempts, starts=starts)
                self.up = True

    async def _connect(self, attempts: wire.Attempts, *, starts: bool) -> None:
        limit = self.plan.limit_s if attempts.failed == 0 else attempts.left_s
        plan = replace(self.plan, limit_s=limit, may_start=self.plan.may_start and starts)
        await asyncio.to_thread(spawn.ensure_running, plan)
        if attempts.failed == 0:
            attempts.restart_clock()
        if self.channel is None:
            self.channel = grpc.aio.insecure_channel(wire.target(self.plan.addresses.socket), options=wire.CHANNEL_OPTIONS)
            self.stubs = wire.stubs(self.channel)
        # Proves the connection before a call is risked on it, and that whoever answers now is not too old.
        call = requests.get_server_info()
        hello = self.stubs["admin"].GetServerInfo
        wire.check_level(call.read(await hello(call.request, timeout=attempts.hello_s, wait_for_ready=attempts.failed > 0)))

    def lost(self) -> None:
        """The connection broke: look for the daemon again before the next try."""
        self.up = self.given

    async def close(self) -> None:
        self.closed = True
        if self.channel is not None:
            await self.channel.close()
        self.up = False


class AsyncClient:
    """`Client` as coroutines, on one event loop: the same methods, arguments, answers and errors.

    Streams (`export`, `import_`, `remember_batch`, `watch`) are asynchronous iterators; `watch` begins at its first step.
    """

    def __init__(
        self,
        *,
        home: str = "",
        socket: str = "",
        scope: Scope = None,
        timeout_s: float = 10.0,
        start_timeout_s: float = 30.0,
        spawn: bool = True,
        actor: m.Actor | None = None,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        channel: grpc.aio.Channel | None = None,
    ) -> None:
        plan = _plan(environ, home, socket, may_start=spawn, limit_s=start_timeout_s)
        self._link = _Link(plan, channel)
        self._environ, self._cwd = plan.environ, cwd
        self._default_scope: Scope = None if scope is None else resolve_scope(scope)
        self._metadata = wire.actor_metadata(actor or default_actor())
        self.timeout_s = timeout_s

    def with_actor(self, actor: m.Actor) -> Self:
        """The same connection for another caller: a view that need not be closed."""
        view = copy.copy(self)
        view._metadata = wire.actor_metadata(actor)  # noqa: SLF001 - of the same class
        return view

    async def close(self) -> None:
        """Close the connection."""
        await self._link.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    @property
    def socket(self) -> str:
        """Path of the daemon's socket."""
        return self._link.plan.addresses.socket

    # -- memory

    async def remember(
        self,
        content: str,
        scope: Scope = None,
        entities: Sequence[str] = (),
        derived_from: Sequence[str] = (),
        source: str | None = None,
        valid_from: Moment | None = None,
        idempotency_key: str | None = None,
    ) -> m.Remembered:
        """Store one memory; what it contradicts, and what was derived from that, loses trust."""
        request = requests.remember_message(
            content, self._scope(scope), entities, derived_from, source, valid_from, idempotency_key
        )
        return await self._run(requests.remember(request))

    def remember_batch(self, items: Iterable[m.NewMemory], scope: Scope = None) -> AsyncIterator[m.BatchOutcome]:
        """Store many memories; one outcome each, in order. A refused one does not stop the others."""
        return self._exchange("RememberBatch", requests.batch(items, self._scope(scope)), convert.batch_outcome)

    async def recall(
        self,
        query: str,
        scope: Scope = None,
        entities: Sequence[str] = (),
        limit: int | None = 10,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        include: Sequence[m.Status | str] = (),
        order: m.Order | str | None = None,
    ) -> m.Recall:
        """Find current memories for a question, best first; or abstain and say why. `limit=None`: as the daemon is set."""
        return await self._run(requests.recall(query, self._scope(scope), entities, limit, as_of, known_at, include, order))

    async def revise(
        self,
        memory_id: str,
        content: str,
        scope: Scope = None,
        reason: str = "",
        valid_from: Moment | None = None,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        source: str | None = None,
    ) -> m.Revised:
        """Replace a memory by a newer version; the old one keeps its history and gets an end of validity.

        `expected_version` raises `Conflict` when somebody else changed it meanwhile.
        """
        resolved = self._scope(scope)
        return await self._run(
            requests.revise(memory_id, content, resolved, reason, valid_from, expected_version, idempotency_key, source)
        )

    async def timeline(
        self,
        scope: Scope = None,
        entity: str | None = None,
        memory_id: str | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        limit: int | None = None,
        page_token: str | None = None,
    ) -> m.Timeline:
        """Facts by valid time: of a scope, of an entity, or of one memory's chain of revisions."""
        return await self._run(requests.timeline(self._scope(scope), entity, memory_id, as_of, known_at, limit, page_token))

    async def trace_memory(
        self,
        memory_id: str,
        scope: Scope = None,
        hops: int | None = None,
        relations: Sequence[str] = (),
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> m.Trace:
        """Walk provenance and conflict edges from a memory, up to 3 hops."""
        return await self._run(requests.trace_memory(memory_id, self._scope(scope), hops, relations, as_of, known_at))

    async def check_conflict(self, content: str, scope: Scope = None, entities: Sequence[str] = ()) -> m.ConflictCheck:
        """Say what a claim would contradict, and write nothing."""
        return await self._run(requests.check_conflict(content, self._scope(scope), entities))

    async def explain_trust(
        self, memory_id: str, scope: Scope = None, as_of: Moment | None = None, known_at: Moment | None = None
    ) -> m.TrustExplanation:
        """Explain a memory's trust in words, with the events behind it."""
        return await self._run(requests.explain_trust(memory_id, self._scope(scope), as_of, known_at))

    async def forget(
        self, memory_id: str, scope: Scope = None, reason: str | None = None, idempotency_key: str | None = None
    ) -> m.Forgotten:
        """Take a memory out of recall and withdraw what it caused."""
        return await self._run(requests.forget(memory_id, self._scope(scope), reason, idempotency_key))

    async def resolve_conflict(
        self,
        memory_id: str,
        other_id: str,
        verdict: m.Verdict | str,
        reason: str = "",
        scope: Scope = None,
        idempotency_key: str | None = None,
    ) -> m.Resolved:
        """Settle a contradiction: it stands, or it is dismissed and every number that it moved goes back."""
        resolved = self._scope(scope)
        return await self._run(requests.resolve_conflict(memory_id, other_id, verdict, reason, resolved, idempotency_key))

    async def purge(
        self,
        memory_ids: Sequence[str],
        scope: Scope = None,
        reason: str = "",
        *,
        dry_run: bool = False,
        idempotency_key: str | None = None,
    ) -> m.Purged:
        """Erase the content of memories for good; the scope must be explicit. `dry_run` only says what would be erased."""
        resolved = self._scope(scope)
        return await self._run(requests.purge(memory_ids, resolved, reason, dry_run=dry_run, idempotency_key=idempotency_key))

    async def get_memory(self, memory_id: str, scope: Scope = None, known_at: Moment | None = None) -> m.MemoryDetail:
        """Read one memory by id, also a forgotten or purged one."""
        return await self._run(requests.get_memory(memory_id, self._scope(scope), known_at))

    async def list_memories(
        self,
        scope: Scope = None,
        statuses: Sequence[m.Status | str] = (),
        entity: str | None = None,
        limit: int | None = None,
        page_token: str | None = None,
    ) -> m.MemoryList:
        """List the memories of a scope, newest first; active and contradicted ones unless `statuses` says otherwise."""
        return await self._run(requests.list_memories(self._scope(scope), statuses, entity, limit, page_token))

    async def list_scopes(self, limit: int | None = None, page_token: str | None = None) -> m.ScopeList:
        """List scopes, by name."""
        return await self._run(requests.list_scopes(limit, page_token))

    async def list_entities(
        self, scope: Scope = None, contains: str | None = None, limit: int | None = None, page_token: str | None = None
    ) -> m.EntityList:
        """List the entities of a scope, those with most memories first."""
        return await self._run(requests.list_entities(self._scope(scope), contains, limit, page_token))

    async def list_conflicts(
        self, scope: Scope = None, limit: int | None = None, page_token: str | None = None, *, include_dismissed: bool = False
    ) -> m.ConflictList:
        """List the contradictions of a scope, newest first."""
        resolved = self._scope(scope)
        return await self._run(requests.list_conflicts(resolved, limit, page_token, include_dismissed=include_dismissed))

    async def get_neighborhood(
        self,
        memory_id: str,
        scope: Scope = None,
        hops: int | None = None,
        limit: int | None = None,
        known_at: Moment | None = None,
    ) -> m.Neighborhood:
        """Read the part of the graph around a memory."""
        return await self._run(requests.get_neighborhood(memory_id, self._scope(scope), hops, limit, known_at))

    async def get_scope_stats(self, scope: Scope = None) -> m.ScopeStats:
        """Count what a scope holds."""
        return await self._run(requests.get_scope_stats(self._scope(scope)))

    def export(
        self,
        scope: Scope = None,
        *,
        include_all: bool = False,
        every_scope: bool = False,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
    ) -> AsyncIterator[m.ExportedMemory]:
        """Stream a scope's memories in commit order; `include_all` also forgotten ones and tombstones of purged ones."""
        request = requests.export(
            self._scope(scope), include_all=include_all, every_scope=every_scope, as_of=as_of, known_at=known_at
        )
        return self._stream("Export", request, convert.exported)

    async def import_(
        self, records: Iterable[m.ImportRecord], scope: Scope = None, *, restore: bool = False
    ) -> AsyncIterator[m.ImportOutcome]:
        """Store records; one outcome each. A bad one is reported with its line and fails nothing else.

        A second run of the same records changes nothing. `restore` keeps their `created_at`.
        """
        refused: list[m.ImportOutcome] = []
        messages = requests.imports(records, self._scope(scope), refused, restore=restore)
        async for outcome in self._exchange("Import", messages, convert.import_outcome):
            yield outcome
            while refused:
                yield refused.pop(0)
        while refused:
            yield refused.pop(0)

    # -- events

    async def watch(
        self, cursor: int | None = None, scopes: Sequence[str] = (), heartbeat_s: int = 0, reconnect_s: float = 60.0
    ) -> AsyncIterator[m.MemoryEvent | m.ResyncRequired]:
        """Committed changes after `cursor` (None: from now on; 0: from the oldest kept), then live ones, without an end.

        Survives restarts of the daemon without losing or repeating an event; it does not start one itself, and raises
        `Unavailable` when none came back for `reconnect_s`. A `ResyncRequired` is the last thing given: read the state anew.
        """
        position = wire.WatchPosition(cursor)
        if cursor is None:
            position.cursor = (await self.get_status()).sequence
        breaks = wire.Breaks(reconnect_s)
        while True:
            problem: HydraMindError = Unavailable("the daemon ended the stream")
            try:
                async for item in self._watch_once(position, scopes, heartbeat_s, breaks):
                    yield item
                    if isinstance(item, m.ResyncRequired):
                        return
            except (grpc.RpcError, Unavailable, DeadlineExceeded) as error:
                problem = breaks.judged(error)
            self._link.lost()
            await asyncio.sleep(breaks.pause_s(problem))

    async def _watch_once(
        self, position: wire.WatchPosition, scopes: Sequence[str], heartbeat_s: int, breaks: wire.Breaks
    ) -> AsyncIterator[m.MemoryEvent | m.ResyncRequired]:
        await self._link.ensure(wire.Attempts(self.timeout_s, "", writes=False), starts=not breaks.tries)
        request = requests.watch(position.cursor, scopes, heartbeat_s)
        stream = self._link.stubs["event"].Watch(request, metadata=self._metadata)
        try:
            async for message in stream:
                breaks.mended()
                item = position.take(message)
                if item is not None:
                    yield item
        finally:
            stream.cancel()

    # -- administration

    async def get_server_info(self) -> m.ServerInfo:
        """Identity of the running daemon. The cheapest call there is."""
        return await self._run(requests.get_server_info())

    async def get_status(self) -> m.ServerStatus:
        """State of store, writer, watchers and locks."""
        return await self._run(requests.get_status())

    async def backup(self, path: str) -> m.BackedUp:
        """Write a consistent copy of the store to a new file (absolute path)."""
        return await self._run(requests.backup(path), STREAM_TIMEOUT_S)

    async def verify(self) -> m.Verified:
        """Check the store: file integrity, and that trust and index equal what the log says."""
        return await self._run(requests.verify(), STREAM_TIMEOUT_S)

    async def rebuild(self) -> m.Rebuilt:
        """Build all derived tables anew from the commit log."""
        return await self._run(requests.rebuild(), STREAM_TIMEOUT_S)

    async def drain(self, grace_s: int | None = None) -> m.Draining:
        """Stop the daemon after the calls under way. Never starts one: raises `Unavailable` when none runs."""
        answer = await self._run(requests.drain(grace_s))
        self._link.lost()
        return answer

    # -- how calls are made

    def _scope(self, scope: Scope) -> ScopeRef:
        return resolve_scope(self._default_scope if scope is None else scope, self._environ, self._cwd)

    async def _run(self, call: Call[A], timeout_s: float | None = None) -> A:
        attempts = wire.Attempts(timeout_s or self.timeout_s, call.key, call.writes)
        while True:
            try:
                await self._link.ensure(attempts, starts=call.starts)
                stub = getattr(self._link.stubs[call.service], call.method)
                attempts.sending()
                return call.read(await stub(call.request, timeout=attempts.left_s, metadata=self._metadata))
            except grpc.RpcError as error:
                await self._retry_or_raise(attempts, error)
            except HydraMindError as error:
                raise attempts.failure(error) from error.__cause__

    async def _retry_or_raise(self, attempts: wire.Attempts, error: grpc.RpcError) -> None:
        if not attempts.again(error):
            raise attempts.failure(wire.translated(error)) from error
        self._link.lost()
        await asyncio.sleep(spawn.PAUSE_S * min(attempts.failed, 10))

    async def _stream(self, method: str, request: object, read: Callable[[Any], A]) -> AsyncIterator[A]:
        attempts = wire.Attempts(STREAM_TIMEOUT_S, "", writes=False)
        begun = False
        while True:
            try:
                await self._link.ensure(attempts)
                stream = getattr(self._link.stubs["memory"], method)(request, timeout=attempts.left_s, metadata=self._metadata)
                try:
                    async for response in stream:
                        begun = True
                        yield read(response)
                finally:
                    stream.cancel()
            except grpc.RpcError as error:
                if begun:
                    raise wire.translated(error) from error
                await self._retry_or_raise(attempts, error)
            else:
                return

    async def _exchange(self, method: str, messages: Iterable[object], read: Callable[[Any], A]) -> AsyncIterator[A]:
        refused: list[Exception] = []
        attempts = wire.Attempts(STREAM_TIMEOUT_S, "", writes=False)
        try:
            await self._link.ensure(attempts)
            stub = getattr(self._link.stubs["memory"], method)
            stream = stub(wire.items_of(messages, refused), timeout=attempts.left_s, metadata=self._metadata)
            try:
                async for response in stream:
                    yield read(response)
            finally:
                stream.cancel()
        except grpc.RpcError as error:
            self._link.lost()
            raise wire.translated(error) from error
        if refused:
            raise refused[0]


_plan = spawn.plan  # the name is an argument of the constructor

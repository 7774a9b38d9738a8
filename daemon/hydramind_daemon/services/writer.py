"""The one thread that writes: group commit, scope locks, cascades (design: One store; Scope locks).

A command whose scope another process holds waits without delaying other scopes. Cascades that were cut go on as
follow-up commands, one a batch, so that callers stay in between.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

import structlog

from hydramind_daemon.services.batch import BatchResult, BatchRunner, as_error
from hydramind_daemon.services.jobs import Committed, Job
from hydramind_daemon.services.mailbox import Mailbox, answer, refuse
from hydramind_daemon.services.ports import Clock, ScopeLocks, Store
from hydramind_daemon.services.recent import Recent
from hydramind_domain import withdraw
from hydramind_domain.errors import DeadlineExceeded, HydraMindError, ResourceExhausted, Unavailable
from hydramind_domain.model import Actor, Instant, TrustRules
from hydramind_domain.outcomes import Outcome
from hydramind_domain.plan import Plan
from hydramind_domain.snapshot import Snapshot

T = TypeVar("T")

MOST_WAITING: Final = 4_096
"""Commands that may wait before new ones are refused."""

_IDLE_S: Final = 1.0
_GAP_S: Final = 0.002
_BLOCKED_RETRY_S: Final = 0.02
_FAILED_RETRY_S: Final = 1.0
_ANSWER_MARGIN_S: Final = 0.1
_SYSTEM: Final = Actor(client_name="hydramind")


@dataclass(slots=True, eq=False)
class _Call:
    """Something to run on the writer thread between two batches."""

    run: Callable[[], Any]
    future: asyncio.Future[Any]


_Item = Job | _Call | None


@dataclass(frozen=True, slots=True)
class WriterPace:
    """How a batch closes: at `most` commands, or `wait_s` after the first while others are on their way."""

    most: int = 64
    wait_s: float = 0.005


class Writer:
    """Owns the writer thread. Public methods are for the event loop."""

    def __init__(self, store: Store, locks: ScopeLocks, clock: Clock, pace: WriterPace, rules: TrustRules) -> None:
        self._store = store
        self._locks = locks
        self._clock = clock
        self._pace = pace
        self.rules = rules
        self.recent = Recent()
        self._runner = BatchRunner(store, clock, self.recent, 0)
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._blocked: list[Job] = []
        self._follow_ups: list[int] = []
        self._follow_up_at = 0.0
        self._thread: threading.Thread | None = None
        self._mailbox: Mailbox | None = None
        self._on_commit: Callable[[int], None] = lambda _seq: None
        self._coming = 0
        self._crowd = 1
        self._waiting = 0
        self._ending = False
        self._resting = False
        self.last_seq = 0
        self.last_commit_at: Instant = 0

    # --- on the event loop

    async def start(self, mailbox: Mailbox, on_commit: Callable[[int], None]) -> None:
        """Start the thread and take up cascades that a former process left open."""
        self._mailbox = mailbox
        self._on_commit = on_commit
        self._thread = threading.Thread(target=self._serve, name="hydramind-writer", daemon=True)
        self._thread.start()
        self.last_seq, self.last_commit_at = await self.call(self._look_at_store)

    async def stop(self) -> None:
        """Finish what was accepted, give the locks back, end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            await asyncio.to_thread(thread.join)

    @property
    def waiting(self) -> int:
        """Commands that wait for their commit."""
        return self._waiting

    @property
    def follow_ups(self) -> int:
        """Cascades that go on in follow-up commands."""
        return len(self._follow_ups)

    def coming(self) -> None:
        """A command is being prepared: a batch may wait for it a little. Ends with `came`."""
        self._coming += 1

    def came(self) -> None:
        """The command announced by `coming` was submitted, or never will be."""
        self._coming -= 1

    def submit(self, job: Job) -> asyncio.Future[Committed]:
        """Queue a command and answer the future of its commit. Raises ResourceExhausted, Unavailable."""
        self._check_open()
        if self._waiting >= MOST_WAITING:
            raise ResourceExhausted(f"{self._waiting} commands are waiting; call again later", reason="TOO_MANY_WRITES")
        job.future = asyncio.get_running_loop().create_future()
        self._waiting += 1
        self._queue.put(job)
        return job.future

    async def call(self, run: Callable[[], T]) -> T:
        """Run something on the writer thread between two batches."""
        self._check_open()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put(_Call(run, future))
        return await future

    async def map_project(self, root: str, wanted: str) -> str:
        """Scope of a project folder, mapped for good when it was not."""

        def run() -> str:
            batch = self._store.begin()
            try:
                name = batch.map_project(root, wanted)
                batch.commit()
            except BaseException:
                batch.rollback()
                raise
            return name

        return await self.call(run)

    def _check_open(self) -> None:
        if self._thread is None:
            raise Unavailable("the daemon is stopping; call again", reason="DRAINING")

    def _deliver(self, result: BatchResult) -> None:
        """On the loop, after the commit: state of ours, watchers, then answers."""
        if result.wrote:
            self.last_seq, self.last_commit_at = result.seq, result.at
            self._on_commit(result.seq)
        for job, outcome in result.done:
            if job.future is None:
                continue
            self._waiting -= 1
            if isinstance(outcome, Committed):
                answer(job.future, outcome)
            else:
                refuse(job.future, outcome)

    # --- on the writer thread

    def _serve(self) -> None:
        while not (self._ending and self._queue.empty()):
            jobs = [*self._collect(), *self._follow_up()]
            jobs, self._blocked = [*self._blocked, *jobs], []
            if jobs:
                self._write(jobs)
        self._post(BatchResult(done=[(job, Unavailable("the daemon is stopping", reason="DRAINING")) for job in self._blocked]))
        self._locks.close()

    def _look_at_store(self) -> tuple[int, Instant]:
        batch = self._store.begin()
        try:
            self._follow_ups = list(batch.snapshot.open_cascades())
            at = batch.last_commit_at()
        finally:
            batch.rollback()
        sequence = self._store.status().sequence
        self._runner = BatchRunner(self._store, self._clock, self.recent, sequence)
        return sequence, at

    def _collect(self) -> list[Job]:
        """Commands of the next batch. A lone caller is not kept waiting for company that is not on its way."""
        jobs: list[Job] = []
        closes_at = 0.0
        crowd = self._crowd
        item = self._first()
        while True:
            if isinstance(item, _Call):
                self._run_call(item)
            elif item is None:
                self._ending = True
                return jobs
            elif item is not _NOTHING:
                closes_at = closes_at or self._clock.monotonic() + self._pace.wait_s
                jobs.append(item)
            item = self._next(closes_at, alone=len(jobs) >= crowd) if len(jobs) < self._pace.most else _NOTHING
            if item is _NOTHING:
                self._crowd = max(len(jobs), crowd // 2)
                return jobs

    def _first(self) -> _Item:
        """The first item of a batch, or nothing when there is other work."""
        if self._ending:
            return self._get(0.0)
        if self._blocked:
            return self._get(_BLOCKED_RETRY_S)
        if self._follow_ups:
            return self._get(max(0.0, self._follow_up_at - self._clock.monotonic()))
        if self._resting:
            self._resting = False
            return self._queue.get()
        item = self._get(_IDLE_S)
        if item is _NOTHING:
            self._rest()
        return item

    def _next(self, closes_at: float, *, alone: bool) -> _Item:
        """What is queued already, or comes soon while others are on their way.

        Callers that were together in the last batch come back together: as many are waited for, a little.
        """
        item = self._get(0.0)
        if item is not _NOTHING or (alone and self._coming <= 0):
            return item
        return self._get(min(closes_at - self._clock.monotonic(), _GAP_S))

    def _get(self, wait_s: float) -> _Item:
        try:
            return self._queue.get(timeout=wait_s) if wait_s > 0 else self._queue.get_nowait()
        except Empty:
            return _NOTHING

    def _rest(self) -> None:
        """Idle: keep the store in order, give scope locks back."""
        self._locks.release_idle(_IDLE_S)
        try:
            self._store.maintain()
        except (OSError, HydraMindError) as error:
            structlog.get_logger().warning("maintenance failed", reason=str(error))
        self._resting = not self._locks.held()

    def _run_call(self, call: _Call) -> None:
        if call.future.done():
            return
        assert self._mailbox is not None
        try:
            done = partial(answer, call.future, call.run())
        except Exception as error:  # noqa: BLE001 - whoever waits gets what went wrong; the writer goes on
            done = partial(refuse, call.future, error)
        self._mailbox.post((done,))

    def _write(self, jobs: Sequence[Job]) -> None:
        refused = BatchResult()
        live = [job for job in jobs if self._still_wanted(job, refused)]
        ready = self._locked(live, refused)
        self._post(refused)
        if not ready:
            return
        result = self._runner.run(ready)
        self._note_cascades(result)
        self._post(result)

    def _still_wanted(self, job: Job, refused: BatchResult) -> bool:
        if job.abandoned:
            refused.done.append((job, Unavailable("nobody waits for it")))
            return False
        if job.deadline is not None and self._clock.monotonic() >= job.deadline:
            late = DeadlineExceeded("the deadline passed before the command was planned; nothing was written")
            refused.done.append((job, late))
            return False
        return True

    def _locked(self, jobs: Sequence[Job], refused: BatchResult) -> list[Job]:
        """Those of the jobs whose scope is ours; the others wait, or are refused shortly before their deadline."""
        if not jobs:
            return []
        try:
            outcome = self._locks.try_acquire({job.scope for job in jobs})
        except OSError as error:
            failure = as_error(Unavailable(f"cannot lock a scope: {error}", reason="LOCK_FAILED"))
            refused.done += [(job, failure) for job in jobs]
            return []
        if not outcome.blocked:
            return list(jobs)
        now = self._clock.monotonic()
        for job in jobs:
            if job.scope not in outcome.blocked:
                continue
            if self._ending or (job.deadline is not None and now >= job.deadline - _ANSWER_MARGIN_S):
                refused.done.append((job, _held_elsewhere(job.scope, outcome.blocked[job.scope])))
            else:
                self._blocked.append(job)
        return [job for job in jobs if job.scope not in outcome.blocked]

    def _follow_up(self) -> list[Job]:
        """The next part of the oldest open cascade."""
        due = self._follow_ups and self._clock.monotonic() >= self._follow_up_at
        if self._ending or not due or any(job.future is None for job in self._blocked):
            return []
        cause = self._follow_ups[0]

        def plan(snapshot: Snapshot, now: Instant) -> tuple[Plan, Outcome]:
            return withdraw.spread(snapshot, cause, now, self.rules)

        with_scope = self._scope_of(cause)
        return [Job("spread", with_scope, _SYSTEM, plan)] if with_scope else []

    def _scope_of(self, key: int) -> str:
        try:
            with self._store.read() as view:
                return view.records([key])[key].scope
        except (OSError, KeyError, HydraMindError) as error:
            structlog.get_logger().error("a cascade cannot go on", cause=key, reason=str(error))
            self._follow_up_at = self._clock.monotonic() + _FAILED_RETRY_S
            return ""

    def _note_cascades(self, result: BatchResult) -> None:
        self._follow_ups += result.opened
        for cause in result.closed:
            if cause in self._follow_ups:
                self._follow_ups.remove(cause)
        if any(job.future is None and not isinstance(done, Committed) for job, done in result.done):
            self._follow_up_at = self._clock.monotonic() + _FAILED_RETRY_S

    def _post(self, result: BatchResult) -> None:
        if result.done:
            assert self._mailbox is not None
            self._mailbox.post((partial(self._deliver, result),))


_NOTHING: Final = Job("", "", Actor(), lambda _snapshot, _now: (_ for _ in ()).throw(AssertionError))
"""Stands for an empty queue."""


def _held_elsewhere(scope: str, pid: int) -> Unavailable:
    holder = f"process {pid}" if pid else "another process"
    return Unavailable(
        f"scope {scope!r} is locked by {holder}; nothing was written; call again when it is done",
        reason="SCOPE_LOCKED",
        metadata={"scope": scope, "pid": str(pid)},
    )

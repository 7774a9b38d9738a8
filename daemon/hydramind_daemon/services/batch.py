"""One batch of commands as one transaction of the store (design: One store). Runs on the writer thread; never raises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from hydramind_daemon.services.jobs import Committed, Job
from hydramind_daemon.services.ports import Clock, CommitMeta, Store, WriteBatch
from hydramind_daemon.services.recent import Recent
from hydramind_domain import outcome_codec
from hydramind_domain.errors import (
    AlreadyExists,
    Conflict,
    FailedPrecondition,
    HydraMindError,
    Internal,
    InvalidArgument,
    NotFound,
)
from hydramind_domain.model import Instant
from hydramind_domain.plan import Plan

Result = Committed | HydraMindError

_REFUSALS: Final = (InvalidArgument, NotFound, FailedPrecondition, Conflict, AlreadyExists)


@dataclass(slots=True)
class BatchResult:
    """What came of each command, in order; `seq` and `at` of the last commit; cascades that it opened and closed."""

    done: list[tuple[Job, Result]] = field(default_factory=list)
    wrote: bool = False
    seq: int = 0
    at: Instant = 0
    opened: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)


class _TransactionLostError(Exception):
    """The store has rolled the whole transaction back; `__cause__` says why."""


def is_empty(plan: Plan) -> bool:
    """Whether a plan changes nothing."""
    return not (
        plan.added
        or plan.states
        or plan.derived
        or plan.contradicts
        or plan.superseded
        or plan.drops
        or plan.withdrawn
        or plan.resolved
        or plan.purged
        or plan.cascade_open
        or plan.cascade_closed
        or plan.events
    )


def as_error(error: BaseException) -> HydraMindError:
    """An error of ours as itself, anything else as Internal (logged: it is a fault)."""
    if isinstance(error, HydraMindError):
        return error
    structlog.get_logger().error("a command failed", exc_info=error)
    return Internal("the store or a rule failed; the log of the daemon says more", reason="WRITE_FAILED")


def _copy(error: HydraMindError) -> HydraMindError:
    """The same error for another caller: exceptions collect tracebacks and cannot be shared."""
    return type(error)(error.message, reason=error.reason, metadata=error.metadata)


class BatchRunner:
    """Runs batches; remembers the last commit sequence for answers that needed no commit."""

    def __init__(self, store: Store, clock: Clock, recent: Recent, last_seq: int) -> None:
        self._store = store
        self._clock = clock
        self._recent = recent
        self._last_seq = last_seq

    def run(self, jobs: Sequence[Job]) -> BatchResult:
        """Plan, apply and commit; after a failure of the store every command fails alike and nothing is kept."""
        result = BatchResult(seq=self._last_seq)
        try:
            failed = self._look(jobs)
            batch = self._store.begin()
        except Exception as error:  # noqa: BLE001 - the writer outlives every fault of the store
            return self._all_failed(jobs, error)
        try:
            for job in jobs:
                result.done.append((job, failed.get(job) or self._one(batch, job, result)))
            if result.wrote:
                batch.commit()
            else:
                batch.rollback()
        except Exception as error:  # noqa: BLE001 - as above
            batch.rollback()
            return self._all_failed(jobs, error.__cause__ if isinstance(error, _TransactionLostError) else error)
        self._last_seq = result.seq
        self._recent.end(committed=True)
        return result

    def _look(self, jobs: Sequence[Job]) -> dict[Job, HydraMindError]:
        """The text work of the batch, before its transaction; answers the jobs that failed at it."""
        failed: dict[Job, HydraMindError] = {}
        wanting = [(job, job.look) for job in jobs if job.look is not None]
        if not wanting:
            return failed
        with self._store.read() as view:
            for job, look in wanting:
                try:
                    look(view)
                except Exception as error:  # noqa: BLE001 - a fault of one command must not end the others
                    failed[job] = as_error(error)
        return failed

    def _all_failed(self, jobs: Sequence[Job], error: BaseException | None) -> BatchResult:
        self._recent.end(committed=False)
        failure = as_error(error or Internal("the store failed"))
        return BatchResult(done=[(job, _copy(failure)) for job in jobs], seq=self._last_seq)

    def _one(self, batch: WriteBatch, job: Job, result: BatchResult) -> Result:
        batch.savepoint()
        try:
            committed = self._decide(batch, job, result)
        except _REFUSALS as refusal:
            self._undo(batch, refusal)
            return refusal
        except Exception as error:  # noqa: BLE001 - a fault of one command must not end the writer
            self._undo(batch, error)
            return as_error(error)
        batch.release()
        return committed

    @staticmethod
    def _undo(batch: WriteBatch, cause: BaseException) -> None:
        try:
            batch.undo()
        except Exception:  # noqa: BLE001 - whatever it says, the transaction is gone
            raise _TransactionLostError from cause

    def _decide(self, batch: WriteBatch, job: Job, result: BatchResult) -> Committed:
        if job.key:
            replayed = _stored(batch, job)
            if replayed is not None:
                return replayed
        now = max(self._clock.now(), batch.last_commit_at())
        plan, outcome = job.plan(batch.snapshot, now)
        if not job.key and is_empty(plan):
            return Committed(result.seq, outcome)
        encoded = outcome_codec.encode(outcome) if job.key else b""
        meta = CommitMeta(now, job.actor, job.method, job.scope, job.key, job.request_hash, encoded)
        seq = batch.apply(plan, meta)
        self._recent.note(plan)
        result.wrote = True
        result.seq, result.at = seq, now
        result.opened += plan.cascade_open
        result.closed += plan.cascade_closed
        return Committed(seq, outcome)


def _stored(batch: WriteBatch, job: Job) -> Committed | None:
    """The first answer to the key; also of an earlier command of this batch."""
    stored = batch.answer(job.scope, job.method, job.key)
    if stored is None:
        return None
    if stored.request_hash != job.request_hash:
        raise InvalidArgument.of(
            "idempotency_key", "was used for another request; make a new key", reason="IDEMPOTENCY_KEY_REUSED"
        )
    return Committed(stored.seq, outcome_codec.decode(stored.outcome), replayed=True)

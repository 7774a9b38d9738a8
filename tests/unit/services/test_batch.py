"""One batch as one transaction: what is undone alone, and what fails alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from hydramind_daemon.services.batch import BatchRunner
from hydramind_daemon.services.jobs import Committed, Job
from hydramind_daemon.services.ports import CommitMeta, StoredAnswer
from hydramind_daemon.services.recent import Recent
from hydramind_domain import outcome_codec
from hydramind_domain.errors import InvalidArgument, NotFound, ResourceExhausted, Unavailable
from hydramind_domain.model import Actor
from hydramind_domain.outcomes import LinkOutcome, Outcome
from hydramind_domain.plan import Event, Plan

NOBODY = Actor()


class FakeClock:
    def __init__(self, *times: int) -> None:
        self.times = list(times) or [100]

    def now(self) -> int:
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]

    def monotonic(self) -> float:
        return 0.0


@dataclass
class FakeStore:
    """Keeps (scope, time) of what was committed; fails where it is told to."""

    kept: list[CommitMeta] = field(default_factory=list)
    answers: dict[tuple[str, str, str], StoredAnswer] = field(default_factory=dict)
    begin_error: Exception | None = None
    apply_errors: dict[str, Exception] = field(default_factory=dict)
    undo_error: Exception | None = None
    commit_error: Exception | None = None
    read_error: Exception | None = None
    rolled_back: int = 0

    def begin(self) -> FakeBatch:
        if self.begin_error:
            raise self.begin_error
        return FakeBatch(self)

    @contextmanager
    def read(self) -> Iterator[object]:
        if self.read_error:
            raise self.read_error
        yield object()


class FakeBatch:
    snapshot: Any = None

    def __init__(self, store: FakeStore) -> None:
        self.store = store
        self.pending: list[CommitMeta] = []
        self.answers = dict(store.answers)
        self.mark = 0

    def last_commit_at(self) -> int:
        everything = [*self.store.kept, *self.pending]
        return everything[-1].at if everything else 0

    def savepoint(self) -> None:
        self.mark = len(self.pending)

    def undo(self) -> None:
        if self.store.undo_error:
            raise self.store.undo_error
        del self.pending[self.mark :]

    def release(self) -> None: ...

    def answer(self, scope: str, method: str, key: str) -> StoredAnswer | None:
        return self.answers.get((scope, method, key))

    def apply(self, plan: Plan, meta: CommitMeta) -> int:
        if meta.scope in self.store.apply_errors:
            raise self.store.apply_errors[meta.scope]
        self.pending.append(meta)
        seq = len(self.store.kept) + len(self.pending)
        if meta.idempotency_key:
            answer = StoredAnswer(meta.request_hash, seq, meta.outcome)
            self.answers[meta.scope, meta.method, meta.idempotency_key] = answer
        return seq

    def commit(self) -> None:
        if self.store.commit_error:
            raise self.store.commit_error
        self.store.kept += self.pending
        self.store.answers = self.answers

    def rollback(self) -> None:
        self.store.rolled_back += 1


def job(scope: str, *, error: Exception | None = None, empty: bool = False, **more: Any) -> Job:
    def plan(_snapshot: Any, _now: int) -> tuple[Plan, Outcome]:
        if error:
            raise error
        events = () if empty else (Event("forgotten", 1, None, 1.0, 1.0, "forgotten", ""),)
        return Plan("link", scope, events=events), LinkOutcome(scope, 1)

    return Job("link", scope, NOBODY, plan, **more)


def run(store: FakeStore, *jobs: Job, clock: FakeClock | None = None) -> list[Any]:
    return [result for _, result in BatchRunner(store, clock or FakeClock(), Recent(), 0).run(jobs).done]  # type: ignore[arg-type]


def scopes(store: FakeStore) -> list[str]:
    return [meta.scope for meta in store.kept]


def test_commands_are_committed_in_order_with_rising_sequences():
    store = FakeStore()
    assert [done.seq for done in run(store, job("a"), job("b"))] == [1, 2]
    assert scopes(store) == ["a", "b"]


def test_a_refused_command_is_undone_alone():
    store = FakeStore()
    first, second, third = run(store, job("a"), job("b", error=NotFound("no")), job("c"))
    assert (first.seq, third.seq) == (1, 2)
    assert isinstance(second, NotFound)
    assert scopes(store) == ["a", "c"]


def test_a_fault_in_a_rule_fails_its_command_alone_and_says_nothing_of_itself():
    store = FakeStore()
    broken, fine = run(store, job("a", error=KeyError("secret")), job("b"))
    assert (broken.reason, fine.seq) == ("WRITE_FAILED", 1)
    assert "secret" not in broken.message


def test_a_store_error_after_which_the_transaction_lives_fails_its_command_alone():
    store = FakeStore(apply_errors={"b": Unavailable("the disk failed", reason="STORE_IO")})
    first, second, third = run(store, job("a"), job("b"), job("c"))
    assert (second.reason, first.seq, third.seq) == ("STORE_IO", 1, 2)


def test_when_the_whole_transaction_is_gone_every_command_fails_alike():
    full = ResourceExhausted("no room", reason="DISK_FULL", metadata={"free": "0"})
    store = FakeStore(apply_errors={"b": full}, undo_error=RuntimeError("no transaction"))
    results = run(store, job("a"), job("b"), job("c", error=NotFound("no")))
    assert [(type(r), r.reason, r.metadata) for r in results] == [(ResourceExhausted, "DISK_FULL", {"free": "0"})] * 3
    assert len({id(r) for r in results}) == 3
    assert (scopes(store), store.rolled_back) == ([], 1)


@pytest.mark.parametrize("where", ["begin_error", "commit_error"])
def test_a_batch_that_cannot_begin_or_commit_fails_alike(where: str):
    store = FakeStore(**{where: Unavailable("not now", reason="STORE_BUSY")})
    assert [r.reason for r in run(store, job("a"), job("b"))] == ["STORE_BUSY"] * 2
    assert scopes(store) == []


def test_a_look_that_fails_fails_its_command_alone():
    def look(_view: Any) -> None:
        raise InvalidArgument.of("content", "is odd")

    store = FakeStore()
    odd, fine = run(store, job("a", look=look), job("b", look=lambda _view: None))
    assert (odd.field, fine.seq) == ("content", 1)


def test_a_store_that_cannot_be_read_fails_the_batch():
    store = FakeStore(read_error=Unavailable("not now", reason="STORE_BUSY"))
    assert [r.reason for r in run(store, job("a", look=lambda _view: None), job("b"))] == ["STORE_BUSY"] * 2


def test_the_second_of_two_commands_with_one_key_gets_the_answer_of_the_first():
    store = FakeStore()
    first, second = run(store, job("a", key="k", request_hash=b"h"), job("a", key="k", request_hash=b"h"))
    assert (first, second) == (Committed(1, LinkOutcome("a", 1)), Committed(1, LinkOutcome("a", 1), replayed=True))
    assert scopes(store) == ["a"]


def test_a_key_with_another_request_is_refused():
    store = FakeStore()
    _, second = run(store, job("a", key="k", request_hash=b"h"), job("a", key="k", request_hash=b"other"))
    assert (second.reason, second.field) == ("IDEMPOTENCY_KEY_REUSED", "idempotency_key")


def test_a_kept_answer_is_the_outcome_of_the_command():
    store = FakeStore()
    run(store, job("a", key="k", request_hash=b"h"))
    assert outcome_codec.decode(store.answers["a", "link", "k"].outcome) == LinkOutcome("a", 1)


def test_a_command_that_changes_nothing_writes_only_its_key():
    store = FakeStore()
    silent, keyed = run(store, job("a", empty=True), job("b", empty=True, key="k"))
    assert (silent.seq, keyed.seq) == (0, 1)
    assert scopes(store) == ["b"]


def test_commit_time_never_goes_back():
    store = FakeStore()
    run(store, job("a"), job("b"), job("c"), clock=FakeClock(100, 50, 120))
    assert [meta.at for meta in store.kept] == [100, 100, 120]

"""Writes that meet: keys, bursts, races, echoes, streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
import pytest

from hydramind.v1 import common_pb2, memory_pb2
from hydramind_domain.errors import ResourceExhausted
from tests.rpc.live import Live, ref, refused

pb = memory_pb2
CODE = grpc.StatusCode
ACTIVE, CONTRADICTED = common_pb2.MEMORY_STATUS_ACTIVE, common_pb2.MEMORY_STATUS_CONTRADICTED


async def stream(requests: Iterable[Any]) -> AsyncIterator[Any]:
    for request in requests:
        yield request


# --- P13: retries


async def test_ten_concurrent_calls_with_one_key_store_once(live: Live):
    answers = await asyncio.gather(*(live.remember("The port is 8080.", idempotency_key="k") for _ in range(10)))
    assert len({answer.memory_id for answer in answers}) == 1
    assert sorted(answer.replayed for answer in answers) == [False] + [True] * 9
    assert await live.contents() == ["The port is 8080."]
    assert (await live.get(answers[0].memory_id)).support == 1


async def test_a_replay_repeats_the_first_answer_also_after_things_changed(live: Live):
    first = await live.remember("Deploys must use the canary.", "deploys", idempotency_key="k")
    await live.remember("Deploys must not use the canary.", "deploys")
    again = await live.remember("Deploys must use the canary.", "deploys", idempotency_key="k")
    assert again.replayed
    again.replayed = False
    assert again == first


async def test_a_key_is_refused_for_another_request_of_the_same_scope_and_method_only(live: Live):
    first = await live.remember("The port is 8080.", idempotency_key="k")
    code, reason, metadata = await refused(live.remember("The port is 9090.", idempotency_key="k"))
    assert (code, reason, metadata["field"]) == (CODE.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED", "idempotency_key")
    assert not (await live.remember("The port is 9090.", scope="other", idempotency_key="k")).replayed
    assert not (await live.forget(first.memory_id, idempotency_key="k")).replayed


async def test_the_key_of_a_refused_call_may_be_used_again(live: Live):
    await refused(live.remember("Child.", derived_from=["nobody"], idempotency_key="k"))
    assert not (await live.remember("The port is 9090.", idempotency_key="k")).replayed


@pytest.mark.parametrize("verb", ["revise", "forget", "resolve", "purge"])
async def test_every_other_mutation_replays_too(live: Live, verb: str):
    old = (await live.remember("Production must use direct routing.", "policy")).memory_id
    new = (await live.remember("Production must not use direct routing.", "policy")).memory_id

    async def change() -> Any:
        if verb == "revise":
            return (await live.revise(old, "Production uses a mesh.", idempotency_key="k")).remembered
        if verb == "forget":
            return await live.forget(new, reason="wrong", idempotency_key="k")
        if verb == "resolve":
            request = pb.ResolveConflictRequest(
                memory_id=new, other_id=old, verdict=2, reason="wrong", scope=ref("acme"), idempotency_key="k"
            )
            return await live.memory.ResolveConflict(request)
        return await live.memory.Purge(pb.PurgeRequest(memory_ids=[new], reason="law", scope=ref("acme"), idempotency_key="k"))

    first, again = await change(), await change()
    assert (first.replayed, again.replayed) == (False, True)
    again.replayed = False
    assert again == first


# --- P1, P9: bursts and races


async def test_fifty_mixed_calls_in_one_burst_all_take_effect(live: Live):
    names = "abcdefghijklmnopqrst"
    kept = [(await live.remember(f"Service {name} listens on port {n}.")).memory_id for n, name in enumerate(names)]
    burst: list[Any] = [live.remember(f"Team {n} owns repository number {n}.") for n in range(30)]
    burst += [live.revise(memory_id, f"Service moved to port {n + 100}.") for n, memory_id in enumerate(kept[:10])]
    burst += [live.forget(memory_id) for memory_id in kept[10:]]
    done = await asyncio.gather(*burst, return_exceptions=True)
    assert [one for one in done if isinstance(one, BaseException)] == []
    contents = await live.contents()
    assert len(contents) == 40
    assert sum(content.startswith("Team") for content in contents) == 30
    sequences = [one.sequence for one in [*done[:30], *(r.remembered for r in done[30:40]), *done[40:]]]
    assert len(set(sequences)) == 50


async def test_of_racing_revisions_one_wins_and_the_others_learn_the_current_memory(live: Live):
    old = (await live.remember("The port is 8080.")).memory_id
    done = await asyncio.gather(*(live.revise(old, f"The port is {n}.") for n in range(9000, 9008)), return_exceptions=True)
    won = [one for one in done if not isinstance(one, BaseException)]
    assert len(won) == 1
    code, reason, metadata = await refused(live.revise(old, "The port is 1."))
    assert (code, reason) == (CODE.FAILED_PRECONDITION, "ALREADY_SUPERSEDED")
    assert metadata["current_id"] == won[0].remembered.memory_id
    assert metadata["current_version"] == "1"


async def test_a_revision_of_an_outdated_version_is_aborted_with_both_versions(live: Live):
    old = (await live.remember("Production must use direct routing.", "policy")).memory_id
    await live.remember("Production must not use direct routing.", "policy")
    code, reason, metadata = await refused(live.revise(old, "Production uses a mesh.", expected_version=1))
    assert (code, reason) == (CODE.ABORTED, "VERSION_MISMATCH")
    assert (metadata["expected_version"], metadata["actual_version"]) == ("1", "2")
    assert (await live.revise(old, "Production uses a mesh.", expected_version=2)).superseded_id == old


async def test_a_forgotten_memory_cannot_be_revised(live: Live):
    old = (await live.remember("The port is 8080.")).memory_id
    await live.forget(old)
    assert (await refused(live.revise(old, "The port is 1.")))[:2] == (CODE.NOT_FOUND, "MEMORY_NOT_FOUND")


async def test_contradicting_claims_of_one_batch_meet(live: Live):
    go = await live.hold_writer()
    calls = [
        asyncio.ensure_future(live.remember(content, "routing"))
        for content in ("Production must use direct routing.", "Production must not use direct routing.")
    ]
    await live.until(lambda: live.services.writer.waiting == 2)
    go()
    answers = await asyncio.gather(*calls)
    older, newer = sorted(answers, key=lambda answer: answer.sequence)
    assert [conflict.memory_id for conflict in newer.conflicts] == [older.memory_id]
    assert (await live.get(older.memory_id)).status == CONTRADICTED


async def test_an_entity_that_the_batch_brought_is_known_to_its_later_commands(live: Live):
    go = await live.hold_writer()
    one = asyncio.ensure_future(live.remember("It must use direct routing.", "billing service"))
    await live.until(lambda: live.services.writer.waiting == 1)
    two = asyncio.ensure_future(live.remember("the billing service has a queue"))
    await live.until(lambda: live.services.writer.waiting == 2)
    go()
    await one
    assert [link.name for link in (await two).entities] == ["billing service"]


async def test_a_refused_command_is_undone_alone(live: Live):
    go = await live.hold_writer()
    calls = [
        asyncio.ensure_future(live.remember("One.")),
        asyncio.ensure_future(live.remember("Two.", derived_from=["nobody"])),
        asyncio.ensure_future(live.remember("Three.")),
    ]
    await live.until(lambda: live.services.writer.waiting == 3)
    go()
    done = await asyncio.gather(*calls, return_exceptions=True)
    assert [isinstance(one, grpc.aio.AioRpcError) for one in done] == [False, True, False]
    assert sorted(await live.contents()) == ["One.", "Three."]


async def test_a_store_that_fails_at_the_commit_fails_every_command_alike_and_keeps_nothing(live: Live):
    real = live.store.begin

    def begin() -> Any:
        batch = real()

        def commit() -> None:
            batch.rollback()
            raise ResourceExhausted("the disk is full", reason="DISK_FULL")

        return _With(batch, commit)

    live.store.begin = begin  # type: ignore[method-assign]
    done = await asyncio.gather(*(refused(live.remember(f"Fact {n}.")) for n in range(5)))
    assert {one[:2] for one in done} == {(CODE.RESOURCE_EXHAUSTED, "DISK_FULL")}
    live.store.begin = real  # type: ignore[method-assign]
    assert await live.contents() == []
    assert (await live.remember("Fact 0.")).sequence == 1


class _With:
    """A batch with another commit."""

    def __init__(self, batch: Any, commit: Any) -> None:
        self._batch = batch
        self.commit = commit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)


# --- P15: echoes


async def test_what_a_session_recalled_and_stores_again_is_an_echo(live: Live):
    fact = "Deploys of the billing service go through the canary stage."
    first = await live.remember(fact, session="writer")
    await live.remember(fact, session="other")
    assert (await live.recall("billing canary stage", session="reader")).memories
    for said in (fact, fact.upper(), "The deploys of the billing service go through the canary stage"):
        again = await live.remember(said, session="reader")
        assert (again.memory_id, again.duplicate, again.echo) == (first.memory_id, True, True)
    memory = await live.get(first.memory_id)
    assert (memory.support, memory.trust_score, memory.version) == (2, 1.0, 1)


@pytest.mark.parametrize(
    "said",
    [
        "Deploys of the billing service do not go through the canary stage.",
        "Deploys of the invoice service go through the blue stage.",
        "Deploys of the billing service go through 3 canary stages.",
    ],
)
async def test_another_polarity_value_or_subject_is_no_echo(live: Live, said: str):
    await live.remember("Deploys of the billing service go through the canary stage.", "billing")
    await live.recall("billing canary stage", session="reader")
    answer = await live.remember(said, "billing", session="reader")
    assert not answer.echo
    assert not answer.duplicate


async def test_a_source_that_says_recall_is_an_echo_without_a_session(live: Live):
    first = await live.remember("Deploys of the billing service go through the canary stage.")
    again = await live.remember("deploys of the billing service go through the canary stage", source="recall")
    assert (again.memory_id, again.echo) == (first.memory_id, True)


# --- streams


async def test_a_batch_answers_every_element_in_order_and_keeps_order(live: Live):
    items = [pb.RememberRequest(content=f"Fact number {n}." if n % 10 else " ", scope=ref("acme")) for n in range(1, 101)]
    requests = [pb.RememberBatchRequest(remember=item) for item in items]
    answers = [answer async for answer in live.memory.RememberBatch(stream(requests))]
    assert [answer.index for answer in answers] == list(range(100))
    assert [n + 1 for n, answer in enumerate(answers) if answer.HasField("error")] == list(range(10, 101, 10))
    stored = [answer.remembered for answer in answers if answer.HasField("remembered")]
    assert [one.sequence for one in stored] == sorted(one.sequence for one in stored)
    times = [(one.created_at.seconds, one.created_at.nanos) for one in stored]
    assert times == sorted(times)
    assert len(set(times)) == 90


async def test_a_batch_may_go_back_and_forth(live: Live):
    call = live.memory.RememberBatch()
    for n in range(3):
        await call.write(pb.RememberBatchRequest(remember=pb.RememberRequest(content=f"Fact {n}.", scope=ref("acme"))))
        assert (await call.read()).index == n
    await call.done_writing()
    assert await call.read() is grpc.aio.EOF


def records(*more: dict[str, Any]) -> list[pb.ImportRequest]:
    made = [pb.ImportRecord(line=n, **one) for n, one in enumerate(more, start=1)]
    return [pb.ImportRequest(record=record, scope=ref("acme"), restore=True) for record in made]


FILE = (
    {"external_id": "c", "content": "The checklist follows the policy.", "derived_from": ["a"]},
    {"external_id": "a", "content": "The policy is strict.", "entities": ["policy"], "created_at": "2025-01-02T03:04:05Z"},
    {"external_id": "bad", "content": ""},
    {"external_id": "b", "content": "The policy is lax.", "supersedes": "a", "reason": "rewritten"},
    {"content": "A record without an id."},
)


async def test_an_import_reports_one_bad_line_and_links_parents_that_come_later(live: Live):
    answers = [answer async for answer in live.memory.Import(stream(records(*FILE)))]
    assert [answer.line for answer in answers] == [1, 2, 3, 4, 5]
    assert [answer.error.field for answer in answers] == ["", "", "content", "", ""]
    by_line = {answer.line: answer.imported.memory_id for answer in answers}
    child = await live.memory.GetMemory(pb.GetMemoryRequest(memory_id=by_line[1], scope=ref("acme")))
    assert list(child.derived_from) == [by_line[2]]
    old = await live.get(by_line[2])
    assert (old.superseded_by, old.created_at.seconds) == (by_line[4], 1735787045)


async def test_an_import_that_runs_again_changes_nothing(live: Live):
    first = [answer async for answer in live.memory.Import(stream(records(*FILE)))]
    before = await live.export(all=True), live.services.writer.last_seq
    again = [answer async for answer in live.memory.Import(stream(records(*FILE)))]
    assert (await live.export(all=True), live.services.writer.last_seq) == before
    assert [a.imported.memory_id for a in again] == [a.imported.memory_id for a in first]
    assert [a.imported.already_there for a in again] == [True, True, False, True, True]


async def test_an_import_that_was_cut_off_before_its_late_edges_makes_them_when_it_runs_again(live: Live):
    call = live.memory.Import()
    for request in records(*FILE[:2]):
        await call.write(request)
        await call.read()
    call.cancel()
    await live.until(lambda: not live.services.busy())
    answers = [answer async for answer in live.memory.Import(stream(records(*FILE[:2])))]
    child = await live.memory.GetMemory(pb.GetMemoryRequest(memory_id=answers[0].imported.memory_id, scope=ref("acme")))
    assert list(child.derived_from) == [answers[1].imported.memory_id]


async def test_a_parent_that_never_comes_is_reported_after_the_records(live: Live):
    lost = {"external_id": "x", "content": "It follows something.", "derived_from": ["never"]}
    answers = [answer async for answer in live.memory.Import(stream(records(lost)))]
    assert [(a.line, a.HasField("imported"), a.error.reason) for a in answers] == [(1, True, ""), (1, False, "PARENT_NOT_FOUND")]


async def test_a_cycle_can_be_imported(live: Live):
    cycle = (
        {"external_id": "x", "content": "X rests on Y.", "derived_from": ["y"]},
        {"external_id": "y", "content": "Y rests on X.", "derived_from": ["x"]},
    )
    answers = [answer async for answer in live.memory.Import(stream(records(*cycle)))]
    exported = {one.memory.memory_id: list(one.derived_from) for one in await live.export()}
    x, y = (answer.imported.memory_id for answer in answers)
    assert exported == {x: [y], y: [x]}


async def test_created_at_in_the_future_is_refused(live: Live):
    late = {"external_id": "x", "content": "From tomorrow.", "created_at": "2199-01-01"}
    answers = [answer async for answer in live.memory.Import(stream(records(late)))]
    assert answers[0].error.field == "created_at"


async def test_an_export_can_be_imported_into_another_scope(live: Live):
    a = await live.remember("The policy is strict.", "policy")
    b = await live.remember("The checklist follows the policy.", derived_from=[a.memory_id])
    c = await live.revise(a.memory_id, "The policy is lax.")
    exported = await live.export()
    made = [
        {
            "external_id": one.memory.memory_id,
            "content": one.memory.content,
            "derived_from": list(one.derived_from),
            "supersedes": one.supersedes,
            "entities": [link.name for link in one.memory.entities if link.name == "policy"],
            "scope": "copy",
        }
        for one in exported
    ]
    assert [one["external_id"] for one in made] == [a.memory_id, b.memory_id, c.remembered.memory_id]
    await asyncio.wait_for(_consume(live.memory.Import(stream(records(*made)))), 20)
    copies = await live.export("copy")
    assert [one.memory.content for one in copies] == [one.memory.content for one in exported]
    assert [bool(one.supersedes) for one in copies] == [False, False, True]
    assert [len(one.derived_from) for one in copies] == [0, 1, 0]


async def _consume(call: Any) -> None:
    async for _ in call:
        pass

"""A claim and its contrary meet whether or not either of them names an entity."""

from __future__ import annotations

import pytest

from hydramind.v1 import memory_pb2
from tests.rpc.live import Live, ref

USE, NOT_USE = "Production deploys must always use direct routing.", "Production deploys must not use direct routing."


NAMED = ("deploy-policy",)


@pytest.mark.parametrize(("first", "second"), [((), ()), ((), NAMED), (NAMED, ()), (NAMED, NAMED)])
async def test_a_claim_meets_its_contrary_with_and_without_entities(live: Live, first, second):
    old = await live.remember(USE, *first)
    new = await live.remember(NOT_USE, *second)
    assert [conflict.memory_id for conflict in new.conflicts] == [old.memory_id]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The request timeout is 30 seconds.", "The request timeout is 2 minutes."),
        ("Use tabs for indentation.", "Don't use tabs for indentation."),
        ("the log level is debug", "the log level is info"),
    ],
)
async def test_everyday_contraries_without_a_name_are_seen_before_and_by_the_write(live: Live, old: str, new: str):
    first = await live.remember(old)
    checked = await live.memory.CheckConflict(memory_pb2.CheckConflictRequest(content=new, scope=ref("acme")))
    assert [conflict.memory_id for conflict in checked.conflicts] == [first.memory_id]
    written = await live.remember(new)
    assert [conflict.memory_id for conflict in written.conflicts] == [first.memory_id]


async def test_claims_without_names_about_other_things_do_not_meet(live: Live):
    facts = [
        "The request timeout is 30 seconds.",
        "The session timeout is 2 minutes.",
        "The login page uses tabs.",
        "Do not use spaces in branch names.",
        "The log level of staging is debug.",
        "the retry limit is 5",
        "lunch is at noon",
        "the build takes 9 minutes",
        "Step 1.",
        "Step 2.",
    ]
    answers = [await live.remember(fact) for fact in facts]
    assert [conflict for answer in answers for conflict in answer.conflicts] == []


async def test_two_names_that_are_given_and_differ_keep_claims_apart(live: Live):
    await live.remember(USE, "deploy-policy")
    assert not (await live.remember(NOT_USE, "staging-policy")).conflicts


async def test_a_contrary_in_another_scope_is_never_met(live: Live):
    await live.remember("The request timeout is 30 seconds.", scope="one")
    assert not (await live.remember("The request timeout is 2 minutes.", scope="two")).conflicts

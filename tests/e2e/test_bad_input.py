"""One table of bad input for every front end: an error that names the field, nothing written, and the next good call works.

What is blank, over a limit of a name or query, or an impossible date by its own row of symptoms is held there too; this table is
about the whole: the export of everything is the same before and after.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.symptoms.conftest import home_of_the_world as home_of_the_world  # noqa: PLC0414 - fixtures are found by name
from tests.e2e.symptoms.conftest import world as world  # noqa: PLC0414
from tests.e2e.symptoms.doors import NAMES, Door, Refused, World
from tests.unit.mcp.rig import call

GOOD = "the-id"  # stands for a memory of this scope
FOREIGN = "the-foreign-id"  # stands for a memory of another scope
MIB = 1 << 20
LONE = "half a pair \ud800 here"


@dataclass(frozen=True)
class Bad:
    """A call that must be refused, and the field that the refusal must name."""

    tool: str
    arguments: Mapping[str, object]
    field: str
    doors: tuple[str, ...] = NAMES

    def __str__(self) -> str:
        name, value = next(reversed(self.arguments.items()), ("nothing", ""))
        return f"{self.tool}-{name}-{ascii(value)[:24]}-{len(str(value))}"


TYPED = ("mcp",)  # only JSON can say a wrong type to a front end that is typed
SAYABLE = ("mcp", "shell")  # what the typed client's signature forbids
LIBRARY = ("mcp", "python")  # a command line cannot hold it: the system forbids NUL and 128 KiB in one word

TABLE = (
    Bad("remember", {"content": ""}, "content"),
    Bad("remember", {"content": " \n\t\u200b"}, "content"),
    Bad("remember", {"content": "nul \0 inside"}, "content", LIBRARY),
    Bad("remember", {"content": LONE}, "content"),
    Bad("remember", {"content": "x" * (MIB + 1)}, "content"),
    Bad("remember", {"content": "é" * (MIB // 2 + 1)}, "content"),
    Bad("remember", {"content": "x", "entities": [f"e{n}" for n in range(65)]}, "entities"),
    Bad("remember", {"content": "x", "entities": ["n" * 257]}, "entities"),
    Bad("remember", {"content": "x", "entities": [" "]}, "entities"),
    Bad("remember", {"content": "x", "entities": [LONE]}, "entities"),
    Bad("remember", {"content": "x", "entities": ["a\0b"]}, "entities", LIBRARY),
    Bad("remember", {"content": "x", "derived_from": [GOOD] + [f"p{n}" for n in range(64)]}, "derived_from"),
    Bad("remember", {"content": "x", "derived_from": ["mem_nowhere"]}, "derived_from"),
    Bad("remember", {"content": "x", "derived_from": [FOREIGN]}, "derived_from"),
    Bad("remember", {"content": "x", "source": "s" * 1025}, "source"),
    Bad("remember", {"content": "x", "valid_from": "2026-02-30"}, "valid_from"),
    Bad("remember", {"content": "x", "valid_from": "2026-13-01T00:00:00Z"}, "valid_from"),
    Bad("remember", {"content": "x", "valid_from": "yesterday"}, "valid_from"),
    Bad("remember", {"content": "x", "valid_from": "2026-03-01T12:00:00"}, "valid_from"),
    Bad("remember", {"content": "x", "idempotency_key": "k" * 257}, "idempotency_key"),
    Bad("remember", {"content": "x", "scope": "s" * 257}, "scope"),
    Bad("remember", {"content": 5}, "content", TYPED),
    Bad("remember", {"content": None}, "content", TYPED),
    Bad("remember", {"content": ["x"]}, "content", TYPED),
    Bad("remember", {"content": "x", "entities": "deploy"}, "entities", TYPED),
    Bad("remember", {"content": "x", "entities": [1, 2]}, "entities", TYPED),
    Bad("remember", {"content": "x", "entities": {"a": "b"}}, "entities", TYPED),
    Bad("remember", {"content": "x", "colour": "green"}, "colour", SAYABLE),
    Bad("remember", {}, "content", TYPED),
    Bad("recall", {"query": "q" * 8193}, "query"),
    Bad("recall", {"query": LONE}, "query"),
    Bad("recall", {"query": "x", "limit": 101}, "limit"),
    Bad("recall", {"query": "x", "limit": -1}, "limit"),
    Bad("recall", {"query": "x", "limit": "ten"}, "limit", SAYABLE),
    Bad("recall", {"query": "x", "limit": 1 << 40}, "limit"),
    Bad("recall", {"query": "x", "limit": True}, "limit", TYPED),
    Bad("recall", {"query": "x", "as_of": "2026-02-30"}, "as_of"),
    Bad("recall", {"query": "x", "known_at": "never"}, "known_at"),
    Bad("recall", {"query": "x", "include": ["everything"]}, "include"),
    Bad("recall", {"query": "x", "entities": [f"e{n}" for n in range(65)]}, "entities"),
    Bad("recall", {"query": "x", "fuzzy": 1}, "fuzzy", SAYABLE),
    Bad("revise", {"reason": "r", "content": "x", "memory_id": "mem_nowhere"}, "memory_id"),
    Bad("revise", {"reason": "r", "content": "x", "memory_id": FOREIGN}, "memory_id"),
    Bad("revise", {"reason": "r", "content": "x", "memory_id": ""}, "memory_id"),
    Bad("revise", {"reason": "r", "memory_id": GOOD, "content": " "}, "content"),
    Bad("revise", {"memory_id": GOOD, "content": "x", "reason": " "}, "reason"),
    Bad("revise", {"memory_id": GOOD, "content": "x", "reason": "r" * 1025}, "reason"),
    Bad("revise", {"reason": "r", "memory_id": GOOD, "content": "x", "expected_version": -1}, "expected_version"),
    Bad("revise", {"reason": "r", "memory_id": GOOD, "content": "x", "expected_version": "a"}, "expected_version", SAYABLE),
    Bad("timeline", {"limit": 501}, "limit"),
    Bad("timeline", {"limit": -1}, "limit"),
    Bad("timeline", {"page_token": "forged"}, "page_token"),
    Bad("timeline", {"page_token": "AAAA" * 30}, "page_token"),
    Bad("timeline", {"entity": "n" * 257}, "entity"),
    Bad("timeline", {"memory_id": FOREIGN}, "memory_id"),
    Bad("timeline", {"as_of": "32 January"}, "as_of"),
    Bad("trace_memory", {"memory_id": "mem_nowhere"}, "memory_id"),
    Bad("trace_memory", {"memory_id": FOREIGN}, "memory_id"),
    Bad("trace_memory", {"memory_id": GOOD, "hops": 4}, "hops"),
    Bad("trace_memory", {"memory_id": GOOD, "hops": -1}, "hops"),
    Bad("trace_memory", {"memory_id": GOOD, "relations": ["FRIEND_OF"]}, "relations"),
    Bad("check_conflict", {"content": " "}, "content"),
    Bad("check_conflict", {"content": "x" * (MIB + 1)}, "content"),
    Bad("explain_trust", {"memory_id": FOREIGN}, "memory_id"),
    Bad("explain_trust", {"memory_id": "\u200b"}, "memory_id"),
    Bad("forget", {"memory_id": FOREIGN}, "memory_id"),
    Bad("forget", {"memory_id": "mem_nowhere"}, "memory_id"),
    Bad("forget", {"memory_id": GOOD, "reason": "r" * 1025}, "reason"),
    Bad("resolve_conflict", {"memory_id": GOOD, "other_id": FOREIGN, "verdict": "dismissed", "reason": "r"}, "id"),
    Bad("resolve_conflict", {"memory_id": GOOD, "other_id": GOOD, "reason": "r", "verdict": "perhaps"}, "verdict"),
)  # fmt: skip


@pytest.fixture(scope="module")
def ids(world: World) -> dict[str, str]:
    """A memory of the scope under test and one of another scope."""
    good = world.client.remember("The orchard is in bloom.", "here", ["orchard"]).memory_id
    return {GOOD: good, FOREIGN: world.client.remember("The quarry is closed.", "elsewhere", ["quarry"]).memory_id}


def whole_store(world: World) -> tuple[list[object], int]:
    """Every memory of every scope and status, and the number of the last commit."""
    return list(world.client.export(every_scope=True, include_all=True)), world.client.get_status().sequence


def with_ids(value: object, ids: Mapping[str, str]) -> object:
    """The arguments with real ids in the places of their names."""
    if isinstance(value, list):
        return [with_ids(one, ids) for one in value]
    return ids.get(value, value) if isinstance(value, str) else value


def refused_by(door: Door, bad: Bad, ids: Mapping[str, str]) -> str:
    """What the door said. Fails when it did not refuse."""
    arguments = {"scope": "here", **{key: with_ids(value, ids) for key, value in bad.arguments.items()}}
    try:
        answer = door.use(bad.tool, **arguments)
    except Refused as refused:
        return refused.text
    raise AssertionError(f"{door.name} did not refuse: {answer}")


def names(told: str, field: str) -> bool:
    """Whether an error names the field: as the contract does, or as the command line's option or placeholder."""
    words = (
        field,
        field.replace("_", "-"),
        field.upper(),
        {"relations": "--relation", "verdict": "{stands|dismissed}"}.get(field, field),
    )
    return any(word in told for word in words)


SAID = [(bad, name) for bad in TABLE for name in bad.doors if (bad.tool, name) != ("resolve_conflict", "mcp")]  # agents have none


@pytest.mark.parametrize(("bad", "name"), SAID, ids=str)
def test_bad_input_is_refused_by_the_name_of_its_field_and_nothing_is_written(
    world: World, ids: dict[str, str], bad: Bad, name: str
):
    door, before = world.doors[name], whole_store(world)
    told = refused_by(door, bad, ids)
    assert names(told, bad.field), told[:500]
    assert len(told) < 2_000, "an error does not send the input back"
    assert "Traceback" not in told
    assert whole_store(world) == before
    assert door.use("explain_trust", memory_id=ids[GOOD], scope="here")["trust_score"] == 1.0, "the next good call works"


def test_fifty_bad_calls_in_one_burst_are_each_refused_and_good_ones_among_them_succeed(world: World, ids: dict[str, str]):
    shim: Any = world.doors["mcp"].shim  # type: ignore[attr-defined]
    bad = [
        one
        for one in TABLE
        if "mcp" in one.doors and len(json.dumps(dict(one.arguments))) < 50_000 and one.tool != "resolve_conflict"
    ]
    burst = [call(f"bad-{n}", one.tool, **{"scope": "burst", **one.arguments}) for n, one in enumerate(bad[:45])]
    good = [call(f"good-{n}", "remember", content=f"Beehive b{n} hums.", scope="burst") for n in range(5)]
    for at, message in enumerate(good):
        burst.insert(at * 10, message)
    before = len(whole_store(world)[0])
    shim.send(*burst)
    answers = {message["id"]: shim.answer(message["id"]) for message in burst}
    fine = {number for number, answer in answers.items() if "result" in answer and not answer["result"].get("isError")}
    assert fine == {message["id"] for message in good}
    assert len(whole_store(world)[0]) == before + 5
    assert world.client.verify().ok


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["remember", "x", "--colour", "green"], "--colour"),
        (["frobnicate"], "frobnicate"),
        (["recall", "x", "--limit", "many"], "--limit"),
        (["trace"], "MEMORY_ID"),
    ],
)
def test_a_command_line_that_is_wrong_ends_with_usage_and_writes_nothing(world: World, arguments: list[str], words: str):
    before = whole_store(world)
    code, out, err = world.shell.run(*arguments, "--json")
    assert (code, out) == (64, "")
    assert words in err
    assert whole_store(world) == before

"""Section 5: questions that must find their answer, and those that must find none. P46 (calibration) is measured elsewhere."""

import os
import string
import subprocess
from pathlib import Path

import pytest

from hydramind_client import Client
from tests.e2e.symptoms.doors import Answer, Door, World, contents, process, refusal
from tests.unit.mcp.rig import ShimProcess, call

pytestmark = pytest.mark.timeout(300)

# --- P39: natural questions

QUESTIONS = {
    "database": ("which database does the billing service use", "Billing moved to PostgreSQL"),
    "reviewer": ("who reviews changes to the payment gateway", "Changes to the payment gateway are reviewed by Carol"),
    "schedule": ("when do the nightly backups of Ledger run", "Ledger backups run every night at 02:00"),
}


@pytest.mark.parametrize(("query", "fact"), list(QUESTIONS.values()), ids=list(QUESTIONS))
def test_p39_a_natural_question_finds_its_answer(door: Door, scope: str, query: str, fact: str):
    for content in (fact, "The cat sleeps on the printer", "Winter tires are mounted in October"):
        door.use("remember", content=content, scope=scope)
    assert contents(door.use("recall", query=query, scope=scope)) == [fact]


def test_p39_control_a_natural_question_about_something_else_finds_nothing(door: Door, scope: str):
    door.use("remember", content="Billing moved to PostgreSQL", scope=scope)
    answer = door.use("recall", query="which airline does the finance team prefer", scope=scope)
    assert (answer["memories"], answer["abstained"]) == ([], True)


# --- P40: signs

SIGNS = ("multi-agent", "CLAUDE.md", "src/main.py", "GB/s", "don't", "ubuntu 20.04", "a:b", "C++", "v1.2.3-rc.1")


@pytest.mark.parametrize("sign", SIGNS)
def test_p40_words_with_signs_are_found(door: Door, scope: str, sign: str):
    fact = f"We wrote about {sign} in the report"
    door.use("remember", content=fact, scope=scope)
    door.use("remember", content="The piano is out of tune", scope=scope)
    assert contents(door.use("recall", query=sign, scope=scope)) == [fact]


def test_p40_any_query_is_legal(door: Door, scope: str):
    door.use("remember", content="Something about routing", scope=scope)
    hostile = [
        "", " ", '"', "'", "(((", "AND OR NOT NEAR *", "a NEAR/3 b", "\\", "%_%", "\0", "'; DROP TABLE x; --", "-- x", "--help",
        string.punctuation, '"' * 8_192, 'a"b', "routing AND", "NOT routing", "rout*", "content:routing", "^routing", "{routing}",
        *string.punctuation,
    ]  # fmt: skip
    for query in hostile:
        answer = door.use("recall", query=query, scope=scope)
        assert answer["abstained"] == (answer["memories"] == []), query
        assert bool(answer.get("reason")) == answer["abstained"], query
    assert contents(door.use("recall", query="routing AND (something", scope=scope)) == ["Something about routing"]


def test_p40_control_a_query_beyond_its_limit_is_refused_by_name_and_nothing_breaks(door: Door, scope: str):
    door.use("remember", content="Something about routing", scope=scope)
    assert "query" in refusal(door, "recall", query='"' * 10_240, scope=scope)
    assert contents(door.use("recall", query="routing", scope=scope)) == ["Something about routing"]


# --- P41: names of scopes

SCOPES = ("my-team", "a_b", "v1.2", "a/b", "with space", "日本語", "5b0f4c1e-6f0d-4a8e-9f6e-1f2d3c4b5a69", "-", "a:b'c\"d", "🚀")


@pytest.mark.parametrize("name", SCOPES)
def test_p41_every_accepted_scope_is_searchable_through_every_door(world: World, door: Door, name: str):
    fact = f"The deploy of {door.name} runs at noon"
    stored = door.use("remember", content=fact, scope=name)
    assert stored["scope"] == name
    for reader in world.doors.values():
        assert fact in contents(reader.use("recall", query=f"deploy {door.name} noon", scope=name)), reader.name
    assert name in {row.scope for row in world.client.list_scopes().scopes}


@pytest.mark.parametrize("name", ["x" * 257, "\u200b", "a\0b"])
def test_p41_control_what_is_not_accepted_is_refused_for_writing_and_reading_alike(world: World, door: Door, name: str):
    before = len(world.client.list_scopes().scopes)
    assert "scope" in refusal(door, "remember", content="x", scope=name)
    assert "scope" in refusal(door, "recall", query="x", scope=name)
    assert len(world.client.list_scopes().scopes) == before


# --- P42: every reader finds what one finds

NAMED = {
    "camel": ("PaymentGateway retries three times", "PaymentGateway"),
    "path": ("The parser lives in src/parse/lexer.py", "src/parse/lexer.py"),
    "ticked": ("`flush_queue` is called at the end", "flush_queue"),
}


@pytest.mark.parametrize(("fact", "name"), list(NAMED.values()), ids=list(NAMED))
def test_p42_no_reader_is_empty_where_another_finds_the_exact_name(world: World, door: Door, scope: str, fact: str, name: str):
    one = door.use("remember", content=fact, scope=scope)
    assert contents(door.use("recall", query=name, scope=scope)) == [fact]
    assert contents(door.use("recall", query="", entities=[name], scope=scope)) == [fact]
    assert [f["content"] for f in door.use("timeline", entity=name, scope=scope)["facts"]] == [fact]
    paths = door.use("trace_memory", memory_id=one["memory_id"], relations=["ABOUT"], scope=scope)["paths"]
    assert f"entity:{name}" in {path["vertices"][-1]["id"] for path in paths}
    assert world.client.list_memories(scope, entity=name).total == 1
    assert world.shell.json("list", "--scope", scope, "-e", name)["total"] == 1
    assert name in str(world.shell.json("entities", "--scope", scope))


def test_p42_control_a_name_that_was_never_stored_is_empty_everywhere(door: Door, scope: str):
    door.use("remember", content=NAMED["camel"][0], scope=scope)
    assert door.use("recall", query="LedgerGateway9", scope=scope)["abstained"]
    assert door.use("timeline", entity="LedgerGateway9", scope=scope)["facts"] == []


# --- P45: nonsense

NONSENSE = ("zxqv QQQQ never stored", "florbnax wibble", "what is the blorptang of Quuxistan")


@pytest.mark.parametrize("query", NONSENSE)
def test_p45_nonsense_gets_an_abstention_with_a_reason_and_no_content(door: Door, scope: str, query: str):
    for fact in ("Production uses direct routing", "The ledger is written in Kotlin", "Carol reviews migrations"):
        door.use("remember", content=fact, scope=scope)
    answer = door.use("recall", query=query, scope=scope)
    assert (answer["memories"], answer["abstained"]) == ([], True)
    assert answer["reason"]
    assert all(isinstance(near, str) and near.startswith("mem_") for near in answer["nearest"])
    assert "Kotlin" not in str(answer)


def test_p45_control_a_good_question_beside_them_is_answered(door: Door, scope: str):
    door.use("remember", content="The ledger is written in Kotlin", scope=scope)
    answer = door.use("recall", query="what is the ledger written in", scope=scope)
    assert (contents(answer), answer["abstained"]) == (["The ledger is written in Kotlin"], False)


# --- P47: an omitted scope


def test_p47_an_omitted_scope_is_the_same_through_every_door(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(world.elsewhere)
    for writer in world.doors.values():
        fact = f"The {writer.name} door writes to wherever it is"
        stored = writer.use("remember", content=fact)
        assert (stored["scope"], stored["scope_from"]) == ("default", "default")
        for reader in world.doors.values():
            answer = reader.use("recall", query=f"{writer.name} door writes wherever")
            assert (answer["scope"], answer["scope_from"]) == ("default", "default")
            assert fact in contents(answer), (writer.name, reader.name)
            assert fact in contents(reader.use("recall", query=f"{writer.name} door writes wherever", scope="default"))


def test_p47_control_another_scope_does_not_see_it(world: World, door: Door, scope: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(world.elsewhere)
    door.use("remember", content="The vault opens at noon")
    assert door.use("recall", query="vault opens noon", scope=scope)["abstained"]


# --- P49, P72: projects


class Places:
    """What each front end says about a working directory."""

    def __init__(self, world: World) -> None:
        self.world = world

    def remembered(self, cwd: Path, fact: str) -> dict[str, Answer]:
        with ShimProcess(cwd=cwd) as shim, Client(home=str(self.world.home), cwd=str(cwd)) as client:
            by_mcp = shim.open().ask(call(1, "remember", content=fact))["result"]["structuredContent"]
            done = process(self.world.home, cwd, ["remember", fact, "--json"])
            assert done.returncode == 0, done.stderr
            by_python = client.remember(fact)
        return {
            "mcp": {"scope": by_mcp["scope"], "memory_id": by_mcp["memory_id"], "from": by_mcp["scope_from"]},
            "shell": self._of(done.stdout),
            "python": {
                "scope": by_python.scope, "memory_id": by_python.memory_id, "from": str(by_python.scope_from.value),
            },
        }  # fmt: skip

    @staticmethod
    def _of(text: str) -> Answer:
        import json

        answer = json.loads(text)
        return {"scope": answer["scope"], "memory_id": answer["memory_id"], "from": answer["scope_from"]}

    def scope(self, cwd: Path) -> tuple[str, str]:
        """The one scope that all front ends use there, and where it is from."""
        told = self.remembered(cwd, "Tea is green.")
        scopes = {(answer["scope"], answer["from"]) for answer in told.values()}
        assert len(scopes) == 1, told
        return next(iter(scopes))


@pytest.fixture
def places(world: World) -> Places:
    return Places(world)


@pytest.fixture
def repo(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A real repository with one commit."""
    made = tmp_path / f"proj-{request.node.name[5:8]}-{os.getpid()}"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(made)]
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "one"], check=True)
    return made


def test_p49_a_sub_folder_a_symlink_and_a_worktree_are_one_project(places: Places, repo: Path, tmp_path: Path):
    deep = repo / "src" / "deep"
    deep.mkdir(parents=True)
    link, tree = tmp_path / "link", tmp_path / "tree"
    link.symlink_to(repo)
    subprocess.run(["git", "-C", str(repo), "worktree", "add", "-q", str(tree)], check=True)
    told = [places.scope(where) for where in (repo, deep, link, link / "src", tree)]
    assert set(told) == {(repo.name, "project")}


def test_p49_the_same_folder_in_another_case_is_one_project(places: Places, repo: Path):
    other = repo.with_name(repo.name.upper())
    if not other.exists():
        pytest.skip("this file system tells cases apart")
    assert places.scope(other) == places.scope(repo)


def test_p49_the_parent_of_several_projects_is_none_and_same_names_are_kept_apart(places: Places, tmp_path: Path):
    both = [tmp_path / side / "twin-app" for side in ("left", "right")]
    for each in both:
        (each / ".git").mkdir(parents=True)
    scopes = [places.scope(each) for each in both]
    assert scopes[0] != scopes[1]
    assert {scope.split("-app")[0] for scope, _ in scopes} == {"twin"}
    assert places.scope(tmp_path) == ("default", "default")


def test_p49_a_worktree_that_lies_opens_no_other_project(places: Places, repo: Path, tmp_path: Path):
    liar = tmp_path / "liar"
    liar.mkdir()
    (liar / ".git").write_text(f"gitdir: {repo}/.git\n")
    assert places.scope(liar)[0] != places.scope(repo)[0]


def test_p49_no_hit_in_a_mistyped_scope_names_the_near_one(world: World, door: Door):
    door.use("remember", content="Something", scope="billing-service")
    answer = door.use("recall", query="something", scope="billing-servce")
    assert (answer["memories"], answer["near_scopes"]) == ([], ["billing-service"])


def test_p49_control_a_name_unlike_all_others_suggests_none(door: Door):
    assert not door.use("recall", query="something", scope="qqqqzzzzxxxx").get("near_scopes")

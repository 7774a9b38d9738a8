"""The law of time: every answer with `known` is that of a fresh store which replayed the log up to there."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hydramind_daemon.stores.log import records
from hydramind_daemon.stores.store import SqliteStore
from hydramind_domain.errors import HydraMindError
from hydramind_domain.indexing import index_terms
from hydramind_domain.model import TrustRules
from tests.contract.history import History, present_answers, timed_answers
from tests.fakes.memory_graph import MemoryGraph

WORDS = ("red", "blue", "green", "port", "never")
ENTITIES = ("router", "queue")

refs = st.integers(0, 20)
STORY = [
    ("remember", "port red", {"router"}, set(), set(), "a"),
    ("remember", "port blue", {"router", "queue"}, {0}, set(), "a"),
    ("remember", "green", {"queue"}, {1}, set(), "a"),
    ("commit",),
    ("remember", "never port red", {"router"}, set(), {0, 1}, "a"),
    ("remember", "never green", set(), {2}, {2}, "a"),
    ("remember", "green port", {"Router"}, set(), set(), "b"),
    ("revise", 1, "port green", {2}),
    ("commit",),
    ("resolve", 3, 0, False),
    ("resolve", 3, 0, True),
    ("link", 0, 2),
    ("forget", 4),
    ("purge", 0),
    ("remember", "port red", {"ROUTER"}, set(), {6}, "a"),
    ("forget", 7),
    ("purge", 5),
]
"""Every kind of command, with an effect."""

LATE_LINK = [
    ("remember", "red", set(), set(), set(), "a"),
    ("revise", 0, "red", set()),
    ("link", 1, 0),
]
"""Evidence that was superseded before anything was derived from it."""

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
scopes = st.sampled_from(["a", "a", "a", "b"])
remembers = st.tuples(
    st.just("remember"), texts, st.sets(st.sampled_from(ENTITIES)), st.sets(refs, max_size=2), st.sets(refs, max_size=2), scopes
)
commands = st.one_of(
    remembers,
    remembers,
    st.tuples(st.just("revise"), refs, texts, st.sets(refs, max_size=1)),
    st.tuples(st.just("forget"), refs),
    st.tuples(st.just("purge"), refs),
    st.tuples(st.just("resolve"), refs, refs, st.booleans()),
    st.tuples(st.just("link"), refs, refs),
    st.tuples(st.just("commit")),
)


def run(history: History, made: list[tuple[str, str]], command: tuple) -> None:
    """One command; a reference picks one of the memories made so far."""

    def name(ref: int) -> str:
        return made[ref % len(made)][0] if made else "nothing"

    def scope(ref: int) -> str:
        return made[ref % len(made)][1] if made else "a"

    def keep(new: str, where: str) -> None:
        """A claim that is there already makes no second memory."""
        if history.batch.snapshot.find(new):
            made.append((new, where))

    new = f"m{len(made)}"
    match command:
        case ("remember", text, about, on, against, where):
            against = {name(ref) for ref in against if made and scope(ref) == where}
            on = {name(ref) for ref in on if made and scope(ref) == where}
            history.remember(
                new, text, about=sorted(about), on=sorted(on), against=sorted(against), scope=where, key=f"k{len(made)}"
            )
            keep(new, where)
        case ("revise", ref, text, against):
            against = {name(other) for other in against if made and scope(other) == scope(ref)}
            history.revise(name(ref), new, text, against=sorted(against), scope=scope(ref))
            keep(new, scope(ref))
        case ("forget", ref):
            history.forget(name(ref), scope(ref))
        case ("purge", ref):
            history.purge(name(ref), scope=scope(ref))
        case ("resolve", one, two, dismissed):
            history.resolve(name(one), name(two), dismissed=dismissed, scope=scope(one))
        case ("link", one, two):
            history.link(name(one), name(two), scope=scope(one))
        case ("commit",):
            history.commit()


def play(history: History, script: list[tuple]) -> None:
    made: list[tuple[str, str]] = []
    for command in script:
        try:
            run(history, made, command)
        except HydraMindError:
            history.batch.undo()
        for cause in history.batch.snapshot.open_cascades():
            name = history.batch.snapshot.memory_ids([cause])[cause]
            history.spread(name, history.batch.snapshot.record(cause).scope)
    history.commit()


def replay(store: SqliteStore, source: SqliteStore, until: int) -> None:
    batch = store.begin()
    for record in records(source.writer_connection, until=until):
        batch.savepoint()
        batch.apply(record.plan, record.meta)
        batch.release()
    batch.commit()


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@example(script=STORY, cascade_limit=1)
@example(script=LATE_LINK, cascade_limit=1)
@given(script=st.lists(commands, min_size=1, max_size=14), cascade_limit=st.sampled_from([1, 5_000]))
def test_known_at_equals_a_store_that_replayed_the_log_up_to_there(script: list[tuple], cascade_limit: int) -> None:
    live = SqliteStore.ephemeral()
    try:
        play(History(live, TrustRules(cascade_limit=cascade_limit), index_terms), script)
        with live.read() as view:
            last = view.sequence
        for known in range(last + 1):
            then = SqliteStore.ephemeral()
            try:
                replay(then, live, known)
                with live.read() as now, then.read() as old:
                    assert timed_answers(now, known, WORDS, ENTITIES) == timed_answers(old, None, WORDS, ENTITIES)
                    if known == last:
                        assert present_answers(now, WORDS, ENTITIES) == present_answers(old, WORDS, ENTITIES)
            finally:
                then.close()
    finally:
        live.close()


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@example(script=STORY)
@given(script=st.lists(commands, min_size=1, max_size=20))
def test_the_store_holds_what_the_simplest_graph_holds_after_the_same_plans(script: list[tuple]) -> None:
    live = SqliteStore.ephemeral()
    try:
        play(History(live, index=index_terms), script)
        graph = MemoryGraph()
        for record in records(live.writer_connection):
            graph.apply(record.plan)
        with live.read() as view:
            keys = view.export_keys(None, 0, 1_000, every_status=True)
            states = {key: record.state for key, record in view.records(keys).items()}
            parents = {key: list(view.parents([key]).get(key, ())) for key in keys}
            standing = {key: {p.drop.drop_id for p in view.drops_on(key) if p.withdrawn_at is None} for key in keys}
        assert states == {key: memory.state for key, memory in graph.memories.items()}
        assert parents == {key: list(graph.parents(key)) for key in graph.memories}
        assert standing == {k: {d.drop_id for d in graph.standing_drops_on([k]).get(k, ())} for k in graph.memories}
    finally:
        live.close()


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@example(script=STORY)
@given(script=st.lists(commands, min_size=1, max_size=20))
def test_rebuilding_changes_no_answer_and_verify_finds_nothing(script: list[tuple]) -> None:
    live = SqliteStore.ephemeral()
    try:
        play(History(live, index=index_terms), script)
        with live.read() as view:
            before = timed_answers(view, None, WORDS, ENTITIES), present_answers(view, WORDS, ENTITIES)
        assert list(live.verify()) == []
        live.rebuild()
        with live.read() as view:
            assert (timed_answers(view, None, WORDS, ENTITIES), present_answers(view, WORDS, ENTITIES)) == before
        assert list(live.verify()) == []
    finally:
        live.close()

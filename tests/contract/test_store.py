"""What the services may count on, on every configuration of the store."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from hydramind_daemon.services.ports import CommitMeta, Store
from hydramind_domain.errors import AlreadyExists, InvalidArgument, NotFound
from hydramind_domain.indexing import index_terms
from hydramind_domain.model import Status
from hydramind_domain.plan import Plan
from tests.contract.history import ME, SECOND, History, present_answers, timed_answers

WORDS = ("production", "deploys", "routing.", "must")


def tell_the_story(history: History) -> None:
    """The reference example: 1.0 → 0.6, 1.0 → 0.85, 1.0 → 0.70."""
    history.remember("policy", "Production deploys must always use direct routing.", about=["deploy-policy"])
    history.remember("checklist", "Checklist follows deploy policy.", on=["policy"])
    history.remember("runbook", "The runbook follows the checklist.", on=["checklist"])
    history.commit()
    history.remember("against", "Production deploys must not use direct routing.", about=["deploy-policy"], against=["policy"])
    history.commit()


def trusts(store: Store, known: int | None = None) -> dict[str, float]:
    with store.read() as view:
        keys = view.export_keys(None, 0, 100, every_status=True, known=known)
        return {record.memory_id: record.trust for record in view.records(keys, known).values()}


def test_the_reference_example_has_its_numbers_and_its_past_has_the_older_ones(store: Store, history: History) -> None:
    tell_the_story(history)
    assert trusts(store) == {"policy": 0.6, "checklist": 0.85, "runbook": 0.7, "against": 1.0}
    assert trusts(store, 3) == {"policy": 1.0, "checklist": 1.0, "runbook": 1.0}


def test_a_batch_is_seen_as_a_whole_or_not_at_all(store: Store, history: History) -> None:
    history.remember("one")
    history.remember("two", on=["one"])
    with store.read() as view:
        assert view.find("one") is None
    history.commit()
    with store.read() as view:
        assert view.find("one") is not None
        assert view.find("two") is not None


def test_a_view_keeps_its_moment_while_others_commit(store: Store, history: History) -> None:
    history.remember("one")
    history.commit()
    with store.read() as view:
        history.remember("two")
        history.commit()
        assert view.find("two") is None
        assert view.sequence == 1


def test_what_is_undone_leaves_nothing_and_the_rest_of_the_batch_stays(store: Store) -> None:
    history = History(store, index=index_terms)
    tell_the_story(history)
    history.remember("before", "green apples", about=["fruit"])
    history.keep = False
    history.remember("doubt", "alpha beta", against=["before"], key="k")
    history.batch.undo()
    history.keep = True
    assert history.remember("doubt", "alpha beta", key="k2") == 6
    history.commit()
    with store.read() as view:
        assert view.sequence == 6
        assert view.stored_answer("a", "remember", "k") is None
        assert view.stored_answer("a", "remember", "k2") is not None
        assert view.counts("a").by_status[Status.CONTRADICTED] == 1
        assert view.frequencies("a", ["green", "product", "beta"]) == (6, [1, 2, 1])
    assert list(store.verify()) == []


def test_undoing_a_command_that_was_only_gathered_gives_its_place_to_the_next(store: Store) -> None:
    history = History(store, index=index_terms)
    history.remember("one", "alpha")
    history.keep = False
    history.remember("two", "beta", scope="b")
    history.batch.undo()
    history.keep = True
    history.remember("three", "gamma", scope="b")
    history.commit()
    with store.read() as view:
        found = view.records([1, 2])
        assert [found[key].memory_id for key in (1, 2)] == ["one", "three"]
        assert view.frequencies("b", ["beta", "gamma"]) == (1, [0, 1])
    assert list(store.verify()) == []


def test_rolling_a_batch_back_keeps_nothing(store: Store, history: History) -> None:
    tell_the_story(history)
    history.remember("five")
    history.batch.rollback()
    history.batch.rollback()
    with store.read() as view:
        assert view.sequence == 4
    other = History(store)
    assert other.remember("five again") == 5
    other.commit()


def test_an_answer_is_kept_under_its_key_in_the_transaction_of_its_effect(store: Store, history: History) -> None:
    history.remember("one", key="k")
    again = history.batch.answer("a", "remember", "k")
    assert again is not None
    assert (again.seq, again.request_hash) == (1, b"hash")
    assert history.batch.answer("b", "remember", "k") is None
    assert history.batch.answer("a", "revise", "k") is None
    history.commit()
    with store.read() as view:
        assert view.stored_answer("a", "remember", "k") == again


def test_an_empty_plan_with_a_key_keeps_its_answer(store: Store, history: History) -> None:
    meta = CommitMeta(SECOND, ME, "remember", "a", "k", b"hash", b"")
    history.batch.savepoint()
    history.batch.apply(Plan("remember", "a"), meta)
    history.batch.release()
    history.commit()
    with store.read() as view:
        assert view.stored_answer("a", "remember", "k") is not None


def test_the_same_claim_again_is_found_in_the_batch_and_after_it(store: Store, history: History) -> None:
    history.remember("one", "alpha beta", about=["x"])
    history.remember("two", "alpha beta", about=["x"])
    history.commit()
    history.remember("three", "alpha beta", about=["x"])
    history.commit()
    with store.read() as view:
        assert view.find("two") is None
        record = view.find("one")
        assert record is not None
        assert record.state.support == 3
        assert view.active_duplicate("a", record.claim_hash) == 1
        assert view.active_duplicate("b", record.claim_hash) is None


def test_recall_rows_are_the_newest_that_hold_a_required_term_with_masks_over_all_terms(store: Store, history: History) -> None:
    history.remember("one", "red port open", about=["router"])
    history.remember("two", "blue port")
    history.remember("three", "red cable", about=["router"])
    history.commit()
    history.forget("one")
    history.commit()
    with store.read() as view:
        rows = view.recall_rows("a", ["red", "blue", "port", "none"], ["red", "blue"], [], 10)
        assert [(row.key, row.mask) for row in rows.rows] == [(3, 0b0001), (2, 0b0110)]
        assert [row.key for row in view.recall_rows("a", ["red"], ["red"], ["router"], 10).rows] == [3]
        assert [row.key for row in view.recall_rows("a", ["red"], ["red"], [], 10, known=3).rows] == [3, 1]
        assert [row.key for row in view.recall_rows("a", [], [], ["router"], 10).rows] == [3]
        assert view.recall_rows("b", ["red"], ["red"], [], 10).rows == []
        assert view.linked("a", [1, 2, 3], ["router", "queue"]) == {1: frozenset({"router"}), 3: frozenset({"router"})}


def test_recall_stops_at_its_budget_with_the_newest_and_says_so(store: Store, history: History) -> None:
    for number in range(30):
        history.remember(f"m{number}", f"common n{number}", about=["router"])
    history.commit()
    with store.read() as view:
        for entities in ([], ["router"]):
            cut = view.recall_rows("a", ["common"], ["common"], entities, 7)
            assert [row.key for row in cut.rows] == list(range(30, 23, -1))
            assert cut.truncated
            assert not view.recall_rows("a", ["common"], ["common"], entities, 30).truncated


def test_a_query_of_more_terms_than_an_integer_has_bits_keeps_every_bit(store: Store, history: History) -> None:
    words = [f"w{number}" for number in range(150)]
    history.remember("odd", " ".join(words[1::2]))
    history.remember("few", "w3 w149")
    history.commit()
    with store.read() as view:
        found = {row.key: row.mask for row in view.recall_rows("a", words, words, [], 10).rows}
    assert found == {1: sum(1 << n for n in range(1, 150, 2)), 2: 1 << 3 | 1 << 149}


def test_frequencies_and_recall_agree_with_counting_across_blocks_of_postings(store: Store, history: History) -> None:
    texts = {}
    for number in range(1, 2_151):
        texts[number] = f"every{number % 3} word{number % 7} n{number}"
        history.remember(f"m{number}", texts[number])
        if number % 300 == 0:
            history.commit()
    history.commit()
    history.purge("m5", "m2140")
    history.commit()
    del texts[5], texts[2140]
    with store.read() as view:
        total, counts = view.frequencies("a", ["every1", "word5", "n77", "n5"])
        assert total == len(texts)
        assert counts == [sum(word in text.split() for text in texts.values()) for word in ("every1", "word5", "n77", "n5")]
        expected = sorted((key for key, text in texts.items() if "word5" in text.split()), reverse=True)
        assert [row.key for row in view.recall_rows("a", ["word5"], ["word5"], [], 5_000).rows] == expected
        assert [row.key for row in view.recall_rows("a", ["word5"], ["word5"], [], 50).rows] == expected[:50]
        then = [key for key in expected if key <= 1_500]
        assert [row.key for row in view.recall_rows("a", ["word5"], ["word5"], [], 5_000, known=1_500).rows] == then
        assert view.frequencies("a", ["word5"], known=1_500) == (1_500, [len(then)])


def test_conflict_candidates_are_active_and_share_an_entity_and_a_slot_term(store: Store, history: History) -> None:
    for number in range(100):
        history.remember(f"m{number}", f"port open n{number}", about=["router"])
    history.remember("elsewhere", "port open", about=["switch"])
    history.remember("other", "colour open", about=["router"])
    history.remember("foreign", "port open", about=["router"], scope="b")
    history.forget("m99")
    history.remember("against", "closed port", against=["m98"])
    history.commit()
    with store.read() as view:
        assert view.conflict_candidates("a", ["router"], ["port"], 64) == (list(range(98, 34, -1)), 34)
        assert view.conflict_candidates("a", ["router", "switch"], ["port", "colour"], 2)[0] == [102, 101]
        assert view.conflict_candidates("a", ["nothing"], ["port"], 64) == ([], 0)
    history.resolve("against", "m98")
    history.commit()
    with store.read() as view:
        assert view.conflict_candidates("a", ["router"], ["port"], 64)[0][0] == 99


def test_equal_entity_names_never_bridge_scopes(store: Store, history: History) -> None:
    history.remember("one", "alpha", about=["Router"])
    history.remember("two", "alpha", about=["router"], scope="b")
    history.commit()
    with store.read() as view:
        links = view.links([1, 2])
        assert (links[1][0].name, links[2][0].name) == ("Router", "router")
        keys = {edge.dst for edge in view.edges([1, 2], ["ABOUT"])}
        assert len(keys) == 2
        assert [row.memories for row in view.entity_rows(keys).values()] == [1, 1]
        assert [edge.src for edge in view.about([edge.dst for edge in view.edges([1], ["ABOUT"])])] == [1]
        assert view.known_entities("a", ["router", "queue"]) == {"router": "Router"}


def test_purging_erases_content_words_and_names(store: Store, history: History) -> None:
    history.remember("one", "the secretword is here", about=["hidden-name", "router"], key="k")
    history.remember("two", "the other is here", about=["router"])
    history.commit()
    history.purge("one")
    history.commit()
    store.maintain()
    with store.read() as view:
        record = view.find("one")
        assert record is not None
        assert (record.content, record.status) == ("", Status.PURGED)
        assert view.links([1]) == {}
        assert view.known_entities("a", ["hidden-name", "router"]) == {"router": "router"}
        assert view.frequencies("a", ["secretword", "other"]) == (1, [0, 1])
        assert [event.content for event in view.events_after(0, None, 10)] == ["", "the other is here", ""]
    dump = "".join(str(row) for table in tables(store) for row in store.writer_connection.execute(f"SELECT * FROM {table}"))
    assert "two" in dump
    assert "secretword" not in dump
    assert "hidden-name" not in dump


def tables(store: Store) -> list[str]:
    found = store.writer_connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return [str(name) for (name,) in found]


def test_events_come_whole_commit_by_commit_and_by_scope(store: Store, history: History) -> None:
    tell_the_story(history)
    history.remember("foreign", scope="b")
    history.commit()
    with store.read() as view:
        first = view.events_after(0, None, 1)
        assert [event.memory_id for event in first] == ["policy"]
        fall = view.events_after(3, ["a"], 1)
        assert [event.kind for event in fall] == ["remembered", "contradicted", "decayed", "decayed"]
        assert {event.seq for event in fall} == {4}
        assert [event.memory_id for event in view.events_after(4, None, 10)] == ["foreign"]
        assert view.events_after(4, ["a"], 10) == []
        assert view.events_after(0, ["nowhere"], 10) == []
        assert view.oldest_event() == 1
        assert [event.kind for event in view.events_of(1)] == ["remembered", "contradicted"]


def test_a_time_finds_the_last_commit_at_or_before_it(store: Store, history: History) -> None:
    tell_the_story(history)
    with store.read() as view:
        at = [event.at for event in view.events_after(0, None, 10)]
        assert view.sequence_at(at[0] - 1) == 0
        assert view.sequence_at(at[1]) == 2
        assert view.sequence_at(at[2] - 1) == 2
        assert view.sequence_at(at[-1] + SECOND) == 4


def test_pages_of_lists_go_on_where_the_last_one_ended(store: Store, history: History) -> None:
    for number in range(25):
        history.remember(f"m{number}", f"text {number}", about=[f"e{number % 3}"])
    history.commit()
    history.forget("m3")
    history.commit()
    with store.read() as view:
        first, total = view.newest("a", [Status.ACTIVE], None, None, 10)
        second, _ = view.newest("a", [Status.ACTIVE], None, first[-1], 10)
        assert (list(first), list(second), total) == (list(range(25, 15, -1)), list(range(15, 5, -1)), 24)
        assert view.newest("a", [Status.ACTIVE], "e0", 10, 2) == ([7, 1], 8)
        start = view.timeline("a", None, None, None, None, 5)
        record = view.records(start)[start[-1]]
        assert list(view.timeline("a", None, None, None, (record.valid_from, record.key), 3)) == [7, 8, 9]
        assert list(view.export_keys("a", 2, 3, every_status=False)) == [3, 5, 6]
        assert list(view.export_keys(None, 2, 3, every_status=True)) == [3, 4, 5]
        rows = view.entities("a", "E", 1, 1)
        assert [(row.name, row.memories) for row in rows] == [("e1", 8)]


def test_a_timeline_is_ordered_by_valid_time_and_ends_at_as_of(store: Store, history: History) -> None:
    history.remember("late", valid_from=9 * SECOND)
    history.remember("early", valid_from=5 * SECOND)
    history.commit()
    with store.read() as view:
        assert list(view.timeline("a", None, None, None, None, 10)) == [2, 1]
        assert list(view.timeline("a", None, None, 8 * SECOND, None, 10)) == [2]


def test_two_folders_of_one_name_are_two_scopes(store: Store, history: History) -> None:
    with store.read() as view:
        assert view.project_scope("/x/app", "app") == "app"
    history.batch.savepoint()
    assert history.batch.map_project("/x/app", "app") == "app"
    other = history.batch.map_project("/y/app", "app")
    history.batch.release()
    assert other.startswith("app-")
    assert len(other) == len("app-") + 6
    assert history.batch.map_project("/x/app", "app") == "app"
    history.remember("one", scope="app")
    history.commit()
    with store.read() as view:
        assert view.project_scope("/y/app", "app") == other
        assert view.project_scope("/z/app", "app").startswith("app-")
        assert [(row.scope, row.project_roots) for row in view.scopes("", 10)] == [("app", ("/x/app",))]


def test_a_project_mapped_by_an_undone_command_is_not_mapped(store: Store, history: History) -> None:
    history.batch.savepoint()
    history.batch.map_project("/x/app", "app")
    history.batch.undo()
    assert history.batch.map_project("/y/app", "app") == "app"
    history.commit()


def test_an_unknown_scope_is_empty(store: Store, history: History) -> None:
    with store.read() as view:
        answers = present_answers(view, WORDS, ["x"])
        assert not view.scope_exists("a")
        assert answers["names"] == []
        assert timed_answers(view, None, WORDS, ["x"])["a"]["keys"] == []


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 pair"])
def test_text_that_sqlite_cannot_hold_is_refused_by_field(history: History, text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        history.remember("one", text)
    assert refused.value.field == "content"
    history.batch.undo()
    history.batch.rollback()


def test_long_texts_and_many_entities_are_kept_whole(store: Store, history: History) -> None:
    text = "".join(f"w{n} é漢🙂 " for n in range(60_000))[: 1 << 20]
    history.remember("long", text, about=[f"e{n}" for n in range(64)])
    history.commit()
    with store.read() as view:
        assert view.records([1])[1].content == text
        assert len(view.links([1])[1]) == 64
        assert view.frequencies("a", ["w77"]) == (1, [1])


def test_readers_work_while_a_batch_is_open_and_after_it(store: Store, history: History) -> None:
    tell_the_story(history)
    history.remember("five")
    seen: list[float] = []
    threads = [threading.Thread(target=lambda: seen.append(trusts(store)["policy"])) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    history.commit()
    assert seen == [0.6] * 12


def test_status_counts_and_names_what_is_there(store: Store, history: History) -> None:
    tell_the_story(history)
    history.forget("runbook")
    history.commit()
    status = store.status()
    assert (status.schema_version, status.sequence, status.memories, status.scopes) == (1, 5, 4, 1)
    assert status.store_bytes > 0
    assert (status.missing_sequences, status.quarantined_files, status.read_only_reason) == ((), (), "")
    store.maintain()
    assert store.status().wal_bytes == 0


def test_a_backup_is_a_store_with_the_same_answers(store: Store, history: History, tmp_path: Path) -> None:
    from hydramind_daemon.stores.store import SqliteStore

    tell_the_story(history)
    target = tmp_path / "copy.db"
    size, sequence = store.backup(str(target))
    assert (size, sequence) == (target.stat().st_size, 4)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(AlreadyExists):
        store.backup(str(target))
    with pytest.raises(InvalidArgument):
        store.backup(str(tmp_path / "no" / "folder.db"))
    copy = SqliteStore.open(target)
    try:
        with copy.read() as theirs, store.read() as ours:
            assert timed_answers(theirs, None, WORDS, []) == timed_answers(ours, None, WORDS, [])
    finally:
        copy.close()


def test_verify_names_what_does_not_follow_from_the_log(store: Store) -> None:
    history = History(store, index=index_terms)
    tell_the_story(history)
    assert list(store.verify()) == []
    for damage in (
        "UPDATE facts SET trust = 0.9 WHERE key = 1",
        "DELETE FROM postings WHERE key = 2",
        "UPDATE facts SET terms = x'80000001' WHERE key = 3",
        "UPDATE frequencies SET memories = 7",
        "UPDATE scopes SET active = 9",
        "DELETE FROM slots",
        "UPDATE facts SET status = 0 WHERE key = 1",
    ):
        store.writer_connection.execute(damage)
        assert damage.startswith("UPDATE frequencies") or list(store.verify()), damage
        store.rebuild()
        assert list(store.verify()) == [], damage


def test_a_refused_command_leaves_the_batch_usable(store: Store, history: History) -> None:
    history.remember("one")
    with pytest.raises(NotFound):
        history.forget("nothing")
    history.batch.undo()
    history.commit()
    assert trusts(store) == {"one": 1.0}


def test_files_belong_to_their_owner_alone(store: Store, history: History) -> None:
    history.remember("one")
    history.commit()
    folder = Path(store.writer_connection.db_filename("main")).parent
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in folder.iterdir() if entry.name.startswith("hydramind")}
    assert "hydramind.db-wal" in modes
    assert set(modes.values()) == {0o600}


def test_closing_twice_is_allowed(store: Store) -> None:
    store.close()
    store.close()

"""Ranking: what counts as evidence, when recall abstains, and that pruning loses nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramind_domain.abstention import explain
from hydramind_domain.entities import extract_entities, ngrams_to_look_up, normalise_entity
from hydramind_domain.indexing import index_terms, with_entities
from hydramind_domain.model import EntityLink, Origin
from hydramind_domain.query import MAX_QUERY_TERMS, query_terms
from hydramind_domain.ranking import CorpusStats, CoverageScorer, KeywordScorer, QueryPlan, Scorer, scorer
from hydramind_domain.text import about_term, analyse_query

DAY = 86_400_000_000
BOTH = pytest.mark.parametrize("scorer_", [CoverageScorer(), KeywordScorer()], ids=lambda one: one.name)


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate as a store gives it."""

    key: int
    mask: int
    length: int
    valid_from: int


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as an index knows it."""

    content: str
    about: tuple[str, ...] = ()
    trust: float = 1.0
    valid_from: int = 0


class Scope:
    """A scope in memory: term sets, and what a store would answer."""

    def __init__(self, memories: Sequence[Memory | str]) -> None:
        self.memories = [m if isinstance(m, Memory) else Memory(m) for m in memories]
        self.known: set[str] = set()
        self.terms: list[frozenset[str]] = []
        self.lengths: list[int] = []
        for memory in self.memories:
            norms = [normalise_entity(name) for name in memory.about]
            links = [EntityLink(norm, norm, "explicit", Origin.EXPLICIT) for norm in norms]
            index = with_entities(index_terms(memory.content), links)
            self.terms.append(frozenset(index.terms))
            self.lengths.append(index.length)
            self.known |= {*norms, *(mention.norm for mention in extract_entities(memory.content, self.known))}

    def plan(self, query: str, by: Scorer, requested: tuple[str, ...] = ()) -> QueryPlan:
        analysis = analyse_query(query)
        known = {norm for norm in ngrams_to_look_up(query) if norm in self.known}
        counts = {term: sum(term in held for held in self.terms) for term in query_terms(analysis, known)}
        self.stats = CorpusStats(len(self.memories), {term: n for term, n in counts.items() if n})
        return by.plan(analysis, self.stats, known, requested)

    def rows(self, plan: QueryPlan, *, pruned: bool) -> list[Row]:
        required = set(plan.required_terms)
        keep = [i for i, held in enumerate(self.terms) if not pruned or plan.about or required & held]
        return [
            Row(i, sum(1 << bit for bit, term in enumerate(plan.terms) if term in self.terms[i]), self.lengths[i], m.valid_from)
            for i in keep
            if (m := self.memories[i])
        ]

    def recall(
        self, query: str, by: Scorer | None = None, requested: tuple[str, ...] = (), *, pruned: bool = True
    ) -> dict[int, float]:
        by = by or CoverageScorer()
        plan = self.plan(query, by, requested)
        rows = self.rows(plan, pruned=pruned)
        scores = {
            row.key: value * self.memories[row.key].trust for row, value in zip(rows, by.score_many(plan, rows), strict=True)
        }
        found = {key: score for key, score in scores.items() if score >= plan.threshold and score > 0.0}
        return dict(sorted(found.items(), key=lambda item: (-item[1], -item[0])))


DEPLOYS = [
    Memory("Production deploys must always use direct routing.", ("deploy-policy",), trust=0.6),
    Memory("Checklist follows deploy policy.", trust=0.85),
    Memory("Release notes are written from the checklist.", trust=0.7),
    Memory("Production deploys must not use direct routing.", ("deploy-policy",)),
]
OTHERS = ["The search service uses Elasticsearch.", "Alice works on the auth service at Acme.", "Tests run on ubuntu 20.04."]


@BOTH
def test_the_reference_example_gives_the_newest_first_and_then_the_one_of_less_trust(scorer_: Scorer) -> None:
    found = Scope(DEPLOYS).recall("How should production route?", scorer_, ("deploy policy",))
    assert list(found) == [3, 0]
    assert found[0] / found[3] == pytest.approx(0.6, abs=0.03)


@BOTH
@pytest.mark.parametrize("string", ["multi-agent", "CLAUDE.md", "src/main.py", "GB/s", "don't", "ubuntu 20.04"])
def test_strings_with_punctuation_are_found(string: str, scorer_: Scorer) -> None:
    content = "Our multi-agent setup reads CLAUDE.md and runs src/main.py at 3 GB/s; don't use ubuntu 20.04."
    assert list(Scope([*OTHERS[:2], content]).recall(string, scorer_)) == [2]


@pytest.mark.parametrize("more", [[], OTHERS, [*OTHERS, *DEPLOYS]])
def test_a_question_is_answered_by_its_subject_when_the_asked_for_noun_is_not_repeated(more: list[Memory | str]) -> None:
    scope = Scope(["Billing moved to PostgreSQL.", "Alice switched to Neovim.", *more])
    assert next(iter(scope.recall("which database does the billing service use"))) == 0
    assert 1 in scope.recall("What editor does Alice prefer?")


@pytest.mark.parametrize(
    "query",
    [
        "zxqv QQQQ never stored",
        "Where does Bob work?",
        "What is the weather on Mars?",
        "which database does the payments service use",
        "Is ubuntu 22.04 supported?",
        "What is the rollback policy?",
        "the",
        "",
        '"' * 8192,
    ],
)
@BOTH
def test_it_abstains_without_evidence_of_the_subject(query: str, scorer_: Scorer) -> None:
    assert Scope([*OTHERS, *DEPLOYS]).recall(query, scorer_) == {}


def test_a_name_never_seen_outweighs_every_word_that_was() -> None:
    scope = Scope(["The nightly backup job writes to the archive bucket."])
    assert scope.recall("nightly backup job archive bucket")
    assert not scope.recall("Does the nightly backup job of Zurich write to the archive bucket?")


def test_a_query_in_title_case_names_nothing_by_its_capitals() -> None:
    scope = Scope(["The nightly backup job writes to the archive bucket."])
    assert scope.recall("Nightly Backup Job Archive Retention")


def test_a_memory_said_to_be_about_the_entity_comes_before_one_that_mentions_it() -> None:
    scope = Scope(
        [
            Memory("I signed up for a pottery class.", ("Melanie",)),
            Memory("Melanie, I signed up for a pottery class.", ("Caroline",)),
        ]
    )
    assert list(scope.recall("When did Melanie sign up for a pottery class?")) == [0, 1]


def test_an_entity_alone_lists_the_memories_about_it() -> None:
    assert set(Scope(DEPLOYS).recall("deploy-policy")) >= {0, 3}


def test_a_date_is_evidence_for_memories_valid_then_and_shortly_after() -> None:
    may_1 = 19_843 * DAY
    text = "We reviewed the incident."
    scope = Scope(
        [Memory(text, valid_from=may_1 + 40 * DAY), Memory(text, valid_from=may_1 + DAY), Memory(text, valid_from=may_1 - DAY)]
    )
    assert next(iter(scope.recall("Which incident was reviewed on 30 April 2024?"))) == 1


def test_a_date_that_a_memory_writes_is_evidence_too() -> None:
    scope = Scope(["The release of 2024-05-01 failed.", "The release of 2024-06-01 failed."])
    assert next(iter(scope.recall("Why did the release of 2024-05-01 fail?"))) == 0
    assert next(iter(scope.recall("2024-06-01"))) == 1


def test_rare_words_count_more_than_common_ones() -> None:
    scope = Scope([*["The build is green."] * 20, "The quorum is green.", "The build has a quorum of three."])
    found = scope.recall("quorum build")
    assert found[20] > found.get(0, 0.0)


def test_low_trust_takes_a_memory_out_of_the_answer() -> None:
    assert not Scope([Memory("Billing moved to PostgreSQL.", trust=0.05)]).recall("Billing PostgreSQL")


def test_weak_matches_answer_only_in_the_company_of_a_strong_one() -> None:
    query = "quorum timeout of the ledger cluster leader"
    weak = "The ledger cluster was audited by the finance department."
    assert not Scope([weak]).recall(query)
    assert set(Scope([weak, "The ledger cluster has a leader, and a quorum timeout of three seconds."]).recall(query)) == {0, 1}


def test_the_keyword_rule_wants_four_fifths_of_the_keywords() -> None:
    scope = Scope(["alpha beta gamma delta", "alpha beta gamma"])
    assert list(scope.recall("alpha beta gamma delta epsilon", KeywordScorer())) == [0]


def test_a_scorer_is_chosen_by_name_and_takes_a_threshold() -> None:
    assert isinstance(scorer("keyword"), KeywordScorer)
    assert scorer("coverage", 0.5).threshold == 0.5
    with pytest.raises(KeyError):
        scorer("magic")


def test_the_reason_names_terms_and_entities() -> None:
    scope = Scope([*OTHERS, Memory("Melanie paints.", ("Melanie",))])
    by = CoverageScorer()
    plan = scope.plan("Does Melanie work on auth at Acme?", by)
    row = next(row for row in scope.rows(plan, pruned=False) if row.key == 3)
    relevance = by.score(plan, row)
    assert relevance.why == "holds melani; is about melanie"
    assert relevance.matched == ("melani",)


def test_work_is_bounded_for_the_longest_query() -> None:
    plan = Scope(OTHERS).plan(" ".join(f"word{i}" for i in range(1000)) + " auth", CoverageScorer())
    assert len(plan.terms) <= MAX_QUERY_TERMS


def test_rare_terms_are_read_before_common_ones() -> None:
    scope = Scope([*["The build is green."] * 50, "The quorum of the build is green."])
    assert scope.plan("quorum of the green build", CoverageScorer()).required_terms == ("quorum",)


def test_a_plan_without_hope_says_so() -> None:
    assert Scope(OTHERS).plan("Where does Bob work?", CoverageScorer()).hopeless
    assert not Scope(OTHERS).plan("Where does Alice work?", CoverageScorer()).hopeless


WORDS = st.sampled_from(
    [
        "quorum",
        "ledger",
        "build",
        "green",
        "Alice",
        "Bob",
        "service",
        "database",
        "deploy-policy",
        "src/main.py",
        "20.04",
        "2024",
        "go",
    ]
)
MEMORIES = st.lists(
    st.builds(
        Memory,
        st.lists(WORDS, min_size=1, max_size=6).map(" ".join),
        st.sampled_from([(), (), ("Alice",), ("deploy-policy",), ("Alice", "Bob")]),
        st.sampled_from([1.0, 0.6, 0.3]),
        st.sampled_from([0, 19_723 * DAY, 20_000 * DAY]),
    ),
    min_size=1,
    max_size=12,
)
QUERIES = st.lists(WORDS | st.sampled_from(["zebra", "Paris", "which", "in 2024", "8080"]), min_size=1, max_size=7).map(" ".join)
SCORERS = st.sampled_from(
    [CoverageScorer(), KeywordScorer(), CoverageScorer(threshold=0.6), CoverageScorer(threshold=0.1), CoverageScorer(reach=1.0)]
)


@given(MEMORIES, QUERIES, SCORERS, st.sampled_from([(), ("alice",)]))
def test_pruning_loses_no_memory_that_passes(memories: list[Memory], query: str, by: Scorer, requested: tuple[str, ...]) -> None:
    scope = Scope(memories)
    assert scope.recall(query, by, requested) == scope.recall(query, by, requested, pruned=False)


@given(MEMORIES, QUERIES, SCORERS)
def test_what_is_hopeless_answers_nothing(memories: list[Memory], query: str, by: Scorer) -> None:
    scope = Scope(memories)
    if scope.plan(query, by).hopeless:
        assert scope.recall(query, by, pruned=False) == {}


@given(MEMORIES, QUERIES, SCORERS)
def test_relevance_is_within_bounds_and_does_not_depend_on_order(memories: list[Memory], query: str, by: Scorer) -> None:
    scope = Scope(memories)
    plan = scope.plan(query, by)
    rows = scope.rows(plan, pruned=False)
    values = by.score_many(plan, rows)
    assert all(0.0 <= value <= 1.0 for value in values)
    assert by.score_many(plan, rows[::-1]) == values[::-1]


@given(MEMORIES, QUERIES, WORDS)
def test_one_more_word_of_the_query_never_lowers_the_evidence(memories: list[Memory], query: str, word: str) -> None:
    scope = Scope(memories)
    by = CoverageScorer()
    plan = scope.plan(query, by)
    for row in scope.rows(plan, pruned=False):
        for bit in range(len(plan.terms)):
            more = replace(row, mask=row.mask | 1 << bit)
            assert by.evidence(plan, [more])[0] >= by.evidence(plan, [row])[0] - 1e-12


def test_the_term_of_an_entity_is_only_there_for_what_a_memory_was_said_to_be_about() -> None:
    index = index_terms("Alice paints.")
    read = EntityLink("Alice", "alice", "name", Origin.EXTRACTED)
    assert with_entities(index, [read]) == index
    assert with_entities(index, [replace(read, origin=Origin.EXPLICIT)]).terms[-1] == about_term("alice")


@pytest.mark.parametrize(
    ("memories", "query", "says"),
    [
        ([], "anything", "holds no memories"),
        (OTHERS, "Where does Bob work?", '"Bob"'),
        (OTHERS, "zebra crossing", '"zebra", "crossing"'),
        (OTHERS, "auth zebra crossing lights", '"zebra"'),
        (["alpha beta", "gamma delta", "epsilon zeta"], "alpha gamma epsilon", "together"),
    ],
)
def test_an_abstention_says_what_there_is_no_evidence_of(memories: list[str], query: str, says: str) -> None:
    scope = Scope(memories)
    plan = scope.plan(query, CoverageScorer())
    assert scope.recall(query) == {}
    assert says in explain(plan, scope.stats).text

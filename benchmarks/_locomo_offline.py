"""Rankers without a daemon: the product's scorers on an index in memory, and plain BM25 beside them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Protocol

from benchmarks._locomo_data import Conversation, Turn
from hydramind_domain.entities import extract_entities, ngrams_to_look_up, normalise_entity
from hydramind_domain.query import query_terms
from hydramind_domain.ranking import CorpusStats, QueryPlan, Scorer
from hydramind_domain.text import about_term, analyse, analyse_query


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a store gives for a memory that holds a required term."""

    key: int
    mask: int
    length: int
    valid_from: int


@dataclass(slots=True)
class ScopeIndex:
    """Postings, lengths and entities of one scope."""

    turns: tuple[Turn, ...]
    postings: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    lengths: list[int] = field(default_factory=list)
    entities: list[frozenset[str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, conversation: Conversation) -> ScopeIndex:
        """Index a conversation in the order of its turns."""
        index = cls(conversation.turns)
        for key, turn in enumerate(conversation.turns):
            index._add(key, turn)
        return index

    def _add(self, key: int, turn: Turn) -> None:
        analysis = analyse(turn.content)
        terms = [token.term for token in analysis.tokens]
        for term, count in Counter([*terms, about_term(normalise_entity(turn.speaker))]).items():
            self.postings[term][key] = count
        self.lengths.append(analysis.length)
        found = {normalise_entity(turn.speaker), *(m.norm for m in extract_entities(turn.content, self.known))}
        self.known |= found
        self.entities.append(frozenset(found))

    def valid_from(self, key: int) -> int:
        """Microseconds since the epoch."""
        return int(self.turns[key].valid_from.timestamp()) * 1_000_000


class Ranker(Protocol):
    """Ranks the turns of one scope."""

    def rank(self, index: ScopeIndex, question: str, without: AbstractSet[int] = frozenset()) -> Sequence[int]:
        """Keys of the turns that answer, best first."""
        ...


class OfflineAsker:
    """Answers by a ranker over indexes in memory."""

    def __init__(self, conversations: Sequence[Conversation], ranker: Ranker) -> None:
        self._indexes = {conversation.scope: ScopeIndex.of(conversation) for conversation in conversations}
        self.ranker = ranker

    def ask(self, scope: str, question: str, without: frozenset[str] = frozenset()) -> Sequence[str]:
        """See `Asker`."""
        index = self._indexes[scope]
        gone = {key for key, turn in enumerate(index.turns) if turn.turn_id in without} if without else frozenset()
        return [index.turns[key].turn_id for key in self.ranker.rank(index, question, gone)]


@dataclass(frozen=True, slots=True)
class ScorerRanker:
    """One of the product's scorers, read through its pruning plan as a store does."""

    scorer: Scorer

    def rank(self, index: ScopeIndex, question: str, without: AbstractSet[int] = frozenset()) -> Sequence[int]:
        """See `Ranker`."""
        query = analyse_query(question)
        known = {norm for norm in ngrams_to_look_up(question) if norm in index.known}
        held = {t: len(index.postings.get(t, {}).keys() - without) for t in query_terms(query, known)}
        stats = CorpusStats(len(index.turns) - len(without), {t: n for t, n in held.items() if n})
        plan = self.scorer.plan(query, stats, known)
        rows = _candidates(index, plan, without)
        values = self.scorer.score_many(plan, rows)
        best = sorted(
            (-value, -row.key) for row, value in zip(rows, values, strict=True) if value >= plan.threshold and value > 0.0
        )
        return [-key for _, key in best]


def _candidates(index: ScopeIndex, plan: QueryPlan, without: AbstractSet[int]) -> list[Candidate]:
    """Memories with a required term, or about the entities when these alone are asked for."""
    masks: dict[int, int] = defaultdict(int)
    for i, term in enumerate(plan.terms):
        for key in index.postings.get(term, ()):
            masks[key] |= 1 << i
    if plan.about:
        keys = {key for key, norms in enumerate(index.entities) if norms.intersection(plan.about)}
    else:
        keys = {key for term in plan.required_terms for key in index.postings.get(term, ())}
    return [Candidate(key, masks[key], index.lengths[key], index.valid_from(key)) for key in sorted(keys - without)]


@dataclass(frozen=True, slots=True)
class Bm25:
    """Okapi BM25 over the same analysis, for contents with the speaker's name in front; best score below `least`: no answer."""

    least: float = 0.0
    k1: float = 1.2
    b: float = 0.75

    def rank(self, index: ScopeIndex, question: str, without: AbstractSet[int] = frozenset()) -> Sequence[int]:
        """See `Ranker`."""
        scores: dict[int, float] = defaultdict(float)
        mean = sum(index.lengths) / len(index.lengths)
        for term in analyse_query(question).terms:
            held = index.postings.get(term, {})
            idf = math.log(1.0 + (len(index.turns) - len(held) + 0.5) / (len(held) + 0.5))
            for key, count in held.items():
                norm = self.k1 * (1.0 - self.b + self.b * index.lengths[key] / mean)
                scores[key] += idf * count * (self.k1 + 1.0) / (count + norm)
        best = sorted((-score, -key) for key, score in scores.items() if key not in without)
        return [-key for _, key in best] if best and -best[0][0] >= self.least else []


def with_speakers(conversations: Sequence[Conversation]) -> list[Conversation]:
    """Each speaker's name in the content, for rankers that know no entities."""
    return [
        replace(c, turns=tuple(replace(turn, content=f"{turn.speaker}: {turn.content}") for turn in c.turns))
        for c in conversations
    ]

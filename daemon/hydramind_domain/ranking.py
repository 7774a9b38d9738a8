"""Relevance of memories to a query, and which postings must be read to find every memory that can be relevant enough.

Two scorers share one interface. `KeywordScorer` is the original's rule: a memory answers when it holds at least 0.80 of the
query's distinct keywords. `CoverageScorer`, the default, weighs terms by rarity and adds evidence of entities and dates; its
formula and its threshold are argued in docs/adr/0003-relevance-and-threshold.md.

Both plan a query from the scope's statistics alone and score a candidate from its term mask, length, valid time and linked
entities, so that a store needs no text to rank. `score = trust × relevance`; a score below the threshold is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from hydramind_domain.date_evidence import DateMention, dated
from hydramind_domain.model import Instant
from hydramind_domain.query import AskedTerm, Question, read_question
from hydramind_domain.text import Analysis

__all__ = [
    "CorpusStats",
    "CoverageScorer",
    "KeywordScorer",
    "QueryPlan",
    "Relevance",
    "Row",
    "Scorer",
    "scorer",
]


@dataclass(frozen=True, slots=True)
class CorpusStats:
    """A scope as far as ranking needs it: how many memories it has and how many hold each term (absent: 0)."""

    memories: int
    frequency: Mapping[str, int]


class Row(Protocol):
    """A candidate. Bit i of `mask`: it holds the plan's i-th term; `length` in tokens."""

    @property
    def key(self) -> int:
        """Key of the memory."""
        ...

    @property
    def mask(self) -> int:
        """Terms held."""
        ...

    @property
    def length(self) -> int:
        """Tokens of its content."""
        ...

    @property
    def valid_from(self) -> Instant:
        """Start of its valid time."""
        ...


@dataclass(frozen=True, slots=True)
class Relevance:
    """How well a memory answers, in [0, 1], and by what."""

    value: float
    matched: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What to read and how to weigh it.

    `terms` are the query's terms that the scope may know, in bit order, `weights` their shares of the query's evidence.
    Every memory whose relevance can reach `threshold` holds one of `required_terms`, or, if `about` is not empty, is about one
    of those entities. `entity_norms` are known entities that the query names (ask the store which candidates are linked to
    them), `credits` the term bits that each stands for. `missing_*` is what the scope has no evidence of. `hopeless`: no memory
    can reach the threshold, whatever the postings say.
    """

    scorer: str
    threshold: float
    terms: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    required_terms: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    entity_norms: tuple[str, ...] = ()
    credits: Mapping[str, int] = field(default_factory=dict)
    dates: tuple[DateMention, ...] = ()
    date_weight: float = 0.0
    date_mask: int = 0
    factor: float = 1.0
    requested: bool = False
    hopeless: bool = False
    missing_terms: tuple[str, ...] = ()
    missing_names: tuple[str, ...] = ()

    def matched(self, mask: int) -> tuple[str, ...]:
        """The terms of a mask."""
        return tuple(term for i, term in enumerate(self.terms) if mask >> i & 1)

    def weight_of(self, mask: int) -> float:
        """Sum of the weights of a mask's terms."""
        total = 0.0
        while mask:
            low = mask & -mask
            total += self.weights[low.bit_length() - 1]
            mask ^= low
        return total


class Scorer(Protocol):
    """How relevance is measured."""

    @property
    def name(self) -> str:
        """Value of the setting that selects it."""
        ...

    @property
    def threshold(self) -> float:
        """Score below which a memory is no answer."""
        ...

    def plan(
        self,
        query: Analysis,
        stats: CorpusStats,
        known_entities: Collection[str] = (),
        requested_entities: Collection[str] = (),
    ) -> QueryPlan:
        """Plan a query. `known_entities` are normal forms, known to the scope, among the n-grams of the query."""
        ...

    def score_many(
        self, plan: QueryPlan, rows: Sequence[Row], linked: Mapping[int, Collection[str]] | None = None
    ) -> list[float]:
        """Relevance of each row, in order. Pass the rows that may be answered with, all at once: they support each other."""
        ...

    def score(self, plan: QueryPlan, row: Row, linked: Mapping[int, Collection[str]] | None = None) -> Relevance:
        """Relevance of one row alone, with the reason in words."""
        ...


@dataclass(frozen=True, slots=True)
class CoverageScorer:
    """Share of the query's evidence that a memory has. Terms weigh by rarity in the scope; generic words weigh little.

    `evidence = (c + min(extra, reach · c)) · factor`, where c is the weight of the terms held, extra that of entities the
    memory is linked to and of dates its valid time lies at, and factor falls with each name that the scope has never seen.
    `relevance = evidence · brevity · support`: very short memories tell little; and unless some candidate's evidence reaches
    threshold / lone, everything is scaled by `lone`, which puts all of them below the threshold: weak matches answer only in
    the company of a strong one. Bounded by [0, 1], as every factor is.

    Pruning. A memory without any required term has c ≤ s, the weight of the skipped terms. Evidence grows with c, brevity and
    support are ≤ 1, so its relevance is ≤ B(s) = (s + min(extra, reach · s)) · factor (with an entity requested, lifted as
    evidence is). Terms are skipped, commonest first, only while B(s) < threshold. Hence nothing relevant is missed.
    """

    threshold: float = 0.31
    lone: float = 0.70
    reach: float = 1.0
    generic: float = 0.35
    date_share: float = 0.30
    unseen_name: float = 0.40
    unseen_number: float = 2.0
    linked_idf: float = 2.0
    smoothing: float = 20.0
    asked_lift: float = 0.25
    heaviest: int = 12
    brevity: float = 0.20
    brief_tokens: float = 10.0
    name: str = "coverage"

    def plan(
        self,
        query: Analysis,
        stats: CorpusStats,
        known_entities: Collection[str] = (),
        requested_entities: Collection[str] = (),
    ) -> QueryPlan:
        """See `Scorer`."""
        question = read_question(query, stats.frequency, known_entities)
        share = self.date_share if question.dates else 0.0
        weights = [self._weight(term, stats) for term in question.terms]
        total = sum(sorted(weights, reverse=True)[: self.heaviest]) / (1.0 - share) or 1.0
        asked = [(t, w / total) for t, w in zip(question.terms, weights, strict=True) if t.frequency or t.entity]
        plan = _lay_out(self.name, self.threshold, question, asked)
        return self._prune(plan, asked, question, share, bool(requested_entities))

    def _weight(self, term: AskedTerm, stats: CorpusStats) -> float:
        if term.dated:
            return 0.0
        rarity = math.log((stats.memories + self.smoothing) / (min(term.frequency, stats.memories) + 1.0))
        if not term.frequency and term.entity:
            rarity = min(rarity, self.linked_idf)
        if not term.frequency and term.number:
            rarity *= self.unseen_number
        return rarity * term.share * (self.generic if term.generic else 1.0)

    def _prune(
        self, plan: QueryPlan, asked: Sequence[tuple[AskedTerm, float]], question: Question, share: float, requested: bool
    ) -> QueryPlan:
        factor = self.unseen_name ** len(question.missing_names)
        extra = share + sum(weight for term, weight in asked if term.entity)
        only_entities = bool(asked) and all(term.entity or term.generic for term, _ in asked) and any(t.entity for t, _ in asked)
        draft = replace(
            plan, date_weight=share, factor=factor, requested=requested, about=plan.entity_norms if only_entities else ()
        )
        required = _required(asked, lambda skipped: self._bound(draft, skipped, extra) < self.threshold)
        most = self._bound(draft, sum(weight for _, weight in asked), extra)
        hopeless = not draft.about and most < self.threshold / self.lone
        return replace(draft, required_terms=() if draft.about else required, hopeless=hopeless)

    def _bound(self, plan: QueryPlan, coverage: float, extra: float) -> float:
        """Most evidence that a memory with so much coverage can have."""
        return self._evidence(plan, min(coverage, 1.0), extra) if coverage > 0.0 else 0.0

    def _evidence(self, plan: QueryPlan, coverage: float, extra: float) -> float:
        if plan.about:
            return min(coverage + extra, 1.0) * plan.factor
        if coverage <= 0.0:
            return 0.0
        evidence = min(coverage + min(extra, self.reach * coverage), 1.0) * plan.factor
        return self.asked_lift + (1.0 - self.asked_lift) * evidence if plan.requested and plan.factor == 1.0 else evidence

    def score_many(
        self, plan: QueryPlan, rows: Sequence[Row], linked: Mapping[int, Collection[str]] | None = None
    ) -> list[float]:
        """See `Scorer`."""
        evidence = self._evidence_of(plan, rows, linked or {})
        support = 1.0 if max(evidence, default=0.0) >= self.threshold / self.lone else self.lone
        scale, brief = support * self.brevity * self.brief_tokens, self.brief_tokens
        return [e * (support - scale / (brief + row.length)) for e, row in zip(evidence, rows, strict=True)]

    def _evidence_of(self, plan: QueryPlan, rows: Sequence[Row], linked: Mapping[int, Collection[str]]) -> list[float]:
        """Evidence of each row; equal for equal (terms, entities, date), so computed once for each."""
        known: dict[tuple[int, int, bool], float] = {}
        days: dict[Instant, bool] = {}
        evidence = []
        for row in rows:
            credit = 0
            for norm in linked.get(row.key, ()):
                credit |= plan.credits.get(norm, 0)
            on_date = bool(plan.dates) and self._on_date(plan, row, days)
            at = (row.mask, credit, on_date)
            if at not in known:
                extra = plan.weight_of(credit & ~row.mask) + (plan.date_weight if on_date else 0.0)
                known[at] = self._evidence(plan, min(plan.weight_of(row.mask), 1.0), extra)
            evidence.append(known[at])
        return evidence

    def _on_date(self, plan: QueryPlan, row: Row, days: dict[Instant, bool]) -> bool:
        if plan.date_mask and row.mask & plan.date_mask == plan.date_mask:
            return True
        if row.valid_from not in days:
            days[row.valid_from] = dated(plan.dates, row.valid_from)
        return days[row.valid_from]

    def score(self, plan: QueryPlan, row: Row, linked: Mapping[int, Collection[str]] | None = None) -> Relevance:
        """See `Scorer`."""
        value = self.score_many(plan, [row], linked)[0]
        dates = plan.dates if plan.dates and self._on_date(plan, row, {}) else ()
        return Relevance(value, plan.matched(row.mask), _why(plan, row, linked, len(dates)))


@dataclass(frozen=True, slots=True)
class KeywordScorer:
    """The original's rule: overlap of the query's distinct keywords ≥ 0.80, below it nothing.

    An entity that the query names counts as held by the memories about it. The default score threshold only asks for that
    overlap at the least trust there is (floor 0.05), so that a memory which was contradicted is still found.
    """

    threshold: float = 0.04
    overlap: float = 0.80
    name: str = "keyword"

    def plan(
        self,
        query: Analysis,
        stats: CorpusStats,
        known_entities: Collection[str] = (),
        requested_entities: Collection[str] = (),
    ) -> QueryPlan:
        """See `Scorer`."""
        question = read_question(query, stats.frequency, known_entities)
        count = len(question.terms) or 1
        asked = [(term, 1.0 / count) for term in question.terms if term.frequency or term.entity]
        plan = _lay_out(self.name, self.threshold, question, asked)
        free = sum(weight for term, weight in asked if term.entity)
        about = plan.entity_norms if free >= self.overlap - _EPSILON else ()
        required = _required(asked, lambda skipped: skipped + free < self.overlap - _EPSILON)
        hopeless = sum(weight for _, weight in asked) < self.overlap - _EPSILON
        return replace(
            plan, required_terms=() if about else required, about=about, hopeless=hopeless, requested=bool(requested_entities)
        )

    def score_many(
        self, plan: QueryPlan, rows: Sequence[Row], linked: Mapping[int, Collection[str]] | None = None
    ) -> list[float]:
        """See `Scorer`."""
        values = []
        for row in rows:
            held = row.mask
            for norm in (linked or {}).get(row.key, ()):
                held |= plan.credits.get(norm, 0)
            overlap = min(plan.weight_of(held), 1.0)
            values.append(overlap if overlap >= self.overlap - _EPSILON else 0.0)
        return values

    def score(self, plan: QueryPlan, row: Row, linked: Mapping[int, Collection[str]] | None = None) -> Relevance:
        """See `Scorer`."""
        return Relevance(self.score_many(plan, [row], linked)[0], plan.matched(row.mask), _why(plan, row, linked, 0))


_EPSILON: Final = 1e-9


def scorer(name: str, threshold: float | None = None) -> Scorer:
    """The scorer of a name, with its own threshold unless one is given. Raises KeyError for another name."""
    kinds: dict[str, type[CoverageScorer | KeywordScorer]] = {"coverage": CoverageScorer, "keyword": KeywordScorer}
    kind = kinds[name]
    return kind() if threshold is None else kind(threshold=threshold)


def _lay_out(name: str, threshold: float, question: Question, asked: Sequence[tuple[AskedTerm, float]]) -> QueryPlan:
    """The part of a plan that is the same for every scorer: bits, credits, dates, and what is missing."""
    bits = {term.term: 1 << i for i, (term, _) in enumerate(asked)}
    norms = tuple(dict.fromkeys(mention.norm for mention in question.entities))
    credit = dict.fromkeys(norms, 0)
    for mention in question.entities:
        inside = (t for t, _ in asked if mention.start <= t.start and t.end <= mention.end)
        credit[mention.norm] |= sum(bits[t.term] for t in inside)
    dated_terms = [term for term in question.terms if term.dated]
    written = all(term.frequency for term in dated_terms)
    return QueryPlan(
        name,
        threshold,
        terms=tuple(bits),
        weights=tuple(weight for _, weight in asked),
        entity_norms=norms,
        credits=credit,
        dates=question.dates,
        date_mask=sum(bits[term.term] for term in dated_terms) if written else 0,
        missing_terms=tuple(t.surface for t in question.terms if not (t.frequency or t.entity or t.dated)),
        missing_names=question.missing_names,
    )


def _required(asked: Sequence[tuple[AskedTerm, float]], can_skip: Callable[[float], bool]) -> tuple[str, ...]:
    """The terms whose postings must be read: all but the commonest, as long as what is skipped cannot be enough alone."""
    skipped = 0.0
    required = []
    for term, weight in sorted(asked, key=lambda item: (-item[0].frequency, item[0].term)):
        if can_skip(skipped + weight):
            skipped += weight
        elif term.frequency:
            required.append(term.term)
    return tuple(reversed(required))


def _why(plan: QueryPlan, row: Row, linked: Mapping[int, Collection[str]] | None, dates: int) -> str:
    terms = plan.matched(row.mask)
    about = [norm for norm in (linked or {}).get(row.key, ()) if norm in plan.credits]
    parts = [f"holds {', '.join(terms)}"] if terms else []
    parts += [f"is about {', '.join(sorted(about))}"] if about else []
    parts += ["lies at the date asked for"] if dates else []
    return "; ".join(parts) or "nothing in common"

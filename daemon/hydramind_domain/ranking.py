"""Relevance of memories to a query, and which postings must be read to find every memory that can be relevant enough.

Two scorers share one interface. `KeywordScorer` is the original's rule: a memory answers when it holds at least 0.80 of the
query's distinct keywords. `CoverageScorer`, the default, weighs terms by rarity and adds evidence of entities and dates; its
formula and its threshold are argued in docs/adr/0003-relevance-and-threshold.md.

Both plan a query from the scope's statistics alone and score a candidate from its term mask, length and valid time, so that a
store needs no text to rank. `score = trust × relevance`; a score below the threshold is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Protocol

from hydramind_domain.date_evidence import DateMention, dated
from hydramind_domain.model import Instant
from hydramind_domain.query import AskedTerm, Question, read_question
from hydramind_domain.text import Analysis, about_term

__all__ = [
    "CorpusStats",
    "CoverageScorer",
    "KeywordScorer",
    "NamedEntity",
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
class NamedEntity:
    """An entity of the query that memories were said to be about: its bit, and the bits of the words of its name."""

    norm: str
    bit: int
    words: int


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """What to read and how to weigh it.

    `terms` are the terms to look for, in bit order, `weights` their shares of the query's evidence (0 for the terms of
    `entities`, which together weigh `entity_weight`, and for those of dates, `date_weight`). Every memory whose relevance can
    reach `threshold` holds one of `required_terms`, or, if `about` is not empty, is about one of those entities. `missing_*` is
    what the scope has no evidence of. `hopeless`: no memory can be enough, whatever the postings say.
    """

    scorer: str
    threshold: float
    terms: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    required_terms: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    entities: tuple[NamedEntity, ...] = ()
    entity_weight: float = 0.0
    dates: tuple[DateMention, ...] = ()
    date_weight: float = 0.0
    date_mask: int = 0
    factor: float = 1.0
    requested: bool = False
    hopeless: bool = False
    missing_terms: tuple[str, ...] = ()
    missing_names: tuple[str, ...] = ()

    def matched(self, mask: int) -> tuple[str, ...]:
        """The words of a mask, without the entities."""
        words = len(self.terms) - len(self.entities)
        return tuple(term for i, term in enumerate(self.terms[:words]) if mask >> i & 1)

    def weight_of(self, mask: int) -> float:
        """Sum of the weights of a mask's terms."""
        total = 0.0
        while mask:
            low = mask & -mask
            total += self.weights[low.bit_length() - 1]
            mask ^= low
        return total

    def credit(self, mask: int) -> int:
        """Bits of the names of those entities that a memory with this mask was said to be about."""
        words = 0
        for entity in self.entities:
            if mask & entity.bit:
                words |= entity.words
        return words


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
        """Plan a query.

        `stats` hold the frequencies of `query_terms`; `known_entities` are the normal forms in the query that the scope knows
        as entities; to those of `requested_entities` the caller limits the answer.
        """
        ...

    def score_many(self, plan: QueryPlan, rows: Sequence[Row]) -> list[float]:
        """Relevance of each row, in order. Pass the rows that may be answered with, all at once: they support each other."""
        ...

    def score(self, plan: QueryPlan, row: Row) -> Relevance:
        """Relevance of one row alone, with the reason in words."""
        ...


@dataclass(frozen=True, slots=True)
class CoverageScorer:
    """Share of the query's evidence that a memory has. Terms weigh by rarity in the scope; generic words weigh little.

    `evidence = (c + min(extra, reach · c)) · factor`, where c is the weight of the words held; extra that of an entity it was
    said to be about, of that entity's name, and of a date its valid time lies at; and factor falls with each name that the
    scope has never seen. `relevance = evidence · brevity · support`: very short memories tell little; and unless some
    candidate's evidence reaches threshold / lone, all are scaled by `lone`, which puts every one of them below the threshold:
    weak matches answer only in the company of a strong one. All factors are within [0, 1].

    Pruning. A memory without any required term has c ≤ s, the weight of the skipped terms. Evidence grows with c and with
    extra; brevity, support and trust are ≤ 1. So its score is ≤ B(s), the evidence at c = s with all the extra it can have.
    Terms are skipped, commonest first, only while B(s) < threshold. Either extra includes the entity's, or the entity's own
    term is required too and it does not; the plan takes what reads fewer postings. Hence nothing that passes is missed, and
    neither is anything that could lend support (which takes even more evidence).
    """

    threshold: float = 0.272
    lone: float = 0.55
    reach: float = 6.0
    generic: float = 0.70
    generic_unseen: float = 0.30
    entity_share: float = 0.15
    date_share: float = 0.30
    unseen_name: float = 0.40
    unseen_number: float = 2.0
    smoothing: float = 20.0
    generic_prior: float = 4.0
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
        date_weight = self.date_share if question.dates else 0.0
        entity_weight = self.entity_share * max((_said_rather_than_named(question, norm) for norm in question.said), default=0.0)
        weights = [self._weight(term, stats) for term in question.terms]
        total = sum(sorted(weights, reverse=True)[: self.heaviest]) / (1.0 - date_weight - entity_weight) or 1.0
        asked = [(t, w / total) for t, w in zip(question.terms, weights, strict=True) if t.frequency or t.entity]
        plan = replace(
            _lay_out(self, question, asked),
            entity_weight=entity_weight,
            date_weight=date_weight,
            factor=self.unseen_name ** len(question.missing_names),
            requested=bool(requested_entities),
            about=_only_about(question, asked),
        )
        bound = partial(self._bound, plan)
        most = bound(sum(weight for _, weight in asked), said=True)
        hopeless = not plan.about and most < self.threshold / self.lone
        return replace(plan, required_terms=_required(plan, question, asked, bound), hopeless=hopeless)

    def _weight(self, term: AskedTerm, stats: CorpusStats) -> float:
        if term.dated:
            return 0.0
        held = min(term.frequency, stats.memories) + self.generic_prior if term.generic else max(term.frequency, 1)
        rarity = math.log(max((stats.memories + self.smoothing) / held, 1.0))
        if not term.frequency and term.number:
            rarity *= self.unseen_number
        return rarity * term.share * self._generic_factor(term)

    def _generic_factor(self, term: AskedTerm) -> float:
        if not term.generic:
            return 1.0
        return self.generic if term.frequency else self.generic_unseen

    def _bound(self, plan: QueryPlan, coverage: float, *, said: bool) -> float:
        """Most evidence that a memory with so much coverage can have, whether or not it was said to be about an entity."""
        extra = plan.date_weight + (plan.entity_weight + plan.weight_of(plan.credit(-1)) if said else 0.0)
        return self._evidence(plan, min(coverage, 1.0), extra)

    def _evidence(self, plan: QueryPlan, coverage: float, extra: float) -> float:
        if plan.about:
            return min(coverage + extra, 1.0) * plan.factor
        if coverage <= 0.0:
            return 0.0
        evidence = min(coverage + min(extra, self.reach * coverage), 1.0) * plan.factor
        return self.asked_lift + (1.0 - self.asked_lift) * evidence if plan.requested and plan.factor == 1.0 else evidence

    def score_many(self, plan: QueryPlan, rows: Sequence[Row]) -> list[float]:
        """See `Scorer`."""
        evidence = self.evidence(plan, rows)
        support = 1.0 if max(evidence, default=0.0) >= self.threshold / self.lone else self.lone
        scale, brief = support * self.brevity * self.brief_tokens, self.brief_tokens
        return [e * (support - scale / (brief + row.length)) for e, row in zip(evidence, rows, strict=True)]

    def evidence(self, plan: QueryPlan, rows: Sequence[Row]) -> list[float]:
        """Evidence of each row, before brevity and support; equal for equal masks and dates, so computed once for each."""
        seen: dict[tuple[int, bool], float] = {}
        days: dict[Instant, bool] = {}
        evidence = []
        for row in rows:
            at = (row.mask, bool(plan.dates) and _on_date(plan, row, days))
            if at not in seen:
                seen[at] = self._evidence_at(plan, *at)
            evidence.append(seen[at])
        return evidence

    def _evidence_at(self, plan: QueryPlan, mask: int, on_date: bool) -> float:
        credit = plan.credit(mask)
        said = any(mask & entity.bit for entity in plan.entities)
        extra = plan.weight_of(credit & ~mask) + (plan.entity_weight if said else 0.0) + (plan.date_weight if on_date else 0.0)
        return self._evidence(plan, min(plan.weight_of(mask), 1.0), extra)

    def score(self, plan: QueryPlan, row: Row) -> Relevance:
        """See `Scorer`."""
        return Relevance(self.score_many(plan, [row])[0], plan.matched(row.mask), _why(plan, row))


@dataclass(frozen=True, slots=True)
class KeywordScorer:
    """The original's rule: overlap of the query's distinct keywords ≥ 0.80, below it nothing.

    The name of an entity counts as held by a memory that was said to be about it. The score threshold of its own only asks for
    that overlap at the least trust there is (floor 0.05), so that a memory which was contradicted is still found.
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
        plan = replace(_lay_out(self, question, asked), about=_only_about(question, asked), requested=bool(requested_entities))
        bound = partial(self._bound, plan)
        hopeless = not bound(sum(weight for _, weight in asked), said=True)
        return replace(plan, required_terms=_required(plan, question, asked, bound), hopeless=hopeless and not plan.about)

    def _bound(self, plan: QueryPlan, coverage: float, *, said: bool) -> float:
        return self._kept(coverage + (plan.weight_of(plan.credit(-1)) if said else 0.0))

    def _kept(self, overlap: float) -> float:
        return min(overlap, 1.0) if overlap >= self.overlap - _EPSILON else 0.0

    def score_many(self, plan: QueryPlan, rows: Sequence[Row]) -> list[float]:
        """See `Scorer`."""
        seen: dict[int, float] = {}
        for row in rows:
            if row.mask not in seen:
                seen[row.mask] = self._kept(plan.weight_of(row.mask | plan.credit(row.mask)))
        return [seen[row.mask] for row in rows]

    def score(self, plan: QueryPlan, row: Row) -> Relevance:
        """See `Scorer`."""
        return Relevance(self.score_many(plan, [row])[0], plan.matched(row.mask), _why(plan, row))


_EPSILON: Final = 1e-9


def scorer(name: str, threshold: float | None = None) -> Scorer:
    """The scorer of a name, with its own threshold unless one is given. Raises KeyError for another name."""
    kinds: dict[str, type[CoverageScorer | KeywordScorer]] = {"coverage": CoverageScorer, "keyword": KeywordScorer}
    kind = kinds[name]
    return kind() if threshold is None else kind(threshold=threshold)


def _said_rather_than_named(question: Question, norm: str) -> float:
    """How far a scope uses an entity as a subject that contents need not name.

    Of the memories said to be about it and those that hold its name, the share of the former.
    """
    words = [
        t.frequency for m in question.entities if m.norm == norm for t in question.terms if m.start <= t.start and t.end <= m.end
    ]
    return question.said[norm] / (question.said[norm] + min(words, default=0))


def _only_about(question: Question, asked: Sequence[tuple[AskedTerm, float]]) -> tuple[str, ...]:
    """The entities, when the query names them and asks for nothing else."""
    if len(asked) < len(question.terms) or not all(term.entity for term, _ in asked):
        return ()
    return tuple(dict.fromkeys(mention.norm for mention in question.entities))


def _lay_out(scorer: Scorer, question: Question, asked: Sequence[tuple[AskedTerm, float]]) -> QueryPlan:
    """The part of a plan that is the same for every scorer: bits, entities, dates, and what is missing."""
    bits = {term.term: 1 << i for i, (term, _) in enumerate(asked)}
    named = dict.fromkeys(question.said, 0)
    for mention in question.entities:
        inside = (t for t, _ in asked if mention.start <= t.start and t.end <= mention.end)
        if mention.norm in named:
            named[mention.norm] |= sum(bits[t.term] for t in inside)
    dated_terms = [term for term in question.terms if term.dated]
    written = all(term.frequency for term in dated_terms)
    return QueryPlan(
        scorer.name,
        scorer.threshold,
        terms=(*bits, *map(about_term, named)),
        weights=(*(weight for _, weight in asked), *(0.0 for _ in named)),
        entities=tuple(NamedEntity(norm, 1 << len(bits) + i, named[norm]) for i, norm in enumerate(named)),
        dates=question.dates,
        date_mask=sum(bits[term.term] for term in dated_terms) if written else 0,
        missing_terms=tuple(t.surface for t in question.terms if not (t.frequency or t.entity or t.dated)),
        missing_names=question.missing_names,
    )


class _Bound(Protocol):
    """Most relevance at a coverage."""

    def __call__(self, coverage: float, *, said: bool) -> float: ...


def _required(plan: QueryPlan, question: Question, asked: Sequence[tuple[AskedTerm, float]], bound: _Bound) -> tuple[str, ...]:
    """The terms whose postings must be read, by the cheaper of the two ways that `CoverageScorer` explains."""
    if plan.about:
        return ()
    rare = _unskipped(asked, lambda skipped: bound(skipped, said=True) < max(plan.threshold, _EPSILON))
    if not plan.entities:
        return tuple(term.term for term in rare)
    rarer = _unskipped(asked, lambda skipped: bound(skipped, said=False) < max(plan.threshold, _EPSILON))
    with_entities = sum(term.frequency for term in rarer) + sum(question.said.values())
    if sum(term.frequency for term in rare) <= with_entities:
        return tuple(term.term for term in rare)
    return (*(term.term for term in rarer), *(about_term(entity.norm) for entity in plan.entities))


def _unskipped(asked: Sequence[tuple[AskedTerm, float]], can_skip: Callable[[float], bool]) -> list[AskedTerm]:
    """All terms but the commonest, as long as what is skipped cannot be enough; rarest first."""
    skipped = 0.0
    kept = []
    for term, weight in sorted(asked, key=lambda item: (-item[0].frequency, item[0].term)):
        if can_skip(skipped + weight):
            skipped += weight
        elif term.frequency:
            kept.append(term)
    return kept[::-1]


def _on_date(plan: QueryPlan, row: Row, days: dict[Instant, bool]) -> bool:
    """Whether a memory is valid from a date of the query, or writes that date."""
    if plan.date_mask and row.mask & plan.date_mask == plan.date_mask:
        return True
    if row.valid_from not in days:
        days[row.valid_from] = dated(plan.dates, row.valid_from)
    return days[row.valid_from]


def _why(plan: QueryPlan, row: Row) -> str:
    terms = plan.matched(row.mask)
    about = [entity.norm for entity in plan.entities if row.mask & entity.bit]
    parts = [f"holds {', '.join(terms)}"] if terms else []
    parts += [f"is about {', '.join(about)}"] if about else []
    parts += ["lies at the date asked for"] if plan.dates and _on_date(plan, row, {}) else []
    return "; ".join(parts) or "nothing in common"

"""Recall: find current memories for a question, or abstain and say why (semantics: Recall)."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from hydramind_daemon.services import validate
from hydramind_daemon.services.answers import MemoryView, ids_of, memory_views
from hydramind_daemon.services.context import Call, ScopeAnswer, ScopeRef
from hydramind_daemon.services.echo import EchoGuard, Recalled
from hydramind_daemon.services.moments import Moment
from hydramind_daemon.services.ports import ReadView, RecallRow
from hydramind_daemon.services.readers import Readers
from hydramind_daemon.services.scopes import Scopes, near_names
from hydramind_domain import abstention
from hydramind_domain.entities import extract_entities, ngrams_to_look_up, normalise_entity
from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import Instant, Status
from hydramind_domain.query import query_terms
from hydramind_domain.ranking import CorpusStats, QueryPlan, Scorer
from hydramind_domain.text import analyse_query

BUDGET: Final = 20_000
"""Candidates that one recall looks at; beyond, the answer says `truncated`."""

SHOWN: Final = 5
"""Suppressed ids, and nearest misses, of one answer."""

MOST: Final = 100
_HOPELESS_BUDGET: Final = 200


class Order(StrEnum):
    """Order of the answer."""

    SCORE = "score"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """See the contract's RecallRequest."""

    query: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    entities: tuple[str, ...] = ()
    limit: int = 0
    as_of: str = ""
    known_at: str = ""
    include: tuple[Status, ...] = ()
    order: Order = Order.SCORE


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled memory."""

    memory: MemoryView
    relevance: float
    score: float
    why: str

    @property
    def contested(self) -> bool:
        """A contradiction stands on either side."""
        return bool(self.memory.contradicted_by or self.memory.contradicts)


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A memory that matched but is out: superseded, or not valid at the time asked for."""

    memory_id: str
    status: Status
    superseded_by: str


@dataclass(frozen=True, slots=True)
class Recollection:
    """Answer of recall."""

    hits: tuple[Hit, ...]
    abstained: bool
    reason: str
    nearest: tuple[str, ...]
    suppressed: tuple[Suppressed, ...]
    scope: ScopeAnswer
    seq: int
    scorer: str
    truncated: bool
    near_scopes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Ask:
    """A checked request: what to look for, at which moment, with which scorer."""

    query: str
    names: tuple[str, ...]
    limit: int
    moment: Moment
    now: Instant
    include: frozenset[Status]
    order: Order
    scorer: Scorer

    @property
    def valid_at(self) -> Instant:
        """Valid time to look at."""
        return self.now if self.moment.as_of is None else self.moment.as_of


class _Scored(NamedTuple):
    """A candidate with its numbers; made for thousands a recall, so a tuple."""

    score: float
    relevance: float
    row: RecallRow


def _best(one: _Scored) -> tuple[float, int]:
    """By score, then newest (keys grow with time, and are distinct)."""
    return -one.score, -one.row.key


def _newest(one: _Scored) -> int:
    return -one.row.key


class Recalling:
    """Answers questions. The scorer and the default limit are settings that may change while serving."""

    def __init__(self, readers: Readers, scopes: Scopes, echoes: EchoGuard, scorer: Scorer, limit: int) -> None:
        self._readers = readers
        self._scopes = scopes
        self._echoes = echoes
        self.scorer = scorer
        self.limit = limit

    async def recall(self, request: RecallRequest, call: Call, now: Instant) -> Recollection:
        """Answer a question, or abstain. `now` is the default valid time."""
        ask = self._checked(request, now)
        scope = await self._scopes.for_read(request.scope, call)
        answer = await self._readers.read(lambda view: _Search(view, ask, scope).answer(), call.deadline)
        if call.actor.session:
            records = (hit.memory.record for hit in answer.hits)
            self._echoes.recalled(call.actor.session, [Recalled.of(r.key, r.scope, r.content) for r in records])
        return answer

    def _checked(self, request: RecallRequest, now: Instant) -> _Ask:
        hidden = {Status.FORGOTTEN, Status.PURGED} & set(request.include)
        if hidden:
            raise InvalidArgument.of("include", f"names {', '.join(sorted(hidden))}, which recall never answers")
        return _Ask(
            validate.query(request.query),
            validate.names(request.entities, "entities"),
            validate.number(request.limit, "limit", self.limit, MOST),
            Moment.of(request.as_of, request.known_at),
            now,
            frozenset(request.include),
            request.order,
            self.scorer,
        )


class _Search:
    """One recall on one view."""

    def __init__(self, view: ReadView, ask: _Ask, scope: ScopeAnswer) -> None:
        self._view = view
        self._ask = ask
        self._scope = scope
        self._name = scope.scope
        self._known = ask.moment.known(view)
        self._truncated = False

    def answer(self) -> Recollection:
        """Search, score, and answer or abstain."""
        analysis = analyse_query(self._ask.query)
        requested = {normalise_entity(name): name for name in self._ask.names}
        norms = {*self._norms_of_query(), *requested}
        entities = self._view.known_entities(self._name, norms, self._known) if norms else {}
        asked = tuple(norm for norm in requested if norm in entities)
        unknown = tuple(name for norm, name in requested.items() if norm not in entities)
        terms = query_terms(analysis, entities)
        count, frequencies = self._view.frequencies(self._name, terms, self._known)
        stats = CorpusStats(count, {term: n for term, n in zip(terms, frequencies, strict=True) if n})
        plan = self._ask.scorer.plan(analysis, stats, entities, asked)
        only_entities = not analysis.tokens and bool(asked)
        if requested and not asked:
            rows: Sequence[RecallRow] = ()
        else:
            rows = self._rows(plan, asked, only_entities=only_entities)
        inside, outside = self._scored(plan, rows, only_entities=only_entities)
        return self._answered(plan, stats, unknown, inside, outside)

    def _norms_of_query(self) -> tuple[str, ...]:
        forms = (mention.norm for mention in extract_entities(self._ask.query, ()))
        return tuple(dict.fromkeys([*ngrams_to_look_up(self._ask.query), *forms]))

    def _rows(self, plan: QueryPlan, asked: tuple[str, ...], *, only_entities: bool) -> Sequence[RecallRow]:
        """Candidates: by the plan's terms, or by entities when these alone can be enough."""
        if only_entities:
            return self._read((), (), asked)
        if plan.about:
            rows = self._read(plan.terms, (), asked or plan.about)
            if not asked:
                return rows
            linked = self._view.linked(self._name, [row.key for row in rows], plan.about)
            return [row for row in rows if row.key in linked]
        if plan.hopeless:
            return self._read(plan.terms, plan.required_terms[:2] or plan.terms[:2], asked, _HOPELESS_BUDGET)
        return self._read(plan.terms, plan.required_terms, asked)

    def _read(
        self, terms: Sequence[str], required: Sequence[str], norms: Collection[str], budget: int = BUDGET
    ) -> Sequence[RecallRow]:
        if not required and not norms:
            return ()
        found = self._view.recall_rows(self._name, terms, required, norms, budget, self._known)
        self._truncated = found.truncated and budget == BUDGET
        return found.rows

    def _scored(self, plan: QueryPlan, rows: Sequence[RecallRow], *, only_entities: bool) -> tuple[list[_Scored], list[_Scored]]:
        """Candidates that hold at the time asked for, and the others; those that can be answered support each other."""
        inside = [row for row in rows if self._holds(row)]
        outside = [] if len(inside) == len(rows) else [row for row in rows if not self._holds(row)]
        return self._with_numbers(plan, inside, only_entities), self._with_numbers(plan, outside, only_entities)

    def _with_numbers(self, plan: QueryPlan, rows: Sequence[RecallRow], only_entities: bool) -> list[_Scored]:
        values = [1.0] * len(rows) if only_entities else self._ask.scorer.score_many(plan, rows)
        scored = zip(rows, values, strict=True)
        return [_Scored(row.trust * value, value, row) for row, value in scored if value > 0.0]

    def _holds(self, row: RecallRow) -> bool:
        """Valid at the time asked for, whatever came later; or of a status that the caller wants to see too."""
        if row.status in self._ask.include:
            return True
        at = self._ask.valid_at
        return row.valid_from <= at and (row.valid_to is None or at < row.valid_to)

    def _answered(
        self,
        plan: QueryPlan,
        stats: CorpusStats,
        unknown: tuple[str, ...],
        inside: Sequence[_Scored],
        outside: Sequence[_Scored],
    ) -> Recollection:
        good = [one for one in inside if one.score >= plan.threshold]
        rank = _newest if self._ask.order is Order.NEWEST else _best
        hits = self._hits(plan, heapq.nsmallest(self._ask.limit, good, rank))
        near = [one.row.key for one in heapq.nsmallest(SHOWN, inside, _best)] if not hits else []
        suppressed = self._suppressed(plan, outside)
        reason = "" if hits else self._reason(plan, stats, unknown, suppressed)
        return Recollection(
            hits,
            not hits,
            reason,
            tuple(ids_of(self._view, near)[key] for key in near),
            suppressed,
            self._scope,
            self._view.sequence if self._known is None else self._known,
            self._ask.scorer.name,
            self._truncated,
            self._near_scopes() if not hits and not stats.memories else (),
        )

    def _hits(self, plan: QueryPlan, shown: Sequence[_Scored]) -> tuple[Hit, ...]:
        views = memory_views(self._view, [one.row.key for one in shown], self._known)
        return tuple(
            Hit(views[one.row.key], one.relevance, one.score, self._ask.scorer.score(plan, one.row).why)
            for one in shown
            if one.row.key in views
        )

    def _reason(self, plan: QueryPlan, stats: CorpusStats, unknown: tuple[str, ...], suppressed: Collection[Suppressed]) -> str:
        if suppressed:
            return "What matches does not hold at the time asked for; the suppressed ones say which."
        if stats.memories and not self._ask.query.strip() and not unknown:
            return "The query is blank; ask with words, or name entities."
        return abstention.explain(plan, stats, unknown).text

    def _suppressed(self, plan: QueryPlan, outside: Sequence[_Scored]) -> tuple[Suppressed, ...]:
        good = [one for one in outside if one.score >= plan.threshold]
        keys = [one.row.key for one in heapq.nsmallest(SHOWN, good, _best)]
        if not keys:
            return ()
        views = memory_views(self._view, keys, self._known)
        found = (views[key] for key in keys if key in views)
        return tuple(Suppressed(v.record.memory_id, v.record.status, v.superseded_by) for v in found)

    def _near_scopes(self) -> tuple[str, ...]:
        if self._view.scope_exists(self._name):
            return ()
        return near_names(self._name, list(self._view.scope_names()))

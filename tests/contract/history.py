"""A history of commands on a store, and every answer that a view gives about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from hydramind_daemon.services.ports import CommitMeta, ReadView, Store, WriteBatch
from hydramind_domain import outcome_codec, rules, withdraw
from hydramind_domain.commands import Forget, Link, NewClaim, Purge, Remember, Resolve, Revise
from hydramind_domain.model import Actor, EntityLink, FoundConflict, Origin, Status, TrustRules
from hydramind_domain.outcomes import Outcome
from hydramind_domain.plan import IndexTerms, Plan

ME = Actor("test", "1", 7, "session")
RULES = TrustRules()
SECOND = 1_000_000
EDGE_TYPES = ("ABOUT", "DERIVED_FROM", "SUPERSEDED_BY", "CONTRADICTS", "TRUST_DECAY")


def index_of(text: str) -> IndexTerms:
    """Words as they stand: these tests are about the store, not about text analysis."""
    words = text.split()
    return IndexTerms(tuple(dict.fromkeys(words)), len(words), tuple(dict.fromkeys(words[:2])))


def link(name: str, origin: Origin = Origin.EXPLICIT) -> EntityLink:
    return EntityLink(name, name.casefold(), "thing", origin)


class History:
    """Runs commands, each between savepoint and release; `commit` ends the batch."""

    def __init__(self, store: Store, rules_: TrustRules = RULES, index: Callable[[str], IndexTerms] = index_of) -> None:
        self.store = store
        self.index = index
        self.rules = rules_
        self.now = 1_000 * SECOND
        self.keep = True
        self._batch: WriteBatch | None = None

    @property
    def batch(self) -> WriteBatch:
        if self._batch is None:
            self._batch = self.store.begin()
        return self._batch

    def commit(self) -> None:
        batch, self._batch = self.batch, None
        batch.commit()

    def run(self, method: str, scope: str, plan_of: Callable[[WriteBatch], tuple[Plan, Outcome]], key: str = "") -> int:
        """Plan, apply, keep; the commit sequence."""
        self.now += SECOND
        self.batch.savepoint()
        plan, outcome = plan_of(self.batch)
        meta = CommitMeta(self.now, ME, method, scope, key, b"hash" if key else b"", outcome_codec.encode(outcome))
        seq = self.batch.apply(plan, meta)
        if self.keep:
            self.batch.release()
        return seq

    def claim(self, name: str, text: str, about: Iterable[str], against: Iterable[str]) -> NewClaim:
        found = tuple(FoundConflict(self.key(o), "negation", "one negates the other") for o in against)
        return NewClaim(name, text, text, tuple(link(n) for n in about), found, index=self.index(text))

    def key(self, name: str) -> int:
        record = self.batch.snapshot.find(name)
        assert record is not None, name
        return record.key

    def remember(
        self,
        name: str,
        text: str = "",
        *,
        about: Iterable[str] = (),
        on: Sequence[str] = (),
        against: Iterable[str] = (),
        scope: str = "a",
        key: str = "",
        valid_from: int | None = None,
    ) -> int:
        claim = self.claim(name, text or f"text of {name}", about, against)
        command = Remember(scope, claim, ME, "notes", tuple(on), valid_from)
        return self.run("remember", scope, lambda b: rules.remember(b.snapshot, command, self.now, self.rules), key)

    def revise(self, name: str, new: str, text: str = "", *, against: Iterable[str] = (), scope: str = "a") -> int:
        command = Revise(scope, name, self.claim(new, text or f"text of {new}", (), against), ME, "moved on")
        return self.run("revise", scope, lambda b: rules.revise(b.snapshot, command, self.now, self.rules))

    def forget(self, name: str, scope: str = "a") -> int:
        return self.run(
            "forget", scope, lambda b: withdraw.forget(b.snapshot, Forget(scope, name, "wrong"), self.now, self.rules)
        )

    def purge(self, *names: str, scope: str = "a") -> int:
        command = Purge(scope, names, "secret")
        return self.run("purge", scope, lambda b: withdraw.purge(b.snapshot, command, self.now, self.rules))

    def resolve(self, one: str, two: str, *, dismissed: bool = True, scope: str = "a") -> int:
        command = Resolve(scope, one, two, dismissed, "mistake")
        return self.run("resolve", scope, lambda b: withdraw.resolve(b.snapshot, command, self.now, self.rules))

    def link(self, name: str, *on: str, scope: str = "a") -> int:
        return self.run("link", scope, lambda b: rules.link(b.snapshot, Link(scope, name, on), self.now, self.rules))

    def spread(self, cause: str, scope: str = "a") -> int:
        key = self.key(cause)
        return self.run("spread", scope, lambda b: withdraw.spread(b.snapshot, key, self.now, self.rules))


def timed_answers(view: ReadView, known: int | None, words: Sequence[str], entities: Sequence[str]) -> dict[str, Any]:
    """Everything that a view can be asked about a moment, for two scopes."""
    everything = view.export_keys(None, 0, 10_000, every_status=True, known=known)
    records = view.records(everything, known)
    found: dict[str, Any] = {
        "keys": list(everything),
        "records": {key: asdict(record) for key, record in records.items()},
        "find": {r.memory_id: view.find(r.memory_id, known) == r for r in records.values()},
        "links": view.links(everything, known),
        "contests": view.contests(everything, known),
        "successors": view.successors(everything, known),
        "predecessors": view.predecessors(everything, known),
        "parents": view.parents(everything, known),
        "dependents": view.dependents(everything, known),
        "old evidence": view.evidence_superseded(everything, known),
        "drops": {key: list(view.drops_on(key, known)) for key in everything},
        "events": {key: list(view.events_of(key, known)) for key in everything},
        "edges": list(view.edges(everything, EDGE_TYPES, known)),
    }
    for scope in ("a", "b"):
        found[scope] = scope_answers(view, known, scope, words, entities)
    return found


def scope_answers(view: ReadView, known: int | None, scope: str, words: Sequence[str], entities: Sequence[str]) -> dict[str, Any]:
    keys = view.export_keys(scope, 0, 10_000, every_status=True, known=known)
    found = {
        "keys": list(keys),
        "visible": list(view.export_keys(scope, 0, 10_000, every_status=False, known=known)),
        "frequencies": view.frequencies(scope, words, known),
        "known entities": dict(view.known_entities(scope, entities, known)),
        "timeline": list(view.timeline(scope, None, None, None, None, 100, known)),
        "timeline of keys": list(view.timeline(scope, None, list(keys)[::2], None, None, 100, known)),
    }
    for word in words:
        found[f"recall {word}"] = view.recall_rows(scope, words, [word], [], 100, known)
    for entity in entities:
        found[f"timeline {entity}"] = list(view.timeline(scope, entity, None, None, None, 100, known))
        found[f"recall about {entity}"] = view.recall_rows(scope, words, words[:2], [entity], 100, known)
        found[f"all about {entity}"] = view.recall_rows(scope, words, [], [entity], 3, known)
    return found


def present_answers(view: ReadView, words: Sequence[str], entities: Sequence[str]) -> dict[str, Any]:
    """What is asked about the newest state only."""
    found: dict[str, Any] = {"names": list(view.scope_names()), "scopes": list(view.scopes("", 10))}
    for scope in ("a", "b"):
        for status in (list(Status), [Status.ACTIVE]):
            found[f"newest {scope} {len(status)}"] = view.newest(scope, status, None, None, 100)
            for entity in entities:
                found[f"newest {scope} {len(status)} {entity}"] = view.newest(scope, status, entity, None, 100)
        found[f"entities {scope}"] = list(view.entities(scope, "", 0, 100))
        found[f"conflicts {scope}"] = [list(view.conflicts(scope, withdrawn, None, 100)) for withdrawn in (True, False)]
        found[f"counts {scope}"] = view.counts(scope)
        found[f"candidates {scope}"] = view.conflict_candidates(scope, entities, words, 64)
    found["events"] = list(view.events_after(0, None, 10_000))
    found["events of b"] = list(view.events_after(0, ["b"], 10_000))
    return found


def plain_event(event: Any) -> Any:
    return replace(event, content="")

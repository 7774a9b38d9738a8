"""The text work of a new claim, done before its batch: entities, index terms, conflict candidates and verdicts.

Contents never change, so that a verdict on a candidate holds for ever: inside the batch only candidates that appeared since
are looked at (semantics: Conflict check).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from hydramind_daemon.services.ports import ReadView
from hydramind_daemon.services.recent import CLAIM_CHARS, Recent
from hydramind_domain.claims import Claim, analyse_claim, slot_terms
from hydramind_domain.commands import NewClaim
from hydramind_domain.conflict import ConflictClassifier
from hydramind_domain.entities import EntityMention, extract_entities, ngrams_to_look_up, normalise_entity
from hydramind_domain.explain import conflict_phrase
from hydramind_domain.model import EntityLink, FoundConflict, Origin, Spans, Status
from hydramind_domain.plan import IndexTerms
from hydramind_domain.snapshot import Snapshot
from hydramind_domain.suspicion import is_suspicious
from hydramind_domain.text import index_terms, normalise_content

CANDIDATES: Final = 64
"""Most memories that a claim is compared with (semantics: Conflict check)."""

ENTITIES: Final = 64
"""Most entities of one memory."""

WORDS: Final = 24
"""Terms by which a claim that names nothing known is compared."""

_BY_WORDS: Final = 256


SHORT_CHARS: Final = 16_384
"""Longer contents are analysed on a reader thread, so that they hold up neither the loop nor the writer."""


class Memory(Protocol):
    """Where the claims of candidates and the known entities come from: read anew, or kept by the writer."""

    def claims(self, view: ReadView, keys: Collection[int]) -> Mapping[int, Claim]:
        """What memories claim."""
        ...

    def known(self, view: ReadView, scope: str, norms: Collection[str]) -> Mapping[str, str]:
        """Norm → name as first written, of those that the scope knows."""
        ...


@dataclass(slots=True)
class Text:
    """What depends on the content alone."""

    content: str
    norm: str
    claim: Claim
    index: IndexTerms
    ngrams: tuple[str, ...]
    suspicious: bool

    @classmethod
    def of(cls, content: str) -> Text:
        """Analyse a content."""
        # Caches keep what they were asked for: a long content must not stay in them.
        claim = analyse_claim(content[:CLAIM_CHARS])
        terms, length = index_terms(content)
        index = IndexTerms(terms, length, slot_terms(claim))
        ngrams = ngrams_to_look_up(content[:CLAIM_CHARS])
        return cls(content, normalise_content(content), claim, index, ngrams, is_suspicious(content))


def entity_links(text: Text, explicit: Sequence[str], known: Mapping[str, str]) -> tuple[EntityLink, ...]:
    """Explicit entities, then extracted ones, distinct by normal form, at most 64; names as first written in the scope."""
    links = {
        norm: EntityLink(known.get(norm, name), norm, "explicit", Origin.EXPLICIT)
        for name, norm in ((name, normalise_entity(name)) for name in explicit)
    }
    mentions: tuple[EntityMention, ...] = extract_entities(text.content, known)
    for mention in mentions:
        if len(links) >= ENTITIES:
            break
        name = known.get(mention.norm, mention.name)
        links.setdefault(mention.norm, EntityLink(name, mention.norm, mention.kind, Origin.EXTRACTED))
    return tuple(links.values())


@dataclass(slots=True)
class PreparedClaim:
    """A claim with its text work, and the verdicts so far (None: no conflict) by key of the candidate.

    It looks at the store right before its batch; what earlier commands of the batch added is asked of `Recent`.
    """

    memory_id: str
    scope: str
    content: str
    explicit: tuple[str, ...]
    classifier: ConflictClassifier
    analysed: Text | None = None
    asked: tuple[str, ...] = ()
    known: dict[str, str] = field(default_factory=dict)
    links: tuple[EntityLink, ...] = ()
    verdicts: dict[int, FoundConflict | None] = field(default_factory=dict)
    checked: int = 0
    skipped: int = 0

    @property
    def text(self) -> Text:
        """The text work, done when first asked for."""
        if self.analysed is None:
            self.analysed = Text.of(self.content)
        return self.analysed

    def look(self, view: ReadView, memory: Memory, inherited: Sequence[EntityLink] = ()) -> None:
        """Look at the store before the batch: known entities, candidates, verdicts."""
        self.asked = tuple(dict.fromkeys([*map(normalise_entity, self.explicit), *self.text.ngrams]))
        self._know(memory.known(view, self.scope, self.asked))
        # An entity that the scope does not know has no memories.
        known = [link for link in self.links if link.norm in self.known]
        keys, self.skipped = self._candidates(view, (*known, *inherited))
        if not (keys or known or inherited):
            keys = self._by_words(view)
        self.checked = len(keys)
        if keys:
            self._judge(memory.claims(view, keys))

    def claim_on(self, snapshot: Snapshot, recent: Recent, inherited: Sequence[EntityLink] = ()) -> NewClaim:
        """The claim as it is to be planned, on the state that the batch has reached."""
        names = recent.fresh_names(self.scope)
        if names:
            self._know({norm: names[norm] for norm in self.asked if norm in names and norm not in self.known})
            norms = [link.norm for link in (*self.links, *inherited)]
            self._judge(recent.candidates(self.scope, norms, frozenset(self.text.index.slot_terms)))
        if recent.reopened:
            self._look_again(snapshot, inherited)
        found = [verdict for _, verdict in sorted(self.verdicts.items()) if verdict is not None]
        text = self.text
        conflicts = tuple(found[-CANDIDATES:])
        return NewClaim(self.memory_id, text.content, text.norm, self.links, conflicts, text.suspicious, text.index)

    def _look_again(self, snapshot: Snapshot, inherited: Sequence[EntityLink]) -> None:
        """As `look`, on the batch's own state; verdicts that are there are kept."""
        keys, self.skipped = self._candidates(snapshot, (*self.links, *inherited))
        new = [key for key in keys if key not in self.verdicts]
        self._judge({key: analyse_claim(snapshot.record(key).content[:CLAIM_CHARS]) for key in new})

    def _know(self, names: Mapping[str, str]) -> None:
        if names or not self.links:
            self.known.update(names)
            self.links = entity_links(self.text, self.explicit, self.known)

    def _candidates(self, state: ReadView | Snapshot, about: Sequence[EntityLink]) -> tuple[Sequence[int], int]:
        slots = self.text.index.slot_terms
        norms = {link.norm for link in about}
        if not slots or not norms:
            return (), 0
        return state.conflict_candidates(self.scope, norms, slots, CANDIDATES)

    def _by_words(self, view: ReadView) -> Sequence[int]:
        """Newest active memories with most of the words of a claim that names nothing that the scope knows.

        Without it, a claim and its contrary that both name no entity would never meet (docs/adr/0008-claims-without-names.md).
        """
        terms = [term for term in self.text.index.terms[:WORDS] if not term[0].isdigit()]
        slots = self.text.index.slot_terms
        if not slots:
            return ()
        _, numbers = view.frequencies(self.scope, terms)
        held = [term for n, term in sorted(zip(numbers, terms, strict=True)) if n]
        # One word in common is enough only where an attribute ("@port") is filled: "Step 1." and "Step 2." are no contraries.
        least = max((len(terms) + 1) // 2, 1 if slots[0].startswith("@") else 2)
        if not held or len(held) < least:
            return ()
        rows = view.recall_rows(self.scope, held, held[: len(held) - least + 1], (), _BY_WORDS).rows
        found = [row.key for row in rows if row.status is Status.ACTIVE and row.mask.bit_count() >= least][:CANDIDATES]
        # Two claims that were both said to be about something, and about different things, stay apart.
        links = view.links(found) if self.explicit and found else {}
        said = {key for key, about in links.items() if any(link.origin is not Origin.EXTRACTED for link in about)}
        return [key for key in found if key not in said]

    def _judge(self, claims: Mapping[int, Claim]) -> None:
        mine = self.text.claim
        for key, claim in claims.items():
            verdict = self.classifier.classify(mine, claim)
            if verdict is None:
                self.verdicts[key] = None
                continue
            spans = Spans(verdict.new_start, verdict.new_end, verdict.old_start, verdict.old_end)
            self.verdicts[key] = FoundConflict(key, verdict.reason_code, conflict_phrase(verdict.reason_code), spans)


class FromStore:
    """`Memory` that reads everything anew: for questions on reader threads."""

    @staticmethod
    def claims(view: ReadView, keys: Collection[int]) -> Mapping[int, Claim]:
        """What memories claim."""
        return {key: analyse_claim(record.content[:CLAIM_CHARS]) for key, record in view.records(keys).items()}

    @staticmethod
    def known(view: ReadView, scope: str, norms: Collection[str]) -> Mapping[str, str]:
        """Which of the names the scope knows."""
        return view.known_entities(scope, norms) if norms else {}

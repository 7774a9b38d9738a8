"""The text work of a new claim, done before its batch: entities, index terms, conflict candidates and verdicts.

Contents never change, so that a verdict on a candidate holds for ever: inside the batch only candidates that appeared since
are looked at (semantics: Conflict check).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hydramind_daemon.services.ports import ReadView
from hydramind_daemon.services.recent import CLAIM_CHARS, Recent, shares
from hydramind_domain.claims import Claim, analyse_claim, slot_terms
from hydramind_domain.commands import NewClaim
from hydramind_domain.conflict import ConflictClassifier
from hydramind_domain.entities import EntityMention, extract_entities, ngrams_to_look_up, normalise_entity
from hydramind_domain.explain import conflict_phrase
from hydramind_domain.model import EntityLink, FoundConflict, Origin, Spans
from hydramind_domain.plan import IndexTerms
from hydramind_domain.snapshot import Snapshot
from hydramind_domain.suspicion import is_suspicious
from hydramind_domain.text import index_terms, normalise_content

CANDIDATES: Final = 64
"""Most memories that a claim is compared with (semantics: Conflict check)."""

ENTITIES: Final = 64
"""Most entities of one memory."""


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
        return cls(content, normalise_content(content), claim, index, ngrams_to_look_up(content[:CLAIM_CHARS]), is_suspicious(content))


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


def asked_norms(text: Text, explicit: Sequence[str]) -> tuple[str, ...]:
    """Normal forms to look up among the entities that a scope knows."""
    forms = (mention.norm for mention in extract_entities(text.content, ()))
    return tuple(dict.fromkeys([*map(normalise_entity, explicit), *forms, *text.ngrams]))


@dataclass(slots=True)
class PreparedClaim:
    """A claim with its text work, and the verdicts so far (None: no conflict) by key of the candidate.

    `seq` is the commit that `look` saw; what came later is asked of `recent`, and of the store only when that has forgotten.
    """

    memory_id: str
    scope: str
    text: Text
    explicit: tuple[str, ...]
    classifier: ConflictClassifier
    recent: Recent
    seq: int = -1
    looked_up: tuple[str, ...] = ()
    known: dict[str, str] = field(default_factory=dict)
    links: tuple[EntityLink, ...] = ()
    verdicts: dict[int, FoundConflict | None] = field(default_factory=dict)
    checked: int = 0
    skipped: int = 0

    def look(self, view: ReadView, inherited: Sequence[EntityLink] = ()) -> None:
        """Look at the store before the batch: known entities, candidates, verdicts."""
        self.seq = view.sequence
        self.looked_up = asked_norms(self.text, self.explicit)
        self._know(view.known_entities(self.scope, self.looked_up) if self.looked_up else {})
        keys, self.skipped = self._candidates(view, inherited)
        self.checked = len(keys)
        if keys:
            records = view.records(keys)
            self._judge({key: records[key].content for key in keys if key in records})

    def claim_on(self, snapshot: Snapshot, inherited: Sequence[EntityLink] = ()) -> NewClaim:
        """The claim as it is to be planned, on the state that the batch has reached."""
        if self.recent.covers(self.seq):
            self._catch_up(inherited)
        else:
            self._look_again(snapshot, inherited)
        found = [verdict for _, verdict in sorted(self.verdicts.items()) if verdict is not None]
        text = self.text
        conflicts = tuple(found[-CANDIDATES:])
        return NewClaim(self.memory_id, text.content, text.norm, self.links, conflicts, text.suspicious, text.index)

    def _catch_up(self, inherited: Sequence[EntityLink]) -> None:
        """What was added since the look, from memory."""
        later = list(self.recent.since(self.seq, self.scope))
        if not later:
            return
        names = {norm: name for added in reversed(later) for norm, name in added.names.items()}
        self._know({norm: names[norm] for norm in self.looked_up if norm in names and norm not in self.known})
        norms = {link.norm for link in (*self.links, *inherited)}
        slots = frozenset(self.text.index.slot_terms)
        self._judge({a.key: a.content for a in later if a.key not in self.verdicts and shares(a, norms, slots)})

    def _look_again(self, snapshot: Snapshot, inherited: Sequence[EntityLink]) -> None:
        """As `look`, on the batch's own state; verdicts that are there are kept."""
        self._know(snapshot.known_entities(self.scope, self.looked_up) if self.looked_up else {})
        keys, self.skipped = self._candidates(snapshot, inherited)
        self._judge({key: snapshot.record(key).content for key in keys if key not in self.verdicts})

    def _know(self, names: Mapping[str, str]) -> None:
        if names or not self.links:
            self.known.update(names)
            self.links = entity_links(self.text, self.explicit, self.known)

    def _candidates(self, state: ReadView | Snapshot, inherited: Sequence[EntityLink]) -> tuple[Sequence[int], int]:
        slots = self.text.index.slot_terms
        norms = {link.norm for link in (*self.links, *inherited)}
        if not slots or not norms:
            return (), 0
        return state.conflict_candidates(self.scope, norms, slots, CANDIDATES)

    def _judge(self, contents: Mapping[int, str]) -> None:
        for key, content in contents.items():
            verdict = self.classifier.classify(self.text.claim, analyse_claim(content[:CLAIM_CHARS]))
            if verdict is None:
                self.verdicts[key] = None
                continue
            spans = Spans(verdict.new_start, verdict.new_end, verdict.old_start, verdict.old_end)
            self.verdicts[key] = FoundConflict(key, verdict.reason_code, conflict_phrase(verdict.reason_code), spans)

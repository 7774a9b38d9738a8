"""What each session has just recalled, so that a recalled memory that comes back is no new evidence.

An agent that stores what it has read makes one fact look like many (the feedback loop). A claim is an echo when it says what
a memory recalled in its session says: the same terms but for a few plain words, the same values, the same polarity.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hydramind_daemon.services.prepare import Text
from hydramind_daemon.services.recent import CLAIM_CHARS
from hydramind_domain.claims import Claim
from hydramind_domain.conflict import BuiltinClassifier
from hydramind_domain.values import find_values

SESSIONS: Final = 256
"""Sessions remembered, the longest silent ones forgotten first."""

RECALLED: Final = 64
"""Memories remembered for each session."""

RECALL_SOURCE: Final = "recall"
"""A `source` that says by itself that the claim was recalled."""

_WORTHWHILE: Final = 0.5
_WORD: Final = re.compile(r"\w+")
_OVERLAP: Final = 0.75
_ADDED: Final = 0.2
_CLASSIFIER: Final = BuiltinClassifier()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that was answered to a session; `words` for a quick look at whether a claim may repeat it."""

    key: int
    scope: str
    content: str
    words: frozenset[str]

    @classmethod
    def of(cls, key: int, scope: str, content: str) -> Recalled:
        """With its words."""
        return cls(key, scope, content, words_of(content))


def words_of(content: str) -> frozenset[str]:
    """Words of the beginning of a content, as they stand but for case and punctuation."""
    return frozenset(_WORD.findall(content[:CLAIM_CHARS].casefold()))


def may_repeat(new: frozenset[str], old: frozenset[str]) -> bool:
    """Whether two contents share so many words that analysing both is worth while; cheap, for every recalled memory."""
    return len(new & old) >= _WORTHWHILE * max(len(new), len(old))


def repeats(new: Text, old: Text) -> bool:
    """Whether `new` says no more than `old`."""
    if new.norm == old.norm:
        return True
    one, two = frozenset(new.index.terms), frozenset(old.index.terms)
    added = one - two
    if not one or len(added) > _ADDED * len(one) or len(one & two) < _OVERLAP * len(one | two):
        return False
    if any(not term.isalpha() for term in added) or _names(new.content) - _names(old.content):
        return False
    return _polarity(new.claim) == _polarity(old.claim) and _values(new) == _values(old) and _agree(new.claim, old.claim)


def _names(content: str) -> frozenset[str]:
    """Words that begin with a capital, the first of each sentence aside; and words in another script or with signs."""
    words = content.split()
    inner = (word for before, word in itertools.pairwise(words) if before[-1:] not in ".!?:")
    return frozenset(word.strip(".,;:!?\"'()").casefold() for word in inner if not word[:1].islower() and word[:1].isalpha())


def _polarity(claim: Claim) -> list[tuple[bool, bool]]:
    return sorted((clause.negated, clause.no_longer) for clause in claim.clauses)


def _values(text: Text) -> list[tuple[str, str, tuple[str, ...]]]:
    return sorted((value.kind, value.dimension, value.keys) for value in find_values(text.content))


def _agree(one: Claim, two: Claim) -> bool:
    return _CLASSIFIER.classify(one, two) is None and _CLASSIFIER.classify(two, one) is None


class EchoGuard:
    """Remembers, in memory only, what sessions recalled. Used from reader threads and from the loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, OrderedDict[int, Recalled]] = OrderedDict()

    def recalled(self, session: str, memories: Iterable[Recalled]) -> None:
        """Note what a session was answered."""
        if not session:
            return
        with self._lock:
            seen = self._sessions.setdefault(session, OrderedDict())
            self._sessions.move_to_end(session)
            for memory in memories:
                seen[memory.key] = memory
                seen.move_to_end(memory.key)
            while len(seen) > RECALLED:
                seen.popitem(last=False)
            while len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)

    def of_session(self, session: str, scope: str) -> list[Recalled]:
        """What the session recalled in a scope, newest first."""
        with self._lock:
            seen = self._sessions.get(session)
            return [memory for memory in reversed(seen.values()) if memory.scope == scope] if seen else []


def echo_of(text: Text, candidates: Iterable[Recalled]) -> int | None:
    """Key of the first candidate that the claim repeats."""
    words = words_of(text.content)
    alike = (memory for memory in candidates if may_repeat(words, memory.words))
    return next((memory.key for memory in alike if repeats(text, Text.of(memory.content))), None)

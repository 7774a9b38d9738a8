"""The conflict classifier: whether a new claim and an older one of the same scope and entity cannot both hold.

The rule: semantics of the conflict check. Silent when unsure: a false alarm costs an agent's trust in every later one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from hydramind_domain.claims import Claim
from hydramind_domain.conflict_aligned import Finding
from hydramind_domain.conflict_rules import compare

REASON_CODES: Final = (
    "negation",
    "antonym",
    "state_change",
    "converse",
    "preference",
    "correction",
    "value_number",
    "value_date",
    "value_version",
    "value_name",
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Two claims contradict each other.

    `reason_code` is one of `REASON_CODES`, `reason` says it in words; the spans are code points, end exclusive, in the
    new and the old content.
    """

    reason_code: str
    reason: str
    new_start: int
    new_end: int
    old_start: int
    old_end: int


class ConflictClassifier(Protocol):
    """Decides whether two claims of one scope that share an entity contradict each other."""

    def classify(self, new: Claim, old: Claim) -> Verdict | None:
        """The verdict, or None when the claims can both hold or when it is unsure."""
        ...


class BuiltinClassifier:
    """The rules of `conflict_rules`: polarity, opposites, state changes and single-valued attributes."""

    __slots__ = ()

    def classify(self, new: Claim, old: Claim) -> Verdict | None:
        """The first conflict between any clause of `new` and any clause of `old`."""
        if new.terms.isdisjoint(old.terms):
            return None
        olds = old.clauses
        for one in new.clauses:
            mask, slack, solid = one.mask, one.slack, one.solid
            for two in olds:
                # At most this many words in common; every rule but the two below needs all but one of the shorter side.
                common = (mask & two.mask).bit_count() + slack
                close = common > 0 and common >= (min(two.solid, solid)) - 1
                if close or (one.frames and two.frames and not one.subjects.isdisjoint(two.subjects)) or one.rejected:
                    found = compare(one, two)
                    if found is not None:
                        return _verdict(found)
        return None


def _verdict(found: Finding) -> Verdict:
    return Verdict(found.code, found.reason, *found.new, *found.old)

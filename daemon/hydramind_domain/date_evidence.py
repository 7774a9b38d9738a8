"""Dates that a query names, held against the valid time of memories."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from hydramind_domain.model import Instant
from hydramind_domain.values import find_values

_MICROSECONDS_A_DAY: Final = 86_400_000_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_TOLD_WITHIN_DAYS: Final = 3
"""What happens on a day is often recorded some days later."""

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_YEAR: Final = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w,-]|\.\d)")
_MONTH: Final = re.compile(rf"\b(?:in|since|during|of|by|until|last|this|next|early|late|mid) ({'|'.join(_MONTHS)})\b")


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date as far as it is said (0: not said), and where it stands in the query."""

    year: int
    month: int
    day: int
    start: int
    end: int

    def holds_on(self, on: date) -> bool:
        """Whether a calendar day is within the date."""
        return self.year in {0, on.year} and self.month in {0, on.month} and self.day in {0, on.day}


def find_dates(query: str) -> tuple[DateMention, ...]:
    """Days, months and years that a query names, each part of the text at most once."""
    found: list[DateMention] = []
    for value in find_values(query):
        if value.kind == "date" and not value.dimension:
            year, month, day = (int(part or 0) for part in value.keys[0].split("|")[:3])
            found.append(DateMention(year, month, day, value.start, value.end))
    found.extend(DateMention(0, _MONTHS.index(match[1]) + 1, 0, *match.span(1)) for match in _MONTH.finditer(query))
    found.extend(DateMention(int(match[0]), 0, 0, *match.span()) for match in _YEAR.finditer(query))
    kept: list[DateMention] = []
    for mention in found:
        if not any(mention.start < other.end and other.start < mention.end for other in kept):
            kept.append(mention)
    return tuple(sorted(kept, key=lambda mention: mention.start))


def dated(mentions: tuple[DateMention, ...], valid_from: Instant) -> bool:
    """Whether a memory that is valid from then may tell of one of the dates: on it, or at most three days after."""
    ordinal = _EPOCH + valid_from // _MICROSECONDS_A_DAY
    if not _TOLD_WITHIN_DAYS < ordinal <= date.max.toordinal():
        return False
    day = date.fromordinal(ordinal)
    days = [day - timedelta(days=back) for back in range(_TOLD_WITHIN_DAYS + 1)]
    return any(mention.holds_on(on) for mention in mentions for on in days)

"""Times as callers write them (semantics: Time). One parser for every front end.

Accepted: `2026-03-01` (the UTC day), `2026-03-01T12:30:00Z`, `2026-03-01T12:30:00.5+02:00`, epoch seconds (9 or 10 digits, with
an optional fraction) and epoch milliseconds (12 or 13 digits). A date-time without an offset is refused, as is any other number.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hydramind_domain.errors import InvalidArgument
from hydramind_domain.model import Instant

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s?(Z|z|[+-]\d{2}:?\d{2})?")
_SECONDS = re.compile(r"\d{9,10}(?:\.\d{1,9})?")
_MILLISECONDS = re.compile(r"\d{12,13}")
_SEQUENCE = re.compile(r"seq:(\d{1,18})")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400_000_000
FORMS = (
    "give a date (2026-03-01, the UTC day), a date-time with an offset (2026-03-01T12:00:00Z or +02:00), "
    "epoch seconds (10 digits) or epoch milliseconds (13 digits)"
)


def instant_of(moment: datetime) -> Instant:
    """Microseconds since the epoch of an aware date-time."""
    return (moment - _EPOCH) // _MICROSECOND


def datetime_of(instant: Instant) -> datetime:
    """Aware UTC date-time of an instant."""
    return _EPOCH + timedelta(microseconds=instant)


def iso(instant: Instant) -> str:
    """RFC 3339 in UTC with Z; fractions only when there are any."""
    return datetime_of(instant).isoformat().replace("+00:00", "Z")


def parse(text: str, field: str, *, end_of_day: bool = False) -> Instant:
    """A time; a bare date is its first instant, or its last one with `end_of_day` (as_of, known_at).

    Raises InvalidArgument naming the field and the accepted forms.
    """
    given = text.strip()
    try:
        if _DATE.fullmatch(given):
            start = instant_of(datetime.fromisoformat(given).replace(tzinfo=UTC))
            return start + _DAY - 1 if end_of_day else start
        if match := _DATE_TIME.fullmatch(given):
            return _date_time(match, field)
    except (ValueError, OverflowError) as error:
        raise InvalidArgument.of(field, f"{given!r} is no date that exists; {FORMS}", reason="INVALID_TIME") from error
    if _SECONDS.fullmatch(given):
        whole, _, fraction = given.partition(".")
        return int(whole) * 1_000_000 + int((fraction + "000000")[:6])
    if _MILLISECONDS.fullmatch(given):
        return int(given) * 1_000
    raise InvalidArgument.of(field, f"{given[:64]!r} is not a time that can be read; {FORMS}", reason="INVALID_TIME")


def _date_time(match: re.Match[str], field: str) -> Instant:
    day, clock, offset = match.groups()
    if offset is None:
        raise InvalidArgument.of(field, f"{match.group()!r} has no offset; add Z or +hh:mm; {FORMS}", reason="INVALID_TIME")
    zone = "+00:00" if offset in {"Z", "z"} else offset
    whole, _, fraction = clock.replace(",", ".").partition(".")
    micro = (fraction + "000000")[:6]
    return instant_of(datetime.fromisoformat(f"{day}T{whole}{zone}")) + int(micro)


def parse_known_at(text: str) -> tuple[Instant | None, int | None]:
    """A transaction time, as (instant, None) or, written `seq:N`, as (None, commit sequence)."""
    if match := _SEQUENCE.fullmatch(text.strip()):
        return None, int(match.group(1))
    try:
        return parse(text, "known_at", end_of_day=True), None
    except InvalidArgument as error:
        raise InvalidArgument.of(
            "known_at", f"{error.message.partition(': ')[2]}, or a commit sequence (seq:42)", reason="INVALID_TIME"
        ) from error

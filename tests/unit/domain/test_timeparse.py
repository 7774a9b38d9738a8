"""Times as callers write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramind_domain.errors import InvalidArgument
from hydramind_domain.timeparse import datetime_of, instant_of, iso, parse, parse_known_at

MARCH_1 = instant_of(datetime(2026, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", MARCH_1),
        (" 2026-03-01 ", MARCH_1),
        ("2026-03-01T00:00Z", MARCH_1),
        ("2026-03-01t00:00:00z", MARCH_1),
        ("2026-03-01 02:00:00+02:00", MARCH_1),
        ("2026-02-28T19:00:00-0500", MARCH_1),
        ("2026-03-01T00:00:00.5Z", MARCH_1 + 500_000),
        ("2026-03-01T00:00:00.123456789Z", MARCH_1 + 123_456),
        ("2026-03-01T00:00:00,25Z", MARCH_1 + 250_000),
        ("1772323200", MARCH_1),
        ("1772323200.25", MARCH_1 + 250_000),
        ("1772323200000", MARCH_1),
        ("0001-01-01", instant_of(datetime(1, 1, 1, tzinfo=UTC))),
    ],
)
def test_accepted_forms(text: str, expected: int) -> None:
    assert parse(text, "valid_from") == expected


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "2026", "2026-3-1", "2026-02-30", "2026-13-01", "2026-03-01T25:00Z", "20260301", "17723232000",
     "1772323200000000",
     "2026-W09-7", "1e9", "-1772323200", "2026-03-01T00:00:00+99:00", "٢٠٢٦-03-01", "9999-12-31T23:59:59-14:00x"],
)  # fmt: skip
def test_anything_else_is_refused_with_the_field_and_the_accepted_forms(text: str) -> None:
    with pytest.raises(InvalidArgument) as error:
        parse(text, "valid_from")
    assert error.value.field == "valid_from"
    assert error.value.reason == "INVALID_TIME"
    assert "2026-03-01" in error.value.message


def test_a_date_time_without_an_offset_is_told_to_add_one() -> None:
    with pytest.raises(InvalidArgument, match="add Z"):
        parse("2026-03-01T10:00:00", "as_of")


def test_the_end_of_a_bare_date_is_its_last_microsecond() -> None:
    assert parse("2026-03-01", "as_of", end_of_day=True) == MARCH_1 + 86_400_000_000 - 1
    assert parse("2026-03-01T00:00Z", "as_of", end_of_day=True) == MARCH_1


def test_known_at_is_a_time_or_a_sequence() -> None:
    assert parse_known_at("seq:42") == (None, 42)
    assert parse_known_at("2026-03-01") == (MARCH_1 + 86_400_000_000 - 1, None)
    for text in ("42", "seq:", "seq:-1", "seq:1.5"):
        with pytest.raises(InvalidArgument, match="seq:42") as error:
            parse_known_at(text)
        assert error.value.field == "known_at"


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_written_reads_back(moment: datetime) -> None:
    instant = instant_of(moment)
    assert datetime_of(instant) == moment
    assert parse(iso(instant), "as_of") == instant


@given(st.text())
def test_any_text_is_a_time_or_a_clear_error(text: str) -> None:
    try:
        outcome: object = parse(text, "as_of")
    except InvalidArgument as error:
        outcome = error.field
    assert isinstance(outcome, int) or outcome == "as_of"

"""Typed values: what is equal in other words, and what only looks so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramind_domain.values import Value, differ, find_values, version_key


def value(text: str) -> Value:
    found = find_values(text)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("3.3k", "3300"),
        ("3,300", "3300"),
        ("3.3k ops/s", "3300 operations per second"),
        ("90 min", "1.5 h"),
        ("ninety minutes", "1.5 hours"),
        ("1 GiB", "1024 MiB"),
        ("1.5 GB", "1500 MB"),
        ("500 ms", "0.5 s"),
        ("$5k", "5000 dollars"),
        ("20%", "20 percent"),
        ("2 weeks", "14 days"),
        ("1 year", "12 months"),
        ("100 km/h", "100 kilometers per hour"),
        ("60 requests per minute", "1 request per second"),
        ("100 °C", "212 °F"),
        ("1.2M", "1,200,000"),
        ("1.2 million", "1200000"),
        ("two hundred", "200"),
        ("2026-03-01", "1 March 2026"),
        ("March 1, 2026", "1st of March 2026"),
        ("March 1", "2026-03-01"),
        ("01/03/2026", "2026-03-01"),
        ("03/01/2026", "2026-03-01"),
        ("March 2026", "2026-03-15"),
        ("2pm", "14:00"),
        ("2:30 p.m.", "14:30"),
        ("v1.2", "1.2.0"),
        ("third", "3rd"),
        ("twenty-first", "21st"),
    ],
)
def test_equal_values_in_other_formats_do_not_differ(one: str, two: str):
    assert differ(value(one), value(two)) is False
    assert differ(value(two), value(one)) is False


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("3.3k", "9k"),
        ("1 GiB", "1 GB"),
        ("90 min", "1.6 h"),
        ("v1.2", "v1.10"),
        ("v1.1", "v1.10"),
        ("2026-03-01", "2 March 2026"),
        ("March 1", "March 2"),
        ("2025-03-01", "2026-03-01"),
        ("04/05/2026", "2026-06-04"),
        ("2pm", "15:00"),
        ("third", "4th"),
        ("10.0.0.1", "10.0.0.2"),
        ("$5", "$6"),
        ("10-20 ms", "10-30 ms"),
    ],
)
def test_different_values_differ(one: str, two: str):
    assert differ(value(one), value(two)) is True


@pytest.mark.parametrize(
    ("one", "two"),
    [("5 km", "5 kg"), ("$5", "€5"), ("8 Mbit", "1 MB"), ("3 days", "3rd"), ("2026-03-01", "14:00"), ("5 ms", "5")],
)
def test_values_of_unlike_measure_are_not_comparable(one: str, two: str):
    assert differ(value(one), value(two)) is None


def test_a_bare_decimal_beside_a_version_is_read_as_one():
    assert differ(value("v1.10"), value("1.1")) is True
    assert differ(value("v1.2"), value("1.2")) is False
    assert differ(value("v1.2"), value("5 ms")) is None


@pytest.mark.parametrize(
    "text", ["issue #42", "PR-17", "abc123", "UTF-8", "sha-256", "4x4", "2fa", "no value here", "", "once a second"]
)
def test_numbers_inside_names_are_no_values(text: str):
    assert find_values(text) == ()


def test_impossible_dates_are_no_dates():
    assert [v.kind for v in find_values("2026-13-45")] != ["date"]


@pytest.mark.parametrize(
    ("version", "key"), [("v1.2", "1.2"), ("1.2.0", "1.2"), ("1.20", "1.20"), ("V2.0.0", "2"), ("1.x", "1"), ("1.2rc1", "1.2rc1")]
)
def test_versions_have_one_canonical_form(version: str, key: str):
    assert version_key(version) == key


def test_values_come_in_order_with_their_spans():
    text = "On 2026-03-01 at 14:00 the cap rose to 9k ops/s on 10.0.0.1."
    found = find_values(text)
    assert [v.kind for v in found] == ["date", "clock", "number", "address"]
    assert [text[v.start : v.end] for v in found] == ["2026-03-01", "14:00", "9k ops/s", "10.0.0.1"]


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_ordered_disjoint_values_inside_it(text: str):
    end = 0
    for found in find_values(text):
        assert end <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.surface
        assert found.keys
        end = found.end


@settings(deadline=None)
@given(st.integers(min_value=1, max_value=10**6))
def test_a_number_equals_itself_with_separators_and_with_a_unit_of_thousands(number: int):
    assert differ(value(f"{number:,}"), value(str(number))) is False
    assert differ(value(f"{number}k"), value(f"{number * 1000}")) is False
    assert differ(value(f"{number} km"), value(f"{number * 1000} m")) is False

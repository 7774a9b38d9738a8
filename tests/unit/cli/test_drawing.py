"""How lines are drawn on terminals of any width, and what never happens to content."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramind_cli import draw
from hydramind_cli.output import Output, clean, columns, count, duration, one_line, size, speaks_unicode, wants_colour
from hydramind_client import model as m


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def output(width: int, monkeypatch: pytest.MonkeyPatch) -> Output:
    monkeypatch.setenv("COLUMNS", str(width))
    return Output(stream=Terminal(), environ={"LANG": "C.UTF-8", "NO_COLOR": "1"})


def drawn(out: Output) -> list[str]:
    assert isinstance(out.stream, Terminal)
    return out.stream.getvalue().splitlines()


DECAYS = (m.Decay("b", 1, 1.0, 0.85), m.Decay("c", 2, 1.0, 0.7), m.Decay("d", 1, 1.0, 0.85))
CONTENTS = {
    "b": "Checklist follows deploy policy.",
    "c": "The runbook follows the checklist.",
    "d": "The audit follows the policy.",
}


def chain() -> draw.Node:
    root = draw.Node("a", "Production deploys must always use direct routing.", 1.0, 0.6, "contradicted")
    return draw.grow(root, DECAYS, CONTENTS, {"b": ["a"], "c": ["b"], "d": ["a", "x"]})


def test_dependents_stand_under_what_they_were_derived_from(monkeypatch: pytest.MonkeyPatch):
    out = output(110, monkeypatch)
    draw.tree(out, [chain()])
    lines = drawn(out)
    assert lines[0].startswith("  Production deploys")
    assert lines[1].startswith("  ├─ Checklist")
    assert lines[2].startswith("  │  └─ The runbook")
    assert lines[3].startswith("  └─ The audit")
    assert len({line.index("1.00 →") for line in lines}) == 1


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_a_tree_fits_its_terminal_and_keeps_its_numbers(width: int, monkeypatch: pytest.MonkeyPatch):
    out = output(width, monkeypatch)
    draw.tree(out, [chain()])
    assert all(columns(line) <= max(width, 56) for line in drawn(out))
    assert [number in line for number, line in zip(("0.60", "0.85", "0.70", "0.85"), drawn(out), strict=True)] == [True] * 4


def test_at_eighty_columns_the_reference_sentence_is_whole(monkeypatch: pytest.MonkeyPatch):
    out = output(80, monkeypatch)
    draw.tree(out, [chain()])
    assert "Production deploys must always use direct routing." in drawn(out)[0]


def test_a_cycle_of_dependents_ends_and_each_is_drawn_once():
    grown = draw.grow(draw.Node("a", "A", 1.0, 0.6), DECAYS[:2], {}, {"a": ["c"], "b": ["c", "a"], "c": ["b"]})
    (child,) = grown.children
    assert (child.memory_id, [below.memory_id for below in child.children]) == ("b", ["c"])


def test_a_dependent_without_a_known_parent_hangs_on_the_root():
    grown = draw.grow(draw.Node("a", "A", 1.0, 0.6), [m.Decay("z", 2, 1.0, 0.7)], {}, {})
    assert [child.memory_id for child in grown.children] == ["z"]


def test_a_table_is_shortened_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch):
    row = ["m-1", "word " * 40]
    out = output(60, monkeypatch)
    out.table(["ID", "CONTENT"], [row])
    assert all(columns(line) <= 60 for line in drawn(out))
    piped = Output(stream=io.StringIO(), environ={"LANG": "C.UTF-8"})
    piped.table(["ID", "CONTENT"], [row])
    assert ("word " * 40).strip() in piped.stream.getvalue()  # type: ignore[attr-defined]


@given(st.text(), st.integers(min_value=4, max_value=80))
def test_a_shortened_text_is_one_line_no_wider_than_asked(text: str, limit: int):
    shown = one_line(text, limit)
    assert columns(shown) <= limit
    assert "\n" not in shown


@given(st.text())
def test_cleaned_text_holds_no_control_character(text: str):
    assert not any(ord(c) < 32 and c not in "\n\t" for c in clean(text))
    assert "\x1b" not in clean(text)


def test_wide_and_combining_characters_are_measured_as_they_are_shown():
    assert (columns("日本"), columns("e\u0301"), columns("ab")) == (4, 1, 2)


@pytest.mark.parametrize(
    ("environ", "encoding", "expected"),
    [
        ({}, "utf-8", True),
        ({"LANG": "C"}, "utf-8", False),
        ({"LANG": "POSIX"}, "utf-8", False),
        ({"LANG": "de_DE.UTF-8"}, "UTF-8", True),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "C"}, "utf-8", False),
        ({"LANG": "C.UTF-8"}, "ascii", False),
    ],
)
def test_the_locale_decides_about_signs(environ: dict[str, str], encoding: str, expected: bool):
    assert speaks_unicode(environ, encoding) is expected


@pytest.mark.parametrize(
    ("environ", "terminal", "expected"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"TERM": "dumb"}, True, False),
        ({"NO_COLOR": ""}, True, True),
    ],
)
def test_colour_is_for_terminals_unless_told_otherwise(environ: dict[str, str], terminal: bool, expected: bool):
    assert wants_colour(environ, terminal=terminal) is expected


def test_numbers_are_written_for_people():
    assert [size(n) for n in (0, 1023, 1024, 5 * 1024**3)] == ["0 B", "1023 B", "1.0 KiB", "5.0 GiB"]
    assert [duration(n) for n in (5, 65, 3700, 200_000)] == ["5 s", "1 min 5 s", "1 h 1 min", "2 d 7 h"]
    assert [count(n, "entity", "entities") for n in (0, 1, 1200)] == ["0 entities", "1 entity", "1,200 entities"]

"""Text analysis: every word of a memory can find it, whatever its form."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramind_domain.text import (
    MAX_TERM_LENGTH,
    STOP_WORDS,
    about_term,
    analyse,
    analyse_query,
    index_terms,
    is_blank,
    normalise_content,
    stem,
    words,
)

TEXTS = st.text(max_size=80) | st.text("aB1._-/'é京ไ \u200b’ﬁ", max_size=40)


def terms(text: str) -> set[str]:
    return set(analyse(text).terms)


@pytest.mark.parametrize("string", ["multi-agent", "CLAUDE.md", "src/main.py", "GB/s", "don't", "ubuntu 20.04"])
def test_strings_with_punctuation_are_found_by_themselves(string: str) -> None:
    content = terms(f"We decided that {string} is what it says.")
    assert set(analyse_query(string).terms) <= content
    assert analyse_query(string).terms


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("getUserName", {"getusernam", "get", "user", "name"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("user_name", {"user_name", "user", "name"}),
        ("multi-agent", {"multi-agent", "multi", "agent"}),
        ("src/main.py", {"src/main.py", "src", "main.py", "main", "py"}),
        ("v1.2.3", {"v1.2.3", "1.2.3"}),
        ("1,000 items", {"1000", "item"}),
        ("C++ and C#", {"c++", "c#"}),
        ("std::vector", {"std::vector", "std", "vector"}),
        ("routing routes", {"rout"}),
        ("Caroline’s children went", {"carolin", "child", "go"}),
        ("ｆｕｌｌ ﬁle", {"full", "file"}),
        ("ÜBERTEST", {"übertest"}),
        ("हिन्दी", {"हिन्दी"}),
    ],
)
def test_compounds_are_split_with_the_whole_kept_and_words_are_folded_and_stemmed(text: str, held: set[str]) -> None:
    assert terms(text) == held


def test_numbers_and_versions_stay_whole() -> None:
    assert terms("20.04 10:30 3.11.7") == {"20.04", "10:30", "3.11.7"}


def test_scripts_without_spaces_are_known_by_bigrams() -> None:
    assert {"引っ", "っ越", "移行", "postgresql"} <= terms("東京に引っ越した。PostgreSQLに移行")
    assert {"ภา", "ไท"} <= terms("ภาษาไทย")


def test_one_han_character_finds_a_longer_text() -> None:
    assert set(analyse_query("猫").terms) <= terms("私の猫が好き")
    assert "猫" not in analyse_query("猫好").terms


def test_stop_words_are_left_out_unless_nothing_else_is_there() -> None:
    assert analyse("what is the plan").terms == ("plan",)
    assert analyse("to be or not to be").terms == ("to", "be", "or", "not")


def test_emoji_alone_can_be_found() -> None:
    assert set(analyse_query("🎉").terms) == terms("🎉")


def test_soft_hyphens_and_joiners_do_not_hide_a_word() -> None:
    assert terms("data\u00adbase") == terms("database")


def test_very_long_words_are_cut_alike_in_content_and_query() -> None:
    long = "x" * 500
    assert analyse(long).terms == analyse_query(long).terms
    assert all(len(term) <= MAX_TERM_LENGTH for term in analyse(long + "-y/z.py " + long).terms)


@pytest.mark.parametrize("query", ['"' * 8192, "AND OR NOT NEAR *", "'\"`(((", "a-" * 4000, "." * 8192, "\\" * 8192])
def test_any_query_is_legal(query: str) -> None:
    assert all(0 <= t.start <= t.end <= len(query) for t in analyse_query(query).tokens)


@given(TEXTS)
def test_offsets_lie_in_the_original_and_compounds_come_before_their_parts(text: str) -> None:
    tokens = analyse(text).tokens
    assert all(0 <= token.start < token.end <= len(text) for token in tokens)


@given(TEXTS)
def test_the_hot_path_gives_the_terms_and_length_of_the_analysis(text: str) -> None:
    analysis = analyse(text)
    assert index_terms(text) == (analysis.terms, analysis.length)


@given(TEXTS)
def test_normal_forms_of_one_text_have_the_same_terms(text: str) -> None:
    assert terms(unicodedata.normalize("NFD", text)) == terms(unicodedata.normalize("NFC", text))


@given(TEXTS)
def test_no_text_has_the_term_of_an_entity(text: str) -> None:
    assert not any(term.startswith(about_term("")) for term in terms(text) if text.strip("\x1e"))


def test_words_are_as_written_with_stop_words_and_contractions_whole() -> None:
    found = words("Deploys mustn't use src/main.py")
    assert [word.surface for word in found] == ["Deploys", "mustn't", "use", "src/main.py"]
    assert next(word.folded for word in found) == "deploys"
    assert found[3].start == 20


def test_irregular_forms_stem_to_their_base_and_other_scripts_stay() -> None:
    assert stem("went") == stem("goes") == stem("go")
    assert stem("маршруты") == "маршруты"
    assert "the" in STOP_WORDS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Deploys are frozen.", "deploys  are FROZEN"),
        ("Done!! 🎉", "done"),
        ("it’s on", "it's on."),
        ("ﬁle", "file"),
        ("a\u200bb", "a b"),
    ],
)
def test_the_same_claim_in_other_dress_has_one_normal_form(one: str, other: str) -> None:
    assert normalise_content(one) == normalise_content(other)


@pytest.mark.parametrize(
    ("one", "other"), [("It is on", "It is on?"), ("uses C", "uses C++"), ("at 50", "at 50%"), ("a b", "ab")]
)
def test_different_claims_keep_different_normal_forms(one: str, other: str) -> None:
    assert normalise_content(one) != normalise_content(other)


def test_a_content_of_full_stops_only_keeps_them() -> None:
    assert normalise_content("...") == "..."


@pytest.mark.parametrize("text", ["", "   ", "\u200b", "\0", "\n\t", "\u2800", "\u3164", "\ufe0f", "\u202e"])
def test_what_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", ["x", "🎉", ".", "\u200bx"])
def test_what_shows_something_is_not_blank(text: str) -> None:
    assert not is_blank(text)

"""The analysis of a claim, the index keys, and laws of the classifier over any text."""

from typing import get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramind_domain.claims import analyse_claim, slot_terms
from hydramind_domain.conflict import REASON_CODES, BuiltinClassifier, ConflictClassifier
from hydramind_domain.entities import extract_entities

CLASSIFIER: ConflictClassifier = BuiltinClassifier()
VOCABULARY = """
Alice Bob billing the a is was not never must may no longer works at left Google Meta port 8080 9090 3.3k 1
GiB red blue on in production staging Monday v1.2 uses MySQL PostgreSQL sold owns if said ? . , ; : actually
correction replaced with moved to from I you it and or but
"""
WORDS = st.sampled_from(VOCABULARY.split())
SENTENCES = st.lists(WORDS, max_size=12).map(" ".join)


def test_slot_terms_hold_attribute_subject_and_value_types():
    terms = slot_terms(analyse_claim("The port of billing is 8080."))
    assert {"@port", "bill", "#number"} <= set(terms)


@pytest.mark.parametrize("content", ["Is it red?", "If it rains, we stay.", "", "   ", "???", "Thanks, Bob!"])
def test_what_asserts_nothing_has_no_slot_terms(content: str):
    assert slot_terms(analyse_claim(content)) == ()


@settings(deadline=None)
@given(st.text(max_size=400))
def test_any_text_is_analysed_into_at_most_24_slot_terms(text: str):
    claim = analyse_claim(text)
    assert len(slot_terms(claim)) <= 24
    assert len(set(slot_terms(claim))) == len(slot_terms(claim))
    for clause in claim.clauses:
        assert 0 <= clause.start <= clause.end <= len(text)


def test_a_very_long_content_keeps_its_first_slot_terms():
    content = "The owner of billing is Alice. " + " ".join(f"Item{number} is part of list{number}." for number in range(500))
    terms = slot_terms(analyse_claim(content))
    assert len(terms) <= 24
    assert "@owner" in terms


@settings(deadline=None)
@given(SENTENCES, SENTENCES)
def test_verdicts_have_known_codes_and_spans_inside_the_contents(old: str, new: str):
    verdict = CLASSIFIER.classify(analyse_claim(new), analyse_claim(old))
    if verdict is not None:
        assert verdict.reason_code in REASON_CODES
        assert 0 <= verdict.new_start < verdict.new_end <= len(new)
        assert 0 <= verdict.old_start < verdict.old_end <= len(old)
        assert set(slot_terms(analyse_claim(new))) & set(slot_terms(analyse_claim(old)))


@settings(deadline=None)
@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_can_be_classified(old: str, new: str):
    CLASSIFIER.classify(analyse_claim(new), analyse_claim(old))


@settings(deadline=None)
@given(SENTENCES)
def test_a_question_never_conflicts(content: str):
    question = analyse_claim(f"Is the port 8080 or {content.replace('.', '').replace(';', '')}?")
    other = analyse_claim("The port is 9090.")
    assert CLASSIFIER.classify(question, other) is None


def test_the_reason_names_both_values():
    verdict = CLASSIFIER.classify(analyse_claim("The port is 9090."), analyse_claim("The port is 8080."))
    assert verdict is not None
    assert "9090" in verdict.reason
    assert "8080" in verdict.reason


def test_the_spans_point_at_the_two_values():
    new, old = "We raised the read cap to 9k ops/s.", "The read cap is 3.3k ops/s."
    verdict = CLASSIFIER.classify(analyse_claim(new), analyse_claim(old))
    assert verdict is not None
    assert new[verdict.new_start : verdict.new_end] == "9k ops/s"
    assert old[verdict.old_start : verdict.old_end] == "3.3k ops/s"


def test_one_clause_of_many_is_enough():
    old = "We met on Zoom. Billing uses MySQL; the tests are green, but lunch was late."
    assert CLASSIFIER.classify(analyse_claim("Lunch was fine. Billing no longer uses MySQL."), analyse_claim(old)) is not None


def test_curly_apostrophes_and_capitals_are_read_alike():
    old = analyse_claim("Billing uses MySQL.")
    assert CLASSIFIER.classify(analyse_claim("Billing doesn’t use MySQL."), old) is not None
    assert CLASSIFIER.classify(analyse_claim("BILLING DOES NOT USE MYSQL."), old) is not None


def test_the_classifier_has_the_interface_that_others_implement():
    assert set(get_type_hints(BuiltinClassifier.classify)) == {"new", "old", "return"}


@pytest.mark.parametrize(
    "piece", [" ", '"', "a.", "a, i ", "a-", "a_", "a@", "a/", "1", "1,000", "`", "not ", "no, ", "actually, "]
)
@pytest.mark.timeout(20)
def test_the_work_on_a_long_content_grows_with_its_length_only(piece: str):
    content = piece * (20_000 // len(piece))
    claim = analyse_claim(content)
    assert CLASSIFIER.classify(claim, claim) is None
    assert len(extract_entities(content, {"a"})) <= 64

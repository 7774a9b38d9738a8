"""The lexicon: where its pairs come from, how many there are, and that inflections are found."""

from importlib.resources import files

import pytest

from hydramind_domain import lexicon

DATA = files("hydramind_domain").joinpath("data")
TABLES = sorted(entry.name for entry in DATA.iterdir() if entry.name.endswith(".tsv"))


def test_the_lexicon_holds_at_least_1500_pairs():
    assert lexicon.pair_count() >= 1500


@pytest.mark.parametrize("name", TABLES)
def test_every_data_file_names_its_source_and_licence(name: str):
    head = DATA.joinpath(name).read_text(encoding="utf-8").splitlines()[:2]
    assert "Source: " in head[0]
    assert "Licence: " in " ".join(head)


def test_the_licence_of_wordnet_comes_with_its_data():
    text = DATA.joinpath("LICENSE-WordNet.txt").read_text(encoding="utf-8")
    assert "Princeton University" in text
    assert "without fee or" in text


@pytest.mark.parametrize(
    ("one", "two", "kind"),
    [
        ("sold", "owns", "state"),
        ("left", "works", "state"),
        ("removed", "has", "state"),
        ("disabled", "enabled", "state"),
        ("closed", "open", "state"),
        ("loves", "hates", "preference"),
        ("reports", "manages", "converse"),
        ("happy", "unhappy", "antonym"),
        ("synchronously", "asynchronously", "antonym"),
    ],
)
def test_opposites_are_found_in_any_inflection_and_order(one: str, two: str, kind: str):
    assert lexicon.opposite_kind((lexicon.lemma(one),), (lexicon.lemma(two),)) == kind
    assert lexicon.opposite_kind((lexicon.lemma(two),), (lexicon.lemma(one),)) == kind


@pytest.mark.parametrize(
    ("one", "two"), [("little", "small"), ("happy", "glad"), ("close to", "near"), ("big", "large"), ("start", "begin")]
)
def test_synonyms_are_no_opposites(one: str, two: str):
    assert lexicon.opposite_kind((lexicon.phrase_key(one),), (lexicon.phrase_key(two),)) is None


def test_no_word_is_its_own_opposite():
    assert [pair for pair in lexicon.opposites() if pair[0] == pair[1]] == []


def test_at_least_twelve_attributes_are_single_valued():
    assert len({form.attribute for form in lexicon.attribute_nouns().values()}) >= 12
    assert {
        "owner",
        "status",
        "version",
        "port",
        "deadline",
        "database",
        "branch",
        "assignee",
        "cto",
        "location",
        "employer",
        "default",
    } <= {form.attribute for form in lexicon.attribute_nouns().values()}


def test_members_of_one_class_exclude_each_other_unless_one_contains_the_other():
    members = lexicon.class_members()
    assert lexicon.classes_differ(members["red"], members["blue"])
    assert not lexicon.classes_differ(members["usa"], members["united states"])
    assert not lexicon.classes_differ(members["england"], members["united kingdom"])
    assert not lexicon.classes_differ(members["red"], members["france"])
    assert not lexicon.classes_differ(members["red"], members["maroon"])


@pytest.mark.parametrize(("word", "base"), [("sold", "sell"), ("children", "child"), ("went", "go"), ("running", "run")])
def test_irregular_forms_share_the_lemma_of_their_base(word: str, base: str):
    assert lexicon.lemma(word) == lexicon.lemma(base)


def test_the_side_left_is_not_the_verb_leave():
    assert lexicon.lemma("left") == lexicon.lemma("leave")
    assert lexicon.plain_stem("left") == "left"


def test_preloading_reads_every_list():
    lexicon.preload()
    assert lexicon.opposites.cache_info().currsize == 1
    assert lexicon.attribute_verbs.cache_info().currsize == 1

"""The entity extractor: what names something by its form, what does not, and how names are compared."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hydramind_domain.entities import EntityMention, extract_entities, ngrams_to_look_up, normalise_entity


def names(text: str, known: set[str] | None = None) -> list[str]:
    return [mention.name for mention in extract_entities(text, known or set())]


@pytest.mark.parametrize(
    "name", ["deploy-policy", "Deploy Policy", "deploy_policy", "  DEPLOY   policy ", "deploy--policy", "deploy‐policy"]
)
def test_spellings_of_one_name_are_one_entity(name: str):
    assert normalise_entity(name) == "deploy policy"


def test_compatibility_forms_and_case_are_folded():
    assert normalise_entity("ﬁle") == "file"
    assert normalise_entity("STRASSE") == normalise_entity("Straße")
    assert normalise_entity("Café") == normalise_entity(unicodedata.normalize("NFD", "Café"))


@settings(deadline=None)
@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing(name: str):
    once = normalise_entity(name)
    assert normalise_entity(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Bob is CTO of Acme Corp.", ["Bob", "Acme Corp"]),
        ("We met Alice Smith and Émile Zola.", ["Alice Smith", "Émile Zola"]),
        ("Alice's team owns billing.", ["Alice"]),
        ("Restart `edge-proxy` now.", ["edge-proxy"]),
        ('The "deploy policy" applies.', ["deploy policy"]),
        ("The «politique» applies.", ["politique"]),
        ("See src/main.py and /etc/hosts.", ["src/main.py", "/etc/hosts"]),
        ("Docs are at https://x.dev/a?b=1.", ["https://x.dev/a?b=1"]),
        ("It runs on db-1.internal:5432 and 10.0.0.1:80.", ["db-1.internal:5432", "10.0.0.1:80"]),
        ("Mail ops@example.com about it.", ["ops@example.com"]),
        ("Fixed by #42 and HYD-12.", ["#42", "HYD-12"]),
        ("Call render() in http_server.start_server().", ["render()", "http_server.start_server()"]),
        ("use camelCase, snake_case, PascalCase and std::vector", ["camelCase", "snake_case", "PascalCase", "std::vector"]),
        ("pass --dry-run to eu-west-1", ["--dry-run", "eu-west-1"]),
        ("we moved to PostgreSQL and AWS Lambda", ["PostgreSQL", "AWS Lambda"]),
        ("read CLAUDE.md and .env", ["CLAUDE.md", ".env"]),
        ("they studied at the University of California", ["University of California", "California"]),
        ("Billing moved to Kafka.", ["Billing", "Kafka"]),
    ],
)
def test_the_form_of_a_name_gives_it_away(text: str, expected: list[str]):
    assert sorted(names(text)) == sorted(expected)


@pytest.mark.parametrize(
    "text",
    [
        "Production deploys must always use direct routing.",
        "The checklist follows the policy.",
        "Yesterday we ate. Then we slept. However, it rained.",
        "I don't know, it's 3.5 or 10:30 and/or 24/7, e.g. a well-known long-term thing.",
        'He said "this is a long quotation of other words" twice.',
        "",
        "   ",
        "!!! ??? …",
        "Hey! Thanks! Wow!",
    ],
)
def test_sentence_starts_and_plain_words_name_nothing(text: str):
    assert names(text) == []


def test_a_name_at_the_start_of_a_sentence_counts_when_it_comes_again():
    assert names("Checkout broke. We fixed Checkout.") == ["Checkout"]


def test_known_entities_are_found_in_plain_text_under_any_spelling():
    known = {"deploy policy", "checklist"}
    assert names("the checklist follows the deploy-policy", known) == ["checklist", "deploy-policy"]
    assert names("our Deploy Policy's checklist", known) == ["Deploy Policy", "checklist"]


def test_a_known_entity_is_not_found_across_punctuation():
    assert names("deploy. policy", {"deploy policy"}) == []


def test_one_entity_is_mentioned_once():
    assert names("the deploy policy, deploy-policy and deploy_policy", {"deploy policy"}) == ["deploy-policy"]


def test_each_kind_is_told():
    text = "Ask Bob about `x`, a_b, /tmp/x, https://x.dev, a@b.org, x.internal, #7 and the checklist."
    kinds = {mention.name: mention.kind for mention in extract_entities(text, {"checklist"})}
    assert kinds == {
        "Bob": "name",
        "x": "term",
        "a_b": "code",
        "/tmp/x": "path",
        "https://x.dev": "url",
        "a@b.org": "email",
        "x.internal": "host",
        "#7": "issue",
        "checklist": "known",
    }


def test_at_most_64_entities_and_200_runs_are_reported():
    text = " ".join(f"name_{number}" for number in range(300))
    assert len(extract_entities(text, set())) == 64
    assert len(ngrams_to_look_up(text)) == 200


def test_runs_of_one_to_four_words_are_looked_up():
    assert ngrams_to_look_up("the Deploy-Policy of Acme") == (
        "the",
        "the deploy",
        "the deploy policy",
        "the deploy policy of",
        "deploy",
        "deploy policy",
        "deploy policy of",
        "deploy policy of acme",
        "policy",
        "policy of",
        "policy of acme",
        "of",
        "of acme",
        "acme",
    )


@settings(deadline=None)
@given(st.text(max_size=300), st.sets(st.sampled_from(["a", "deploy policy", "b c"])))
def test_any_text_has_entities_with_spans_inside_it(text: str, known: set[str]):
    mentions = extract_entities(text, known)
    assert len({mention.norm for mention in mentions}) == len(mentions)
    for mention in mentions:
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.name
        assert mention.norm
    assert mentions == extract_entities(text, known)


def test_a_mention_is_a_value():
    assert extract_entities("see Acme", set()) == (EntityMention("Acme", "acme", "name", 4, 8),)

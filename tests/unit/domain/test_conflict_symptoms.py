"""The conflict check on what users of other memories reported: each kind with its example, ours, and what must stay silent."""

import itertools

import pytest

from hydramind_domain.claims import analyse_claim
from hydramind_domain.conflict import BuiltinClassifier, Verdict

SINGLE_VALUED = {
    "residence": ("Alice lives in Lyon.", "Alice moved to Nantes."),
    "assignment": ("Alice is assigned to project A.", "Alice is now assigned to project B."),
    "owner": ("The owner of billing is Alice.", "Bob is now the owner of billing."),
    "status": ("The status of the audit is blocked.", "The status of the audit is now done."),
    "version": ("The API version is v1.2.", "The API version is now v2.0."),
    "port": ("Billing listens on port 8080.", "Billing now listens on port 9090."),
    "deadline": ("The deadline is 1 March 2026.", "The deadline is now 2026-03-15."),
    "database": ("Billing's database is MySQL.", "Billing's database is now PostgreSQL."),
    "branch": ("The default branch is master.", "The default branch is now main."),
    "assignee": ("The assignee of ticket 12 is Alice.", "The assignee of ticket 12 is now Bob."),
    "leader": ("Bob is CTO of Acme.", "Carol is now CTO of Acme."),
    "location": ("The office is located in Oslo.", "The office is now located in Bergen."),
    "employer": ("Dana works at Initech.", "Dana now works at Globex."),
    "default": ("The default editor is vim.", "The default editor is now emacs."),
    "manager": ("Dana reports to Carol.", "Dana now reports to Dave."),
    "language": ("Checkout is written in Go.", "Checkout is now written in Rust."),
    "region": ("The default region is us-east-1.", "The default region is now eu-west-1."),
    "theme": ("The accent color is blue.", "The accent color is now green."),
}


def judge(old: str, new: str) -> Verdict | None:
    return BuiltinClassifier().classify(analyse_claim(new), analyse_claim(old))


@pytest.mark.parametrize("old", ["Alice works at Google.", "Alice works at Google as an engineer.", "Alice works for Google."])
@pytest.mark.parametrize("new", ["Alice left Google.", "Alice has left Google.", "Alice resigned from Google."])
def test_one_later_claim_that_it_ended_meets_every_older_one(old: str, new: str):
    assert judge(old, new) is not None


@pytest.mark.parametrize(
    "mention",
    [
        "Bob administers Acme's GitHub org.",
        "Bob imposed an audit rule.",
        "Bob is on the board of Acme.",
        "Bob is a mentor at Acme.",
        "Bob hired Carol at Acme.",
        "Acme sponsors a conference.",
    ],
)
def test_a_claim_that_only_mentions_an_entity_contradicts_nothing(mention: str):
    assert judge("Bob is CTO of Acme.", mention) is None
    assert judge(mention, "Bob is CTO of Acme.") is None


@pytest.mark.parametrize(("old", "new"), list(SINGLE_VALUED.values()), ids=list(SINGLE_VALUED))
def test_a_single_valued_predicate_takes_the_new_value(old: str, new: str):
    assert judge(old, new) is not None


@pytest.mark.parametrize(("one", "two"), list(itertools.permutations(SINGLE_VALUED, 2)))
def test_different_predicates_do_not_meet(one: str, two: str):
    if {one, two} in ({"assignment", "assignee"}, {"residence", "location"}):
        return
    assert judge(SINGLE_VALUED[one][0], SINGLE_VALUED[two][1]) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Maria owns a car.", "Maria sold her car."),
        ("Maria sold her car.", "Maria owns a car."),
        ("Alice works at Google.", "Alice left Google."),
        ("The repo has a Makefile.", "The Makefile was removed from the repo."),
        ("Caching is disabled.", "Caching is enabled."),
        ("Issue 42 is closed.", "Issue 42 is open."),
        ("The firewall allows SSH.", "The firewall blocks SSH."),
        ("Dave has a boat.", "Dave gave away the boat."),
    ],
)
def test_a_change_of_state_meets_the_state_it_ends(old: str, new: str):
    verdict = judge(old, new)
    assert verdict is not None
    assert verdict.reason_code == "state_change"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Maria owns a car.", "Tom sold his car."),
        ("Maria owns a car.", "Maria sold a bike."),
        ("Alice works at Google.", "Alice left the room."),
        ("The repo has a Makefile.", "The Dockerfile was removed from the repo."),
        ("Caching is enabled for reads.", "Caching is disabled for writes."),
        ("Issue 42 is closed.", "Issue 43 is open."),
    ],
)
def test_a_change_of_another_thing_is_no_conflict(old: str, new: str):
    assert judge(old, new) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I love Chinese food", "I hate Chinese food"),
        ("Alice likes tea", "Alice can't stand tea"),
        ("I enjoy code reviews", "I don't enjoy code reviews"),
        ("Bob prefers dark mode", "Bob prefers light mode"),
    ],
)
def test_opposite_preferences_conflict(old: str, new: str):
    assert judge(old, new) is not None


@pytest.mark.parametrize("new", ["I hate Mexican food", "I love Thai food", "Bob hates Chinese food", "I cook Chinese food"])
def test_other_preferences_do_not_conflict(new: str):
    assert judge("I love Chinese food", new) is None


TOPICS = [
    "Tomatoes need full sun and regular water.",
    "HNSW index recall depends on ef_search.",
    "The deploy pipeline runs in GitHub Actions.",
    "Alice adopted a cat named Miso.",
    "Invoices are sent on the first of the month.",
    "The espresso machine needs descaling.",
    "Rust edition 2021 is the baseline.",
    "The quarterly review is in March.",
    "Penguins live in the southern hemisphere.",
    "Retry budgets are capped at ten percent.",
    "The garden fence is painted white.",
    "Postgres vacuum runs at night.",
    "Bob plays the cello on weekends.",
    "The API returns JSON.",
    "Winter tires are mounted in October.",
    "Feature flags live in LaunchDarkly.",
    "Sourdough takes two days.",
    "The support inbox is shared.",
    "Mount Everest is 8849 m high.",
    "Unit tests must not touch the network.",
    "Carol speaks Portuguese.",
    "The router firmware is outdated.",
    "Backups are encrypted at rest.",
    "The violin was tuned yesterday.",
    "Passwords rotate every 90 days.",
    "Olive oil is stored in the pantry.",
    "The mobile app uses Flutter.",
    "The train to Basel leaves at 7:12.",
    "Logs are kept for 30 days.",
    "The museum is closed on Mondays.",
    "Dave is allergic to nuts.",
    "The staging cluster has three nodes.",
    "The lake is frozen.",
    "OAuth tokens expire after one hour.",
    "The chess club meets on Thursdays.",
    "Images are resized to 1024 px.",
    "The lease ends in 2027.",
    "Erin runs marathons.",
    "Search uses BM25.",
    "The sky over Oslo was red.",
    "The budget for travel is 5000 euros.",
    "Kubernetes upgrades happen quarterly.",
    "The novel has twelve chapters.",
    "CI caches node_modules.",
    "Frank owns two bicycles.",
    "The door code changed.",
    "Metrics are scraped every 15 seconds.",
    "The soup was too salty.",
    "Code owners approve migrations.",
    "The piano is out of tune.",
]


def test_fifty_unrelated_topics_raise_no_flag():
    assert len(TOPICS) == 50
    assert [(old, new) for old, new in itertools.permutations(TOPICS, 2) if judge(old, new) is not None] == []


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("read cap is 3.3k ops/s", "read cap is 9k ops/s", "value_number"),
        ("The cache holds 1 GiB.", "The cache holds 1 GB.", "value_number"),
        ("The job takes 90 min.", "The job takes 2 h.", "value_number"),
        ("The tool is at v1.2.", "The tool is at v1.10.", "value_version"),
        ("The launch is on 2026-03-01.", "The launch is on 2 March 2026.", "value_date"),
    ],
)
def test_another_value_of_the_same_attribute_conflicts(old: str, new: str, code: str):
    verdict = judge(old, new)
    assert verdict is not None
    assert verdict.reason_code == code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("read cap is 3.3k ops/s", "read cap is 3300 ops/s"),
        ("The job takes 90 min.", "The job takes 1.5 h."),
        ("The cache holds 1 KiB.", "The cache holds 1024 bytes."),
        ("The launch is on 2026-03-01.", "The launch is on 1 March 2026."),
        ("The launch is on March 1.", "The launch is on 2026-03-01."),
        ("The tool is at v1.2.", "The tool is at 1.2.0."),
        ("Latency is 20 ms at 128 agents.", "Latency is 5 ms at 8 agents."),
        ("It scales at 128 agents.", "It scales at 8 agents."),
        ("The cap is 100 for admins.", "The cap is 10 for guests."),
        ("In staging, the port is 8080.", "In production, the port is 443."),
        ("In 2024 the fee was $20.", "In 2025 the fee is $25."),
    ],
)
def test_equal_values_and_other_scopes_do_not_conflict(old: str, new: str):
    assert judge(old, new) is None
    assert judge(new, old) is None


CORRECTIONS = {
    "actually": ("Billing uses MySQL.", "Actually, billing uses PostgreSQL."),
    "actually in the middle": ("The target is Dublin.", "The target is actually Oslo."),
    "actually, a day": ("We ship on Mondays.", "Actually, we ship on Fridays."),
    "correction": ("The port is 8080.", "Correction: the port is 9090."),
    "correction, a name": ("Our logger is structlog.", "Correction - our logger is loguru."),
    "scratch that": ("We deploy from main.", "Scratch that, we deploy from release."),
    "scratch that, two sentences": ("Use black for formatting.", "Scratch that. Use ruff for formatting."),
    "no longer": ("Billing uses MySQL.", "Billing no longer uses MySQL."),
    "no longer, role": ("Alice is the owner of billing.", "Alice is no longer the owner of billing."),
    "not anymore": ("Alice works at Google.", "Alice doesn't work at Google anymore."),
    "changed my mind": ("We write tests with unittest.", "I changed my mind: we write tests with pytest."),
    "changed my mind about": ("We use Redis for caching.", "Changed my mind about Redis, we use Memcached for caching."),
    "we changed our minds": ("The mascot is a fox.", "We changed our minds, the mascot is a heron."),
    "replaced with": ("Billing uses MySQL.", "We replaced MySQL with PostgreSQL in billing."),
    "was replaced by": ("The gateway is nginx.", "nginx was replaced by Caddy."),
    "switched from": ("We use Jenkins for CI.", "We switched from Jenkins to GitHub Actions."),
    "instead of": ("We use yarn.", "We use pnpm instead of yarn."),
    "that's wrong": ("The owner is Alice.", "That's wrong: the owner is Bob."),
    "that's wrong, two sentences": ("The logo is blue.", "That's wrong. The logo is green."),
    "that is not right": ("The retry limit is 3.", "That is not right, the retry limit is 5."),
    "it is not true that": ("Billing uses MySQL.", "It is not true that billing uses MySQL."),
}


@pytest.mark.parametrize(("old", "new"), list(CORRECTIONS.values()), ids=list(CORRECTIONS))
def test_everyday_corrections_are_seen(old: str, new: str):
    assert judge(old, new) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The sunset was red.", "Actually, the sunset was lovely."),
        ("Expected usage is 8 GB.", "Actual usage is 5 GB."),
        ("The paper is yellow.", "The correction fluid is white."),
        ("The itch is on the arm.", "Scratch that itch."),
        ("Requests take 5 s.", "Requests take no longer than 5 s."),
        ("I like tea.", "I did not change my mind."),
        ("Bob likes pizza.", "Bob changed his mind about lunch."),
        ("The car has a radio.", "We replaced the tire on the car."),
        ("The port is 8080.", "That's not wrong."),
        ("The port is 8080.", "That's wrong on many levels."),
        ("We use Redis for caching.", "Correction: Alice lives in Oslo."),
        ("We use Redis for caching.", "Scratch that, lunch is at noon."),
    ],
)
def test_what_only_sounds_like_a_correction_is_not_one(old: str, new: str):
    assert judge(old, new) is None


@pytest.mark.parametrize(
    "silent",
    [
        "Is the port 9090?",
        "Why is the port not 8080?",
        "If the port is 9090, restart.",
        "Suppose the port is 9090.",
        "The port might be 9090.",
        "The port could be 9090.",
        "Maybe the port is 9090.",
        "I wonder whether the port is 9090.",
        'The readme says "the port is 9090".',
        '"The port is 9090"',
        "Bob claims the port is 9090.",
        "According to the wiki the port is 9090.",
        "Bob denied that the port is 8080.",
        "What if the port were 9090?",
        "```\nThe port is 9090.\n```",
    ],
)
def test_questions_hypotheticals_and_quotations_never_conflict(silent: str):
    assert judge("The port is 8080.", silent) is None
    assert judge(silent, "The port is 8080.") is None

"""Section 3: wrong contradictions, missed ones, and what becomes of both sides. The same verdicts through every front end.

Claims are compared when they are about the same thing (semantics: Conflict check). Where the words name nothing that an
extractor can know to be a name ("read cap is 9k ops/s"), a table says so by `ABOUT`, and the test names it as an agent does.
Controls always name one thing for both claims: they must be silent although they were compared.
"""

import pytest

from tests.e2e.symptoms.doors import Answer, Door, World, contents

pytestmark = pytest.mark.timeout(300)


ABOUT = "the matter"


def told(door: Door, scope: str, old: str, new: str, about: str | None) -> tuple[Answer, Answer, Answer]:
    """Store `old`, ask about `new`, store `new`: the three answers. The question must foretell the write."""
    names = [about] if about else []
    first = door.use("remember", content=old, scope=scope, entities=names)
    asked = door.use("check_conflict", content=new, scope=scope, entities=names)
    second = door.use("remember", content=new, scope=scope, entities=names)
    assert [c["memory_id"] for c in asked["conflicts"]] == [c["memory_id"] for c in second["conflicts"]]
    return first, asked, second


def must_meet(door: Door, scope: str, old: str, new: str, about: str | None = None) -> None:
    """The two claims conflict: with ids, a code and both values; the older one pays, and stays readable."""
    first, _, second = told(door, scope, old, new, about)
    assert [c["memory_id"] for c in second["conflicts"]] == [first["memory_id"]], (old, new)
    conflict = second["conflicts"][0]
    assert conflict["reason_code"]
    assert conflict["reason"]
    assert (conflict["before_trust"], conflict["after_trust"]) == (1.0, 0.6)
    assert second["trust_score"] == 1.0
    facts = {fact["memory_id"]: fact for fact in door.use("timeline", scope=scope)["facts"]}
    assert facts[first["memory_id"]]["status"] == "contradicted"
    assert facts[second["memory_id"]]["status"] == "active"


def must_be_silent(door: Door, scope: str, old: str, new: str) -> None:
    _, asked, second = told(door, scope, old, new, ABOUT)
    assert asked["candidates_skipped"] == 0
    assert (second["conflicts"], second["decayed"]) == ([], []), (old, new)
    facts = door.use("timeline", scope=scope)["facts"]
    assert {(fact["status"], fact["trust_score"]) for fact in facts} == {("active", 1.0)}


# --- P19: a mention retires nothing

MENTIONS = {
    "Bob is CTO of Acme.": ("Bob administers Acme's GitHub org.", "Bob imposed an audit rule.", "Bob is on the board of Acme."),
    "Alice speaks French.": ("Alice speaks German.", "Alice teaches French at the university.", "Alice met a French colleague."),
    "The ledger service uses Redis.": (
        "The ledger service also uses Kafka.",
        "The ledger service is watched by the on-call team.",
        "Carol reviewed the ledger service.",
    ),
}


@pytest.mark.parametrize("fact", list(MENTIONS))
def test_p19_what_only_mentions_the_same_names_retires_nothing(door: Door, scope: str, fact: str):
    first = door.use("remember", content=fact, scope=scope)
    for mention in MENTIONS[fact]:
        assert door.use("remember", content=mention, scope=scope)["conflicts"] == [], mention
    shown = door.use("explain_trust", memory_id=first["memory_id"], scope=scope)
    assert (shown["trust_score"], shown["standing_drops"]) == (1.0, [])


def test_p19_control_a_successor_in_the_same_role_does_meet(door: Door, scope: str):
    must_meet(door, scope, "Bob is CTO of Acme.", "Carol is now CTO of Acme.")


# --- P20: single-valued predicates

SINGLE_VALUED = {
    "residence": ("Alice lives in Lyon.", "Alice moved to Nantes.", None),
    "assignment": ("Alice is assigned to project A.", "Alice is now assigned to project B.", None),
    "owner": ("The owner of billing is Alice.", "Bob is now the owner of billing.", ABOUT),
    "status": ("The status of the audit is blocked.", "The status of the audit is now done.", ABOUT),
    "version": ("The API version is v1.2.", "The API version is now v2.0.", None),
    "port": ("Billing listens on port 8080.", "Billing now listens on port 9090.", None),
    "deadline": ("The deadline of the migration is 1 March 2026.", "The deadline of the migration is now 2026-03-15.", ABOUT),
    "database": ("Billing's database is MySQL.", "Billing's database is now PostgreSQL.", None),
    "branch": ("The default branch is master.", "The default branch is now main.", ABOUT),
    "assignee": ("The assignee of ticket 12 is Alice.", "The assignee of ticket 12 is now Bob.", ABOUT),
    "location": ("The office is located in Oslo.", "The office is now located in Bergen.", ABOUT),
    "employer": ("Dana works at Initech.", "Dana now works at Globex.", None),
    "manager": ("Dana reports to Carol.", "Dana now reports to Dave.", None),
    "language": ("Checkout is written in Go.", "Checkout is now written in Rust.", None),
    "region": ("The default region is us-east-1.", "The default region is now eu-west-1.", ABOUT),
}


@pytest.mark.parametrize(("old", "new", "about"), list(SINGLE_VALUED.values()), ids=list(SINGLE_VALUED))
def test_p20_a_single_valued_predicate_takes_the_new_value(door: Door, scope: str, old: str, new: str, about: str | None):
    must_meet(door, scope, old, new, about)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The owner of billing is Alice.", "The owner of search is Bob."),
        ("Alice is assigned to project A.", "Dave is assigned to project B."),
        ("Billing listens on port 8080.", "Search listens on port 9090."),
    ],
)
def test_p20_control_the_same_predicate_of_another_subject_is_silent(door: Door, scope: str, old: str, new: str):
    must_be_silent(door, scope, old, new)


# --- P21: converse and state-change verbs

STATE_CHANGES = {
    "sold": ("Maria owns a car.", "Maria sold her car."),
    "left": ("Alice works at Google.", "Alice left Google."),
    "removed": ("The repo has a Makefile.", "The Makefile was removed from the repo."),
    "disabled": ("Caching is enabled.", "Caching is disabled."),
    "open": ("Issue 42 is closed.", "Issue 42 is open."),
    "blocks": ("The firewall allows SSH.", "The firewall blocks SSH."),
    "gave away": ("Dave has a boat.", "Dave gave away the boat."),
}


@pytest.mark.parametrize(("old", "new"), list(STATE_CHANGES.values()), ids=list(STATE_CHANGES))
def test_p21_a_change_of_state_meets_the_state_it_ended(door: Door, scope: str, old: str, new: str):
    must_meet(door, scope, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Maria owns a car.", "Maria sold a bike."),
        ("Issue 42 is closed.", "Issue 43 is open."),
        ("Alice works at Google.", "Alice left the room."),
    ],
)
def test_p21_control_a_change_of_another_thing_is_silent(door: Door, scope: str, old: str, new: str):
    must_be_silent(door, scope, old, new)


# --- P23: opposite preferences

PREFERENCES = {
    "hate": ("I love Chinese food", "I hate Chinese food", "Chinese food", None),
    "can't stand": ("Alice likes green tea", "Alice can't stand green tea", "Alice green tea", None),
    "negated": ("I enjoy code reviews", "I don't enjoy code reviews", "code reviews enjoy", ABOUT),
}


@pytest.mark.parametrize(("old", "new", "query", "about"), list(PREFERENCES.values()), ids=list(PREFERENCES))
def test_p23_an_opposite_preference_leaves_the_new_one_first_and_loses_neither(
    door: Door, scope: str, old: str, new: str, query: str, about: str | None
):
    must_meet(door, scope, old, new, about)
    found = door.use("recall", query=query, scope=scope)["memories"]
    assert [(hit["content"], hit["status"], hit["contested"]) for hit in found] == [
        (new, "active", True),
        (old, "contradicted", True),
    ]
    assert [fact["content"] for fact in door.use("timeline", scope=scope)["facts"]] == [old, new]


def test_p23_control_another_preference_is_no_opposite(door: Door, scope: str):
    must_be_silent(door, scope, "I love Chinese food", "I hate Mexican food")


# --- P24: one current answer

JOBS = {
    "employer": ("Maria works at Initech.", "Maria works at Globex.", "where does Maria work"),
    "home": ("Jonas lives in Lyon.", "Jonas lives in Nantes.", "where does Jonas live"),
    "store": ("Billing uses MySQL for invoices.", "Billing uses PostgreSQL for invoices.", "what does billing use for invoices"),
}


@pytest.mark.parametrize(("old", "new", "query"), list(JOBS.values()), ids=list(JOBS))
def test_p24_a_question_gets_one_current_answer_and_is_told_of_the_old_one(
    door: Door, scope: str, old: str, new: str, query: str
):
    first = door.use("remember", content=old, scope=scope)
    second = door.use("revise", memory_id=first["memory_id"], content=new, reason="changed", scope=scope)
    answer = door.use("recall", query=query, scope=scope)
    assert contents(answer) == [new]
    assert [(s["memory_id"], s["status"], s["superseded_by"]) for s in answer["suppressed"]] == [
        (first["memory_id"], "superseded", second["memory_id"])
    ]


def test_p24_control_two_facts_that_hold_side_by_side_both_come_back(door: Door, scope: str):
    for fact in ("Maria speaks Spanish.", "Maria speaks Danish."):
        door.use("remember", content=fact, scope=scope)
    assert len(door.use("recall", query="Maria speaks", scope=scope)["memories"]) == 2


# --- P26: unrelated memories

TOPICS = """
Tomatoes need full sun and regular water.|HNSW index recall depends on ef_search.|The deploy pipeline runs in GitHub Actions.
Alice adopted a cat named Miso.|Invoices are sent on the first of the month.|The espresso machine needs descaling.
Rust edition 2021 is the baseline.|The quarterly review is in March.|Penguins live in the southern hemisphere.
Retry budgets are capped at ten percent.|The garden fence is painted white.|Postgres vacuum runs at night.
Bob plays the cello on weekends.|The API returns JSON.|Winter tires are mounted in October.
Feature flags live in LaunchDarkly.|Sourdough takes two days.|The support inbox is shared.
Mount Everest is 8849 m high.|Unit tests must not touch the network.|Carol speaks Portuguese.
The router firmware is outdated.|Backups are encrypted at rest.|The violin was tuned yesterday.
Passwords rotate every 90 days.|Olive oil is stored in the pantry.|The mobile app uses Flutter.
The train to Basel leaves at 7:12.|Logs are kept for 30 days.|The museum is closed on Mondays.
Dave is allergic to nuts.|The staging cluster has three nodes.|The lake is frozen.
OAuth tokens expire after one hour.|The chess club meets on Thursdays.|Images are resized to 1024 px.
The lease ends in 2027.|Erin runs marathons.|Search uses BM25.
The sky over Oslo was red.|The budget for travel is 5000 euros.|Kubernetes upgrades happen quarterly.
The novel has twelve chapters.|CI caches node_modules.|Frank owns two bicycles.
The door code changed.|Metrics are scraped every 15 seconds.|The soup was too salty.
Code owners approve migrations.|The piano is out of tune.
"""


def test_p26_fifty_unrelated_topics_raise_no_flag(door: Door, scope: str):
    topics = [topic for line in TOPICS.strip().splitlines() for topic in line.split("|")]
    assert len(topics) == 50
    flagged = [topic for topic in topics if door.use("remember", content=topic, scope=scope, entities=[ABOUT])["conflicts"]]
    assert flagged == []


def test_p26_topics_that_share_one_entity_raise_no_flag_either(door: Door, scope: str):
    shared = [
        "Atlas is deployed by Carol.", "Atlas has a dashboard.", "Atlas was renamed in 2024.", "Atlas stores maps.",
        "The Atlas team meets on Tuesdays.", "Atlas depends on Hermes.", "Atlas is written in Kotlin.",
        "Atlas has 12 endpoints.", "Atlas sends events to the bus.", "Atlas is documented in the wiki.",
    ]  # fmt: skip
    for fact in shared:
        assert door.use("remember", content=fact, entities=["Atlas"], scope=scope)["conflicts"] == [], fact


def test_p26_control_one_contradiction_among_them_is_flagged_alone(door: Door, scope: str):
    for topic in ("The museum is closed on Mondays.", "Tomatoes need full sun."):
        door.use("remember", content=topic, scope=scope, entities=[ABOUT])
    frozen = door.use("remember", content="The lake is frozen.", scope=scope, entities=[ABOUT])
    flagged = door.use("remember", content="The lake is not frozen.", scope=scope, entities=[ABOUT])["conflicts"]
    assert [conflict["memory_id"] for conflict in flagged] == [frozen["memory_id"]]


# --- P27: another value of the same attribute

VALUES = {
    "ops": ("read cap is 3.3k ops/s", "read cap is 9k ops/s"),
    "gibibytes": ("The cache holds 1 GiB.", "The cache holds 1 GB."),
    "minutes": ("The job takes 90 min.", "The job takes 2 h."),
    "version": ("The tool is at v1.2.", "The tool is at v1.10."),
    "date": ("The launch is on 2026-03-01.", "The launch is on 2 March 2026."),
}
EQUAL = {
    "3.3k": ("read cap is 3.3k ops/s", "read cap is 3300 ops/s"),
    "1.5 h": ("The job takes 90 min.", "The job takes 1.5 h."),
    "KiB": ("The cache holds 1 KiB.", "The cache holds 1024 bytes."),
    "date": ("The launch is on 2026-03-01.", "The launch is on 1 March 2026."),
    "condition": ("Latency is 20 ms at 128 agents.", "Latency is 5 ms at 8 agents."),
    "place": ("In staging, the port is 8080.", "In production, the port is 443."),
}


@pytest.mark.parametrize(("old", "new"), list(VALUES.values()), ids=list(VALUES))
def test_p27_another_value_is_a_conflict_with_ids_values_and_a_lasting_edge(
    world: World, door: Door, scope: str, old: str, new: str
):
    first, asked, second = told(door, scope, old, new, None if "ops/s" in old else ABOUT)
    (conflict,) = second["conflicts"]
    assert asked["candidates_checked"] == 1
    assert conflict["memory_id"] == first["memory_id"]
    assert conflict["reason_code"].startswith("value_")
    spans = conflict["spans"]
    shown = [text[spans[side]["start"] : spans[side]["end"]] for side, text in (("new", new), ("old", old))]
    assert all(any(c.isdigit() for c in value) for value in shown), shown
    edges = [
        (edge["from_id"], edge["to_id"])
        for path in door.use("trace_memory", memory_id=second["memory_id"], hops=1, scope=scope)["paths"]
        for edge in path["edges"]
        if edge["type"] == "CONTRADICTS"
    ]
    assert edges == [(second["memory_id"], first["memory_id"])]
    assert world.client.list_conflicts(scope).conflicts[0].newer.memory_id == second["memory_id"]


@pytest.mark.parametrize(("old", "new"), list(EQUAL.values()), ids=list(EQUAL))
def test_p27_control_equal_values_and_other_conditions_are_silent(door: Door, scope: str, old: str, new: str):
    must_be_silent(door, scope, old, new)


def test_p27_an_upgrade_said_as_a_revision_is_an_upgrade(door: Door, scope: str):
    first = door.use("remember", content="The tool is at v1.2.", scope=scope)
    newer = door.use("revise", memory_id=first["memory_id"], content="The tool is at v1.10.", reason="upgrade", scope=scope)
    assert (newer["conflicts"], newer["superseded_id"]) == ([], first["memory_id"])
    assert contents(door.use("recall", query="which version is the tool at", scope=scope)) == ["The tool is at v1.10."]


# --- P28: everyday corrections, seven families

CORRECTIONS = {
    "actually": ("Billing uses MySQL.", "Actually, billing uses PostgreSQL.", None),
    "actually, inside": ("The target is Dublin.", "The target is actually Oslo.", ABOUT),
    "correction": ("The port is 8080.", "Correction: the port is 9090.", ABOUT),
    "correction, a name": ("Our logger is structlog.", "Correction - our logger is loguru.", ABOUT),
    "scratch that": ("We deploy from main.", "Scratch that, we deploy from release.", ABOUT),
    "scratch that, two sentences": ("Use black for formatting.", "Scratch that. Use ruff for formatting.", ABOUT),
    "no longer": ("Billing uses MySQL.", "Billing no longer uses MySQL.", None),
    "no longer, any more": ("Alice works at Google.", "Alice doesn't work at Google anymore.", None),
    "changed my mind": ("We write tests with unittest.", "I changed my mind: we write tests with pytest.", ABOUT),
    "changed my mind about": ("We use Redis for caching.", "Changed my mind about Redis, we use Memcached for caching.", None),
    "replaced with": ("Billing uses MySQL.", "We replaced MySQL with PostgreSQL in billing.", None),
    "replaced by": ("The gateway is nginx.", "nginx was replaced by Caddy.", ABOUT),
    "that's wrong": ("The owner is Alice.", "That's wrong: the owner is Bob.", ABOUT),
    "that's wrong, two sentences": ("The logo is blue.", "That's wrong. The logo is green.", ABOUT),
}
NO_CORRECTIONS = {
    "actually": ("The sunset was red.", "Actually, the sunset was lovely."),
    "correction": ("The paper is yellow.", "The correction fluid is white."),
    "scratch that": ("The itch is on the arm.", "Scratch that itch."),
    "no longer": ("Requests take 5 s.", "Requests take no longer than 5 s."),
    "changed my mind": ("I like tea.", "I did not change my mind."),
    "replaced": ("The car has a radio.", "We replaced the tire on the car."),
    "that's wrong": ("The port is 8080.", "That's not wrong."),
}


@pytest.mark.parametrize(("old", "new", "about"), list(CORRECTIONS.values()), ids=list(CORRECTIONS))
def test_p28_an_everyday_correction_is_seen(door: Door, scope: str, old: str, new: str, about: str | None):
    must_meet(door, scope, old, new, about)


@pytest.mark.parametrize(("old", "new"), list(NO_CORRECTIONS.values()), ids=list(NO_CORRECTIONS))
def test_p28_control_what_only_sounds_like_a_correction_is_none(door: Door, scope: str, old: str, new: str):
    must_be_silent(door, scope, old, new)


# --- the same claims when nobody says what they are about

UNNAMED = [
    *((old, new) for old, new, about in (*SINGLE_VALUED.values(), *CORRECTIONS.values()) if about),
    *((old, new) for old, new, _, about in PREFERENCES.values() if about),
    *((old, new) for old, new in VALUES.values() if "ops/s" not in old),
]


# A correction that shares fewer than half of its words with what it corrects has nothing to be found by.
_FAR_APART = frozenset(
    {
        "The default region is now eu-west-1.",
        "The target is actually Oslo.",
        "Correction - our logger is loguru.",
        "Scratch that, we deploy from release.",
        "I changed my mind: we write tests with pytest.",
        "nginx was replaced by Caddy.",
        "That's wrong: the owner is Bob.",
        "That's wrong. The logo is green.",
    }
)


def _unnamed() -> list[object]:
    far = pytest.mark.xfail(strict=True, reason="no name and too few words in common to be compared (ADR 0008)")
    return [pytest.param(old, new, marks=far if new in _FAR_APART else ()) for old, new in UNNAMED]


@pytest.mark.parametrize(("old", "new"), _unnamed())
def test_claims_that_name_nothing_meet_all_the_same(world: World, scope: str, old: str, new: str):
    must_meet(world.doors["python"], scope, old, new)

"""Limits of names, page tokens, near names, echoes, the mailbox: the parts that need no daemon."""

from __future__ import annotations

import asyncio
import threading

import pytest

from hydramind_daemon.services import pages, validate
from hydramind_daemon.services.context import ScopeRef, ScopeSource
from hydramind_daemon.services.echo import RECALLED, SESSIONS, EchoGuard, Recalled, repeats
from hydramind_daemon.services.mailbox import Mailbox
from hydramind_daemon.services.prepare import Text
from hydramind_daemon.services.scopes import near_names, stated, wanted_name
from hydramind_domain.errors import InvalidArgument


def test_names_are_composed_and_trimmed():
    assert validate.name("  Cafe\u0301 ", "entities") == "Caf\u00e9"


def test_two_spellings_of_one_entity_are_one_name_and_the_first_counts():
    assert validate.names(["Deploy Policy", "deploy-policy", "other"], "entities") == ("Deploy Policy", "other")


@pytest.mark.parametrize("given", [0, 1, 100])
def test_a_number_within_its_range_is_taken(given: int):
    assert validate.number(given, "limit", 10, 100) == (given or 10)


@pytest.mark.parametrize("given", [-1, 101])
def test_a_number_outside_its_range_is_refused(given: int):
    with pytest.raises(InvalidArgument) as caught:
        validate.number(given, "limit", 10, 100)
    assert caught.value.field == "limit"


def test_a_token_leads_back_to_its_position():
    assert pages.position(pages.token("timeline", 5, -7), "timeline", (int, int)) == (5, -7)
    assert pages.position("", "timeline", (int, int)) is None


@pytest.mark.parametrize(
    "text", ["x", "%%%", pages.token("scopes", "a"), pages.token("timeline", 5), pages.token("timeline", "5", 7)]
)
def test_a_token_of_another_list_or_of_nobody_is_refused(text: str):
    with pytest.raises(InvalidArgument) as caught:
        pages.position(text, "timeline", (int, int))
    assert caught.value.field == "page_token"


def test_names_that_look_alike_are_near():
    names = ["billing-service", "Frontend", "frontend-tests", "zebra"]
    assert near_names("billing-servce", names) == ("billing-service",)
    assert near_names("frontend", names)[0] == "Frontend"
    assert near_names("qq", names) == ()


def test_a_call_that_names_nothing_is_about_the_default_scope():
    answer = stated(ScopeRef(source=ScopeSource.ENVIRONMENT))
    assert answer is not None
    assert (answer.scope, answer.scope_from) == ("default", ScopeSource.ENVIRONMENT)
    assert stated(ScopeRef(project_root="/a/b")) is None


@pytest.mark.parametrize(
    ("root", "name"), [("/srv/a/api", "api"), ("/srv/a/api/", "api"), ("/", "root"), ("/a/" + "x" * 300, "x" * 249)]
)
def test_a_project_asks_for_the_name_of_its_folder(root: str, name: str):
    assert wanted_name(root) == name


FACT = "Deploys of the billing service go through the canary stage."


@pytest.mark.parametrize(
    "said",
    [
        "deploys of the BILLING service go through the canary stage!",
        "The deploys of the billing service go through the canary stage",
        "Through the canary stage go the deploys of the billing service.",
    ],
)
def test_the_same_said_again_is_an_echo(said: str):
    assert repeats(Text.of(said), Text.of(FACT))


@pytest.mark.parametrize(
    "said",
    [
        "Deploys of the billing service never go through the canary stage.",
        "Deploys of the Billing2 service go through the canary stage.",
        "Deploys of the billing service at Acme go through the canary stage.",
        "Deploys of the billing service go through the canary stage since 2024.",
        "Deploys go through the canary stage.",
        "The billing service is slow.",
    ],
)
def test_what_says_something_else_is_no_echo(said: str):
    assert not repeats(Text.of(said), Text.of(FACT))


def test_the_echo_guard_forgets_the_oldest_and_keeps_scopes_apart():
    guard = EchoGuard()
    guard.recalled("", [Recalled.of(1, "a", "x")])
    for n in range(RECALLED + 5):
        guard.recalled("s", [Recalled.of(n, "a", "x")])
    assert [memory.key for memory in guard.of_session("s", "a")] == list(range(RECALLED + 4, 4, -1))
    assert guard.of_session("s", "b") == guard.of_session("", "a") == []
    for n in range(SESSIONS):
        guard.recalled(f"other {n}", [Recalled.of(n, "a", "x")])
    assert guard.of_session("s", "a") == []


def test_posts_from_many_threads_are_delivered_once_each_and_in_order():
    async def body() -> list[tuple[int, int]]:
        seen: list[tuple[int, int]] = []
        mailbox = Mailbox(asyncio.get_running_loop())

        def post(thread: int) -> None:
            for n in range(200):
                mailbox.post([lambda thread=thread, n=n: seen.append((thread, n))])  # type: ignore[misc]

        threads = [threading.Thread(target=post, args=(t,)) for t in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            await asyncio.to_thread(thread.join)
        await asyncio.sleep(0)
        return seen

    seen = asyncio.run(body())
    assert len(seen) == 800
    assert all([n for t, n in seen if t == thread] == list(range(200)) for thread in range(4))


def test_a_post_to_a_closed_loop_is_dropped():
    loop = asyncio.new_event_loop()
    mailbox = Mailbox(loop)
    loop.close()
    mailbox.post([lambda: None])

"""What the synchronous client sends, how it reads answers, and when it tries again."""

import threading
from datetime import UTC, date, datetime, timedelta, timezone

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramind import local
from hydramind.v1 import admin_pb2, common_pb2, memory_pb2
from hydramind_client import Actor, errors, wire
from hydramind_client import model as m
from hydramind_client import requests as rq
from hydramind_client.client import Client
from hydramind_client.scope import ScopeRef
from tests.unit.client.fake_daemon import FakeDaemon, abort, remembered

LATER = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=timezone(timedelta(hours=2)))


def test_arguments_reach_the_daemon_in_the_order_of_the_contract(client: Client, daemon: FakeDaemon):
    daemon.answers["Remember"] = lambda request, context: remembered()
    client.remember("A fact.", "acme", ["x"], ["m-0"], "a file", "2026-03-01", "key-1")
    sent = daemon.calls("Remember")[0]
    assert (sent.content, sent.scope.name, list(sent.entities), list(sent.derived_from)) == ("A fact.", "acme", ["x"], ["m-0"])
    assert (sent.source, sent.valid_from, sent.idempotency_key) == ("a file", "2026-03-01", "key-1")
    assert sent.scope.source == common_pb2.SCOPE_SOURCE_EXPLICIT


def test_an_answer_is_typed_and_keeps_every_number(client: Client, daemon: FakeDaemon):
    def answer(request, context):
        found = remembered(duplicate=True)
        found.conflicts.add(
            memory_id="m-0", reason_code="negation", before_trust=1.0, after_trust=0.6, new_span={"start": 1, "end": 4}
        )
        found.decayed.add(memory_id="m-2", hop=2, before_trust=1.0, after_trust=0.7)
        link = found.entities.add(name="Gateway", kind="name")
        setattr(link, "from", common_pb2.ENTITY_ORIGIN_EXTRACTED)
        found.created_at.FromDatetime(datetime(2026, 3, 1, 10, 0, 0, 250_000, tzinfo=UTC))
        return found

    daemon.answers["Remember"] = answer
    got = client.remember("A fact.")
    assert got.scope_from is m.ScopeSource.EXPLICIT
    assert got.status is m.Status.ACTIVE
    assert got.duplicate
    assert got.conflicts[0].after_trust == 0.6
    assert got.conflicts[0].spans == m.Spans(m.Span(1, 4), m.Span(0, 0))
    assert got.decayed == (m.Decay("m-2", 2, 1.0, 0.7),)
    assert got.entities == (m.EntityLink("Gateway", m.EntityOrigin.EXTRACTED, "name"),)
    assert got.created_at == datetime(2026, 3, 1, 10, 0, 0, 250_000, tzinfo=UTC)


def test_a_write_without_a_key_gets_one_and_each_its_own(client: Client, daemon: FakeDaemon):
    daemon.answers["Remember"] = lambda request, context: remembered()
    client.remember("A fact.")
    client.remember("A fact.")
    first, second = daemon.calls("Remember")
    assert first.idempotency_key
    assert first.idempotency_key != second.idempotency_key


def test_every_call_says_who_makes_it(daemon: FakeDaemon):
    actor = Actor("claude-code", "2.1", 77, "s-1")
    with Client(spawn=False, actor=actor) as one, Client(spawn=False) as other:
        one.get_scope_stats("acme")
        one.with_actor(Actor("codex")).get_scope_stats("acme")
        other.get_scope_stats("acme")
    seen = [common_pb2.Actor.FromString(meta["hydramind-actor-bin"]) for meta in daemon.metadata if "hydramind-actor-bin" in meta]
    assert (seen[0].client_name, seen[0].client_version, seen[0].pid, seen[0].session) == ("claude-code", "2.1", 77, "s-1")
    assert seen[1].client_name == "codex"
    assert seen[2].client_name == "hydramind-python"
    assert seen[2].session


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, errors.InvalidArgument),
        (grpc.StatusCode.NOT_FOUND, errors.NotFound),
        (grpc.StatusCode.ALREADY_EXISTS, errors.AlreadyExists),
        (grpc.StatusCode.FAILED_PRECONDITION, errors.FailedPrecondition),
        (grpc.StatusCode.ABORTED, errors.Conflict),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, errors.ResourceExhausted),
        (grpc.StatusCode.PERMISSION_DENIED, errors.PermissionDenied),
        (grpc.StatusCode.INTERNAL, errors.Internal),
    ],
)
def test_an_error_comes_as_its_class_with_reason_and_field(client: Client, daemon: FakeDaemon, code, kind):
    daemon.answers["Recall"] = lambda request, context: abort(context, code, "no good", "SOME_REASON", field="query", id="m-1")
    with pytest.raises(kind) as caught:
        client.recall("q")
    assert (caught.value.reason, caught.value.field, caught.value.metadata["id"]) == ("SOME_REASON", "query", "m-1")
    assert caught.value.message == "no good"
    assert len(daemon.calls("Recall")) == 1


def test_an_error_of_another_domain_is_not_taken_for_the_daemons_word(client: Client, daemon: FakeDaemon):
    daemon.answers["Recall"] = lambda request, context: context.abort(grpc.StatusCode.NOT_FOUND, "somebody else's")
    with pytest.raises(errors.NotFound) as caught:
        client.recall("q")
    assert caught.value.reason == "NOT_FOUND"
    assert caught.value.metadata == {}


def failing(times: int, code: grpc.StatusCode, reason: str):
    left = [times]

    def answer(request, context):
        if left[0]:
            left[0] -= 1
            abort(context, code, "not now", reason)
        return remembered()

    return answer


@pytest.mark.parametrize(
    ("code", "reason"), [(grpc.StatusCode.UNAVAILABLE, "SCOPE_LOCKED"), (grpc.StatusCode.ABORTED, "DRAINING")]
)
def test_an_unavailable_daemon_and_a_draining_one_are_tried_again_with_the_same_key(
    client: Client, daemon: FakeDaemon, code, reason
):
    daemon.answers["Remember"] = failing(2, code, reason)
    assert client.remember("A fact.").memory_id == "m-1"
    keys = {request.idempotency_key for request in daemon.calls("Remember")}
    assert len(daemon.calls("Remember")) == 3
    assert len(keys) == 1


def test_three_tries_are_all(client: Client, daemon: FakeDaemon):
    daemon.answers["Remember"] = failing(9, grpc.StatusCode.UNAVAILABLE, "SCOPE_LOCKED")
    with pytest.raises(errors.Unavailable) as caught:
        client.remember("A fact.")
    assert len(daemon.calls("Remember")) == 3
    assert caught.value.idempotency_key == ""  # the daemon said no in its own words: nothing was stored


@pytest.mark.parametrize(
    "code", [grpc.StatusCode.ABORTED, grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.RESOURCE_EXHAUSTED]
)
def test_other_errors_are_never_tried_again(client: Client, daemon: FakeDaemon, code):
    daemon.answers["Revise"] = lambda request, context: abort(context, code, "no", "VERSION_MISMATCH")
    with pytest.raises(errors.HydraMindError):
        client.revise("m-1", "New.", reason="r")
    assert len(daemon.calls("Revise")) == 1


def test_a_write_whose_outcome_is_unknown_tells_the_key_to_call_again_with(daemon: FakeDaemon):
    release = threading.Event()

    def slow(request, context):
        release.wait(10)
        return remembered()

    daemon.answers["Remember"] = slow
    with Client(spawn=False, timeout_s=0.3) as client, pytest.raises(errors.DeadlineExceeded) as caught:
        client.remember("A fact.", idempotency_key="mine")
    release.set()
    assert caught.value.idempotency_key == "mine"
    assert "call again with idempotency_key=mine" in caught.value.message


def test_a_read_that_runs_out_of_time_speaks_of_no_key(daemon: FakeDaemon):
    release = threading.Event()
    daemon.answers["Recall"] = lambda request, context: release.wait(10) and memory_pb2.RecallResponse()
    with Client(spawn=False, timeout_s=0.3) as client, pytest.raises(errors.DeadlineExceeded) as caught:
        client.recall("q")
    release.set()
    assert "idempotency_key" not in caught.value.metadata


def test_the_deadline_reaches_the_daemon(daemon: FakeDaemon):
    left = []
    daemon.answers["Recall"] = lambda request, context: left.append(context.time_remaining()) or memory_pb2.RecallResponse()
    with Client(spawn=False, timeout_s=40) as client:
        client.recall("q")
    assert 20 < left[0] <= 40


def test_a_daemon_that_comes_back_is_found_again_by_the_same_client(client: Client, daemon: FakeDaemon):
    client.get_server_info()
    daemon.stop()
    back = threading.Timer(0.2, daemon.start)
    with pytest.raises(errors.Unavailable):
        client.get_scope_stats()  # nobody there, and none may be started
    back.start()
    back.join()
    assert client.get_server_info().build_id == "fake"


def test_an_older_daemon_is_refused_and_left_running(daemon: FakeDaemon):
    daemon.answers["GetServerInfo"] = lambda request, context: admin_pb2.GetServerInfoResponse(
        version="0.0.1", api_level=local.API_LEVEL - 1, pid=42
    )
    with Client(spawn=False) as client, pytest.raises(errors.FailedPrecondition) as caught:
        client.recall("q", "acme")
    assert caught.value.reason == "DAEMON_TOO_OLD"
    assert daemon.calls("Drain") == []
    assert daemon.calls("Recall") == []


def test_messages_of_sixteen_mebibytes_pass(client: Client, daemon: FakeDaemon):
    big = "x" * (10 * 1024 * 1024)
    daemon.answers["ExplainTrust"] = lambda request, context: memory_pb2.ExplainTrustResponse(
        memory_id="m", explanation=big, status=1
    )
    assert len(client.explain_trust("m").explanation) == len(big)


def test_a_batch_gives_one_outcome_each_in_order(client: Client, daemon: FakeDaemon):
    def answer(request, context):
        if request.remember.content == "bad":
            return memory_pb2.RememberBatchResponse(
                index=1, error={"code": 3, "reason": "BLANK", "message": "no", "field": "content"}
            )
        return memory_pb2.RememberBatchResponse(index=0, remembered=remembered())

    daemon.answers["RememberBatch"] = answer
    outcomes = list(client.remember_batch([m.NewMemory("good", ["x"]), m.NewMemory("bad")]))
    assert [outcome.remembered is not None for outcome in outcomes] == [True, False]
    assert outcomes[1].error == m.ItemError(3, "BLANK", "no", "content")
    assert all(request.remember.idempotency_key for request in daemon.calls("RememberBatch"))


def test_a_batch_element_of_a_wrong_type_is_raised_to_the_caller(client: Client, daemon: FakeDaemon):
    daemon.answers["RememberBatch"] = lambda request, context: memory_pb2.RememberBatchResponse(remembered=remembered())
    with pytest.raises(errors.InvalidArgument) as caught:
        list(client.remember_batch([m.NewMemory("good"), m.NewMemory("bad", "not a list")]))
    assert caught.value.field == "entities"


def test_an_import_reports_what_no_message_can_hold_beside_the_daemons_answers(client: Client, daemon: FakeDaemon):
    daemon.answers["Import"] = lambda request, context: memory_pb2.ImportResponse(
        line=request.record.line, imported={"memory_id": "m-1", "already_there": True}
    )
    records = [m.ImportRecord(1, "good"), m.ImportRecord(2, "half \ud800"), m.ImportRecord(3, "good")]
    outcomes = {outcome.line: outcome for outcome in client.import_(records, restore=True)}
    assert sorted(outcomes) == [1, 2, 3]
    assert outcomes[2].error
    assert outcomes[2].error.field == "content"
    assert outcomes[3].already_there
    first, second = daemon.calls("Import")
    assert (first.restore, first.scope.name, second.restore) == (True, "acme", False)


def test_an_export_comes_as_a_stream_of_records(client: Client, daemon: FakeDaemon):
    def answer(request, context):
        for n in range(3):
            yield memory_pb2.ExportResponse(memory={"memory_id": f"m-{n}", "status": 1}, derived_from=["m-9"], supersedes="m-8")

    daemon.answers["Export"] = answer
    found = list(client.export(include_all=True))
    assert [(e.memory_id, e.derived_from, e.supersedes) for e in found] == [(f"m-{n}", ("m-9",), "m-8") for n in range(3)]
    assert daemon.calls("Export")[0].all


def test_an_export_that_breaks_in_the_middle_raises_and_does_not_begin_again(client: Client, daemon: FakeDaemon):
    def answer(request, context):
        yield memory_pb2.ExportResponse(memory={"memory_id": "m-0", "status": 1})
        abort(context, grpc.StatusCode.UNAVAILABLE, "stopping", "DRAINING")

    daemon.answers["Export"] = answer
    stream = client.export()
    next(stream)
    with pytest.raises(errors.Unavailable):
        next(stream)
    assert len(daemon.calls("Export")) == 1


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda c: c.remember(7), "content"),
        (lambda c: c.remember("a", entities="deploy-policy"), "entities"),
        (lambda c: c.remember("a", derived_from=[7]), "derived_from"),
        (lambda c: c.remember("a\ud800"), "content"),
        (lambda c: c.remember("x" * (1024 * 1024 + 1)), "content"),
        (lambda c: c.remember("a", valid_from=datetime(2026, 3, 1)), "valid_from"),  # noqa: DTZ001 - the point
        (lambda c: c.remember("a", valid_from=7), "valid_from"),
        (lambda c: c.remember("a", "   "), "scope"),
        (lambda c: c.recall("q", limit="7"), "limit"),
        (lambda c: c.recall("q", limit=0), "limit"),
        (lambda c: c.recall("q", limit=2**40), "limit"),
        (lambda c: c.recall("q", include=["gone"]), "include"),
        (lambda c: c.recall("q", include="superseded"), "include"),
        (lambda c: c.recall("q", order="best"), "order"),
        (lambda c: c.revise("m", "a", reason=None), "reason"),
        (lambda c: c.revise(None, "a", reason="r"), "memory_id"),
        (lambda c: c.resolve_conflict("m", "o", "maybe", "r"), "verdict"),
        (lambda c: c.trace_memory("m", hops=True), "hops"),
    ],
)
def test_what_is_wrong_in_python_is_refused_by_name_before_anything_is_sent(client: Client, daemon: FakeDaemon, call, field):
    with pytest.raises(errors.InvalidArgument) as caught:
        call(client)
    assert caught.value.field == field
    assert [name for name, _ in daemon.requests if name != "GetServerInfo"] == []


@pytest.mark.parametrize(
    ("given_time", "sent"),
    [
        ("2026-03-01", "2026-03-01"),
        (date(2026, 3, 1), "2026-03-01"),
        (LATER, "2026-03-01T10:00:00.250000Z"),
        (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T00:00:00Z"),
        (None, ""),
    ],
)
def test_a_moment_may_be_text_a_date_or_an_aware_datetime(given_time, sent):
    assert rq.moment("as_of", given_time) == sent


@given(st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_times_come_back_exact_to_the_microsecond(moment: datetime):
    from hydramind_client import convert

    message = memory_pb2.ScopeSummary(scope="s")
    message.last_write_at.FromDatetime(moment.replace(tzinfo=None))
    assert convert.scope_list(memory_pb2.ListScopesResponse(scopes=[message])).scopes[0].last_write_at == moment


def test_a_scope_of_the_caller_is_used_when_a_call_names_none(daemon: FakeDaemon, tmp_path):
    with Client(
        spawn=False, environ={"HYDRAMIND_SCOPE": "from-env", "HYDRAMIND_HOME": str(daemon.socket.parent.parent)}
    ) as client:
        client.get_scope_stats()
        client.get_scope_stats("named")
        client.get_scope_stats(ScopeRef(project_root="/p", source=m.ScopeSource.PROJECT))
    sent = [(c.scope.name, c.scope.project_root, c.scope.source) for c in daemon.calls("GetScopeStats")]
    assert sent == [("from-env", "", 2), ("named", "", 1), ("", "/p", 3)]


def test_stopping_never_starts_a_daemon(hydramind_home):
    with Client() as client, pytest.raises(errors.Unavailable) as caught:
        client.drain()
    assert caught.value.reason == "NOT_RUNNING"
    assert not (hydramind_home / "logs" / "daemon.log").exists()


def test_many_threads_share_one_client(client: Client, daemon: FakeDaemon):
    daemon.answers["Remember"] = lambda request, context: remembered(memory_id=request.content)
    found: list[str] = []
    threads = [threading.Thread(target=lambda n=n: found.append(client.remember(f"m-{n}").memory_id)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(found) == sorted(f"m-{n}" for n in range(16))


def test_a_deadline_is_spent_by_all_tries_together(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(wire.time, "monotonic", lambda: now[0])
    attempts = wire.Attempts(10.0, "", writes=False)
    attempts.restart_clock()
    now[0] += 4
    assert attempts.left_s == 6
    now[0] += 7
    assert attempts.left_s == 0


def test_a_connection_that_a_stopping_daemon_refuses_costs_time_and_no_try(daemon: FakeDaemon):
    greeting, left = daemon.answers["GetServerInfo"], [5]

    def hello(request, context):
        if left[0]:
            left[0] -= 1
            context.abort(grpc.StatusCode.CANCELLED, "")
        return greeting(request, context)

    daemon.answers["GetServerInfo"] = hello
    daemon.answers["Remember"] = failing(2, grpc.StatusCode.UNAVAILABLE, "SCOPE_LOCKED")
    with Client(spawn=False, scope="acme", timeout_s=30) as client:
        assert client.remember("A fact.").memory_id == "m-1"


def test_a_call_that_the_server_cancelled_is_tried_again_with_its_key(client: Client, daemon: FakeDaemon):
    left = [1]

    def answer(request, context):
        if left[0]:
            left[0] -= 1
            context.abort(grpc.StatusCode.CANCELLED, "")
        return remembered()

    daemon.answers["Remember"] = answer
    client.remember("A fact.", idempotency_key="mine")
    assert [request.idempotency_key for request in daemon.calls("Remember")] == ["mine", "mine"]


def test_a_closed_client_says_so(daemon: FakeDaemon):
    client = Client(spawn=False)
    client.get_server_info()
    client.close()
    with pytest.raises(errors.Unavailable) as caught:
        client.get_server_info()
    assert caught.value.reason == "CLOSED"

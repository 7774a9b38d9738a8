"""Scopes and their locks, deadlines, callers, health, drain."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from hydramind.v1 import admin_pb2, common_pb2, memory_pb2
from tests.rpc.live import Live, actor, ref, refused

pb = memory_pb2
CODE = grpc.StatusCode


def project(root: str) -> common_pb2.ScopeRef:
    return common_pb2.ScopeRef(project_root=root, source=common_pb2.SCOPE_SOURCE_PROJECT)


async def remember_in(live: Live, root: str, content: str) -> str:
    answer = await live.memory.Remember(pb.RememberRequest(content=content, scope=project(root)))
    assert answer.scope.scope_from == common_pb2.SCOPE_SOURCE_PROJECT
    scope: str = answer.scope.scope
    return scope


async def recall_in(live: Live, root: str) -> Any:
    return await live.memory.Recall(pb.RecallRequest(query="deploy noon", scope=project(root)))


async def test_a_project_is_its_folder_name_and_a_second_one_of_that_name_is_apart(live: Live):
    first = await remember_in(live, "/srv/a/api", "The deploy runs at noon")
    unseen = await recall_in(live, "/srv/b/api")
    assert (first, unseen.abstained) == ("api", True)
    assert unseen.scope.scope.startswith("api-")
    second = await remember_in(live, "/srv/b/api", "The deploy runs at midnight")
    assert second == unseen.scope.scope
    assert len(second) == len("api-") + 6
    assert [hit.memory.content for hit in (await recall_in(live, "/srv/a/api")).memories] == ["The deploy runs at noon"]


async def test_reading_a_project_that_nobody_wrote_to_maps_nothing(live: Live):
    assert (await recall_in(live, "/srv/b/api")).scope.scope == "api"
    assert not (await live.memory.ListScopes(pb.ListScopesRequest())).scopes
    assert await remember_in(live, "/srv/a/api", "The deploy runs at noon") == "api"
    assert (await recall_in(live, "/srv/b/api")).abstained


async def test_a_project_root_must_be_absolute(live: Live):
    call = live.memory.Recall(pb.RecallRequest(query="x", scope=project("api")))
    assert (await refused(call))[2]["field"] == "scope.project_root"


HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another_process(path: Path) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=-1, stdout=-1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline()
        try:
            yield process.pid
        finally:
            process.stdin.close()


async def test_a_scope_that_another_process_holds_waits_alone_and_then_names_it(live: Live):
    with held_by_another_process(live.locks.path_of("held")) as pid:
        request = pb.RememberRequest(content="Waits.", scope=ref("held"))
        waiting = asyncio.ensure_future(refused(live.memory.Remember(request, timeout=2.0)))
        await live.until(lambda: live.services.writer.waiting == 1)
        assert (await live.remember("Others go on.")).version == 1
        code, reason, metadata = await waiting
        assert (code, reason) == (CODE.UNAVAILABLE, "SCOPE_LOCKED")
        assert (metadata["scope"], metadata["pid"]) == ("held", str(pid))
    assert (await live.remember("Now.", scope="held")).version == 1


async def test_a_scope_that_becomes_free_in_time_is_written(live: Live):
    with held_by_another_process(live.locks.path_of("held")):
        waiting = asyncio.ensure_future(live.remember("Waits.", scope="held"))
        await live.until(lambda: live.services.writer.waiting == 1)
    assert (await waiting).version == 1


async def test_a_command_whose_deadline_passed_in_the_queue_is_not_written(live: Live):
    go = await live.hold_writer()
    request = pb.RememberRequest(content="Too late.", scope=ref("acme"))
    code, _, _ = await refused(live.memory.Remember(request, timeout=0.2))
    assert code is CODE.DEADLINE_EXCEEDED
    go()
    await live.until(lambda: not live.services.busy())
    assert await live.contents() == []


async def test_a_full_queue_is_refused_and_later_works_again(live: Live, monkeypatch: Any):
    monkeypatch.setattr("hydramind_daemon.services.writer.MOST_WAITING", 2)
    go = await live.hold_writer()
    calls = [asyncio.ensure_future(live.remember(f"Fact {n}.")) for n in range(2)]
    await live.until(lambda: live.services.writer.waiting == 2)
    code, reason, _ = await refused(live.remember("Fact 3."))
    assert (code, reason) == (CODE.RESOURCE_EXHAUSTED, "TOO_MANY_WRITES")
    go()
    await asyncio.gather(*calls)
    assert (await live.remember("Fact 3.")).version == 1


async def test_the_caller_is_kept_with_what_it_wrote(live: Live):
    one = await live.memory.Remember(
        pb.RememberRequest(content="A fact.", scope=ref("acme")), metadata=actor("session-1", "codex")
    )
    memory = await live.get(one.memory_id)
    assert (memory.actor.client_name, memory.actor.session, memory.actor.pid) == ("codex", "session-1", 7)


async def test_health_follows_the_lifecycle(live: Live):
    stub = health_pb2_grpc.HealthStub(live.channel)
    states = health_pb2.HealthCheckResponse
    for name in ("", "hydramind.v1.MemoryService", "hydramind.v1.AdminService", "hydramind.v1.EventService"):
        assert (await stub.Check(health_pb2.HealthCheckRequest(service=name))).status == states.SERVING
    await live.face.set_serving(False)
    assert (await stub.Check(health_pb2.HealthCheckRequest())).status == states.NOT_SERVING


async def test_reflection_lists_what_is_served(live: Live):
    stub = reflection_pb2_grpc.ServerReflectionStub(live.channel)
    call = stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    names = {service.name for service in (await call.read()).list_services_response.service}
    assert {"hydramind.v1.MemoryService", "hydramind.v1.EventService", "hydramind.v1.AdminService"} <= names
    call.cancel()


async def test_a_message_of_more_than_4_mib_passes_and_one_of_more_than_16_does_not(live: Live):
    items = [pb.ImportRecord(line=1, content="x", entities=["y" * 200]) for _ in range(1)]
    del items
    big = pb.PurgeRequest(memory_ids=["m" * 250] * 20_000, reason="r", scope=ref("acme"))
    assert (await refused(live.memory.Purge(big)))[2]["field"] == "memory_ids"
    huge = pb.RememberRequest(content="x" * (17 << 20))
    assert (await refused(live.memory.Remember(huge)))[0] is CODE.RESOURCE_EXHAUSTED


async def test_drain_asks_the_lifecycle_and_says_who_stops(live: Live):
    assert (await live.admin.Drain(admin_pb2.DrainRequest(grace_s=5))).pid == 4321
    await live.admin.Drain(admin_pb2.DrainRequest())
    assert live.drained == [5.0, None]


async def test_a_backup_is_a_store_of_its_own_and_overwrites_nothing(live: Live):
    await live.remember("A fact.")
    path = live.folder / "copy.db"
    done = await live.admin.Backup(admin_pb2.BackupRequest(path=str(path)))
    assert (done.sequence, done.size_bytes) == (1, path.stat().st_size)
    code, _, metadata = await refused(live.admin.Backup(admin_pb2.BackupRequest(path=str(path))))
    assert code in {CODE.ALREADY_EXISTS, CODE.INVALID_ARGUMENT}
    assert metadata["field"] == "path"


async def test_accepted_commands_are_finished_by_a_drain_and_later_ones_refused(live: Live):
    go = await live.hold_writer()
    accepted = asyncio.ensure_future(live.remember("Accepted."))
    await live.until(lambda: live.services.writer.waiting == 1)
    draining = asyncio.ensure_future(live.services.drain())
    go()
    assert (await accepted).version == 1
    await draining
    code, reason, _ = await refused(live.remember("Too late."))
    assert (code, reason) == (CODE.UNAVAILABLE, "DRAINING")


async def test_a_long_cascade_goes_on_in_follow_up_commands_also_after_a_restart(live: Live):
    from dataclasses import replace

    live.services.writer.rules = replace(live.services.writer.rules, cascade_limit=2)
    root = await live.remember("Production must use direct routing.", "routing")
    children = [(await live.remember(f"Rule {n} follows.", derived_from=[root.memory_id])).memory_id for n in range(7)]
    new = await live.remember("Production must not use direct routing.", "routing")
    assert (new.still_spreading, new.decayed_total) == (True, 2)
    await live.until(lambda: live.services.writer.follow_ups == 0)
    assert [(await live.get(child)).trust_score for child in children] == [0.85] * 7
    why = await live.memory.ExplainTrust(pb.ExplainTrustRequest(memory_id=children[6], scope=ref("acme")))
    assert not why.still_spreading


async def test_an_open_cascade_is_taken_up_by_the_next_daemon(live: Live):
    from dataclasses import replace

    writer = live.services.writer
    writer.rules = replace(writer.rules, cascade_limit=2)
    writer._note_cascades = lambda _result: None  # type: ignore[method-assign]  # as if it died right after the commit
    root = await live.remember("Production must use direct routing.", "routing")
    child = ""
    for n in range(5):
        child = (await live.remember(f"Rule {n} follows.", derived_from=[root.memory_id])).memory_id
    await live.remember("Production must not use direct routing.", "routing")
    assert (await live.get(child)).trust_score == 1.0
    await live.__aexit__(None, None, None)
    async with Live(live.folder) as next_one:
        await next_one.until(lambda: next_one.services.writer.follow_ups == 0)
        assert (await next_one.get(child)).trust_score == 0.85


async def test_nothing_is_busy_when_nobody_calls(live: Live):
    await live.remember("A fact.")
    await live.until(lambda: not live.services.busy())
    go = await live.hold_writer()
    waiting = asyncio.ensure_future(live.remember("Another."))
    await live.until(lambda: live.services.writer.waiting == 1)
    assert live.services.busy()
    go()
    await waiting
    await live.services.ping()


async def test_status_tells_the_state_of_everything(live: Live):
    await live.remember("A fact.")
    status = await live.admin.GetStatus(admin_pb2.GetStatusRequest())
    assert (status.state, status.sequence, status.scopes, list(status.locked_scopes)) == ("serving", 1, 1, ["acme"])
    assert status.server.pid == 4321
    assert status.rss_bytes > 1_000_000
    live.services.end_watches()
    assert (await live.admin.GetStatus(admin_pb2.GetStatusRequest())).state == "draining"

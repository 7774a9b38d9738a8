"""Section 1: bursts, crashes, damage, locks and races, seen from the front ends. Faults of the disk are in test_store_faults."""

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hydramind import local
from hydramind_client import AsyncClient, Client, HydraMindError
from tests.e2e.symptoms.conftest import MODULES
from tests.e2e.symptoms.doors import ENTRY, Door, McpDoor, PythonDoor, ShellDoor, World, environment, process, refusal
from tests.e2e.test_mcp_host import gone, pids_of, until
from tests.unit.mcp.rig import ShimProcess, call

pytestmark = pytest.mark.timeout(900)


def kill_daemon(home: Path) -> None:
    for pid in pids_of(local.DAEMON_MODULE, home):
        with contextlib.suppress(ProcessLookupError):  # one that lost the race to start has ended by itself
            os.kill(pid, signal.SIGKILL)
        until(lambda pid=pid: gone(pid))


def sound(client: Client) -> bool:
    return client.verify().ok and client.get_status().missing_sequences == ()


# --- P1: bursts


def test_p1_a_burst_is_wholly_there_after_a_crash_and_a_restart(own_home: Path):
    with ShimProcess() as shim, Client() as client:
        door = McpDoor(shim.open())
        base = [door.use("remember", content=f"Gate g{n} is green.", scope="s")["memory_id"] for n in range(20)]
        burst = [call(f"r{n}", "remember", content=f"Door d{n} is oak.", scope="s") for n in range(25)]
        burst += [
            call(f"v{n}", "revise", memory_id=base[n], content=f"Gate g{n} is red.", reason="painted", scope="s")
            for n in range(15)
        ]
        burst += [call(f"f{n}", "forget", memory_id=base[n], scope="s") for n in range(15, 20)]
        burst += [call(f"bad{n}", "remember", content=" ", scope="s") for n in range(5)]
        random.Random(1).shuffle(burst)
        shim.send(*burst)
        refused = {message["id"] for message in burst if shim.answer(message["id"])["result"]["isError"]}
        assert refused == {f"bad{n}" for n in range(5)}, "the control: what is wrong is refused, and only that"
        kill_daemon(own_home)
        stats = client.get_scope_stats("s")
        assert (stats.active, stats.superseded, stats.forgotten) == (40, 15, 5)
        assert sound(client)


def test_p1_a_burst_of_every_door_at_once_loses_nothing(world: World, scope: str):
    async def python() -> None:
        async with AsyncClient(home=str(world.home), scope=scope, timeout_s=60) as client:
            await asyncio.gather(*(client.remember(f"Python wrote py{n}.") for n in range(50)))

    shim = world.doors["mcp"].shim
    lines = "".join(json.dumps({"content": f"The shell wrote sh{n}."}) + "\n" for n in range(50))
    messages = [call(f"burst-{n}", "remember", content=f"An agent wrote ag{n}.", scope=scope) for n in range(50)]
    with ThreadPoolExecutor(2) as pool:
        shim.send(*messages)
        both = [
            pool.submit(asyncio.run, python()),
            pool.submit(process, world.home, world.elsewhere, ["import", "--scope", scope], lines),
        ]
        assert both[1].result(100).returncode == 0
        both[0].result(100)
    assert not any(shim.answer(message["id"])["result"]["isError"] for message in messages)
    assert world.client.get_scope_stats(scope).active == 150


# --- P3: kills in the middle of writing, and a cut-off end


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=pytest.mark.slow)])
def test_p3_what_was_acknowledged_outlives_kills_during_a_storm_of_writes(own_home: Path, kills: int):
    kept: dict[str, str] = {}
    stop = threading.Event()

    def storm(writer: int) -> None:
        number = 0
        with Client(timeout_s=60) as client:
            while not stop.is_set():
                text = f"Writer w{writer} wrote line l{number}."
                try:
                    kept[client.remember(text, "s").memory_id] = text
                except HydraMindError as error:
                    assert error.reason in {"UNAVAILABLE", "DEADLINE_EXCEEDED", "DRAINING"}, error  # noqa: PT017 - either is fine
                number += 1

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(storm, n) for n in range(3)]
        try:
            for _ in range(kills):
                before = len(kept)
                until(lambda before=before: len(kept) > before + 20)
                kill_daemon(own_home)
        finally:
            stop.set()
        for writer in writers:
            writer.result(100)
    with Client() as client:
        found = {memory.memory_id: memory.content for memory in client.export("s")}
        assert {key: text for key, text in kept.items() if found.get(key) != text} == {}
        assert len(set(found.values())) == len(found), "no fact twice"
        assert sound(client)


def wal_of(home: Path) -> Path:
    (log,) = home.rglob("*-wal")
    return log


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_p3_p12_a_damaged_log_is_survived_and_what_is_missing_is_told_by_every_door(own_home: Path, damage: str, tmp_path: Path):
    with Client() as client:
        for n in range(60):
            client.remember(f"Crate c{n} stands on shelf s{n}.", "s")
    kill_daemon(own_home)
    log = wal_of(own_home)
    data = log.read_bytes()
    if damage == "cut":
        log.write_bytes(data[: len(data) * 3 // 4])
    else:
        at = len(data) * 3 // 4
        log.write_bytes(data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 64]) + data[at + 64 :])
    with ShimProcess(cwd=tmp_path) as shim, Client() as client:
        doors: list[Door] = [McpDoor(shim.open()), PythonDoor(client), ShellDoor(own_home)]
        kept = [{fact["content"] for fact in door.use("timeline", scope="s", limit=100)["facts"]} for door in doors]
        assert 0 < len(kept[0]) < 60
        assert kept[0] == kept[1] == kept[2] == {f"Crate c{n} stands on shelf s{n}." for n in range(len(kept[0]))}
        assert client.get_status().missing_sequences != ()
        assert client.get_status().missing_sequences[0] in process(own_home, tmp_path, ["status"]).stdout
        for door in doors:
            assert door.use("remember", content=f"Written by {door.name} afterwards.", scope="s")["memory_id"]
        assert client.verify().ok


def test_p12_p43_a_store_that_cannot_be_read_is_an_error_with_advice_and_never_an_empty_answer(own_home: Path, tmp_path: Path):
    with Client() as client:
        client.remember("Tea is green.", "s")
        client.drain(1)
    until(lambda: pids_of(local.DAEMON_MODULE, own_home) == [])
    with MainFile(own_home) as file:
        file.write_bytes(b"this is not a database at all\n" * 500)
        with ShimProcess(cwd=tmp_path) as shim, Client() as client:
            for door in (McpDoor(shim.open()), PythonDoor(client), ShellDoor(own_home)):
                told = refusal(door, "recall", query="tea green", scope="s")
                assert file.name in told, (door.name, told)
                assert "backup" in told or "doctor" in told or "restore" in told, (door.name, told)
    with Client() as client:
        assert client.recall("tea green", "s").memories[0].content == "Tea is green.", (
            "the control: the file put back, it is there"
        )


class MainFile:
    """The main file of a store, put back as it was at the end."""

    def __init__(self, home: Path) -> None:
        (self.file,) = [path for path in home.rglob("*") if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"]
        self.data = self.file.read_bytes()

    def __enter__(self) -> Path:
        return self.file

    def __exit__(self, *_: object) -> None:
        self.file.write_bytes(self.data)


# --- P4, P5: many at once, and what crashes leave behind


def test_p4_agents_shells_and_programs_from_cold_at_once_share_one_daemon(own_home: Path, tmp_path: Path):
    def agent(number: int) -> None:
        with ShimProcess(cwd=tmp_path) as shim:
            door = McpDoor(shim.open())
            for n in range(20):
                door.use("remember", content=f"Agent a{number} keeps x{n}.", scope="s")
            for n in range(20):
                door.use("recall", query=f"Agent a{number} keeps x{n}", scope="s")
            assert b"locked" not in shim.errors

    def shell(number: int) -> None:
        done = process(own_home, tmp_path, ["remember", f"Shell h{number} was here.", "--scope", "s"])
        assert (done.returncode, "locked" in done.stderr) == (0, False), done.stderr

    def program(number: int) -> None:
        with Client(timeout_s=60) as client:
            for n in range(20):
                client.remember(f"Program p{number} keeps y{n}.", "s")

    with ThreadPoolExecutor(9) as pool:
        running = [pool.submit(kind, number) for number in range(3) for kind in (agent, shell, program)]
        for each in running:
            each.result(200)
    assert [len(pids_of(module, own_home)) for module in MODULES] == [1, 1]
    with Client() as client:
        assert client.get_scope_stats("s").active == 3 * (20 + 1 + 20)


@pytest.mark.parametrize("name", ["mcp", "shell", "python"])
def test_p5_what_a_crash_leaves_locks_nobody_out_though_its_pid_is_anothers_now(own_home: Path, tmp_path: Path, name: str):
    with Client() as client:
        client.remember("Kept.", "s")
    kill_daemon(own_home)
    lock = Path(local.addresses(home=str(own_home)).instance_lock)
    assert lock.exists()
    assert Path(local.addresses(home=str(own_home)).socket).exists()
    lock.write_text(f"{os.getpid()}\n{local.addresses(home=str(own_home)).socket}\n")
    with ShimProcess(cwd=tmp_path) as shim, Client() as client:
        door: Door = {
            "mcp": lambda: McpDoor(shim.open()),
            "shell": lambda: ShellDoor(own_home),
            "python": lambda: PythonDoor(client),
        }[name]()
        assert [m["content"] for m in door.use("recall", query="kept", scope="s")["memories"]] == ["Kept."]
    assert len(pids_of(local.DAEMON_MODULE, own_home)) == 1


# --- P6: locks are never removed


def test_p6_doctor_leaves_the_lock_of_a_running_daemon_and_the_daemon_alone(world: World):
    addresses = local.addresses(home=str(world.home))
    pid = world.client.get_server_info().pid
    inode = Path(addresses.instance_lock).stat().st_ino
    done = process(world.home, world.elsewhere, ["doctor", "--fix", "--json"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path(addresses.instance_lock).stat().st_ino == inode
    assert Path(addresses.socket).exists()
    assert world.client.get_server_info().pid == pid


# --- P8: commands at once, also beside upkeep


def test_p8_commands_at_once_and_during_upkeep_all_succeed_or_say_to_try_again(world: World, scope: str):
    for n in range(60):
        world.client.remember(f"Row r{n} of the table.", scope)
    commands = [["remember", f"Command c{n} ran.", "--scope", scope, "--json"] for n in range(3)]
    commands += [["rebuild", "--json"], ["verify", "--json"], ["recall", "row r7", "--scope", scope, "--json"]]
    argv = [sys.executable, "-c", ENTRY]
    running = [
        subprocess.Popen(
            [*argv, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(world.home),
            cwd=world.elsewhere,
            text=True,
        )
        for words in commands
    ]
    for words, each in zip(commands, running, strict=True):
        out, err = each.communicate(timeout=100)
        assert each.returncode in {0, 75}, (words, out, err)
        assert each.returncode == 0 or "again" in err, (words, err)
    assert world.client.get_scope_stats(scope).active >= 60
    assert world.client.verify().ok


# --- P9: no silent overwrite

FACTS = (
    ("The port is 8080.", "The port is 9090.", "The port is 7070."),
    ("Carol owns the index.", "Dave owns the index.", "Erin owns the index."),
    ("Backups run at 02:00.", "Backups run at 03:00.", "Backups run at 04:00."),
)


@pytest.mark.parametrize(("first", "second", "third"), FACTS)
def test_p9_of_two_revisions_the_later_is_told_who_was_first(
    world: World, door: Door, scope: str, first: str, second: str, third: str
):
    old = door.use("remember", content=first, scope=scope)
    other = next(each for each in world.doors.values() if each is not door)
    read = {"memory_id": old["memory_id"], "expected_version": old["version"], "scope": scope}
    won = other.use("revise", content=second, reason="first", **read)
    told = refusal(door, "revise", content=third, reason="late", **read)
    assert won["memory_id"] in told
    current = [fact["content"] for fact in door.use("timeline", scope=scope)["facts"] if fact["status"] == "active"]
    assert current == [second]


def test_p9_an_outdated_version_is_refused_with_both_versions(world: World, door: Door, scope: str):
    old = door.use("remember", content="The lake is frozen.", entities=["lake"], scope=scope)
    world.client.remember("The lake is not frozen.", scope, ["lake"])
    now = world.client.get_memory(old["memory_id"], scope).memory.version
    words = {"memory_id": old["memory_id"], "content": "The lake has ice.", "reason": "looked", "scope": scope}
    told = refusal(door, "revise", expected_version=old["version"], **words)
    assert str(now) in told
    assert str(old["version"]) in told
    assert door.use("revise", expected_version=now, **words)["superseded_id"] == old["memory_id"], "the control"


# --- P11: many varied texts


def varied(count: int) -> list[str]:
    rng = random.Random(11)
    alphabet = "abc defg hij " + "éüß漢字かな한글🙂\u200d\n\t\"'\\%_;--" + "".join(map(chr, range(0x400, 0x440)))
    return [f"text {n} " + "".join(rng.choices(alphabet, k=rng.randint(150, 3_000))).strip() for n in range(count)]


@pytest.mark.parametrize(("count", "every"), [(30, 15), pytest.param(1_000, 50, marks=pytest.mark.slow)])
def test_p11_varied_texts_come_back_as_they_were_through_every_door_and_over_restarts(
    own_home: Path, tmp_path: Path, count: int, every: int
):
    kept: dict[str, str] = {}
    with ShimProcess(cwd=tmp_path) as shim, Client() as client:
        doors: list[Door] = [McpDoor(shim.open()), PythonDoor(client), ShellDoor(own_home)]
        for number, text in enumerate(varied(count), 1):
            kept[doors[number % 3].use("remember", content=text, scope="s")["memory_id"]] = text
            if number % every == 0:
                kill_daemon(own_home)
        assert {memory.memory_id: memory.content for memory in client.export("s")} == kept
        assert sound(client)


def test_p12_control_a_sound_store_reports_nothing_missing(world: World):
    assert sound(world.client)

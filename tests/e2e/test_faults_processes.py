"""A disk that is really full, clients that vanish in mid-call, and a clock that was set back, each with a real daemon."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hydramind_client import Client, ResourceExhausted
from tests.e2e.daemon_process import BOUND_S, Daemons, wait_until

VANISHING = """
import asyncio, sys
from hydramind_client import AsyncClient

async def main():
    async with AsyncClient(scope="s", spawn=False, timeout_s=60) as client:
        await client.get_server_info()
        send = lambda n: client.remember(f"Parcel p{n} is on its way.", idempotency_key=f"k{n}")
        calls = [asyncio.ensure_future(send(n)) for n in range(64)]
        await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        print("in flight", flush=True)
        await asyncio.wait(calls)

asyncio.run(main())
"""


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Daemons]:
    started = Daemons(tmp_path)
    yield started
    started.end_all()


@pytest.fixture
def small_disk(hydramind_home: Path) -> Iterator[Path]:
    """The home as a file system of its own with a few MiB."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs", str(hydramind_home)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("mount is not installed")
    if done.returncode != 0:
        pytest.skip("mounting is not allowed here")
    yield hydramind_home
    subprocess.run(["umount", "--lazy", str(hydramind_home)], check=True)


def fill(path: Path) -> None:
    """Take every free byte."""
    with path.open("wb", buffering=0) as ballast:
        for size in (1 << 16, 1 << 12, 1 << 8, 1):
            try:
                while ballast.write(bytes(size)) == size:
                    pass
            except OSError:
                continue


def sound(client: Client) -> bool:
    status = client.get_status()
    return client.verify().ok and (status.missing_sequences, status.quarantined_files) == ((), ())


def stored(client: Client) -> set[str]:
    return {memory.content for memory in client.export("s", include_all=True)}


def test_a_full_disk_refuses_writes_by_the_name_of_the_home_and_everything_resumes_with_room(small_disk: Path, daemons: Daemons):
    daemon = daemons.start(small_disk).ready()
    with Client(home=str(small_disk), scope="s", spawn=False) as client:
        first = client.remember("Cellar c0 is dry.")
        kept, refused = {"Cellar c0 is dry."}, None
        fill(small_disk / "ballast")
        for number in range(1, 200):
            text = f"Cellar c{number} is dry. " + f"word{number} " * 400
            try:
                client.remember(text)
            except ResourceExhausted as error:
                refused = error
                break
            kept.add(text.strip())
        assert refused is not None, "the disk was not full"
        assert (refused.reason, str(small_disk) in str(refused) + str(refused.metadata)) == ("DISK_FULL", True), str(refused)
        assert client.recall("which cellar is dry").memories
        assert client.get_memory(first.memory_id).memory.content == "Cellar c0 is dry."
        assert {text.strip() for text in stored(client)} == kept, "what was refused left nothing"
        (small_disk / "ballast").unlink()
        kept.add(client.get_memory(client.remember("Cellar c999 is dry.").memory_id).memory.content)
        assert sound(client)
    daemon.process.send_signal(signal.SIGKILL)
    daemon.wait()
    daemons.start(small_disk).ready()
    with Client(home=str(small_disk), scope="s", spawn=False) as client:
        assert {text.strip() for text in stored(client)} == kept
        assert sound(client)


def test_a_kill_on_a_full_disk_loses_nothing_and_the_next_start_serves(small_disk: Path, daemons: Daemons):
    daemon = daemons.start(small_disk).ready()
    with Client(home=str(small_disk), scope="s", spawn=False) as client:
        kept = {client.get_memory(client.remember(f"Barn b{n} is red.").memory_id).memory.content for n in range(20)}
    fill(small_disk / "ballast")
    daemon.process.send_signal(signal.SIGKILL)
    daemon.wait()
    (small_disk / "ballast").unlink()
    daemons.start(small_disk).ready()
    with Client(home=str(small_disk), scope="s", spawn=False) as client:
        assert stored(client) == kept
        assert sound(client)


def test_a_client_killed_with_sixty_four_calls_in_flight_leaves_each_whole_or_not_at_all(hydramind_home: Path, daemons: Daemons):
    daemon = daemons.start(hydramind_home).ready()
    with subprocess.Popen([sys.executable, "-c", VANISHING], stdout=subprocess.PIPE) as vanishing:
        assert vanishing.stdout is not None
        assert vanishing.stdout.readline() == b"in flight\n"
        vanishing.kill()
    with Client(scope="s", spawn=False) as client:
        before = stored(client)
        assert before <= {f"Parcel p{n} is on its way." for n in range(64)}
        again = [client.remember(f"Parcel p{n} is on its way.", idempotency_key=f"k{n}") for n in range(64)]
        assert sum(answer.replayed for answer in again) >= len(before) > 0
        assert stored(client) == {f"Parcel p{n} is on its way." for n in range(64)}
        assert client.get_scope_stats().total == 64
        assert sound(client)
    assert daemon.process.poll() is None


@pytest.mark.parametrize("said", [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00\xff" * 50_000, b"GET / HTTP/1.1\r\n"])
def test_peers_that_connect_and_fall_silent_or_talk_nonsense_disturb_nobody(hydramind_home: Path, daemons: Daemons, said: bytes):
    daemon = daemons.start(hydramind_home).ready()
    peers = [socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) for _ in range(20)]
    try:
        for peer in peers:
            peer.settimeout(BOUND_S)
            peer.connect(str(daemon.socket))
            try:
                peer.sendall(said)
            except (BrokenPipeError, ConnectionResetError):
                continue  # the daemon hung up on nonsense: its right
        with Client(scope="s", spawn=False) as client:
            assert client.get_memory(client.remember("Still answering.").memory_id).memory.content == "Still answering."
    finally:
        for peer in peers:
            peer.close()
    descriptors = Path(f"/proc/{daemon.pid}/fd")
    if descriptors.is_dir():
        wait_until(lambda: len(list(descriptors.iterdir())) < 60, "the daemon lets go of dead peers")
    assert daemon.terminate() == 0


def test_the_time_of_recording_never_goes_back_though_the_clock_was_set_back_over_a_restart(
    hydramind_home: Path, daemons: Daemons, tmp_path: Path
):
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text("import time\nreal = time.time_ns\ntime.time_ns = lambda: real() - 86_400 * 10**9\n")
    daemon = daemons.start(hydramind_home).ready()
    with Client(scope="s", spawn=False) as client:
        first = client.remember("Mill m1 turns.")
    assert daemon.terminate() == 0
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    late = daemons.start(hydramind_home, env={"PYTHONPATH": path}).ready()
    with Client(scope="s", spawn=False) as client:
        started = client.get_server_info().started_at
        assert started is not None
        assert first.created_at is not None
        assert started < first.created_at, "the control: this daemon's clock is behind"
        second = client.remember("Mill m2 turns.")
        third = client.revise(second.memory_id, "Mill m2 stands still.", reason="seen")
        times = [first.created_at, second.created_at, third.created_at]
        assert None not in times
        assert times == sorted(times, key=lambda time: time.timestamp() if time else 0.0)
        assert [fact.content for fact in client.timeline().facts][:2] == ["Mill m1 turns.", "Mill m2 turns."]
        assert client.verify().ok
    assert late.terminate() == 0

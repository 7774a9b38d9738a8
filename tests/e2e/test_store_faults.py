"""Bad disks: full, failing, cut off, damaged. Nothing acknowledged is lost, nothing half is kept."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import apsw
import pytest

from hydramind_daemon.stores.connection import Durability
from hydramind_daemon.stores.errors import Damaged, NewerSchema, StoreError, Unwritable
from hydramind_daemon.stores.files import companions
from hydramind_daemon.stores.store import FILE_NAME, SqliteStore
from hydramind_domain.errors import HydraMindError, Internal, ResourceExhausted, Unavailable
from hydramind_domain.indexing import index_terms
from tests.contract.faulty_vfs import Disk, FaultyVFS, after_power_cut, lay_out
from tests.contract.history import History

NUMBERS = count()
WORDS = [
    "deploy",
    "router",
    "queue",
    "never",
    "always",
    "port",
    "schema",
    "ledger",
    "cache",
    "green",
    "blue",
    "region",
    "shard",
    "token",
]


@pytest.fixture
def disk() -> Iterator[tuple[Disk, str]]:
    """A disk and the name of its VFS."""
    name = f"faulty-{next(NUMBERS)}"
    seen = Disk()
    vfs = FaultyVFS(name, seen)
    yield seen, name
    vfs.unregister()


def text_of(number: int) -> str:
    rng = random.Random(number)
    return f"m{number} " + " ".join(rng.choices(WORDS, k=rng.randint(3, 40))) + rng.choice(["", " é漢字🙂", "\n\ttab", " “q”"])


def work(history: History, numbers: range) -> None:
    """One batch: adds, a contradiction with a dependent, a revision, a forgetting."""
    for number in numbers:
        parents = [f"m{number - 1}"] if number % 3 == 1 else []
        against = [f"m{number - 2}"] if number % 5 == 4 else []
        history.remember(f"m{number}", text_of(number), about=[f"e{number % 4}"], on=parents, against=against, key=f"k{number}")
    history.commit()


def contents(store: SqliteStore) -> dict[str, str]:
    with store.read() as view:
        keys = view.export_keys(None, 0, 100_000, every_status=True)
        return {record.memory_id: record.content for record in view.records(keys).values()}


def expected(until: int) -> dict[str, str]:
    return {f"m{number}": text_of(number) for number in range(until)}


def is_sound(store: SqliteStore) -> bool:
    return store.writer_connection.execute("PRAGMA integrity_check").get == "ok"


@pytest.mark.parametrize(("error", "raised"), [(apsw.FullError, ResourceExhausted), (apsw.IOError, Unavailable)])
def test_a_fault_at_any_write_of_a_batch_loses_that_batch_whole_and_nothing_else(
    error: type[apsw.Error], raised: type[HydraMindError], disk: tuple[Disk, str], tmp_path: Path
) -> None:
    seen, vfs = disk
    store = SqliteStore.open(tmp_path / FILE_NAME, Durability(vfs=vfs))
    history = History(store, index=index_terms)
    work(history, range(10))
    number, after = 10, 1
    while True:
        seen.faults.count, seen.faults.error, seen.faults.after = 0, error, after
        try:
            work(History(store, index=index_terms), range(number, number + 5))
        except raised:
            seen.faults.after = None
            work(History(store, index=index_terms), range(number, number + 5))
        else:
            break
        number += 5
        after += 1 if after < 6 else 7
    seen.faults.after = None
    store.close()
    assert after > 6
    with_others = SqliteStore.open(tmp_path / FILE_NAME)
    assert contents(with_others) == expected(number + 5)
    assert list(with_others.verify()) == []
    assert with_others.status().missing_sequences == ()
    with_others.close()


def test_after_a_fault_every_further_call_on_the_batch_fails_alike(disk: tuple[Disk, str], tmp_path: Path) -> None:
    seen, vfs = disk
    store = SqliteStore.open(tmp_path / FILE_NAME, Durability(vfs=vfs))
    history = History(store, index=index_terms)
    work(history, range(4))
    history.remember("m4", "one")
    batch = history.batch
    seen.faults.count, seen.faults.after = 0, 1
    for call in (batch.commit, batch.commit, batch.savepoint, batch.undo, batch.release):
        with pytest.raises(ResourceExhausted) as refused:
            call()
        assert refused.value.reason == "DISK_FULL"
    batch.rollback()
    seen.faults.after = None
    work(History(store, index=index_terms), range(4, 8))
    store.close()


def test_a_full_disk_stops_writing_only_and_only_for_as_long_as_it_is_full(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / FILE_NAME)
    work(History(store), range(10))
    pages = store.writer_connection.execute("PRAGMA page_count").get
    store.writer_connection.execute(f"PRAGMA max_page_count={pages}")
    big = History(store)
    big.remember("big", "many words " * 5_000)
    with pytest.raises(ResourceExhausted):
        big.commit()
    assert contents(store) == expected(10)
    store.writer_connection.execute("PRAGMA max_page_count=1000000")
    work(History(store), range(10, 20))
    assert contents(store) == expected(20)
    store.close()


def trace(seen: Disk, durability: Durability, folder: Path, batches: int) -> None:
    """Many batches with checkpoints between them, on a disk that remembers."""
    store = SqliteStore.open(folder / FILE_NAME, durability)
    for number in range(batches):
        history = History(store, index=index_terms)
        work(history, range(number * 4, number * 4 + 4))
        seen.acknowledged(number * 4 + 4)
        if number % 5 == 3:
            store.maintain()
    store.close()


def cut_power(cuts: int, seed: int, disk: tuple[Disk, str], tmp_path: Path, *, fsync: bool = True) -> None:
    seen, vfs = disk
    made = tmp_path / "made"
    made.mkdir()
    trace(seen, Durability(fsync=fsync, vfs=vfs), made, 16)
    rng = random.Random(seed)
    for number in range(cuts):
        files, acknowledged = after_power_cut(seen.ops[: rng.randrange(len(seen.ops))], rng)
        folder = tmp_path / f"cut-{number}"
        folder.mkdir()
        lay_out(files, folder)
        store = SqliteStore.open(folder / FILE_NAME)
        found = contents(store)
        assert len(found) >= acknowledged, number
        assert found == expected(len(found)), number
        assert len(found) % 4 == 0, number
        assert is_sound(store), number
        if number % 15 == 0:
            assert list(store.verify()) == [], number
        work(History(store, index=index_terms), range(len(found), len(found) + 4))
        store.close()
        shutil.rmtree(folder)


def test_thirty_power_cuts_lose_nothing_acknowledged(disk: tuple[Disk, str], tmp_path: Path) -> None:
    cut_power(30, 1, disk, tmp_path)


def test_power_cuts_show_when_a_store_does_not_sync(disk: tuple[Disk, str], tmp_path: Path) -> None:
    with pytest.raises((AssertionError, StoreError)):
        cut_power(30, 1, disk, tmp_path, fsync=False)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_five_hundred_power_cuts_lose_nothing_acknowledged(disk: tuple[Disk, str], tmp_path: Path) -> None:
    cut_power(500, 2, disk, tmp_path)


def filled(folder: Path, memories: int = 40, *, checkpoint: int = 0) -> Path:
    """A store as `kill -9` leaves it: its log is not moved into the file. Returns a copy's path."""
    store = SqliteStore.open(folder / FILE_NAME)
    for start in range(0, memories, 4):
        work(History(store, index=index_terms), range(start, start + 4))
        if start + 4 == checkpoint:
            store.maintain()
    copy = folder / "copy"
    copy.mkdir()
    for entry in folder.glob(f"{FILE_NAME}*"):
        if not entry.name.endswith("-shm"):
            shutil.copyfile(entry, copy / entry.name)
    store.close()
    return copy / FILE_NAME


def flip(path: Path, offset: int, length: int = 16) -> None:
    data = bytearray(path.read_bytes())
    data[offset : offset + length] = bytes(byte ^ 0xFF for byte in data[offset : offset + length])
    path.write_bytes(data)


def test_damage_in_the_log_keeps_what_precedes_it_and_says_what_is_missing(tmp_path: Path) -> None:
    path = filled(tmp_path)
    log, _ = companions(path)
    flip(log, log.stat().st_size * 2 // 3)
    store = SqliteStore.open(path)
    found, status = contents(store), store.status()
    kept = len(found)
    assert 0 < kept < 40
    assert found == expected(kept)
    assert status.missing_sequences == (f"{kept + 1}-40",)
    assert [name for name in status.quarantined_files if name.startswith(log.name)] == [f"{log.name}.damaged-1"]
    assert (path.parent / f"{log.name}.damaged-1").stat().st_mode & 0o777 == 0o600
    work(History(store, index=index_terms), range(kept, kept + 4))
    assert store.status().sequence == 44
    assert list(store.verify()) == []
    store.close()
    again = SqliteStore.open(path)
    assert again.status().missing_sequences == (f"{kept + 1}-40",)
    assert len(contents(again)) == kept + 4
    again.close()


@pytest.mark.parametrize("cut", [1, 100, 4_120, 30_000])
def test_a_log_that_lost_its_end_keeps_what_precedes_it_and_says_what_is_missing(cut: int, tmp_path: Path) -> None:
    path = filled(tmp_path)
    log, _ = companions(path)
    log.write_bytes(log.read_bytes()[:-cut])
    store = SqliteStore.open(path)
    kept = len(contents(store))
    assert contents(store) == expected(kept)
    assert store.status().missing_sequences == (f"{kept + 1}-40",)
    assert store.status().quarantined_files != ()
    store.close()


@pytest.mark.parametrize("torn", [24, 2_000, 4_100])
def test_a_frame_that_a_kill_cut_off_before_its_commit_is_no_damage(torn: int, tmp_path: Path) -> None:
    path = filled(tmp_path)
    log, _ = companions(path)
    whole = log.read_bytes()
    log.write_bytes(whole + whole[32 : 32 + torn])  # a frame of this log that was being written and never ended
    store = SqliteStore.open(path)
    assert contents(store) == expected(40)
    assert (store.status().missing_sequences, store.status().quarantined_files) == ((), ())
    assert list(store.verify()) == []
    store.close()


def test_a_log_with_a_damaged_head_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = filled(tmp_path, checkpoint=20)
    log, _ = companions(path)
    flip(log, 0, 32)
    store = SqliteStore.open(path)
    assert contents(store) == expected(20)
    assert store.status().missing_sequences == ("21-40",)
    store.close()


def test_a_log_of_zeros_or_noise_is_no_reason_not_to_start(tmp_path: Path) -> None:
    for name, noise in (("zeros", bytes(40_000)), ("noise", random.Random(1).randbytes(40_000))):
        folder = tmp_path / name
        folder.mkdir()
        path = filled(folder, checkpoint=40)
        companions(path)[0].write_bytes(noise)
        store = SqliteStore.open(path)
        assert contents(store) == expected(40)
        store.close()


def in_file(folder: Path) -> Path:
    """A store that is wholly in its main file, closed."""
    store = SqliteStore.open(folder / FILE_NAME)
    for start in range(0, 200, 4):
        work(History(store, index=index_terms), range(start, start + 4))
    store.close()
    return folder / FILE_NAME


def test_a_damaged_head_of_the_file_is_survived_and_the_old_file_is_kept_by_name(tmp_path: Path) -> None:
    path = in_file(tmp_path)
    flip(path, 0, 100)
    store = SqliteStore.open(path)
    assert contents(store) == expected(200)
    assert store.status().missing_sequences == ()
    assert store.status().quarantined_files == (f"{FILE_NAME}.damaged-1",)
    assert list(store.verify()) == []
    work(History(store, index=index_terms), range(200, 204))
    store.close()


def test_damage_that_is_met_while_running_stops_writing_and_is_recovered_at_the_next_start(tmp_path: Path) -> None:
    path = in_file(tmp_path)
    size = path.stat().st_size
    for page in range(size // 4096 // 3, size // 4096 // 2):
        flip(path, page * 4096, 4096)
    store = SqliteStore.open(path)
    problems = list(store.verify())
    assert problems
    try:
        contents(store)
    except Internal as error:
        assert error.reason == "STORE_DAMAGED"  # noqa: PT017 - whether reading meets the damage depends on which pages it hit
        with pytest.raises(Unavailable):
            store.begin()
    store.close()
    again = SqliteStore.open(path)
    found, status = contents(again), again.status()
    missing = {n for part in status.missing_sequences for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
    assert found
    assert found == {f"m{n - 1}": text_of(n - 1) for n in range(1, 201) if n not in missing}
    assert status.quarantined_files == (f"{FILE_NAME}.damaged-1",)
    assert list(again.verify()) == []
    work(History(again, index=index_terms), range(300, 304))
    assert again.status().sequence == 204
    again.close()


@pytest.mark.parametrize("content", [b"this is not a database at all\n" * 500, bytes(20_000)])
def test_a_file_of_which_nothing_can_be_read_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(content)
    with pytest.raises(Damaged) as refused:
        SqliteStore.open(path)
    assert refused.value.exit_code == 65
    assert path.read_bytes() == content
    assert [entry.name for entry in tmp_path.iterdir() if "recovering" in entry.name or "reading" in entry.name] == []


def test_a_database_of_somebody_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)")
    other.close()
    with pytest.raises(Damaged):
        SqliteStore.open(path)
    assert apsw.Connection(str(path)).execute("SELECT a FROM t").get == 1


def test_a_newer_schema_is_refused_with_exit_65_and_left_alone(tmp_path: Path) -> None:
    path = in_file(tmp_path)
    newer = apsw.Connection(str(path))
    newer.execute("PRAGMA user_version=99")
    newer.close()
    with pytest.raises(NewerSchema) as refused:
        SqliteStore.open(path)
    assert refused.value.exit_code == 65
    assert refused.value.metadata == {"schema": "99", "known": "1"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unwritable) as refused:
        SqliteStore.open(tmp_path / "file" / FILE_NAME)
    assert isinstance(refused.value, StoreError)
    assert refused.value.exit_code in {73, 77}
    assert str(tmp_path / "file") in refused.value.message


def test_a_thousand_varied_texts_survive_reopening_after_every_fifty(tmp_path: Path) -> None:
    rng = random.Random(11)
    alphabet = "abc defg hij " + "éüß漢字かな한글🙂\u200d\n\t\"'\\%_;--" + "".join(map(chr, range(0x400, 0x440)))
    texts = {f"t{n}": f"{n} " + "".join(rng.choices(alphabet, k=rng.randint(50, 1_000))) for n in range(1_000)}
    store = SqliteStore.open(tmp_path / FILE_NAME)
    for number, (name, text) in enumerate(texts.items(), 1):
        history = History(store)
        history.remember(name, text)
        history.commit()
        if number % 50 == 0:
            store.close()
            store = SqliteStore.open(tmp_path / FILE_NAME)
    assert contents(store) == texts
    assert store.status().missing_sequences == ()
    assert is_sound(store)
    store.close()

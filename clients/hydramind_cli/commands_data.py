"""Commands about whole scopes and the store: import, export, purge, backup, verify, rebuild."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

import click

from hydramind_cli import draw
from hydramind_cli.context import Shell, command
from hydramind_cli.exit_codes import ExitCode
from hydramind_cli.output import Output, clean, size
from hydramind_cli.records import BadLine, Line, SkippedLine, read_lines
from hydramind_client import model as m
from hydramind_client.render import JsonObject

_SHOWN_ERRORS = 20
_PAGE = 500


@contextmanager
def progress(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr if that is a terminal, else nothing. Gives the function that moves it on."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda step: bar.advance(task, step)


@dataclass(slots=True)
class Tally:
    """What came of an import so far."""

    imported: int = 0
    already_there: int = 0
    skipped: int = 0
    conflicts: int = 0
    refused: list[BadLine] = field(default_factory=list)

    def take(self, outcome: m.ImportOutcome) -> None:
        """Count the outcome of one record."""
        if outcome.error is not None:
            self.refused.append(BadLine(outcome.line, outcome.error.message, outcome.error.field or ""))
            return
        self.already_there += outcome.already_there
        self.imported += not outcome.already_there
        self.conflicts += outcome.conflicts

    def to_json(self) -> JsonObject:
        """The summary, refused lines in the order of the file."""
        return {
            "imported": self.imported,
            "already_there": self.already_there,
            "skipped": self.skipped,
            "conflicts": self.conflicts,
            "refused": [_refused(bad) for bad in sorted(self.refused, key=lambda bad: bad.line)],
        }


def _refused(bad: BadLine) -> JsonObject:
    found: JsonObject = {"line": bad.line, "message": bad.message}
    if bad.field:
        found["field"] = bad.field
    return found


@command("import")
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False), default="-")
@click.option("--restore", is_flag=True, help="Keep the records' created_at, to bring an export back as it was.")
def import_command(shell: Shell, file: str, restore: bool) -> int:
    """Store the lines of FILE (or stdin), one JSON object each.

    Fields: content, id, scope, entities, derived_from, source, valid_from, valid_to, created_at, supersedes, reason. Lines that
    `export` wrote are understood. --scope puts every record there; else the record's own scope holds, else the usual one.

    A bad line is reported with its number and stops nothing; the command then exits with 65. A second run changes nothing.
    """
    tally = Tally()
    try:
        total = _lines_of(file)
        with click.open_file(file, "rb") as opened, shell.client() as client, progress("importing", total) as step:
            records = _records(read_lines(opened), tally, step, override=shell.scope)
            for outcome in client.import_(records, None, restore=restore):
                tally.take(outcome)
                step(1)
    except FileNotFoundError as error:
        sys.stderr.write(f"hydramind: {error.filename}: {error.strerror}\n")
        return ExitCode.NOT_FOUND
    out = shell.out
    if out.as_json:
        out.json(tally.to_json())
    else:
        _import_summary(out, tally)
    return ExitCode.DATA if tally.refused else ExitCode.OK


def _records(
    lines: Iterator[Line], tally: Tally, step: Callable[[int], None], *, override: str | None
) -> Iterator[m.ImportRecord]:
    for line in lines:
        if isinstance(line, BadLine):
            tally.refused.append(line)
            step(1)
        elif isinstance(line, SkippedLine):
            tally.skipped += 1
            step(1)
        else:
            yield line if override is None else replace(line, scope="")


def _lines_of(file: str) -> int | None:
    """Lines of a file that are not blank, for a progress bar with an end; None when nobody sees it or it cannot be known."""
    if not sys.stderr.isatty() or not Path(file).is_file():
        return None
    with Path(file).open("rb") as opened:
        return sum(1 for line in opened if line.strip())


def _import_summary(out: Output, tally: Tally) -> None:
    for bad in sorted(tally.refused, key=lambda bad: bad.line)[:_SHOWN_ERRORS]:
        sys.stderr.write(f"line {bad.line}: {clean(bad.message)}\n")
    if len(tally.refused) > _SHOWN_ERRORS:
        sys.stderr.write(f"and {len(tally.refused) - _SHOWN_ERRORS} more; --json lists all\n")
    sign = (f"{out.signs.bad} ", "red") if tally.refused else (f"{out.signs.ok} ", "green")
    parts = [f"{tally.imported} imported", f"{tally.already_there} already there"]
    parts += [f"{tally.conflicts} contradictions"] if tally.conflicts else []
    parts += [f"{tally.skipped} forgotten or purged, left out"] if tally.skipped else []
    parts += [f"{len(tally.refused)} refused"] if tally.refused else []
    out.line(sign, ", ".join(parts))


@command("export")
@click.argument("file", type=click.Path(allow_dash=True, dir_okay=False), default="-")
@click.option("--all", "include_all", is_flag=True, help="Also forgotten memories and tombstones of purged ones.")
@click.option("--every-scope", is_flag=True, help="Every scope.")
@click.option("--as-of", metavar="TIME", help="Only what held at this time.")
@click.option("--known-at", metavar="TIME", help="What was known at this time, or at a commit sequence (seq:42).")
def export_command(shell: Shell, file: str, include_all: bool, every_scope: bool, as_of: str | None, known_at: str | None) -> int:
    """Write memories to FILE (or stdout) as JSON Lines, in commit order. `import` reads them."""
    count = 0
    with shell.client() as client:
        found = client.export(None, include_all=include_all, every_scope=every_scope, as_of=as_of, known_at=known_at)
        if file == "-":
            for memory in found:
                shell.out.json_line(memory)
            return ExitCode.OK
        with progress("exporting", None) as step, _new_file(Path(file)) as opened:
            out = Output(stream=opened)
            for memory in found:
                out.json_line(memory)
                count += 1
                step(1)
    if shell.as_json:
        shell.out.json({"path": str(Path(file).absolute()), "memories": count})
    else:
        shell.out.line((f"{shell.out.signs.ok} ", "green"), f"{count} memories written to {file}")
    return ExitCode.OK


@contextmanager
def _new_file(path: Path) -> Iterator[IO[str]]:
    """A file of the user alone that appears whole or not at all."""
    part = path.with_name(path.name + ".part")
    with open(part, "w", encoding="utf-8", opener=_private) as opened:
        try:
            yield opened
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    part.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@command("purge")
@click.argument("memory_ids", nargs=-1, metavar="[MEMORY_ID]...")
@click.option("--all-in-scope", is_flag=True, help="Every memory that the scope lists (active, contradicted, superseded).")
@click.option("--reason", "-r", required=True, metavar="TEXT", help="Why.")
@click.option("--dry-run", is_flag=True, help="Only say what would be erased.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
def purge_command(shell: Shell, memory_ids: Sequence[str], all_in_scope: bool, reason: str, dry_run: bool, yes: bool) -> int:
    """Erase the content of memories for good. Their ids stay as tombstones. Needs --scope; asks before it erases."""
    if not shell.scope:
        raise click.UsageError("purge needs --scope: it never guesses which memories you mean.")
    if bool(memory_ids) == all_in_scope:
        raise click.UsageError("Name memories, or give --all-in-scope.")
    out = shell.out
    with shell.client() as client:
        ids = _all_ids(client.list_memories) if all_in_scope else list(memory_ids)
        planned = [client.purge(part, shell.scope, reason, dry_run=True) for part in _parts(ids)]
        count = sum(len(plan.memory_ids) for plan in planned)
        if not dry_run and count and not yes:
            _confirm(count, shell.scope)
        answers = planned if dry_run else [client.purge(part, shell.scope, reason) for part in _parts(ids)]
    if out.as_json:
        out.json(_joined(answers, shell.scope, dry_run=dry_run))
        return ExitCode.OK
    says = "would be erased" if dry_run else "erased"
    out.line((f"{out.signs.ok} {count} {says} in scope {clean(shell.scope)}", "yellow" if dry_run else "green"))
    for answer in answers:
        draw.withdrawn(out, answer.withdrawn)
    return ExitCode.OK


def _confirm(count: int, scope: str) -> None:
    if not sys.stdin.isatty():
        raise click.UsageError(f"{count} memories in scope {scope} would be erased; give --yes to do it without a terminal.")
    click.confirm(f"Erase {count} memories in scope {scope} for good?", abort=True, err=True)


def _joined(answers: Sequence[m.Purged], scope: str, *, dry_run: bool) -> JsonObject:
    return {
        "memory_ids": [i for answer in answers for i in answer.memory_ids],
        "withdrawn": [w.to_json() for answer in answers for w in answer.withdrawn],
        "dry_run": dry_run,
        "scope": scope,
    }


def _parts(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[i : i + _PAGE] for i in range(0, len(ids), _PAGE)]


def _all_ids(page: Callable[..., m.MemoryList]) -> list[str]:
    ids: list[str] = []
    token = ""
    statuses = [m.Status.ACTIVE, m.Status.CONTRADICTED, m.Status.SUPERSEDED]
    while True:
        found = page(None, statuses, None, _PAGE, token)
        ids += [memory.memory_id for memory in found.memories]
        token = found.next_page_token
        if not token:
            return ids


@command("backup")
@click.argument("path", type=click.Path(dir_okay=False))
def backup_command(shell: Shell, path: str) -> None:
    """Write a consistent copy of the store to the new file PATH, while everything goes on."""
    with shell.client() as client:
        answer = client.backup(str(Path(path).absolute()))
    if shell.as_json:
        shell.out.json(answer)
    else:
        shell.out.line(
            (f"{shell.out.signs.ok} ", "green"), f"{answer.path}, {size(answer.size_bytes)}, up to sequence {answer.sequence}"
        )


@command("verify")
def verify_command(shell: Shell) -> int:
    """Check the store: file integrity, and that trust and indexes equal what the log says. Problems: exit 1."""
    with shell.client() as client:
        answer = client.verify()
    out = shell.out
    if out.as_json:
        out.json(answer)
    else:
        for problem in answer.problems:
            out.line((f"{out.signs.bad} ", "red"), clean(problem))
        sign = (f"{out.signs.ok} sound: ", "green") if answer.ok else (f"{out.signs.bad} not sound: ", "red")
        out.line(sign, f"{answer.memories} memories and {answer.records} log records checked")
    return ExitCode.OK if answer.ok else ExitCode.FAILED


@command("rebuild")
def rebuild_command(shell: Shell) -> None:
    """Build everything that is derived (trust, indexes) anew from the commit log."""
    with shell.client() as client:
        answer = client.rebuild()
    if shell.as_json:
        shell.out.json(answer)
    else:
        shell.out.line((f"{shell.out.signs.ok} ", "green"), f"{answer.memories} memories from {answer.records} log records")

"""Commands that write memories, ask for them, or settle what they disagree about."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from hydramind_cli import draw
from hydramind_cli.context import Shell, command
from hydramind_cli.output import Output, clean, day
from hydramind_client import model as m
from hydramind_client.client import Client
from hydramind_client.errors import HydraMindError, InvalidArgument

_DRAWN_DECAYS = 30

_ENTITY = click.option("--entity", "-e", "entities", multiple=True, metavar="NAME", help="What it is about. Repeat for more.")
_KEY = click.option("--idempotency-key", metavar="KEY", help="The same key stores once.")
_VALID_FROM = click.option(
    "--valid-from", metavar="TIME", help="From when it holds: a date, or a date-time with offset. Default: now."
)


def content_of(argument: str | None, name: str = "content") -> str:
    """The text of an argument; `-`, or nothing with something piped in, means stdin."""
    if argument not in (None, "-"):
        assert argument is not None
        return argument
    if argument is None and sys.stdin.isatty():
        raise click.UsageError(f"Give the {name} as an argument, or - to read it from stdin.")
    data = sys.stdin.buffer.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgument.of(name, f"stdin is not UTF-8 (byte {error.start})") from None
    return text.removesuffix("\n")


@command("remember")
@click.argument("content", required=False)
@_ENTITY
@click.option("--derived-from", "-d", multiple=True, metavar="ID", help="A memory that it was concluded from. Repeat for more.")
@click.option("--source", metavar="TEXT", help="Where it comes from.")
@_VALID_FROM
@_KEY
def remember_command(
    shell: Shell,
    content: str | None,
    entities: Sequence[str],
    derived_from: Sequence[str],
    source: str | None,
    valid_from: str | None,
    idempotency_key: str | None,
) -> None:
    """Store CONTENT (or stdin). What it contradicts, and what was derived from that, loses trust."""
    text = content_of(content)
    with shell.client() as client:
        answer = client.remember(text, None, entities, derived_from, source, valid_from, idempotency_key)
        out = shell.out
        if out.as_json:
            out.json(answer)
            return
        done = "already known" if answer.duplicate else "replayed" if answer.replayed else "remembered"
        written(out, client, answer, done)


def written(out: Output, client: Client, answer: m.Remembered, done: str) -> None:
    """What a write did: the memory, and a tree of every trust that it moved."""
    out.line(
        (f"{out.signs.ok} {done} ", "green"),
        answer.memory_id,
        "  trust ",
        out.trust(answer.trust_score),
        " ",
        out.bar(answer.trust_score),
    )
    if answer.echo:
        out.line(("  it repeats what was just recalled and counts as no new evidence", "yellow"))
    if answer.entities:
        out.line(("  about ", "dim"), draw.entities_text(answer.entities))
    if answer.conflicts:
        out.line()
        draw.tree(out, moved(client, answer))
    shown = min(_DRAWN_DECAYS, len(answer.decayed))
    if answer.conflicts and answer.decayed_total > shown:
        out.line((f"  and {answer.decayed_total - shown} more lost trust", "dim"))
    if answer.still_spreading:
        out.line(("  still spreading", "yellow"))
    draw.scope_line(out, answer.scope, answer.scope_from)


def moved(client: Client, answer: m.Remembered) -> list[draw.Node]:
    """Contradicted memories with their decayed dependents beneath."""
    decays = answer.decayed[:_DRAWN_DECAYS]
    contents, parents = _labels(client, answer.scope, [d.memory_id for d in decays])
    roots = []
    placed: set[str] = set()
    for conflict in answer.conflicts:
        note = f"contradicted: {conflict.reason_code}"
        root = draw.Node(
            conflict.memory_id, conflict.old_content or conflict.memory_id, conflict.before_trust, conflict.after_trust, note
        )
        mine = [d for d in decays if d.memory_id not in placed and _reaches(d.memory_id, conflict.memory_id, parents)]
        placed |= {d.memory_id for d in mine}
        roots.append(draw.grow(root, mine, contents, parents))
    rest = [d for d in decays if d.memory_id not in placed]
    if rest and roots:
        roots[0] = draw.grow(roots[0], [*rest], contents, parents) if not roots[0].children else roots[0]
    return roots


def _reaches(start: str, goal: str, parents: dict[str, tuple[str, ...]]) -> bool:
    """Whether `goal` is above `start` along the parents that are known."""
    waiting, seen = [start], {start}
    while waiting:
        for parent in parents.get(waiting.pop(), ()):
            if parent == goal:
                return True
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False


def _labels(client: Client, scope: str, ids: Sequence[str]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Contents and parents of memories; one that cannot be read any more is left out."""
    contents: dict[str, str] = {}
    parents: dict[str, tuple[str, ...]] = {}
    for memory_id in ids:
        try:
            found = client.get_memory(memory_id, scope)
        except HydraMindError:
            continue
        contents[memory_id] = found.memory.content
        parents[memory_id] = found.derived_from
    return contents, parents


@command("recall")
@click.argument("query", required=False)
@click.option(
    "--entity", "-e", "entities", multiple=True, metavar="NAME", help="Only memories about this. Repeat for any of several."
)
@click.option("--limit", "-n", type=click.IntRange(1, 100), help="At most this many. Default: the setting recall.limit.")
@click.option("--as-of", metavar="TIME", help="What held at this time.")
@click.option("--known-at", metavar="TIME", help="What was known at this time, or at a commit sequence (seq:42).")
@click.option("--include", multiple=True, type=click.Choice(["superseded"]), help="Also memories of this status.")
@click.option("--newest", is_flag=True, help="Newest first.")
def recall_command(
    shell: Shell,
    query: str | None,
    entities: Sequence[str],
    limit: int | None,
    as_of: str | None,
    known_at: str | None,
    include: Sequence[str],
    newest: bool,
) -> None:
    """Find memories for QUERY (or stdin), best first. Abstains when nothing stored answers it; that exits with 0, too."""
    text = content_of(query, "query")
    order = m.Order.NEWEST if newest else None
    with shell.client() as client:
        answer = client.recall(text, None, entities, limit, as_of, known_at, include, order)
    out = shell.out
    if out.as_json:
        out.json(answer)
    else:
        draw.recalled(out, answer)


@command("revise")
@click.argument("memory_id")
@click.argument("content", required=False)
@click.option("--reason", "-r", required=True, metavar="TEXT", help="Why it changed.")
@click.option("--source", metavar="TEXT", help="Where the new fact comes from.")
@_VALID_FROM
@click.option(
    "--expected-version", type=click.IntRange(min=1), metavar="N", help="Refuse (75) when the memory has another version."
)
@_KEY
def revise_command(
    shell: Shell,
    memory_id: str,
    content: str | None,
    reason: str,
    source: str | None,
    valid_from: str | None,
    expected_version: int | None,
    idempotency_key: str | None,
) -> None:
    """Replace MEMORY_ID by CONTENT (or stdin). The old version keeps its history."""
    text = content_of(content)
    with shell.client() as client:
        answer = client.revise(memory_id, text, None, reason, valid_from, expected_version, idempotency_key, source)
        out = shell.out
        if out.as_json:
            out.json(answer)
            return
        written(out, client, answer, "revised as")
        out.line(("  replaces ", "dim"), answer.superseded_id, (f", which held until {day(answer.valid_from)}", "dim"))
        if answer.dependents:
            out.line(("  derived from the old version: ", "dim"), ", ".join(answer.dependents))


@command("check")
@click.argument("content", required=False)
@_ENTITY
def check_command(shell: Shell, content: str | None, entities: Sequence[str]) -> None:
    """Say what CONTENT (or stdin) would contradict. Stores nothing."""
    text = content_of(content)
    with shell.client() as client:
        answer = client.check_conflict(text, None, entities)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    checked(out, answer)
    draw.scope_line(out, answer.scope, answer.scope_from)


def checked(out: Output, answer: m.ConflictCheck) -> None:
    """Result of a check."""
    draw.conflicts(out, answer.conflicts, would=True)
    for decay in answer.would_decay:
        out.line(
            f"    {decay.memory_id}  ", *out.change(decay.before_trust, decay.after_trust), (f"  derived, hop {decay.hop}", "dim")
        )
    if not answer.conflicts:
        out.line((f"{out.signs.ok} it contradicts nothing", "green"))
    if answer.duplicate_of:
        out.line("  the same claim is stored as ", answer.duplicate_of)
    skipped = f", {answer.candidates_skipped} not (over the limit)" if answer.candidates_skipped else ""
    checked = answer.candidates_checked
    out.line((f"  compared with {checked} {'memory' if checked == 1 else 'memories'}{skipped}", "dim"))
    if not checked:
        out.line(("  nothing stored shares a name or most of its words; --entity says what a claim is about", "dim"))


@command("forget")
@click.argument("memory_id")
@click.option("--reason", "-r", metavar="TEXT", help="Why.")
@_KEY
def forget_command(shell: Shell, memory_id: str, reason: str | None, idempotency_key: str | None) -> None:
    """Take MEMORY_ID out of recall, and give back the trust that it took from others. Its audit trail stays."""
    with shell.client() as client:
        answer = client.forget(memory_id, None, reason, idempotency_key)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    out.line((f"{out.signs.ok} forgotten ", "green"), answer.memory_id)
    draw.withdrawn(out, answer.withdrawn)
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("resolve")
@click.argument("memory_id")
@click.argument("other_id")
@click.argument("verdict", type=click.Choice(["stands", "dismissed"]))
@click.option("--reason", "-r", required=True, metavar="TEXT", help="Why.")
@_KEY
def resolve_command(shell: Shell, memory_id: str, other_id: str, verdict: str, reason: str, idempotency_key: str | None) -> None:
    """Settle the contradiction between two memories. `dismissed`: it is wrong, and every number goes back exactly."""
    with shell.client() as client:
        answer = client.resolve_conflict(memory_id, other_id, verdict, reason, None, idempotency_key)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    out.line(
        (f"{out.signs.ok} {answer.verdict.value} ", "green"), f"{answer.memory_id} {out.signs.arrow} {clean(answer.other_id)}"
    )
    draw.withdrawn(out, answer.withdrawn)
    draw.scope_line(out, answer.scope, answer.scope_from)

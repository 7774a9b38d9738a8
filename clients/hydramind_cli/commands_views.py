"""Commands that look: at history, provenance, trust, lists and events. None of them changes anything."""

from __future__ import annotations

from collections.abc import Sequence

import click

from hydramind_cli import draw
from hydramind_cli.context import Shell, command
from hydramind_cli.output import clean, count, day, minute
from hydramind_client import model as m

_AS_OF = click.option("--as-of", metavar="TIME", help="Only what held at this time.")
_KNOWN_AT = click.option("--known-at", metavar="TIME", help="What was known at this time, or at a commit sequence (seq:42).")
_TOKEN = click.option("--page-token", metavar="TOKEN", help="Where the page before ended.")
_RELATIONS = ["DERIVED_FROM", "ABOUT", "CONTRADICTS", "SUPERSEDED_BY", "TRUST_DECAY"]


def _more(shell: Shell, token: str) -> None:
    if token:
        shell.out.line((f"more: --page-token {token}", "dim"))


@command("timeline")
@click.option("--entity", "-e", metavar="NAME", help="Only facts about this.")
@click.option("--memory", "memory_id", metavar="ID", help="Only this memory's chain of revisions.")
@_AS_OF
@_KNOWN_AT
@click.option("--limit", "-n", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@_TOKEN
def timeline_command(
    shell: Shell,
    entity: str | None,
    memory_id: str | None,
    as_of: str | None,
    known_at: str | None,
    limit: int,
    page_token: str | None,
) -> None:
    """Show facts by the time from which they hold."""
    with shell.client() as client:
        answer = client.timeline(None, entity, memory_id, as_of, known_at, limit, page_token)
    out = shell.out
    if out.as_json:
        out.json(answer)
    else:
        draw.timeline(out, answer)


@command("trace")
@click.argument("memory_id")
@click.option("--hops", type=click.IntRange(1, 3), default=3, show_default=True, help="Longest path.")
@click.option(
    "--relation", "relations", multiple=True, type=click.Choice(_RELATIONS, case_sensitive=False), help="Only these edges."
)
@_AS_OF
@_KNOWN_AT
def trace_command(
    shell: Shell, memory_id: str, hops: int, relations: Sequence[str], as_of: str | None, known_at: str | None
) -> None:
    """Show what MEMORY_ID was derived from, what builds on it, and what it contradicts, as a tree."""
    with shell.client() as client:
        answer = client.trace_memory(memory_id, None, hops, relations, as_of, known_at)
    out = shell.out
    if out.as_json:
        out.json(answer)
    else:
        draw.trace(out, answer)


@command("explain")
@click.argument("memory_id")
@_AS_OF
@_KNOWN_AT
def explain_command(shell: Shell, memory_id: str, as_of: str | None, known_at: str | None) -> None:
    """Explain in words why MEMORY_ID has its trust, with everything that happened to it."""
    with shell.client() as client:
        answer = client.explain_trust(memory_id, None, as_of, known_at)
        out = shell.out
        if out.as_json:
            out.json(answer)
            return
        content = client.get_memory(memory_id, None, known_at).memory.content
    draw.explanation(out, answer, content)


@command("get")
@click.argument("memory_id")
@_KNOWN_AT
def get_command(shell: Shell, memory_id: str, known_at: str | None) -> None:
    """Show MEMORY_ID, also when it was forgotten or purged."""
    with shell.client() as client:
        answer = client.get_memory(memory_id, None, known_at)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    draw.memory(out, answer.memory, answer.derived_from)
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("list")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice(["active", "contradicted", "superseded"]),
    help="Only these. Repeat for more.",
)
@click.option("--entity", "-e", metavar="NAME", help="Only memories about this.")
@click.option("--limit", "-n", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@_TOKEN
def list_command(shell: Shell, statuses: Sequence[str], entity: str | None, limit: int, page_token: str | None) -> None:
    """List the memories of a scope, newest first: active and contradicted ones unless --status says otherwise."""
    with shell.client() as client:
        answer = client.list_memories(None, statuses, entity, limit, page_token)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    draw.memory_table(out, answer.memories)
    out.line((f"{len(answer.memories)} of {answer.total}", "dim"))
    _more(shell, answer.next_page_token)
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("entities")
@click.argument("contains", required=False)
@click.option("--limit", "-n", type=click.IntRange(1, 500), default=100, show_default=True, help="At most this many.")
@_TOKEN
def entities_command(shell: Shell, contains: str | None, limit: int, page_token: str | None) -> None:
    """List entities whose name CONTAINS this, those with most memories first."""
    with shell.client() as client:
        answer = client.list_entities(None, contains, limit, page_token)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    out.table(["MEMORIES", "KIND", "NAME"], [[str(e.memories), e.kind or "", e.name] for e in answer.entities])
    _more(shell, answer.next_page_token)
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("conflicts")
@click.option("--all", "include_dismissed", is_flag=True, help="Also those that were dismissed or withdrawn.")
@click.option("--limit", "-n", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many.")
@_TOKEN
def conflicts_command(shell: Shell, include_dismissed: bool, limit: int, page_token: str | None) -> None:
    """List contradictions with both sides, newest first."""
    with shell.client() as client:
        answer = client.list_conflicts(None, limit, page_token, include_dismissed=include_dismissed)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    for pair in answer.conflicts:
        decided = f", {pair.verdict.value}" if pair.verdict else ""
        state = ("stands" if pair.standing else "withdrawn") + decided
        out.line(
            (minute(pair.at), "cyan"),
            f"  {pair.reason_code}: {out.words(pair.reason)}",
            (f"  ({state})", "yellow" if pair.standing else "dim"),
        )
        for word, side in (("newer", pair.newer), ("older", pair.older)):
            out.line(
                (f"  {word}  ", "dim"),
                out.trust(side.trust_score),
                "  ",
                out.shorten(side.content, max(20, out.width - 44)),
                f"  {side.memory_id}",
            )
    if not answer.conflicts:
        out.line((f"{out.signs.ok} no contradictions", "green"))
    _more(shell, answer.next_page_token)
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("neighborhood")
@click.argument("memory_id")
@click.option("--hops", type=click.IntRange(1, 3), default=1, show_default=True, help="Distance.")
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=200, show_default=True, help="At most this many memories.")
@_KNOWN_AT
def neighborhood_command(shell: Shell, memory_id: str, hops: int, limit: int, known_at: str | None) -> None:
    """List the memories around MEMORY_ID, nearest first, and the edges among them."""
    with shell.client() as client:
        answer = client.get_neighborhood(memory_id, None, hops, limit, known_at)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    draw.memory_table(out, answer.memories)
    out.line()
    for edge in answer.edges:
        out.line(
            f"{edge.from_id} ",
            (f"{out.signs.arrow} {edge.type} {out.signs.arrow}", "cyan"),
            f" {edge.to_id}",
            ("" if edge.standing else "  (withdrawn)", "dim"),
        )
    out.line((f"{len(answer.memories)} of {answer.total}", "dim"))
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("scopes")
@click.option("--limit", "-n", type=click.IntRange(1, 500), default=100, show_default=True, help="At most this many.")
@_TOKEN
def scopes_command(shell: Shell, limit: int, page_token: str | None) -> None:
    """List scopes."""
    with shell.client() as client:
        answer = client.list_scopes(limit, page_token)
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    rows = [[s.scope, str(s.memories), minute(s.last_write_at), ", ".join(s.project_roots)] for s in answer.scopes]
    out.table(["SCOPE", "MEMORIES", "LAST WRITE", "PROJECT"], rows)
    _more(shell, answer.next_page_token)


@command("stats")
def stats_command(shell: Shell) -> None:
    """Count what a scope holds."""
    with shell.client() as client:
        answer = client.get_scope_stats()
    out = shell.out
    if out.as_json:
        out.json(answer)
        return
    for status in m.Status:
        out.line(out.status(status), f"  {getattr(answer, status.value)}")
    out.line(
        f"{count(answer.entities, 'entity', 'entities')}, {count(answer.standing_conflicts, 'standing contradiction')}, "
        f"last write {day(answer.last_write_at) or 'never'}"
    )
    draw.scope_line(out, answer.scope, answer.scope_from)


@command("watch")
@click.option(
    "--cursor",
    type=click.IntRange(min=0),
    metavar="N",
    help="After this commit sequence; 0: from the oldest kept. Default: from now.",
)
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Stop after this many events.")
@click.option("--all-scopes", is_flag=True, help="Every scope.")
def watch_command(shell: Shell, cursor: int | None, count: int | None, all_scopes: bool) -> None:
    """Print changes as they happen, until Ctrl-C. With --json one event a line. Survives restarts of the daemon."""
    out = shell.out
    with shell.client() as client:
        scopes = [] if all_scopes else [client.get_scope_stats().scope]
        for seen, event in enumerate(client.watch(cursor, scopes), 1):
            if out.as_json:
                out.json_line(event)
            elif isinstance(event, m.ResyncRequired):
                out.line((f"the thread is lost: {event.reason}; oldest {event.oldest}, newest {event.newest}", "yellow"))
            else:
                text = out.shorten(event.content or event.reason or "", max(20, out.width - 70))
                moved = out.change(event.before_trust, event.after_trust) if event.before_trust != event.after_trust else ()
                out.line(
                    (minute(event.at), "cyan"),
                    f"  {event.kind:<12} {event.memory_id}  ",
                    *moved,
                    ("  ", ""),
                    text,
                    (f"  [{clean(event.scope)}]", "dim"),
                )
            out.stream.flush()
            if seen == count:
                return

"""How answers look to people. Everything here reads an answer and writes lines; nothing here calls the daemon."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hydramind_cli.output import Output, Part, clean, columns, day, minute, text_of
from hydramind_client import model as m

_THRIFT = 3
_TIME = re.compile(r"^\d{4}-\d{2}-\d{2}T[\d:.]+Z ")  # the event's time has a column of its own


@dataclass(frozen=True, slots=True)
class Node:
    """A memory in a tree: its content and how its trust moved."""

    memory_id: str
    content: str
    before: float
    after: float
    note: str = ""
    children: tuple[Node, ...] = ()


def tree(out: Output, roots: Sequence[Node]) -> None:
    """Draw memories under the ones that they were derived from, numbers aligned in one column."""
    rows = [row for root in roots for row in _rows(out, root, "", "")]
    whole = max((columns(lead + text) for lead, text, _ in rows), default=0)
    width, tails = whole, [_tail(out, node, 0) for _, _, node in rows]
    for thrift in range(_THRIFT if out.width else 0):  # what is said beside a text shrinks before the text does
        tails = [_tail(out, node, thrift) for _, _, node in rows]
        width = min(whole, out.width - 4 - max(sum(columns(text_of(part)) for part in tail) for tail in tails))
        if width == whole:
            break
    for (lead, text, _), tail in zip(rows, tails, strict=True):
        shown = out.shorten(text, max(12, width - columns(lead)))
        out.line("  ", (lead, "dim"), shown, " " * (max(0, width - columns(lead + shown)) + 2), *tail)


def _tail(out: Output, node: Node, thrift: int) -> list[Part]:
    note = f" {node.note}" if node.note else ""
    return [*out.change(node.before, node.after, bar=thrift == 0, number=thrift < 2), (note, "dim")]


def _rows(out: Output, node: Node, lead: str, below: str) -> list[tuple[str, str, Node]]:
    rows = [(lead, " ".join(clean(node.content).split()), node)]
    for i, child in enumerate(node.children):
        last = i == len(node.children) - 1
        branch, under = (out.signs.corner, "   ") if last else (out.signs.tee, out.signs.pipe)
        rows += _rows(out, child, below + branch, below + under)
    return rows


def grow(root: Node, decays: Sequence[m.Decay], contents: Mapping[str, str], parents: Mapping[str, Sequence[str]]) -> Node:
    """`root` with its decayed dependents beneath, each under a parent one hop nearer, as far as parents are known."""
    hops = {root.memory_id: 0, **{decay.memory_id: decay.hop for decay in decays}}
    near: dict[str, list[m.Decay]] = {}
    for decay in decays:  # only nearer ones are above, so that a cycle ends
        above = [p for p in parents.get(decay.memory_id, ()) if p in hops and hops[p] < decay.hop]
        near.setdefault(max(above, key=hops.__getitem__, default=root.memory_id), []).append(decay)

    def node(decay: m.Decay) -> Node:
        content = contents.get(decay.memory_id, decay.memory_id)
        below = tuple(map(node, near.get(decay.memory_id, ())))
        return Node(decay.memory_id, content, decay.before_trust, decay.after_trust, f"hop {decay.hop}", below)

    return replace(root, children=tuple(map(node, near.get(root.memory_id, ()))))


def scope_line(out: Output, scope: str, source: m.ScopeSource | None) -> None:
    """Which scope was used, and why that one."""
    out.line(("scope ", "dim"), scope, (f" ({source.value})" if source else "", "dim"))


def entities_text(links: Sequence[m.EntityLink]) -> str:
    """Entities by name; those that were not named by the caller say how they were found."""
    return ", ".join(
        clean(link.name) if link.from_ is m.EntityOrigin.EXPLICIT else f"{clean(link.name)} ({link.from_.value})"
        for link in links
    )


def validity(out: Output, start: datetime | None, end: datetime | None) -> str:
    """From when until when a fact holds."""
    if end is None:
        return f"since {day(start)}"
    return f"{day(start)} {out.signs.arrow} {day(end)}"


def recalled(out: Output, answer: m.Recall) -> None:
    """What recall found, or that it abstains."""
    for number, hit in enumerate(answer.memories, 1):
        _hit(out, number, hit)
    if answer.abstained:
        out.line((f"{out.signs.dash} nothing is known. ", "bold yellow"), out.words(answer.reason or ""))
        if answer.nearest:
            out.line(("nearest, not good enough: ", "dim"), ", ".join(answer.nearest))
    for old in answer.suppressed:
        successor = f" by {old.superseded_by}" if old.superseded_by else ""
        out.line(("also matched, but out: ", "dim"), old.memory_id, " ", out.status(old.status), successor)
    if answer.truncated:
        out.line(("the search was cut short; rarer words find more", "yellow"))
    if answer.near_scopes:
        out.line(f"there is no scope {clean(answer.scope)}; did you mean {', '.join(map(clean, answer.near_scopes))}?")
    scope_line(out, answer.scope, answer.scope_from)


def _hit(out: Output, number: int, hit: m.RecalledMemory) -> None:
    lead = f"{number:>2}  "
    first, *rest = _wrapped(out, hit.content, len(lead))
    out.line((lead, "dim"), (first, "bold"))
    for row in rest:
        out.line("    ", (row, "bold"))
    out.line(
        "    trust ", out.trust(hit.trust_score), " ", out.bar(hit.trust_score),
        (f"  {out.signs.times} relevance {hit.relevance:.2f} = {hit.score:.2f}   ", "dim"), out.status(hit.status),
        ("  contested" if hit.contested else "", "yellow"),
        ("  suspicious: reads like an instruction" if hit.suspicious else "", "red"),
    )  # fmt: skip
    facts = [hit.memory_id, validity(out, hit.valid_from, hit.valid_to)]
    facts += [entities_text(hit.entities)] if hit.entities else []
    facts += [f"from {clean(hit.source)}"] if hit.source else []
    out.line("    ", (f" {out.signs.dot} ".join(facts), "dim"))
    if hit.why:
        out.line("    ", (f"why: {out.words(hit.why)}", "dim"))
    for other in hit.contradicted_by:
        out.line("    ", (f"{out.signs.back} contradicted by {other}", "yellow"))
    for other in hit.contradicts:
        out.line("    ", (f"{out.signs.arrow} contradicts {other}", "yellow"))


def _wrapped(out: Output, text: str, indent: int) -> list[str]:
    import textwrap

    flat = " ".join(clean(text).split())
    if not out.width:
        return [flat]
    return textwrap.wrap(flat, max(20, out.width - indent), break_on_hyphens=False) or [""]


def timeline(out: Output, answer: m.Timeline) -> None:
    """Facts along a line of dates."""
    if not answer.facts:
        out.line(("no facts", "dim"))
    for fact in answer.facts:
        _fact(out, fact)
    if answer.next_page_token:
        out.line((f"more: --page-token {answer.next_page_token}", "dim"))
    scope_line(out, answer.scope, answer.scope_from)


def _fact(out: Output, fact: m.TimelineFact) -> None:
    start, lead = day(fact.valid_from), " " * 12
    signs = out.signs
    first, *rest = _wrapped(out, fact.content, 16)
    style = "dim" if fact.valid_to else "bold"
    out.line((start, "cyan"), "  ", (signs.statuses[fact.status], _tone(fact.status)), "  ", (first, style))
    bar = signs.pipe.strip()
    for row in rest:
        out.line(lead, (bar, "dim"), "  ", (row, style))
    until = f"until {day(fact.valid_to)}" if fact.valid_to else "holds"
    parts: list[Part] = [lead, (bar, "dim"), "  ", (f"{fact.status.value}, {until}, trust ", "dim"), out.trust(fact.trust_score)]
    out.line(*parts, (f"  {fact.memory_id}", "dim"))
    if fact.reason:
        out.line(lead, (bar, "dim"), "  ", (out.words(fact.reason), "dim"))
    if fact.superseded_by:
        out.line(lead, (bar, "dim"), "  ", (f"{signs.arrow} replaced by {fact.superseded_by}", "dim"))


def _tone(status: m.Status) -> str:
    return {m.Status.ACTIVE: "green", m.Status.CONTRADICTED: "yellow"}.get(status, "dim")


_SAYS: Mapping[tuple[str, bool], str] = {
    ("DERIVED_FROM", True): "derived from",
    ("DERIVED_FROM", False): "basis of",
    ("CONTRADICTS", True): "contradicts",
    ("CONTRADICTS", False): "contradicted by",
    ("SUPERSEDED_BY", True): "superseded by",
    ("SUPERSEDED_BY", False): "supersedes",
    ("ABOUT", True): "about",
    ("ABOUT", False): "subject of",
    ("TRUST_DECAY", True): "lowered",
    ("TRUST_DECAY", False): "lowered by",
}


@dataclass(slots=True)
class _Branch:
    """A vertex in the tree of paths, with the branches that go on from it."""

    vertex: m.TraceVertex
    label: str
    standing: bool
    below: dict[tuple[str, str], _Branch]


def trace(out: Output, answer: m.Trace) -> None:
    """All paths as one tree from the asked memory."""
    if not answer.paths:
        out.line(("no edges lead from it", "dim"))
    roots: dict[str, _Branch] = {}
    for path in answer.paths:
        _grow_path(roots, path)
    for root in roots.values():
        _branch(out, root, "", "")
    if answer.truncated:
        out.line(("more than 100 paths; fewer --hops or --relation show the rest", "yellow"))
    scope_line(out, answer.scope, answer.scope_from)


def _grow_path(roots: dict[str, _Branch], path: m.TracePath) -> None:
    first = path.vertices[0]
    at = roots.setdefault(first.id, _Branch(first, "", standing=True, below={}))
    for vertex, edge in zip(path.vertices[1:], path.edges, strict=False):
        says = _SAYS.get((edge.type, edge.from_id == at.vertex.id), edge.type)
        at = at.below.setdefault((says, vertex.id), _Branch(vertex, says, edge.standing, {}))


def _branch(out: Output, branch: _Branch, lead: str, below: str) -> None:
    vertex = branch.vertex
    says = f"{branch.label}: " if branch.label else ""
    gone = "" if branch.standing else " (withdrawn)"
    room = out.width - columns(lead + says + gone) - 22
    text = out.shorten(vertex.label, max(20, room)) if out.width else " ".join(clean(vertex.label).split())
    parts: list[Part] = [(lead, "dim"), (says, "cyan"), (gone.lstrip() + " " if gone else "", "dim")]
    if vertex.kind == "entity":
        out.line(*parts, (f"[{text}]", "magenta"))
    else:
        status: list[Part] = ["  ", out.status(vertex.status)] if vertex.status else []
        trust: list[Part] = ["  ", out.trust(vertex.trust_score)] if vertex.trust_score is not None else []
        out.line(*parts, (text, "" if lead else "bold"), *trust, *status)
    branches = list(branch.below.values())
    for i, child in enumerate(branches):
        last = i == len(branches) - 1
        _branch(out, child, below + (out.signs.corner if last else out.signs.tee), below + ("   " if last else out.signs.pipe))


def explanation(out: Output, answer: m.TrustExplanation, content: str = "") -> None:
    """Trust in words, and the events behind it."""
    if content:
        out.paragraph(content, style="bold")
    out.line("trust ", out.trust(answer.trust_score), " ", out.bar(answer.trust_score), "   ", out.status(answer.status))
    out.paragraph(out.words(answer.explanation))
    if answer.still_spreading:
        out.line(("a change that touches it is still spreading", "yellow"))
    if answer.events:
        out.line()
    for event in answer.events:
        _event(out, event)
    if answer.dependents:
        out.line()
        out.line(
            ("derived from it: ", "dim"),
            ", ".join(f"{d.memory_id} (hop {d.hop}, {d.after_trust:.2f})" for d in answer.dependents),
        )
    scope_line(out, answer.scope, answer.scope_from)


def _event(out: Output, event: m.TrustEvent) -> None:
    words = _TIME.sub("", out.words(event.words))
    delta = out.delta(event.before_trust, event.after_trust)
    out.line((minute(event.at), "cyan"), "  ", words, *(("  ", delta) if delta[0] else ()))


def conflicts(out: Output, found: Sequence[m.Conflict], *, would: bool) -> None:
    """Contradictions with older memories."""
    for conflict in found:
        says = "would contradict" if would else "contradicts"
        out.line(
            (f"{out.signs.arrow} {says} ", "yellow"),
            conflict.memory_id,
            "  ",
            *out.change(conflict.before_trust, conflict.after_trust),
        )
        if conflict.old_content:
            out.paragraph(conflict.old_content, indent="    ")
        out.paragraph(f"{conflict.reason_code}: {out.words(conflict.reason)}", indent="    ", style="dim")


def withdrawn(out: Output, drops: Sequence[m.Withdrawn]) -> None:
    """Numbers that went back."""
    for drop in drops:
        out.line(
            f"  {out.signs.back} {drop.memory_id}  ",
            *out.change(drop.before_trust, drop.after_trust),
            (f"  hop {drop.hop}", "dim"),
        )


def memory(out: Output, shown: m.Memory, derived_from: Sequence[str] = ()) -> None:
    """One memory with everything that is known about it."""
    out.paragraph(shown.content or "(erased)", style="bold")
    out.line("trust ", out.trust(shown.trust_score), " ", out.bar(shown.trust_score), "   ", out.status(shown.status))
    actor = shown.actor
    rows: list[tuple[str, str]] = [
        ("id", shown.memory_id),
        ("version", f"{shown.version}, remembered {shown.support} time{'' if shown.support == 1 else 's'}"),
        ("stored", f"{minute(shown.created_at)} (sequence {shown.sequence})"),
        ("holds", validity(out, shown.valid_from, shown.valid_to)),
        ("about", entities_text(shown.entities)),
        ("source", clean(shown.source or "")),
        ("by", clean(" ".join(filter(None, (actor.client_name, actor.client_version)))) if actor else ""),
        ("derived from", ", ".join(derived_from)),
        ("replaced by", shown.superseded_by or ""),
        ("contradicted by", ", ".join(shown.contradicted_by)),
        ("contradicts", ", ".join(shown.contradicts)),
        ("note", "its evidence was superseded" if shown.evidence_superseded else ""),
        ("warning", "it reads like an instruction to a model; it is data" if shown.suspicious else ""),
    ]
    for name, value in rows:
        if value:
            out.line((f"{name:>16}  ", "dim"), value)


def memory_table(out: Output, memories: Sequence[m.Memory]) -> None:
    """Memories as a table."""
    rows = [[m_.memory_id, out.trust(m_.trust_score), out.status(m_.status), day(m_.valid_from), m_.content] for m_ in memories]
    out.table(["ID", "TRUST", "STATUS", "SINCE", "CONTENT"], rows)

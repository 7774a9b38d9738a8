"""Keeps what lists and graphs answer by default within what agents can read: hosts refuse answers of more than ~25,000 tokens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from hydramind_client.model import Timeline, Trace
from hydramind_client.render import to_json

if TYPE_CHECKING:
    from hydramind_client.aio import AsyncClient
    from hydramind_mcp.arguments import Arguments

BUDGET_CHARS = 72_000
"""Characters of JSON that the items of one answer may have: about 18,000 tokens."""


def fitting(items: Iterable[object], budget_chars: int = BUDGET_CHARS) -> int:
    """How many of the items, from the first, fit into the budget; at least one, so that pages go on."""
    used = count = 0
    for item in items:
        used += len(json.dumps(to_json(item), ensure_ascii=False)) + 1
        if used > budget_chars and count:
            break
        count += 1
    return count


def shortened(trace: Trace) -> Trace:
    """The trace with as many of its paths, shortest first, as fit; it says when that is not all."""
    fit = fitting(trace.paths)
    return trace if fit == len(trace.paths) else replace(trace, paths=trace.paths[:fit], truncated=True)


async def timeline(memory: AsyncClient, args: Arguments) -> Timeline:
    """A page of facts. Where no limit was asked for and the page would not fit, a shorter one; its token leads to the rest."""

    async def page(limit: int | None) -> Timeline:
        return await memory.timeline(
            args.scope,
            entity=args.optional("entity"),
            memory_id=args.optional("memory_id"),
            as_of=args.optional("as_of"),
            known_at=args.optional("known_at"),
            limit=limit,
            page_token=args.optional("page_token"),
        )

    asked = args.integer("limit")
    found = await page(asked)
    fit = fitting(found.facts)
    return found if asked is not None or fit == len(found.facts) else await page(fit)

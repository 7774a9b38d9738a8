"""A command on its way to the writer, and what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from hydramind_daemon.services.ports import ReadView
from hydramind_domain.model import Actor, Instant
from hydramind_domain.outcomes import Outcome
from hydramind_domain.plan import Plan
from hydramind_domain.snapshot import Snapshot

Look = Callable[[ReadView], None]
"""Looks at the store before the batch, on the writer thread: text work, candidates, verdicts."""

Planner = Callable[[Snapshot, Instant], tuple[Plan, Outcome]]
"""Plans a command on the state that its predecessors left; runs on the writer thread."""


@dataclass(frozen=True, slots=True)
class Committed:
    """A command that is durable: its commit sequence, its outcome, and whether an earlier call wrote it."""

    seq: int
    outcome: Outcome
    replayed: bool = False


@dataclass(slots=True, eq=False)
class Job:
    """What to plan, under which idempotency key, until when (monotonic seconds). `future` None: nobody waits."""

    method: str
    scope: str
    actor: Actor
    plan: Planner
    key: str = ""
    request_hash: bytes = b""
    deadline: float | None = None
    look: Look | None = None
    future: asyncio.Future[Committed] | None = None

    @property
    def abandoned(self) -> bool:
        """Whoever waited has gone."""
        return self.future is not None and self.future.done()

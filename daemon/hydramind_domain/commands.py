"""Commands as the rules see them: validated, resolved to one scope, with the text work already done."""

from __future__ import annotations

from dataclasses import dataclass

from hydramind_domain.model import Actor, EntityLink, FoundConflict, Instant
from hydramind_domain.plan import IndexTerms


@dataclass(frozen=True, slots=True)
class NewClaim:
    """The text of a new memory and what was found in it.

    `entities` are explicit and extracted ones, distinct by norm. `content_norm` is `text.normalise_content(content)`.
    `conflicts` are the classifier's verdicts on active candidates; those no longer active are ignored when planned.
    `index` may be None; the store then derives it.
    """

    memory_id: str
    content: str
    content_norm: str
    entities: tuple[EntityLink, ...] = ()
    conflicts: tuple[FoundConflict, ...] = ()
    suspicious: bool = False
    index: IndexTerms | None = None


@dataclass(frozen=True, slots=True)
class Remember:
    """Store a claim. `parents` are external ids. `created_at` and `valid_to` are for imports only.

    `echo_of` is the key of a memory that this session just recalled and now repeats.
    """

    scope: str
    claim: NewClaim
    actor: Actor
    source: str = ""
    parents: tuple[str, ...] = ()
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    created_at: Instant | None = None
    echo_of: int | None = None


@dataclass(frozen=True, slots=True)
class Revise:
    """Replace a memory. `expected_version` 0: no check. `created_at` is for imports only."""

    scope: str
    memory_id: str
    claim: NewClaim
    actor: Actor
    reason: str
    source: str = ""
    valid_from: Instant | None = None
    expected_version: int = 0
    created_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Take a memory out of recall and withdraw what it caused."""

    scope: str
    memory_id: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Resolve:
    """Settle the contradiction between two memories."""

    scope: str
    memory_id: str
    other_id: str
    dismissed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Purge:
    """Erase contents for good."""

    scope: str
    memory_ids: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Link:
    """Late DERIVED_FROM edges of an imported memory whose parents came after it."""

    scope: str
    memory_id: str
    parents: tuple[str, ...]

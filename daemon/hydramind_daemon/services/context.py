"""What every use case is told about its call, and what it answers about the scope."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from hydramind_domain.model import Actor


class ScopeSource(StrEnum):
    """How the scope of a call was decided."""

    EXPLICIT = "explicit"
    ENVIRONMENT = "environment"
    PROJECT = "project"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class ScopeRef:
    """The scope a call names: a name, or a project folder, or neither (`default`). `source` None: not stated."""

    name: str = ""
    project_root: str = ""
    source: ScopeSource | None = None


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """The scope that a call was answered for, and how it was decided."""

    scope: str
    scope_from: ScopeSource


NOBODY = Actor()
"""A caller that says nothing of itself."""


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, and until when (seconds of the monotonic clock; None: no limit)."""

    actor: Actor = NOBODY
    deadline: float | None = None

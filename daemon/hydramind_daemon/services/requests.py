"""Requests that change memory, as front ends send them: not yet checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from hydramind_daemon.services.context import ScopeRef


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """See the contract's RememberRequest."""

    content: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    entities: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    source: str = ""
    valid_from: str = ""
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class ReviseRequest:
    """See the contract's ReviseRequest."""

    memory_id: str
    content: str
    reason: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    valid_from: str = ""
    expected_version: int = 0
    idempotency_key: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """See the contract's ForgetRequest."""

    memory_id: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    reason: str = ""
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class ResolveRequest:
    """See the contract's ResolveConflictRequest. `dismissed` None: no verdict was stated."""

    memory_id: str
    other_id: str
    dismissed: bool | None
    reason: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class PurgeRequest:
    """See the contract's PurgeRequest."""

    memory_ids: tuple[str, ...]
    reason: str
    scope: ScopeRef = field(default_factory=ScopeRef)
    idempotency_key: str = ""
    dry_run: bool = False

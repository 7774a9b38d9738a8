"""What a call can fail with, as one tree; the daemon raises the same classes by the same names.

    HydraMindError
    ├── InvalidArgument      the request can never succeed as it is; `field` names what is wrong
    ├── NotFound             what the request names does not exist for this caller
    ├── AlreadyExists        what it would create is there already
    ├── FailedPrecondition   the state does not allow it
    ├── Conflict             another writer was first: read again and decide
    ├── PermissionDenied     the caller may not do this
    ├── ResourceExhausted    disk, queue or budget is full; nothing was written
    ├── Unavailable          not now; the same call may succeed later
    ├── DeadlineExceeded     the call's time ran out
    └── Internal             a fault of the daemon

`reason` is an upper-case code that never changes; `metadata` holds strings that help a program. A mutation whose outcome is
unknown carries its key in `idempotency_key`: calling again with it stores once, whichever of the two happened.
"""

from __future__ import annotations

from collections.abc import Mapping

ERROR_DOMAIN = "hydramind"
"""`google.rpc.ErrorInfo.domain` of every error that the daemon raised itself."""

DRAINING = "DRAINING"
"""Reason of a call that a stopping daemon turned away before it began."""


class HydraMindError(Exception):
    """Base of everything that a call raises on purpose."""

    default_reason = "INTERNAL"

    def __init__(self, message: str, *, reason: str | None = None, metadata: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.metadata: dict[str, str] = dict(metadata or {})

    @property
    def field(self) -> str:
        """Name of the argument that is wrong; empty when it is not one argument."""
        return self.metadata.get("field", "")

    @property
    def idempotency_key(self) -> str:
        """Key to call again with when the outcome is unknown; empty when nothing can have been stored."""
        return self.metadata.get("idempotency_key", "")


class InvalidArgument(HydraMindError):
    """The request can never succeed as it is."""

    default_reason = "INVALID_ARGUMENT"

    @classmethod
    def of(cls, field: str, problem: str, *, reason: str | None = None) -> InvalidArgument:
        """Refuse the argument `field` because of `problem`, which says what to do."""
        return cls(f"{field}: {problem}", reason=reason, metadata={"field": field})


class NotFound(HydraMindError):
    """What the request names does not exist for this caller."""

    default_reason = "NOT_FOUND"


class AlreadyExists(HydraMindError):
    """What the request would create is there already."""

    default_reason = "ALREADY_EXISTS"


class FailedPrecondition(HydraMindError):
    """The state does not allow it; the same call fails until the state changes."""

    default_reason = "FAILED_PRECONDITION"


class Conflict(HydraMindError):
    """Another writer was first; read again and decide (gRPC ABORTED)."""

    default_reason = "CONFLICT"


class PermissionDenied(HydraMindError):
    """The caller may not do this."""

    default_reason = "PERMISSION_DENIED"


class ResourceExhausted(HydraMindError):
    """Disk, queue or budget is full; nothing was written."""

    default_reason = "RESOURCE_EXHAUSTED"


class Unavailable(HydraMindError):
    """Not now; the same call may succeed later."""

    default_reason = "UNAVAILABLE"


class DeadlineExceeded(HydraMindError):
    """The call's time ran out."""

    default_reason = "DEADLINE_EXCEEDED"


class Internal(HydraMindError):
    """A fault of the daemon."""

    default_reason = "INTERNAL"

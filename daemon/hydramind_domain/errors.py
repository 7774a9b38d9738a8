"""The one exception tree. Raised by domain and services, translated once at the RPC border, raised again by the client.

`reason` is an upper-case code that never changes; `metadata` holds strings that help a program (``field``, ids, versions).
"""

from __future__ import annotations

from collections.abc import Mapping


class HydraMindError(Exception):
    """Base of everything that HydraMind raises on purpose."""

    default_reason = "INTERNAL"

    def __init__(self, message: str, *, reason: str | None = None, metadata: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason or self.default_reason
        self.metadata: dict[str, str] = dict(metadata or {})

    @property
    def field(self) -> str:
        """Name of the request field that is wrong; empty when it is not one field."""
        return self.metadata.get("field", "")


class InvalidArgument(HydraMindError):
    """The request can never succeed as it is."""

    default_reason = "INVALID_ARGUMENT"

    @classmethod
    def of(cls, field: str, problem: str, *, reason: str | None = None) -> InvalidArgument:
        """Refuse ``field`` because of ``problem``, which says what to do."""
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
    """The caller's time ran out."""

    default_reason = "DEADLINE_EXCEEDED"


class Internal(HydraMindError):
    """A fault of ours."""

    default_reason = "INTERNAL"

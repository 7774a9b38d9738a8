"""What both clients share about gRPC: options, who calls, errors, and when a call is tried again."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from hydramind import local
from hydramind.v1 import common_pb2, event_pb2
from hydramind_client import convert, errors
from hydramind_client import model as m
from hydramind_client.model import Actor, ServerInfo

ACTOR_METADATA: Final = "hydramind-actor-bin"
"""Name of the call metadata that holds the serialized Actor."""

MESSAGE_MAX_BYTES: Final = 16 * 1024 * 1024
"""Longest message, both ways."""

WATCH_PAUSES_S: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""Pauses of a watch between tries to reach the daemon again; the last one repeats."""

CLOSED: Final = "CLOSED"
"""Reason of a call on a client that was closed."""

HELLO_S: Final = 5.0
"""Longest that proving a connection may take."""

TRIES: Final = 3
"""How often a call is made at most."""

CHANNEL_OPTIONS: Final = (
    ("grpc.max_send_message_length", MESSAGE_MAX_BYTES),
    ("grpc.max_receive_message_length", MESSAGE_MAX_BYTES),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 500),
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),  # retries are decided here, with the idempotency key
    ("grpc.use_local_subchannel_pool", 1),  # a new client of a process never inherits another one's back-off
)

_CLASSES: Final[Mapping[grpc.StatusCode, type[errors.HydraMindError]]] = {
    grpc.StatusCode.INVALID_ARGUMENT: errors.InvalidArgument,
    grpc.StatusCode.OUT_OF_RANGE: errors.InvalidArgument,
    grpc.StatusCode.NOT_FOUND: errors.NotFound,
    grpc.StatusCode.ALREADY_EXISTS: errors.AlreadyExists,
    grpc.StatusCode.FAILED_PRECONDITION: errors.FailedPrecondition,
    grpc.StatusCode.UNIMPLEMENTED: errors.FailedPrecondition,
    grpc.StatusCode.ABORTED: errors.Conflict,
    grpc.StatusCode.RESOURCE_EXHAUSTED: errors.ResourceExhausted,
    grpc.StatusCode.UNAVAILABLE: errors.Unavailable,
    grpc.StatusCode.CANCELLED: errors.Unavailable,
    grpc.StatusCode.PERMISSION_DENIED: errors.PermissionDenied,
    grpc.StatusCode.UNAUTHENTICATED: errors.PermissionDenied,
    grpc.StatusCode.DEADLINE_EXCEEDED: errors.DeadlineExceeded,
}
_UNSURE: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.INTERNAL,
    }
)
_OWN_REASONS: Final[Mapping[grpc.StatusCode, str]] = {
    grpc.StatusCode.UNIMPLEMENTED: "UNIMPLEMENTED",
    grpc.StatusCode.CANCELLED: "CANCELLED",
}


def target(socket: str) -> str:
    """Name of a Unix socket for gRPC; a path may hold anything, a URI may not."""
    return "unix:" + quote(socket, safe="/")


def actor_metadata(actor: Actor) -> tuple[tuple[str, bytes], ...]:
    """Call metadata that says who calls."""
    message = common_pb2.Actor(
        client_name=(actor.client_name or "")[:256],
        client_version=(actor.client_version or "")[:256],
        pid=actor.pid or 0,
        session=(actor.session or "")[:256],
    )
    return ((ACTOR_METADATA, message.SerializeToString()),)


def error_info(error: grpc.RpcError) -> error_details_pb2.ErrorInfo | None:
    """The daemon's own words about an error; None when it did not come from the daemon's code."""
    try:
        status = rpc_status.from_call(error)
    except (ValueError, AttributeError):
        return None
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info) and info.domain == errors.ERROR_DOMAIN:
            return info
    return None


def code_of(error: grpc.RpcError) -> grpc.StatusCode:
    """Status code of an ended call."""
    code = getattr(error, "code", None)
    found = code() if callable(code) else None
    return found if isinstance(found, grpc.StatusCode) else grpc.StatusCode.UNKNOWN


def _details(error: grpc.RpcError) -> str:
    details = getattr(error, "details", None)
    return str((details() if callable(details) else "") or error)


def translated(error: grpc.RpcError) -> errors.HydraMindError:
    """The error as its class, with the daemon's reason and metadata."""
    code = code_of(error)
    info = error_info(error)
    kind = _CLASSES.get(code, errors.Internal)
    if info is not None:
        return _as_called_here(kind(_details(error), reason=info.reason or None, metadata=dict(info.metadata)))
    message = _details(error)
    if code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}:
        message = f"the connection to the daemon was lost ({_short(message)})"
    elif code is grpc.StatusCode.DEADLINE_EXCEEDED:
        message = "the daemon did not answer in time"
    return kind(message, reason=_OWN_REASONS.get(code))


def _as_called_here(error: errors.HydraMindError) -> errors.HydraMindError:
    """The contract's `page_size` is `limit` in every method of the clients: an error names what the caller gave."""
    if error.field != "page_size":
        return error
    message = error.message.replace("page_size", "limit", 1)
    return type(error)(message, reason=error.reason, metadata={**error.metadata, "field": "limit"})


def _short(message: str) -> str:
    return re.sub(r"\s+", " ", message)[:200]


def may_retry(error: grpc.RpcError) -> bool:
    """UNAVAILABLE, and ABORTED by a daemon that is draining; nothing else.

    CANCELLED counts as the latter: nobody here cancels a call that is waited for, so that a stopping server did.
    """
    code = code_of(error)
    if code is grpc.StatusCode.ABORTED:
        info = error_info(error)
        return info is not None and info.reason == errors.DRAINING
    return code in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}


def unsure(error: grpc.RpcError) -> bool:
    """The request may have had its effect: no word from the daemon's own code."""
    return code_of(error) in _UNSURE and error_info(error) is None


def with_key(error: errors.HydraMindError, key: str) -> errors.HydraMindError:
    """The same error, saying that the effect is unknown and how to find out."""
    message = f"{error.message}; it may have been stored; call again with idempotency_key={key}"
    return type(error)(message, reason=error.reason, metadata={**error.metadata, "idempotency_key": key})


def check_level(info: ServerInfo) -> None:
    """Raise `FailedPrecondition` when the daemon is older than this client needs.

    It is never restarted from here: two installs side by side would otherwise take turns in stopping each other's.
    """
    if info.api_level < local.API_LEVEL:
        raise errors.FailedPrecondition(
            f"the running daemon (version {info.version}, pid {info.pid}) has API level {info.api_level}, this client needs "
            f"{local.API_LEVEL}: restart it with `hydramind daemon restart`",
            reason="DAEMON_TOO_OLD",
            metadata={"pid": str(info.pid), "version": info.version, "api_level": str(info.api_level)},
        )


@dataclass(slots=True)
class Attempts:
    """Bookkeeping of one call: time left, tries left, and whether an earlier try may have had its effect."""

    timeout_s: float
    key: str
    writes: bool
    made: int = 0
    failed: int = 0
    maybe_done: bool = False
    _sent: bool = False
    _started: float = field(default_factory=time.monotonic)

    @property
    def left_s(self) -> float:
        """Seconds until the deadline, never negative."""
        return max(0.0, self._started + self.timeout_s - time.monotonic())

    @property
    def hello_s(self) -> float:
        """Deadline of the call that proves a connection: short, because a daemon may have died again meanwhile."""
        return max(0.1, min(self.left_s, HELLO_S))

    def sending(self) -> None:
        """From here on the request may have its effect."""
        self._sent = True

    def restart_clock(self) -> None:
        """Finding or starting the daemon has its own limit; the call's begins when it is there."""
        self._started = time.monotonic()

    def again(self, error: grpc.RpcError) -> bool:
        """Count a failed try; whether to make another."""
        self.failed += 1
        sent, self._sent = self._sent, False
        if not sent:  # only the connection failed, as it does while a daemon stops: that costs time, not a try
            return self.left_s > 0 and (may_retry(error) or code_of(error) is grpc.StatusCode.DEADLINE_EXCEEDED)
        self.made += 1
        self.maybe_done = self.maybe_done or unsure(error)
        return may_retry(error) and self.made < TRIES and self.left_s > 0

    def failure(self, error: errors.HydraMindError) -> errors.HydraMindError:
        """What the caller gets: with the key when the effect is unknown."""
        return with_key(error, self.key) if self.writes and self.key and self.maybe_done else error


def stubs(channel: Any) -> Mapping[str, Any]:
    """The generated stubs of a channel, sync or aio, by service."""
    from hydramind.v1 import admin_pb2_grpc, event_pb2_grpc, memory_pb2_grpc

    return {
        "memory": memory_pb2_grpc.MemoryServiceStub(channel),
        "admin": admin_pb2_grpc.AdminServiceStub(channel),
        "event": event_pb2_grpc.EventServiceStub(channel),
    }


@dataclass(slots=True)
class WatchPosition:
    """Where a watch is, so that a new stream begins exactly after what was given out.

    Events of one commit share a sequence: after a break in the middle the commit is asked for again and its first events
    are left out.
    """

    cursor: int | None = None
    _last: tuple[int, int] = (-1, -1)

    def take(self, message: event_pb2.WatchResponse) -> m.MemoryEvent | m.ResyncRequired | None:
        """What to give out for a message of the stream: nothing for a heartbeat or an event that was given out before."""
        kind = message.WhichOneof("message")
        if kind == "resync_required":
            return convert.resync(message.resync_required)
        if kind == "heartbeat":
            self.cursor = max(self.cursor or 0, message.heartbeat.cursor)
        elif kind == "event" and self._fresh(message.event.sequence, message.event.ordinal):
            return convert.event(message.event)
        return None

    def _fresh(self, sequence: int, ordinal: int) -> bool:
        if (sequence, ordinal) <= self._last:
            return False
        self._last = (sequence, ordinal)
        self.cursor = max(self.cursor or 0, sequence - 1)
        return True


@dataclass(slots=True)
class Breaks:
    """How a watch bears the daemon's absences."""

    limit_s: float
    tries: int = 0
    _since: float = 0.0

    def mended(self) -> None:
        """Something came: the stream is alive."""
        self.tries, self._since = 0, 0.0

    def judged(self, error: grpc.RpcError | errors.HydraMindError) -> errors.HydraMindError:
        """The error as its class; raises it when trying again cannot help, or nothing ever worked."""
        if isinstance(error, grpc.RpcError):
            problem = translated(error)
            if not may_retry(error):
                raise problem from error
            return problem
        if not self.tries or error.reason == CLOSED:
            raise error
        return error

    def pause_s(self, problem: errors.HydraMindError) -> float:
        """How long to wait before the next try; raises `problem` when the limit is over."""
        now = time.monotonic()
        self._since = self._since or now
        if now - self._since > self.limit_s:
            raise problem
        self.tries += 1
        return WATCH_PAUSES_S[min(self.tries, len(WATCH_PAUSES_S)) - 1]


def items_of(values: Iterable[Any], refused: list[Exception]) -> Iterable[Any]:
    """`values` until they raise; the exception is put aside, because gRPC would swallow it in its own thread."""
    try:
        yield from values
    except Exception as error:  # noqa: BLE001 - the border to gRPC's thread; it is raised again by the reader
        refused.append(error)

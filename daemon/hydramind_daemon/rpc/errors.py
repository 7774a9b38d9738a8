"""From the exception tree to google.rpc.Status with ErrorInfo. The only place where an error leaves the daemon."""

from __future__ import annotations

import uuid
from typing import Final, NoReturn, cast

import grpc
import structlog
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from hydramind_domain.errors import (
    AlreadyExists,
    Conflict,
    DeadlineExceeded,
    FailedPrecondition,
    HydraMindError,
    Internal,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    Unavailable,
)

DOMAIN: Final = "hydramind"
_CODES: Final = (
    (InvalidArgument, code_pb2.INVALID_ARGUMENT),
    (NotFound, code_pb2.NOT_FOUND),
    (AlreadyExists, code_pb2.ALREADY_EXISTS),
    (FailedPrecondition, code_pb2.FAILED_PRECONDITION),
    (Conflict, code_pb2.ABORTED),
    (PermissionDenied, code_pb2.PERMISSION_DENIED),
    (ResourceExhausted, code_pb2.RESOURCE_EXHAUSTED),
    (Unavailable, code_pb2.UNAVAILABLE),
    (DeadlineExceeded, code_pb2.DEADLINE_EXCEEDED),
    (Internal, code_pb2.INTERNAL),
)
_DETAIL_BYTES: Final = 4_096
"""Metadata beyond this is left out: gRPC refuses trailers of more than 8 KiB, and the error would be lost."""


def code_of(error: HydraMindError) -> int:
    """Number of the gRPC status code."""
    return next((int(code) for kind, code in _CODES if isinstance(error, kind)), int(code_pb2.INTERNAL))


def internal(error: BaseException) -> Internal:
    """What a caller may know of a fault of ours: an id to look for in the log."""
    fault = uuid.uuid4().hex[:12]
    structlog.get_logger().error("a call failed", fault=fault, exc_info=error)
    return Internal(f"internal error {fault}; the log of the daemon says more", metadata={"fault": fault})


def status_of(error: HydraMindError) -> status_pb2.Status:
    """Status with one ErrorInfo."""
    metadata = error.metadata
    if sum(len(k) + 4 * len(v) for k, v in metadata.items()) > _DETAIL_BYTES:
        metadata = {"field": error.field}
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)
    detail = any_pb2.Any()
    detail.Pack(info)
    return status_pb2.Status(code=code_of(error), message=error.message[:1_000], details=[detail])


async def abort(context: grpc.aio.ServicerContext[object, object], error: HydraMindError) -> NoReturn:
    """End the call with an error."""
    status = cast("grpc.Status", rpc_status.to_status(status_of(error)))
    await context.abort_with_status(status)
    raise AssertionError("abort_with_status raises")

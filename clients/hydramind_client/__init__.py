"""Typed Python client of the HydraMind daemon.

    from hydramind_client import Client

    with Client() as memory:
        memory.remember("Production deploys must use direct routing.", "acme", ["deploy-policy"])

`Client` and `AsyncClient` have the same methods. gRPC is loaded when one of them is first used, not before.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hydramind_client.errors import (
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
from hydramind_client.model import Actor, ImportRecord, NewMemory, Order, ScopeSource, Status, Verdict
from hydramind_client.render import to_json
from hydramind_client.scope import ScopeRef, resolve_scope

if TYPE_CHECKING:
    from hydramind_client.aio import AsyncClient
    from hydramind_client.client import Client

# Before anything imports gRPC: a forked child is not its business, and its log lines are not ours.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

__all__ = [
    "Actor",
    "AlreadyExists",
    "AsyncClient",
    "Client",
    "Conflict",
    "DeadlineExceeded",
    "FailedPrecondition",
    "HydraMindError",
    "ImportRecord",
    "Internal",
    "InvalidArgument",
    "NewMemory",
    "NotFound",
    "Order",
    "PermissionDenied",
    "ResourceExhausted",
    "ScopeRef",
    "ScopeSource",
    "Status",
    "Unavailable",
    "Verdict",
    "resolve_scope",
    "to_json",
]


def __getattr__(name: str) -> object:
    if name == "Client":
        from hydramind_client.client import Client

        return Client
    if name == "AsyncClient":
        from hydramind_client.aio import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The gRPC face: every service on one server, with health and reflection. Binding is the lifecycle's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection

from hydramind.v1 import admin_pb2, admin_pb2_grpc, event_pb2, event_pb2_grpc, memory_pb2, memory_pb2_grpc
from hydramind_daemon.rpc.admin import AdminCalls, Drain
from hydramind_daemon.rpc.batches import MemoryStreams
from hydramind_daemon.rpc.events import EventCalls
from hydramind_daemon.rpc.guard import Guard, servicer_class
from hydramind_daemon.services.admin import ServerInfo
from hydramind_daemon.services.container import Services

MESSAGE_BYTES: Final = 16 << 20
"""Largest message in either direction; clients set the same."""

_MEMORY: Final = memory_pb2.DESCRIPTOR.services_by_name["MemoryService"]
_EVENT: Final = event_pb2.DESCRIPTOR.services_by_name["EventService"]
_ADMIN: Final = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", MESSAGE_BYTES),
    ("grpc.max_send_message_length", MESSAGE_BYTES),
    ("grpc.so_reuseport", 0),
)

MemoryServicer = servicer_class("MemoryServicer", memory_pb2_grpc.MemoryServiceServicer, _MEMORY)
EventServicer = servicer_class("EventServicer", event_pb2_grpc.EventServiceServicer, _EVENT)
AdminServicer = servicer_class("AdminServicer", admin_pb2_grpc.AdminServiceServicer, _ADMIN)


@dataclass(frozen=True, slots=True)
class Face:
    """A server that is not bound yet, and its health."""

    server: grpc.aio.Server
    health: health_aio.HealthServicer

    async def set_serving(self, serving: bool) -> None:
        """Health of the whole and of each service."""
        states = health_pb2.HealthCheckResponse
        status = states.SERVING if serving else states.NOT_SERVING
        for name in ("", _MEMORY.full_name, _EVENT.full_name, _ADMIN.full_name):
            await self.health.set(name, status)


def build_server(services: Services, info: ServerInfo, *, drain: Drain, max_calls: int = 1_024, max_watches: int = 128) -> Face:
    """Everything on one server. `drain` is called by AdminService.Drain with the grace period in seconds, or None."""
    server = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=max_calls + max_watches)
    guard = Guard(services)
    memory_pb2_grpc.add_MemoryServiceServicer_to_server(MemoryServicer(MemoryStreams(services), guard), server)
    event_pb2_grpc.add_EventServiceServicer_to_server(EventServicer(EventCalls(services), guard), server)
    admin_pb2_grpc.add_AdminServiceServicer_to_server(AdminServicer(AdminCalls(services, info, drain), guard), server)
    health = health_aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    names = (_MEMORY.full_name, _EVENT.full_name, _ADMIN.full_name, "grpc.health.v1.Health", reflection.SERVICE_NAME)
    reflection.enable_server_reflection(names, server)
    return Face(server, health)

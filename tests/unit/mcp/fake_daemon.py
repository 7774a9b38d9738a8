"""A daemon in a few lines, behind the real socket: it remembers in a list, and fails as it is told to."""

# Reason: gRPC names the methods of a servicer.
# ruff: noqa: N802

import os
import threading
from concurrent import futures
from pathlib import Path
from typing import Any, Self

import grpc
from google.protobuf import any_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from hydramind import local
from hydramind.v1 import admin_pb2, admin_pb2_grpc, common_pb2, memory_pb2, memory_pb2_grpc
from hydramind_client import wire

PATIENCE_S = 60.0


def rich(code: int, reason: str, message: str, **metadata: str) -> status_pb2.Status:
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="hydramind", metadata=metadata))
    return status_pb2.Status(code=code, message=message, details=[detail])


class FakeDaemon(memory_pb2_grpc.MemoryServiceServicer, admin_pb2_grpc.AdminServiceServicer):
    """`hold` makes calls wait until `release`; `failure` is what every write answers."""

    def __init__(self) -> None:
        self.addresses = local.addresses()
        self.stored: list[memory_pb2.RememberRequest] = []
        self.actors: list[common_pb2.Actor] = []
        self.by_key: dict[str, str] = {}
        self.failure: status_pb2.Status | None = None
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self.addresses.make_folders()
        self.server = grpc.server(futures.ThreadPoolExecutor(32), options=wire.CHANNEL_OPTIONS)
        memory_pb2_grpc.add_MemoryServiceServicer_to_server(self, self.server)
        admin_pb2_grpc.add_AdminServiceServicer_to_server(self, self.server)
        self.server.add_insecure_port(wire.target(self.addresses.socket))
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self.gate.set()
        self.server.stop(0).wait(PATIENCE_S)
        Path(self.addresses.socket).unlink(missing_ok=True)

    def hold(self) -> None:
        self.gate.clear()

    def release(self) -> None:
        self.gate.set()

    def wait_for_calls(self, count: int) -> None:
        for _ in range(count):
            assert self.entered.acquire(timeout=PATIENCE_S)

    def _enter(self, context: grpc.ServicerContext) -> None:
        metadata: dict[str, Any] = dict(context.invocation_metadata())
        with self._lock:
            self.actors.append(common_pb2.Actor.FromString(metadata[wire.ACTOR_METADATA]))
        self.entered.release()
        self.gate.wait(PATIENCE_S)
        if self.failure is not None:
            context.abort_with_status(rpc_status.to_status(self.failure))

    def Remember(self, request: memory_pb2.RememberRequest, context: grpc.ServicerContext) -> memory_pb2.RememberResponse:
        self._enter(context)
        with self._lock:
            replayed = request.idempotency_key in self.by_key
            memory_id = self.by_key.setdefault(request.idempotency_key, f"m{len(self.stored)}")
            if not replayed:
                self.stored.append(request)
        scope = common_pb2.ScopeInfo(
            scope=request.scope.name or request.scope.project_root or "default", scope_from=request.scope.source or 4
        )
        return memory_pb2.RememberResponse(
            memory_id=memory_id, scope=scope, trust_score=1.0, version=1, status=1, sequence=1, replayed=replayed
        )

    def Recall(self, request: memory_pb2.RecallRequest, context: grpc.ServicerContext) -> memory_pb2.RecallResponse:
        self._enter(context)
        found = [
            memory_pb2.RecalledMemory(
                memory=common_pb2.Memory(
                    memory_id=f"m{number}", content=each.content, trust_score=1.0, status=1, version=1, support=1
                ),
                relevance=1.0,
                score=1.0,
            )
            for number, each in enumerate(self.stored)
            if request.query in each.content
        ]
        scope = common_pb2.ScopeInfo(scope=request.scope.name or "default", scope_from=1)
        return memory_pb2.RecallResponse(memories=found[:10], abstained=not found, scope=scope, scorer="fake")

    def GetServerInfo(
        self, request: admin_pb2.GetServerInfoRequest, context: grpc.ServicerContext
    ) -> admin_pb2.GetServerInfoResponse:
        return admin_pb2.GetServerInfoResponse(
            version=local.VERSION, build_id=local.build_id(), api_level=local.API_LEVEL, pid=os.getpid(), record="embedded"
        )

    def GetStatus(self, request: admin_pb2.GetStatusRequest, context: grpc.ServicerContext) -> admin_pb2.GetStatusResponse:
        server = self.GetServerInfo(admin_pb2.GetServerInfoRequest(), context)
        return admin_pb2.GetStatusResponse(server=server, state="serving", memories=len(self.stored))


BUSY = rich(code_pb2.RESOURCE_EXHAUSTED, "QUEUE_FULL", "the writer's queue is full")
DRAINING = rich(code_pb2.UNAVAILABLE, "DRAINING", "the daemon is stopping")

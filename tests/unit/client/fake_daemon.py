"""A daemon whose answers a test states: a real gRPC server on a real socket, with nothing behind it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import grpc
from google.protobuf import any_pb2, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

from hydramind import local
from hydramind.v1 import admin_pb2, event_pb2, memory_pb2

Handler = Callable[[Any, grpc.ServicerContext], Any]
MODULES = (admin_pb2, event_pb2, memory_pb2)


def methods() -> Iterator[tuple[str, MethodDescriptor]]:
    for module in MODULES:
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                yield service.full_name, method


def abort(context: grpc.ServicerContext, code: grpc.StatusCode, message: str, reason: str, **metadata: str) -> None:
    """End the call as the daemon does: google.rpc.Status with one ErrorInfo."""
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.ErrorInfo(reason=reason, domain="hydramind", metadata=metadata))
    context.abort_with_status(rpc_status.to_status(status_pb2.Status(code=code.value[0], message=message, details=[detail])))


def _server_info(request: object, context: object) -> admin_pb2.GetServerInfoResponse:
    return admin_pb2.GetServerInfoResponse(version=local.VERSION, build_id="fake", api_level=local.API_LEVEL, pid=os.getpid())


@dataclass
class FakeDaemon:
    """Serves every RPC of the contract on `socket`: with `answers[name]`, else with an empty message."""

    socket: Path
    answers: dict[str, Handler] = field(default_factory=dict)
    requests: list[tuple[str, Any]] = field(default_factory=list)
    metadata: list[dict[str, str | bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers.setdefault("GetServerInfo", _server_info)
        self._server: grpc.Server | None = None

    def calls(self, name: str) -> list[Any]:
        """Requests of one RPC, in order."""
        return [request for method, request in self.requests if method == name]

    def start(self) -> None:
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        for service, method in methods():
            self._server.add_generic_rpc_handlers((self._handler(service, method),))
        self.socket.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._server.add_insecure_port(f"unix:{self.socket}")
        self._server.start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop(None).wait()
            self._server = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()

    def _handler(self, service: str, method: MethodDescriptor) -> grpc.GenericRpcHandler:
        request = message_factory.GetMessageClass(method.input_type)
        response = message_factory.GetMessageClass(method.output_type)
        makers = {
            (False, False): (grpc.unary_unary_rpc_method_handler, self._unary),
            (False, True): (grpc.unary_stream_rpc_method_handler, self._stream),
            (True, True): (grpc.stream_stream_rpc_method_handler, self._exchange),
        }
        make, serve = makers[method.client_streaming, method.server_streaming]
        behaviour = serve(method.name, response)
        handler = make(behaviour, request_deserializer=request.FromString, response_serializer=response.SerializeToString)
        return grpc.method_handlers_generic_handler(service, {method.name: handler})

    def _seen(self, name: str, request: object, context: grpc.ServicerContext) -> None:
        self.requests.append((name, request))
        self.metadata.append(dict(context.invocation_metadata()))

    def _unary(self, name: str, response: Callable[[], Any]) -> Handler:
        def serve(request: object, context: grpc.ServicerContext) -> object:
            self._seen(name, request, context)
            return self.answers[name](request, context) if name in self.answers else response()

        return serve

    def _stream(self, name: str, response: Callable[[], Any]) -> Handler:
        def serve(request: object, context: grpc.ServicerContext) -> Iterator[object]:
            self._seen(name, request, context)
            yield from self.answers[name](request, context) if name in self.answers else ()

        return serve

    def _exchange(self, name: str, response: Callable[[], Any]) -> Handler:
        def serve(requests: Iterator[object], context: grpc.ServicerContext) -> Iterator[object]:
            for request in requests:
                self._seen(name, request, context)
                yield self.answers[name](request, context) if name in self.answers else response()

        return serve


def remembered(**changes: Any) -> memory_pb2.RememberResponse:
    """A plain answer of Remember."""
    values = {"memory_id": "m-1", "trust_score": 1.0, "version": 1, "status": 1, **changes}
    answer = memory_pb2.RememberResponse(**values)
    answer.scope.scope = "acme"
    answer.scope.scope_from = 1
    return answer

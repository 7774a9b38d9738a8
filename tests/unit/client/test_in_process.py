"""The synchronous client on grpcio-testing's channel: no process, no socket, no thread of a server."""

from concurrent import futures

import grpc
import grpc_testing
import pytest

from hydramind.v1 import admin_pb2, memory_pb2
from hydramind_client import Client, NotFound

MEMORY = memory_pb2.DESCRIPTOR.services_by_name["MemoryService"]
ADMIN = admin_pb2.DESCRIPTOR.services_by_name["AdminService"]


@pytest.fixture
def channel():
    return grpc_testing.channel([MEMORY, ADMIN], grpc_testing.strict_real_time())


def test_a_call_sends_one_request_and_says_who_calls(channel):
    with futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(lambda: Client(channel=channel).recall("q", "acme", ["x"], 3))
        metadata, request, rpc = channel.take_unary_unary(MEMORY.methods_by_name["Recall"])
        rpc.send_initial_metadata(())
        rpc.terminate(memory_pb2.RecallResponse(abstained=True, reason="no word"), (), grpc.StatusCode.OK, "")
        assert answer.result(10).reason == "no word"
    assert (request.query, request.limit, list(request.entities)) == ("q", 3, ["x"])
    assert "hydramind-actor-bin" in [name for name, _ in metadata]


def test_a_failed_call_raises_its_class(channel):
    with futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(lambda: Client(channel=channel).get_memory("m-1", "acme"))
        _, _, rpc = channel.take_unary_unary(MEMORY.methods_by_name["GetMemory"])
        rpc.send_initial_metadata(())
        rpc.terminate(None, (), grpc.StatusCode.NOT_FOUND, "there is no memory")
        with pytest.raises(NotFound):
            answer.result(10)

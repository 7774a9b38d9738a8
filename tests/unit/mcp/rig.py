"""A shim as a real process between a test's pipes, and a fake host on the socket that it looks for."""

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from hydramind import local

PATIENCE_S = 60.0
"""Bound of every wait; no test is about how long anything takes."""

SHIM = [sys.executable, "-c", "from hydramind_mcp.shim import main; main()"]
LEGACY = "2025-11-25"
MODERN = "2026-07-28"


def initialize(number: int = 0, version: str = LEGACY) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    return {"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: object, method: str, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: object, tool: str, **arguments: object) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments)


def modern(message: dict[str, Any]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {**message, "params": {**message.get("params", {}), "_meta": meta}}


class ShimProcess:
    """One shim. Every line that it prints must be JSON-RPC, or reading it fails the test."""

    def __init__(self, command: list[str] = SHIM, *, env: dict[str, str] | None = None, cwd: Path | None = None) -> None:
        environment = {**os.environ, **(env or {})}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, cwd=cwd
        )
        self.lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.seen: dict[object, dict[str, Any]] = {}
        self.order: list[object] = []
        self.bad: list[bytes] = []
        self.errors = b""
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        return self.process.pid

    def _read(self) -> None:
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
                assert "method" in message or "id" in message
            except (ValueError, KeyError, TypeError, AssertionError):
                self.bad.append(line)
            else:
                self.lines.put(message)
        self.lines.put(None)

    def _read_errors(self) -> None:
        self.errors = self.process.stderr.read()

    def raw(self, data: bytes) -> None:
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *messages: dict[str, Any]) -> None:
        self.raw(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def next(self) -> dict[str, Any]:
        message = self.lines.get(timeout=PATIENCE_S)
        assert self.bad == []
        assert message is not None, f"the shim ended: {self.process.wait(PATIENCE_S)}, {self.errors!r}"
        return message

    def answer(self, number: object) -> dict[str, Any]:
        """The answer with this id; other answers are kept for later."""
        while number not in self.seen:
            message = self.next()
            assert message.get("id") not in self.seen, f"answered twice: {message}"
            self.seen[message.get("id")] = message
            self.order.append(message.get("id"))
        return self.seen[number]

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.send(message)
        return self.answer(message["id"])

    def open(self, version: str = LEGACY) -> "ShimProcess":
        assert "result" in self.ask(initialize(0, version))
        self.send(INITIALIZED)
        return self

    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> int:
        """Close stdin; gives the exit code and checks that nothing but JSON-RPC came out."""
        self.process.stdin.close()
        code = self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()
        assert self.bad == []
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        if not self.process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        for thread in self._threads:
            thread.join(PATIENCE_S)
        self.process.stdout.close()
        self.process.stderr.close()


Script = Callable[["Peer", dict[str, Any]], None]


class Peer:
    """The host's side of one connection."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.file = sock.makefile("rb")
        self.hello = json.loads(self.file.read(int.from_bytes(self.file.read(4), "big")))

    def receive(self) -> dict[str, Any]:
        return json.loads(self.file.readline())

    def send(self, *messages: dict[str, Any]) -> None:
        self.sock.sendall(b"".join(json.dumps(message).encode() + b"\n" for message in messages))

    def answer(self, message: dict[str, Any], result: object) -> None:
        self.send({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def close(self) -> None:
        self.file.close()
        self.sock.close()


class FakeHost:
    """Listens where the host would; the test plays the host."""

    def __init__(self) -> None:
        self.addresses = local.addresses()
        self.addresses.make_folders()
        self._peers: list[Peer] = []
        self.listen()

    def listen(self) -> None:
        Path(self.addresses.mcp_socket).unlink(missing_ok=True)
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(PATIENCE_S)
        self.sock.bind(self.addresses.mcp_socket)
        self.sock.listen(16)

    def accept(self) -> Peer:
        sock, _ = self.sock.accept()
        sock.settimeout(PATIENCE_S)
        peer = Peer(sock)
        self._peers.append(peer)
        return peer

    def stop_listening(self) -> None:
        self.sock.close()
        Path(self.addresses.mcp_socket).unlink(missing_ok=True)

    def close(self) -> None:
        self.stop_listening()
        for peer in self._peers:
            peer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

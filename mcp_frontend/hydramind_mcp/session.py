"""One connection of a shim: its hello, then JSON-RPC lines between the socket and the SDK's server."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import anyio
import mcp.types as t
import structlog
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from hydramind_mcp import wire
from hydramind_mcp.server import Connect, FindScope, SessionServer

HELLO_S = 10.0
"""How long a peer may take over its hello."""

_STOPPING = "The memory host is stopping and did not run this request: send it again."

_log = structlog.get_logger("hydramind.mcp")


class BadHello(ValueError):
    """The peer is no shim that this host can serve; the message says why."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a shim says about itself and its agent. Asserted by the shim, believed because its uid is the owner's."""

    v: int
    build: str
    flavour: str
    cwd: str
    scope: str
    scope_from: str
    env: Mapping[str, str]
    pid: int
    ppid: int
    session: str

    @classmethod
    def from_json(cls, data: bytes) -> Hello:
        """Read a hello; raises `BadHello`."""
        try:
            found = json.loads(data)
            hello = cls(**{name: found[name] for name in cls.__slots__})
        except (ValueError, KeyError, TypeError) as error:
            raise BadHello(f"not a hello: {error}") from error
        if hello.v != wire.HELLO_VERSION:
            raise BadHello(f"this memory host speaks version {wire.HELLO_VERSION} of the hello and the shim version {hello.v}")
        if hello.flavour != "hydramind":
            raise BadHello(f"this memory host does not serve the flavour {hello.flavour!r}")
        if not all(isinstance(text, str) for text in (hello.build, hello.cwd, hello.scope, hello.session)):
            raise BadHello("not a hello: build, cwd, scope and session are strings")
        return hello


class Activity(Protocol):
    """Told about the traffic of a session."""

    def touched(self) -> None:
        """A message has come in."""


@dataclass(slots=True, eq=False)
class Session:
    """One connection. `run` serves it until either side closes; `in_flight` are requests without an answer yet."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    hello: Hello
    activity: Activity
    in_flight: set[str | int] = field(default_factory=set)
    quiet: asyncio.Event = field(default_factory=asyncio.Event)
    stopping: bool = False
    _reading: asyncio.Task[None] | None = None

    async def run(self, connect: Connect, find_scope: FindScope) -> None:
        """Serve the connection; returns when it is over."""
        server = SessionServer(self.hello.session, connect, find_scope).build()
        into_sdk, sdk_reads = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        sdk_writes, out_of_sdk = anyio.create_memory_object_stream[SessionMessage](0)
        async with asyncio.TaskGroup() as tasks:
            self._reading = tasks.create_task(self._read(into_sdk))
            tasks.create_task(self._write(out_of_sdk))
            await server.run(sdk_reads, sdk_writes, server.create_initialization_options())
            self._reading.cancel()

    async def finish(self, grace_s: float) -> None:
        """Take no more requests, wait for the answers that are due, and hang up."""
        self.stopping = True
        try:
            async with asyncio.timeout(grace_s):
                while self.in_flight:
                    self.quiet.clear()
                    await self.quiet.wait()
                await self.writer.drain()
        except (TimeoutError, OSError):
            _log.warning("session_cut", session=self.hello.session, unanswered=len(self.in_flight))
        self.writer.close()
        if self._reading is not None:
            self._reading.cancel()

    async def _read(self, into_sdk: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        async with into_sdk:
            try:
                while line := await self.reader.readline():
                    self.activity.touched()
                    await self._take(line, into_sdk)
            except (OSError, ValueError):  # ValueError: a line over the limit, which no shim of ours sends
                _log.info("session_broken", session=self.hello.session)
            except anyio.BrokenResourceError:
                pass  # the SDK has stopped reading

    async def _take(self, line: bytes, into_sdk: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            message = t.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValidationError:
            self.writer.write(_refusal(line))
            await self.writer.drain()
            return
        if isinstance(message, t.JSONRPCRequest):
            if self.stopping:
                self.writer.write(wire.error_line(message.id, wire.INTERNAL_ERROR, _STOPPING))
                return
            self.in_flight.add(message.id)
        elif isinstance(message, t.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._answered((message.params or {}).get("requestId"))
        await into_sdk.send(SessionMessage(message))

    async def _write(self, out_of_sdk: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with out_of_sdk:
            async for item in out_of_sdk:
                try:
                    self.writer.write(_line(item.message))
                    await self.writer.drain()
                except OSError:
                    return
                if isinstance(item.message, (t.JSONRPCResponse, t.JSONRPCError)):
                    self._answered(item.message.id)

    def _answered(self, request_id: object) -> None:
        if isinstance(request_id, (str, int)):
            self.in_flight.discard(request_id)
        if not self.in_flight:
            self.quiet.set()


def _line(message: t.JSONRPCMessage) -> bytes:
    line = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    if len(line) > wire.MAX_LINE_BYTES and isinstance(message, t.JSONRPCResponse):
        text = f"The answer is {len(line):,} bytes long; at most {wire.MAX_LINE_BYTES:,} fit. Ask for less with limit."
        return wire.error_line(message.id, wire.INTERNAL_ERROR, text)
    return line


def _refusal(line: bytes) -> bytes:
    """The answer to a line that is JSON, as far as the shim could tell, and no JSON-RPC message for the SDK."""
    try:
        found = json.loads(line)
    except ValueError as error:
        return wire.error_line(None, wire.PARSE_ERROR, f"Parse error: {error}")
    request_id = found.get("id") if isinstance(found, dict) else None
    if name := _broken_text(found):
        text = f"{name}: contains half of a surrogate pair, which is no character; send Unicode text. Nothing was changed."
        return wire.error_line(request_id, wire.INVALID_PARAMS, text)
    return wire.error_line(request_id, wire.INVALID_REQUEST, "not a JSON-RPC 2.0 message: see jsonrpc, method and params")


def _broken_text(found: object) -> str:
    """Name of the tool's argument that JSON can escape and Unicode does not have; empty: there is none."""
    params = found.get("params") if isinstance(found, dict) else None
    arguments = params.get("arguments") if isinstance(params, dict) else None
    for name, value in arguments.items() if isinstance(arguments, dict) else ():
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return str(name)
    return ""


async def read_hello(reader: asyncio.StreamReader) -> Hello:
    """The hello that opens a connection; raises `BadHello`."""
    try:
        async with asyncio.timeout(HELLO_S):
            size = int.from_bytes(await reader.readexactly(4), "big")
            if size > wire.MAX_HELLO_BYTES:
                raise BadHello("the first bytes are no hello")
            return Hello.from_json(await reader.readexactly(size))
    except (TimeoutError, asyncio.IncompleteReadError, OSError) as error:
        raise BadHello("the peer hung up before its hello") from error


def refusal_line(words: str) -> bytes:
    """The notification that tells a shim why it is not served."""
    return f'{{"jsonrpc":"2.0","method":"{wire.REFUSED}","params":{{"message":{wire.quote(words)}}}}}\n'.encode()


def peer_uid(sock: socket.socket) -> int:
    """Uid of the process at the other end of a Unix socket; -1 where the system does not tell."""
    if sys.platform == "linux":
        return int(struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    local_peercred = getattr(socket, "LOCAL_PEERCRED", None)
    if local_peercred is None:
        return -1
    # struct xucred: version, uid, number of groups, groups
    return int(struct.unpack_from("II", sock.getsockopt(0, local_peercred, 76))[1])


def check_owner(sock: socket.socket) -> None:
    """Raise `BadHello` unless the peer is this process's own user.

    Where the system does not tell, the private folder of the socket has decided.
    """
    if peer_uid(sock) not in (-1, os.geteuid()):
        raise BadHello("this memory belongs to another user")

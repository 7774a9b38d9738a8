"""What a host leaves for shims that come while no host runs: its own answers to the questions that open a session.

The answers are recorded from the very server that would give them, once for each protocol version, and are good for one
build only. So an agent whose host has not started yet is told the truth, and at once. The package brings the same answers
for the very first start; `python -m hydramind_mcp.manifest` records them anew, and a test holds them to the server.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import anyio
import mcp.types as t
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from hydramind import local
from hydramind_mcp import wire
from hydramind_mcp.server import SessionServer

if TYPE_CHECKING:
    from hydramind_client.aio import AsyncClient

PACKAGED = Path(__file__).with_name("opening.json")
"""The answers that the package brings."""

ANSWER_S = 30.0
"""How long the server may take over one of its own questions."""

Answers: TypeAlias = dict[str, dict[str, str]]
"""Protocol version → method → result, as JSON text."""


async def write_manifest(path: str, build: str) -> None:
    """Record the answers of this build, unless `path` has them already. Readers see the old file or the new one."""
    if not _is_of(Path(path), build):
        _replace(Path(path), render(build, await record_answers()))


def render(build: str, answers: Answers) -> str:
    """The manifest as text; an answer that several versions share is kept once."""
    texts = sorted({text for each in answers.values() for text in each.values()})
    places = {version: {method: texts.index(text) for method, text in each.items()} for version, each in answers.items()}
    return json.dumps({"build": build, "answers": places, "texts": texts}, ensure_ascii=False, indent=0) + "\n"


def _is_of(path: Path, build: str) -> bool:
    try:
        return bool(json.loads(path.read_bytes()).get("build") == build)
    except (OSError, ValueError, AttributeError):
        return False  # absent or damaged: written anew


def _replace(target: Path, text: str) -> None:
    fresh = target.with_suffix(f".{os.getpid()}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o600)
    fresh.replace(target)


async def record_answers() -> Answers:
    """Ask a server of this build what agents ask first, in each protocol version."""
    answers: Answers = {}
    for version in HANDSHAKE_PROTOCOL_VERSIONS:
        info = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "manifest", "version": local.version()}}
        answers[version] = await _ask([("initialize", info), ("tools/list", {})])
    for version in MODERN_PROTOCOL_VERSIONS:
        name, capabilities = wire.CLIENT_KEYS
        meta = {wire.MODERN_KEY: version, name: {"name": "manifest", "version": local.version()}, capabilities: {}}
        answers[version] = await _ask([("server/discover", {"_meta": meta}), ("tools/list", {"_meta": meta})])
    return answers


def _no_memory(_name: str, _version: str) -> AsyncClient:
    raise AssertionError("the questions of a manifest need no memory")


async def _ask(questions: Sequence[tuple[str, Mapping[str, object]]]) -> dict[str, str]:
    server = SessionServer("manifest", _no_memory).build()
    into_sdk, sdk_reads = anyio.create_memory_object_stream[SessionMessage | Exception](1)
    sdk_writes, out_of_sdk = anyio.create_memory_object_stream[SessionMessage](1)
    answers = {}
    async with asyncio.timeout(ANSWER_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(server.run(sdk_reads, sdk_writes, server.create_initialization_options()))
        async with into_sdk, out_of_sdk:
            for number, (method, params) in enumerate(questions):
                answers[method] = await _exchange(into_sdk, out_of_sdk, number, method, params)
    return answers


async def _exchange(
    into_sdk: MemoryObjectSendStream[SessionMessage | Exception],
    out_of_sdk: MemoryObjectReceiveStream[SessionMessage],
    number: int,
    method: str,
    params: Mapping[str, object],
) -> str:
    await into_sdk.send(SessionMessage(t.JSONRPCRequest(jsonrpc="2.0", id=number, method=method, params=dict(params))))
    answer = (await out_of_sdk.receive()).message
    if not isinstance(answer, t.JSONRPCResponse):
        raise RuntimeError(  # noqa: TRY004 - a wrong answer, not a wrong type
            f"the server refused {method}: {answer}"
        )
    return json.dumps(answer.result, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    PACKAGED.write_text(render("", asyncio.run(record_answers())), encoding="utf-8")

"""One memory behind three doors: MCP through a real shim, the shell's own command line, and the Python client.

Every door answers the same dictionary, the one of the contract, and refuses by raising `Refused`. What a front end cannot
express on purpose (a list of memories over MCP, say) raises `NotOffered`; the test then says so by asking `offers`.
"""

import contextlib
import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hydramind_cli import app
from hydramind_client import Client, HydraMindError, to_json
from tests.unit.mcp.rig import ShimProcess, call

Answer = dict[str, Any]
ENTRY = "import sys; from hydramind_cli.entry import main; sys.exit(main())"
BOUND_S = 60.0
NAMES = ("mcp", "shell", "python")


class Refused(Exception):
    """A door said no. `text` is everything that it said."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NotOffered(Exception):
    """This front end does not have the operation, by contract."""


class Door(Protocol):
    """What every front end can do. `tool` and the arguments are named as in the contract."""

    name: str

    def use(self, tool: str, **arguments: object) -> Answer: ...


@dataclass
class McpDoor:
    """Tools over JSON-RPC through a shim, the session host and the daemon: nothing in between is faked."""

    shim: ShimProcess
    name: str = "mcp"
    _ids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))

    def use(self, tool: str, **arguments: object) -> Answer:
        given = {key: value for key, value in arguments.items() if value is not None}
        answer = self.shim.ask(call(next(self._ids), tool, **given))
        if "error" in answer:
            if "no_such" in answer["error"]["message"] or "Unknown tool" in answer["error"]["message"]:
                raise NotOffered(tool)
            raise Refused(json.dumps(answer["error"]))
        result = answer["result"]
        if result.get("isError"):
            raise Refused(result["content"][0]["text"])
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]


COMMANDS = {"trace_memory": "trace", "check_conflict": "check", "explain_trust": "explain", "resolve_conflict": "resolve"}
POSITIONAL = {
    "remember": ("content",),
    "recall": ("query",),
    "revise": ("memory_id", "content"),
    "trace_memory": ("memory_id",),
    "check_conflict": ("content",),
    "explain_trust": ("memory_id",),
    "forget": ("memory_id",),
    "resolve_conflict": ("memory_id", "other_id", "verdict"),
}
OPTIONS = {"entities": "--entity", "derived_from": "--derived-from", "memory_id": "--memory", "relations": "--relation"}


def command_line(tool: str, arguments: Mapping[str, object]) -> list[str]:
    """The shell's words for a call of the contract."""
    positional = POSITIONAL.get(tool, ())
    words = [COMMANDS.get(tool, tool)]
    for key, value in arguments.items():
        if key in positional or value is None:
            continue
        option = OPTIONS.get(key, "--" + key.replace("_", "-"))
        for each in [value] if isinstance(value, (str, int)) else list(value):  # type: ignore[call-overload]
            words += [option, each.lower() if key == "relations" else str(each)]
    return [*words, "--json", "--", *(str(arguments[key]) for key in positional if key in arguments)]


@dataclass
class ShellDoor:
    """`hydramind …` in this process: the same click application, arguments, output and exit codes, without a start."""

    home: Path
    name: str = "shell"

    def run(self, *argv: str, stdin: str = "") -> tuple[int, str, str]:
        out, err, before = io.StringIO(), io.StringIO(), sys.stdin
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = int(app.run(["--home", str(self.home), *argv]))
        finally:
            sys.stdin = before
        return code, out.getvalue(), err.getvalue()

    def use(self, tool: str, **arguments: object) -> Answer:
        code, out, err = self.run(*command_line(tool, arguments))
        if code != 0:
            raise Refused(f"exit {code}: {err}")
        return json.loads(out)

    def json(self, *argv: str, stdin: str = "") -> Answer:
        code, out, err = self.run(*argv, "--json", stdin=stdin)
        assert code == 0, err
        return json.loads(out)


@dataclass
class PythonDoor:
    """The typed client; answers are written as every front end writes them."""

    client: Client
    name: str = "python"

    def use(self, tool: str, **arguments: object) -> Answer:
        try:
            return to_json(getattr(self.client, tool)(**arguments))
        except HydraMindError as error:
            raise Refused(f"{error.reason} {error} {error.metadata}") from error


@dataclass(frozen=True)
class World:
    """One home with one daemon and one session host, and its three doors."""

    home: Path
    elsewhere: Path
    """A folder that is in no project."""
    doors: Mapping[str, Door]

    @property
    def shell(self) -> ShellDoor:
        door = self.doors["shell"]
        assert isinstance(door, ShellDoor)
        return door

    @property
    def client(self) -> Client:
        door = self.doors["python"]
        assert isinstance(door, PythonDoor)
        return door.client


def environment(home: Path, **more: str) -> dict[str, str]:
    """What a process of this home gets."""
    return {**os.environ, "HYDRAMIND_HOME": str(home), **more}


def process(home: Path, cwd: Path, argv: Sequence[str], stdin: str = "", **env: str) -> "subprocess.CompletedProcess[str]":
    """`hydramind …` as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", ENTRY, *argv],
        input=stdin,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=environment(home, **env),
        timeout=BOUND_S,
        check=False,
    )


def contents(answer: Answer) -> list[str]:
    """What a recall found, best first."""
    return [memory["content"] for memory in answer["memories"]]


def refusal(door: Door, tool: str, **arguments: object) -> str:
    """What the door says when it must refuse."""
    try:
        answer = door.use(tool, **arguments)
    except Refused as refused:
        return refused.text
    raise AssertionError(f"{door.name} did not refuse: {answer}")

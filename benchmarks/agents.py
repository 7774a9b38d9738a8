"""Ten agents at once, from cold: one daemon and one host come of it, everything is stored, and a shim costs little.

    python -m benchmarks.agents [--shims 10] [--calls 20] [--rounds 20]

On a throw-away home, through the real shim: all shims start at the same moment with nothing running; each does its
handshake, lists the tools, remembers `--calls` facts and recalls as many. Then, with the host warm, the CPU time of a whole
shim (start, handshake, `tools/list`, end) is measured beside `python -I -S -c 'import socket'` of the same run, in turns; and
the same with no host at all, when the manifest answers. The figures go to `benchmarks/results/agents.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._report import write_result
from hydramind import local

PATIENCE_S = 120.0
TARGET_RATIO = 2.5
BASE = [sys.executable, "-I", "-S", "-c", "import socket"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@dataclass
class Agent:
    """One shim and what happened to it."""

    number: int
    calls: int
    command: list[str]
    env: dict[str, str]
    handshake_s: float = 0.0
    remember_s: list[float] = field(default_factory=list)
    recall_s: list[float] = field(default_factory=list)
    found: int = 0
    failures: list[str] = field(default_factory=list)

    def run(self, start: threading.Barrier) -> None:
        """Start together with the others, then remember and recall."""
        start.wait()
        began = time.perf_counter()
        with subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.env) as shim:
            try:
                self._ask(shim, INITIALIZE)
                self._send(shim, INITIALIZED)
                tools = self._ask(shim, LIST)["result"]["tools"]
                self.handshake_s = time.perf_counter() - began
                if len(tools) < 8:
                    self.failures.append(f"only {len(tools)} tools")
                self._work(shim)
            except (KeyError, ValueError, OSError) as error:
                self.failures.append(f"{type(error).__name__}: {error}")
            assert shim.stdin is not None
            shim.stdin.close()
            shim.wait(PATIENCE_S)

    def _work(self, shim: subprocess.Popen[bytes]) -> None:
        for each in range(self.calls):
            fact = f"Agent {self.number} keeps crate c{self.number}x{each} on shelf s{each}."
            arguments = {"content": fact, "scope": "bench", "entities": [f"c{self.number}x{each}"]}
            self._call(shim, 100 + each, "remember", arguments, self.remember_s)
        for each in range(self.calls):
            question = {"query": f"On which shelf is crate c{self.number}x{each}?", "scope": "bench"}
            content = self._call(shim, 1000 + each, "recall", question, self.recall_s)
            texts = [memory["content"] for memory in content.get("memories", [])]
            self.found += any(f"c{self.number}x{each} " in text for text in texts)

    def _call(
        self, shim: subprocess.Popen[bytes], number: int, tool: str, arguments: dict[str, object], times: list[float]
    ) -> dict[str, Any]:
        began = time.perf_counter()
        params = {"name": tool, "arguments": arguments}
        answer = self._ask(shim, {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        times.append(time.perf_counter() - began)
        if "error" in answer or answer["result"].get("isError"):
            self.failures.append(json.dumps(answer)[:500])
            return {}
        return answer["result"]["structuredContent"]  # type: ignore[no-any-return]

    def _send(self, shim: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
        assert shim.stdin is not None
        shim.stdin.write(json.dumps(message).encode() + b"\n")
        shim.stdin.flush()

    def _ask(self, shim: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
        self._send(shim, message)
        assert shim.stdout is not None
        while line := shim.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == message["id"]:
                return answer
        raise ValueError("the shim ended")


def processes(module: str, home: Path) -> list[int]:
    """Pids of Python processes that run `module` for `home`; needs /proc, else only what the lock files name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            environ = (folder / "environ").read_bytes().split(b"\0")
            if module.encode() in words and f"HYDRAMIND_HOME={home}".encode() in environ:
                found.append(int(folder.name))
    if not found and not Path("/proc/self").exists():
        lock = "daemon.lock" if "daemon" in module else "mcp.lock"
        found = [pid for pid, _ in [local.read_holder(str(home / lock))] if pid]
    return found


def cold_start(options: argparse.Namespace, command: list[str], env: dict[str, str], home: Path) -> dict[str, object]:
    """All agents at once with nothing running."""
    agents = [Agent(number, options.calls, command, env) for number in range(options.shims)]
    start = threading.Barrier(options.shims)
    threads = [threading.Thread(target=agent.run, args=(start,)) for agent in agents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stored = status_of(command, env).get("memories", 0)
    return {
        "shims": options.shims,
        "calls_each": options.calls,
        "failures": [failure for agent in agents for failure in agent.failures],
        "daemons": len(processes("hydramind_daemon", home)),
        "hosts": len(processes("hydramind_mcp.host", home)),
        "remembered": options.shims * options.calls,
        "stored": stored,
        "recalled": sum(agent.found for agent in agents),
        "handshake_s": spread([agent.handshake_s for agent in agents]),
        "remember_s": spread([each for agent in agents for each in agent.remember_s]),
        "recall_s": spread([each for agent in agents for each in agent.recall_s]),
    }


def status_of(command: list[str], env: dict[str, str]) -> dict[str, Any]:
    """The daemon's state, as an agent reads it."""
    agent = Agent(0, 0, command, env)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as shim:
        agent._ask(shim, INITIALIZE)  # noqa: SLF001 - the same module
        agent._send(shim, INITIALIZED)  # noqa: SLF001
        params = {"uri": "hydramind://status"}
        answer = agent._ask(shim, {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params})  # noqa: SLF001
        assert shim.stdin is not None
        shim.stdin.close()
        shim.wait(PATIENCE_S)
    return json.loads(answer["result"]["contents"][0]["text"])  # type: ignore[no-any-return]


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median and extremes."""
    if not seconds:
        return {}
    return {"min": round(min(seconds), 4), "p50": round(statistics.median(seconds), 4), "max": round(max(seconds), 4)}


def cpu_s(command: list[str], env: dict[str, str], *, session: bool) -> float:
    """CPU time of one process from start to end, user and system; with a handshake and `tools/list` when `session`."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdin is not None
        if session:
            agent = Agent(0, 0, command, env)
            for message in (INITIALIZE, LIST):
                assert "result" in agent._ask(process, message)  # noqa: SLF001 - the same module
        process.stdin.close()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    return usage.ru_utime + usage.ru_stime


def compare(commands: dict[str, list[str]], env: dict[str, str], rounds: int) -> dict[str, object]:
    """Median CPU of each command and its ratio to the base, measured in turns."""
    times: dict[str, list[float]] = {name: [] for name in ("base", *commands)}
    for _ in range(rounds):
        times["base"].append(cpu_s(BASE, env, session=False))
        for name, command in commands.items():
            times[name].append(cpu_s(command, env, session=True))
    base = statistics.median(times["base"])
    medians = {name: statistics.median(each) for name, each in times.items()}
    return {name: {"cpu_ms": round(value * 1000, 2), "ratio_to_base": round(value / base, 2)} for name, value in medians.items()}


def stop(home: Path) -> None:
    """End host and daemon of this home."""
    for module in ("hydramind_mcp.host", "hydramind_daemon"):
        for pid in processes(module, home):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 30
        while processes(module, home) and time.monotonic() < deadline:
            time.sleep(0.05)


def shim_commands() -> dict[str, list[str]]:
    """The ways to start a shim that this environment has."""
    found = {"python -c": [sys.executable, "-c", "from hydramind_mcp.shim import main; main()"]}
    for name, words in (("hydramind-mcp", []), ("hydramind", ["mcp"])):
        script = Path(sys.executable).with_name(name)
        if script.exists():
            found[" ".join([name, *words])] = [str(script), *words]
    return found


def main() -> None:
    """Run all parts and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shims", type=int, default=10)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hm-agents-")).resolve()
    home = folder / "home"
    env = {name: value for name, value in os.environ.items() if not name.startswith("HYDRAMIND_")}
    env["HYDRAMIND_HOME"] = str(home)
    commands = shim_commands()
    try:
        cold = cold_start(options, commands["python -c"], env, home)
        warm = compare(commands, env, options.rounds)
        stop(home)
        unhosted = compare(commands, {**env, "HYDRAMIND_NO_SPAWN": "1"}, options.rounds)
    finally:
        stop(home)
        shutil.rmtree(folder, ignore_errors=True)
    reached = all(entry["ratio_to_base"] <= TARGET_RATIO for entry in warm.values())  # type: ignore[index]
    result = {"cold": cold, "cpu_warm_host": warm, "cpu_manifest_only": unhosted, "cpu_target_ratio": TARGET_RATIO}
    write_result("agents", {**result, "cpu_target_reached": reached})
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

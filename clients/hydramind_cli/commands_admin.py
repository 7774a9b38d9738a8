"""Commands about the daemon, its settings, and the processes that agents talk to."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from hydramind import local, settings
from hydramind_cli.context import Shell, command
from hydramind_cli.exit_codes import ExitCode
from hydramind_cli.output import Output, clean, count, duration, size
from hydramind_client import model as m
from hydramind_client import spawn
from hydramind_client.errors import DeadlineExceeded, FailedPrecondition, Unavailable
from hydramind_client.render import JsonObject

_STOP_S = 75.0
_PAUSE_S = 0.03
_ENABLE = "systemctl --user daemon-reload && systemctl --user enable --now " + local.UNIT_NAME


@command("status")
def status_command(shell: Shell) -> None:
    """Show the state of the daemon and its store. Starts the daemon if it does not run; `daemon status` does not."""
    _show_status(shell, spawn_it=True)


def _show_status(shell: Shell, *, spawn_it: bool) -> None:
    with shell.client(spawn=spawn_it) as client:
        answer = client.get_status()
    if shell.as_json:
        shell.out.json(answer)
    else:
        _draw_status(shell.out, answer)


def _draw_status(out: Output, answer: m.ServerStatus) -> None:
    good = answer.state == "serving"
    sign = (f"{out.signs.ok} {answer.state}", "green") if good else (f"{out.signs.bad} {answer.state}", "red")
    out.line(sign, f"  {clean(answer.state_reason or '')}")
    kind = "started by hand or by a unit" if answer.managed else "started on demand"
    rows = [
        ("pid", f"{answer.pid}, {kind}, up {duration(answer.uptime_s)}"),
        ("version", f"{answer.version} ({answer.build_id})"),
        ("home", answer.home),
        ("socket", answer.socket),
        (
            "store",
            f"{size(answer.store_bytes)}, log {size(answer.wal_bytes)}, schema {answer.schema_version}",
        ),
        (
            "disk",
            f"{size(answer.disk_free_bytes)} free",
        ),
        ("memories", f"{answer.memories:,} in {count(answer.scopes, 'scope')}, sequence {answer.sequence:,}"),
        ("work", f"{answer.queue_length} waiting, {answer.pending_cascades} spreading, {answer.watchers} watching"),
        ("resident", size(answer.rss_bytes)),
        ("locked scopes", ", ".join(answer.locked_scopes)),
        ("lost", ", ".join(answer.missing_sequences)),
        ("set aside", ", ".join(answer.quarantined_files)),
    ]
    for name, value in rows:
        if value:
            out.line((f"{name:>14}  ", "dim"), clean(value))


@click.group("daemon")
def daemon_command() -> None:
    """Run, start, stop and install the daemon."""


@command("run", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def run_command(shell: Shell, flags: Sequence[str]) -> None:
    """Run the daemon here, in the foreground. FLAGS are the daemon's own, for example --log-level debug."""
    place = _place_flags(shell)
    _become(local.DAEMON_MODULE, ["--managed", *place, *flags])


@command("start")
def start_command(shell: Shell) -> None:
    """Start the daemon in the background if it does not run yet."""
    plan = spawn.plan(None, shell.home, shell.socket, limit_s=shell.timeout_s or 30.0)
    spawn.ensure_running(plan)
    _show_status(shell, spawn_it=False)


@command("stop")
@click.option(
    "--grace", "grace_s", type=click.IntRange(0, 60), metavar="SECONDS", help="Calls under way get this long. Default: 10."
)
def stop_command(shell: Shell, grace_s: int | None) -> None:
    """Stop the daemon after the calls under way, and wait until it is gone. Not running is fine. Never starts one."""
    pid = stop(shell, grace_s)
    out = shell.out
    if out.as_json:
        answer: JsonObject = {"stopped": bool(pid)}
        if pid:
            answer["pid"] = pid
        out.json(answer)
    elif pid:
        out.line((f"{out.signs.ok} stopped ", "green"), f"(pid {pid})")
    else:
        out.line("no daemon is running")


def stop(shell: Shell, grace_s: int | None = None) -> int:
    """Stop the daemon and wait for its end; its pid, 0 when none ran."""
    with shell.client(spawn=False) as client:
        try:
            pid = client.drain(grace_s).pid
        except Unavailable as error:
            if error.reason != "NOT_RUNNING":
                raise
            return 0
    until = time.monotonic() + (shell.timeout_s or _STOP_S)
    while process_runs(pid):
        if time.monotonic() > until:
            raise DeadlineExceeded(f"the daemon (pid {pid}) was told to stop and has not ended yet")
        time.sleep(_PAUSE_S)
    return pid


def process_runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not reaped does not count."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] != "Z"
    return True


@command("restart")
def restart_command(shell: Shell) -> None:
    """Stop the daemon if it runs, and start it again with this installation."""
    stop(shell)
    spawn.ensure_running(spawn.plan(None, shell.home, shell.socket, limit_s=shell.timeout_s or 30.0))
    _show_status(shell, spawn_it=False)


@command("status")
def daemon_status_command(shell: Shell) -> None:
    """Show the state of the daemon; exits with 69 when it does not run."""
    _show_status(shell, spawn_it=False)


@command("logs")
@click.option("--lines", "-n", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many of the last.")
@click.option("--follow", "-f", is_flag=True, help="Go on as the log grows.")
def logs_command(shell: Shell, lines: int, follow: bool) -> int:
    """Print the log of daemons that were started on demand. A unit's log is in the journal."""
    path = shell.addresses().log_file
    command_line = ["tail", "-n", str(lines), *(["-F"] if follow else []), path]
    if not Path(path).exists():
        shell.out.note(f"hydramind: there is no log at {path} yet")
        return ExitCode.NOT_FOUND
    sys.stdout.flush()
    return subprocess.run(command_line, check=False).returncode  # noqa: S603 - tail with our own path


@command("install-unit")
@click.option("--print", "print_only", is_flag=True, help="Only print it.")
def install_unit_command(shell: Shell, print_only: bool) -> None:
    """Install the service that starts the daemon at login (systemd user unit; on macOS a LaunchAgent is printed)."""
    kind = "launchd" if sys.platform == "darwin" else "user"
    made = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-P", "-m", f"{local.DAEMON_MODULE}.systemd", kind], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        raise FailedPrecondition(f"the unit could not be made: {made.stderr.strip()}", reason="NO_UNIT")
    out = shell.out
    if print_only or kind == "launchd":
        out.stream.write(made.stdout)
        return
    path = Path(local.user_unit_file())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made.stdout, encoding="utf-8")
    if out.as_json:
        out.json({"path": str(path), "next": _ENABLE})
    else:
        out.line((f"{out.signs.ok} ", "green"), f"written to {path}")
        out.line("now: ", (_ENABLE, "bold"))


for _made in (
    run_command, start_command, stop_command, restart_command, daemon_status_command, logs_command, install_unit_command,
):  # fmt: skip
    daemon_command.add_command(_made)


@click.group("config")
def config_command() -> None:
    """Show settings and where they come from."""


@command("show")
def config_show_command(shell: Shell) -> None:
    """Print each setting, its value and where it came from. Secrets are masked."""
    found = settings.load({"home": shell.home or None, "socket": shell.socket or None, "scope": shell.scope})
    out = shell.out
    if out.as_json:
        out.json({"file": found.file, "settings": [_row_json(row) for row in found.rows()], "warnings": list(found.warnings)})
        return
    out.table(
        ["SETTING", "VALUE", "FROM"], [[row.name, row.value or "unset", f"{row.source} ({row.detail})"] for row in found.rows()]
    )
    for warning in found.warnings:
        out.note(f"warning: {warning}")


def _row_json(row: settings.Row) -> JsonObject:
    return {
        "name": row.name,
        "value": row.value,
        "source": row.source.value,
        "detail": row.detail,
        "variable": row.env,
        "help": row.help,
    }


@command("path")
def config_path_command(shell: Shell) -> None:
    """Print which file settings are read from, and where everything lives."""
    where = shell.addresses()
    rows: JsonObject = {
        "config": os.environ.get("HYDRAMIND_CONFIG") or str(Path(where.config_dir) / "config.toml"),
        "home": where.home,
        "store": where.store_file,
        "socket": where.socket,
        "log": where.log_file,
    }
    out = shell.out
    if out.as_json:
        out.json(rows)
        return
    for name, value in rows.items():
        out.line((f"{name:>8}  ", "dim"), str(value))


config_command.add_command(config_show_command)
config_command.add_command(config_path_command)


@command("mcp")
def mcp_command(shell: Shell) -> None:
    """Serve one agent over stdin and stdout (MCP). Starts what it needs, and ends with the agent."""
    _to_environment(shell)
    from hydramind_mcp.shim import main

    sys.stdout.flush()
    main()


@command("mcp-host", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def mcp_host_command(shell: Shell, flags: Sequence[str]) -> None:
    """Run the process that all MCP sessions of this home share, in the foreground."""
    _to_environment(shell)
    _become("hydramind_mcp.host", list(flags))


@command("demo")
@click.option("--keep", is_flag=True, help="Leave the home and the daemon, and say how to look at them.")
def demo_command(shell: Shell, keep: bool) -> int:
    """Tell the story of one contradiction, on a throw-away home, and check every number of it."""
    from hydramind_cli.story import tell

    return tell(home=shell.home, socket=shell.socket, keep=keep, as_json=shell.as_json)


@command("version")
def version_command(shell: Shell) -> None:
    """Print the version."""
    if shell.as_json:
        shell.out.json({"version": local.version(), "build_id": local.build_id(), "api_level": local.API_LEVEL})
    else:
        shell.out.line(f"hydramind {local.version()}")


def _place_flags(shell: Shell) -> list[str]:
    flags = ["--home", shell.home] if shell.home else []
    return [*flags, "--socket", shell.socket] if shell.socket else flags


def _to_environment(shell: Shell) -> None:
    """Options become variables: the shim and the host read nothing else."""
    for name, value in (("HOME", shell.home), ("SOCKET", shell.socket), ("SCOPE", shell.scope or "")):
        if value:
            os.environ[f"HYDRAMIND_{name}"] = value


def _become(module: str, arguments: Sequence[str]) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *arguments])  # noqa: S606 - no shell, our own module

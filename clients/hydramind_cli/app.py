"""The command line: its commands, loaded when called, and what an error looks like."""

from __future__ import annotations

import difflib
import importlib
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence

import click

from hydramind import local
from hydramind.settings import SettingsError
from hydramind_cli.context import Shell, global_options
from hydramind_cli.exit_codes import ExitCode, exit_code_of
from hydramind_client.errors import HydraMindError
from hydramind_client.render import JsonObject

_MEMORY = "hydramind_cli.commands_memory"
_VIEWS = "hydramind_cli.commands_views"
_DATA = "hydramind_cli.commands_data"
_ADMIN = "hydramind_cli.commands_admin"
COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "remember": ("Memory", _MEMORY, "Store a fact; what it contradicts loses trust."),
    "recall": ("Memory", _MEMORY, "Find facts for a question, or say that there are none."),
    "revise": ("Memory", _MEMORY, "Replace a fact by a newer version."),
    "timeline": ("Memory", _VIEWS, "Show facts by the time from which they hold."),
    "trace": ("Memory", _VIEWS, "Show what a fact was derived from, and what it contradicts."),
    "check": ("Memory", _MEMORY, "Ask what a claim would contradict, without storing it."),
    "explain": ("Memory", _VIEWS, "Explain in words why a fact has its trust."),
    "forget": ("Memory", _MEMORY, "Take a fact out of recall and withdraw what it caused."),
    "resolve": ("Memory", _MEMORY, "Settle a contradiction: it stands, or it is dismissed."),
    "get": ("Look", _VIEWS, "Show one memory by its id."),
    "list": ("Look", _VIEWS, "List the memories of a scope, newest first."),
    "entities": ("Look", _VIEWS, "List what the memories of a scope are about."),
    "conflicts": ("Look", _VIEWS, "List contradictions, both sides."),
    "neighborhood": ("Look", _VIEWS, "List the memories around one, and their edges."),
    "scopes": ("Look", _VIEWS, "List scopes."),
    "stats": ("Look", _VIEWS, "Count what a scope holds."),
    "watch": ("Look", _VIEWS, "Print changes as they happen."),
    "import": ("Data", _DATA, "Store the lines of a JSON Lines file."),
    "export": ("Data", _DATA, "Write memories as JSON Lines."),
    "purge": ("Data", _DATA, "Erase the content of memories for good."),
    "backup": ("Data", _DATA, "Write a consistent copy of the store."),
    "verify": ("Data", _DATA, "Check the store."),
    "rebuild": ("Data", _DATA, "Build indexes and trust anew from the log."),
    "status": ("Daemon", _ADMIN, "Show the state of the daemon and its store."),
    "daemon": ("Daemon", _ADMIN, "Run, start, stop and install the daemon."),
    "config": ("Daemon", _ADMIN, "Show settings and where they come from."),
    "doctor": ("Daemon", "hydramind_cli.doctor", "Find out what is wrong, and mend it with --fix."),
    "mcp": ("Daemon", _ADMIN, "Serve an agent over stdin and stdout (MCP)."),
    "mcp-host": ("Daemon", _ADMIN, "Run the process that MCP sessions share."),
    "demo": ("Daemon", _ADMIN, "Tell the story of one contradiction on a throw-away home."),
    "version": ("Daemon", _ADMIN, "Print the version."),
}
"""Every command: the heading it stands under, the module that has it, and its help in one line."""

_SUGGESTED = 3


class _ReaderGoneError(Exception):
    """Whoever read our output closed the pipe."""


class Commands(click.Group):
    """A group whose commands are imported when they are called, and that suggests the right name for a wrong one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now; None when there is none of this name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name][1])
        found = getattr(module, cmd_name.replace("-", "_") + "_command")
        assert isinstance(found, click.Command)
        return found

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which ones are meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            near = difflib.get_close_matches(args[0], COMMANDS, n=_SUGGESTED, cutoff=0.5)
            hint = f" Did you mean {' or '.join(near)}?" if near else " `hydramind --help` lists them all."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx) from None

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader that has gone is told apart here, because click would end the process with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _ReaderGoneError from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        del ctx
        for heading in dict.fromkeys(entry[0] for entry in COMMANDS.values()):
            with formatter.section(heading):
                formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items() if entry[0] == heading])


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"hydramind {local.version()}")
        ctx.exit()


@click.group(
    cls=Commands,
    name="hydramind",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
    invoke_without_command=True,
    epilog="Exit codes: 0 done, 64 usage, 65 bad data, 66 not found, 69 no daemon, 75 try again, 77 permission, 78 settings.",
)
@click.pass_context
def cli(ctx: click.Context, /, as_json: bool, scope: str | None, home: str, socket: str, timeout_s: float | None) -> None:
    """Memory for coding agents that knows when it may be wrong.

    Every command takes --json and the other options below also after its name. Content may come from stdin: write - for it.
    """
    ctx.obj = Shell(as_json, scope, home, socket, timeout_s)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


cli.params.extend(global_options())
cli.params.append(
    click.Option(["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version.")
)


def run(argv: Sequence[str]) -> int:
    """Run one command line; answers the exit code."""
    _prepare_streams()
    try:
        result = cli.main(list(argv), prog_name="hydramind", standalone_mode=False)
        sys.stdout.flush()
    except (_ReaderGoneError, BrokenPipeError):
        # The reader has gone (`| head`): nothing is wrong, but the interpreter's last flush must not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return ExitCode.OK
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("\ninterrupted\n")
        return ExitCode.INTERRUPTED
    except (click.ClickException, HydraMindError, SettingsError, OSError) as error:
        return _report(error, as_json="--json" in argv)
    return result if isinstance(result, int) else ExitCode.OK


def _report(error: click.ClickException | HydraMindError | SettingsError | OSError, *, as_json: bool) -> int:
    """Say what went wrong, on stderr; answers the exit code."""
    if isinstance(error, click.UsageError):
        return _usage(error, as_json=as_json)
    if isinstance(error, HydraMindError):
        return _fail(error.message, exit_code_of(error), as_json=as_json, reason=error.reason, more=error.metadata)
    if isinstance(error, SettingsError):
        return _fail(str(error), ExitCode.CONFIGURATION, as_json=as_json, reason="BAD_CONFIGURATION")
    if isinstance(error, OSError):
        message = f"{error.filename or 'file'}: {error.strerror or error}"
        return _fail(message, ExitCode.IO_ERROR, as_json=as_json, reason="IO_ERROR")
    return _fail(error.format_message(), ExitCode.FAILED, as_json=as_json)


def _prepare_streams() -> None:
    """Text that the terminal's encoding cannot write appears as an escape; what a closed stream would get goes nowhere."""
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _usage(error: click.UsageError, *, as_json: bool) -> int:
    if as_json:
        return _fail(error.format_message(), ExitCode.USAGE, as_json=True, reason="USAGE")
    error.show()
    return ExitCode.USAGE


def _fail(message: str, code: ExitCode, *, as_json: bool, reason: str = "FAILED", more: Mapping[str, str] | None = None) -> int:
    if as_json:
        problem: JsonObject = {"reason": reason, "message": message, "exit_code": int(code)}
        if more:
            problem["metadata"] = dict(more)
            if "field" in more:
                problem["field"] = more["field"]
        sys.stderr.write(json.dumps({"error": problem}) + "\n")
    else:
        sys.stderr.write(f"hydramind: {message}\n")
    return code

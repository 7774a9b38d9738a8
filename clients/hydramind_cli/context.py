"""What every command shares: the global options, the client, and how a command is declared."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from hydramind import local
from hydramind_cli.output import Output
from hydramind_client.model import Actor
from hydramind_client.scope import ScopeRef, resolve_scope

if TYPE_CHECKING:
    from hydramind_client.client import Client

DEFAULT_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Shell:
    """The global options of one command line. Empty and None mean: not given."""

    as_json: bool = False
    scope: str | None = None
    home: str = ""
    socket: str = ""
    timeout_s: float | None = None

    def merged(self, given: Shell) -> Shell:
        """These options, overruled by those written after the command's name."""
        return replace(
            self,
            as_json=self.as_json or given.as_json,
            scope=self.scope if given.scope is None else given.scope,
            home=given.home or self.home,
            socket=given.socket or self.socket,
            timeout_s=self.timeout_s if given.timeout_s is None else given.timeout_s,
        )

    @property
    def out(self) -> Output:
        """Where the answer goes."""
        return Output(as_json=self.as_json)

    def client(self, *, spawn: bool = True) -> Client:
        """The client of this command; gRPC is loaded here and not before."""
        from hydramind_client.client import Client

        return Client(
            home=self.home,
            socket=self.socket,
            scope=self.scope,
            timeout_s=self.timeout_s or DEFAULT_TIMEOUT_S,
            start_timeout_s=self.timeout_s or 30.0,
            spawn=spawn,
            actor=Actor("hydramind-cli", local.version(), os.getpid(), f"shell-{os.getppid()}"),
        )

    def scope_ref(self) -> ScopeRef:
        """The scope that calls of this command use."""
        return resolve_scope(self.scope)

    def addresses(self) -> local.Addresses:
        """Where the daemon of these options lives."""
        return local.addresses(None, self.home, self.socket)


def global_options() -> list[click.Option]:
    """The options that stand before or after the command's name."""
    return [
        click.Option(["--json", "as_json"], is_flag=True, help="Print the answer as JSON."),
        click.Option(["--scope"], metavar="NAME", help="Scope. Default: HYDRAMIND_SCOPE, the project's, or `default`."),
        click.Option(["--home"], default="", metavar="FOLDER", help="Home of the store."),
        click.Option(["--socket"], default="", metavar="PATH", help="Socket of the daemon."),
        click.Option(
            ["--timeout", "timeout_s"],
            type=click.FloatRange(min=0.05, max=86_400),
            metavar="SECONDS",
            help="Deadline. Default: 10.",
        ),
    ]


def command(name: str, **settings: Any) -> Callable[[Callable[..., int | None]], click.Command]:
    """Declare a command: the function gets the `Shell` first, then its own parameters."""

    def declare(function: Callable[..., int | None]) -> click.Command:
        @functools.wraps(function)
        def run(
            *, as_json: bool, scope: str | None, home: str, socket: str, timeout_s: float | None, **given: object
        ) -> int | None:
            outer = click.get_current_context().find_object(Shell) or Shell()
            return function(outer.merged(Shell(as_json, scope, home, socket, timeout_s)), **given)

        decorate: Callable[[Callable[..., int | None]], click.Command] = click.command(name, **settings)
        made = decorate(run)
        made.params.extend(global_options())
        return made

    return declare

"""The host's one connection to the daemon, and what each session sees of it: its own actor and its own scope."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from types import TracebackType
from typing import Self

import structlog

from hydramind import local
from hydramind_client import Actor, HydraMindError, ScopeRef, resolve_scope
from hydramind_client.aio import AsyncClient
from hydramind_mcp.server import Connect, FindScope
from hydramind_mcp.session import Hello

_log = structlog.get_logger("hydramind.mcp")


@dataclass(frozen=True, slots=True)
class Memories:
    """Gives sessions their views of one client."""

    client: AsyncClient

    @classmethod
    def at(cls, addresses: local.Addresses) -> Memories:
        """For the daemon at these addresses, which is started when a call needs it."""
        actor = Actor("hydramind-mcp-host", local.version())
        return cls(AsyncClient(home=addresses.home, socket=addresses.socket, scope=ScopeRef(), actor=actor))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.client.close()

    async def warm_up(self) -> None:
        """Find or start the daemon before the first call needs it."""
        try:
            await self.client.get_server_info()
        except HydraMindError as error:
            _log.warning("no_daemon", why=str(error))

    def connect(self, hello: Hello) -> Connect:
        """The session's view: the agent's name and version, its shim's pid, and its session."""

        @lru_cache(maxsize=16)
        def view(name: str, version: str) -> AsyncClient:
            return self.client.with_actor(Actor(name or None, version or None, hello.pid, hello.session))

        return view

    def find_scope(self, hello: Hello) -> FindScope:
        """The session's own scope, from where its agent was started and what its environment says."""

        @cache
        def found() -> ScopeRef:
            return resolve_scope(environ={"HYDRAMIND_SCOPE": hello.scope}, cwd=hello.cwd)

        return found

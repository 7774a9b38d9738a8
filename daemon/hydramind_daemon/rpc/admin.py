"""AdminService: identity, health, backup, verification, rebuilding, drain."""

from __future__ import annotations

from collections.abc import Callable

from hydramind.v1 import admin_pb2 as pb
from hydramind_daemon.rpc import to_proto
from hydramind_daemon.services.admin import ServerInfo
from hydramind_daemon.services.container import Services
from hydramind_daemon.services.context import Call
from hydramind_domain.errors import InvalidArgument

Drain = Callable[[float | None], None]
"""Asks the lifecycle to stop; None: the grace period of the settings."""

_GRACE_S = 60


class AdminCalls:
    """Methods of the service; `Guard` puts them on the wire."""

    def __init__(self, services: Services, info: ServerInfo, drain: Drain) -> None:
        self._admin = services.admin
        self._info = info
        self._drain = drain
        self._server = pb.GetServerInfoResponse(
            version=info.version,
            build_id=info.build_id,
            api_level=info.api_level,
            pid=info.pid,
            started_at=to_proto.timestamp(info.started_at),
            record="embedded",
            managed=info.managed,
        )

    async def get_server_info(self, m: pb.GetServerInfoRequest, call: Call) -> pb.GetServerInfoResponse:
        """See the contract."""
        del m, call
        return self._server

    async def get_status(self, m: pb.GetStatusRequest, call: Call) -> pb.GetStatusResponse:
        """See the contract."""
        del m
        status = await self._admin.status(self._info.home, call)
        store = status.store
        return pb.GetStatusResponse(
            server=self._server,
            state=status.state,
            state_reason=status.state_reason,
            home=self._info.home,
            socket=self._info.socket,
            store_bytes=store.store_bytes,
            wal_bytes=store.wal_bytes,
            schema_version=store.schema_version,
            sequence=store.sequence,
            memories=store.memories,
            scopes=store.scopes,
            queue_length=status.queue_length,
            watchers=status.watchers,
            locked_scopes=status.locked_scopes,
            rss_bytes=status.rss_bytes,
            pending_cascades=store.open_cascades,
            uptime_s=max(0, status.now - self._info.started_at) // 1_000_000,
            disk_free_bytes=status.disk_free_bytes,
            missing_sequences=store.missing_sequences,
            quarantined_files=store.quarantined_files,
        )

    async def backup(self, m: pb.BackupRequest, call: Call) -> pb.BackupResponse:
        """See the contract."""
        size_bytes, sequence = await self._admin.backup(m.path, call)
        return pb.BackupResponse(path=m.path, size_bytes=size_bytes, sequence=sequence)

    async def verify(self, m: pb.VerifyRequest, call: Call) -> pb.VerifyResponse:
        """See the contract."""
        del m
        found = await self._admin.verify(call)
        return pb.VerifyResponse(ok=not found.problems, problems=found.problems, memories=found.memories, records=found.records)

    async def rebuild(self, m: pb.RebuildRequest, call: Call) -> pb.RebuildResponse:
        """See the contract."""
        del m, call
        records, memories = await self._admin.rebuild()
        return pb.RebuildResponse(records=records, memories=memories)

    async def drain(self, m: pb.DrainRequest, call: Call) -> pb.DrainResponse:
        """See the contract."""
        del call
        if not 0 <= m.grace_s <= _GRACE_S:
            raise InvalidArgument.of("grace_s", f"is {m.grace_s}; give 0 to {_GRACE_S}")
        self._drain(float(m.grace_s) or None)
        return pb.DrainResponse(pid=self._info.pid)

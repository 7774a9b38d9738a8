"""EventService: Watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from hydramind.v1 import event_pb2 as pb
from hydramind_daemon.rpc import to_proto
from hydramind_daemon.services import validate
from hydramind_daemon.services.answers import EXCERPT
from hydramind_daemon.services.container import Services
from hydramind_daemon.services.context import Call
from hydramind_daemon.services.hub import Beat, Message, Resync
from hydramind_daemon.services.ports import PastEvent
from hydramind_domain.errors import InvalidArgument

_SCOPES = 1_000


class EventCalls:
    """Methods of the service; `Guard` puts them on the wire."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def watch(self, m: pb.WatchRequest, call: Call) -> AsyncGenerator[pb.WatchResponse, None]:
        """See the contract."""
        del call
        cursor = m.cursor if m.HasField("cursor") else None
        if cursor is not None and cursor < 0:
            raise InvalidArgument.of("cursor", "is negative; give the cursor that was answered last, or 0")
        if len(m.scopes) > _SCOPES:
            raise InvalidArgument.of("scopes", f"has more than {_SCOPES} entries; leave it empty for all")
        scopes = [validate.name(name, "scopes") for name in m.scopes]
        heartbeat_s = validate.number(m.heartbeat_s, "heartbeat_s", 10, 60)
        async with aclosing(self._services.hub.watch(cursor, scopes, heartbeat_s)) as messages:
            async for message in messages:
                yield _message(message)


def _message(message: Message) -> pb.WatchResponse:
    if isinstance(message, Beat):
        return pb.WatchResponse(heartbeat=pb.Heartbeat(cursor=message.cursor, draining=message.draining))
    if isinstance(message, Resync):
        resync = pb.ResyncRequired(reason=message.reason, oldest=message.oldest, newest=message.newest)
        return pb.WatchResponse(resync_required=resync)
    return pb.WatchResponse(event=_event(message))


def _event(event: PastEvent) -> pb.MemoryEvent:
    return pb.MemoryEvent(
        sequence=event.seq,
        ordinal=event.ordinal,
        kind=event.kind,
        scope=event.scope,
        memory_id=event.memory_id,
        at=to_proto.timestamp(event.at),
        other_id=event.other_id,
        before_trust=event.before,
        after_trust=event.after,
        status=to_proto.STATUS[event.status],
        reason=event.reason,
        actor=to_proto.actor(event.actor),
        content=event.content[:EXCERPT],
    )

"""The streaming writes of MemoryService: RememberBatch and Import."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass

from hydramind.v1 import memory_pb2 as pb
from hydramind_daemon.rpc import errors, from_proto, to_proto
from hydramind_daemon.rpc.memory import MemoryCalls
from hydramind_daemon.rpc.streams import pipelined
from hydramind_daemon.services.context import Call, ScopeAnswer
from hydramind_daemon.services.jobs import Committed
from hydramind_daemon.services.requests import RememberRequest
from hydramind_daemon.services.transfer import ImportRecord, ImportRun
from hydramind_domain.errors import HydraMindError, InvalidArgument


def item_error(error: HydraMindError) -> pb.ItemError:
    """Why one element was refused."""
    return pb.ItemError(code=errors.code_of(error), reason=error.reason, message=error.message[:1_000], field=error.field)


@dataclass(frozen=True, slots=True)
class _Element:
    """An element that was begun, or refused: its place, what to wait for."""

    position: int
    begun: asyncio.Future[Committed] | HydraMindError
    request: RememberRequest | None = None
    scope: ScopeAnswer | None = None
    record: ImportRecord | None = None


class MemoryStreams(MemoryCalls):
    """MemoryService with its streaming writes."""

    async def remember_batch(
        self, source: AsyncIterator[pb.RememberBatchRequest], call: Call
    ) -> AsyncGenerator[pb.RememberBatchResponse, None]:
        """See the contract."""
        transfer = self._services.transfer
        positions = itertools.count()

        async def begin(m: pb.RememberBatchRequest) -> _Element:
            position = next(positions)
            request = from_proto.remember(m.remember)
            try:
                future, scope = await transfer.begin_remember(request, call)
            except HydraMindError as error:
                return _Element(position, error)
            return _Element(position, future, request, scope)

        async def finish(element: _Element) -> pb.RememberBatchResponse:
            return await self._batch_answer(element, call)

        async with aclosing(pipelined(source, begin, finish)) as answers:
            async for answer in answers:
                yield answer

    async def _batch_answer(self, element: _Element, call: Call) -> pb.RememberBatchResponse:
        if isinstance(element.begun, HydraMindError):
            return pb.RememberBatchResponse(index=element.position, error=item_error(element.begun))
        assert element.request is not None
        assert element.scope is not None
        try:
            done = await element.begun
            answer = await self._changing.remembered(done, element.scope, element.request.content, call)
        except HydraMindError as error:
            return pb.RememberBatchResponse(index=element.position, error=item_error(error))
        return pb.RememberBatchResponse(index=element.position, remembered=to_proto.remembered(answer))

    async def import_(self, source: AsyncIterator[pb.ImportRequest], call: Call) -> AsyncGenerator[pb.ImportResponse, None]:
        """See the contract."""
        transfer = self._services.transfer
        run: ImportRun | None = None

        async def begin(m: pb.ImportRequest) -> _Element:
            nonlocal run
            if run is None:
                run = ImportRun(from_proto.scope(m.scope), m.restore)
            record = from_proto.import_record(m.record)
            try:
                if not m.HasField("record"):
                    raise InvalidArgument.of("record", "is absent")
                return _Element(record.line, await transfer.begin_import(run, record, call), record=record)
            except HydraMindError as error:
                return _Element(record.line, error)

        async with aclosing(pipelined(source, begin, self._import_answer)) as answers:
            async for answer in answers:
                yield answer
        if run is not None:
            for refused in await transfer.finish_import(run, call):
                yield pb.ImportResponse(line=refused.position, error=item_error(refused.error))

    async def _import_answer(self, element: _Element) -> pb.ImportResponse:
        if isinstance(element.begun, HydraMindError):
            return pb.ImportResponse(line=element.position, error=item_error(element.begun))
        assert element.record is not None
        try:
            done = self._services.transfer.imported(element.record, await element.begun)
        except HydraMindError as error:
            return pb.ImportResponse(line=element.position, error=item_error(error))
        imported = pb.Imported(memory_id=done.memory_id, already_there=done.already_there, conflicts=done.conflicts)
        return pb.ImportResponse(line=done.line, imported=imported)

"""The streaming writes of MemoryService: RememberBatch and Import."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing

from hydramind.v1 import memory_pb2 as pb
from hydramind_daemon.rpc import errors, from_proto, to_proto
from hydramind_daemon.rpc.memory import MemoryCalls
from hydramind_daemon.rpc.streams import pipelined
from hydramind_daemon.services.context import Call
from hydramind_daemon.services.jobs import Committed
from hydramind_daemon.services.requests import RememberRequest
from hydramind_daemon.services.transfer import ImportRecord, ImportRun
from hydramind_domain.errors import HydraMindError, InvalidArgument


def item_error(error: HydraMindError) -> pb.ItemError:
    """Why one element was refused."""
    return pb.ItemError(code=errors.code_of(error), reason=error.reason, message=error.message[:1_000], field=error.field)


async def _given(answer: pb.ImportResponse) -> pb.ImportResponse:
    return answer


async def _given_batch(answer: pb.RememberBatchResponse) -> pb.RememberBatchResponse:
    return answer


class MemoryStreams(MemoryCalls):
    """MemoryService with its streaming writes."""

    async def remember_batch(
        self, source: AsyncIterator[pb.RememberBatchRequest], call: Call
    ) -> AsyncGenerator[pb.RememberBatchResponse, None]:
        """See the contract."""
        transfer = self._services.transfer
        index = -1

        async def begin(m: pb.RememberBatchRequest) -> Awaitable[pb.RememberBatchResponse]:
            nonlocal index
            index += 1
            at = index
            request = from_proto.remember(m.remember)
            try:
                pending = await transfer.begin_remember(request, call)
            except HydraMindError as error:
                return _given_batch(pb.RememberBatchResponse(index=at, error=item_error(error)))
            return self._batch_answer(at, pending[0], pending[1], request, call)

        async with aclosing(pipelined(source, begin)) as answers:
            async for answer in answers:
                yield answer

    async def _batch_answer(
        self, at: int, future: asyncio.Future[Committed], scope: object, request: RememberRequest, call: Call
    ) -> pb.RememberBatchResponse:
        try:
            done = await self._services.transfer.end_remember((future, scope), request, call)  # type: ignore[arg-type]
        except HydraMindError as error:
            return pb.RememberBatchResponse(index=at, error=item_error(error))
        return pb.RememberBatchResponse(index=at, remembered=to_proto.remembered(done))

    async def import_(self, source: AsyncIterator[pb.ImportRequest], call: Call) -> AsyncGenerator[pb.ImportResponse, None]:
        """See the contract."""
        transfer = self._services.transfer
        run: ImportRun | None = None

        async def begin(m: pb.ImportRequest) -> Awaitable[pb.ImportResponse]:
            nonlocal run
            if run is None:
                run = ImportRun(from_proto.scope(m.scope), m.restore)
            record = from_proto.import_record(m.record)
            try:
                if not m.HasField("record"):
                    raise InvalidArgument.of("record", "is absent")
                return self._import_answer(record, await transfer.begin_import(run, record, call))
            except HydraMindError as error:
                return _given(pb.ImportResponse(line=record.line, error=item_error(error)))

        async with aclosing(pipelined(source, begin)) as answers:
            async for answer in answers:
                yield answer
        if run is not None:
            for refused in await transfer.finish_import(run, call):
                yield pb.ImportResponse(line=refused.position, error=item_error(refused.error))

    async def _import_answer(self, record: ImportRecord, future: asyncio.Future[Committed]) -> pb.ImportResponse:
        try:
            done = self._services.transfer.imported(record, await future)
        except HydraMindError as error:
            return pb.ImportResponse(line=record.line, error=item_error(error))
        imported = pb.Imported(memory_id=done.memory_id, already_there=done.already_there, conflicts=done.conflicts)
        return pb.ImportResponse(line=done.line, imported=imported)

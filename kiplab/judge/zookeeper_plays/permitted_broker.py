"""A broker that hears a request of the real controller when the engine's broker hears its own.

So both controllers' requests arrive between the same two events, however quick the real one is.
"""

import asyncio
from contextlib import suppress
from typing import NamedTuple

from ..wire.message_bytes import INT16, INT32
from ..wire.message_schemas import ReleaseSchemas
from ..wire.node_connection import (
    ReceivedRequest,
    UnknownRequestError,
    read_request,
    written_answer,
)
from ..zookeeper_era.control_answers import (
    NONE,
    STALE_BROKER_EPOCH,
    Journal,
    Received,
    answer_to,
    is_bare_marker,
)
from ..zookeeper_era.gates import BackgroundLoop
from ..zookeeper_era.sequences import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA

_HEARS = (LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA)


class _Waiting(NamedTuple):
    answer: asyncio.Future[int]
    connection: asyncio.StreamReader


class PermittedBroker:
    """One broker through all its generations, at one port: `generation` is the one that it is now,
    which registered with `epoch`. A barrier's requests always pass.
    """

    def __init__(
        self, broker: int, loop: BackgroundLoop, journal: Journal, schemas: ReleaseSchemas
    ) -> None:
        self.broker, self._loop, self._journal, self._schemas = broker, loop, journal, schemas
        self._keys = {schemas.requests[api].api_key for api in _HEARS}
        self.epoch, self.generation = -1, ""
        self.is_open, self.hears = True, False
        self._streams: set[asyncio.StreamWriter] = set()
        self._waiting: list[_Waiting] = []
        self._owed: list[int] = []
        self.port = 0
        self.hear()

    def hear(self) -> None:
        """Listen, at the same port as ever."""
        if not self.hears:
            self._loop.do(self._listen())
        self.hears = True

    def turn_deaf(self) -> None:
        """Close the port and every connection: what was under way is not heard."""
        if self.hears:
            self._loop.do(self._close())
        self.hears = False

    def let_one(self, error: int) -> None:
        """Hear one request, which is there or will come, and answer it so."""
        self._loop.do(self._let_one(error))

    def open(self) -> None:
        """Hear everything, from now on."""
        self._loop.do(self._open())

    def shut(self) -> None:
        """Hear nothing by itself any more."""
        self._loop.do(self._shut())

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        for stream in self._streams:
            stream.close()
        for waiting in self._waiting:
            waiting.answer.cancel()
        self._waiting.clear()
        self._owed.clear()

    async def _let_one(self, error: int) -> None:
        # What waits on a connection that the controller has closed is no request any more.
        self._waiting = [one for one in self._waiting if not one.connection.at_eof()]
        if self._waiting:
            self._waiting.pop(0).answer.set_result(error)
        else:
            self._owed.append(error)

    async def _open(self) -> None:
        self.is_open = True
        for waiting in self._waiting:
            if not waiting.connection.at_eof():
                waiting.answer.set_result(NONE)
        self._waiting.clear()

    async def _shut(self) -> None:
        self.is_open = False
        self._owed.clear()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._streams.add(writer)
        try:
            with suppress(asyncio.IncompleteReadError, OSError, UnknownRequestError):
                while True:
                    (size,) = INT32.unpack(await reader.readexactly(INT32.size))
                    await self._hear_out(await reader.readexactly(size), reader, writer)
        # The process ended while a request waited.
        except asyncio.CancelledError:
            pass
        finally:
            self._streams.discard(writer)
            writer.close()

    async def _hear_out(
        self, frame: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if INT16.unpack_from(frame)[0] not in self._keys:
            raise UnknownRequestError("it is no controller's: a replica of the real broker fetches")
        asked = read_request(self._schemas, frame)
        error = await self._permission(asked, reader)
        self._journal.write(self._received(asked, error))
        body = answer_to(asked.api, asked.version, asked.body, error)
        answer = written_answer(self._schemas, asked, body)
        writer.write(INT32.pack(len(answer)) + answer)
        await writer.drain()

    async def _permission(self, asked: ReceivedRequest, reader: asyncio.StreamReader) -> int:
        """What is to be answered, once it may be heard."""
        if is_bare_marker(self._received(asked, NONE)):
            return NONE
        if self._owed:
            return self._owed.pop(0)
        if self.is_open:
            stamped = asked.body.get("BrokerEpoch", -1)
            return STALE_BROKER_EPOCH if -1 < stamped < self.epoch else NONE
        waiting = _Waiting(asyncio.get_running_loop().create_future(), reader)
        self._waiting.append(waiting)
        return await waiting.answer

    def _received(self, asked: ReceivedRequest, error: int) -> Received:
        said = (asked.api, asked.version, asked.body, error)
        return Received(self.broker, self.generation, *said)

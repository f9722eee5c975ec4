"""A gate between a controller and ZooKeeper, which can hold back watch events.

With it an unnoticed bounce, late control requests, and a deposed controller that does not know it
are no races any more. All else passes: in the engine, too, a watch event may be late, while a
controller's reads and writes are done at once.
"""

import asyncio
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Self, TypeVar

from ...incident.reading.message_bytes import INT16, INT32
from ..wire import node_connection
from ..wire.metadata_log import ReleaseSchemas
from ..wire.node_connection import ReceivedRequest, UnknownRequestError
from . import sequences

PATIENCE_S = 20
LATE_S = 5.0
"""So long a watch may take to fire that the engine's has."""
HELD_PATHS = ("/brokers/ids", "/controller")
_CHECK_AGAIN_S = 0.01
_CHUNK = 65536
_HEADER = struct.Struct(">iqi")
_EVENT = struct.Struct(">iii")
_NOTIFICATION = -1
"""The xid of a message that answers no request."""
_T = TypeVar("_T")


class BackgroundLoop:
    """``with BackgroundLoop() as loop: loop.do(something())``: an event loop in a thread of its
    own, for fakes that answer while the judge waits. What runs in it ends with it.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.do(_end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()

    def call(self, what: Callable[[], object]) -> None:
        """Call it there, and wait until that is done. Raises TimeoutError after `PATIENCE_S`."""

        async def called() -> None:
            what()

        self.do(called())

    def do(self, what: Coroutine[Any, Any, _T]) -> _T:
        """What it comes to. Raises TimeoutError after `PATIENCE_S`, and whatever `what` raises."""
        return asyncio.run_coroutine_threadsafe(what, self._loop).result(PATIENCE_S)


async def _end_all() -> None:
    """End every conversation that is still going on."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class _Server(ABC):
    """Converses on the loopback interface with each that connects, always at the same `port`."""

    def __init__(self, loop: BackgroundLoop) -> None:
        self._loop, self.port = loop, 0
        self._streams: set[asyncio.StreamWriter] = set()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._served, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._streams.add(writer)
        try:
            with suppress(asyncio.IncompleteReadError, OSError, UnknownRequestError):
                await self._converse(reader, writer)
        # The conversation ended while a caller waited.
        except asyncio.CancelledError:
            pass
        finally:
            self._streams.discard(writer)
            writer.close()

    @abstractmethod
    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Until one of the two hangs up, which raises OSError or IncompleteReadError."""

    def _hang_up(self) -> None:
        self._server.close()
        for stream in self._streams:
            stream.close()


class Gate(_Server):
    """Passes all on to ZooKeeper's port, but watches of HELD_PATHS where it `holds_watches`."""

    def __init__(self, loop: BackgroundLoop, zookeeper_port: int) -> None:
        super().__init__(loop)
        self._zookeeper_port = zookeeper_port
        self._held: list[tuple[str, bytes, asyncio.StreamWriter]] = []
        self.holds_watches = False
        loop.do(self._listen())

    def let_through(self, path: str) -> bool:
        """Let the first held watch of `path` through; whether there was one within `LATE_S`."""
        return self._loop.do(self._let_through(path))

    def close(self) -> None:
        """Hang up on both sides, and listen no more."""
        self._loop.call(self._hang_up)

    async def _let_through(self, path: str) -> bool:
        end = asyncio.get_running_loop().time() + LATE_S
        while (watch := next((w for w in self._held if w[0] == path), None)) is None:
            if asyncio.get_running_loop().time() > end:
                return False
            await asyncio.sleep(_CHECK_AGAIN_S)
        self._held.remove(watch)
        _, frame, to_kafka = watch
        to_kafka.write(frame)
        return True

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._zookeeper_port)
        self._streams.add(to_server)
        try:
            await asyncio.gather(_pass_on(reader, to_server), self._answer(from_server, writer))
        finally:
            self._streams.discard(to_server)
            to_server.close()

    async def _answer(self, server: asyncio.StreamReader, to_kafka: asyncio.StreamWriter) -> None:
        """Pass on what the server says, frame by frame."""
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                size = await server.readexactly(INT32.size)
                body = await server.readexactly(INT32.unpack(size)[0])
                await self._pass(size, body, to_kafka)
        to_kafka.close()

    async def _pass(self, size: bytes, body: bytes, to_kafka: asyncio.StreamWriter) -> None:
        path = watched_path(body) if self.holds_watches else None
        if path is not None and path.startswith(HELD_PATHS):
            self._held.append((path, size + body, to_kafka))
        else:
            to_kafka.write(size + body)
            await to_kafka.drain()


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(_CHUNK):
            target.write(data)
            await target.drain()
    target.close()


def watched_path(body: bytes) -> str | None:
    """The path that a notification of ZooKeeper's is about; None for every other frame."""
    if len(body) < _HEADER.size or _HEADER.unpack_from(body)[0] != _NOTIFICATION:
        return None
    _, _, length = _EVENT.unpack_from(body, _HEADER.size)
    begin = _HEADER.size + _EVENT.size
    return body[begin : begin + length].decode()


_HEARS = (sequences.LEADER_AND_ISR, sequences.UPDATE_METADATA, sequences.STOP_REPLICA)


class PermittedBroker(_Server):
    """A broker that hears a request of the real controller when the engine's broker hears its own:
    so both controllers' requests arrive between the same two events, however quick the real one is.

    One broker through all its generations, at one port: `generation` is the one that it is now,
    which registered with `epoch`. A barrier's requests always pass.
    """

    def __init__(
        self, broker: int, loop: BackgroundLoop, journal: sequences.Journal, schemas: ReleaseSchemas
    ) -> None:
        super().__init__(loop)
        self.broker, self._journal, self._schemas = broker, journal, schemas
        self._keys = {schemas.requests[api].api_key for api in _HEARS}
        self.epoch, self.generation = -1, ""
        self.is_open, self.hears = True, False
        self._waiting: list[tuple[asyncio.Future[int], asyncio.StreamReader]] = []
        self._owed: list[int] = []
        self.hear()

    def hear(self) -> None:
        """Listen, at the same port as ever."""
        if not self.hears:
            self._loop.do(self._listen())
        self.hears = True

    def turn_deaf(self) -> None:
        """Close the port and every connection: messages under way are lost."""
        if self.hears:
            self._loop.call(self._hang_up)
        self.hears = False

    def let_one(self, error: int) -> None:
        """Hear one request, which is there or will come, and answer it so."""
        self._loop.call(lambda: self._let_one(error))

    def open(self) -> None:
        """Hear everything, from now on."""
        self._loop.call(self._open)

    def shut(self) -> None:
        """Hear nothing by itself any more."""
        self.is_open = False
        self._loop.call(self._owed.clear)

    def _hang_up(self) -> None:
        super()._hang_up()
        for answer, _ in self._waiting:
            answer.cancel()
        self._waiting.clear()
        self._owed.clear()

    def _let_one(self, error: int) -> None:
        # What waits on a connection that the controller has closed is no request any more.
        self._waiting = [one for one in self._waiting if not one[1].at_eof()]
        if self._waiting:
            self._waiting.pop(0)[0].set_result(error)
        else:
            self._owed.append(error)

    def _open(self) -> None:
        self.is_open = True
        for answer, connection in self._waiting:
            if not connection.at_eof():
                answer.set_result(sequences.NONE)
        self._waiting.clear()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            (size,) = INT32.unpack(await reader.readexactly(INT32.size))
            frame = await reader.readexactly(size)
            if INT16.unpack_from(frame)[0] not in self._keys:
                raise UnknownRequestError("a replica of the real broker fetches")
            request = node_connection.read_request(self._schemas, frame)
            error = await self._permission(request, reader)
            self._journal.received.append(self._received(request, error))
            body = sequences.answer_to(request.api, request.version, request.body, error)
            answer = node_connection.written_answer(self._schemas, request, body)
            writer.write(INT32.pack(len(answer)) + answer)
            await writer.drain()

    async def _permission(self, request: ReceivedRequest, reader: asyncio.StreamReader) -> int:
        """The answer, once the request may arrive."""
        if sequences.is_bare_marker(self._received(request, sequences.NONE)):
            return sequences.NONE
        if self._owed:
            return self._owed.pop(0)
        if self.is_open:
            stamped = request.body.get("BrokerEpoch", -1)
            return sequences.STALE_BROKER_EPOCH if -1 < stamped < self.epoch else sequences.NONE
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, reader))
        return await answer

    def _received(self, request: ReceivedRequest, error: int) -> sequences.Received:
        what = (request.api, request.version, request.body, error)
        return sequences.Received(self.broker, self.generation, *what)

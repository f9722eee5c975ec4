"""A broker that is none: it is registered, listens, keeps what it is sent, and answers."""

import asyncio
from contextlib import suppress

from kiplab.judge.wire.message_bytes import INT32
from kiplab.judge.wire.message_schemas import ReleaseSchemas
from kiplab.judge.wire.node_connection import ReceivedRequest, read_request, written_answer
from kiplab.judge.zookeeper_era.control_answers import (
    NONE,
    STALE_BROKER_EPOCH,
    Journal,
    Received,
    answer_to,
)
from kiplab.judge.zookeeper_era.gates import BackgroundLoop


class FakeBroker:
    """One broker through all its generations, at one port.

    It answers 77 to what carries an epoch of an earlier generation, as brokers do since KIP-380,
    and 0 otherwise. It neither reads nor answers before it knows its own epoch.
    """

    def __init__(
        self, broker: int, loop: BackgroundLoop, journal: Journal, schemas: ReleaseSchemas
    ):
        self.broker, self._loop, self._journal, self._schemas = broker, loop, journal, schemas
        self.epoch, self.generation = -1, ""
        self.hears, self.withholds = False, False
        self._streams: set[asyncio.StreamWriter] = set()
        self._held: list[tuple[asyncio.StreamWriter, bytes]] = []
        self.port = 0
        self.hear()

    # --- its generations --------------------------------------------------------------------------

    def live_as(self, epoch: int, generation: str) -> None:
        """Be this generation from now on."""
        self.epoch, self.generation = epoch, generation
        self._loop.do(self._know(known=True))

    def forget(self) -> None:
        """Read nothing more until it is known which generation this is."""
        self._loop.do(self._know(known=False))

    # --- its ears ---------------------------------------------------------------------------------

    def hear(self) -> None:
        """Listen, at the same port as ever."""
        self._loop.do(self._listen())
        self.hears = True

    def turn_deaf(self) -> None:
        """Close the port and every connection."""
        self.hears = False
        self._loop.do(self._close())

    def withhold(self) -> None:
        """Read on, and answer nothing."""
        self.withholds = True

    def give_answers(self) -> None:
        """Answer what was read, and everything from now on."""
        self._loop.do(self._answer_held())

    async def _listen(self) -> None:
        if not hasattr(self, "_known"):
            self._known = asyncio.Event()
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        for stream in self._streams:
            stream.close()
        self._held.clear()

    async def _know(self, *, known: bool) -> None:
        if known:
            self._known.set()
        else:
            self._known.clear()

    async def _answer_held(self) -> None:
        self.withholds = False
        for stream, frame in self._held:
            stream.write(frame)
        self._held.clear()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._streams.add(writer)
        try:
            with suppress(asyncio.IncompleteReadError, OSError):
                while True:
                    (size,) = INT32.unpack(await reader.readexactly(INT32.size))
                    frame = await reader.readexactly(size)
                    await self._known.wait()
                    self._hear_out(read_request(self._schemas, frame), writer)
                    await writer.drain()
        finally:
            self._streams.discard(writer)
            writer.close()

    def _hear_out(self, asked: ReceivedRequest, writer: asyncio.StreamWriter) -> None:
        stamped = asked.body.get("BrokerEpoch", -1)
        error = STALE_BROKER_EPOCH if -1 < stamped < self.epoch else NONE
        body = answer_to(asked.api, asked.version, asked.body, error)
        answer = written_answer(self._schemas, asked, body)
        frame = INT32.pack(len(answer)) + answer
        if self.withholds:
            self._held.append((writer, frame))
        else:
            writer.write(frame)
        said = (asked.api, asked.version, asked.body, error)
        self._journal.write(Received(self.broker, self.generation, *said))

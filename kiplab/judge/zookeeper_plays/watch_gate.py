"""A gate between a controller and ZooKeeper that holds back watches, and nothing else.

In the engine a watch that fired may be late, while whatever a controller reads or writes is done at
once: as with a controller whose queue of events is long. So what ZooKeeper answers passes, and what
it tells of brokers and of `/controller` waits until the engine's controller is told the same.
"""

from __future__ import annotations

import asyncio
import struct
from contextlib import suppress
from typing import NamedTuple

from ..wire.message_bytes import INT32
from ..zookeeper_era.background_loop import BackgroundLoop

LATE_S = 5.0
"""So long a watch may take to fire that the engine's has."""
_LOOK_AGAIN_S = 0.01
_CHUNK = 65536
_HEADER = struct.Struct(">iqi")
_EVENT = struct.Struct(">iii")
_NOTIFICATION = -1
"""The xid of what nobody asked for."""
HELD_PATHS = ("/brokers/ids", "/controller")


class _HeldWatch(NamedTuple):
    path: str
    frame: bytes
    to_kafka: asyncio.StreamWriter


class WatchGate:
    """Listens at `port` of the loopback interface, and passes on to ZooKeeper's port."""

    def __init__(self, loop: BackgroundLoop, zookeeper_port: int) -> None:
        self._loop, self._zookeeper_port = loop, zookeeper_port
        self._relays: set[asyncio.Task[None]] = set()
        self._held: list[_HeldWatch] = []
        self._shut = False
        self.port: int = loop.do(self._listen())

    def shut(self) -> None:
        """Hold back, from now on."""
        self._shut = True

    def let_through(self, path: str) -> bool:
        """Let the first one about `path` through; whether there was one within `LATE_S`."""
        return self._loop.do(self._let_through(path))

    def close(self) -> None:
        """Hang up on both sides, and listen no more."""
        self._loop.do(self._close())

    async def _listen(self) -> int:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _close(self) -> None:
        self._server.close()
        for relay in self._relays:
            relay.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def _let_through(self, path: str) -> bool:
        end = asyncio.get_running_loop().time() + LATE_S
        while (found := next((h for h in self._held if h.path == path), None)) is None:
            if asyncio.get_running_loop().time() > end:
                return False
            await asyncio.sleep(_LOOK_AGAIN_S)
        self._held.remove(found)
        found.to_kafka.write(found.frame)
        return True

    async def _relay(
        self, from_kafka: asyncio.StreamReader, to_kafka: asyncio.StreamWriter
    ) -> None:
        relay = asyncio.current_task()
        assert relay is not None
        self._relays.add(relay)
        try:
            await self._join(from_kafka, to_kafka)
        # Nobody waits for it but `close`, which has cancelled it.
        except asyncio.CancelledError:
            pass
        finally:
            to_kafka.close()
            self._relays.discard(relay)

    async def _join(self, from_kafka: asyncio.StreamReader, to_kafka: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", self._zookeeper_port)
        try:
            await asyncio.gather(_pass_on(from_kafka, to_server), self._sift(from_server, to_kafka))
        finally:
            to_server.close()

    async def _sift(
        self, from_server: asyncio.StreamReader, to_kafka: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                size = await from_server.readexactly(INT32.size)
                body = await from_server.readexactly(INT32.unpack(size)[0])
                path = watched_path(body) if self._shut else None
                if path is not None and path.startswith(HELD_PATHS):
                    self._held.append(_HeldWatch(path, size + body, to_kafka))
                else:
                    to_kafka.write(size + body)
                    await to_kafka.drain()
        to_kafka.close()


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while said := await source.read(_CHUNK):
            target.write(said)
            await target.drain()
    target.close()


def watched_path(body: bytes) -> str | None:
    """The path that a notification of ZooKeeper's is about; None for every other frame."""
    if len(body) < _HEADER.size or _HEADER.unpack_from(body)[0] != _NOTIFICATION:
        return None
    _, _, length = _EVENT.unpack_from(body, _HEADER.size)
    begin = _HEADER.size + _EVENT.size
    return body[begin : begin + length].decode()

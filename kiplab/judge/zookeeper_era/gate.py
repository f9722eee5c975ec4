"""A gate between a controller and ZooKeeper, which can hold back what ZooKeeper says.

Behind a shut gate the controller is blind while its send threads run on. That makes exact what is
a race otherwise: a bounce that nobody noticed, late mail, a controller that does not know that it
was deposed. It must open again within two thirds of the session timeout, or the session is lost.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from .background_loop import BackgroundLoop

_CHUNK = 65536


class Gate:
    """Listens at `port` of the loopback interface, and passes everything on to ZooKeeper's port."""

    def __init__(self, loop: BackgroundLoop, zookeeper_port: int) -> None:
        self._loop, self._zookeeper_port = loop, zookeeper_port
        self._relays: set[asyncio.Task[Any]] = set()
        self.is_open = True
        self.port: int = loop.do(self._listen())

    def shut(self) -> None:
        """Hold back what ZooKeeper says from now on."""
        self._loop.do(self._set(open_now=False))

    def open(self) -> None:
        """Let it through, what was held back first."""
        self._loop.do(self._set(open_now=True))

    def close(self) -> None:
        """Hang up on both sides, and listen no more."""
        self._loop.do(self._close())

    async def _listen(self) -> int:
        self._may_pass = asyncio.Event()
        self._may_pass.set()
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def _set(self, *, open_now: bool) -> None:
        self.is_open = open_now
        if open_now:
            self._may_pass.set()
        else:
            self._may_pass.clear()

    async def _close(self) -> None:
        self._server.close()
        for relay in self._relays:
            relay.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

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
            await asyncio.gather(
                self._pass_on(from_kafka, to_server, gated=False),
                self._pass_on(from_server, to_kafka, gated=True),
            )
        finally:
            to_server.close()

    async def _pass_on(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, gated: bool
    ) -> None:
        with suppress(OSError):
            while said := await source.read(_CHUNK):
                if gated:
                    await self._may_pass.wait()
                target.write(said)
                await target.drain()
        target.close()

"""A real broker beside a fake controller, with a gate between it and ZooKeeper."""

import asyncio
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from kiplab.judge.zookeeper_era import asked_controller, gates, kafka_server, sequences

from ..zookeeper_server.kazoo_sessions import KazooSession
from .control_bodies import ASKED_BROKER, FAKE_CONTROLLER, LOOPBACK, WhereEpochs

FIRST_EPOCH = 5
"""What ``/controller_epoch`` says; a broker that is no controller does not look at it."""
_SECRET = 0xB3415C00
_MULTIPLIER, _ADDEND, _BITS = 0x5DEECE66D, 0xB, 48
_PASSWORD_BYTES, _WORD_BYTES = 16, 4


@contextmanager
def held_controller(address: str, chroot: str) -> Iterator[Any]:
    """A session that is the controller of a fresh cluster until the block ends: brokers obey it,
    and nobody is elected. Raises MissingExtraError without kazoo.
    """
    client = asked_controller.session(address)
    try:
        znode = {"version": 1, "brokerid": FAKE_CONTROLLER, "timestamp": "1"}
        data = json.dumps(znode).encode()
        client.create(f"/{chroot}/controller", data, ephemeral=True, makepath=True)
        client.create(f"/{chroot}/controller_epoch", str(FIRST_EPOCH).encode())
        yield client
    finally:
        asked_controller.end(client)


def password_of(session: int) -> bytes:
    """The password that ZooKeeper gives a session: sixteen bytes of Java's own random numbers, with
    the id and a constant of ZooKeeper's for a seed.
    """
    seed = ((session ^ _SECRET) ^ _MULTIPLIER) & ((1 << _BITS) - 1)
    out = bytearray()
    for _ in range(_PASSWORD_BYTES // _WORD_BYTES):
        seed = (seed * _MULTIPLIER + _ADDEND) & ((1 << _BITS) - 1)
        out += (seed >> (_BITS - 8 * _WORD_BYTES)).to_bytes(_WORD_BYTES, "little")
    return bytes(out)


# --- the broker -----------------------------------------------------------------------------------


class RestartedServer(kafka_server.KafkaServer):
    """A broker that ends and starts again: same port, same files, a new process."""

    def start(self) -> None:
        """Start it again after `end`. Raises DeadKafkaError where it does not start."""
        self._launch()

    def end(self) -> None:
        """Stop it as a signal would; its files stay. Raises DeadKafkaError where it has ended."""
        self.tell("stop")
        self._end()


class ShutGate(gates.Gate):
    """Behind it, once it is shut, its broker is blind, and its threads run on. It must open again
    within two thirds of the session timeout, or the session is lost.
    """

    def __init__(self, loop: gates.BackgroundLoop, zookeeper_port: int) -> None:
        self._may_pass = asyncio.Event()
        self._may_pass.set()
        super().__init__(loop, zookeeper_port)

    def shut(self) -> None:
        """Hold back what ZooKeeper says from now on."""
        self._loop.call(self._may_pass.clear)

    def open(self) -> None:
        """Let it through, what was held back first."""
        self._loop.call(self._may_pass.set)

    async def _pass(self, size: bytes, body: bytes, to_kafka: asyncio.StreamWriter) -> None:
        await self._may_pass.wait()
        await super()._pass(size, body, to_kafka)


class LiveSession:
    """A broker's process, and its session in ZooKeeper. Other brokers are at `elsewhere`, where
    somebody listens and never answers: a follower whose leader refuses to be spoken to tries again
    all the time in the older releases, and says so at length.
    """

    def __init__(
        self,
        server: RestartedServer,
        controller: Any,
        address: str,
        chroot: str,
        gate: ShutGate,
        silent: socket.socket,
    ) -> None:
        self.server, self.elsewhere = server, silent.getsockname()[1]
        self._controller, self._gate, self._address = controller, gate, address
        self._path = f"/{chroot}/brokers/ids/{ASKED_BROKER}"

    def epoch(self) -> int:
        """Its broker epoch in ZooKeeper, the czxid of its registration. Raises TooQuietError where
        it does not register.
        """
        sequences.wait_until(lambda: self._controller.exists(self._path), "a registration")
        return int(self._controller.exists(self._path).czxid)

    def where(self, epoch: int, before: int, controller: int) -> WhereEpochs:
        """What its questions leave open, at these epochs of its own and of its controller."""
        return WhereEpochs(epoch, before, controller, self.server.port, self.elsewhere)

    def end(self) -> None:
        """End the session, as if ZooKeeper had not heard from it for too long, and let nobody tell
        the broker.

        A session belongs to whoever knows its password, which ZooKeeper makes from its id: so it
        can be taken over, and closed.
        """
        self._gate.shut()
        session = self._controller.exists(self._path).ephemeralOwner
        KazooSession(self._address, as_session=(session, password_of(session))).close()

    def tell(self) -> None:
        """Let the broker find out; it registers anew."""
        self._gate.open()


@contextmanager
def live_session(
    patch: str, zookeeper_port: int, chroot: str, more: Mapping[str, str | int] | None = None
) -> Iterator[LiveSession]:
    """A broker of this patch release in a fresh cluster; `more` are settings of Kafka's.

    Raises MissingKafkaError where none can be run, DeadKafkaError where it does not start,
    MissingExtraError without kazoo.
    """
    address = f"{LOOPBACK}:{zookeeper_port}"
    with (
        held_controller(address, chroot) as controller,
        gates.BackgroundLoop() as loop,
        closing(ShutGate(loop, zookeeper_port)) as gate,
        socket.create_server((LOOPBACK, 0)) as silent,
        RestartedServer(patch, f"{LOOPBACK}:{gate.port}/{chroot}", ASKED_BROKER, more) as server,
    ):
        yield LiveSession(server, controller, address, chroot, gate, silent)

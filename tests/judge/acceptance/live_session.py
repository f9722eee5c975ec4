"""A real broker beside a fake controller, with a gate between it and ZooKeeper."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from kiplab.extras import needed_by
from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.zookeeper_era import gates, kafka_server, sequences

from .control_bodies import ASKED_BROKER, FAKE_CONTROLLER, LOOPBACK, WhereEpochs

if TYPE_CHECKING:
    from kazoo.client import KazooClient

# --- who holds /controller: brokers obey it, and nobody is elected --------------------------------

FIRST_EPOCH = 5
"""What ``/controller_epoch`` says; a broker that is no controller does not look at it."""
_PATIENCE_S = 60
_SECRET = 0xB3415C00
_MULTIPLIER, _ADDEND, _BITS = 0x5DEECE66D, 0xB, 48
_PASSWORD_BYTES, _WORD_BYTES = 16, 4


class HeldController:
    """A cluster in the ZooKeeper at `port` of the loopback interface, below ``/chroot``."""

    def __init__(self, client: KazooClient, port: int, chroot: str) -> None:
        self._client, self._port, self._chroot = client, port, chroot

    def hold(self) -> None:
        """Be the controller from now on."""
        said = {"version": 1, "brokerid": FAKE_CONTROLLER, "timestamp": "1"}
        written = json.dumps(said).encode()
        self._client.create(f"/{self._chroot}/controller", written, ephemeral=True, makepath=True)
        self._client.create(f"/{self._chroot}/controller_epoch", str(FIRST_EPOCH).encode())

    def broker_epoch(self, broker: int) -> int | None:
        """The czxid of its registration, None while there is none."""
        stat = self._client.exists(self._path(broker))
        return None if stat is None else int(stat.czxid)

    def end_session(self, broker: int) -> None:
        """End a broker's session, as if ZooKeeper had not heard from it for too long.

        A session belongs to whoever knows its password, which ZooKeeper makes from its id: so it
        can be taken over, and closed.
        """
        session = self._client.exists(self._path(broker)).ephemeralOwner
        taken = _client_of(self._port, client_id=(session, password_of(session)))
        taken.start(_PATIENCE_S)
        taken.stop()
        taken.close()

    def _path(self, broker: int) -> str:
        return f"/{self._chroot}/brokers/ids/{broker}"


@contextmanager
def held_controller(port: int, chroot: str) -> Iterator[HeldController]:
    """The controller of a fresh cluster, until the block ends. Raises MissingExtraError without
    kazoo.
    """
    client = _client_of(port)
    client.start(_PATIENCE_S)
    try:
        held = HeldController(client, port, chroot)
        held.hold()
        yield held
    finally:
        client.stop()
        client.close()


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


def _client_of(port: int, **more: Any) -> KazooClient:
    with needed_by("a client of a real ZooKeeper"):
        from kazoo.client import KazooClient

    return KazooClient(hosts=f"127.0.0.1:{port}", timeout=float(_PATIENCE_S), **more)


# --- the broker -----------------------------------------------------------------------------------


class RestartedServer(kafka_server.KafkaServer):
    """A broker that ends and starts again: same port, same files, a new process. Raises
    DeadKafkaError where it does not start, or runs, or does not.
    """

    def start(self) -> None:
        """Start it again after `end`."""
        if self._child is not None:
            raise DeadKafkaError(f"Kafka {self.patch} runs already")
        self._launch()

    def end(self, how: str = "stop") -> None:
        """Stop it as a signal would, or ``"kill"`` it where it stands; its files stay."""
        if self._child is None:
            raise DeadKafkaError(f"Kafka {self.patch} does not run")
        self.tell(how)
        self._end()


class LiveSession:
    """A broker's process, and its session in ZooKeeper. Other brokers are at `elsewhere`, where
    somebody listens and never answers: a follower whose leader refuses to be spoken to tries again
    all the time in the older releases, and says so at length.
    """

    def __init__(
        self, server: RestartedServer, held: HeldController, gate: gates.Gate, silent: socket.socket
    ) -> None:
        self.server, self.elsewhere = server, silent.getsockname()[1]
        self._held, self._gate = held, gate

    def epoch(self) -> int:
        """Its broker epoch in ZooKeeper. Raises TooQuietError where it does not register."""
        sequences.wait_until(lambda: self._epoch is not None, "a registration")
        assert self._epoch is not None
        return self._epoch

    @property
    def _epoch(self) -> int | None:
        return self._held.broker_epoch(ASKED_BROKER)

    def where(self, epoch: int, before: int, controller: int) -> WhereEpochs:
        """What its questions leave open, at these epochs of its own and of its controller."""
        return WhereEpochs(epoch, before, controller, self.server.port, self.elsewhere)

    def end(self) -> None:
        """End the session, and let nobody tell the broker."""
        self._gate.shut()
        self._held.end_session(ASKED_BROKER)

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
    with (
        held_controller(zookeeper_port, chroot) as held,
        gates.BackgroundLoop() as loop,
        closing(gates.Gate(loop, zookeeper_port)) as gate,
        socket.create_server((LOOPBACK, 0)) as silent,
        RestartedServer(patch, f"{LOOPBACK}:{gate.port}/{chroot}", ASKED_BROKER, more) as server,
    ):
        yield LiveSession(server, held, gate, silent)

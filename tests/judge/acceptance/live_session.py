"""A real broker beside a fake controller, with a gate between it and ZooKeeper."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from kiplab.judge.zookeeper_era.gates import BackgroundLoop, Gate
from kiplab.judge.zookeeper_era.kafka_server import KafkaServer
from kiplab.judge.zookeeper_era.waiting import wait_until

from .control_bodies import LOOPBACK, WhereEpochs
from .control_questions import ASKED_BROKER
from .fake_controller import HeldController, held_controller


class LiveSession:
    """A broker's process, and its session in ZooKeeper. Other brokers are at `elsewhere`, where
    somebody listens and never answers: a follower whose leader refuses to be spoken to tries again
    all the time in the older releases, and says so at length.
    """

    def __init__(
        self, server: KafkaServer, held: HeldController, gate: Gate, silent: socket.socket
    ) -> None:
        self.server, self.elsewhere = server, silent.getsockname()[1]
        self._held, self._gate = held, gate

    def epoch(self) -> int:
        """Its broker epoch in ZooKeeper. Raises TooQuietError where it does not register."""
        wait_until(lambda: self._epoch is not None, "a registration")
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
        BackgroundLoop() as loop,
        closing(Gate(loop, zookeeper_port)) as gate,
        socket.create_server((LOOPBACK, 0)) as silent,
        KafkaServer(patch, f"{LOOPBACK}:{gate.port}/{chroot}", ASKED_BROKER, more) as server,
    ):
        yield LiveSession(server, held, gate, silent)

"""Two incarnations of one broker, as a real ZooKeeper numbers them: what KIP-380 builds on."""

import msgspec
from msgspec.structs import replace

from ...extras import MissingExtraError, needed_by
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.missing_kafka import MissingKafkaError
from ..zookeeper_era.kafka_znodes import add_registration, end, session
from .zookeeper_process import ZooKeeperProcess


class BrokerIncarnation(msgspec.Struct, frozen=True):
    """One registration: which transaction created the broker's znode, and whose session it was."""

    czxid: int
    session: int
    server: int
    """The number of the server that the broker was connected to."""


class TwoIncarnations(msgspec.Struct, frozen=True):
    """A broker that registers, closes its session, and registers again."""

    first: BrokerIncarnation
    second: BrokerIncarnation
    note: str = ""
    """Where nobody was asked now: of which ZooKeeper it is, and why; else empty."""

    @property
    def czxids_rise(self) -> bool:
        """Whether the later incarnation has the greater czxid."""
        return self.second.czxid > self.first.czxid

    @property
    def sessions_rise(self) -> bool:
        """Whether the later incarnation has the greater session id."""
        return self.second.session > self.first.session

    def __str__(self) -> str:
        lines = [f"{'incarnation':<12} {'server':>6} {'czxid':>14} {'session id':>20}"]
        for name, one in (("first", self.first), ("second", self.second)):
            lines.append(f"{name:<12} {one.server:>6} {hex(one.czxid):>14} {hex(one.session):>20}")
        return "\n".join([*lines, *[self.note] * bool(self.note)])

    def __repr__(self) -> str:
        return str(self)


RECORDED = TwoIncarnations(
    BrokerIncarnation(czxid=0x100000004, session=0x20003E6D4310000, server=2),
    BrokerIncarnation(czxid=0x100000007, session=0x10003E6D4230000, server=1),
    note="Recorded, of ZooKeeper 3.9.5.",
)
"""What it said once."""


def two_incarnations(*, live: bool | None = None) -> TwoIncarnations:
    """Ask a real ensemble of two servers: the broker registers at server 2, then at server 1.

    It registers as Kafka does from 2.2 on: an empty ephemeral znode and its contents in one
    transaction, which answers with the czxid. With `live=False`, and where ZooKeeper cannot run, it
    is RECORDED, which says why in its `note`. With `live=True`, raises MissingExtraError without
    kazoo, MissingKafkaError without Java or PySpark, DeadKafkaError if ZooKeeper does not start.
    """
    if live is False:
        return RECORDED
    try:
        return _asked()
    except (MissingExtraError, MissingKafkaError, DeadKafkaError) as why:
        if live:
            raise
        return replace(RECORDED, note=f"{RECORDED.note} {why}")


def _asked() -> TwoIncarnations:
    with needed_by("a real ZooKeeper"):
        from kazoo.handlers.threading import KazooTimeoutError
    with ZooKeeperProcess(servers=2) as ensemble:
        try:
            first, second = (_incarnation(ensemble, server) for server in (2, 1))
        except KazooTimeoutError as problem:
            raise DeadKafkaError(f"ZooKeeper does not answer: {problem}") from None
    return TwoIncarnations(first, second)


def _incarnation(ensemble: ZooKeeperProcess, server: int) -> BrokerIncarnation:
    client = session(int(ensemble.addresses[server - 1].rpartition(":")[2]), "")
    try:
        client.ensure_path("/brokers/ids")
        transaction = client.transaction()
        add_registration(transaction, 1, b"{}")
        _, stat = transaction.commit()
        return BrokerIncarnation(stat.czxid, int(client.client_id[0]), server)
    finally:
        end(client)

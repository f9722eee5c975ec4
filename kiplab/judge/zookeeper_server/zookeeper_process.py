"""The ZooKeeper server out of PySpark's jars: one or several of an ensemble, always ended."""

import shutil
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...extras import MissingExtraError, install, needed_by
from ..java_process import DeadKafkaError, OwnedProcess, free_ports, java_of_kafka, properties
from ..kafka_jars.jar_cache import MissingKafkaError, spark_jars
from ..zookeeper_era.asked_controller import add_registration, end, session

ZOOKEEPER_LAUNCHER = Path(__file__).parent
"""Where the compiled class is, and the settings that every server has."""
ZOOKEEPER_JARS = ("zookeeper", "metrics-core", "snappy-java", "slf4j-api", "log4j")
"""How the names of the jars begin that a server needs."""
PORTS_EACH = 3
"""For clients, for the others of the ensemble, and for electing its leader."""


class ZooKeeperProcess(OwnedProcess):
    """``with ZooKeeperProcess() as zookeeper: zookeeper.addresses[0]``: what a client connects to.

    The servers of an ensemble, numbered from 1, are in one process. Sessions may be as short as two
    ticks. Raises MissingKafkaError without Java or PySpark, DeadKafkaError where it doesn't start.
    """

    def __init__(self, servers: int = 1, tick_ms: int = 2000) -> None:
        java_of_kafka()
        self._jars = zookeeper_jars()
        self._tick_ms = tick_ms
        self._ports: list[list[int]] = [[] for _ in range(servers)]
        super().__init__("ZooKeeper", "zookeeper")

    @property
    def addresses(self) -> tuple[str, ...]:
        """``"127.0.0.1:2181"`` of each server, in the order of their numbers."""
        return tuple(f"127.0.0.1:{client}" for client, _, _ in self._ports)

    def _settle(self) -> None:
        """A folder for each server with its settings, and what it has written so far gone."""
        ports = iter(free_ports(PORTS_EACH * len(self._ports)))
        self._ports = [list(islice(ports, PORTS_EACH)) for _ in self._ports]
        for number, folder in enumerate(self._folders, start=1):
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "data").mkdir(parents=True)
            (folder / "data" / "myid").write_text(str(number), encoding="utf-8")
            text = zookeeper_settings(number, self._ports, folder / "data", self._tick_ms)
            (folder / "zoo.cfg").write_text(text, encoding="utf-8")

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        files = [str(folder / "zoo.cfg") for folder in self._folders]
        command = ["-Dzookeeper.jmx.log4j.disable=true", "ZooKeeperLauncher", *files]
        return (ZOOKEEPER_LAUNCHER, *self._jars), command

    @property
    def _folders(self) -> list[Path]:
        return [self._folder / str(number) for number in range(1, len(self._ports) + 1)]


def zookeeper_jars() -> tuple[Path, ...]:
    """The jars of the server. Raises MissingKafkaError where PySpark is not installed."""
    folder = spark_jars()
    paths = [j for name in ZOOKEEPER_JARS for j in sorted((folder or Path()).glob(f"{name}-*.jar"))]
    if folder is None or not paths:
        why = "A real ZooKeeper comes with PySpark, which is not installed."
        raise MissingKafkaError(why, f"Run `{install('real')}`.")
    return tuple(paths)


def zookeeper_settings(number: int, ports: list[list[int]], data: Path, tick_ms: int) -> str:
    """The settings file of one server of an ensemble with these ports."""
    settings: dict[str, object] = {
        "tickTime": tick_ms,
        "dataDir": data,
        "clientPort": ports[number - 1][0],
        # In ticks; what takes a busy machine long is no fault of a server.
        "initLimit": 60_000 // tick_ms,
        "syncLimit": 30_000 // tick_ms,
    }
    if len(ports) > 1:
        for peer, (_, quorum, election) in enumerate(ports, start=1):
            settings[f"server.{peer}"] = f"127.0.0.1:{quorum}:{election}"
    return (ZOOKEEPER_LAUNCHER / "zoo.cfg").read_text(encoding="utf-8") + properties(settings)


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
    """For recorded answers: the version of ZooKeeper, and why they are recorded; else empty."""

    def __repr__(self) -> str:
        lines = [f"{'incarnation':<12} {'server':>6} {'czxid':>14} {'session id':>20}"]
        for name, one in (("first", self.first), ("second", self.second)):
            lines.append(f"{name:<12} {one.server:>6} {hex(one.czxid):>14} {hex(one.session):>20}")
        return "\n".join([*lines, *[self.note] * bool(self.note)])


RECORDED = TwoIncarnations(
    BrokerIncarnation(czxid=0x100000004, session=0x20003E6D4310000, server=2),
    BrokerIncarnation(czxid=0x100000007, session=0x10003E6D4230000, server=1),
    note="Recorded, of ZooKeeper 3.9.5.",
)
"""What it said once."""


def two_incarnations(*, live: bool | None = None) -> TwoIncarnations:
    """Ask a real ensemble of two servers: the broker registers at server 2, then at server 1, as
    Kafka does from 2.2 on.

    With `live=False`, and where ZooKeeper cannot run, it is RECORDED, which says why in its `note`.
    With `live=True`, raises MissingExtraError without kazoo, MissingKafkaError without Java or
    PySpark, DeadKafkaError if ZooKeeper does not start.
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
            return TwoIncarnations(_incarnation(ensemble, 2), _incarnation(ensemble, 1))
        except KazooTimeoutError as problem:
            raise DeadKafkaError(f"ZooKeeper does not answer: {problem}") from None


def _incarnation(ensemble: ZooKeeperProcess, server: int) -> BrokerIncarnation:
    client = session(ensemble.addresses[server - 1])
    try:
        client.ensure_path("/brokers/ids")
        transaction = client.transaction()
        add_registration(transaction, 1, b"{}")
        _, stat = transaction.commit()
        return BrokerIncarnation(stat.czxid, int(client.client_id[0]), server)
    finally:
        end(client)

"""A real broker beside a ZooKeeper: started, and always ended.

Its settings are such that little happens by itself.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import java_process
from ..kafka_jars.jar_cache import jars_of
from ..wire.message_schemas import ReleaseSchemas, schemas_in

SESSION_TIMEOUT_MS = 60_000
"""Long enough to look at a broker that hears nothing from ZooKeeper."""
_CONNECT_MS = 30_000

_ALWAYS = {
    "zookeeper.session.timeout.ms": SESSION_TIMEOUT_MS,
    "zookeeper.connection.timeout.ms": _CONNECT_MS,
    "controlled.shutdown.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
    # It wants more memory than all the rest.
    "log.cleaner.enable": "false",
    "num.network.threads": 1,
    "num.io.threads": 2,
    "num.recovery.threads.per.data.dir": 1,
    "background.threads": 2,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
}
LOG_TO_STDERR = """\
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
"""For the log that every one of these releases writes by."""


def broker_settings(
    broker: int, port: int, zookeeper: str, data: Path, more: Mapping[str, str | int]
) -> str:
    """The text of ``server.properties``: a broker at that port of the loopback interface, its
    cluster kept at `zookeeper`, such as ``"127.0.0.1:2181/chroot"``, its logs in the folder `data`.

    `more` are Kafka's own settings by name; they come last, and so replace ours.
    """
    own = {
        "broker.id": broker,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "zookeeper.connect": zookeeper,
        "log.dirs": data,
    }
    return java_process.properties({**_ALWAYS, **own, **more})


SCHEMAS_OF = "3.4.1"
"""Whose jars describe every version that an older release speaks, too: the older have no schemas,
or fewer.
"""


def control_schemas() -> ReleaseSchemas:
    """Every control request in every version. Raises MissingKafkaError where no jars can be had."""
    return schemas_in(sorted(jars_of(SCHEMAS_OF, with_zookeeper=True).glob("kafka-clients-*.jar")))


SERVER_LAUNCHER = Path(__file__).parent
"""Where the compiled class is."""


class KafkaServer(java_process.OwnedProcess):
    """``with KafkaServer("2.2.2", "127.0.0.1:2181/chroot") as kafka: kafka.port``: the stock
    kafka.Kafka, which may become the controller as any broker may.

    `patch` is a patch release; `more` are settings of Kafka's by name, such as
    ``{"inter.broker.protocol.version": "2.1"}``. Raises MissingKafkaError where none can be run,
    DeadKafkaError where it does not start.
    """

    def __init__(
        self,
        patch: str,
        zookeeper: str,
        broker: int = 0,
        more: Mapping[str, str | int] | None = None,
    ) -> None:
        self.patch, self.broker = patch, broker
        self._zookeeper, self._more = zookeeper, dict(more or {})
        # Without Java there is no use for 40 MB of jars.
        java_process.java_of_kafka()
        self.jars = jars_of(patch, with_zookeeper=True)
        super().__init__(f"Kafka {patch}")
        self.data = self._folder / "data"
        self.port = 0

    def _settle(self) -> None:
        self.port = java_process.free_port()
        text = broker_settings(self.broker, self.port, self._zookeeper, self.data, self._more)
        (self._folder / "server.properties").write_text(text)
        (self._folder / "log4j.properties").write_text(LOG_TO_STDERR)

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        log4j = f"-Dlog4j.configuration=file:{self._folder / 'log4j.properties'}"
        command = [log4j, "ServerLauncher", str(self._folder / "server.properties")]
        return (SERVER_LAUNCHER, f"{self.jars}/*"), command

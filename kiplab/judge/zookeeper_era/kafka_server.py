"""A real broker beside a ZooKeeper: it does little by itself, and is always ended."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import java_process
from ..kafka_jars.jar_cache import jars_of
from ..wire.metadata_log import ReleaseSchemas, schemas_in

SERVER_LAUNCHER = Path(__file__).parent
"""Where the compiled class is, and the settings that every broker has."""


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
    always = (SERVER_LAUNCHER / "server.properties").read_text(encoding="utf-8")
    return always + java_process.properties(own | dict(more))


SCHEMAS_OF = "3.4.1"
"""Whose jars describe every version that an older release speaks: those have fewer schemas."""


def control_schemas() -> ReleaseSchemas:
    """Every control request in every version. Raises MissingKafkaError where no jars can be had."""
    return schemas_in(sorted(jars_of(SCHEMAS_OF, with_zookeeper=True).glob("kafka-clients-*.jar")))


class KafkaServer(java_process.OwnedProcess):
    """``with KafkaServer("2.2.2", "127.0.0.1:2181/chroot") as kafka: kafka.port``: the stock
    kafka.Kafka of a patch release, with `more` settings such as
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
        self.jars = jars_of(patch, with_zookeeper=True)
        super().__init__(f"Kafka {patch}")
        self.data = self._folder / "data"
        self.port = 0

    def _settle(self) -> None:
        (self.port,) = java_process.free_ports(1)
        text = broker_settings(self.broker, self.port, self._zookeeper, self.data, self._more)
        (self._folder / "server.properties").write_text(text, encoding="utf-8")

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        log4j = f"-Dlog4j.configuration=file:{SERVER_LAUNCHER / 'log4j.properties'}"
        command = [log4j, "ServerLauncher", str(self._folder / "server.properties")]
        return (SERVER_LAUNCHER, f"{self.jars}/*"), command

"""An incident whose brokers are real as well: processes that log as Kafka's own settings say.

They replicate by the machine's time. A script waits with ``until PARTITION LEADER ISR`` for what
the controller has written.
"""

import gzip
import re
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kiplab.incident.reading.batches import crc32c
from kiplab.judge.conversation import kafka_terms
from kiplab.judge.java_process import free_ports, java_command, properties
from kiplab.judge.kafka_jars.jar_cache import SLF4J, Artifact, kept_jars
from kiplab.judge.wire.metadata_log import LoggedRecord
from kiplab.judge.wire.node_connection import NodeConnection
from kiplab.protocol.messages import ElectLeadersRequest
from tests.incident.real_logs.fake_brokers import Incident, TalkativeController
from tests.incident.written_logs import signed_varint

LOGGING = Path(__file__).parent / "logging"
LOG4J2 = "2.25.4"
ALL_IN_SYNC, PRODUCE = -1, 9
BATCH, PATIENCE_S, LOOK_S = 10, 60, 0.1
"""Records in a batch; how long a script waits for a state, and how often it looks."""
BROKER = {
    "process.roles": "broker",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "broker.heartbeat.interval.ms": 500,
    "replica.high.watermark.checkpoint.interval.ms": 500,
    "replica.fetch.wait.max.ms": 100,
    "replica.lag.time.max.ms": 1500,
    "num.network.threads": 1,
    "num.io.threads": 2,
    "log.cleaner.enable": "false",
}
_SETTING = re.compile(r"\t[\w.]+ = ")
"""A line of the settings that each process logs when it starts: they would be most of a file."""


class LoggingController(TalkativeController):
    """One that writes log files, as its brokers do."""

    def __init__(self, *words: object) -> None:
        super().__init__(*words)  # type: ignore[arg-type]
        self.logs = self._folder / "logs"

    def words(self, node: int, main: Sequence[str]) -> tuple[Sequence[Path | str], list[str]]:
        """Class path and command of a node that logs into a folder of its own."""
        is_4 = self.patch.startswith("4")
        name, version = ("log4j-slf4j-impl", LOG4J2) if is_4 else ("slf4j-reload4j", SLF4J)
        group = "org.apache.logging.log4j" if is_4 else "org.slf4j"
        jars = kept_jars(f"{name}-{version}", version, (Artifact(group, name, version),))
        # Of two ways to log, that of the first jar is taken.
        setting, file = (
            ("log4j2.configurationFile", "log4j2.yaml")
            if is_4
            else ("log4j.configuration", "log4j.properties")
        )
        options = [f"-D{setting}=file:{LOGGING / file}", f"-Dkafka.logs.dir={self.logs / str(node)}"]
        return (f"{jars}/*", *self._classes), [*options, *main]

    def _command(self) -> tuple[Sequence[Path | str], Sequence[str]]:
        return self.words(3000, super()._command()[1])


class RealIncident(Incident):
    """A cluster of which nothing is pretended, but for clients."""

    def __init__(self, process: LoggingController) -> None:
        super().__init__(process)
        process.tell("thaw")
        self._process = process
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._ports: dict[int, int] = {}
        self._now: dict[str, tuple[int, list[int]]] = {}
        self._unfenced: set[int] = set()

    # --- brokers ------------------------------------------------------------------------------

    def do_start(self, *ids: str) -> None:
        """A process of each broker begins, and is unfenced."""
        for id in map(int, ids):
            self._unfenced.discard(id)
            home = self._home(id)
            settings = home / "server.properties"
            if not home.exists():
                home.mkdir()
                (self._ports[id],) = free_ports(1)
                settings.write_text(properties(self._settings(id)), encoding="utf-8")
                # The cluster's id is all that a broker has to know.
                (home / "data").mkdir()
                meta = (self._process.data / "meta.properties").read_text("utf-8")
                meta = re.sub(r"directory.id=.*\n", "", meta).replace("node.id=3000", f"node.id={id}")
                (home / "data/meta.properties").write_text(meta, encoding="utf-8")
            command = java_command(*self._process.words(id, ["kafka.Kafka", str(settings)]))
            with (home / "said").open("ab") as said:
                self._children[id] = subprocess.Popen(command, stdout=said, stderr=said)
        self._wait(lambda: self._unfenced.issuperset(map(int, ids)))

    def _home(self, id: int) -> Path:
        return self._process.data.parent / f"broker-{id}"

    def _settings(self, id: int) -> Mapping[str, object]:
        return BROKER | {
            "node.id": id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self._ports[id]}",
            "controller.quorum.voters": f"3000@127.0.0.1:{self._process.port}",
            "log.dirs": self._home(id) / "data",
        }

    def do_kill(self, *ids: str) -> None:
        """SIGKILL: nothing is written any more."""
        self._signal(signal.SIGKILL, *ids)

    def do_stop(self, id: str) -> None:
        """SIGTERM: a controlled shutdown."""
        self._signal(signal.SIGTERM, id)

    def _signal(self, kind: signal.Signals, *ids: str) -> None:
        for id in map(int, ids):
            child = self._children.pop(id)
            child.send_signal(kind)
            child.wait(PATIENCE_S)

    def do_pause(self, id: str) -> None:
        """A process that does not run for a while, as in a long collection of garbage."""
        self._children[int(id)].send_signal(signal.SIGSTOP)

    def do_resume(self, id: str) -> None:
        """It goes on."""
        self._children[int(id)].send_signal(signal.SIGCONT)

    def do_lose_end(self, id: str, partition: str, part: str) -> None:
        """Of a broker that does not run, the log of a partition loses its end: ``1/2`` of it stays.
        Indexes go as well; they are made anew.
        """
        for file in sorted((self._home(int(id)) / "data" / partition).iterdir()):
            if file.suffix == ".log":
                above, below = map(int, part.split("/"))
                data = file.read_bytes()
                file.write_bytes(data[: len(data) * above // below])
            elif file.suffix in (".index", ".timeindex", ".snapshot"):
                file.unlink()

    # --- clients, and time --------------------------------------------------------------------

    def do_produce(self, partition: str, count: str) -> None:
        """Records, each batch of which is acknowledged by all in sync."""
        topic, index = kafka_terms.split(partition)
        self._follow()
        connection = NodeConnection(self._ports[self._now[partition][0]], self.kafka.schemas)
        for _ in range(0, int(count), BATCH):
            records = {"Index": index, "Records": batch_of(BATCH)}
            data = [{"Name": topic, "PartitionData": [records]}]
            body = {"Acks": ALL_IN_SYNC, "TimeoutMs": 30_000, "TopicData": data}
            answer = connection.ask("Produce", PRODUCE, body)
            (response,) = answer["Responses"][0]["PartitionResponses"]
            assert not response["ErrorCode"], response
        connection.close()

    def do_elect_preferred(self, partition: str) -> None:
        """kafka-leader-election --election-type preferred."""
        self.kafka.ask(ElectLeadersRequest(unclean=False, partitions=(partition,)))

    def do_pass(self, ms: str) -> None:
        """Time passes."""
        time.sleep(int(ms) / 1000)

    def do_until(self, partition: str, leader: str, isr: str = "") -> None:
        """Wait for a leader, ``-1`` is none, and an ISR in any order."""
        wanted = int(leader), sorted(map(int, filter(None, isr.split(","))))
        self._wait(lambda: self._now.get(partition) == wanted)

    def _wait(self, enough: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        while not enough():
            assert time.monotonic() < until, (self._now, self._unfenced)
            time.sleep(LOOK_S)
            self._follow()

    def _learn(self, record: LoggedRecord) -> None:
        super()._learn(record)
        fields = record.fields
        if record.name == "RegisterBrokerRecord" or fields.get("Fenced") == 1:
            self._unfenced.discard(fields["BrokerId"])
        elif fields.get("Fenced") == -1:
            self._unfenced.add(fields["BrokerId"])
        elif record.name in ("PartitionRecord", "PartitionChangeRecord"):
            name = self.kafka.topics.partition(fields["TopicId"], fields["PartitionId"])
            isr = fields["Isr"]
            self._now[name] = (
                self._partitions[name].id,
                self._now[name][1] if isr is None else sorted(isr),
            )

    # --- its end ------------------------------------------------------------------------------

    def end(self) -> None:
        """No broker runs any more."""
        for child in self._children.values():
            child.kill()
            child.wait()

    def keep_logs(self, folder: Path) -> None:
        """The log files of all nodes, packed, without settings and without this machine's paths."""
        for file in sorted(self._process.logs.rglob("*.log")):
            text = file.read_text(encoding="utf-8")
            kept = "".join(x for x in text.splitlines(keepends=True) if not _SETTING.match(x))
            kept = kept.replace(str(self._process.data.parent), "/kafka")
            if kept:
                into = folder / file.parent.name / f"{file.name}.gz"
                into.parent.mkdir(parents=True, exist_ok=True)
                into.write_bytes(gzip.compress(kept.encode(), mtime=0))


def batch_of(count: int) -> bytes:
    """A batch of format 2, of records with 20 bytes each and no key."""
    body = b""
    for offset in range(count):
        framed = b"\0\0" + signed_varint(offset) + signed_varint(-1) + signed_varint(20) + bytes(20)
        framed += b"\0"
        body += signed_varint(len(framed)) + framed
    summed = struct.pack(">hiqqqhii", 0, count - 1, 0, 0, -1, -1, -1, count) + body
    head = struct.pack(">ibI", 0, 2, crc32c(summed))
    return struct.pack(">qi", 0, len(head) + len(summed)) + head + summed

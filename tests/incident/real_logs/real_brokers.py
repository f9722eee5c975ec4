"""An incident whose brokers are real as well: processes that log as Kafka's own settings say.

They replicate by the machine's time, and a script waits for what the controller has written of them
with ``until PARTITION LEADER ISR``.
"""

import gzip
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kiplab.incident.log_items import LogRecord
from kiplab.judge.conversation import kafka_terms
from kiplab.judge.java_process import free_ports, java_command, properties
from kiplab.judge.kafka_jars.jar_cache import SLF4J, Artifact, kept_jars
from kiplab.judge.wire.metadata_log import LoggedRecord
from kiplab.judge.wire.node_connection import NodeConnection
from kiplab.protocol.messages import ElectLeadersRequest
from tests.incident.real_logs.fake_brokers import Incident, TalkativeController
from tests.incident.written_logs import Batch, encoded

FILES = Path(__file__).parent / "broker"
LOG4J = Artifact("org.slf4j", "slf4j-reload4j", SLF4J)
LOG4J2 = Artifact("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")
ALL_IN_SYNC, PRODUCE, NOT_LEADER = -1, 9, 6
BATCH, PATIENCE_S, LOOK_S = 10, 60, 0.1
"""Records in a batch; how long a script waits for a state, and how often it looks."""
MESSAGES = encoded(Batch([LogRecord(n, 0, 0, "NO_OP_RECORD", 0, {}) for n in range(BATCH)])).data
"""What is in a message does not matter."""
_OTHERS = re.compile(
    r"\t[\w.]+ = |.* INFO (?!.*\([\w.]*(?:Partition|Log|LogManager|BrokerLifecycleManager"
    r"|ReplicaFetcherThread|state.change.logger|controller\.\w+)\)$)"
)
"""Lines of what has to do with no partition, which would be most of a file: settings, say."""


class LoggingController(TalkativeController):
    """One that writes log files, as its brokers do."""

    @property
    def home(self) -> Path:
        """The folder of the cluster."""
        return self._folder

    def words(self, node: int, main: Sequence[str]) -> tuple[Sequence[Path | str], Sequence[str]]:
        """Class path and command of a node, which logs into a folder of its own."""
        jar, setting, file = LOG4J, "log4j.configuration", "log4j.properties"
        if self.patch.startswith("4"):
            jar, setting, file = LOG4J2, "log4j2.configurationFile", "log4j2.yaml"
        into = f"-Dkafka.logs.dir={self.home / 'logs' / str(node)}"
        # Of two ways to log, that of the first jar is taken.
        classes = (f"{kept_jars(jar.name, jar.version, (jar,))}/*", *self._classes)
        return classes, [f"-D{setting}=file:{FILES / file}", into, *main]

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
        self._isr: dict[str, list[int]] = {}
        self._unfenced: set[int] = set()

    # --- brokers ------------------------------------------------------------------------------

    def do_start(self, *ids: str) -> None:
        """A process of each broker begins, and is unfenced."""
        for id in map(int, ids):
            self._unfenced.discard(id)
            home = self._process.home / f"broker-{id}"
            if not home.exists():
                self._format(id, home)
            main = ["kafka.Kafka", str(home / "server.properties")]
            command = java_command(*self._process.words(id, main))
            with (home / "said").open("ab") as said:
                self._children[id] = subprocess.Popen(command, stdout=said, stderr=said)
        self._wait(lambda: self._unfenced.issuperset(map(int, ids)))

    def _format(self, id: int, home: Path) -> None:
        (home / "data").mkdir(parents=True)
        (self._ports[id],) = free_ports(1)
        own = {
            "node.id": id,
            "listeners": f"PLAINTEXT://127.0.0.1:{self._ports[id]}",
            "controller.quorum.voters": f"3000@127.0.0.1:{self._process.port}",
            "log.dirs": home / "data",
        }
        text = (FILES / "server.properties").read_text(encoding="utf-8") + properties(own)
        (home / "server.properties").write_text(text, encoding="utf-8")
        # The cluster's id is all that a broker has to know.
        meta = (self._process.data / "meta.properties").read_text(encoding="utf-8")
        meta = re.sub(r"directory.id=.*\n", "", meta).replace("id=3000", f"id={id}")
        (home / "data/meta.properties").write_text(meta, encoding="utf-8")

    def do_signal(self, name: str, id: str) -> None:
        """KILL, or TERM for a controlled shutdown; STOP for a pause as that of a long collection of
        garbage, and CONT for its end.
        """
        child = self._children[int(id)]
        child.send_signal(signal.Signals[f"SIG{name}"])
        if name in ("KILL", "TERM"):
            child.wait(PATIENCE_S)

    def do_lose_end(self, id: str, partition: str, part: str) -> None:
        """Of a broker that does not run, ``2/3`` of a partition's log is left, and no index."""
        above, below = map(int, part.split("/"))
        for file in (self._process.home / f"broker-{id}/data" / partition).glob("0*"):
            data = file.read_bytes()
            file.unlink()
            if file.suffix == ".log":
                file.write_bytes(data[: len(data) * above // below])

    # --- clients, and time --------------------------------------------------------------------

    def do_produce(self, partition: str, count: str) -> None:
        """Records, each batch of which is acknowledged by all in sync."""
        topic, index = kafka_terms.split(partition)
        data = [{"Name": topic, "PartitionData": [{"Index": index, "Records": MESSAGES}]}]
        body = {"Acks": ALL_IN_SYNC, "TimeoutMs": 30_000, "TopicData": data}
        left = int(count)
        while left > 0:
            self._follow()
            port = self._ports[self._partitions[partition].id]
            connection = NodeConnection(port, self.kafka.schemas)
            answer = connection.ask("Produce", PRODUCE, body)
            connection.close()
            error = answer["Responses"][0]["PartitionResponses"][0]["ErrorCode"]
            # A broker may not know yet that it leads.
            assert error in (0, NOT_LEADER), answer
            left -= 0 if error else BATCH

    def do_elect_preferred(self, partition: str) -> None:
        """kafka-leader-election --election-type preferred."""
        self.kafka.ask(ElectLeadersRequest(unclean=False, partitions=(partition,)))

    def do_pass(self, ms: str) -> None:
        """Time passes."""
        time.sleep(int(ms) / 1000)

    def do_until(self, partition: str, leader: str, isr: str = "") -> None:
        """Wait for a leader, ``-1`` is none, and an ISR in any order."""
        wanted = int(leader), sorted(map(int, filter(None, isr.split(","))))
        self._wait(lambda: (self._partitions[partition].id, self._isr[partition]) == wanted)

    def _wait(self, enough: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE_S
        self._follow()
        while not enough():
            assert time.monotonic() < until, (self._partitions, self._isr, self._unfenced)
            time.sleep(LOOK_S)
            self._follow()

    def _learn(self, record: LoggedRecord) -> None:
        super()._learn(record)
        fields = record.fields
        if record.name == "RegisterBrokerRecord" or fields.get("Fenced") == 1:
            self._unfenced.discard(fields["BrokerId"])
        elif fields.get("Fenced") == -1:
            self._unfenced.add(fields["BrokerId"])
        elif fields.get("Isr") is not None:
            name = self.kafka.topics.partition(fields["TopicId"], fields["PartitionId"])
            self._isr[name] = sorted(fields["Isr"])

    # --- its end ------------------------------------------------------------------------------

    def end(self) -> None:
        """No broker runs any more."""
        super().end()
        for child in self._children.values():
            child.kill()
            child.wait()

    def keep_logs(self, folder: Path) -> None:
        """The log files of all nodes, packed, without this machine's paths."""
        home = self._process.home
        for file in sorted((home / "logs").rglob("*.log")):
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            kept = "".join(line for line in lines if not _OTHERS.match(line))
            into = folder / file.relative_to(home).with_suffix(".log.gz")
            if kept:
                into.parent.mkdir(parents=True, exist_ok=True)
                into.write_bytes(gzip.compress(kept.replace(str(home), "/kafka").encode(), mtime=0))

"""Every move there is: the actions of hands, plays, searches and clocks on a cluster.

A move that is one line of a play defines that line: its tag is the verb (or `verb`), fields are its
words in order, and fields with a default or a `LineKey` its ``key=value``, written as their type is
(`plays.move_lines`). `conditional` says that it may apply under certain rules only
(``where=GUARD``). Moves in words stand in moves.toml.
"""

import tomllib
from enum import StrEnum
from importlib.resources import files
from typing import Annotated, ClassVar, NamedTuple, Self, get_args

import msgspec

from ..protocol.clients.consumer import Reset
from ..protocol.ids import BrokerId, Count, Offset, PartitionName
from ..protocol.messages import Request
from ..protocol.replica.broker_state import Loss
from .cluster import MessageName


class LineKey(NamedTuple):
    """The form of a field in a line: ``word=value``.

    Where the struct has no default it has to be said (`needed`), or is the partition's leader.
    """

    word: str
    needed: bool = False


class Offered(NamedTuple):
    """The label of a button for a move, and its advice; with ZooKeeper there may be another."""

    label: str
    advice: str
    with_zookeeper: str = ""


LinkEnd = Annotated[BrokerId, "any node, as the end of a link"]
TopicName = Annotated[str, "a topic's"]
ProducerName = Annotated[str, "a producer's"]
ConsumerName = Annotated[str, "a consumer's"]
Commits = Annotated[bool, "whether a transaction commits"]


class Timer(StrEnum):
    """The periodic tasks of nodes: the name, what a line that fires it is called, and its verb if
    that is another word.
    """

    label: str
    verb: str

    def __new__(cls, name: str, label: str = "", verb: str = "") -> Self:
        timer = str.__new__(cls, name)
        timer._value_, timer.label, timer.verb = name, label, verb or name
        return timer

    HEARTBEAT = "heartbeat", "broker {0} sends a heartbeat"
    FETCH = "fetch", "broker {0} fetches"
    LAG_CHECK = "lag-check", "broker {0} checks the lag", "check-lag"
    RETRY = "retry", "broker {0} retries"
    CHECKPOINT = "checkpoint", "broker {0} checkpoints"
    FLUSH = "flush", "broker {0} flushes"
    ANNOUNCE_ISR = "announce-isr", "broker {0} announces its ISR"
    ELECT_UNCLEAN = "elect-unclean", "controller checks leaderless partitions"
    BALANCE_LEADERS = "balance-leaders", "controller balances leaders"


_TEXTS = tomllib.loads((files(__package__) / "moves.toml").read_text("utf-8"))
OFFERED = {name: Offered(*texts) for name, texts in _TEXTS["offered"].items()}
"""What is offered of moves, by their tags; see `_Move.offered`."""


class _Move(msgspec.Struct, frozen=True, cache_hash=True):
    """A move: a value with a tag."""

    def _variant(self) -> str:
        """Which of several moves of one tag it is, in the table of offers."""
        return ""

    @property
    def offered(self) -> Offered:
        """How a button or a menu offers the move; without a label where none does."""
        tag = f"{self.__struct_config__.tag} {self._variant()}"
        return OFFERED.get(tag.rstrip(), Offered("", ""))


class _MessageMove(_Move, frozen=True):
    message: MessageName


class Deliver(_MessageMove, frozen=True, tag="deliver"):
    """A message arrives."""


class Drop(_MessageMove, frozen=True, tag="drop"):
    """A message is lost, and no node notices."""


class TimeOut(_MessageMove, frozen=True, tag="time-out"):
    """A request is lost, and its sender notices."""


class Duplicate(_MessageMove, frozen=True, tag="duplicate"):
    """The sender gives up waiting and sends the request again; the first is still on its way."""


class LoseReply(_MessageMove, frozen=True, tag="lose-reply"):
    """A request arrives and is processed, but its answer never comes."""


class Race(_Move, frozen=True, tag="race"):
    """Two requests arrive at once, on two connections, and their receiver has a thread for each.

    `other` comes in between where the receiver's own locks let it (KAFKA-15221); else it waits for
    `message` to be done with.
    """

    message: MessageName
    other: MessageName


class Advance(_Move, frozen=True, tag="advance"):
    """Time passes (timed clusters only)."""

    ms: int


class Fire(_Move, frozen=True, tag="fire"):
    """A node's timer goes off."""

    node: BrokerId
    timer: Timer

    def _variant(self) -> str:
        return self.timer


class ExpireSession(_Move, frozen=True, tag="expire"):
    """A broker's session is found over: the controller fences it, or ZooKeeper ends it."""

    broker: BrokerId


class HeartbeatTimeout(_Move, frozen=True, tag="heartbeat-timeout"):
    """A broker's MetadataHeartbeats have come to nothing for too long (KIP-343).

    There are two clocks: at the controller, which then declares the broker inactive, and at the
    broker, which then fences itself.
    """

    broker: BrokerId
    at_controller: bool

    def _variant(self) -> str:
        return "controller" if self.at_controller else "broker"


class Produce(_Move, frozen=True, tag="produce"):
    """A producer writes `count` records to the broker that leads, or believes it does; with
    `transaction` to the transaction that is open there, or that they begin.
    """

    partition: PartitionName
    broker: BrokerId
    count: int
    acks_all: bool = True
    transaction: bool = False


class EndTransaction(_Move, frozen=True, tag="end-transaction"):
    """A coordinator has the marker written that ends the open transaction of a log."""

    partition: PartitionName
    broker: Annotated[BrokerId, LineKey("to")]
    commits: Commits


class ProduceAs(_Move, frozen=True, tag="produce-as"):
    """A producer has `count` records to write, to the leader in its metadata."""

    partition: PartitionName
    producer: ProducerName
    count: int
    acks_all: bool = True


class Resend(_Move, frozen=True, tag="resend"):
    """A producer sends its unacknowledged batches again, and gives up a late answer."""

    conditional: ClassVar[bool] = True

    producer: ProducerName


class DeleteRecords(_Move, frozen=True, tag="delete-records"):
    """An admin client has a broker delete the records below an offset; None: all the committed."""

    partition: PartitionName
    broker: Annotated[BrokerId, LineKey("to")]
    before: Offset | None = None


class Poll(_Move, frozen=True, tag="poll"):
    """A consumer reads on from where it is; a consumer that is not known yet begins at offset 0."""

    partition: PartitionName
    consumer: ConsumerName = "consumer"


class RefreshMetadata(_Move, frozen=True, tag="refresh"):
    """A consumer asks a broker for metadata; None asks the one with the newest."""

    consumer: ConsumerName = "consumer"
    broker: Annotated[BrokerId | None, LineKey("from")] = None


class ResetOffset(_Move, frozen=True, tag="reset"):
    """A consumer goes to the beginning or to the end of a partition."""

    partition: PartitionName
    to: Annotated[Reset, LineKey("to", needed=True)] = Reset.EARLIEST
    consumer: ConsumerName = "consumer"

    def _variant(self) -> str:
        return self.to


class Crash(_Move, frozen=True, tag="crash"):
    """A broker process dies."""

    broker: BrokerId
    loss: Annotated[Loss, LineKey("disk")] = Loss.NOTHING


class RemoveDirectory(_Move, frozen=True, tag="remove-directory"):
    """An operator takes a log directory out of the configuration of a broker that is down."""

    broker: BrokerId
    directory: Annotated[Count, LineKey("directory", needed=True)]


class Start(_Move, frozen=True, tag="start"):
    """A broker process starts; where there is ZooKeeper, it connects to this server of it."""

    broker: BrokerId
    server: Count = 0


class ShutDown(_Move, frozen=True, tag="shut-down"):
    """A broker begins a controlled shutdown, or tries once more where a try came to nothing."""

    broker: BrokerId


class FinishRecovery(_Move, frozen=True, tag="finish-recovery"):
    """A starting broker is done with its logs and wants to be unfenced."""

    verb: ClassVar[str] = "recover"

    broker: BrokerId


class FinishLeaderRecovery(_Move, frozen=True, tag="finish-leader-recovery"):
    """A leader that recovers from an unclean election is done, and tells the controller (KIP-704).

    As implemented no leader ever recovers.
    """

    verb: ClassVar[str] = "finish-recovery"
    conditional: ClassVar[bool] = True

    partition: PartitionName
    broker: Annotated[BrokerId, LineKey("by")]


class Cut(_Move, frozen=True, tag="cut"):
    """A link goes down; what is on it waits."""

    one: LinkEnd
    other: LinkEnd


class Heal(_Move, frozen=True, tag="heal"):
    """A link comes back."""

    one: LinkEnd
    other: LinkEnd


class FailOver(_Move, frozen=True, tag="fail-over"):
    """Another controller becomes active; it has the metadata log and no heartbeat state. In
    ZooKeeper's time an operator deletes /controller, and brokers see to it."""


class Elect(_Move, frozen=True, tag="elect"):
    """An operator asks for an election (ElectLeaders)."""

    conditional: ClassVar[bool] = True

    partition: PartitionName
    unclean: bool = False

    def _variant(self) -> str:
        return "unclean" if self.unclean else "preferred"


class Configure(_Move, frozen=True, tag="configure"):
    """An operator changes one setting of a topic (IncrementalAlterConfigs): the one that is given,
    unclean.leader.election.enable or min.insync.replicas.
    """

    topic: TopicName
    unclean_leader_election: bool | None = None
    min_insync_replicas: Count | None = None


class ConfigureBrokers(_Move, frozen=True, tag="configure-brokers"):
    """An operator changes the cluster-level min.insync.replicas, for topics without their own; or
    that of one `broker`. Without a value the entry is removed.
    """

    min_insync_replicas: Count | None = None
    broker: BrokerId | None = None


class DeleteTopic(_Move, frozen=True, tag="delete-topic"):
    """An operator deletes a topic (DeleteTopics)."""

    topic: TopicName


class Upgrade(_Move, frozen=True, tag="upgrade"):
    """A node (or, with None, every node) runs another release from now on."""

    node: BrokerId | None
    release: str


class UpgradeMetadata(_Move, frozen=True, tag="upgrade-metadata"):
    """The cluster's metadata version is finalized at another level."""

    metadata_version: str


class UpgradeElr(_Move, frozen=True, tag="upgrade-elr"):
    """The feature eligible.leader.replicas.version is finalized at another level, 0 or 1."""

    level: Count


class RawRequest(_Move, frozen=True, tag="send"):
    """A raw request with any field values."""

    sender: BrokerId
    receiver: BrokerId
    body: Request


AboutMessage = Deliver | Drop | TimeOut | Duplicate | LoseReply
_OfTime = Race | Advance | Fire | ExpireSession | HeartbeatTimeout
_OfProducers = Produce | EndTransaction | ProduceAs | Resend | DeleteRecords
_OfConsumers = Poll | RefreshMetadata | ResetOffset
_OfBrokers = Crash | RemoveDirectory | Start | ShutDown | FinishRecovery | FinishLeaderRecovery
_OfFeatures = Upgrade | UpgradeMetadata | UpgradeElr
_OfTopics = Elect | Configure | ConfigureBrokers | DeleteTopic
_OfOperators = Cut | Heal | FailOver | _OfTopics | _OfFeatures
Move = AboutMessage | _OfTime | _OfProducers | _OfConsumers | _OfBrokers | _OfOperators | RawRequest
FAULTS = (Drop, TimeOut, Duplicate, LoseReply, Crash, Cut, FailOver)
"""Moves that a fault budget counts."""
_BY_TAG = {kind.__struct_config__.tag: kind for kind in get_args(Move)}
LABELS: dict[type, str] = {_BY_TAG[tag]: label for tag, label in _TEXTS["labels"].items()}
"""What a line is called that says such a move, with the move's fields, or the line's words."""
ENDS: dict[type, str] = {_BY_TAG[tag]: fate for tag, fate in _TEXTS["ends"].items()}
"""The fate of the message that such a move is about."""

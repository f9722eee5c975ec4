"""Every move there is: what hands, plays, searches and clocks do to a cluster."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from ..protocol.clients.consumer import Reset
from ..protocol.ids import BrokerId, Offset
from ..protocol.messages import Request
from ..protocol.replica.broker_state import Loss
from .cluster import MessageName


class Timer(StrEnum):
    """The periodic tasks of nodes."""

    HEARTBEAT = "heartbeat"
    FETCH = "fetch"
    LAG_CHECK = "lag-check"
    RETRY = "retry"
    CHECKPOINT = "checkpoint"
    FLUSH = "flush"
    ANNOUNCE_ISR = "announce-isr"
    ELECT_UNCLEAN = "elect-unclean"
    BALANCE_LEADERS = "balance-leaders"


class Deliver(msgspec.Struct, frozen=True, cache_hash=True, tag="deliver"):
    """A message arrives."""

    message: MessageName


class Drop(msgspec.Struct, frozen=True, cache_hash=True, tag="drop"):
    """A message is lost, and nobody notices."""

    message: MessageName


class TimeOut(msgspec.Struct, frozen=True, cache_hash=True, tag="time-out"):
    """A request is lost, and its sender notices."""

    message: MessageName


class Duplicate(msgspec.Struct, frozen=True, cache_hash=True, tag="duplicate"):
    """The sender gives up waiting and sends the request again; the first is still on its way."""

    message: MessageName


class LoseReply(msgspec.Struct, frozen=True, cache_hash=True, tag="lose-reply"):
    """A request arrives and is processed, but its answer never comes."""

    message: MessageName


class Race(msgspec.Struct, frozen=True, cache_hash=True, tag="race"):
    """Two requests arrive at once, on two connections, and their receiver has a thread for each.

    `other` comes in between where the receiver's own locks let it (KAFKA-15221); else it waits for
    `message` to be done with.
    """

    message: MessageName
    other: MessageName


class Advance(msgspec.Struct, frozen=True, cache_hash=True, tag="advance"):
    """Time passes (timed clusters only)."""

    ms: int


class Fire(msgspec.Struct, frozen=True, cache_hash=True, tag="fire"):
    """A node's timer goes off."""

    node: BrokerId
    timer: Timer


class ExpireSession(msgspec.Struct, frozen=True, cache_hash=True, tag="expire"):
    """A broker's session is found over: the controller fences it, or ZooKeeper ends it."""

    broker: BrokerId


class HeartbeatTimeout(msgspec.Struct, frozen=True, cache_hash=True, tag="heartbeat-timeout"):
    """A broker's MetadataHeartbeats have come to nothing for too long (KIP-343).

    There are two clocks: at the controller, which then declares the broker inactive, and at the
    broker, which then fences itself.
    """

    broker: BrokerId
    at_controller: bool


class Produce(msgspec.Struct, frozen=True, cache_hash=True, tag="produce"):
    """A producer writes `count` records to the broker that leads, or believes it does; with
    `transaction` to the transaction that is open there, or that they begin.
    """

    partition: str
    broker: BrokerId
    count: int
    acks_all: bool = True
    transaction: bool = False


class EndTransaction(msgspec.Struct, frozen=True, cache_hash=True, tag="end-transaction"):
    """A coordinator has the marker written that ends the open transaction of a log."""

    partition: str
    broker: BrokerId
    commits: bool


class ProduceAs(msgspec.Struct, frozen=True, cache_hash=True, tag="produce-as"):
    """A producer has `count` records to write, to whom its metadata names as leader."""

    partition: str
    producer: str
    count: int
    acks_all: bool = True


class Resend(msgspec.Struct, frozen=True, cache_hash=True, tag="resend"):
    """A producer sends again what is not acknowledged, and gives up an answer that is late."""

    producer: str


class DeleteRecords(msgspec.Struct, frozen=True, cache_hash=True, tag="delete-records"):
    """An admin client has a broker delete the records below an offset; None: all the committed."""

    partition: str
    broker: BrokerId
    before: Offset | None = None


class Poll(msgspec.Struct, frozen=True, cache_hash=True, tag="poll"):
    """A consumer reads on from where it is; a consumer that is not known yet begins at offset 0."""

    partition: str
    consumer: str = "consumer"


class RefreshMetadata(msgspec.Struct, frozen=True, cache_hash=True, tag="refresh"):
    """A consumer asks a broker who leads; None asks the one that knows most."""

    consumer: str = "consumer"
    broker: BrokerId | None = None


class ResetOffset(msgspec.Struct, frozen=True, cache_hash=True, tag="reset"):
    """A consumer goes to the beginning or to the end of a partition."""

    partition: str
    to: Reset = Reset.EARLIEST
    consumer: str = "consumer"


class Crash(msgspec.Struct, frozen=True, cache_hash=True, tag="crash"):
    """A broker process dies."""

    broker: BrokerId
    loss: Loss = Loss.NOTHING


class Start(msgspec.Struct, frozen=True, cache_hash=True, tag="start"):
    """A broker process starts; where there is ZooKeeper, it connects to this server of it."""

    broker: BrokerId
    server: int = 0


class ShutDown(msgspec.Struct, frozen=True, cache_hash=True, tag="shut-down"):
    """A broker begins a controlled shutdown, or tries once more where a try came to nothing."""

    broker: BrokerId


class FinishRecovery(msgspec.Struct, frozen=True, cache_hash=True, tag="finish-recovery"):
    """A starting broker is done with its logs and wants to be unfenced."""

    broker: BrokerId


class FinishLeaderRecovery(
    msgspec.Struct, frozen=True, cache_hash=True, tag="finish-leader-recovery"
):
    """A leader that recovers from an unclean election is done, and tells the controller (KIP-704).

    As implemented no leader ever recovers.
    """

    partition: str
    broker: BrokerId


class Cut(msgspec.Struct, frozen=True, cache_hash=True, tag="cut"):
    """A link goes down; what is on it waits."""

    one: BrokerId
    other: BrokerId


class Heal(msgspec.Struct, frozen=True, cache_hash=True, tag="heal"):
    """A link comes back."""

    one: BrokerId
    other: BrokerId


class FailOver(msgspec.Struct, frozen=True, cache_hash=True, tag="fail-over"):
    """Another controller becomes active; it has the metadata log and no heartbeat state. In
    ZooKeeper's time an operator deletes /controller, and brokers see to it."""


class Elect(msgspec.Struct, frozen=True, cache_hash=True, tag="elect"):
    """An operator asks for an election (ElectLeaders)."""

    partition: str
    unclean: bool = False


class Configure(msgspec.Struct, frozen=True, cache_hash=True, tag="configure"):
    """An operator sets unclean.leader.election.enable of a topic (IncrementalAlterConfigs)."""

    topic: str
    unclean_leader_election: bool


class Upgrade(msgspec.Struct, frozen=True, cache_hash=True, tag="upgrade"):
    """A node (or, with None, every node) runs another release from now on."""

    node: BrokerId | None
    release: str


class UpgradeMetadata(msgspec.Struct, frozen=True, cache_hash=True, tag="upgrade-metadata"):
    """The cluster's metadata version is finalized at another level."""

    metadata_version: str


class RawRequest(msgspec.Struct, frozen=True, cache_hash=True, tag="send"):
    """A request with any field values, as nobody's rule would send it."""

    sender: BrokerId
    receiver: BrokerId
    body: Request


Move = (
    Deliver
    | Drop
    | TimeOut
    | Duplicate
    | LoseReply
    | Race
    | Advance
    | Fire
    | ExpireSession
    | HeartbeatTimeout
    | Produce
    | EndTransaction
    | ProduceAs
    | Resend
    | DeleteRecords
    | Poll
    | RefreshMetadata
    | ResetOffset
    | Crash
    | Start
    | ShutDown
    | FinishRecovery
    | FinishLeaderRecovery
    | Cut
    | Heal
    | FailOver
    | Elect
    | Configure
    | Upgrade
    | UpgradeMetadata
    | RawRequest
)

AboutMessage = Deliver | Drop | TimeOut | Duplicate | LoseReply
FAULTS = (Drop, TimeOut, Duplicate, LoseReply, Crash, Cut, FailOver)
"""Moves that a fault budget counts."""

"""The whole situation as one frozen value: nodes, messages in flight, time, promises."""

from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ..protocol import ids, log
from ..protocol.clients.consumer import Consumer
from ..protocol.clients.producer import Producer
from ..protocol.features import Features
from ..protocol.messages import Body, Request
from ..protocol.replica.broker_state import Broker


class MessageName(NamedTuple):
    """Who sent it in which incarnation, what it is, and which of its kind: equal across forks.

    The controller's and the client's incarnation is 0.
    """

    sender: ids.BrokerId
    incarnation: ids.Incarnation
    kind: str
    ordinal: ids.Count

    def __str__(self) -> str:
        return f"{self.kind} #{self.ordinal} from {ids.node_name(self.sender)}"


class Message(msgspec.Struct, frozen=True, cache_hash=True):
    """A message on its way. `request` is the request that a reply answers.

    Messages of one `lane` between two processes arrive in the order they were sent; a retry comes
    on a new `connection` and may overtake.
    """

    name: MessageName
    receiver: ids.BrokerId
    receiver_incarnation: ids.Incarnation
    lane: str
    body: Body
    request: Request | None = None
    connection: ids.Count = 0


class UncleanLeaderEpoch(msgspec.Struct, frozen=True, cache_hash=True):
    """The history of a partition since its last unclean election; no rule reads it.

    `epoch` is the leader epoch of that election: what a leader of an earlier one still commits or
    gives away is no part of this. `committed` is what its leader had committed, and whoever led
    later; from the end of the recovery on it is to stay. `consumed` is what consumers read while
    the partition was RECOVERING.
    """

    epoch: ids.LeaderEpoch
    committed: log.Log = log.EMPTY
    consumed: log.Log = log.EMPTY


class Observed(msgspec.Struct, frozen=True, cache_hash=True):
    """The omniscient observer's knowledge of one partition; no rule reads it.

    `committed` is everything a leader has ever committed. `isr_epochs` are the broker epochs under
    which the ISR members caught up. `damaged` are the ISR members that died without the committed
    records; when all are, durability is no longer promised (`excused`). With eligible leader
    replicas nobody is damaged, and nothing but an unclean election is an excuse. `unclean_epoch` is
    what follows the last unclean election, None before one and after a fault that excuses
    everything.
    """

    partition: ids.PartitionName
    committed: log.Log = log.EMPTY
    isr_epochs: tuple[tuple[ids.BrokerId, ids.BrokerEpoch], ...] = ()
    damaged: tuple[ids.BrokerId, ...] = ()
    excused: bool = False
    unclean_epoch: UncleanLeaderEpoch | None = None


class Cluster(msgspec.Struct, frozen=True, cache_hash=True):
    """Everything. Brokers are sorted by id, messages in the order they were sent, consumers and
    producers by name and partition.

    `controller` is what stands off the brokers of the control plane; its type is the mode, and
    `truth` reads it. `broken` names the (property, partition) pairs that do not hold any more.
    `forged` is set by a raw request: what a forger does is not promised anything. `inherited` is
    set by an upgrade from features that promise less: what they let through or sent may still
    count. `sent` counts messages per sender, incarnation and kind, for their names. `timed` says
    whether `now_ms` and all timers count.
    """

    features: Features
    controller: msgspec.Struct
    brokers: tuple[Broker, ...]
    messages: tuple[Message, ...] = ()
    observed: tuple[Observed, ...] = ()
    cut: tuple[tuple[ids.BrokerId, ids.BrokerId], ...] = ()
    broken: tuple[tuple[str, str], ...] = ()
    sent: tuple[tuple[ids.BrokerId, ids.Incarnation, str, ids.Count], ...] = ()
    timed: bool = False
    now_ms: ids.Milliseconds = 0
    forged: bool = False
    inherited: bool = False
    consumers: tuple[Consumer, ...] = ()
    producers: tuple[Producer, ...] = ()

    @property
    def clock(self) -> int | None:
        """The rules' view of the time."""
        return self.now_ms if self.timed else None


def later(cluster: Cluster, ms: int) -> Cluster:
    """`cluster` when so many milliseconds have passed, and nothing else."""
    return replace(cluster, now_ms=cluster.now_ms + ms)


def broker(cluster: Cluster, id: ids.BrokerId) -> Broker | None:
    """The broker with this id, or None."""
    for candidate in cluster.brokers:
        if candidate.id == id:
            return candidate
    return None

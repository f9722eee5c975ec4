"""Access to the parts of a broker, shared by the rules that run on it.

A rule on a broker takes the whole broker and returns it; it changes one replica in memory or one
log on disk. These functions find the part and replace it, sorted as everything is, and return the
same broker when the part is the same object. `Here` is the view that a rule about one partition has
of its broker.

A fenced broker refuses (KIP-343, unbuilt). A broker is fenced if it has no answer yet that it is
active, if an answer says that it is not, or if it fenced itself because it could not reach the
controller in time. It refuses the requests that lead clients and followers on: produce, fetches,
metadata, and requests for offsets. It answers requests of the controller, and its heartbeats go on;
else it would never come back. The text names no error: it is NOT_LEADER_OR_FOLLOWER, at which
clients ask another broker for the leader. Requests under way when the fence goes up are completed.
The output is a refusal, or None; nothing changes here. A process without a state of this kind, as
in every release, refuses nothing.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Compared, Fact, Refused
from ..features import Features
from ..ids import BrokerEpoch, BrokerId, Offset
from ..log import Log
from ..messages import MembershipState, Send
from ..registrations import Registration
from ..releases import CodeVersion
from .broker_state import Broker, DurableReplica, Replica, Volatile, log_of


class Here(msgspec.Struct, frozen=True):
    """The place of a leader rule: its broker, its code, its view, the time.

    `now_ms` is None in a run without a clock: then "in time" means "caught up with the leader".
    """

    id: BrokerId
    epoch: BrokerEpoch
    code: CodeVersion
    active: frozenset[str]
    registrations: tuple[Registration, ...]
    now_ms: int | None
    writes_isr: bool = False
    """Whether it writes the ISR to ZooKeeper by itself."""
    fenced: bool = False
    """Whether it counts itself out (KIP-343)."""

    @property
    def stamp(self) -> int:
        """The time to store; 0 without a clock, so that equal situations stay equal states."""
        return self.now_ms or 0

    def refusal(
        self,
        partition: str,
        request: str,
        error: KafkaError,
        guard: str | None = None,
        *compared: Compared,
    ) -> Refused:
        """The fact that this broker answers a request about a partition with an error."""
        return Refused(self.id, request, error, guard, compared, partition)


ReplicaEffect = tuple[Replica, tuple[Fact, ...]]
"""A broker's role for a partition after a rule, and the facts."""
BrokerEffect = tuple[Broker, tuple[Send, ...], tuple[Fact, ...]]
"""The broker after a rule, what it sends, what it reports."""


def process_of(broker: Broker) -> Volatile:
    """The running process; the engine never routes to a broker that is down.

    Source: none; it stands for the process in which Kafka's code runs.
    """
    assert broker.process is not None, f"broker {broker.id} is down"
    return broker.process


def here(broker: Broker, features: Features, now_ms: int | None) -> Here:
    """The view of a rule on this broker.

    Source: KRaftMetadataCache, as Partition is given it (3.5.0), and the broker's own code.
    """
    process = process_of(broker)
    return Here(
        id=broker.id,
        epoch=process.epoch,
        code=features.code_of(broker.id),
        active=features.active(broker.id),
        registrations=process.image.registrations if process.image else (),
        now_ms=now_ms,
        writes_isr=features.leaders_write_isr(),
        fenced=process.state is not None and is_fenced(broker, features),
    )


_OUT = (MembershipState.INITIAL, MembershipState.INACTIVE)


def is_fenced(broker: Broker, features: Features) -> bool:
    """Whether it refuses clients and followers. Source: none; KIP-343 as it is written."""
    # KIP-343, Controller Heartbeat, Broker-Side Heartbeat Timeout: a fenced node accepts no new
    # requests.
    refuses = "343.refuse-while-fenced" in features.active(broker.id)
    return refuses and process_of(broker).state in _OUT


def checkpoint_of(broker: Broker, partition: str) -> Offset:
    """The high watermark as last written to disk. Source: OffsetCheckpoints.fetch (3.5.0)."""
    offsets = (r.checkpoint for r in broker.durable.replicas if r.partition == partition)
    return next(offsets, Offset(0))


def with_replica(broker: Broker, replica: Replica) -> Broker:
    """`broker` whose process plays `replica` instead of the one of the same partition.

    The same broker if it is the same replica, so that comparing is cheap.

    Source: none; it stands for an assignment to a field of kafka.cluster.Partition.
    """
    process = process_of(broker)
    if any(r is replica for r in process.replicas):
        return broker
    replicas: tuple[Replica, ...] = (replica,)
    others = [r for r in process.replicas if r.partition != replica.partition]
    if others:
        replicas = tuple(sorted([*others, replica], key=lambda r: r.partition))
    return replace(broker, process=replace(process, replicas=replicas))


def with_process(broker: Broker, **changes: Any) -> Broker:
    """`broker` whose running process has these fields changed.

    Source: none; it stands for assignments to fields of a process.
    """
    return replace(broker, process=replace(process_of(broker), **changes))


def with_log(broker: Broker, partition: str, log: Log) -> Broker:
    """`broker` with another log on its disk. Source: none; it stands for a write to UnifiedLog."""
    if log_of(broker, partition) is log:
        return broker
    replicas = broker.durable.replicas
    others = [r for r in replicas if r.partition != partition]
    mine = next((r for r in replicas if r.partition == partition), DurableReplica(partition))
    replicas = tuple(sorted([*others, replace(mine, log=log)], key=lambda r: r.partition))
    return replace(broker, durable=replace(broker.durable, replicas=replicas))


def fenced_refuses(here: Here, request: str, partition: str | None = None) -> Refused | None:
    """Why a fenced broker does not answer, about one partition or about who leads what.

    Source: none; KIP-343 as it is written.
    """
    if not here.fenced:
        return None
    # KIP-343, BrokerState Enum: INACTIVE is who should be fenced from the cluster.
    compared = (Compared("broker state", "active or stopping", "fenced"),)
    error, guard = KafkaError.NOT_LEADER_OR_FOLLOWER, "343.refuse-while-fenced"
    return Refused(here.id, request, error, guard, compared, partition)

"""`send`: a request with any field values, so that each test vector is a play."""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec.structs import replace

from ..engine.cluster import Cluster
from ..engine.nodes import kind_of
from ..engine.routes import ROUTES
from ..engine.truth import partition_of, registration_of, truth
from ..protocol.ids import (
    CONTROLLER,
    NO_LEADER,
    BrokerEpoch,
    BrokerId,
    Incarnation,
    LeaderEpoch,
    MetadataOffset,
    Offset,
    PartitionEpoch,
)
from ..protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    BrokerHeartbeatRequest,
    BrokerRegistrationRequest,
    ElectLeadersRequest,
    FetchRequest,
    IsrMember,
    Request,
)
from . import values
from .play import Statement
from .values import Names

_ANY = Names()
ITEMS_MAX = 12
"""How many partitions one AlterPartition may name."""


def raw_request(statement: Statement, cluster: Cluster) -> tuple[BrokerId, BrokerId, Request]:
    """(sender, receiver, body). A field that is not given has the value that fits the situation."""
    sender = BrokerId(_number(statement, "from", 1))
    body = _BUILDERS[statement.words[0]](statement, cluster, sender)
    return sender, _receiver(statement, cluster, body), body


def _receiver(statement: Statement, cluster: Cluster, body: Request) -> BrokerId:
    """Who is named, or the controller if it answers such a request, or the partition's leader."""
    to = statement.arg("to")
    if to:
        return BrokerId(int(to))
    if (kind_of(cluster, CONTROLLER), type(body)) in ROUTES:
        return CONTROLLER
    state = partition_of(cluster, body.about())
    return state.leader if state else NO_LEADER


def _alter_partition(statement: Statement, cluster: Cluster, sender: BrokerId) -> Request:
    version = cluster.features.alter_partition_version(sender)
    return AlterPartitionRequest(
        version=_number(statement, "version", version),
        broker=sender,
        broker_epoch=_epoch(statement, "broker-epoch", cluster, sender),
        items=tuple(_item(part, cluster) for part in items_of(statement)),
    )


def items_of(statement: Statement) -> tuple[Statement, ...]:
    """One statement per partition: what a line says of one begins with its ``partition=``.

    What stands before the first ``partition=`` counts for the first partition.
    """
    starts = [n for n, (key, _) in enumerate(statement.args) if key == "partition"][1:]
    bounds = zip([0, *starts], [*starts, len(statement.args)], strict=True)
    return tuple(replace(statement, args=statement.args[a:b]) for a, b in bounds)


def begins_another_item(statement: Statement, key: str, seen: Collection[str]) -> bool:
    """Whether `key`, after those `seen`, begins what the line says of another partition."""
    several = statement.verb == "send" and statement.words[:1] == ("alter-partition",)
    return several and key == "partition" and key in seen


def _item(statement: Statement, cluster: Cluster) -> AlterPartitionItem:
    name = _partition(statement, cluster)
    state = partition_of(cluster, name)
    members = values.members(statement.arg("isr") or "", _ANY)
    return AlterPartitionItem(
        partition=name,
        leader_epoch=LeaderEpoch(
            _number(statement, "leader-epoch", state.leader_epoch if state else 0)
        ),
        partition_epoch=PartitionEpoch(
            _number(statement, "partition-epoch", state.partition_epoch if state else 0)
        ),
        isr=tuple(IsrMember(BrokerId(b), BrokerEpoch(e)) for b, e in members),
        recovery=_number(statement, "recovery", 0),
    )


def _fetch(statement: Statement, cluster: Cluster, sender: BrokerId) -> Request:
    return FetchRequest(
        version=_number(statement, "version", cluster.features.fetch_version()),
        partition=_partition(statement, cluster),
        replica=sender,
        replica_epoch=_epoch(statement, "replica-epoch", cluster, sender),
        leader_epoch=LeaderEpoch(_number(statement, "leader-epoch", -1)),
        offset=Offset(_number(statement, "offset", 0)),
        last_fetched_epoch=LeaderEpoch(_number(statement, "last-fetched-epoch", -1)),
    )


def _registration(statement: Statement, cluster: Cluster, sender: BrokerId) -> Request:
    known = registration_of(cluster, sender)
    fresh = known.incarnation + 1 if known else 1
    return BrokerRegistrationRequest(
        broker=sender, incarnation=Incarnation(_number(statement, "incarnation", fresh))
    )


def _heartbeat(statement: Statement, cluster: Cluster, sender: BrokerId) -> Request:
    return BrokerHeartbeatRequest(
        broker=sender,
        broker_epoch=_epoch(statement, "broker-epoch", cluster, sender),
        metadata_offset=MetadataOffset(
            _number(statement, "metadata-offset", truth(cluster).next_offset - 1)
        ),
        want_fence=statement.arg("want-fence") == "yes",
        want_shut_down=statement.arg("want-shut-down") == "yes",
    )


def _elect(statement: Statement, _cluster: Cluster, _sender: BrokerId) -> Request:
    return ElectLeadersRequest(
        unclean=statement.arg("unclean") == "yes",
        partitions=values.asked_partitions(statement.arg("partitions") or "none", _ANY),
    )


def _epoch(statement: Statement, key: str, cluster: Cluster, sender: BrokerId) -> BrokerEpoch:
    known = registration_of(cluster, sender)
    return BrokerEpoch(_number(statement, key, known.epoch if known else -1))


def _partition(statement: Statement, cluster: Cluster) -> str:
    partitions = truth(cluster).partitions
    return statement.arg("partition") or (partitions[0].name if partitions else "orders-0")


def _number(statement: Statement, key: str, default: int) -> int:
    given = statement.arg(key)
    return default if given is None else int(given)


_BUILDERS: dict[str, Callable[[Statement, Cluster, BrokerId], Request]] = {
    "alter-partition": _alter_partition,
    "fetch": _fetch,
    "broker-registration": _registration,
    "broker-heartbeat": _heartbeat,
    "elect-leaders": _elect,
}
SENDABLE = tuple(_BUILDERS)
_COMMON = ("from",)
PER_PARTITION = ("partition", "leader-epoch", "partition-epoch", "isr", "recovery")
"""What an AlterPartition says of each of its partitions."""
FIELDS: dict[str, tuple[str, ...]] = {
    "alter-partition": (*_COMMON, "version", "broker-epoch", *PER_PARTITION),
    "fetch": (
        *_COMMON,
        *("to", "version", "partition", "replica-epoch", "leader-epoch", "offset"),
        "last-fetched-epoch",
    ),
    "broker-registration": (*_COMMON, "incarnation"),
    "broker-heartbeat": (
        *_COMMON,
        *("broker-epoch", "metadata-offset", "want-fence", "want-shut-down"),
    ),
    "elect-leaders": (*_COMMON, "partitions", "unclean"),
}
"""What `send` takes for each kind of request; of a fetch also whom it goes `to`."""

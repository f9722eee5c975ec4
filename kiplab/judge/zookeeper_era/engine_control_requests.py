"""What the engine's controller sends, read into the form that is compared."""

from collections.abc import Mapping
from itertools import groupby

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.nodes import ensemble_of
from ...protocol.ids import NO_BROKER_EPOCH
from ...protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResult,
    LeaderAndIsrRequest,
    StopReplicaRequest,
    UpdateMetadataRequest,
)
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import PartitionRegistration, topic_of
from ...protocol.zookeeper.ensemble import find
from ...protocol.zookeeper.znodes import PartitionStateZnode, partition_state_path
from .control_answers import IDLE
from .sequences import (
    LEADER_AND_ISR,
    NO_EPOCH,
    STOP_REPLICA,
    UPDATE_METADATA,
    AlterAnswer,
    AlteredPartition,
    Passage,
    SentPartition,
    SentRequest,
    StateZnode,
    StoppedReplica,
)

_APIS: dict[type[ControlRequest], str] = {
    LeaderAndIsrRequest: LEADER_AND_ISR,
    UpdateMetadataRequest: UPDATE_METADATA,
    StopReplicaRequest: STOP_REPLICA,
}
_WITH_LEADER_EPOCHS = 3
"""The first version of StopReplica that has them (KIP-570)."""
_WITH_RECOVERY = 6
"""The first version of LeaderAndIsr that has LeaderRecoveryState (KIP-704); UpdateMetadata has none
in any version.
"""
_NOT_IN_THE_ENGINE = 0


def partition_name(topic: str) -> str:
    """The engine's name for the one partition of a topic."""
    return f"{topic}-0"


def engine_request(
    broker: int,
    generation: str,
    request: ControlRequest,
    answer: int,
    generations: Mapping[tuple[int, int], str],
) -> SentRequest:
    """A request that reached a broker; `generations` are named by broker and czxid."""
    partitions = getattr(request, "partitions", ())
    items = request.items if isinstance(request, StopReplicaRequest) else ()
    says = isinstance(request, LeaderAndIsrRequest) and request.version >= _WITH_RECOVERY
    told = [_told(p, says_recovery=says) for p in partitions if topic_of(p.name) != IDLE]
    stops_by_epoch = request.version >= _WITH_LEADER_EPOCHS
    stopped = [
        StoppedReplica(topic_of(i.partition), i.delete, i.leader_epoch if stops_by_epoch else None)
        for i in items
    ]
    epoch = request.broker_epoch
    known = generations.get((broker, epoch), f"unknown epoch {epoch}")
    return SentRequest(
        broker=broker,
        generation=generation,
        api=_APIS[type(request)],
        version=request.version,
        sender=request.controller,
        controller_epoch=request.controller_epoch,
        stamped=NO_EPOCH if epoch == NO_BROKER_EPOCH else known,
        answer=answer,
        full=any(topic_of(p.name) == IDLE for p in partitions),
        partitions=tuple(sorted(told, key=lambda partition: partition.topic)),
        stopped=tuple(sorted(stopped, key=lambda replica: replica.topic)),
        live=tuple(sorted(getattr(request, "live_brokers", getattr(request, "live_leaders", ())))),
    )


def alter_answer(
    request: AlterPartitionRequest, answer: AlterPartitionResponse, stamped: str
) -> AlterAnswer:
    """An answer of either controller; `stamped` is the generation whose epoch was sent along."""
    return AlterAnswer(
        broker=request.broker,
        stamped=stamped,
        version=request.version,
        error=int(answer.error),
        partitions=tuple(map(_altered, answer.results)),
    )


def _altered(result: AlterPartitionResult) -> AlteredPartition:
    topic = topic_of(result.partition)
    if result.error:
        return AlteredPartition(topic, int(result.error))
    return AlteredPartition(
        topic=topic,
        error=int(result.error),
        leader=result.leader,
        isr=result.isr,
        leader_epoch=result.leader_epoch,
        zk_version=result.partition_epoch,
        leader_recovery_state=int(result.recovery),
    )


def engine_znode(cluster: Cluster, topic: str) -> StateZnode | None:
    """The state of a topic's partition in the engine's ZooKeeper; None where there is none."""
    found = find(ensemble_of(cluster), partition_state_path(partition_name(topic)))
    if found is None or not isinstance(found.data, PartitionStateZnode):
        return None
    return StateZnode(
        topic=topic,
        leader=found.data.leader,
        isr=found.data.isr,
        leader_epoch=found.data.leader_epoch,
        controller_epoch=found.data.controller_epoch,
        zk_version=found.stat.version,
        leader_recovery_state=int(found.data.recovery),
    )


def as_in_the_engine(passage: Passage) -> Passage:
    """A passage as both can be compared.

    In the engine's requests a partition has no controller epoch of its own, is never marked as new,
    and has no list of replicas that are offline: no broker makes anything of the three in what the
    engine models. Up to 2.5 one batch has a StopReplica for every replica, in the order of a hash
    table; here they are in the order of their names.
    """
    requests: list[SentRequest] = []
    for _, batch in groupby(passage.requests, key=_of_one_batch):
        requests += sorted(map(_in_the_engine, batch), key=_stopped_alone)
    return replace(passage, requests=tuple(requests))


def _of_one_batch(sent: SentRequest) -> tuple[bool, SentRequest]:
    """Alike for requests to stop one replica each, if they follow each other."""
    alone = bool(_stopped_alone(sent))
    return alone, replace(sent, stopped=()) if alone else sent


def _stopped_alone(sent: SentRequest) -> str:
    return sent.stopped[0].topic if len(sent.stopped) == 1 else ""


def _in_the_engine(sent: SentRequest) -> SentRequest:
    partitions = tuple(
        replace(told, controller_epoch=_NOT_IN_THE_ENGINE, is_new=False, offline=())
        for told in sent.partitions
    )
    return replace(sent, partitions=partitions)


def _told(partition: PartitionRegistration, *, says_recovery: bool) -> SentPartition:
    return SentPartition(
        topic=topic_of(partition.name),
        leader=partition.leader,
        isr=partition.isr,
        leader_epoch=partition.leader_epoch,
        zk_version=partition.partition_epoch,
        controller_epoch=_NOT_IN_THE_ENGINE,
        replicas=partition.replicas,
        leader_recovery_state=int(partition.recovery) if says_recovery else 0,
    )

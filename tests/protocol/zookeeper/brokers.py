"""Brokers of ZooKeeper's time and what a controller asks of them, in few words.

Broker 1 is judged; it has two partitions: broker 2 leads F-0, broker 1 leads L-0. The controller is
broker 0, of controller epoch 5, and the broker epoch of broker 1 is 140.
"""

from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import (
    NO_BROKER_EPOCH,
    BrokerEpoch,
    BrokerId,
    ControllerEpoch,
    LeaderEpoch,
    Offset,
    PartitionEpoch,
    SessionId,
)
from kiplab.protocol.log import Log, append
from kiplab.protocol.messages import (
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    Response,
    StopReplicaItem,
    StopReplicaRequest,
    StopReplicaResponse,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from kiplab.protocol.messages.api_message import ControlRequest
from kiplab.protocol.registrations import PartitionRegistration
from kiplab.protocol.replica.broker_parts import BrokerEffect
from kiplab.protocol.replica.broker_state import (
    Broker,
    Durable,
    DurableReplica,
    Lifecycle,
    Volatile,
)
from kiplab.protocol.zookeeper.control_requests import (
    leader_and_isr,
    stop_replica,
    update_metadata,
)

ME, OTHER, CONTROLLING = BrokerId(1), BrokerId(2), BrokerId(0)
EPOCH, CONTROLLER_EPOCH = BrokerEpoch(140), ControllerEpoch(5)
FOLLOWED, LED = "F-0", "L-0"
RELEASES = ("zk-2.1", "zk-2.2", "zk-2.5.0", "zk-2.6", "zk-2.8", "zk-3.4")


def state(
    name: str,
    leader: int,
    leader_epoch: int,
    *,
    replicas: tuple[int, ...] = (1, 2),
    isr: tuple[int, ...] | None = None,
    version: int = 10,
) -> PartitionRegistration:
    """What a controller knows of a partition."""
    in_sync = replicas if isr is None else isr
    return PartitionRegistration(
        name=name,
        replicas=tuple(map(BrokerId, replicas)),
        isr=tuple(map(BrokerId, in_sync)),
        leader=BrokerId(leader),
        leader_epoch=LeaderEpoch(leader_epoch),
        partition_epoch=PartitionEpoch(version),
    )


def lai(
    features: Features,
    *partitions: PartitionRegistration,
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = NO_BROKER_EPOCH,
) -> LeaderAndIsrRequest:
    """LeaderAndIsr in the version that these features speak."""
    version = LeaderAndIsrRequest.version_sent(features, CONTROLLING)
    return LeaderAndIsrRequest(
        version=version,
        controller=CONTROLLING,
        controller_epoch=ControllerEpoch(controller_epoch),
        broker_epoch=BrokerEpoch(broker_epoch),
        partitions=partitions,
    )


def um(
    features: Features,
    *partitions: PartitionRegistration,
    live: tuple[int, ...] = (0, 1, 2),
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = NO_BROKER_EPOCH,
) -> UpdateMetadataRequest:
    """UpdateMetadata in the version that these features speak."""
    version = UpdateMetadataRequest.version_sent(features, CONTROLLING)
    return UpdateMetadataRequest(
        version=version,
        controller=CONTROLLING,
        controller_epoch=ControllerEpoch(controller_epoch),
        broker_epoch=BrokerEpoch(broker_epoch),
        partitions=partitions,
        live_brokers=tuple(map(BrokerId, live)),
    )


def stop(
    features: Features,
    name: str,
    leader_epoch: int = -1,
    *,
    delete: bool = False,
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = NO_BROKER_EPOCH,
) -> StopReplicaRequest:
    """StopReplica in the version that these features speak."""
    version = StopReplicaRequest.version_sent(features, CONTROLLING)
    item = StopReplicaItem(name, LeaderEpoch(leader_epoch), delete)
    return StopReplicaRequest(
        version=version,
        controller=CONTROLLING,
        controller_epoch=ControllerEpoch(controller_epoch),
        broker_epoch=BrokerEpoch(broker_epoch),
        items=(item,),
    )


def started(features: Features, *logs: DurableReplica) -> Broker:
    """Broker 1 after its start: registered, and told nothing yet."""
    epoch = NO_BROKER_EPOCH if features.code_of(ME) < (2, 2) else EPOCH
    process = Volatile(
        lifecycle=Lifecycle.RUNNING,
        published=True,
        epoch=epoch,
        controller=None,
        session=SessionId(1),
        checkpoints=False,
    )
    durable = Durable(tuple(sorted(logs, key=lambda r: r.partition)))
    return Broker(ME, durable=durable, process=process)


def running(features: Features, *logs: DurableReplica) -> Broker:
    """Broker 1, which follows F-0 at leader epoch 7 and leads L-0 at leader epoch 3."""
    both = (state(FOLLOWED, 2, 7, replicas=(2, 1)), state(LED, 1, 3))
    informed = ask(started(features, *logs), um(features, *both), features).broker
    return ask(informed, lai(features, *both), features).broker


def records(partition: str, count: int, checkpoint: int) -> DurableReplica:
    """A log of leader epoch 1 and its high watermark on disk."""
    return DurableReplica(partition, append(Log(), LeaderEpoch(1), count), Offset(checkpoint))


_Reply = LeaderAndIsrResponse | UpdateMetadataResponse | StopReplicaResponse


@dataclass(frozen=True)
class Answered:
    """The broker after a request, and its answer."""

    broker: Broker
    reply: Response
    effect: BrokerEffect

    @property
    def error(self) -> KafkaError:
        """Of the request as a whole."""
        reply = self.reply
        assert isinstance(
            reply, LeaderAndIsrResponse | UpdateMetadataResponse | StopReplicaResponse
        )
        return reply.error

    @property
    def of_partitions(self) -> dict[str, KafkaError]:
        """What it says of each partition."""
        reply = self.reply
        assert isinstance(reply, LeaderAndIsrResponse | StopReplicaResponse)
        return {p.partition: p.error for p in reply.partitions}


_RULES = {
    LeaderAndIsrRequest: leader_and_isr,
    UpdateMetadataRequest: update_metadata,
    StopReplicaRequest: stop_replica,
}


def ask(broker: Broker, request: ControlRequest, features: Features) -> Answered:
    """One control request arrives."""
    effect = _RULES[type(request)](broker, request, features, None)  # type: ignore[operator]
    reply = effect[1][0].body
    return Answered(effect[0], reply, effect)


def at_release(release: str) -> Features:
    """Its latest inter-broker protocol."""
    return parse_features(release)


def with_epoch(broker: Broker, epoch: int) -> Broker:
    """The same process, registered anew."""
    assert broker.process is not None
    return replace(broker, process=replace(broker.process, epoch=BrokerEpoch(epoch)))


def on(*releases: str) -> pytest.MarkDecorator:
    """The test, which takes `features`, is one vector of each release."""
    return rows("", ("", releases))


def rows(names: str, *rows: tuple[Any, ...]) -> pytest.MarkDecorator:
    """The test is several vectors, each (id, releases or features, value of each name ...)."""
    found = []
    for id, releases, *values in rows:
        for one in releases:
            features = one if isinstance(one, Features) else at_release(one)
            row = f"{id} {features.release}".strip()
            found.append(pytest.param(*values, features, id=row))
    return pytest.mark.parametrize((*names.split(), "features"), found)

"""Brokers of ZooKeeper's time and what a controller asks of them, in few words.

Broker 1 is judged; it has two partitions: broker 2 leads F-0, broker 1 leads L-0. The controller is
broker 0, of controller epoch 5, and the broker epoch of broker 1 is 140.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from kiplab.protocol import ids, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.log import Log, append
from kiplab.protocol.messages.api_message import ControlRequest
from kiplab.protocol.registrations import PartitionRegistration
from kiplab.protocol.replica import broker_state
from kiplab.protocol.replica.broker_parts import BrokerEffect
from kiplab.protocol.zookeeper import control_requests

ME, OTHER, CONTROLLING = ids.BrokerId(1), ids.BrokerId(2), ids.BrokerId(0)
EPOCH, CONTROLLER_EPOCH = ids.BrokerEpoch(140), ids.ControllerEpoch(5)
FOLLOWED, LED = "F-0", "L-0"
AnyControlRequest = TypeVar("AnyControlRequest", bound=ControlRequest)
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
    in_sync = replicas if isr is None else isr
    return PartitionRegistration(
        name=name,
        replicas=tuple(map(ids.BrokerId, replicas)),
        isr=tuple(map(ids.BrokerId, in_sync)),
        leader=ids.BrokerId(leader),
        leader_epoch=ids.LeaderEpoch(leader_epoch),
        partition_epoch=ids.PartitionEpoch(version),
    )


def _asks(
    kind: type[AnyControlRequest],
    features: Features,
    fields: dict[str, Any],
    *,
    controller_epoch: int = CONTROLLER_EPOCH,
    broker_epoch: int = ids.NO_BROKER_EPOCH,
) -> AnyControlRequest:
    """A control request in the version that these features speak."""
    return kind(
        version=kind.version_sent(features, CONTROLLING),
        controller=CONTROLLING,
        controller_epoch=ids.ControllerEpoch(controller_epoch),
        broker_epoch=ids.BrokerEpoch(broker_epoch),
        **fields,
    )


def lai(
    features: Features, *partitions: PartitionRegistration, **epochs: int
) -> messages.LeaderAndIsrRequest:
    """LeaderAndIsr; `epochs` are controller_epoch and broker_epoch."""
    return _asks(messages.LeaderAndIsrRequest, features, {"partitions": partitions}, **epochs)


def um(
    features: Features,
    *partitions: PartitionRegistration,
    live: tuple[int, ...] = (0, 1, 2),
    **epochs: int,
) -> messages.UpdateMetadataRequest:
    """UpdateMetadata; `epochs` as in `lai`."""
    fields = {"partitions": partitions, "live_brokers": tuple(map(ids.BrokerId, live))}
    return _asks(messages.UpdateMetadataRequest, features, fields, **epochs)


def stop(
    features: Features, name: str, leader_epoch: int = -1, *, delete: bool = False, **epochs: int
) -> messages.StopReplicaRequest:
    """StopReplica of one replica; `epochs` as in `lai`."""
    item = messages.StopReplicaItem(name, ids.LeaderEpoch(leader_epoch), delete)
    return _asks(messages.StopReplicaRequest, features, {"items": (item,)}, **epochs)


def started(features: Features, *logs: broker_state.DurableReplica) -> broker_state.Broker:
    """Broker 1 after its start: registered, and told nothing yet."""
    epoch = ids.NO_BROKER_EPOCH if features.code_of(ME) < (2, 2) else EPOCH
    process = broker_state.Volatile(
        lifecycle=broker_state.Lifecycle.RUNNING,
        published=True,
        epoch=epoch,
        controller=None,
        session=ids.SessionId(1),
        checkpoints=False,
    )
    durable = broker_state.Durable(tuple(sorted(logs, key=lambda r: r.partition)))
    return broker_state.Broker(ME, durable=durable, process=process)


def running(features: Features, *logs: broker_state.DurableReplica) -> broker_state.Broker:
    """Broker 1, which follows F-0 at leader epoch 7 and leads L-0 at leader epoch 3."""
    both = (state(FOLLOWED, 2, 7, replicas=(2, 1)), state(LED, 1, 3))
    informed = ask(started(features, *logs), um(features, *both), features).broker
    return ask(informed, lai(features, *both), features).broker


def records(partition: str, count: int, checkpoint: int) -> broker_state.DurableReplica:
    """A log of leader epoch 1 and its high watermark on disk."""
    return broker_state.DurableReplica(
        partition, append(Log(), ids.LeaderEpoch(1), count), ids.Offset(checkpoint)
    )


@dataclass(frozen=True)
class Answered:
    """The broker after a request, and its answer."""

    broker: broker_state.Broker
    reply: messages.Response
    effect: BrokerEffect

    @property
    def error(self) -> KafkaError:
        kinds = (
            messages.LeaderAndIsrResponse,
            messages.UpdateMetadataResponse,
            messages.StopReplicaResponse,
        )
        assert isinstance(self.reply, kinds)
        return self.reply.error

    @property
    def of_partitions(self) -> dict[str, KafkaError]:
        kinds = (messages.LeaderAndIsrResponse, messages.StopReplicaResponse)
        assert isinstance(self.reply, kinds)
        return {p.partition: p.error for p in self.reply.partitions}


_RULES = {
    messages.LeaderAndIsrRequest: control_requests.leader_and_isr,
    messages.UpdateMetadataRequest: control_requests.update_metadata,
    messages.StopReplicaRequest: control_requests.stop_replica,
}


def ask(broker: broker_state.Broker, request: ControlRequest, features: Features) -> Answered:
    effect = _RULES[type(request)](broker, request, features, None)  # type: ignore[operator]
    reply = effect[1][0].body
    return Answered(effect[0], reply, effect)


def at_release(release: str) -> Features:
    """Its latest inter-broker protocol."""
    return parse_features(release)


def with_epoch(broker: broker_state.Broker, epoch: int) -> broker_state.Broker:
    """The same process, registered anew."""
    assert broker.process is not None
    return replace(broker, process=replace(broker.process, epoch=ids.BrokerEpoch(epoch)))


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

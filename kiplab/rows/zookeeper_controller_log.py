"""What a controller on a broker logs: its election, brokers that come and go, who may leave.

Each function gives the lines of one kind of event, in the words of the release that its broker runs
(2.1.1, 2.2.2, 2.5.0, 2.6.3, 2.8.2 and 3.4.1 were read). Where Kafka logs nothing, there is nothing;
what goes to state-change.log is left out: a file of its own.
"""

from collections.abc import Iterable, Iterator

from ..engine.cluster import Cluster
from ..engine.events import Delivered
from ..engine.nodes import state_of
from ..engine.truth import truth
from ..protocol import errors, facts, ids, messages, zookeeper_facts
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from .snapshots import LogLine, Moment

LOGGER = "KafkaController"


def elected(event: zookeeper_facts.ControllerElected, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.elect and onControllerFailover."""
    plane, epoch = _plane(moment.step.cluster, event.node), event.controller_epoch
    version = "…" if plane is None else str(plane.epoch_version)
    incremented = f"Epoch incremented to {epoch} and epoch zk version is now {version}"
    text = f"{event.broker} successfully elected as the controller. {incremented}"
    yield _line(event.node, "INFO", text)
    yield _line(event.node, "INFO", f"Ready to serve as the new controller with epoch {epoch}")


def stood_down(event: zookeeper_facts.ControllerStoodDown, _moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.onControllerResignation."""
    yield _line(event.node, "DEBUG", "Resigning")
    yield _line(event.node, "INFO", "Resigned")


def compared(event: zookeeper_facts.BrokersCompared, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.processBrokerChange (up to 2.2 BrokerChange.process), and of
    onBrokerStartup and onBrokerFailure, in their order; 2.1 knows no bounce.
    """
    bounced = [broker for broker, _, _ in event.bounced]
    registered = [r.broker for r in truth(moment.step.cluster).registrations]
    said = f"Newly added brokers: {_ids(event.new)}, deleted brokers: {_ids(event.dead)}"
    if moment.code(event.node) >= (2, 2):
        said += f", bounced brokers: {_ids(bounced)}"
    yield _line(event.node, "INFO", f"{said}, all live brokers: {_ids(registered)}")
    yield from _came(event.node, event.new)
    yield from _went(event.node, bounced, moment)
    yield from _came(event.node, bounced)
    yield from _went(event.node, event.dead, moment)


def _came(node: ids.BrokerId, brokers: Iterable[ids.BrokerId]) -> Iterator[LogLine]:
    if brokers:
        yield _line(node, "INFO", f"New broker startup callback for {_ids(brokers)}")


def _went(node: ids.BrokerId, brokers: Iterable[ids.BrokerId], moment: Moment) -> Iterator[LogLine]:
    if not brokers:
        return
    yield _line(node, "INFO", f"Broker failure callback for {_ids(brokers)}")
    plane = _plane(moment.before, node)
    leaving = [b for b in brokers if plane is not None and b in plane.shutting_down]
    if leaving:
        text = f"Removed {_ids(leaving)} from list of shutting down brokers."
        yield _line(node, "INFO", text)


def delivered(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.doControlledShutdown: a request that is not refused before."""
    body = event.body
    if not isinstance(body, messages.ControlledShutdownRequest) or _is_refused_early(moment):
        return
    yield _line(event.receiver, "INFO", f"Shutting down broker {body.broker}")


def _is_refused_early(moment: Moment) -> bool:
    """It says whom it shuts down before it looks whether that broker is there."""
    refusals = [e for e in moment.step.events if isinstance(e, facts.Refused)]
    return any(e.error is not errors.KafkaError.BROKER_NOT_AVAILABLE for e in refusals)


def refused(event: facts.Refused, moment: Moment) -> Iterator[LogLine]:
    """Of doControlledShutdown, processAlterIsr (2.8) and tryProcessAlterPartition (3.4)."""
    came = moment.delivered
    if came is None:
        return
    epochs = next((c for c in event.compared if c.name.endswith("epoch")), None)
    if event.error is errors.KafkaError.STALE_BROKER_EPOCH and epochs is not None:
        text = _stale(came, epochs, newer=moment.code(event.node) >= (3, 4))
        if text:
            yield _line(event.node, "INFO", text)


def _stale(came: Delivered, epochs: facts.Compared, *, newer: bool) -> str:
    body = came.body
    if isinstance(body, messages.ControlledShutdownRequest):
        sent = f"{epochs.requested} for broker {body.broker}"
        now = f"Current broker epoch is {epochs.held}."
        return f"Received controlled shutdown request from an old broker epoch {sent}. {now}"
    if not isinstance(body, messages.AlterPartitionRequest):
        return ""
    if not newer:
        why = f"stale broker epoch {epochs.requested} for broker {body.broker}"
        return f"Ignoring AlterIsr due to {why}"
    why = f"stale broker epoch {epochs.requested} and local broker epoch Some({epochs.held})"
    return f"Ignoring AlterPartition due to {why} for broker {body.broker}"


def _plane(cluster: Cluster, node: ids.BrokerId) -> ZooKeeperController | None:
    found = state_of(cluster, node)
    return found if isinstance(found, ZooKeeperController) else None


def _line(node: ids.BrokerId, level: str, text: str) -> LogLine:
    return LogLine(ids.node_name(node), level, LOGGER, text)


def _ids(brokers: Iterable[ids.BrokerId]) -> str:
    return ",".join(str(broker) for broker in brokers)

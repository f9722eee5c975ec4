"""What ZooKeeper logs, and a broker of its time with the controller on it: sessions, registrations,
elections, refusals, the way out.

Source: the releases 2.1.1, 2.2.2, 2.5.0, 2.6.3, 2.8.2 and 3.4.1. What goes to state-change.log is
left out: a file of its own.
"""

import re
from collections.abc import Iterable, Iterator

from ..engine import explain, nodes
from ..engine.cluster import Cluster
from ..engine.events import Delivered
from ..engine.truth import controller_of, partition_of, truth
from ..protocol import errors, facts, messages, zookeeper_facts
from ..protocol.ids import ZOOKEEPER, BrokerId, host_of, node_name
from ..protocol.messages.api_message import ControlRequest
from ..protocol.registrations import topic_of
from ..protocol.releases import CodeVersion
from ..protocol.zookeeper.znodes import BROKER_IDS_PATH
from ..protocol.zookeeper.zookeeper_controller import ZooKeeperController
from . import broker_log
from .snapshots import LogLine, Moment, replica_at

APIS, SERVER, CLIENT, ZK_CLIENT = "KafkaApis", "KafkaServer", "ZooKeeperClient", "KafkaZkClient"
CONTROLLER = "KafkaController"


def session_opened(event: zookeeper_facts.SessionOpened, _moment: Moment) -> Iterator[LogLine]:
    """Of the constructor of ZooKeeperClient, and of its reinitialize."""
    yield _broker(event.broker, "INFO", CLIENT, "Initializing a new session to ….")


def session_ended(event: zookeeper_facts.SessionEnded, _moment: Moment) -> Iterator[LogLine]:
    """Of ZooKeeperServer.expire (ZooKeeper 3.5.9), or of ZooKeeperClient.close."""
    if event.expired:
        session = explain.session_name(event.session)
        text = f"Expiring session {session}, timeout of …ms exceeded"
        yield LogLine(node_name(ZOOKEEPER), "INFO", "ZooKeeperServer", text)
        return
    for text in ("Closing.", "Closed."):
        yield _broker(event.broker, "INFO", CLIENT, text)


def znode_changed(event: zookeeper_facts.ZnodeChanged, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaZkClient.registerBroker; nothing is said of other znodes."""
    if not event.path.startswith(f"{BROKER_IDS_PATH}/"):
        return
    id = BrokerId(int(event.path.rpartition("/")[2]))
    yield _broker(id, "INFO", ZK_CLIENT, f"Creating {event.path} (is it secure? false)")
    registered = f"Registered broker {id} at path {event.path} with addresses: …"
    if moment.code(id) >= (2, 2):
        text = f"Stat of the created znode at {event.path} is: …"
        yield _broker(id, "INFO", ZK_CLIENT, text)
        registered += f", czxid (broker epoch): {event.zxid}"
    yield _broker(id, "INFO", ZK_CLIENT, registered)


def delivered(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    """What a broker says to the end of its session, and to the answers that KRaft has too."""
    if event.receiver != host_of(event.receiver):
        yield from _delivered_to_controller(event, moment)
    elif isinstance(event.body, messages.SessionExpired):
        yield _broker(event.receiver, "INFO", CLIENT, "Session expired.")
    else:
        is_older = moment.code(event.receiver) < (3, 2)
        for line in broker_log.delivered(event, moment):
            # DefaultAlterIsrManager.handleAlterIsrResponse and Partition.handleAlterIsrResponse.
            text = re.sub(r"(version updated to )(.*)", r"\1[\2]", line.text)
            yield line._replace(text=text) if is_older else line


def lifecycle(event: facts.LifecycleChanged, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaServer.startup, shutdown and controlledShutdown."""
    code = moment.code(event.node)
    texts = {
        "STARTING": ("starting",),
        "RUNNING": ("started",),
        "PENDING_CONTROLLED_SHUTDOWN": ("shutting down", "Starting controlled shutdown"),
        "STOPPED": (*_let_go(moment, newer=code >= (3, 4)), "shut down completed"),
    }
    for text in texts.get(str(event.state), ()):
        yield _broker(event.node, "INFO", SERVER, text)


def _let_go(moment: Moment, *, newer: bool) -> Iterable[str]:
    answer = _shutdown_answer(moment)
    if answer is None or answer.error or answer.remaining:
        return ()
    after = "Controlled shutdown request returned successfully after …ms"
    return (after if newer else "Controlled shutdown succeeded",)


def shutdown_tried(event: zookeeper_facts.ShutdownTried, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaServer.controlledShutdown; 3.4 says less once there is no try left."""
    newer = moment.code(event.node) >= (3, 4)
    answer = _shutdown_answer(moment)
    answered = _no_controller(moment, newer=newer)
    if answer is not None:
        answered = _in_vain(answer, moment.code(event.node))
    for text in answered:
        yield _broker(event.node, "INFO", SERVER, text)
    if not newer:
        again = "Retrying controlled shutdown after the previous attempt failed..."
        yield _broker(event.node, "WARN", SERVER, again)
    elif event.left:
        again = f"Retrying controlled shutdown ({event.left} retries remaining)"
        yield _broker(event.node, "INFO", SERVER, again)
    if not event.left:
        text = "Proceeding to do an unclean shutdown as all the controlled shutdown attempts failed"
        yield _broker(event.node, "WARN", SERVER, text)


def _shutdown_answer(moment: Moment) -> messages.ControlledShutdownResponse | None:
    body = None if moment.delivered is None else moment.delivered.body
    return body if isinstance(body, messages.ControlledShutdownResponse) else None


def _no_controller(moment: Moment, *, newer: bool) -> Iterable[str]:
    named = controller_of(moment.before)
    if named is None and newer:
        return ("No zk controller present in the metadata cache",)
    if named is None:
        return ("No controller registered in ZooKeeper",)
    cause = "in the metadata cache" if newer else "(i.e. the Controller's ZK session expired)"
    return (f"Broker registration for controller {host_of(named)} is not available {cause}",)


def _in_vain(answer: messages.ControlledShutdownResponse, code: CodeVersion) -> Iterable[str]:
    if code >= (3, 4):
        left = f"{len(answer.remaining)} partitions remaining to move"
        result = f"error {answer.error.name}" if answer.error else left
        yield f"Controlled shutdown request returned after …ms with {result}"
        return
    parts = ((topic_of(name), name.rpartition("-")[2]) for name in answer.remaining)
    named = (f"RemainingPartition(topicName='{t}', partitionIndex={n})" for t, n in parts)
    left = f"[{', '.join(named)}]" if code >= (2, 5) else ",".join(answer.remaining)
    yield f"Remaining partitions to move: {left}"
    yield f"Error from controller: {answer.error.name}"


def refused(event: facts.Refused, moment: Moment) -> Iterator[LogLine]:
    """KafkaApis.handleLeaderAndIsrRequest and siblings, on broker epochs alone."""
    came = moment.delivered
    if event.node != host_of(event.node):
        yield from _refused_by_controller(event, moment)
    if came is None or event.node < 0 or type(came.body) not in _NAMES:
        return
    epochs = next((c for c in event.compared if c.name == "broker epoch"), None)
    if epochs is None:
        return
    if event.error is errors.KafkaError.UNKNOWN_SERVER_ERROR:
        why = f"Epoch {epochs.requested} larger than current broker epoch {epochs.held}"
        text = f"Error when handling request: …, java.lang.IllegalStateException: {why}"
        yield _broker(event.node, "ERROR", APIS, text)
        return
    code = moment.code(event.node)
    since, newer, older = _NAMES[type(came.body)]
    name = newer if code >= since else older
    text = f"Received {name} request with broker epoch {epochs.requested} smaller than the current"
    text += f" broker epoch {epochs.held}"
    if code >= (3, 4) and isinstance(came.body, ControlRequest):
        asker = host_of(came.message.sender)
        text += f" from controller {asker} with epoch {came.body.controller_epoch}."
    yield _broker(event.node, "INFO", APIS, text)


_NAMES = {
    messages.LeaderAndIsrRequest: ((0, 0), "LeaderAndIsr", ""),
    messages.StopReplicaRequest: ((2, 6), "StopReplica", "stop replica"),
    messages.UpdateMetadataRequest: ((3, 4), "UpdateMetadata", "update metadata"),
}
"""From which release on the log calls a request by its name, and what it said before."""


def proposed(event: facts.IsrProposed, moment: Moment) -> Iterator[LogLine]:
    """Partition.maybeExpandIsr up to 2.6; from 2.2 on a smaller ISR's line needs log ends."""
    state = partition_of(moment.before, event.partition)
    older = moment.code(event.node) < (2, 8)
    if older and state is not None and len(event.isr) > len(state.isr):
        text = f"Expanding ISR from {_ids(state.isr)} to {_ids(event.isr)}"
        yield _broker(event.node, "INFO", "Partition", text)


def isr_changed(event: facts.IsrChanged, moment: Moment) -> Iterator[LogLine]:
    """Of Partition.updateIsr: at TRACE before 2.5, and from 2.7 on the answer says it."""
    state = partition_of(moment.step.cluster, event.partition)
    proposals = (e for e in moment.step.events if isinstance(e, facts.IsrProposed))
    by_leader = moment.delivered and any(e.partition == event.partition for e in proposals)
    if by_leader and state is not None and (2, 5) <= moment.code(state.leader) < (2, 8):
        text = f"ISR updated to [{_ids(event.after)}] and zkVersion updated to"
        yield _broker(state.leader, "INFO", "Partition", f"{text} [{event.partition_epoch}]")


def reverted(event: facts.IsrReverted, moment: Moment) -> Iterator[LogLine]:
    """Of Partition.updateIsr up to 2.6: what KIP-497's managers say, KRaft's brokers say too."""
    code = moment.code(event.node)
    if code >= (2, 8):
        yield from broker_log.reverted(event, moment)
        return
    mine = replica_at(moment.step.cluster, event.node, event.partition)
    # What the leader had read, and has still.
    version = "…" if mine is None else str(mine.partition_epoch)
    version = f"[{version}]" if code < (2, 5) else version
    text = f"Cached zkVersion {version} not equal to that in zookeeper, skip updating ISR"
    yield _broker(event.node, "INFO", "Partition", text)


def truncated(event: facts.Truncated | facts.EpochDropped, moment: Moment) -> Iterator[LogLine]:
    """Of Log.truncateTo: a log was a Log, until 3.1 made it a UnifiedLog."""
    return _in_log(broker_log.one_sentence(event, moment), moment.code(event.node))


def deleted(event: facts.RecordsDeleted, moment: Moment) -> Iterator[LogLine]:
    """Of Log.maybeIncrementLogStartOffset, which before 2.6 does not say why."""
    older = moment.code(event.node) < (2, 6)
    for line in _in_log(broker_log.deleted(event, moment), moment.code(event.node)):
        text = f"Incrementing log start offset to {event.start}"
        yield line._replace(text=text) if older and line.level == "INFO" else line


def _in_log(lines: Iterable[LogLine], code: CodeVersion) -> Iterator[LogLine]:
    for line in lines:
        yield line._replace(logger="Log") if code < (3, 2) else line


def _broker(id: BrokerId, level: str, logger: str, text: str) -> LogLine:
    return LogLine(node_name(id), level, logger, text)


def _ids(ids: Iterable[int]) -> str:
    return ",".join(str(id) for id in ids)


# --- the controller on a broker -------------------------------------------------------------------


def elected(event: zookeeper_facts.ControllerElected, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.elect and onControllerFailover."""
    plane, epoch = _plane(moment.step.cluster, event.node), event.controller_epoch
    version = "…" if plane is None else str(plane.epoch_version)
    incremented = f"Epoch incremented to {epoch} and epoch zk version is now {version}"
    text = f"{event.broker} successfully elected as the controller. {incremented}"
    yield _broker(event.node, "INFO", CONTROLLER, text)
    ready = f"Ready to serve as the new controller with epoch {epoch}"
    yield _broker(event.node, "INFO", CONTROLLER, ready)


def stood_down(event: zookeeper_facts.ControllerStoodDown, _moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.onControllerResignation."""
    yield _broker(event.node, "DEBUG", CONTROLLER, "Resigning")
    yield _broker(event.node, "INFO", CONTROLLER, "Resigned")


def compared(event: zookeeper_facts.BrokersCompared, moment: Moment) -> Iterator[LogLine]:
    """KafkaController.processBrokerChange, onBrokerStartup, onBrokerFailure; no bounce in 2.1."""
    bounced = [broker for broker, _, _ in event.bounced]
    registered = [r.broker for r in truth(moment.step.cluster).registrations]
    text = f"Newly added brokers: {_ids(event.new)}, deleted brokers: {_ids(event.dead)}"
    if moment.code(event.node) >= (2, 2):
        text += f", bounced brokers: {_ids(bounced)}"
    yield _broker(event.node, "INFO", CONTROLLER, f"{text}, all live brokers: {_ids(registered)}")
    yield from _came(event.node, event.new)
    yield from _went(event.node, bounced, moment)
    yield from _came(event.node, bounced)
    yield from _went(event.node, event.dead, moment)


def _came(node: BrokerId, brokers: Iterable[BrokerId]) -> Iterator[LogLine]:
    if brokers:
        yield _broker(node, "INFO", CONTROLLER, f"New broker startup callback for {_ids(brokers)}")


def _went(node: BrokerId, brokers: Iterable[BrokerId], moment: Moment) -> Iterator[LogLine]:
    if not brokers:
        return
    yield _broker(node, "INFO", CONTROLLER, f"Broker failure callback for {_ids(brokers)}")
    plane = _plane(moment.before, node)
    leaving = [b for b in brokers if plane is not None and b in plane.shutting_down]
    if leaving:
        text = f"Removed {_ids(leaving)} from list of shutting down brokers."
        yield _broker(node, "INFO", CONTROLLER, text)


def _delivered_to_controller(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    """Of KafkaController.doControlledShutdown: a request that is not refused before."""
    # It says whom it shuts down before it looks whether that broker is there.
    refusals = (e.error for e in moment.step.events if isinstance(e, facts.Refused))
    refused_early = any(e is not errors.KafkaError.BROKER_NOT_AVAILABLE for e in refusals)
    if isinstance(event.body, messages.ControlledShutdownRequest) and not refused_early:
        text = f"Shutting down broker {event.body.broker}"
        yield _broker(event.receiver, "INFO", CONTROLLER, text)


def _refused_by_controller(event: facts.Refused, moment: Moment) -> Iterator[LogLine]:
    """Of doControlledShutdown, processAlterIsr (2.8) and tryProcessAlterPartition (3.4)."""
    came = moment.delivered
    epochs = next((c for c in event.compared if c.name.endswith("epoch")), None)
    if came is None or epochs is None or event.error is not errors.KafkaError.STALE_BROKER_EPOCH:
        return
    text = _stale(came, epochs, newer=moment.code(event.node) >= (3, 4))
    if text:
        yield _broker(event.node, "INFO", CONTROLLER, text)


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


def _plane(cluster: Cluster, node: BrokerId) -> ZooKeeperController | None:
    state = nodes.state_of(cluster, node)
    return state if isinstance(state, ZooKeeperController) else None

"""The log lines of a controller: a refusal, a resignation, elections, and the fate of brokers."""

from collections.abc import Callable, Iterator

from ..engine.cluster import Cluster
from ..engine.events import Delivered
from ..engine.truth import partition_of, registration_of, sessions, truth
from ..protocol import facts, messages
from ..protocol.errors import KafkaError
from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.kraft.records import ClearElrRecord, PartitionChangeRecord
from ..protocol.registrations import topic_of
from ..protocol.releases import CodeVersion
from . import rejection_lines
from .rejection_lines import ids
from .snapshots import LOG_WORDS, LogLine, Moment

REPLICATION, QUORUM = "ReplicationControlManager", "QuorumController"
HEARTBEATS = "BrokerHeartbeatManager"


def refused(event: facts.Refused, moment: Moment) -> Iterator[LogLine]:
    """Left out: a broker's refusals, which KafkaApis (3.2 to 4.3) only says at DEBUG to clients."""
    body, code = moment.delivered and moment.delivered.body, moment.code(CONTROLLER)
    if event.node != CONTROLLER or body is None:
        return
    line, logger = None, QUORUM
    if event.error is KafkaError.STALE_BROKER_EPOCH:
        line = rejection_lines.stale_epoch(event, code)
    elif event.error is KafkaError.DUPLICATE_BROKER_REGISTRATION:
        line = rejection_lines.duplicate_registration(code)
    elif isinstance(body, messages.UnregisterBrokerRequest):
        # An exception that is no Kafka error is told by the resignation.
        if event.error is KafkaError.BROKER_ID_NOT_REGISTERED:
            line = rejection_lines.not_registered(body.broker, code)
    elif isinstance(body, messages.AlterPartitionRequest):
        line = rejection_lines.alter_partition(event, body, code, truth(moment.before).partitions)
        logger = REPLICATION
    if line is not None:
        yield LogLine("controller", line[0], logger, line[1])


def resigned(event: facts.ControllerResigned, moment: Moment) -> Iterator[LogLine]:
    yield LogLine("controller", *rejection_lines.resignation(event, moment.code(CONTROLLER)))


def configured(event: facts.TopicConfigured, moment: Moment) -> Iterator[LogLine]:
    """Of ConfigurationControlManager.replay, which says more from 3.6 on."""
    of = "TOPIC" if event.topic else "BROKER"
    what = f"ConfigResource(type={of}, name='{event.topic}')"
    became = f"set configuration {event.name} to {event.value}"
    longer = moment.code(CONTROLLER) >= (3, 6)
    text = f"Replayed ConfigRecord for {what} which {became}" if longer else f"{what}: {became}"
    yield LogLine("controller", "INFO", "ConfigurationControlManager", text)
    if _written(ClearElrRecord, moment):
        with_any = [p for p in truth(moment.before).partitions if p.elr or p.last_known]
        count = sum(event.topic in ("", topic_of(p.name)) for p in with_any)
        of = f"of topic {event.topic}" if event.topic else "in all topics"
        text = f"Removed ELRs from {count} partitions {of}."
        yield LogLine("controller", "INFO", REPLICATION, text)


def elected(event: facts.LeaderElected, moment: Moment) -> Iterator[LogLine]:
    """From the ELR, which is said at TRACE before 4.1 (PartitionChangeBuilder.tryElection).

    Left out: "UNCLEAN partition change for ...", at INFO where a leader came from neither ISR nor
    ELR, from 4.1 on for every change of a RECOVERING partition, and at DEBUG without the first word
    for others (PartitionRegistration.maybeLogPartitionChange, 3.2 to 4.3): it repeats every field
    that the record changed.
    """
    if event.from_elr and moment.code(CONTROLLER) >= (4, 1):
        number = event.partition.removeprefix(f"{topic_of(event.partition)}-")
        who = f"topicId …, partition {number} to {event.leader}"
        end = "Previous partition: …, change record: …"
        text = f"Setting new leader for {who} using ELR. {end}"
        yield LogLine("controller", "INFO", "PartitionChangeBuilder", text)


def periodic(event: facts.PeriodicElections, moment: Moment) -> Iterator[LogLine]:
    """Before 3.9 a rebalance is not logged."""
    if moment.code(CONTROLLER) < (3, 9):
        return
    if event.unclean:
        yield from _unclean_elections(event, moment)
    logger = QUORUM
    task = "maybeElectUncleanLeaders:" if event.unclean else "maybeBalancePartitionLeaders:"
    if moment.code(CONTROLLER) >= (4, 0):
        logger = "PeriodicTaskControlManager"
        task = f"Periodic task {'electUnclean' if event.unclean else 'electPreferred'}"
    text = f"{task} generated {len(event.elected)} records in … microseconds."
    yield LogLine("controller", "INFO", logger, text)


def _unclean_elections(event: facts.PeriodicElections, moment: Moment) -> Iterator[LogLine]:
    """From 4.3 on the partition follows as it stood before."""
    offline, code = "unclean leader election for offline partition", moment.code(CONTROLLER)
    level = "ERROR" if code < (4, 0) else "INFO"
    for name in event.elected:
        text = f"Triggering {offline} {name}.{_stood(name, moment)}"
        yield LogLine("controller", level, REPLICATION, text)
    error, stop = KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE.name, "." if code >= (4, 3) else ""
    for name in event.left:
        text = f"Cannot trigger {offline} {name}: {error}{stop}{_stood(name, moment)}"
        yield LogLine("controller", "WARN", REPLICATION, text)


def _stood(name: str, moment: Moment) -> str:
    state = partition_of(moment.before, name)
    if moment.code(CONTROLLER) < (4, 3) or state is None:
        return ""
    epochs = f"partitionEpoch: {state.partition_epoch}, leaderEpoch: {state.leader_epoch}"
    return f" (isr: {ids(state.isr)}, replicaSet: {ids(state.replicas)}, {epochs})"


def isr_changed(event: facts.IsrChanged, moment: Moment) -> Iterator[LogLine]:
    """Logged only where a leader asked for it; else the broker's line counts it (`_changing`)."""
    delivered = moment.delivered
    if delivered is not None and isinstance(delivered.body, messages.AlterPartitionRequest):
        altered = f"Node {delivered.body.broker} has altered ISR for {event.partition}"
        newer = moment.code(CONTROLLER) >= (4, 3)
        to = f". {_change(event.partition, moment)}" if newer else f" to {ids(event.after)}."
        yield LogLine("controller", "DEBUG", REPLICATION, altered + to)


def _change(name: str, moment: Moment) -> str:
    """Source: ReplicationControlManager.logPartitionChangeInfo, 4.3."""
    old, new = partition_of(moment.before, name), partition_of(moment.step.cluster, name)
    if old is None or new is None:
        return ""
    pairs = {
        "isr": (ids(old.isr), ids(new.isr)),
        "replicaSet": (ids(old.replicas), ids(new.replicas)),
        "partitionEpoch": (old.partition_epoch, new.partition_epoch),
        "leaderEpoch": (old.leader_epoch, new.leader_epoch),
    }
    return ", ".join(f"{what}: {before} -> {after}" for what, (before, after) in pairs.items())


def broker_changed(event: facts.BrokerChanged, moment: Moment) -> Iterator[LogLine]:
    words = _CHANGES.get(event.change)
    return iter(()) if words is None else words(event.broker, moment)


def _broker_fenced(id: BrokerId, moment: Moment) -> Iterator[LogLine]:
    """Only where its session ended: a fence that it asked for is the heartbeat's to say.

    Left out: from 4.0 on this is said once more of a broker that is fenced already.
    """
    if moment.delivered is None:
        registration = registration_of(moment.before, id)
        says_epoch = registration is not None and moment.code(CONTROLLER) >= (4, 0)
        epoch = f" at epoch {registration.epoch}" if registration and says_epoch else ""
        text = f"Fencing broker {id}{epoch} because its session has timed out."
        yield LogLine("controller", "INFO", REPLICATION, text)
        yield from _changing("handleBrokerFenced", moment)


_CHANGES: dict[facts.BrokerChange, Callable[[BrokerId, Moment], Iterator[LogLine]]] = {
    facts.BrokerChange.FENCED: _broker_fenced
}


def delivered(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    """What a controller says to a heartbeat, to an unregistration, and with eligible leader
    replicas to a registration.

    Left out: without these a registration is told of from 4.0 on, too ("handleBrokerShutdown").
    """
    if event.receiver == CONTROLLER and isinstance(event.body, messages.BrokerHeartbeatRequest):
        yield from _heartbeat(event.body, moment)
    if isinstance(event.body, messages.UnregisterBrokerRequest):
        yield from _changing("handleBrokerUnregistered", moment)
    has_elr = moment.step.cluster.features.has_elr
    if has_elr and isinstance(event.body, messages.BrokerRegistrationRequest):
        yield from _cleaned_up(event.body, moment)


def _heartbeat(request: messages.BrokerHeartbeatRequest, moment: Moment) -> Iterator[LogLine]:
    """What was granted; a stale heartbeat is refused, and `refused` says it."""
    if any(isinstance(e, facts.Refused) for e in moment.step.events):
        return
    id, before = request.broker, moment.before
    stood, stands = _standing(before, id), _standing(moment.step.cluster, id)
    granted = _GRANTED.get(f"{stood} -> {stands}{', to shut down' * request.want_shut_down}")
    if granted is not None:
        text, context = granted
        words = text.format(id=id, caught_up=_caught_up_with(id, before, moment.code(CONTROLLER)))
        yield LogLine("controller", "INFO", HEARTBEATS, words)
        yield from _changing(context.format(id=id), moment)


def _changing(context: str, moment: Moment) -> Iterator[LogLine]:
    """How many partitions change with a broker (at DEBUG, Kafka names them instead).

    Source: ReplicationControlManager.generateLeaderAndIsrUpdates, 3.2 to 4.3.
    """
    yield from _changed(context, _written(PartitionChangeRecord, moment))


def _changed(context: str, count: int) -> Iterator[LogLine]:
    if count:
        text = f"{context}: changing {count} partition(s)"
        yield LogLine("controller", "INFO", REPLICATION, text)


def _written(record: type, moment: Moment) -> int:
    written = [e.record for e in moment.step.events if isinstance(e, facts.RecordWritten)]
    return written.count(record.__name__)


def _cleaned_up(request: messages.BrokerRegistrationRequest, moment: Moment) -> Iterator[LogLine]:
    """Who did not stop in order leaves the ISRs first, and then the ELRs.

    Source: ReplicationControlManager.handleBrokerShutdown, 4.0 to 4.3.
    """
    stood = registration_of(moment.before, request.broker)
    if stood is not None and stood.epoch == request.previous_epoch:
        yield from _changing("handleBrokerShutdown", moment)
        return
    written = _written(PartitionChangeRecord, moment)
    in_isr = sum(request.broker in p.isr for p in truth(moment.before).partitions)
    for count in (min(in_isr, written), written - min(in_isr, written)):
        yield from _changed("handleBrokerUncleanShutdown", count)


# --- heartbeat lines ------------------------------------------------------------------------------


_GRANTED: dict[str, tuple[str, str]] = LOG_WORDS["granted"]
"""What is said of a broker's wish, and the name of what it does to partitions. What is not here
leaves things as they are, and is said at DEBUG if at all.
"""


def _standing(cluster: Cluster, id: BrokerId) -> str:
    session = next((s for s in sessions(cluster) if s.broker == id), None)
    if session is None or session.fenced:
        return "fenced"
    return "leaving" if session.leaving else "unfenced"


def _caught_up_with(id: BrokerId, before: Cluster, code: CodeVersion) -> str:
    """KAFKA-13959 changed the condition in 3.3, and the words with it."""
    if code < (3, 3):
        return f"last committed metadata offset {truth(before).next_offset - 1}"
    registration = registration_of(before, id)
    offset = registration.record_offset if registration is not None else "…"
    whose = "its" if code >= (3, 5) else "it's"
    return f"offset of {whose} register broker record {offset}"

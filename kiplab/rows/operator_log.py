"""What an operator reads in the logs of Kafka: level, logger and format as each release has them.

Formats facts and decides nothing. What the model does not keep (topic ids, microseconds, the whole
text of a pending state) is written as …; where Kafka logs nothing, there is nothing. What it logs
and is left out here, and why, stands in unlogged.py.
Source: the files named by each logger, at the last tag of every release (of 3.9, 3.9.0-rc3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..engine.cluster import Cluster, broker
from ..engine.events import Delivered, Event
from ..engine.history import Recorded
from ..engine.truth import truth
from ..protocol import facts
from ..protocol.errors import KafkaError
from ..protocol.facts import Refused
from ..protocol.ids import CONTROLLER, BrokerId, node_name
from ..protocol.kraft.records import PartitionChangeRecord
from ..protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationResponse,
    FetchRequest,
    FetchResponse,
)
from ..protocol.releases import CodeVersion
from ..protocol.replica.broker_state import replica_of
from .heartbeat_lines import granted
from .rejection_lines import alter_partition, duplicate_registration, resignation, stale_epoch

REPLICATION, QUORUM = "ReplicationControlManager", "QuorumController"
HEARTBEATS, LIFECYCLE = "BrokerHeartbeatManager", "BrokerLifecycleManager"


class LogLine(NamedTuple):
    """``node`` logs ``text`` at ``level`` through the class ``logger``."""

    node: str
    level: str
    logger: str
    text: str

    def __str__(self) -> str:
        return f"{self.node} log, {self.level} {self.logger}: {self.text}"


class Moment(NamedTuple):
    """A move and the cluster before it: what a line may be read from."""

    before: Cluster
    step: Recorded

    def code(self, node: int) -> CodeVersion:
        """The version of the code whose wording `node` uses."""
        return self.step.cluster.features.code_of(BrokerId(node))

    @property
    def delivered(self) -> Delivered | None:
        """The message that this move delivered."""
        return next((e for e in self.step.events if isinstance(e, Delivered)), None)


def log_lines(event: Event, moment: Moment) -> tuple[LogLine, ...]:
    """The lines that follow from one event of a move, in order."""
    made = _LINES.get(type(event))
    return tuple(made(event, moment)) if made is not None else ()


def all_lines(moment: Moment) -> tuple[str, ...]:
    """The lines of a whole move, as text."""
    return tuple(str(line) for e in moment.step.events for line in log_lines(e, moment))


# --- the controller -----------------------------------------------------------------------------


def _refused(event: Refused, moment: Moment) -> Iterator[LogLine]:
    """What a broker refuses is left out: KafkaApis.handleFetchRequest, 3.2 to 3.9, says it at DEBUG
    to every client, and so do its siblings.
    """
    delivered = moment.delivered
    if event.node != CONTROLLER or delivered is None:
        return
    code = moment.code(CONTROLLER)
    found: tuple[str, str] | None = None
    logger = QUORUM
    if event.error is KafkaError.STALE_BROKER_EPOCH:
        found = stale_epoch(event, code)
    elif event.error is KafkaError.DUPLICATE_BROKER_REGISTRATION:
        found = duplicate_registration(code)
    elif isinstance(delivered.body, AlterPartitionRequest):
        logger = REPLICATION
        found = alter_partition(event, delivered.body, code, truth(moment.before).partitions)
    if found is not None:
        yield LogLine("controller", found[0], logger, found[1])


def _resigned(event: facts.ControllerResigned, moment: Moment) -> Iterator[LogLine]:
    yield LogLine("controller", *resignation(event, moment.code(CONTROLLER)))


def _periodic(event: facts.PeriodicElections, moment: Moment) -> Iterator[LogLine]:
    """Before 3.9 a rebalance is not logged."""
    if moment.code(CONTROLLER) < (3, 9):
        return
    offline = "unclean leader election for offline partition"
    if event.unclean:
        for name in event.elected:
            yield LogLine("controller", "ERROR", REPLICATION, f"Triggering {offline} {name}.")
        error = KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE.name
        for name in event.left:
            text = f"Cannot trigger {offline} {name}: {error}"
            yield LogLine("controller", "WARN", REPLICATION, text)
    task = "maybeElectUncleanLeaders" if event.unclean else "maybeBalancePartitionLeaders"
    text = f"{task}: generated {len(event.elected)} records in … microseconds."
    yield LogLine("controller", "INFO", QUORUM, text)


def _isr_changed(event: facts.IsrChanged, moment: Moment) -> Iterator[LogLine]:
    """Logged only where a leader asked for it; else the broker's line counts it (`_changing`)."""
    delivered = moment.delivered
    if delivered is not None and isinstance(delivered.body, AlterPartitionRequest):
        isr = "[" + ", ".join(str(b) for b in event.after) + "]"
        text = f"Node {delivered.body.broker} has altered ISR for {event.partition} to {isr}."
        yield LogLine("controller", "DEBUG", REPLICATION, text)


def _broker_changed(event: facts.BrokerChanged, moment: Moment) -> Iterator[LogLine]:
    words = _CHANGES.get(event.change)
    return iter(()) if words is None else words(event.broker, moment)


def _broker_fenced(id: BrokerId, moment: Moment) -> Iterator[LogLine]:
    """Only where its session ended: a fence that it asked for is the heartbeat's to say."""
    if moment.delivered is None:
        text = f"Fencing broker {id} because its session has timed out."
        yield LogLine("controller", "INFO", REPLICATION, text)
        yield from _changing("handleBrokerFenced", moment)


_CHANGES: dict[facts.BrokerChange, Callable[[BrokerId, Moment], Iterator[LogLine]]] = {
    facts.BrokerChange.FENCED: _broker_fenced,
}


def _heartbeat(request: BrokerHeartbeatRequest, moment: Moment) -> Iterator[LogLine]:
    """What was granted; a stale heartbeat is refused, and `_refused` says it."""
    if any(isinstance(e, Refused) for e in moment.step.events):
        return
    found = granted(request, moment.before, moment.step.cluster, moment.code(CONTROLLER))
    if found is not None:
        yield LogLine("controller", "INFO", HEARTBEATS, found.text)
        yield from _changing(found.context, moment)


def _changing(context: str, moment: Moment) -> Iterator[LogLine]:
    """How many partitions change with a broker (at DEBUG, Kafka names them instead).

    Source: ReplicationControlManager.generateLeaderAndIsrUpdates, 3.2 to 3.9.
    """
    written = [e.record for e in moment.step.events if isinstance(e, facts.RecordWritten)]
    changed = written.count(PartitionChangeRecord.__name__)
    if changed:
        text = f"{context}: changing {changed} partition(s)"
        yield LogLine("controller", "INFO", REPLICATION, text)


# --- the brokers --------------------------------------------------------------------------------


def _delivered(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    """What a broker says to an answer, and a controller to a heartbeat."""
    if event.receiver == CONTROLLER and isinstance(event.body, BrokerHeartbeatRequest):
        yield from _heartbeat(event.body, moment)
    if event.receiver < 0 or event.previous_incarnation:
        return
    lines = _ANSWERS.get(type(event.body))
    said = lines(event.body, event, moment) if lines is not None else ()
    for level, logger, text in said:
        yield LogLine(node_name(event.receiver), level, logger, text)


Words = Iterable[tuple[str, str, str]]


def _altered(body: AlterPartitionResponse, event: Delivered, moment: Moment) -> Words:
    if body.error is KafkaError.STALE_BROKER_EPOCH:
        node = broker(moment.before, event.receiver)
        epoch = node.process.epoch if node is not None and node.process is not None else "…"
        text = f"Broker had a stale broker epoch ({epoch}), retrying."
        manager = "AlterPartitionManager" if moment.code(event.receiver) >= (3, 3) else None
        yield "WARN", f"Default{manager or 'AlterIsrManager'}", text
    for result in body.results:
        if result.error is KafkaError.NONE and _is_adopted(result.partition, event, moment):
            yield "INFO", "Partition", _updated(result.partition, event, moment)


def _is_adopted(partition: str, event: Delivered, moment: Moment) -> bool:
    """Whether this very answer ended the leader's waiting."""
    return _waits(moment.before, event, partition) and not _waits(
        moment.step.cluster, event, partition
    )


def _waits(cluster: Cluster, event: Delivered, partition: str) -> bool:
    node = broker(cluster, event.receiver)
    mine = replica_of(node, partition) if node is not None and node.process is not None else None
    return mine is not None and mine.leading is not None and mine.leading.isr_state.sent is not None


def _updated(partition: str, event: Delivered, moment: Moment) -> str:
    node = broker(moment.step.cluster, event.receiver)
    mine = replica_of(node, partition) if node is not None else None
    if mine is None or mine.leading is None:
        return ""
    isr = mine.leading.isr_state.isr
    # From 3.5 on Kafka's format leaves a second blank where the ISR is large enough.
    few = "(under-min-isr)" if len(isr) < mine.min_insync_replicas else ""
    few = f" {few} " if moment.code(event.receiver) >= (3, 5) else " "
    listed = ",".join(str(b) for b in isr)
    return f"ISR updated to {listed}{few}and version updated to {mine.partition_epoch}"


def _registered_reply(body: BrokerRegistrationResponse, event: Delivered, _: Moment) -> Words:
    if body.error:
        text = f"Unable to register broker {event.receiver} because the controller returned error"
        yield "INFO", LIFECYCLE, f"{text} {body.error.name}"


def _heartbeat_reply(body: BrokerHeartbeatResponse, event: Delivered, _: Moment) -> Words:
    """Left out: that it is still in RECOVERY or in controlled shutdown, every 2 s, and that the
    controller lets it go (BrokerHeartbeatResponseHandler, 3.2 to 3.9, at INFO).
    """
    if body.error:
        text = f"Broker {event.receiver} sent a heartbeat request but received error"
        yield "WARN", LIFECYCLE, f"{text} {body.error.name}."


def _fetch_reply(body: FetchResponse, event: Delivered, moment: Moment) -> Words:
    node = broker(moment.before, event.receiver)
    mine = replica_of(node, body.partition) if node is not None and node.process else None
    epoch = "…" if mine is None else str(mine.leader_epoch)
    found = _FETCH_ERRORS.get(body.error)
    moved_on = False
    if body.error is KafkaError.FENCED_LEADER_EPOCH:
        asked = _asked(event, moment.before)
        moved_on = mine is not None and asked is not None and asked.leader_epoch < mine.leader_epoch
        found = "INFO", _fenced(moved_on, moment.code(event.receiver))
    if found is not None:
        level, text = found
        yield level, "ReplicaFetcherThread", text.format(partition=body.partition, epoch=epoch)
    if body.error is KafkaError.FENCED_LEADER_EPOCH and not moved_on:
        # AbstractFetcherThread.markPartitionFailed, 3.2 to 3.9: it stops fetching this partition.
        yield "WARN", "ReplicaFetcherThread", f"Partition {body.partition} marked as failed"


def _asked(event: Delivered, before: Cluster) -> FetchRequest | None:
    """The fetch that a reply answers."""
    asked = next((m.request for m in before.messages if m.name == event.message), None)
    return asked if isinstance(asked, FetchRequest) else None


def _fenced(moved_on: bool, code: CodeVersion) -> str:
    """What a follower says whose fetch was of an epoch that is over. With `moved_on` it has heard
    of the new one since it sent the fetch.
    """
    if not moved_on:
        return (
            "Partition {partition} has an older epoch ({epoch}) than the current leader."
            " Will await the new LeaderAndIsr state before resuming fetching."
        )
    if code >= (3, 4):
        return (
            "Partition {partition} has a newer epoch ({epoch}) than the current leader."
            " Retry the partition later."
        )
    return (
        "Partition {partition} has an new epoch ({epoch}) than the current leader."
        " retry the partition later"
    )


_FETCH_ERRORS = {
    KafkaError.UNKNOWN_LEADER_EPOCH: (
        "DEBUG",
        "Remote broker has a smaller leader epoch for partition {partition} than this replica's"
        " current leader epoch of {epoch}.",
    ),
    KafkaError.NOT_LEADER_OR_FOLLOWER: (
        "DEBUG",
        "Remote broker is not the leader for partition {partition}, which could indicate that the"
        " partition is being moved",
    ),
}
_ANSWERS: dict[type, Callable[[Any, Delivered, Moment], Words]] = {
    AlterPartitionResponse: _altered,
    BrokerRegistrationResponse: _registered_reply,
    BrokerHeartbeatResponse: _heartbeat_reply,
    FetchResponse: _fetch_reply,
}


def _reverted(event: facts.IsrReverted, moment: Moment) -> Iterator[LogLine]:
    if moment.code(event.node) >= (3, 3):
        isr = ", ".join(str(b) for b in event.isr)
        text = (
            "Failed to alter partition to … since the controller rejected the request with"
            f" {event.error.name}. Partition state has been reset to the latest committed state"
            f" CommittedPartitionState(isr=Set({isr}), leaderRecoveryState=…)."
        )
        yield LogLine(node_name(event.node), "INFO", "Partition", text)


_WAITING = {
    KafkaError.UNKNOWN_TOPIC_OR_PARTITION: (
        "since the controller doesn't know about this topic or partition."
    ),
    KafkaError.UNKNOWN_TOPIC_ID: "since the controller doesn't know about this topic.",
    KafkaError.FENCED_LEADER_EPOCH: "since the leader epoch is old.",
    KafkaError.INVALID_UPDATE_VERSION: "because the partition epoch is invalid.",
    KafkaError.INVALID_REQUEST: "because the request is invalid.",
}


def _stuck(event: facts.IsrStuck, moment: Moment) -> Iterator[LogLine]:
    if event.error not in _WAITING:
        return
    newer = "Partition state may be out of sync, awaiting new the latest metadata."
    end = newer if moment.code(event.node) >= (3, 3) else "Giving up."
    text = f"Failed to alter partition to … {_WAITING[event.error]} {end}"
    yield LogLine(node_name(event.node), "DEBUG", "Partition", text)


_LIFE = {
    "RECOVERY": "The broker has caught up. Transitioning from STARTING to RECOVERY.",
    "RUNNING": "The broker has been unfenced. Transitioning from RECOVERY to RUNNING.",
    "PENDING_CONTROLLED_SHUTDOWN": "Beginning controlled shutdown.",
}


def _lifecycle(event: facts.LifecycleChanged, _moment: Moment) -> Iterator[LogLine]:
    text = _LIFE.get(str(event.state))
    if text is not None:
        yield LogLine(node_name(event.node), "INFO", LIFECYCLE, text)


def _registered(event: facts.Registered, _moment: Moment) -> Iterator[LogLine]:
    text = f"Successfully registered broker {event.node} with broker epoch {event.epoch}"
    yield LogLine(node_name(event.node), "INFO", LIFECYCLE, text)


def _truncated(event: facts.Truncated, _moment: Moment) -> Iterator[LogLine]:
    text = f"Truncating to offset {event.first}"
    yield LogLine(node_name(event.node), "INFO", "UnifiedLog", text)


def _epoch_dropped(event: facts.EpochDropped, _moment: Moment) -> Iterator[LogLine]:
    text = (
        f"Truncating to {event.end} has no effect as the largest offset in the log is"
        f" {event.end - 1}"
    )
    yield LogLine(node_name(event.node), "INFO", "UnifiedLog", text)


_LINES: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    Refused: _refused,
    Delivered: _delivered,
    facts.ControllerResigned: _resigned,
    facts.PeriodicElections: _periodic,
    facts.IsrChanged: _isr_changed,
    facts.BrokerChanged: _broker_changed,
    facts.IsrReverted: _reverted,
    facts.IsrStuck: _stuck,
    facts.LifecycleChanged: _lifecycle,
    facts.Registered: _registered,
    facts.Truncated: _truncated,
    facts.EpochDropped: _epoch_dropped,
}

__all__ = ["LogLine", "Moment", "all_lines", "log_lines"]

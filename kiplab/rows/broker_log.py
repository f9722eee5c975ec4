"""The log lines of a broker: answers of others, its ISR proposals, its state, and its log."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..engine.cluster import broker
from ..engine.events import Delivered
from ..protocol import facts, ids, messages
from ..protocol.errors import KafkaError
from .snapshots import LOG_WORDS, LogLine, Moment, replica_at

LIFECYCLE = "BrokerLifecycleManager"


def delivered(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    """What a broker says to an answer."""
    if event.receiver < 0 or event.previous_incarnation:
        return
    lines = _ANSWERS.get(type(event.body))
    for level, logger, text in lines(event.body, event, moment) if lines is not None else ():
        yield LogLine(ids.node_name(event.receiver), level, logger, text)


Words = Iterable[tuple[str, str, str]]


def _altered(body: messages.AlterPartitionResponse, event: Delivered, moment: Moment) -> Words:
    if body.error is KafkaError.STALE_BROKER_EPOCH:
        node = broker(moment.before, event.receiver)
        epoch = node.process.epoch if node is not None and node.process is not None else "…"
        what = "Partition" if moment.code(event.receiver) >= (3, 3) else "Isr"
        text = f"Broker had a stale broker epoch ({epoch}), retrying."
        yield "WARN", f"DefaultAlter{what}Manager", text
    for result in body.results:
        if result.error is KafkaError.NONE and _is_adopted(result.partition, event, moment):
            yield "INFO", "Partition", _updated(result.partition, event, moment)


def _is_adopted(partition: str, event: Delivered, moment: Moment) -> bool:
    """Whether this very answer ended the leader's waiting."""
    clusters = moment.before, moment.step.cluster
    replicas = [replica_at(cluster, event.receiver, partition) for cluster in clusters]
    waits = [r is not None and r.leading and r.leading.isr_state.sent for r in replicas]
    return list(map(bool, waits)) == [True, False]


def _updated(partition: str, event: Delivered, moment: Moment) -> str:
    mine = replica_at(moment.step.cluster, event.receiver, partition)
    if mine is None or mine.leading is None:
        return ""
    isr = mine.leading.isr_state.isr
    # From 3.5 on Kafka's format leaves a second blank where the ISR is large enough.
    few = "(under-min-isr)" if len(isr) < mine.min_insync_replicas else ""
    few = f" {few} " if moment.code(event.receiver) >= (3, 5) else " "
    listed = ",".join(str(b) for b in isr)
    return f"ISR updated to {listed}{few}and version updated to {mine.partition_epoch}"


_FAILURES: dict[type, tuple[str, str]] = {
    getattr(messages, name): words for name, words in LOG_WORDS["failures"].items()
}


def _failed(body: Any, event: Delivered, _: Moment) -> Words:
    """Left out: that it is still in RECOVERY or in controlled shutdown, every 2 s, and that it is
    let go (BrokerHeartbeatResponseHandler, 3.2 to 4.3, at INFO).
    """
    if body.error:
        level, text = _FAILURES[type(body)]
        yield level, LIFECYCLE, text.format(id=event.receiver, error=body.error.name)


def _fetch_reply(body: messages.FetchResponse, event: Delivered, moment: Moment) -> Words:
    mine = replica_at(moment.before, event.receiver, body.partition)
    epoch = "…" if mine is None else str(mine.leader_epoch)
    level, text = _FETCH_ERRORS.get(body.error, ("", ""))
    if body.error is KafkaError.FENCED_LEADER_EPOCH:
        fetch = moment.answered
        moved_on = mine is not None and fetch is not None and fetch.leader_epoch < mine.leader_epoch
        newer = moment.code(event.receiver) >= (3, 4)
        learnt: str = LOG_WORDS["fetches"]["moved_on" if newer else "moved_on_before_3.4"]
        level, text = "INFO", learnt if moved_on else _FENCED
    if text:
        yield level, "ReplicaFetcherThread", text.format(partition=body.partition, epoch=epoch)
    if text == _FENCED:
        # AbstractFetcherThread.markPartitionFailed, 3.2 to 4.3: it stops fetching this partition.
        yield "WARN", "ReplicaFetcherThread", f"Partition {body.partition} marked as failed"


_FENCED: str = LOG_WORDS["fetches"]["fenced"]
"""Of a follower whose fetch was of an epoch that is over."""


_FETCH_ERRORS = {KafkaError[name]: words for name, words in LOG_WORDS["fetch_errors"].items()}
_ANSWERS: dict[type, Callable[[Any, Delivered, Moment], Words]] = {
    messages.AlterPartitionResponse: _altered,
    **dict.fromkeys(_FAILURES, _failed),
    messages.FetchResponse: _fetch_reply,
}


def reverted(event: facts.IsrReverted, moment: Moment) -> Iterator[LogLine]:
    if moment.code(event.node) < (3, 3):
        return
    isr = ", ".join(str(b) for b in event.isr)
    state = f"(isr=Set({isr}), leaderRecoveryState=…)"
    if moment.code(event.node) >= (4, 2):
        state = f"[isr=[{isr}], leaderRecoveryState=…]"
    text = (
        "Failed to alter partition to … since the controller rejected the request with"
        f" {event.error.name}. Partition state has been reset to the latest committed state"
        f" CommittedPartitionState{state}."
    )
    yield LogLine(ids.node_name(event.node), "INFO", "Partition", text)


_WAITING = {KafkaError[name]: why for name, why in LOG_WORDS["waiting"].items()}


def stuck(event: facts.IsrStuck, moment: Moment) -> Iterator[LogLine]:
    if event.error not in _WAITING:
        return
    newer = "Partition state may be out of sync, awaiting new the latest metadata."
    end = newer if moment.code(event.node) >= (3, 3) else "Giving up."
    text = f"Failed to alter partition to … {_WAITING[event.error]} {end}"
    yield LogLine(ids.node_name(event.node), "DEBUG", "Partition", text)


_LIFE: dict[str, str] = LOG_WORDS["lifecycle"]


def lifecycle(event: facts.LifecycleChanged, _moment: Moment) -> Iterator[LogLine]:
    text = _LIFE.get(str(event.state))
    if text is not None:
        yield LogLine(ids.node_name(event.node), "INFO", LIFECYCLE, text)


def deleted(event: facts.RecordsDeleted, _moment: Moment) -> Iterator[LogLine]:
    """A log that begins anew says so in other words (UnifiedLog.truncateFullyAndStartAt)."""
    node = ids.node_name(event.node)
    if event.follows and event.last < event.start - 1:
        text = f"Truncate and start at offset {event.start}"
        yield LogLine(node, "DEBUG", "UnifiedLog", text)
    elif event.last >= event.first:
        why = "leader offset increment" if event.follows else "client delete records request"
        text = f"Incremented log start offset to {event.start} due to {why}"
        yield LogLine(node, "INFO", "UnifiedLog", text)


def one_sentence(
    event: facts.Registered | facts.Truncated | facts.EpochDropped, _moment: Moment
) -> Iterator[LogLine]:
    """What one sentence at INFO says, in every release."""
    logger = LIFECYCLE if isinstance(event, facts.Registered) else "UnifiedLog"
    text = LOG_WORDS["one_sentence"][type(event).__name__].format(
        e=event, largest=getattr(event, "end", 0) - 1
    )
    yield LogLine(ids.node_name(event.node), "INFO", logger, text)

"""`expect`: what a play says should be so, held against what is."""

from collections.abc import Callable

from ..engine.cluster import broker
from ..engine.consumers import consumer_of
from ..engine.events import CommittedLost, Dropped, Event, Sent
from ..engine.producers import producer_of
from ..engine.truth import partition_of, registration_of
from ..engine.zookeeper_routes import declared_state
from ..protocol import facts
from ..protocol.errors import KafkaError
from ..protocol.guards import named
from ..protocol.ids import BrokerId
from ..protocol.messages import AlterPartitionResponse, AlterPartitionResult
from ..protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ..protocol.replica.broker_state import Broker, log_of, replica_of
from . import values
from .expect_subjects import CONSUMER, PARTITION, PRODUCER, REPLICA, REPLY
from .play import Statement
from .stage import Expectation, Stage
from .verdict import verdict


def judge(stage: Stage, statement: Statement, line: int) -> Expectation:
    """Hold one line against the situation, if it is meant for these features."""
    words = statement.words
    if words and words[0].startswith("@"):
        meant = values.feature_set(words[0]) == stage.features
        words = words[1:]
    else:
        meant = stage.strict
    if not meant:
        return Expectation(line, statement.text, "skipped")
    wrong = _wrong(stage, words, statement)
    return Expectation(line, statement.text, "failed" if wrong else "held", wrong)


def _wrong(stage: Stage, words: tuple[str, ...], statement: Statement) -> str:
    """What was found instead; empty when all is as expected."""
    found = _found(stage, words)
    wrong = [
        f"{key} is {found[key]}"
        for key, value in statement.args
        if not _same(key, value, found[key])
    ]
    return ", ".join(wrong) or found.get("", "")


def _same(key: str, expected: str, found: str) -> bool:
    if key == "guard":
        return found in named(expected)
    return expected.replace("empty", "none") == found or (expected == "" and found == "none")


def _found(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    if not words:
        return _of_line(stage)
    finder = _FINDERS.get(words[0])
    if finder is not None:
        return finder(stage, words)
    state = partition_of(stage.cluster, words[0])
    return _of_partition(state) if state else dict.fromkeys(PARTITION, "unknown")


def _of_partition(state: PartitionRegistration) -> dict[str, str]:
    return {
        "leader": _leader(state.leader),
        "isr": _ids(state.isr),
        "replicas": _ids(state.replicas),
        "leader-epoch": str(state.leader_epoch),
        "partition-epoch": str(state.partition_epoch),
        "recovery": state.recovery.name.lower(),
    }


def _of_line(stage: Stage) -> dict[str, str]:
    """The last line that did something: its first refusal, its metadata records, what a consumer
    read, what a producer was told is written; and the run's verdict.
    """
    events = last_events(stage)
    refused = (facts.Refused, facts.PollFailed, facts.BatchRequeued)
    refusal = next((e for e in events if isinstance(e, refused)), None)
    guard = refusal.guard if isinstance(refusal, facts.Refused) else None
    read = [e for e in events if isinstance(e, facts.Polled) and e.last >= e.first]
    told = [e for e in events if isinstance(e, facts.BatchAcknowledged)]
    records = [e.record for e in events if isinstance(e, facts.RecordWritten)]
    return {
        "error": refusal.error.name if refusal else KafkaError.NONE.name,
        "guard": guard or "none",
        "records": ",".join(records) or "none",
        "read": ",".join(f"{e.first}..{e.last}" for e in read) or "none",
        "acknowledged": ",".join(f"{e.first}..{e.last}" for e in told) or "none",
        "verdict": verdict(stage),
    }


def last_events(stage: Stage) -> tuple[Event, ...]:
    """What followed from the last line that is no expectation."""
    return stage.events_of(stage.performed[-1]) if stage.performed else ()


def _broker(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    id = BrokerId(int(words[1]))
    node = broker(stage.cluster, id)
    known = registration_of(stage.cluster, id)
    return {
        "epoch": str(known.epoch) if known else "none",
        "fenced": "yes" if known and known.fenced else "no",
        "shutting-down": "yes" if known and known.in_controlled_shutdown else "no",
        "state": str(node.process.lifecycle) if node and node.process else "DOWN",
        "declared": declared_state(stage.cluster, id),
        "own-state": _own_state(node),
    }


def _own_state(node: Broker | None) -> str:
    state = node.process.state if node is not None and node.process is not None else None
    return "none" if state is None else state.name.lower()


def _replica(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    node = broker(stage.cluster, BrokerId(int(words[1])))
    if node is None:
        return dict.fromkeys(REPLICA, "none")
    played = replica_of(node, words[2])
    isr = played.leading.isr_state.maximal if played and played.leading else ()
    return {
        "start": str(log_of(node, words[2]).start),
        "end": str(log_of(node, words[2]).end),
        "high-watermark": str(played.high_watermark) if played else "none",
        "leader-epoch": str(played.leader_epoch) if played else "none",
        "isr": _ids(isr),
    }


def _consumer(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    name = words[2] if len(words) > 2 else values.DEFAULT_CONSUMER
    found = consumer_of(stage.cluster, name, words[1])
    if found is None:
        return dict.fromkeys(CONSUMER, "none")
    return {
        "position": str(found.position),
        "last-epoch": str(found.last_epoch),
        "reads-from": _leader(found.reads_from),
        "leader": _leader(found.leader),
        "leader-epoch": str(found.leader_epoch),
    }


def _producer(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    found = producer_of(stage.cluster, words[2], words[1])
    if found is None:
        return dict.fromkeys(PRODUCER, "none")
    return {
        "queued": str(len(found.batches)),
        "leader": _leader(found.leader),
        "leader-epoch": str(found.leader_epoch),
    }


def _reply(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    """The answer to the last AlterPartition, as the leader reads it."""
    for event in reversed(last_events(stage)):
        if not isinstance(event, (Sent, Dropped)):
            continue
        if isinstance(event.body, AlterPartitionResponse):
            return _answer(event.body, words)
    return dict.fromkeys(REPLY, "unknown: no AlterPartition was answered")


def _answer(response: AlterPartitionResponse, words: tuple[str, ...]) -> dict[str, str]:
    name = words[1] if len(words) > 1 else ""
    fallback = AlterPartitionResult(name, response.error)
    result = next((r for r in response.results if name in ("", r.partition)), fallback)
    return {
        "error": result.error.name,
        "leader": _leader(result.leader),
        "isr": _ids(result.isr),
        "leader-epoch": str(result.leader_epoch),
        "partition-epoch": str(result.partition_epoch),
        "recovery": LeaderRecoveryState(result.recovery).name.lower(),
    }


def _lost(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    losses = [
        f"{e.partition} {e.first}..{e.last}" for e in stage.events if isinstance(e, CommittedLost)
    ]
    expected = " ".join(words[1:])
    held = not losses if expected == "nothing" else expected in losses
    return {"": "" if held else f"lost is {', '.join(losses) or 'nothing'}"}


def _property(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    broken = any(id == words[1] for id, _ in stage.cluster.broken)
    return {
        "": "" if broken == (words[2] == "broken") else f"it {'is broken' if broken else 'holds'}"
    }


def _ids(ids: tuple[BrokerId, ...]) -> str:
    return ",".join(str(i) for i in ids) or "none"


def _leader(id: BrokerId) -> str:
    return "none" if id < 0 else str(id)


_FINDERS: dict[str, Callable[[Stage, tuple[str, ...]], dict[str, str]]] = {
    "broker": _broker,
    "replica": _replica,
    "consumer": _consumer,
    "producer": _producer,
    "reply": _reply,
    "lost": _lost,
    "property": _property,
}

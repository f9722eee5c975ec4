"""`expect`: the expected state in a play, compared with the actual one.

`SUBJECTS` has the subjects of such a line, the keys of each, and their current values.
"""

import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import Any, NamedTuple

from ..engine import consumers, producers, zookeeper_routes
from ..engine.cluster import broker
from ..engine.events import CommittedLost, Dropped, Event, Sent
from ..engine.truth import partition_of, registration_of
from ..protocol import facts
from ..protocol.errors import KafkaError
from ..protocol.guards import named
from ..protocol.ids import NO_LEADER, BrokerId
from ..protocol.messages import AlterPartitionResponse, AlterPartitionResult
from ..protocol.registrations import LeaderRecoveryState
from ..protocol.replica.broker_state import log_of, replica_of
from . import values
from .header import LINES
from .play import Statement
from .play_errors import Part, PlayError, in_part, nearest, no_key
from .stage import Expectation, Stage
from .values import Names, WordCheck, check_part
from .verdict import verdict

KeyStates = dict[str, Any]
"""The keys of a subject, and what each is; the key "" says what is wrong with the whole."""
_USAGE = (
    "expect reads PARTITION key=value, broker ID key=value, replica ID PARTITION key=value,"
    " consumer PARTITION [NAME] key=value, producer PARTITION NAME key=value,"
    " reply PARTITION key=value,"
    " lost PARTITION FIRST..LAST, lost nothing, property ID broken|holds, error=NAME, guard=ID,"
    " records=A,B, read=FIRST..LAST, acknowledged=FIRST..LAST or verdict=WORD"
)


class ExpectSubject(NamedTuple):
    """The subjects of an `expect` line."""

    words: tuple[WordCheck, ...]
    """After its own word."""
    keys: tuple[str, ...]
    state: Callable[[Stage, tuple[str, ...]], KeyStates]
    """What its keys are now; the words are those of the line, its own among them."""
    optional: int = 0
    """How many of the last words may be missing."""


# --- held against what is -------------------------------------------------------------------------


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
    """The actual state instead; empty when all is as expected."""
    state = _state(stage, words)
    wrong = [
        f"{key} is {state[key]}"
        for key, value in statement.args
        if not _same(key, value, state[key])
    ]
    return ", ".join(wrong) or state.get("", "")


def _same(key: str, expected: str, state: str) -> bool:
    if key == "guard":
        return state in named(expected)
    return expected.replace("empty", "none") == state or (expected == "" and state == "none")


def _state(stage: Stage, words: tuple[str, ...]) -> dict[str, str]:
    subject = SUBJECTS.get(words[0], PARTITION) if words else LINE
    return {key: _word(key, value) for key, value in subject.state(stage, words).items()}


def _word(key: str, value: Any) -> str:
    if value is None or (LINES["expect"]["keys"].get(key) == "leader" and value == NO_LEADER):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    return value.name.lower() if isinstance(value, IntEnum) else str(value)


def _fields(struct: Any, keys: Iterable[str], missing: str = "none") -> KeyStates:
    if struct is None:
        return dict.fromkeys(keys, missing)
    return {key: getattr(struct, key.replace("-", "_")) for key in keys}


def _partition(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    return _fields(partition_of(stage.cluster, words[0]), PARTITION.keys, "unknown")


def _line(stage: Stage, _words: tuple[str, ...]) -> KeyStates:
    """The last line that did something: its first refusal, its metadata records, what a consumer
    read, what was acknowledged to a producer; and the run's verdict.
    """
    events = last_events(stage)
    refused = (facts.Refused, facts.PollFailed, facts.BatchRequeued)
    refusal = next((e for e in events if isinstance(e, refused)), None)
    guard = refusal.guard if isinstance(refusal, facts.Refused) else None
    return {
        "error": refusal.error.name if refusal else KafkaError.NONE.name,
        "guard": guard,
        "records": tuple(e.record for e in events if isinstance(e, facts.RecordWritten)),
        "read": _spans(e for e in events if isinstance(e, facts.Polled) and e.last >= e.first),
        "acknowledged": _spans(e for e in events if isinstance(e, facts.BatchAcknowledged)),
        "verdict": verdict(stage),
    }


def last_events(stage: Stage) -> tuple[Event, ...]:
    """What followed from the last line that is no expectation."""
    return stage.events_of(stage.performed[-1]) if stage.performed else ()


def _spans(events: Iterable[facts.Polled | facts.BatchAcknowledged]) -> tuple[str, ...]:
    return tuple(f"{e.first}..{e.last}" for e in events)


def _broker(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    id = BrokerId(int(words[1]))
    node, registration = broker(stage.cluster, id), registration_of(stage.cluster, id)
    process = None if node is None else node.process
    return {
        "epoch": None if registration is None else registration.epoch,
        "fenced": registration is not None and registration.fenced,
        "shutting-down": registration is not None and registration.in_controlled_shutdown,
        "state": "DOWN" if process is None else process.lifecycle,
        "declared": zookeeper_routes.declared_state(stage.cluster, id),
        "own-state": None if process is None else process.state,
    }


def _replica(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    node = broker(stage.cluster, BrokerId(int(words[1])))
    if node is None:
        return dict.fromkeys(_REPLICA)
    played, log = replica_of(node, words[2]), log_of(node, words[2])
    isr = played.leading.isr_state.maximal if played and played.leading else ()
    return {
        **_fields(log, ("start", "end")),
        **_fields(played, ("high-watermark", "leader-epoch")),
        "isr": isr,
    }


def _consumer(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    name = words[2] if len(words) > 2 else values.DEFAULT_CONSUMER
    return _fields(consumers.consumer_of(stage.cluster, name, words[1]), _CONSUMER)


def _producer(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    producer = producers.producer_of(stage.cluster, words[2], words[1])
    queued = None if producer is None else len(producer.batches)
    return {"queued": queued, **_fields(producer, ("leader", "leader-epoch"))}


def _reply(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    """The answer to the last AlterPartition, as the leader reads it."""
    for event in reversed(last_events(stage)):
        if not isinstance(event, (Sent, Dropped)):
            continue
        if isinstance(event.body, AlterPartitionResponse):
            return _answer(event.body, words)
    return dict.fromkeys(_REPLY, "unknown: no AlterPartition was answered")


def _answer(response: AlterPartitionResponse, words: tuple[str, ...]) -> KeyStates:
    name = words[1] if len(words) > 1 else ""
    fallback = AlterPartitionResult(name, response.error)
    result = next((r for r in response.results if name in ("", r.partition)), fallback)
    return {
        "error": result.error.name,
        **_fields(result, ("leader", "isr", "leader-epoch", "partition-epoch")),
        "recovery": LeaderRecoveryState(result.recovery),
    }


def _lost(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    losses = [
        f"{e.partition} {e.first}..{e.last}" for e in stage.events if isinstance(e, CommittedLost)
    ]
    expected = " ".join(words[1:])
    held = not losses if expected == "nothing" else expected in losses
    return {"": "" if held else f"lost is {', '.join(losses) or 'nothing'}"}


def _property(stage: Stage, words: tuple[str, ...]) -> KeyStates:
    broken = any(id == words[1] for id, _ in stage.cluster.broken)
    return {
        "": "" if broken == (words[2] == "broken") else f"it {'is broken' if broken else 'holds'}"
    }


# --- what a line may speak of ---------------------------------------------------------------------

_LINE = ("error", "guard", "records", "read", "acknowledged", "verdict")
_BROKER = ("epoch", "fenced", "shutting-down", "state", "declared", "own-state")
_REPLICA = ("start", "end", "high-watermark", "leader-epoch", "isr")
_CONSUMER = ("position", "last-epoch", "leader", "leader-epoch", "reads-from")
_EPOCHS = ("leader-epoch", "partition-epoch", "recovery")
_REPLY = ("error", "leader", "isr", *_EPOCHS)
LINE = ExpectSubject((), _LINE, _line)
"""Without words: what followed from the last line."""
_OF_PARTITION = ("leader", "isr", "replicas", "elr", "last-known", *_EPOCHS)
PARTITION = ExpectSubject((), _OF_PARTITION, _partition)
"""Its own word is the partition."""
SUBJECTS = {
    "broker": ExpectSubject((values.broker,), _BROKER, _broker),
    "replica": ExpectSubject((values.broker, values.partition), _REPLICA, _replica),
    "consumer": ExpectSubject(
        (values.partition, values.consumer), _CONSUMER, _consumer, optional=1
    ),
    "producer": ExpectSubject(
        (values.partition, values.producer), ("queued", "leader", "leader-epoch"), _producer
    ),
    "reply": ExpectSubject((values.any_partition,), _REPLY, _reply, optional=1),
    "lost": ExpectSubject((values.partition, values.text), (), _lost, optional=1),
    "property": ExpectSubject((values.property_id, values.text), (), _property),
}


def check_form(statement: Statement, names: Names) -> None:
    """Raise PlayError for an `expect` that no run could judge."""
    words, first = statement.words, 0
    if words and words[0].startswith("@"):
        check_part(
            lambda text, _names: values.feature_set(text),
            words[0],
            names,
            Part(pair=False, number=0),
        )
        first = 1
    keys = _subject(words[first:], first, names).keys
    for position, (key, _) in enumerate(statement.args):
        if key not in keys:
            subject = " ".join(words[first:]) or "what followed from the last line"
            raise no_key(subject, key, nearest(key, keys) if keys else _USAGE, position)
    if keys and not statement.args:
        raise PlayError(f"{statement.text!r} expects nothing", expected=_USAGE)


def _subject(words: tuple[str, ...], first: int, names: Names) -> ExpectSubject:
    """What these words speak of; the first of them is word `first` of its line."""
    if not words:
        return LINE
    word, *rest = words
    subject = SUBJECTS.get(word)
    if subject is None and not rest:
        check_part(values.partition, word, names, Part(pair=False, number=first))
        return PARTITION
    if subject is None or not _fits(subject, word, rest):
        problem = PlayError(f"{' '.join(words)!r} cannot be read", expected=_USAGE, token=word)
        raise in_part(Part(pair=False, number=first), problem)
    if rest != ["nothing"]:
        for place, (check, text) in enumerate(zip(subject.words, rest, strict=False), first + 1):
            check_part(check, text, names, Part(pair=False, number=place))
    return subject


def _fits(subject: ExpectSubject, word: str, rest: list[str]) -> bool:
    """Whether there are as many words as the subject has, and its fixed words."""
    if word == "lost" and rest != ["nothing"]:
        return len(rest) == 2 and bool(re.fullmatch(r"[0-9]{1,12}\.\.[0-9]{1,12}", rest[1]))
    if word == "property" and rest[1:] not in (["broken"], ["holds"]):
        return False
    return len(subject.words) - subject.optional <= len(rest) <= len(subject.words)

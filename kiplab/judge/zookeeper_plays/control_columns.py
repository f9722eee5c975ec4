"""One play of ZooKeeper's time in two columns: what the engine's controller was heard to send and
answer, and what a real one was. Broker epochs are those of the play.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from ...plays.stage import Performed, Stage
from ...protocol.errors import KafkaError
from ...protocol.ids import NO_LEADER, broker_list
from ..side_by_side.two_columns import ColumnLine, Judges, TwoColumns
from ..zookeeper_era import sequences
from ..zookeeper_era.engine_control_requests import as_in_the_engine
from ..zookeeper_era.sequences import Passage, StateZnode

Epochs = Mapping[str, int]
"""The broker epoch, in the play, of each generation such as ``"b1g2"``."""


class HeardLine(NamedTuple):
    """What was sent and answered in a line, by the engine's and by the real one; topics whose state
    leaders have written in it.
    """

    performed: Performed
    engine: Passage
    real: Passage
    led: frozenset[str]


def control_columns(
    engine: Stage, start: tuple[StateZnode, ...], heard: list[HeardLine], epochs: Epochs
) -> TwoColumns:
    """Both, line by line of a play; `start` is what ZooKeeper has before."""
    mine, theirs, lines = start, start, []
    for line in heard:
        lines.append(_line(line, (mine, theirs), epochs))
        mine, theirs = line.engine.znodes or mine, line.real.znodes or theirs
    real = tuple(line.real for line in heard)
    # One sentence of the controller's own for each state of a partition that it wrote.
    sentences = (pair for line in lines for pair in zip(line.kafka, line.own, strict=True))
    return TwoColumns(
        engine=engine,
        kafka=engine,
        judges=Judges(decides=True),
        lines=tuple(lines),
        heard=real,
        requests=sum(len(p.requests) + len(p.answers) + len(p.altered) for p in real),
        records=sum(is_own and text.startswith("ZooKeeper:") for text, is_own in sentences),
    )


def _line(
    line: HeardLine, earlier: tuple[tuple[StateZnode, ...], tuple[StateZnode, ...]], epochs: Epochs
) -> ColumnLine:
    engine, kafka = (
        (*_in_words(passage, epochs), *(_znode(z) for z in passage.znodes if z not in before))
        for passage, before in zip((line.engine, line.real), earlier, strict=True)
    )
    led = tuple(f"ZooKeeper: {topic}-0 " for topic in line.led)
    return ColumnLine(
        step=line.performed.moment,
        play=line.performed.statement.text,
        engine=engine,
        kafka=kafka,
        agree=_as_compared(line.engine) == _as_compared(line.real),
        own=tuple(not sentence.startswith(led) for sentence in kafka),
    )


def _as_compared(passage: Passage) -> Passage:
    """A passage without what the two differ in by nature: a play has no topic by which a request
    with every partition is told from others, and its partitions are compared one by one.
    """
    same = as_in_the_engine(passage)
    return replace(same, requests=tuple(replace(sent, full=False) for sent in same.requests))


# --- in words -------------------------------------------------------------------------------------


def _in_words(passage: Passage, epochs: Epochs) -> Iterator[str]:
    """One sentence for each request and each answer."""
    yield from (_request(sent, epochs) for sent in passage.requests)
    for answer in passage.answers:
        left = ", ".join(f"{topic}-0" for topic in answer.remaining)
        still = f", it still leads {left}" if left else ""
        asks = f"broker {answer.broker} asks for its shutdown{_with(answer.stamped, epochs)}"
        yield f"{asks}: {_error(answer.error)}{still}"
    for altered in passage.altered:
        results = "; ".join(map(_altered, altered.partitions))
        asks = f"broker {altered.broker} asks for another ISR{_with(altered.stamped, epochs)}"
        yield f"{asks}: {_error(altered.error) if altered.error else results}"


def _znode(znode: StateZnode) -> str:
    """``ZooKeeper: L-0 leader 2 ISR {2} leader epoch 4 version 7``."""
    return f"ZooKeeper: {_state(znode)}"


def _request(sent: sequences.SentRequest, epochs: Epochs) -> str:
    what = "; ".join([*map(_state, sent.partitions), *map(_stopped, sent.stopped)])
    live = f"; live {broker_list(sent.live)}" if sent.live else ""
    error = f"; it answers {_error(sent.answer)}" if sent.answer else ""
    other = sent.stamped not in (sequences.NO_EPOCH, sent.generation)
    now = f" (it has {epochs[sent.generation]})" if other else ""
    stamp = f"{_with(sent.stamped, epochs, 'for')}{now}"
    head = f"broker {sent.broker} gets {sent.api} v{sent.version}{stamp}"
    controller = f"controller epoch {sent.controller_epoch}"
    return f"{head}, {controller}: {what or 'no partition'}{live}{error}"


def _with(stamped: str, epochs: Epochs, word: str = "with") -> str:
    if stamped == sequences.NO_EPOCH:
        return " without a broker epoch"
    return f" {word} broker epoch {epochs.get(stamped, stamped)}"


def _altered(result: sequences.AlteredPartition) -> str:
    return f"{result.topic}-0 {_error(result.error)}" if result.error else _state(result)


def _stopped(replica: sequences.StoppedReplica) -> str:
    epoch = "" if replica.leader_epoch is None else f" of leader epoch {replica.leader_epoch}"
    return f"{replica.topic}-0{epoch}{' and delete it' if replica.delete else ''}"


def _state(state: StateZnode | sequences.SentPartition | sequences.AlteredPartition) -> str:
    who = "none" if state.leader == NO_LEADER else str(state.leader)
    epochs = f"leader epoch {state.leader_epoch} version {state.zk_version}"
    recovering = " RECOVERING" if state.leader_recovery_state else ""
    return f"{state.topic}-0 leader {who} ISR {broker_list(state.isr)} {epochs}{recovering}"


def _error(code: int) -> str:
    named = {error.value: error.name for error in KafkaError}
    return named.get(code, f"error {code}")

"""One play of ZooKeeper's time in two columns: what the engine's controller was heard to send and
answer, and what a real one was. Broker epochs are those of the play.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...plays.stage import Performed, Stage
from ...protocol.errors import KafkaError
from ...protocol.ids import NO_LEADER, broker_list
from ..side_by_side.renaming import Renaming
from ..side_by_side.two_columns import ColumnLine, Judges
from ..zookeeper_era.engine_control_requests import as_in_the_engine
from ..zookeeper_era.sequences import (
    NO_EPOCH,
    AlterAnswer,
    AlteredPartition,
    Passage,
    SentPartition,
    SentRequest,
    ShutdownAnswer,
    StateZnode,
    StoppedReplica,
)

States = tuple[StateZnode, ...]


class ControlColumns(msgspec.Struct, frozen=True):
    """Both, line by line of a play: `told` by the engine's, `heard` of the real one.

    `start` is what ZooKeeper has before; `led` names the topics whose state leaders have written
    in a line, and `epochs` are the broker epochs of generations. The play goes on in the engine
    alone, whatever the real one does.
    """

    engine: Stage
    start: States
    told: tuple[Passage, ...]
    heard: tuple[Passage, ...]
    led: tuple[tuple[str, ...], ...]
    epochs: tuple[tuple[str, int], ...]

    @property
    def kafka(self) -> Stage:
        """The run beside the real controller: the engine's, as long as they agree."""
        return self.engine

    @property
    def judges(self) -> Judges:
        """The controller alone is Kafka's own."""
        return Judges(decides=True)

    @property
    def renaming(self) -> Renaming:
        """Nothing is called otherwise: a play's epochs are written into ZooKeeper as they are."""
        return Renaming()

    @property
    def turns(self) -> int:
        """Of real brokers: there are none."""
        return 0

    @property
    def lines(self) -> tuple[ColumnLine, ...]:
        """Every line that does something."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[ColumnLine]:
        before = self.start, self.start
        both = zip(self.engine.performed, self.told, self.heard, self.led, strict=True)
        for performed, told, heard, led in both:
            yield self._line(performed, told, heard, led, before)
            before = told.znodes or before[0], heard.znodes or before[1]

    def _line(
        self,
        performed: Performed,
        told: Passage,
        heard: Passage,
        led: tuple[str, ...],
        earlier: tuple[States, States],
    ) -> ColumnLine:
        kafka = tuple(self._said(heard, earlier[1]))
        own = tuple(_is_own(sentence, led) for sentence in kafka)
        return ColumnLine(
            step=performed.moment,
            play=performed.statement.text,
            engine=tuple(self._said(told, earlier[0])),
            kafka=kafka,
            agree=as_compared(told) == as_compared(heard),
            own=own,
        )

    def _said(self, passage: Passage, earlier: States) -> Iterator[str]:
        yield from control_requests_in_words(passage, dict(self.epochs))
        yield from (znode_in_words(z) for z in passage.znodes if z not in earlier)

    @property
    def agree(self) -> bool:
        """Whether both were heard to say the same, line by line."""
        return all(line.agree for line in self.lines)

    @property
    def requests(self) -> int:
        """How many requests the real controller sent and answered."""
        return sum(len(p.requests) + len(p.answers) + len(p.altered) for p in self.heard)

    @property
    def records(self) -> int:
        """How many states of partitions it wrote, one for each sentence that says so."""
        own = (said for line in self.lines for said in zip(line.kafka, line.own, strict=True))
        return sum(is_own and said.startswith("ZooKeeper:") for said, is_own in own)


def _is_own(sentence: str, led: tuple[str, ...]) -> bool:
    return not any(sentence.startswith(f"ZooKeeper: {topic}-0 ") for topic in led)


def as_compared(passage: Passage) -> Passage:
    """A passage without what the two differ in by nature: a play has no topic by which a request
    with every partition is told from others, and its partitions are compared one by one.
    """
    same = as_in_the_engine(passage)
    return replace(same, requests=tuple(replace(sent, full=False) for sent in same.requests))


Epochs = Mapping[str, int]
"""The broker epoch, in the play, of each generation such as ``"b1g2"``."""


def control_requests_in_words(passage: Passage, epochs: Epochs) -> Iterator[str]:
    """One sentence for each request and each answer."""
    yield from (_request(sent, epochs) for sent in passage.requests)
    yield from (_shutdown(answer, epochs) for answer in passage.answers)
    yield from (_alter(answer, epochs) for answer in passage.altered)


def znode_in_words(znode: StateZnode) -> str:
    """``ZooKeeper: L-0 leader 2 ISR {2} leader epoch 4 version 7``."""
    said = _state(znode.topic, znode.leader, znode.isr, znode.leader_epoch, znode.zk_version)
    return f"ZooKeeper: {said}{_recovering(znode.leader_recovery_state)}"


def _request(sent: SentRequest, epochs: Epochs) -> str:
    what = [*map(_partition, sent.partitions), *map(_stopped, sent.stopped)]
    said = "; ".join(what) or "no partition"
    live = f"; live {broker_list(sent.live)}" if sent.live else ""
    head = f"broker {sent.broker} gets {sent.api} v{sent.version}{_stamped(sent, epochs)}"
    return f"{head}, controller epoch {sent.controller_epoch}: {said}{live}{_error(sent.answer)}"


def _stamped(sent: SentRequest, epochs: Epochs) -> str:
    if sent.stamped == NO_EPOCH:
        return " without a broker epoch"
    now = "" if sent.stamped == sent.generation else f" (it has {epochs[sent.generation]})"
    return f" for broker epoch {epochs.get(sent.stamped, sent.stamped)}{now}"


def _error(code: int) -> str:
    return f"; it answers {_name(code)}" if code else ""


def _shutdown(answer: ShutdownAnswer, epochs: Epochs) -> str:
    left = ", ".join(f"{topic}-0" for topic in answer.remaining)
    still = f", it still leads {left}" if left else ""
    asks = f"broker {answer.broker} asks for its shutdown{_of(answer.stamped, epochs)}"
    return f"{asks}: {_name(answer.error)}{still}"


def _alter(answer: AlterAnswer, epochs: Epochs) -> str:
    results = "; ".join(map(_altered, answer.partitions))
    said = _name(answer.error) if answer.error else results
    asks = f"broker {answer.broker} asks for another ISR{_of(answer.stamped, epochs)}"
    return f"{asks}: {said}"


def _altered(result: AlteredPartition) -> str:
    if result.error:
        return f"{result.topic}-0 {_name(result.error)}"
    state = result.leader, result.isr, result.leader_epoch, result.zk_version
    return f"{_state(result.topic, *state)}{_recovering(result.leader_recovery_state)}"


def _of(stamped: str, epochs: Epochs) -> str:
    if stamped == NO_EPOCH:
        return " without a broker epoch"
    return f" with broker epoch {epochs.get(stamped, stamped)}"


def _partition(told: SentPartition) -> str:
    state = told.leader, told.isr, told.leader_epoch, told.zk_version
    return f"{_state(told.topic, *state)}{_recovering(told.leader_recovery_state)}"


def _stopped(replica: StoppedReplica) -> str:
    epoch = "" if replica.leader_epoch is None else f" of leader epoch {replica.leader_epoch}"
    return f"{replica.topic}-0{epoch}{' and delete it' if replica.delete else ''}"


def _state(topic: str, leader: int, isr: tuple[int, ...], leader_epoch: int, version: int) -> str:
    who = "none" if leader == NO_LEADER else str(leader)
    members = broker_list(isr)
    return f"{topic}-0 leader {who} ISR {members} leader epoch {leader_epoch} version {version}"


def _recovering(state: int) -> str:
    return " RECOVERING" if state else ""


def _name(code: int) -> str:
    named = {error.value: error.name for error in KafkaError}
    return named.get(code, f"error {code}")


CONTROL_RECORDINGS = Path(str(files(__package__))) / "recordings"
"""One file for each play, as `recorded_kafka` reads them."""

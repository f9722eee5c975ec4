"""One play of ZooKeeper's time in two columns: what the engine's controller was heard to send and
answer, and what a real one was.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from ...plays.stage import Performed, Stage
from ..side_by_side.renaming import Renaming
from ..side_by_side.two_columns import ColumnLine, Judges
from ..zookeeper_era.engine_mail import as_in_the_engine
from ..zookeeper_era.sequences import Passage, StateZnode
from .mail_words import mail_in_words, znode_in_words

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
        yield from mail_in_words(passage, dict(self.epochs))
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

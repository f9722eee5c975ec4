"""A stage, moment by moment: what every row is read from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..engine.cluster import Cluster, MessageName
from ..engine.events import Delivered, Event, NotApplicable
from ..engine.history import Recorded
from ..plays.play import Statement
from ..plays.stage import Performed, Stage, event_id
from ..protocol.ids import BrokerEpoch, BrokerId
from ..protocol.releases import CodeVersion, Mode
from .columns import SpanRow
from .queued_requests import QueueWatch, Waiting


class Moment:
    """A move, the cluster before it, and the events that followed with their ids: what rows, log
    lines and metrics are read from.
    """

    def __init__(
        self,
        before: Cluster,
        step: Recorded,
        named: Sequence[tuple[str, Event]] = (),
        sent_for: Mapping[MessageName, BrokerEpoch] = MappingProxyType({}),
    ) -> None:
        self.before, self.step, self.named, self.sent_for = before, step, named, sent_for

    def code(self, node: int) -> CodeVersion:
        """The version of the code whose wording `node` uses."""
        return self.step.cluster.features.code_of(BrokerId(node))

    @property
    def mode(self) -> Mode:
        """Who keeps the metadata: the words differ."""
        return self.step.cluster.features.mode

    @cached_property
    def delivered(self) -> Delivered | None:
        """The message that this move delivered."""
        return next((e for e in self.step.events if isinstance(e, Delivered)), None)

    @cached_property
    def answered(self) -> Any:
        """The request that the delivered message answers."""
        came = self.delivered
        messages = self.before.messages if came is not None else ()
        return next((m.request for m in messages if came and m.name == came.message), None)


class Snapshot(msgspec.Struct, frozen=True):
    """The cluster after one moment, and the moves that led there.

    The one at x = 0 is the cluster before the first line, without a statement.
    """

    x: int
    cluster: Cluster
    first_step: int = 0
    moves: tuple[Moment, ...] = ()
    events: tuple[Event, ...] = ()
    """Everything that followed, in order."""
    line: int = 0
    statement: Statement | None = None
    not_applicable: NotApplicable | None = None
    waiting: tuple[Waiting, ...] = ()
    """What is queued for brokers at the end of the moment."""

    @property
    def last_id(self) -> str:
        """The id of the last event: of what was not applicable, where something was not."""
        return event_id(self.x, len(self.events) + (self.not_applicable is not None))


def snapshots(stage: Stage) -> tuple[Snapshot, ...]:
    """One per moment, x = 0 first; lines that moved nothing and took no moment are left out."""
    watch = QueueWatch(stage.history.start)
    found = [Snapshot(0, stage.history.start, waiting=tuple(watch.waiting(stage.history.start)))]
    for performed in _openers(stage):
        steps = stage.history.steps[performed.first : performed.last]
        moves = tuple(_moves(performed.moment, steps, found[-1].cluster, watch))
        cluster = steps[-1].cluster if steps else found[-1].cluster
        found.append(
            Snapshot(
                x=performed.moment,
                cluster=cluster,
                first_step=performed.first,
                moves=moves,
                events=tuple(event for step in steps for event in step.events),
                line=performed.line,
                statement=performed.statement,
                not_applicable=performed.not_applicable,
                waiting=tuple(watch.waiting(cluster)),
            )
        )
    return tuple(found)


def _moves(
    x: int, steps: Sequence[Recorded], before: Cluster, watch: QueueWatch
) -> Iterator[Moment]:
    numbers = count(1)
    for step in steps:
        watch.note(step.events, step.cluster)
        named = [(event_id(x, next(numbers)), event) for event in step.events]
        yield Moment(before, step, named, watch.sent_for)
        before = step.cluster


def _openers(stage: Stage) -> Iterator[Performed]:
    moment = 0
    for performed in stage.performed:
        if performed.moment > moment:
            moment = performed.moment
            yield performed


# --- span reading ---------------------------------------------------------------------------------


class Reading(NamedTuple):
    """What a track shows at one moment. Equal neighbours become one span."""

    value: str
    text: str
    flags: tuple[str, ...] = ()


Read = Callable[[Snapshot], Reading | None]


def track(
    shots: Sequence[Snapshot], lane: str, name: str, read: Read, partition: str = ""
) -> Iterator[SpanRow]:
    """The spans of the track called `name` on a lane; none where nothing is read."""
    readings = ((shot.x, read(shot)) for shot in shots)
    for x0, x1, found in stretches(readings, shots[-1].x + 1):
        yield SpanRow(lane, name, x0, x1, found.value, found.text, partition, found.flags)


_Value = TypeVar("_Value")


def stretches(
    readings: Iterable[tuple[int, _Value | None]], end: int
) -> Iterator[tuple[int, int, _Value]]:
    """(x0, x1, value) for equal neighbours of (x, value), the last one up to `end`; None is
    nothing.
    """
    x0, lasting = 0, None
    for x, value in readings:
        if value != lasting:
            if lasting is not None:
                yield x0, x, lasting
            x0, lasting = x, value
    if lasting is not None:
        yield x0, end, lasting


# --- log moment -----------------------------------------------------------------------------------


class LogLine(NamedTuple):
    """``node`` logs ``text`` at ``level`` through the class ``logger``."""

    node: str
    level: str
    logger: str
    text: str

    def __str__(self) -> str:
        return f"{self.node} log, {self.level} {self.logger}: {self.text}"

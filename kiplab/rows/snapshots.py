"""A stage, moment by moment: the source of every row."""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..engine.cluster import Cluster, MessageName, broker
from ..engine.events import Delivered, Event, NotApplicable, Sent
from ..engine.history import Recorded
from ..engine.nodes import state_of
from ..engine.truth import registration_of
from ..plays.play import Statement
from ..plays.stage import Stage, event_id
from ..protocol.ids import NO_BROKER_EPOCH, BrokerEpoch, BrokerId, controller_on
from ..protocol.messages.api_message import ControlRequest
from ..protocol.releases import CodeVersion, Mode
from ..protocol.replica.broker_state import Replica, replica_of
from ..protocol.zookeeper.zookeeper_controller import BrokerChannel, ZooKeeperController
from .columns import SpanRow


class Moment(msgspec.Struct, frozen=True, dict=True):
    """A move, the cluster before it, and the events that followed with their ids."""

    before: Cluster
    step: Recorded
    named: Sequence[tuple[str, Event]] = ()
    sent_for: Mapping[MessageName, BrokerEpoch] = MappingProxyType({})

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
        name = None if self.delivered is None else self.delivered.message
        return next((m.request for m in self.before.messages if m.name == name), None)


def replica_at(cluster: Cluster, id: BrokerId, partition: str) -> Replica | None:
    """How a broker plays a partition; None if it does not, or does not run."""
    node = broker(cluster, id)
    return None if node is None else replica_of(node, partition)


# --- queues ---------------------------------------------------------------------------------------


Key = tuple[BrokerId, BrokerId]
"""The address of a controller, and a broker that it keeps a queue for."""


class Waiting(NamedTuple):
    """What a controller still has to tell `broker`, the next request first; for each of them the
    broker epoch that the broker was registered with when it was queued, or that stands on it.
    """

    kept_by: BrokerId
    """The address of the controller."""
    broker: BrokerId
    requests: tuple[str, ...]
    meant_for: tuple[BrokerEpoch, ...]


class QueueWatch:
    """Follows the queues of a run, move by move. In KRaft there are none, and it finds nothing."""

    def __init__(self, start: Cluster) -> None:
        self._meant: dict[tuple[Key, int], BrokerEpoch] = {}
        """By the identity of a queued request, kept by the history: its broker's registration."""
        self._registered: dict[BrokerId, BrokerEpoch] = {}
        self._incarnations: dict[tuple[BrokerId, BrokerEpoch], BrokerEpoch] = {}
        """By what a broker takes for its epoch: the one that it was registered with then."""
        self.sent_for: dict[MessageName, BrokerEpoch] = {}
        """By the name of a request that is or was on its way: for which incarnation it is."""
        self.note((), start)

    def note(self, events: Sequence[Event], after: Cluster) -> None:
        """A move has been made: `after` is the resulting cluster."""
        if after.features.mode is Mode.KRAFT:
            return
        self._learn(after)
        for key, channel in _channels(after):
            for request in channel.queue:
                self._meant.setdefault((key, id(request)), self._epoch(channel.broker))
        for event in events:
            if isinstance(event, Sent) and isinstance(event.body, ControlRequest):
                key = (event.message.sender, event.receiver)
                self.sent_for[event.message] = self._incarnation(key, event.body)

    def waiting(self, cluster: Cluster) -> Iterator[Waiting]:
        """Every queue of `cluster` with something in it; `cluster` is what was noted last."""
        for key, channel in _channels(cluster):
            if channel.queue:
                words = tuple(request.in_words() for request in channel.queue)
                epochs = tuple(self._incarnation(key, request) for request in channel.queue)
                yield Waiting(*key, words, epochs)

    def _learn(self, cluster: Cluster) -> None:
        for node in cluster.brokers:
            registration = registration_of(cluster, node.id)
            if registration is not None:
                self._registered[node.id] = registration.epoch
                if node.process is not None and registration.incarnation == node.incarnation:
                    # The same number; where session ids are generations (380.session-id), not.
                    self._incarnations.setdefault((node.id, node.process.epoch), registration.epoch)

    def _incarnation(self, key: Key, request: ControlRequest) -> BrokerEpoch:
        """The epoch under which the incarnation that a request is for was registered."""
        broker = key[1]
        if request.broker_epoch == NO_BROKER_EPOCH:
            return self._meant.get((key, id(request)), self._epoch(broker))
        return self._incarnations.get((broker, request.broker_epoch), request.broker_epoch)

    def _epoch(self, broker: BrokerId) -> BrokerEpoch:
        """The last one that it was registered with."""
        return self._registered.get(broker, NO_BROKER_EPOCH)


def _channels(cluster: Cluster) -> Iterator[tuple[Key, BrokerChannel]]:
    for node in cluster.brokers:
        address = controller_on(node.id)
        state = state_of(cluster, address)
        if isinstance(state, ZooKeeperController):
            for channel in state.channels:
                yield (address, channel.broker), channel


# --- moments --------------------------------------------------------------------------------------


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
    cluster, moment = stage.history.start, 0
    shots = [Snapshot(0, cluster, waiting=tuple(watch.waiting(cluster)))]
    for performed in stage.performed:
        if performed.moment <= moment:
            continue
        moment = performed.moment
        steps = stage.history.steps[performed.first : performed.last]
        moves = tuple(_moves(moment, steps, cluster, watch))
        cluster = steps[-1].cluster if steps else cluster
        shots.append(
            Snapshot(
                x=moment,
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
    return tuple(shots)


def _moves(
    x: int, steps: Sequence[Recorded], before: Cluster, watch: QueueWatch
) -> Iterator[Moment]:
    numbers = count(1)
    for step in steps:
        watch.note(step.events, step.cluster)
        named = [(event_id(x, next(numbers)), event) for event in step.events]
        yield Moment(before, step, named, watch.sent_for)
        before = step.cluster


# --- span reading ---------------------------------------------------------------------------------


class Reading(NamedTuple):
    """What a track shows at one moment. Equal neighbours become one span."""

    value: str
    text: str
    flags: tuple[str, ...] = ()


Read = Callable[[Snapshot], Reading | None]
Track = tuple[str, str]
"""The name of a track on some lane, and the partition that it is about, if it is about one."""


def tracks(
    shots: Sequence[Snapshot],
    lane: str,
    names: Iterable[Track],
    read: Callable[[Snapshot], Iterable[tuple[Track, Reading]]],
) -> Iterator[SpanRow]:
    """As `track`, of several tracks that are read at once."""
    read_all = [(shot.x, dict(read(shot))) for shot in shots]
    for name, partition in names:
        readings = [(x, of_tracks.get((name, partition))) for x, of_tracks in read_all]
        yield from spans_of(readings, shots[-1].x + 1, lane, name, partition)


def track(
    shots: Sequence[Snapshot], lane: str, name: str, read: Read, partition: str = ""
) -> Iterator[SpanRow]:
    """The spans of the track called `name` on a lane; none where nothing is read."""
    readings = ((shot.x, read(shot)) for shot in shots)
    return spans_of(readings, shots[-1].x + 1, lane, name, partition)


def spans_of(
    readings: Iterable[tuple[int, Reading | None]], end: int, lane: str, name: str, partition: str
) -> Iterator[SpanRow]:
    """The spans of a track of (x, what is read there), up to `end`."""
    for x0, x1, reading in stretches(readings, end):
        yield SpanRow(lane, name, x0, x1, reading.value, reading.text, partition, reading.flags)


_Value = TypeVar("_Value")


def stretches(
    readings: Iterable[tuple[int, _Value | None]], end: int
) -> Iterator[tuple[int, int, _Value]]:
    """(x0, x1, value) for equal neighbours of (x, value), up to `end`; None is nothing."""
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


LOG_WORDS: dict[str, Any] = tomllib.loads(
    (files(__package__) / "log_words.toml").read_text("utf-8")
)
"""Kafka's words for its log lines, by table."""

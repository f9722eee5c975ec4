"""A stage, moment by moment: what every row is read from."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import msgspec

from ..engine.cluster import Cluster, MessageName
from ..engine.events import Delivered, Event, NotApplicable, Sent
from ..engine.history import Recorded
from ..engine.nodes import state_of
from ..engine.truth import registration_of
from ..plays.play import Statement
from ..plays.stage import Stage, event_id
from ..protocol.ids import NO_BROKER_EPOCH, BrokerEpoch, BrokerId, controller_on
from ..protocol.messages.api_message import ControlRequest
from ..protocol.releases import CodeVersion, Mode
from ..protocol.zookeeper.zookeeper_controller import BrokerChannel, ZooKeeperController
from ..protocol.zookeeper_facts import RequestsQueued
from .columns import SpanRow


class Moment:
    """A move, the cluster before it, and the events that followed with their ids."""

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
        name = None if self.delivered is None else self.delivered.message
        return next((m.request for m in self.before.messages if m.name == name), None)


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
        self._is_kraft = start.features.mode is Mode.KRAFT
        self._meant: dict[Key, list[BrokerEpoch]] = {}
        self._registered: dict[BrokerId, BrokerEpoch] = {}
        self._lives: dict[tuple[BrokerId, BrokerEpoch], BrokerEpoch] = {}
        """By what a broker takes for its epoch: the one that it was registered with then."""
        self.sent_for: dict[MessageName, BrokerEpoch] = {}
        """By the name of a request that is or was on its way: for which incarnation it is."""
        self._learn(start)
        for key, channel in _channels(start):
            self._meant[key] = [self._epoch(key[1])] * len(channel.queue)

    def note(self, events: Sequence[Event], after: Cluster) -> None:
        """A move has been made: `after` is what it came to."""
        if self._is_kraft:
            return
        heads = {key: epochs[:] for key, epochs in self._meant.items()}
        self._learn(after)
        for event in events:
            if isinstance(event, RequestsQueued):
                more = [self._epoch(event.broker)] * len(event.requests)
                self._meant.setdefault((event.node, event.broker), []).extend(more)
        for event in events:
            if isinstance(event, Sent) and isinstance(event.body, ControlRequest):
                self._sent(event, after, heads)
        left = {key: len(channel.queue) for key, channel in _channels(after)}
        # Whatever is gone went from the front: answered, or dropped together with all others.
        self._meant = {k: e[len(e) - left[k] :] for k, e in self._meant.items() if left.get(k)}

    def waiting(self, cluster: Cluster) -> Iterator[Waiting]:
        """Every queue of `cluster` with something in it; `cluster` is what was noted last."""
        for key, channel in _channels(cluster):
            if channel.queue:
                unwritten = self._meant.get(key) or [self._epoch(channel.broker)]
                unwritten = unwritten[:1] * (len(channel.queue) - len(unwritten)) + unwritten
                epochs = tuple(
                    self._incarnation(channel.broker, body.broker_epoch, meant)
                    for body, meant in zip(channel.queue, unwritten, strict=True)
                )
                words = tuple(body.in_words() for body in channel.queue)
                yield Waiting(*key, words, epochs)

    def _sent(self, event: Sent, after: Cluster, before: dict[Key, list[BrokerEpoch]]) -> None:
        """A request leaves the head of its queue, in which it stays until it is answered."""
        assert isinstance(event.body, ControlRequest)
        key = (event.message.sender, event.receiver)
        queue = dict(_channels(after)).get(key, BrokerChannel(event.receiver)).queue
        epochs = self._meant.get(key) or before.get(key) or [self._epoch(event.receiver)]
        place = len(epochs) - len(queue)
        meant = epochs[place] if 0 <= place < len(epochs) else epochs[0]
        stamped = event.body.broker_epoch
        self.sent_for[event.message] = self._incarnation(event.receiver, stamped, meant)

    def _learn(self, cluster: Cluster) -> None:
        for broker in cluster.brokers:
            registration = registration_of(cluster, broker.id)
            if registration is not None:
                self._registered[broker.id] = registration.epoch
                if broker.process is not None and registration.incarnation == broker.incarnation:
                    # The same number; where session ids are generations (380.session-id), not.
                    self._lives.setdefault((broker.id, broker.process.epoch), registration.epoch)

    def _incarnation(
        self, broker: BrokerId, stamped: BrokerEpoch, meant: BrokerEpoch
    ) -> BrokerEpoch:
        """The epoch under which the incarnation that a request is for was registered."""
        if stamped == NO_BROKER_EPOCH:
            return meant
        return self._lives.get((broker, stamped), stamped)

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
        yield from _spans(readings, shots[-1].x + 1, lane, name, partition)


def track(
    shots: Sequence[Snapshot], lane: str, name: str, read: Read, partition: str = ""
) -> Iterator[SpanRow]:
    """The spans of the track called `name` on a lane; none where nothing is read."""
    readings = ((shot.x, read(shot)) for shot in shots)
    return _spans(readings, shots[-1].x + 1, lane, name, partition)


def _spans(
    readings: Iterable[tuple[int, Reading | None]], end: int, lane: str, name: str, partition: str
) -> Iterator[SpanRow]:
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

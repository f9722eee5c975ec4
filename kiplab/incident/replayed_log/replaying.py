"""A metadata log, record by record: the state of the cluster and the events that led to it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import msgspec

from ..findings.finding import Finding
from ..gathering import KEPT, GatheredRemarks
from ..log_items import UNKNOWN, LogItem, LogRecord, OffsetAndTime, Remark, SavedState
from ..states import (
    ClusterState,
    LogEvent,
    PartitionKey,
    PartitionState,
    RegisteredIncarnation,
    with_value,
)
from . import partitions, registered_brokers
from .checkpoints import agreed
from .partitions import Around
from .whose_doing import with_handlers

SILENCE_MS = 1000
"""A no-op after less than this is no event: nothing can be said of it."""
EARLIER_MAX = 100
"""So many earlier incarnations of a broker are kept."""
_KEPT_SETTINGS = {"min.insync.replicas", "unclean.leader.election.enable"}
_TOPIC, _BROKER = 2, 4
"""Kinds of a ConfigRecord's resource (ConfigResource.Type)."""
_OF_TRANSACTIONS = {
    "BEGIN_TRANSACTION_RECORD",
    "END_TRANSACTION_RECORD",
    "ABORT_TRANSACTION_RECORD",
}

RecordEffect = tuple[PartitionState | None, PartitionState | None, RegisteredIncarnation | None]
"""What one record did: a partition before and after it, or an incarnation after it."""
_CLUSTER_ALONE: RecordEffect = (None, None, None)


class Topic(msgspec.Struct):
    """A topic id, its name and its partitions by number, as far as they are known."""

    name: str
    partitions: dict[int, PartitionState] = {}


class Replay:
    """The replay of one log. `report` is called with what does not fit (finding ``inconsistent``).

    `complete` says whether everything before the present record is known: the log from its start
    or from a checkpoint on, without a gap.
    """

    def __init__(self, report: Callable[[Finding], None], *, exact: bool = True) -> None:
        self.cluster, self.complete = ClusterState(), False
        self.remarks = GatheredRemarks()
        self.first: OffsetAndTime | None = None
        self._begun: OffsetAndTime | None = None
        self._last: LogRecord | None = None
        self._idle_at = -SILENCE_MS
        self._arounds: dict[str, Around] = {}
        self._report, self._exact = report, exact
        self._topics: dict[str, Topic] = {}
        self._by_name: dict[str, Topic] = {}
        self._known: dict[str, Topic] = {}
        """Those with partitions, by their ids."""
        self._controllers: dict[int, str] = {}
        self._held_back: list[LogRecord] | None = None
        self._reported: set[tuple[str, int]] = set()

    @property
    def last(self) -> OffsetAndTime | None:
        """Where the last record stands that was read, or that a checkpoint has."""
        return self._last.moment if self._last else self._begun

    @property
    def partitions(self) -> dict[PartitionKey, PartitionState]:
        """The present state of all known partitions."""
        everything = (p for topic in self._topics.values() for p in topic.partitions.values())
        return {state.key: state for state in everything}

    def events(self, items: Iterable[LogItem]) -> Iterator[LogEvent]:
        """The events of a log, in its order. A record that changes nothing known is no event."""
        events = chain.from_iterable(self._events(items))
        return chain.from_iterable(with_handlers(events))

    def _events(self, items: Iterable[LogItem]) -> Iterator[list[LogEvent]]:
        for item in items:
            if isinstance(item, LogRecord):
                last = self._last
                is_late = last is not None and item.time - last.time >= SILENCE_MS
                if is_late or self.cluster.previous:
                    previous = last.moment if last and is_late else None
                    self.cluster = msgspec.structs.replace(self.cluster, previous=previous)
                if item.type != "NO_OP_RECORD" or is_late or self._tells(item):
                    yield self._read(item)
                self._last = item
            elif isinstance(item, Remark):
                self._remarked(item)
            else:
                self._saved(item)

    def _tells(self, no_op: LogRecord) -> bool:
        is_first = no_op.controller_epoch != self.cluster.controller_epoch
        return is_first or not self.cluster.idles

    def _read(self, item: LogRecord) -> list[LogEvent]:
        """The events of a record: most have one, so that this is no generator."""
        if self.first is None:
            self.first, self.complete = item.moment, self.complete or item.offset == 0
        if item.controller_epoch != self.cluster.controller_epoch:
            self._begin_epoch(item)
        is_plain = self._held_back is None and item.type not in _OF_TRANSACTIONS
        events = []
        for record in (item,) if is_plain else self._let_go(item):
            replay = _REPLAYED.get(record.type)
            for before, after, incarnation in replay(self, record) if replay else ():
                events.append(LogEvent(record, self.cluster, before, after, incarnation))
        return events

    def _begin_epoch(self, record: LogRecord) -> None:
        self._change(controller_epoch=record.controller_epoch, controller_since=record.moment)
        self._change(controller_id=UNKNOWN, controller_release="")

    def _let_go(self, record: LogRecord) -> Sequence[LogRecord]:
        """Which records count now: those of a transaction count at its end, or never (KIP-868)."""
        held_back = self._held_back
        if record.type in _OF_TRANSACTIONS:
            self._held_back = [] if record.type == "BEGIN_TRANSACTION_RECORD" else None
            return (held_back or ()) if record.type == "END_TRANSACTION_RECORD" else ()
        if held_back is None or record.type == "LEADER_CHANGE":
            return (record,)
        held_back.append(record)
        return ()

    def _change(self, **fields: object) -> None:
        self.cluster = msgspec.structs.replace(self.cluster, **fields)
        self._arounds.clear()

    def _says(self, sentence: str, at: OffsetAndTime, about: PartitionState | None = None) -> None:
        names = (about.name,) if about else ()
        said = f"{sentence}."
        place = at.offset, at.time
        self._report(Finding("inconsistent", "sure", said, *place, names, event=at.offset))

    # Quorum and cluster

    def _idled(self, record: LogRecord) -> Iterable[RecordEffect]:
        # With a longer metadata.max.idle.interval.ms a silence says nothing (KIP-835).
        if 0 <= record.time - self._idle_at < SILENCE_MS and not self.cluster.idles:
            self._change(idles=True)
        self._idle_at = record.time
        return (_CLUSTER_ALONE,)

    def _controller_changed(self, record: LogRecord) -> Iterable[RecordEffect]:
        controller = record.fields.get("leaderId", UNKNOWN)
        release = self._controllers.get(controller, "")
        self._change(controller_id=controller, controller_release=release)
        return (_CLUSTER_ALONE,)

    def _controller_registered(self, record: LogRecord) -> Iterable[RecordEffect]:
        controller = record.fields["controllerId"]
        release = registered_brokers.release_of(record.fields)
        self._controllers[controller] = release
        if controller == self.cluster.controller_id:
            self._change(controller_release=release)
        return (_CLUSTER_ALONE,)

    def _feature_changed(self, record: LogRecord) -> Iterable[RecordEffect]:
        name, level = record.fields["name"], record.fields["featureLevel"]
        self._change(features={**self.cluster.features, name: level})
        return (_CLUSTER_ALONE,)

    def _configured(self, record: LogRecord) -> Iterable[RecordEffect]:
        kind, name = record.fields["resourceType"], record.fields["resourceName"]
        of_topics, of_cluster = self.cluster.topic_settings, self.cluster.cluster_settings
        if record.fields["name"] not in _KEPT_SETTINGS:
            return ()
        if kind == _TOPIC:
            settings = _set(of_topics.get(name, {}), record)
            self._change(topic_settings=with_value(of_topics, name, settings))
        elif kind == _BROKER and not name:
            self._change(cluster_settings=_set(of_cluster, record))
        else:
            return ()
        return self._all(name, record, partitions.settled)

    # Topics

    def _topic_created(self, record: LogRecord) -> Iterable[RecordEffect]:
        topic = self._topics.setdefault(record.fields["topicId"], Topic(""))
        topic.name = record.fields["name"]
        self._by_name[topic.name] = topic
        return (_CLUSTER_ALONE,)

    def _topic_removed(self, record: LogRecord) -> Iterable[RecordEffect]:
        topic = self._topics.pop(record.fields["topicId"], None)
        self._known.pop(record.fields["topicId"], None)
        if topic is None:
            return ()
        if self._by_name.get(topic.name) is topic:
            del self._by_name[topic.name]
        self._change(topic_settings=with_value(self.cluster.topic_settings, topic.name, {}))
        gone: list[RecordEffect] = [(before, None, None) for before in topic.partitions.values()]
        return gone or (_CLUSTER_ALONE,)

    def _elrs_cleared(self, record: LogRecord) -> Iterable[RecordEffect]:
        return self._all(record.fields.get("topicName", ""), record, partitions.cleared)

    def _all(
        self,
        name: str,
        record: LogRecord,
        rule: Callable[[PartitionState, OffsetAndTime, Around], PartitionState],
    ) -> Iterable[RecordEffect]:
        """What a record does to the partitions of the topic `name`, of all where it is empty."""
        done: list[RecordEffect] = []
        named = [self._by_name[name]] if name in self._by_name else []
        for topic in named if name else self._topics.values():
            around = self._around(topic.name)
            for number, before in topic.partitions.items():
                after = topic.partitions[number] = rule(before, record.moment, around)
                if after is not before:
                    done.append((before, after, None))
        return done or (_CLUSTER_ALONE,)

    # Partitions

    def _around(self, topic: str) -> Around:
        around = self._arounds.get(topic)
        if around is None:
            minimum = self.cluster.min_insync_replicas(topic)
            around = self._arounds[topic] = Around(self.cluster.incarnations, minimum, self._exact)
        return around

    def _partition_created(self, record: LogRecord) -> Iterable[RecordEffect]:
        id, number = record.fields["topicId"], record.fields["partitionId"]
        topic = self._known[id] = self._topics.setdefault(id, Topic(id))
        before = topic.partitions.get(number)
        after = partitions.created(record, topic.name, self._around(topic.name))
        if before:
            _, said = agreed(before, after)
            if said:
                self._says(f"The record has {after.name}{said}", record.moment, after)
        topic.partitions[number] = after
        return ((before, after, None),)

    def _partition_changed(self, record: LogRecord) -> Iterable[RecordEffect]:
        id, number = record.fields["topicId"], record.fields["partitionId"]
        topic = self._topics.get(id)
        before = topic.partitions.get(number) if topic else None
        if topic is None or before is None:
            self._unknown(record, (id, number), f"partition {number} of topic id {id}")
            return ()
        around = self._arounds.get(topic.name) or self._around(topic.name)
        after = partitions.changed(before, record, around)
        topic.partitions[number] = after
        return ((before, after, None),)

    def _unknown(self, record: LogRecord, key: tuple[str, int], who: str) -> None:
        """Once for each partition or broker: what follows is unknown as well."""
        if self.complete and key not in self._reported:
            if len(self._reported) < KEPT:
                self._reported.add(key)
            self._says(f"The record changes {who}, which no record before it made", record.moment)

    # Brokers

    def _registered(self, record: LogRecord) -> Iterable[RecordEffect]:
        broker = record.fields["brokerId"]
        before = self.cluster.incarnations.get(broker)
        incarnation = registered_brokers.registered(before, record, exact=self._exact)
        if before and incarnation.registered != before.registered:
            self._buried(before, record.moment)
        return self._incarnations_on(incarnation)

    def _registration_changed(self, record: LogRecord) -> Iterable[RecordEffect]:
        broker, epoch = registered_brokers.broker_of(record)
        incarnation = self.cluster.incarnations.get(broker)
        if incarnation is None or incarnation.epoch != epoch or incarnation.ended is not None:
            self._unknown(record, ("", broker), f"broker {broker} of epoch {epoch}")
            if self.complete:
                return ()
            incarnation = registered_brokers.met(record)
        return self._incarnations_on(registered_brokers.changed(incarnation, record))

    def _incarnations_on(self, incarnation: RegisteredIncarnation) -> Iterable[RecordEffect]:
        known = with_value(self.cluster.incarnations, incarnation.broker, incarnation)
        fenced = self.cluster.fenced_last
        if incarnation.fenced and incarnation.changed:
            fenced = (*(b for b in fenced if b != incarnation.broker), incarnation.broker)[-2:]
        self._change(incarnations=known, fenced_last=fenced)
        return ((None, None, incarnation),)

    def _buried(self, incarnation: RegisteredIncarnation, at: OffsetAndTime) -> None:
        if not incarnation.incarnation_id:
            return
        past = incarnation if incarnation.ended else msgspec.structs.replace(incarnation, ended=at)
        earlier = self.cluster.earlier_incarnations
        of_broker = (*earlier.get(incarnation.broker, ()), past)[-EARLIER_MAX:]
        self._change(earlier_incarnations=with_value(earlier, incarnation.broker, of_broker))

    # Gaps and checkpoints

    def _remarked(self, remark: Remark) -> None:
        self.remarks.add(remark)
        if remark.until <= remark.offset:
            return
        if self.last is not None:
            at = OffsetAndTime(remark.offset, self.last.time)
            self._says(f"The records from {remark.offset} to {remark.until - 1} are missing", at)
        self._forget()

    def _forget(self) -> None:
        """What was known before a gap may be wrong behind it."""
        self.complete, self._held_back = False, None
        for topic in self._known.values():
            topic.partitions.clear()
        self._known.clear()
        for incarnation in self.cluster.incarnations.values():
            self._buried(incarnation, self.last or incarnation.registered)
        self._change(incarnations=ClusterState().incarnations)

    def _saved(self, saved: SavedState) -> None:
        image = Replay(self._report, exact=False)
        at = OffsetAndTime(max(saved.end - 1, 0), saved.time)
        self.first = self._begun = self.first or at
        for record in saved.records:
            moved = msgspec.structs.replace(record, offset=at.offset, time=at.time)
            image._read(moved)
        self._compare(image, OffsetAndTime(saved.end, saved.time))
        fields = ("features", "topic_settings", "cluster_settings")
        if self._last is None:
            self._change(controller_epoch=saved.controller_epoch)
        self._change(**{name: getattr(image.cluster, name) for name in fields})
        self._topics, self.complete = image._topics, True
        self._by_name, self._known = image._by_name, image._known
        self._controllers |= image._controllers

    def _compare(self, image: "Replay", at: OffsetAndTime) -> None:
        """Takes what is known better into the image; says what it does not have alike."""
        replayed, has_elr = self.partitions, image.cluster.has_elr
        for state in image.partitions.values():
            mine = replayed.pop(state.key, None)
            kept, said = agreed(mine, state, has_elr=has_elr)
            image._topics[state.key.topic_id].partitions[state.key.partition] = kept
            if said and self.complete:
                self._says(f"The checkpoint has {state.name}{said}", at, state)
        for state in replayed.values() if self.complete else ():
            self._says(f"The checkpoint does not have {state.name}", at, state)
        registered = self.cluster.incarnations
        for broker, incarnation in image.cluster.incarnations.items():
            best, said = agreed(registered.get(broker), incarnation)
            registered = with_value(registered, broker, best)
            if said and self.complete:
                self._says(f"The checkpoint has broker {broker}{said}", at)
        self._change(incarnations=registered)


def _set(settings: Mapping[str, str], record: LogRecord) -> dict[str, str]:
    name, value = record.fields["name"], record.fields.get("value")
    left = {key: old for key, old in settings.items() if key != name}
    return left if value is None else {**left, name: value}


_REPLAYED: dict[str, Callable[[Replay, LogRecord], Iterable[RecordEffect]]] = {
    "NO_OP_RECORD": Replay._idled,
    "LEADER_CHANGE": Replay._controller_changed,
    "REGISTER_CONTROLLER_RECORD": Replay._controller_registered,
    "FEATURE_LEVEL_RECORD": Replay._feature_changed,
    "CONFIG_RECORD": Replay._configured,
    "TOPIC_RECORD": Replay._topic_created,
    "REMOVE_TOPIC_RECORD": Replay._topic_removed,
    "CLEAR_ELR_RECORD": Replay._elrs_cleared,
    "PARTITION_RECORD": Replay._partition_created,
    "PARTITION_CHANGE_RECORD": Replay._partition_changed,
    "REGISTER_BROKER_RECORD": Replay._registered,
    "UNREGISTER_BROKER_RECORD": Replay._registration_changed,
    "FENCE_BROKER_RECORD": Replay._registration_changed,
    "UNFENCE_BROKER_RECORD": Replay._registration_changed,
    "BROKER_REGISTRATION_CHANGE_RECORD": Replay._registration_changed,
}

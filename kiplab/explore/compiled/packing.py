"""Normal forms of the level "partition" (normal_partition.py) as words, and back."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message, MessageName, Observed
from ...engine.truth import truth
from ...protocol import ids
from ...protocol.kraft.controller_state import Controller, HeartbeatState
from ...protocol.log import EpochStart, Log
from ...protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    IsrMember,
    MetadataUpdate,
)
from ...protocol.registrations import PartitionRegistration, Registration
from ...protocol.replica import broker_state
from ...protocol.replica.broker_state import Broker, Replica
from ..levels import normal_partition as forms
from ..search_terms import Budgets
from . import word_layout as at
from .fitting import Encoding, fitting
from .word_layout import get, put

StateWords = tuple[int, ...]


class Packing:
    """To the words of one search; Unpacking goes back."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding, self.numbers = encoding, encoding.numbers

    def pack(self, cluster: Cluster, left: Budgets) -> StateWords:
        """Ten words. Raises NotCompiledError for what they have no room for."""
        words = [0] * at.WORDS
        for number, node in enumerate(cluster.brokers):
            self._put_broker(words, number, node)
        known = cluster.observed[0]
        put(words, at.COMMITTED_LOG, 0, self._log(known.committed))
        put(words, at.DAMAGED, 0, self._set(known.damaged))
        put(words, at.EXCUSED, 0, known.excused)
        self._put_controller(words, cluster, left)
        requests = (m for m in cluster.messages if isinstance(m.body, AlterPartitionRequest))
        packed = sorted(self._request(m) for m in requests)
        fitting("number of AlterPartition requests in flight", len(packed), at.REQUESTS)
        for number, request in enumerate(packed):
            put(words, at.IN_FLIGHT, number // 2, request, number % 2)
        return tuple(words)

    def _set(self, members: Iterable[ids.BrokerId]) -> int:
        return sum(1 << self.encoding.number(b) for b in members)

    def _incarnation(self, incarnation: int | None) -> int:
        if incarnation in (None, ids.NO_BROKER_EPOCH):
            return 0
        return fitting("life", incarnation or 0, at.MOST_LIFE)

    def _log(self, log: Log) -> int:
        end = self.numbers.offsets.down(log.end)
        word = fitting("log end", end, at.MOST_OFFSET)
        fitting("number of epochs in a log", len(log.epochs), at.ENTRIES)
        for number, entry in enumerate(log.epochs):
            start = self.numbers.offsets.down(entry.offset)
            packed = self.numbers.epochs.down(entry.epoch) | start << 4
            word |= packed << at.FIRST_ENTRY + at.ENTRY_BITS * number
        return word

    def _put_broker(self, words: list[int], number: int, node: Broker) -> None:
        put(words, at.LOG_OF, number, self._log(node.durable.replicas[0].log))
        put(words, at.LIFE, number, self._incarnation(node.incarnation))
        if node.process is None:
            return
        replica = node.process.replicas[0]
        put(words, at.UP, number, 1)
        put(words, at.MARK, number, self.numbers.offsets.down(replica.high_watermark))
        put(words, at.LEADER, number, self.encoding.number(replica.leader))
        put(words, at.EPOCH, number, self.numbers.epochs.down(replica.leader_epoch))
        if replica.leading is not None and node.process.image is not None:
            self._put_leader(words, number, node.id, replica, replica.leading)
            self._put_view(words, number, node.id, node.process.image)

    def _put_leader(
        self,
        words: list[int],
        number: int,
        id: ids.BrokerId,
        replica: Replica,
        leading: broker_state.Leading,
    ) -> None:
        put(words, at.LEADS, number, 1)
        version = self.numbers.versions.down(replica.partition_epoch)
        put(words, at.PARTITION_EPOCH, number, version)
        put(words, at.START, number, self.numbers.offsets.down(leading.start_offset))
        put(words, at.ISR, number, self._set(leading.isr_state.isr))
        if leading.isr_state.sent is not None:
            observed, wire, members = self._members(id, leading.isr_state.sent)
            put(words, at.SENT, number, 1)
            put(words, at.PROPOSED, number, members)
            put(words, at.SENT_OBSERVED, number, observed)
            put(words, at.SENT_WIRE, number, wire)
        for remote in leading.remotes:
            place = self.encoding.place(id, remote.broker)
            end = -1 if remote.end < 0 else self.numbers.offsets.down(remote.end)
            put(words, at.REMOTE_END, number, end + 1, place)
            put(words, at.REMOTE_LIFE, number, self._incarnation(remote.observed), place)

    def _put_view(
        self, words: list[int], number: int, id: ids.BrokerId, update: MetadataUpdate
    ) -> None:
        version = self.numbers.versions.down(update.partitions[0].partition_epoch)
        put(words, at.VIEW_EPOCH, number, version)
        for other in update.registrations:
            place = self.encoding.place(id, other.broker)
            put(words, at.VIEW_LIFE, number, self._incarnation(other.epoch), place)
            put(words, at.VIEW_FENCED, number, other.fenced, place)

    def _members(self, sender: ids.BrokerId, item: AlterPartitionItem) -> tuple[int, int, int]:
        observed = wire = 0
        for member in item.isr:
            if member.broker != sender:
                shift = 3 * self.encoding.place(sender, member.broker)
                observed |= self._incarnation(member.observed) << shift
                wire |= self._incarnation(member.epoch) << shift
        return observed, wire, self._set(m.broker for m in item.isr)

    def _request(self, message: Message) -> int:
        body = message.body
        assert isinstance(body, AlterPartitionRequest)
        (item,) = body.items
        observed, wire, members = self._members(body.broker, item)
        return (
            self.encoding.number(body.broker) << at.R_SENDER
            | self._incarnation(message.name.incarnation) << at.R_LIFE
            | self.numbers.epochs.down(item.leader_epoch) << at.R_EPOCH
            | self.numbers.versions.down(item.partition_epoch) << at.R_PARTITION_EPOCH
            | members << at.R_MEMBERS
            | observed << at.R_OBSERVED
            | wire << at.R_WIRE
        )

    def _put_controller(self, words: list[int], cluster: Cluster, left: Budgets) -> None:
        state, known = truth(cluster).partitions[0], truth(cluster).registrations
        put(words, at.FENCED, 0, self._set(r.broker for r in known if r.fenced))
        put(words, at.C_LEADER, 0, self.encoding.number(state.leader))
        put(words, at.C_EPOCH, 0, self.numbers.epochs.down(state.leader_epoch))
        put(words, at.C_PARTITION_EPOCH, 0, self.numbers.versions.down(state.partition_epoch))
        put(words, at.C_ISR, 0, self._set(state.isr))
        for broker, epoch in cluster.observed[0].isr_epochs:
            put(words, at.LIVES, 0, self._incarnation(epoch), self.encoding.number(broker))
        for number, budget in enumerate(left):
            put(words, at.BUDGETS, 0, fitting("bound", budget, at.FOUR), number)


class Unpacking:
    """From the words of one search; Packing makes them."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding, self.numbers = encoding, encoding.numbers
        self.start, self.state, self.ids = encoding.start, encoding.state, encoding.ids
        features, brokers = encoding.start.features, encoding.start.brokers
        self.says_incarnation = features.fetch_version() >= 15
        self.version = features.alter_partition_version(brokers[0].id)
        self.first_incarnation = {b.id: b.incarnation for b in brokers}
        self.checkpoints = {b.id: b.durable.replicas[0].checkpoint for b in brokers}

    def unpack(self, words: StateWords) -> tuple[Cluster, Budgets]:
        """The normal form that words stand for, and what is left of the bounds."""
        packed = (get(words, at.IN_FLIGHT, n // 2, n % 2) for n in range(at.REQUESTS))
        requests = tuple(self._message(request) for request in packed if request)
        sent = {m.name[:2]: m for m in requests}
        parts = forms.Parts(
            controller=self._controller(words),
            brokers=tuple(self._broker(words, number, sent) for number in range(len(self.ids))),
            requests=requests,
            observed=(self._observed(words),),
        )
        left = tuple(get(words, at.BUDGETS, 0, number) for number in range(3))
        return forms.whole(self.start, parts), left

    def _log(self, word: int) -> Log:
        entries = []
        for number in range(at.ENTRIES):
            packed = word >> at.FIRST_ENTRY + at.ENTRY_BITS * number
            if packed & at.FOUR:
                epoch = self.numbers.epochs.up(packed & at.FOUR)
                start = self.numbers.offsets.up(packed >> 4 & at.FOUR)
                entries.append(EpochStart(ids.LeaderEpoch(epoch), ids.Offset(start)))
        end = ids.Offset(self.numbers.offsets.up(word & at.FOUR))
        return Log(tuple(entries), end, end)

    def _controller(self, words: StateWords) -> Controller:
        registrations, heartbeats = [], []
        for number, id in enumerate(self.ids):
            fenced = bool(get(words, at.FENCED) >> number & 1)
            registrations.append(_registration(id, get(words, at.LIFE, number), fenced))
            heartbeats.append(HeartbeatState(id, fenced=fenced, metadata_offset=forms.BEHIND))
        state = replace(
            self.state,
            leader=self.encoding.broker(get(words, at.C_LEADER)),
            leader_epoch=self._epoch(get(words, at.C_EPOCH)),
            partition_epoch=self._version(get(words, at.C_PARTITION_EPOCH)),
            isr=self.encoding.members(get(words, at.C_ISR)),
        )
        controller = replace(
            forms.kraft_controller(self.start),
            registrations=tuple(registrations),
            partitions=(state,),
            heartbeats=tuple(heartbeats),
        )
        return replace(controller, contacts=forms.contacts(controller, self.start.features))

    def _broker(
        self,
        words: StateWords,
        number: int,
        sent: Mapping[tuple[ids.BrokerId, ids.Incarnation], Message],
    ) -> Broker:
        id, incarnation = self.ids[number], ids.Incarnation(get(words, at.LIFE, number))
        up, leads = get(words, at.UP, number), get(words, at.LEADS, number)
        untouched = up and incarnation == self.first_incarnation[id]
        checkpoint = self.checkpoints[id] if untouched else ids.Offset(0)
        log = self._log(get(words, at.LOG_OF, number))
        durable = broker_state.Durable(
            (broker_state.DurableReplica(self.state.name, log, checkpoint),)
        )
        if not up:
            return Broker(id, incarnation, durable)
        request = sent.get((id, incarnation))
        body = request.body if request is not None else None
        items = body.items if isinstance(body, AlterPartitionRequest) else ()
        process = broker_state.Volatile(
            lifecycle=broker_state.Lifecycle.RUNNING,
            epoch=ids.BrokerEpoch(incarnation),
            ready_to_unfence=True,
            image=self._image(words, number) if leads else forms.NOTHING_KNOWN,
            published=True,
            replicas=(self._replica(words, number),),
            items=items,
            in_flight=items,
        )
        return Broker(id, incarnation, durable, process)

    def _replica(self, words: StateWords, number: int) -> Replica:
        leads, version = get(words, at.LEADS, number), get(words, at.PARTITION_EPOCH, number)
        return Replica(
            partition=self.state.name,
            leader=self.encoding.broker(get(words, at.LEADER, number)),
            leader_epoch=self._epoch(get(words, at.EPOCH, number)),
            partition_epoch=self._version(version) if leads else ids.PartitionEpoch(-1),
            replicas=self.state.replicas,
            high_watermark=self._offset(get(words, at.MARK, number)),
            min_insync_replicas=self.state.min_insync_replicas,
            leading=self._leading(words, number) if leads else None,
        )

    def _leading(self, words: StateWords, number: int) -> broker_state.Leading:
        fields = at.EPOCH, at.PARTITION_EPOCH, at.PROPOSED, at.SENT_OBSERVED, at.SENT_WIRE
        sent = None
        if get(words, at.SENT, number):
            proposal = (get(words, field, number) for field in fields)
            sent = self._item(number, get(words, at.LIFE, number), *proposal)
        others = [b for b in self.state.replicas if b != self.ids[number]]
        return broker_state.Leading(
            start_offset=self._offset(get(words, at.START, number)),
            isr_state=broker_state.IsrState(
                self.encoding.members(get(words, at.ISR, number)), sent
            ),
            remotes=tuple(self._remote(words, number, b) for b in others),
        )

    def _remote(
        self, words: StateWords, number: int, other: ids.BrokerId
    ) -> broker_state.RemoteReplica:
        place = self.encoding.place(self.ids[number], other)
        end = get(words, at.REMOTE_END, number, place) - 1
        observed = _epoch(get(words, at.REMOTE_LIFE, number, place))
        broker_epoch = observed if self.says_incarnation else ids.NO_BROKER_EPOCH
        return broker_state.RemoteReplica(
            other,
            ids.Offset(end) if end < 0 else self._offset(end),
            epoch=None if observed == ids.NO_BROKER_EPOCH else broker_epoch,
            observed=observed,
        )

    def _image(self, words: StateWords, number: int) -> MetadataUpdate:
        registrations = []
        for other in self.ids:
            if other != self.ids[number]:
                place = self.encoding.place(self.ids[number], other)
                fenced = bool(get(words, at.VIEW_FENCED, number, place))
                incarnation = get(words, at.VIEW_LIFE, number, place)
                registrations.append(_registration(other, incarnation, fenced))
        registration = PartitionRegistration(
            self.state.name,
            (),
            (),
            ids.NO_LEADER,
            partition_epoch=self._version(get(words, at.VIEW_EPOCH, number)),
        )
        return MetadataUpdate(
            offset=forms.LEVEL, registrations=tuple(registrations), partitions=(registration,)
        )

    def _item(
        self,
        number: int,
        incarnation: int,
        epoch: int,
        version: int,
        members: int,
        observed: int,
        wire: int,
    ) -> AlterPartitionItem:
        isr, id = [], self.ids[number]
        for member in self.encoding.members(members):
            shift = 3 * self.encoding.place(id, member)
            epochs = (
                (_epoch(incarnation),) * 2
                if member == id
                else (_epoch(wire >> shift & at.THREE), _epoch(observed >> shift & at.THREE))
            )
            isr.append(IsrMember(member, *epochs))
        return AlterPartitionItem(
            partition=self.state.name,
            leader_epoch=self._epoch(epoch),
            partition_epoch=self._version(version),
            isr=tuple(isr),
        )

    def _message(self, packed: int) -> Message:
        number, incarnation = packed >> at.R_SENDER, packed >> at.R_LIFE & at.THREE
        item = self._item(
            number,
            incarnation,
            packed >> at.R_EPOCH & at.FOUR,
            packed >> at.R_PARTITION_EPOCH & at.FOUR,
            packed >> at.R_MEMBERS & at.THREE,
            packed >> at.R_OBSERVED,
            packed >> at.R_WIRE,
        )
        id = self.ids[number]
        return Message(
            name=MessageName(id, ids.Incarnation(incarnation), "alter-partition", 1),
            receiver=ids.CONTROLLER,
            receiver_incarnation=ids.Incarnation(0),
            lane="alter-partition",
            body=AlterPartitionRequest(
                version=self.version,
                broker=id,
                broker_epoch=ids.BrokerEpoch(incarnation),
                items=(item,),
            ),
        )

    def _observed(self, words: StateWords) -> Observed:
        lives = [(b, _epoch(get(words, at.LIVES, 0, n))) for n, b in enumerate(self.ids)]
        return Observed(
            self.state.name,
            self._log(get(words, at.COMMITTED_LOG)),
            tuple((b, epoch) for b, epoch in lives if epoch != ids.NO_BROKER_EPOCH),
            self.encoding.members(get(words, at.DAMAGED)),
            bool(get(words, at.EXCUSED)),
        )

    def _offset(self, small: int) -> ids.Offset:
        return ids.Offset(self.numbers.offsets.up(small))

    def _epoch(self, small: int) -> ids.LeaderEpoch:
        return ids.LeaderEpoch(self.numbers.epochs.up(small))

    def _version(self, small: int) -> ids.PartitionEpoch:
        return ids.PartitionEpoch(self.numbers.versions.up(small))


def _registration(broker: ids.BrokerId, incarnation: int, fenced: bool) -> Registration:
    written = ids.MetadataOffset(incarnation)
    return Registration(
        broker,
        ids.BrokerEpoch(incarnation),
        ids.Incarnation(incarnation),
        fenced,
        record_offset=written,
    )


def _epoch(incarnation: int) -> ids.BrokerEpoch:
    return ids.BrokerEpoch(incarnation) if incarnation else ids.NO_BROKER_EPOCH

"""Normal forms of the level "partition" (normal_partition.py) as words, and back."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message, MessageName, Observed
from ...protocol import ids, messages
from ...protocol.kraft.controller_state import Controller, HeartbeatState
from ...protocol.log import EpochStart, Log
from ...protocol.replica import broker_state
from ...protocol.replica.broker_state import Broker, Replica
from ..levels import normal_partition as forms
from ..search_terms import Budgets
from . import word_layout as at
from .fitting import SmallNumbers, check_play, fitting
from .word_layout import get, put

StateWords = tuple[int, ...]
ItemFields = tuple[at.Field, at.Field, at.Field, at.Field, at.Field]
"""Where an AlterPartition item is: leader epoch, partition epoch, members, incarnations of the two
others as they fetched, and as on the wire."""
OF_PENDING: ItemFields = (
    *(at.EPOCH, at.PARTITION_EPOCH, at.PROPOSED),
    *(at.SENT_OBSERVED, at.SENT_WIRE),
)
OF_REQUEST: ItemFields = (
    *((0, at.R_EPOCH, at.FOUR, 0), (0, at.R_PARTITION_EPOCH, at.FOUR, 0)),
    *((0, at.R_MEMBERS, at.THREE, 0), (0, at.R_OBSERVED, at.SIX, 0), (0, at.R_WIRE, at.SIX, 0)),
)
"""The same in a request, which is a word by itself."""


class WordScale(NamedTuple):
    """How a value stands in a word (`down`), and what it is there (`up`), as NumberScale."""

    down: Callable[[Any], int]
    up: Callable[[int], Any]


class Encoding:
    """What all words of one search have in common: its play's brokers, numbers and rules.

    `start` is the play's normal form. Raises NotCompiledError with a reason for people.
    """

    def __init__(self, start: Cluster, bounds: Mapping[str, int]) -> None:
        check_play(start, bounds)
        self.start, self.controller = start, forms.kraft_controller(start)
        (self.state,) = self.controller.partitions
        self.brokers = {b.id: b for b in start.brokers}
        self.ids = [*self.brokers]
        numbers = SmallNumbers(start, bounds["writes"])
        self.offsets, self.epochs, self.versions = numbers.offsets, numbers.epochs, numbers.versions
        self.says_incarnation = start.features.fetch_version() >= 15
        self.version = start.features.alter_partition_version(self.ids[0])
        broker, members = WordScale(self.number, self.broker), WordScale(self.bits, self.members)
        self.of_partition = (
            ("leader", at.C_LEADER, broker),
            ("leader_epoch", at.C_EPOCH, self.epochs),
            ("partition_epoch", at.C_PARTITION_EPOCH, self.versions),
            ("isr", at.C_ISR, members),
        )
        self.of_replica = (
            ("leader", at.LEADER, broker),
            ("leader_epoch", at.EPOCH, self.epochs),
            ("high_watermark", at.MARK, self.offsets),
        )
        self.of_observer = (
            ("committed", at.COMMITTED_LOG, WordScale(self._log_word, self._log)),
            ("damaged", at.DAMAGED, members),
            ("excused", at.EXCUSED, WordScale(int, bool)),
        )

    # --- brokers by number ------------------------------------------------------------------------

    def number(self, broker: ids.BrokerId) -> int:
        """A broker as the words have it."""
        return at.NOBODY if broker == ids.NO_LEADER else self.ids.index(broker)

    def broker(self, number: int) -> ids.BrokerId:
        """The broker of that number."""
        return ids.NO_LEADER if number == at.NOBODY else self.ids[number]

    def bits(self, members: Iterable[ids.BrokerId]) -> int:
        """A set of brokers."""
        return sum(1 << self.ids.index(b) for b in members)

    def members(self, bits: int) -> tuple[ids.BrokerId, ...]:
        """The brokers whose bits are set."""
        return tuple(b for number, b in enumerate(self.ids) if bits >> number & 1)

    def place(self, id: ids.BrokerId, other: ids.BrokerId) -> int:
        """Where `other` stands in a table about the two other brokers, at broker `id`."""
        return (self.ids.index(other) - self.ids.index(id) + at.BROKERS - 1) % at.BROKERS

    # --- to words ---------------------------------------------------------------------------------

    def pack(self, cluster: Cluster, left: Budgets) -> StateWords:
        """Ten words. Raises NotCompiledError for what they have no room for."""
        words, controller = [0] * at.WORDS, forms.kraft_controller(cluster)
        for number, node in enumerate(cluster.brokers):
            self._put_broker(words, number, node)
        fenced = (r.broker for r in controller.registrations if r.fenced)
        put(words, at.FENCED, 0, self.bits(fenced))
        _put_all(words, self.of_partition, 0, controller.partitions[0])
        (observed,) = cluster.observed
        _put_all(words, self.of_observer, 0, observed)
        for broker, epoch in observed.isr_epochs:
            put(words, at.LIVES, 0, _incarnation(epoch), self.number(broker))
        for number, budget in enumerate(left):
            put(words, at.BUDGETS, 0, fitting("bound", budget, at.FOUR), number)
        requests = sorted(
            self._request(m) for m in cluster.messages if m.name.kind == "alter-partition"
        )
        fitting("number of AlterPartition requests in flight", len(requests), at.REQUESTS)
        for number, request in enumerate(requests):
            put(words, at.IN_FLIGHT, number // 2, request, number % 2)
        return tuple(words)

    def _log_word(self, log: Log) -> int:
        word = fitting("log end", self.offsets.down(log.end), at.MOST_OFFSET)
        fitting("number of epochs in a log", len(log.epochs), at.ENTRIES)
        for number, entry in enumerate(log.epochs):
            packed = self.epochs.down(entry.epoch) | self.offsets.down(entry.offset) << 4
            word |= packed << at.FIRST_ENTRY + at.ENTRY_BITS * number
        return word

    def _put_broker(self, words: list[int], number: int, node: Broker) -> None:
        put(words, at.LOG_OF, number, self._log_word(node.durable.replicas[0].log))
        put(words, at.LIFE, number, _incarnation(node.incarnation))
        if node.process is None:
            return
        (replica,) = node.process.replicas
        put(words, at.UP, number, 1)
        _put_all(words, self.of_replica, number, replica)
        if replica.leading is None or node.process.image is None:
            return
        self._put_leader(words, number, replica, replica.leading)
        (partition,) = node.process.image.partitions
        put(words, at.VIEW_EPOCH, number, self.versions.down(partition.partition_epoch))
        for other in node.process.image.registrations:
            place = self.place(node.id, other.broker)
            put(words, at.VIEW_LIFE, number, _incarnation(other.epoch), place)
            put(words, at.VIEW_FENCED, number, other.fenced, place)

    def _put_leader(
        self, words: list[int], number: int, replica: Replica, leading: broker_state.Leading
    ) -> None:
        put(words, at.LEADS, number, 1)
        put(words, at.PARTITION_EPOCH, number, self.versions.down(replica.partition_epoch))
        put(words, at.START, number, self.offsets.down(leading.start_offset))
        put(words, at.ISR, number, self.bits(leading.isr_state.isr))
        if leading.isr_state.sent is not None:
            put(words, at.SENT, number, 1)
            self._put_members(words, OF_PENDING, number, number, leading.isr_state.sent)
        for remote in leading.remotes:
            place = self.place(self.ids[number], remote.broker)
            end = -1 if remote.end < 0 else self.offsets.down(remote.end)
            put(words, at.REMOTE_END, number, end + 1, place)
            put(words, at.REMOTE_LIFE, number, _incarnation(remote.observed), place)

    def _put_members(
        self,
        words: list[int],
        fields: ItemFields,
        row: int,
        sender: int,
        item: messages.AlterPartitionItem,
    ) -> None:
        observed = wire = 0
        for member in item.isr:
            if member.broker != self.ids[sender]:
                shift = 3 * self.place(self.ids[sender], member.broker)
                observed |= _incarnation(member.observed) << shift
                wire |= _incarnation(member.epoch) << shift
        members = self.bits(m.broker for m in item.isr)
        for field, value in zip(fields[2:], (members, observed, wire), strict=True):
            put(words, field, row, value)

    def _request(self, message: Message) -> int:
        body = message.body
        assert isinstance(body, messages.AlterPartitionRequest)
        (item,), sender = body.items, self.number(body.broker)
        word = [sender << at.R_SENDER | _incarnation(message.name.incarnation) << at.R_LIFE]
        put(word, OF_REQUEST[0], 0, self.epochs.down(item.leader_epoch))
        put(word, OF_REQUEST[1], 0, self.versions.down(item.partition_epoch))
        self._put_members(word, OF_REQUEST, 0, sender, item)
        return word[0]

    # --- from words -------------------------------------------------------------------------------

    def unpack(self, words: StateWords) -> tuple[Cluster, Budgets]:
        """The normal form that words stand for, and what is left of the bounds."""
        packed = (get(words, at.IN_FLIGHT, n // 2, n % 2) for n in range(at.REQUESTS))
        requests = {
            m.name[:2]: m for m in (self._message(request) for request in packed if request)
        }
        lives = [(b, _epoch(get(words, at.LIVES, 0, n))) for n, b in enumerate(self.ids)]
        observed = Observed(
            self.state.name,
            isr_epochs=tuple((b, epoch) for b, epoch in lives if epoch != ids.NO_BROKER_EPOCH),
            **_all(words, self.of_observer),
        )
        parts = forms.Parts(
            controller=self._controller(words),
            brokers=tuple(self._broker(words, number, requests) for number in range(len(self.ids))),
            requests=tuple(requests.values()),
            observed=(observed,),
        )
        left = tuple(get(words, at.BUDGETS, 0, number) for number in range(3))
        return forms.whole(self.start, parts), left

    def _log(self, word: int) -> Log:
        entries = []
        for number in range(at.ENTRIES):
            packed = word >> at.FIRST_ENTRY + at.ENTRY_BITS * number
            if packed & at.FOUR:
                epoch = self.epochs.up(packed & at.FOUR)
                start = self.offsets.up(packed >> 4 & at.FOUR)
                entries.append(EpochStart(ids.LeaderEpoch(epoch), ids.Offset(start)))
        end = ids.Offset(self.offsets.up(word & at.FOUR))
        return Log(tuple(entries), end, end)

    def _controller(self, words: StateWords) -> Controller:
        fenced = get(words, at.FENCED)
        registrations = [
            forms.registered(id, get(words, at.LIFE, number), fenced=bool(fenced >> number & 1))
            for number, id in enumerate(self.ids)
        ]
        controller = replace(
            self.controller,
            registrations=tuple(registrations),
            partitions=(replace(self.state, **_all(words, self.of_partition)),),
            heartbeats=tuple(
                HeartbeatState(r.broker, fenced=r.fenced, metadata_offset=forms.BEHIND)
                for r in registrations
            ),
        )
        return replace(controller, contacts=forms.contacts(controller, self.start.features))

    def _broker(
        self,
        words: StateWords,
        number: int,
        requests: Mapping[tuple[ids.BrokerId, ids.Incarnation], Message],
    ) -> Broker:
        id, incarnation = self.ids[number], ids.Incarnation(get(words, at.LIFE, number))
        up, first = get(words, at.UP, number), self.brokers[id]
        untouched = up and incarnation == first.incarnation
        checkpoint = first.durable.replicas[0].checkpoint if untouched else ids.Offset(0)
        log = self._log(get(words, at.LOG_OF, number))
        kept = broker_state.DurableReplica(self.state.name, log, checkpoint)
        durable = broker_state.Durable((kept,))
        if not up:
            return Broker(id, incarnation, durable)
        body = requests[id, incarnation].body if (id, incarnation) in requests else None
        items = body.items if isinstance(body, messages.AlterPartitionRequest) else ()
        process = forms.running(
            ids.BrokerEpoch(incarnation),
            image=self._image(words, number) if get(words, at.LEADS, number) else None,
            replicas=(self._replica(words, number),),
            items=items,
            in_flight=items,
        )
        return Broker(id, incarnation, durable, process)

    def _replica(self, words: StateWords, number: int) -> Replica:
        leads, version = get(words, at.LEADS, number), get(words, at.PARTITION_EPOCH, number)
        return Replica(
            partition=self.state.name,
            partition_epoch=ids.PartitionEpoch(self.versions.up(version) if leads else -1),
            replicas=self.state.replicas,
            min_insync_replicas=self.state.min_insync_replicas,
            leading=self._leading(words, number) if leads else None,
            **_all(words, self.of_replica, number),
        )

    def _leading(self, words: StateWords, number: int) -> broker_state.Leading:
        sent = None
        if get(words, at.SENT, number):
            sent = self._item(words, OF_PENDING, number, number, get(words, at.LIFE, number))
        others = [b for b in self.state.replicas if b != self.ids[number]]
        return broker_state.Leading(
            start_offset=ids.Offset(self.offsets.up(get(words, at.START, number))),
            isr_state=broker_state.IsrState(self.members(get(words, at.ISR, number)), sent),
            remotes=tuple(self._remote(words, number, b) for b in others),
        )

    def _remote(
        self, words: StateWords, number: int, other: ids.BrokerId
    ) -> broker_state.RemoteReplica:
        place = self.place(self.ids[number], other)
        end = get(words, at.REMOTE_END, number, place) - 1
        observed = _epoch(get(words, at.REMOTE_LIFE, number, place))
        broker_epoch = observed if self.says_incarnation else ids.NO_BROKER_EPOCH
        return broker_state.RemoteReplica(
            other,
            ids.Offset(end if end < 0 else self.offsets.up(end)),
            epoch=None if observed == ids.NO_BROKER_EPOCH else broker_epoch,
            observed=observed,
        )

    def _image(self, words: StateWords, number: int) -> messages.MetadataUpdate:
        registrations = []
        for other in self.ids:
            if other != self.ids[number]:
                place = self.place(self.ids[number], other)
                incarnation = get(words, at.VIEW_LIFE, number, place)
                fenced = bool(get(words, at.VIEW_FENCED, number, place))
                registrations.append(forms.registered(other, incarnation, fenced=fenced))
        version = ids.PartitionEpoch(self.versions.up(get(words, at.VIEW_EPOCH, number)))
        return forms.image_of_leader(registrations, [(self.state.name, version)])

    def _item(
        self,
        words: StateWords,
        fields: ItemFields,
        row: int,
        sender: int,
        incarnation: int,
    ) -> messages.AlterPartitionItem:
        epoch, version, members, observed, wire = (get(words, field, row) for field in fields)
        isr, id = [], self.ids[sender]
        for member in self.members(members):
            shift = 3 * self.place(id, member)
            epochs = (
                (_epoch(incarnation),) * 2
                if member == id
                else (_epoch(wire >> shift & at.THREE), _epoch(observed >> shift & at.THREE))
            )
            isr.append(messages.IsrMember(member, *epochs))
        return messages.AlterPartitionItem(
            partition=self.state.name,
            leader_epoch=ids.LeaderEpoch(self.epochs.up(epoch)),
            partition_epoch=ids.PartitionEpoch(self.versions.up(version)),
            isr=tuple(isr),
        )

    def _message(self, packed: int) -> Message:
        sender, incarnation = packed >> at.R_SENDER, packed >> at.R_LIFE & at.THREE
        id = self.ids[sender]
        return Message(
            name=MessageName(id, ids.Incarnation(incarnation), "alter-partition", 1),
            receiver=ids.CONTROLLER,
            receiver_incarnation=ids.Incarnation(0),
            lane="alter-partition",
            body=messages.AlterPartitionRequest(
                version=self.version,
                broker=id,
                broker_epoch=ids.BrokerEpoch(incarnation),
                items=(self._item((packed,), OF_REQUEST, 0, sender, incarnation),),
            ),
        )


WordFields = Iterable[tuple[str, at.Field, Any]]
"""(name of a struct's field, where it stands in the words, its scale)."""


def _put_all(words: list[int], fields: WordFields, broker: int, struct: Any) -> None:
    for name, field, scale in fields:
        put(words, field, broker, scale.down(getattr(struct, name)))


def _all(words: StateWords, fields: WordFields, broker: int = 0) -> dict[str, Any]:
    return {name: scale.up(get(words, field, broker)) for name, field, scale in fields}


def _incarnation(incarnation: int | None) -> int:
    if incarnation in (None, ids.NO_BROKER_EPOCH):
        return 0
    return fitting("life", incarnation or 0, at.MOST_LIFE)


def _epoch(incarnation: int) -> ids.BrokerEpoch:
    return ids.BrokerEpoch(incarnation) if incarnation else ids.NO_BROKER_EPOCH

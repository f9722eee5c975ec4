"""Ints of the level "partition" as normal forms (word_layout.py, normal_partition.py)."""

from collections.abc import Mapping

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message, MessageName, Observed
from ...protocol.ids import (
    CONTROLLER,
    NO_BROKER_EPOCH,
    NO_LEADER,
    BrokerEpoch,
    BrokerId,
    Incarnation,
    LeaderEpoch,
    MetadataOffset,
    Offset,
    PartitionEpoch,
)
from ...protocol.kraft.controller_state import Controller, HeartbeatState
from ...protocol.log import EpochStart, Log
from ...protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    IsrMember,
    MetadataUpdate,
)
from ...protocol.registrations import PartitionRegistration, Registration
from ...protocol.replica.broker_state import (
    Broker,
    Durable,
    DurableReplica,
    IsrState,
    Leading,
    Lifecycle,
    RemoteReplica,
    Replica,
    Volatile,
)
from ..levels import normal_partition as forms
from ..search_terms import Budgets
from . import word_layout as at
from .fitting import Encoding


class Unpacking:
    """From the words of one search; packing.py makes them."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding, self.numbers = encoding, encoding.numbers
        self.start, self.state, self.ids = encoding.start, encoding.state, encoding.ids
        features, brokers = encoding.start.features, encoding.start.brokers
        self.says_incarnation = features.fetch_version() >= 15
        self.version = features.alter_partition_version(brokers[0].id)
        self.first_incarnation = {b.id: b.incarnation for b in brokers}
        self.checkpoints = {b.id: b.durable.replicas[0].checkpoint for b in brokers}

    def unpack(self, words: tuple[int, ...]) -> tuple[Cluster, Budgets]:
        """The normal form that words stand for, and what is left of the bounds."""
        held = words[at.CONTROLLER]
        requests = self._requests(words)
        sent = {m.name[:2]: m for m in requests}
        controller = self._controller(words)
        found = forms.Parts(
            controller=controller,
            brokers=tuple(self._broker(words, number, sent) for number in range(len(self.ids))),
            requests=requests,
            observed=(self._observed(words),),
        )
        left = tuple((held >> at.BUDGETS + 4 * number) & at.FOUR for number in range(3))
        return forms.whole(self.start, found), left

    def _log_of(self, word: int) -> Log:
        entries = []
        for number in range(at.ENTRIES):
            packed = word >> at.FIRST_ENTRY + at.ENTRY_BITS * number
            if packed & at.FOUR:
                epoch = self.numbers.epochs.up(packed & at.FOUR)
                start = self.numbers.offsets.up(packed >> 4 & at.FOUR)
                entries.append(EpochStart(LeaderEpoch(epoch), Offset(start)))
        end = Offset(self.numbers.offsets.up(word & at.FOUR))
        return Log(tuple(entries), end, end)

    def _controller(self, words: tuple[int, ...]) -> Controller:
        word = words[at.CONTROLLER]
        registrations, heartbeats = [], []
        for number, id in enumerate(self.ids):
            incarnation = words[at.LOG + number] >> at.LIFE & at.THREE
            fenced = bool(word >> at.FENCED + number & 1)
            registrations.append(_registration(id, incarnation, fenced))
            heartbeats.append(HeartbeatState(id, fenced=fenced, metadata_offset=forms.BEHIND))
        state = replace(
            self.state,
            leader=self.encoding.broker(word >> at.C_LEADER & at.TWO),
            leader_epoch=LeaderEpoch(self.numbers.epochs.up(word >> at.C_EPOCH & at.FOUR)),
            partition_epoch=self._version(word >> at.C_PARTITION_EPOCH),
            isr=self.encoding.members(word >> at.C_ISR & at.THREE),
        )
        held = replace(
            forms.kraft_controller(self.start),
            registrations=tuple(registrations),
            partitions=(state,),
            heartbeats=tuple(heartbeats),
        )
        return replace(held, contacts=forms.contacts(held, self.start.features))

    def _broker(
        self,
        words: tuple[int, ...],
        number: int,
        sent: Mapping[tuple[BrokerId, Incarnation], Message],
    ) -> Broker:
        id, word = self.ids[number], words[at.LOG + number]
        incarnation, up = word >> at.LIFE & at.THREE, word >> at.UP & 1
        untouched = up and incarnation == self.first_incarnation[id]
        checkpoint = self.checkpoints[id] if untouched else Offset(0)
        durable = Durable((DurableReplica(self.state.name, self._log_of(word), checkpoint),))
        if not up:
            return Broker(id, Incarnation(incarnation), durable)
        request = sent.get((id, Incarnation(incarnation)))
        body = request.body if request is not None else None
        items = body.items if isinstance(body, AlterPartitionRequest) else ()
        role = words[at.ROLE + number]
        leads = role >> at.LEADS & 1
        process = Volatile(
            lifecycle=Lifecycle.RUNNING,
            epoch=BrokerEpoch(incarnation),
            ready_to_unfence=True,
            image=self._image(number, role) if leads else forms.NOTHING_KNOWN,
            published=True,
            replicas=(self._replica(number, word, role),),
            items=items,
            in_flight=items,
        )
        return Broker(id, Incarnation(incarnation), durable, process)

    def _replica(self, number: int, word: int, role: int) -> Replica:
        leads = role >> at.LEADS & 1
        return Replica(
            partition=self.state.name,
            leader=self.encoding.broker(word >> at.LEADER & at.TWO),
            leader_epoch=LeaderEpoch(self.numbers.epochs.up(role >> at.EPOCH & at.FOUR)),
            partition_epoch=(
                self._version(role >> at.PARTITION_EPOCH) if leads else PartitionEpoch(-1)
            ),
            replicas=self.state.replicas,
            high_watermark=Offset(self.numbers.offsets.up(word >> at.MARK & at.FOUR)),
            min_insync_replicas=self.state.min_insync_replicas,
            leading=self._leading(number, word, role) if leads else None,
        )

    def _leading(self, number: int, word: int, role: int) -> Leading:
        sent = None
        if role >> at.SENT & 1:
            sent = self._item(
                number,
                word >> at.LIFE & at.THREE,
                role >> at.EPOCH,
                role >> at.PARTITION_EPOCH,
                role >> at.PROPOSED,
                (role >> at.SENT_OBSERVED, role >> at.SENT_WIRE),
            )
        others = [b for b in self.state.replicas if b != self.ids[number]]
        return Leading(
            start_offset=Offset(self.numbers.offsets.up(role >> at.START & at.FOUR)),
            isr_state=IsrState(self.encoding.members(role >> at.ISR & at.THREE), sent),
            remotes=tuple(self._remote(self.ids[number], b, role) for b in others),
        )

    def _remote(self, id: BrokerId, other: BrokerId, role: int) -> RemoteReplica:
        known = role >> at.REMOTE + at.REMOTE_BITS * self.encoding.place(id, other)
        end, incarnation = (known & at.FOUR) - 1, known >> at.REMOTE_LIFE & at.THREE
        said = BrokerEpoch(incarnation) if self.says_incarnation else NO_BROKER_EPOCH
        return RemoteReplica(
            other,
            Offset(end if end < 0 else self.numbers.offsets.up(end)),
            epoch=said if incarnation else None,
            observed=BrokerEpoch(incarnation) if incarnation else NO_BROKER_EPOCH,
        )

    def _image(self, number: int, role: int) -> MetadataUpdate:
        id, registrations = self.ids[number], []
        for other in self.ids:
            if other != id:
                seen = role >> at.VIEW + at.VIEW_BITS * self.encoding.place(id, other)
                incarnation, fenced = seen & at.THREE, bool(seen >> at.VIEW_FENCED & 1)
                registrations.append(_registration(other, incarnation, fenced))
        version = self._version(role >> at.VIEW_EPOCH)
        known = PartitionRegistration(self.state.name, (), (), NO_LEADER, partition_epoch=version)
        return MetadataUpdate(
            offset=forms.LEVEL, registrations=tuple(registrations), partitions=(known,)
        )

    def _item(
        self,
        number: int,
        incarnation: int,
        epoch: int,
        version: int,
        members: int,
        incarnations: tuple[int, int],
    ) -> AlterPartitionItem:
        found = []
        for member in self.encoding.members(members & at.THREE):
            if member == self.ids[number]:
                observed = wire = incarnation
            else:
                shift = 3 * self.encoding.place(self.ids[number], member)
                observed, wire = (known >> shift & at.THREE for known in incarnations)
            found.append(IsrMember(member, _epoch(wire), _epoch(observed)))
        return AlterPartitionItem(
            partition=self.state.name,
            leader_epoch=LeaderEpoch(self.numbers.epochs.up(epoch & at.FOUR)),
            partition_epoch=self._version(version),
            isr=tuple(found),
        )

    def _requests(self, words: tuple[int, ...]) -> tuple[Message, ...]:
        found = []
        for number in range(at.REQUESTS):
            packed = words[at.FLIGHT + number // 2] >> at.REQUEST_BITS * (number % 2)
            if packed & at.REQUEST_MASK:
                found.append(self._message(packed & at.REQUEST_MASK))
        return tuple(found)

    def _message(self, packed: int) -> Message:
        number, incarnation = packed >> at.R_SENDER, packed >> at.R_LIFE & at.THREE
        incarnations = packed >> at.R_OBSERVED, packed >> at.R_WIRE
        version = packed >> at.R_PARTITION_EPOCH
        item = self._item(
            number, incarnation, packed >> at.R_EPOCH, version, packed >> at.R_MEMBERS, incarnations
        )
        id = self.ids[number]
        return Message(
            name=MessageName(id, Incarnation(incarnation), "alter-partition", 1),
            receiver=CONTROLLER,
            receiver_incarnation=Incarnation(0),
            lane="alter-partition",
            body=AlterPartitionRequest(
                version=self.version,
                broker=id,
                broker_epoch=BrokerEpoch(incarnation),
                items=(item,),
            ),
        )

    def _observed(self, words: tuple[int, ...]) -> Observed:
        word, held = words[at.COMMITTED], words[at.CONTROLLER]
        incarnations = [(b, held >> at.LIVES + 3 * n & at.THREE) for n, b in enumerate(self.ids)]
        return Observed(
            self.state.name,
            self._log_of(word & at.LOG_BITS),
            tuple((b, BrokerEpoch(incarnation)) for b, incarnation in incarnations if incarnation),
            self.encoding.members(word >> at.DAMAGED & at.THREE),
            bool(word >> at.EXCUSED & 1),
        )

    def _version(self, bits: int) -> PartitionEpoch:
        return PartitionEpoch(self.numbers.versions.up(bits & at.FOUR))


def _registration(broker: BrokerId, incarnation: int, fenced: bool) -> Registration:
    written = MetadataOffset(incarnation)
    return Registration(
        broker, BrokerEpoch(incarnation), Incarnation(incarnation), fenced, record_offset=written
    )


def _epoch(incarnation: int) -> BrokerEpoch:
    return BrokerEpoch(incarnation) if incarnation else NO_BROKER_EPOCH

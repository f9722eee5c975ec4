"""Normal forms of the level "partition" as words, and back (layout.py, normal_partition.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message, MessageName, Observed
from ...protocol.features import Features
from ...protocol.ids import (
    CONTROLLER as CONTROLLER_NODE,
)
from ...protocol.ids import (
    NO_BROKER_EPOCH,
    NO_LEADER,
    BrokerEpoch,
    BrokerId,
    LeaderEpoch,
    Offset,
    PartitionEpoch,
)
from ...protocol.kraft.state import (
    Controller,
    HeartbeatState,
    PartitionRegistration,
    Registration,
    registration,
)
from ...protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    IsrMember,
    MetadataUpdate,
)
from ...protocol.replica.log import EpochStart, Log
from ...protocol.replica.state import (
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
from .. import normal_partition as forms
from . import layout as at
from .scales import NotCompiledError, Scales, fitting

Budgets = tuple[int, ...]
"""Writes, crashes and fences left."""


class Packing:
    """Both ways, for one play, given as its normal form: its brokers, its numbers, its rules."""

    def __init__(self, start: Cluster, bounds: Mapping[str, int]) -> None:
        self.start = start
        self.state = start.controller.partitions[0]
        self.ids = [b.id for b in start.brokers]
        self.scales = Scales(start, bounds["writes"])
        self.says_life = start.features.fetch_version() >= 15
        self.version = start.features.alter_partition_version(start.brokers[0].id)
        self.from_metadata = "903.epoch-from-metadata" in start.features.active(CONTROLLER_NODE)
        self.first_life = {b.id: b.incarnation for b in start.brokers}
        self.checkpoints = {b.id: b.durable.replicas[0].checkpoint for b in start.brokers}

    # --- to words --------------------------------------------------------------------------------

    def pack(self, cluster: Cluster, left: Budgets) -> tuple[int, ...]:
        """Ten words. Raises NotCompiledError for what they have no room for."""
        words = [0] * at.WORDS
        for number, node in enumerate(cluster.brokers):
            words[at.LOG + number] = self._log_word(node)
            words[at.ROLE + number] = self._role_word(node)
        known = cluster.observed[0]
        words[at.COMMITTED] = (
            self._log(known.committed)
            | self._set(known.damaged) << at.DAMAGED
            | known.excused << at.EXCUSED
        )
        words[at.CONTROLLER] = self._controller_word(cluster, left)
        requests = (m for m in cluster.messages if isinstance(m.body, AlterPartitionRequest))
        packed = sorted(self._request(m) for m in requests)
        fitting("number of AlterPartition requests in flight", len(packed), at.REQUESTS)
        for number, request in enumerate(packed):
            words[at.FLIGHT + number // 2] |= request << at.REQUEST_BITS * (number % 2)
        return tuple(words)

    def _number(self, broker: BrokerId) -> int:
        return at.NOBODY if broker == NO_LEADER else self.ids.index(broker)

    def _set(self, members: Iterable[BrokerId]) -> int:
        return sum(1 << self._number(b) for b in members)

    def _life(self, life: int | None) -> int:
        return 0 if life in (None, NO_BROKER_EPOCH) else fitting("life", life or 0, at.MOST_LIFE)

    def _log(self, log: Log) -> int:
        end = self.scales.offsets.down(log.end)
        word = fitting("log end", end, at.MOST_OFFSET)
        fitting("number of epochs in a log", len(log.epochs), at.ENTRIES)
        for number, entry in enumerate(log.epochs):
            start = self.scales.offsets.down(entry.offset)
            packed = self.scales.epochs.down(entry.epoch) | start << 4
            word |= packed << at.FIRST_ENTRY + at.ENTRY_BITS * number
        return word

    def _log_word(self, node: Broker) -> int:
        word = self._log(node.durable.replicas[0].log)
        word |= self._life(node.incarnation) << at.LIFE
        if node.process is None:
            return word
        replica = node.process.replicas[0]
        mark = self.scales.offsets.down(replica.high_watermark)
        leader = self._number(replica.leader)
        return word | 1 << at.UP | mark << at.MARK | leader << at.LEADER

    def _role_word(self, node: Broker) -> int:
        if node.process is None:
            return 0
        replica = node.process.replicas[0]
        word = self.scales.epochs.down(replica.leader_epoch) << at.EPOCH
        leading = replica.leading
        if leading is None or node.process.image is None:
            return word
        word |= 1 << at.LEADS
        word |= self.scales.versions.down(replica.partition_epoch) << at.PARTITION_EPOCH
        word |= self.scales.offsets.down(leading.start_offset) << at.START
        word |= self._set(leading.isr_state.isr) << at.ISR
        if leading.isr_state.sent is not None:
            observed, wire, members = self._members(node.id, leading.isr_state.sent)
            word |= 1 << at.SENT | members << at.PROPOSED
            word |= observed << at.SENT_OBSERVED | wire << at.SENT_WIRE
        for remote in leading.remotes:
            end = -1 if remote.end < 0 else self.scales.offsets.down(remote.end)
            known = (end + 1) | self._life(remote.observed) << at.REMOTE_LIFE
            word |= known << at.REMOTE + at.REMOTE_BITS * self._place(node.id, remote.broker)
        return word | self._view(node.id, node.process.image)

    def _view(self, id: BrokerId, known: MetadataUpdate) -> int:
        word = self.scales.versions.down(known.partitions[0].partition_epoch) << at.VIEW_EPOCH
        for found in known.registrations:
            seen = self._life(found.epoch) | found.fenced << at.VIEW_FENCED
            word |= seen << at.VIEW + at.VIEW_BITS * self._place(id, found.broker)
        return word

    def _place(self, id: BrokerId, other: BrokerId) -> int:
        return (self.ids.index(other) - self.ids.index(id) + at.BROKERS - 1) % at.BROKERS

    def _members(self, sender: BrokerId, item: AlterPartitionItem) -> tuple[int, int, int]:
        observed = wire = 0
        for member in item.isr:
            if member.broker != sender:
                shift = 3 * self._place(sender, member.broker)
                observed |= self._life(member.observed) << shift
                wire |= self._life(member.epoch) << shift
        return observed, wire, self._set(m.broker for m in item.isr)

    def _request(self, message: Message) -> int:
        body = message.body
        assert isinstance(body, AlterPartitionRequest)
        (item,) = body.items
        observed, wire, members = self._members(body.broker, item)
        return (
            self._number(body.broker) << at.R_SENDER
            | self._life(message.name.incarnation) << at.R_LIFE
            | self.scales.epochs.down(item.leader_epoch) << at.R_EPOCH
            | self.scales.versions.down(item.partition_epoch) << at.R_PARTITION_EPOCH
            | members << at.R_MEMBERS
            | observed << at.R_OBSERVED
            | wire << at.R_WIRE
        )

    def _controller_word(self, cluster: Cluster, left: Budgets) -> int:
        state = cluster.controller.partitions[0]
        fenced = (r.broker for r in cluster.controller.registrations if r.fenced)
        word = self._set(fenced) << at.FENCED | self._number(state.leader) << at.C_LEADER
        word |= self.scales.epochs.down(state.leader_epoch) << at.C_EPOCH
        word |= self.scales.versions.down(state.partition_epoch) << at.C_PARTITION_EPOCH
        word |= self._set(state.isr) << at.C_ISR
        for broker, life in cluster.observed[0].isr_epochs:
            word |= self._life(life) << at.LIVES + 3 * self._number(broker)
        for number, budget in enumerate(left):
            word |= fitting("bound", budget, at.FOUR) << at.BUDGETS + 4 * number
        return word

    # --- from words ------------------------------------------------------------------------------

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

    def _members_of(self, bits: int) -> tuple[BrokerId, ...]:
        return tuple(b for number, b in enumerate(self.ids) if bits >> number & 1)

    def _broker_of(self, number: int) -> BrokerId:
        return NO_LEADER if number == at.NOBODY else self.ids[number]

    def _log_of(self, word: int) -> Log:
        entries = []
        for number in range(at.ENTRIES):
            packed = word >> at.FIRST_ENTRY + at.ENTRY_BITS * number
            if packed & at.FOUR:
                epoch = self.scales.epochs.up(packed & at.FOUR)
                start = self.scales.offsets.up(packed >> 4 & at.FOUR)
                entries.append(EpochStart(LeaderEpoch(epoch), Offset(start)))
        end = Offset(self.scales.offsets.up(word & at.FOUR))
        return Log(tuple(entries), end, end)

    def _controller(self, words: tuple[int, ...]) -> Controller:
        held = words[at.CONTROLLER]
        registrations, heartbeats = [], []
        for number, id in enumerate(self.ids):
            life = words[at.LOG + number] >> at.LIFE & at.THREE
            fenced = bool(held >> at.FENCED + number & 1)
            registrations.append(
                Registration(id, BrokerEpoch(life), life, fenced, record_offset=life)
            )
            heartbeats.append(HeartbeatState(id, fenced=fenced, metadata_offset=forms.BEHIND))
        state = replace(
            self.state,
            leader=self._broker_of(held >> at.C_LEADER & at.TWO),
            leader_epoch=LeaderEpoch(self.scales.epochs.up(held >> at.C_EPOCH & at.FOUR)),
            partition_epoch=self._version(held >> at.C_PARTITION_EPOCH),
            isr=self._members_of(held >> at.C_ISR & at.THREE),
        )
        return replace(
            self.start.controller,
            registrations=tuple(registrations),
            partitions=(state,),
            heartbeats=tuple(heartbeats),
        )

    def _version(self, bits: int) -> PartitionEpoch:
        return PartitionEpoch(self.scales.versions.up(bits & at.FOUR))

    def _broker(
        self, words: tuple[int, ...], number: int, sent: Mapping[tuple[BrokerId, int], Message]
    ) -> Broker:
        id, word = self.ids[number], words[at.LOG + number]
        life, up = word >> at.LIFE & at.THREE, word >> at.UP & 1
        untouched = up and life == self.first_life[id]
        checkpoint = self.checkpoints[id] if untouched else Offset(0)
        durable = Durable((DurableReplica(self.state.name, self._log_of(word), checkpoint),))
        if not up:
            return Broker(id, life, durable)
        request = sent.get((id, life))
        body = request.body if request is not None else None
        items = body.items if isinstance(body, AlterPartitionRequest) else ()
        role = words[at.ROLE + number]
        leads = role >> at.LEADS & 1
        process = Volatile(
            lifecycle=Lifecycle.RUNNING,
            epoch=BrokerEpoch(life),
            ready_to_unfence=True,
            image=self._image(number, role) if leads else forms.NOTHING_KNOWN,
            published=True,
            replicas=(self._replica(number, word, role),),
            items=items,
            in_flight=items,
        )
        return Broker(id, life, durable, process)

    def _replica(self, number: int, word: int, role: int) -> Replica:
        leads = role >> at.LEADS & 1
        return Replica(
            partition=self.state.name,
            leader=self._broker_of(word >> at.LEADER & at.TWO),
            leader_epoch=LeaderEpoch(self.scales.epochs.up(role >> at.EPOCH & at.FOUR)),
            partition_epoch=(
                self._version(role >> at.PARTITION_EPOCH) if leads else PartitionEpoch(-1)
            ),
            replicas=self.state.replicas,
            high_watermark=Offset(self.scales.offsets.up(word >> at.MARK & at.FOUR)),
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
            start_offset=Offset(self.scales.offsets.up(role >> at.START & at.FOUR)),
            isr_state=IsrState(self._members_of(role >> at.ISR & at.THREE), sent),
            remotes=tuple(self._remote(self.ids[number], b, role) for b in others),
        )

    def _remote(self, id: BrokerId, other: BrokerId, role: int) -> RemoteReplica:
        known = role >> at.REMOTE + at.REMOTE_BITS * self._place(id, other)
        end, life = (known & at.FOUR) - 1, known >> at.REMOTE_LIFE & at.THREE
        said = BrokerEpoch(life) if self.says_life else NO_BROKER_EPOCH
        return RemoteReplica(
            other,
            Offset(end if end < 0 else self.scales.offsets.up(end)),
            epoch=said if life else None,
            observed=BrokerEpoch(life) if life else NO_BROKER_EPOCH,
        )

    def _image(self, number: int, role: int) -> MetadataUpdate:
        id, registrations = self.ids[number], []
        for other in self.ids:
            if other != id:
                seen = role >> at.VIEW + at.VIEW_BITS * self._place(id, other)
                life, fenced = seen & at.THREE, bool(seen >> at.VIEW_FENCED & 1)
                registrations.append(
                    Registration(other, BrokerEpoch(life), life, fenced, record_offset=life)
                )
        version = self._version(role >> at.VIEW_EPOCH)
        known = PartitionRegistration(self.state.name, (), (), NO_LEADER, partition_epoch=version)
        return MetadataUpdate(
            offset=forms.LEVEL, registrations=tuple(registrations), partitions=(known,)
        )

    def _item(
        self,
        number: int,
        life: int,
        epoch: int,
        version: int,
        members: int,
        lives: tuple[int, int],
    ) -> AlterPartitionItem:
        found = []
        for member in self._members_of(members & at.THREE):
            if member == self.ids[number]:
                observed = wire = life
            else:
                shift = 3 * self._place(self.ids[number], member)
                observed, wire = (known >> shift & at.THREE for known in lives)
            found.append(IsrMember(member, _epoch(wire), _epoch(observed)))
        return AlterPartitionItem(
            partition=self.state.name,
            leader_epoch=LeaderEpoch(self.scales.epochs.up(epoch & at.FOUR)),
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
        number, life = packed >> at.R_SENDER, packed >> at.R_LIFE & at.THREE
        lives = packed >> at.R_OBSERVED, packed >> at.R_WIRE
        version = packed >> at.R_PARTITION_EPOCH
        item = self._item(
            number, life, packed >> at.R_EPOCH, version, packed >> at.R_MEMBERS, lives
        )
        id = self.ids[number]
        return Message(
            name=MessageName(id, life, "alter-partition", 1),
            receiver=CONTROLLER_NODE,
            receiver_incarnation=0,
            lane="alter-partition",
            body=AlterPartitionRequest(
                version=self.version, broker=id, broker_epoch=BrokerEpoch(life), items=(item,)
            ),
        )

    def _observed(self, words: tuple[int, ...]) -> Observed:
        word, held = words[at.COMMITTED], words[at.CONTROLLER]
        lives = [(b, held >> at.LIVES + 3 * n & at.THREE) for n, b in enumerate(self.ids)]
        return Observed(
            self.state.name,
            self._log_of(word & at.LOG_BITS),
            tuple((b, BrokerEpoch(life)) for b, life in lives if life),
            self._members_of(word >> at.DAMAGED & at.THREE),
            bool(word >> at.EXCUSED & 1),
        )


def _epoch(life: int) -> BrokerEpoch:
    return BrokerEpoch(life) if life else NO_BROKER_EPOCH


def rules_of(features: Features) -> int:
    """The guards that are on, and what the versions carry, as the bits of layout.py."""
    active = features.active(CONTROLLER_NODE)
    bits = sum(1 << number for number, id in enumerate(at.RULES) if id in active)
    if features.fetch_version() >= 15:
        bits |= at.FETCH_SAYS_LIFE
    if features.alter_partition_version(CONTROLLER_NODE) >= 3:
        bits |= at.ALTER_SAYS_LIVES
    if features.release < "3.8":
        bits |= at.EMPTY_BUMPS
    return bits


def parameters_of(start: Cluster) -> list[int]:
    """The array `given` of the rules."""
    state, features = start.controller.partitions[0], start.features
    ids = [b.id for b in start.brokers]
    order = [ids.index(b) for b in state.replicas]
    newer = features.release >= "3.7" or "966.committed-with-min-isr" in features.active(
        CONTROLLER_NODE
    )
    wanted = state.min_insync_replicas
    if newer:
        wanted = min(wanted, len(state.replicas))
    given = [rules_of(features), len(ids), *order, *[0] * (at.BROKERS - len(ids)), wanted]
    assert len(given) == at.PARAMETERS
    return given


def packing_of(start: Cluster, bounds: Mapping[str, int]) -> Packing:
    """The packing of a normal form. Raises NotCompiledError with a reason for people."""
    _check(start, bounds)
    packing = Packing(start, bounds)
    left = tuple(bounds.values())
    if packing.unpack(packing.pack(start, left)) != (start, left):
        raise NotCompiledError("the play begins with something that its words have no field for")
    return packing


def _check(start: Cluster, bounds: Mapping[str, int]) -> None:
    features, state = start.features, start.controller.partitions[0]
    if features.release == "3.2" or any(r != features.release for _, r in features.nodes):
        raise NotCompiledError("it knows clusters whose nodes all run one release from 3.3 on")
    ids = [b.id for b in start.brokers]
    if len(ids) > at.BROKERS or sorted(state.replicas) != ids:
        raise NotCompiledError("it knows one to three brokers that all have a replica")
    registered = [r.broker for r in start.controller.registrations]
    down = [b.id for b in start.brokers if b.process is None or not b.process.replicas]
    if down or registered != ids or start.cut:
        raise NotCompiledError("it begins with brokers that are all up, registered and connected")
    if any(registration(start.controller.registrations, b) is None for b in ids):
        raise NotCompiledError("it begins with brokers that are all registered")
    first = max(b.incarnation for b in start.brokers)
    if first + bounds["crashes"] > at.MOST_LIFE:
        most = at.MOST_LIFE - first
        raise NotCompiledError(f"its words have room for {most} crashes at most")

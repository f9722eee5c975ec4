"""Normal forms of the level "partition" as words (word_layout.py, normal_partition.py)."""

from collections.abc import Iterable

from ...engine.cluster import Cluster, Message
from ...engine.truth import truth
from ...protocol.ids import NO_BROKER_EPOCH, BrokerId
from ...protocol.log import Log
from ...protocol.messages import AlterPartitionItem, AlterPartitionRequest, MetadataUpdate
from ...protocol.replica.broker_state import Broker
from ..search_terms import Budgets
from . import word_layout as at
from .fitting import Encoding
from .small_numbers import fitting


class Packing:
    """To the words of one search; unpacking.py goes back."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding, self.numbers = encoding, encoding.numbers

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

    def _set(self, members: Iterable[BrokerId]) -> int:
        return sum(1 << self.encoding.number(b) for b in members)

    def _incarnation(self, incarnation: int | None) -> int:
        return (
            0
            if incarnation in (None, NO_BROKER_EPOCH)
            else fitting("life", incarnation or 0, at.MOST_LIFE)
        )

    def _log(self, log: Log) -> int:
        end = self.numbers.offsets.down(log.end)
        word = fitting("log end", end, at.MOST_OFFSET)
        fitting("number of epochs in a log", len(log.epochs), at.ENTRIES)
        for number, entry in enumerate(log.epochs):
            start = self.numbers.offsets.down(entry.offset)
            packed = self.numbers.epochs.down(entry.epoch) | start << 4
            word |= packed << at.FIRST_ENTRY + at.ENTRY_BITS * number
        return word

    def _log_word(self, node: Broker) -> int:
        word = self._log(node.durable.replicas[0].log)
        word |= self._incarnation(node.incarnation) << at.LIFE
        if node.process is None:
            return word
        replica = node.process.replicas[0]
        mark = self.numbers.offsets.down(replica.high_watermark)
        leader = self.encoding.number(replica.leader)
        return word | 1 << at.UP | mark << at.MARK | leader << at.LEADER

    def _role_word(self, node: Broker) -> int:
        if node.process is None:
            return 0
        replica = node.process.replicas[0]
        word = self.numbers.epochs.down(replica.leader_epoch) << at.EPOCH
        leading = replica.leading
        if leading is None or node.process.image is None:
            return word
        word |= 1 << at.LEADS
        word |= self.numbers.versions.down(replica.partition_epoch) << at.PARTITION_EPOCH
        word |= self.numbers.offsets.down(leading.start_offset) << at.START
        word |= self._set(leading.isr_state.isr) << at.ISR
        if leading.isr_state.sent is not None:
            observed, wire, members = self._members(node.id, leading.isr_state.sent)
            word |= 1 << at.SENT | members << at.PROPOSED
            word |= observed << at.SENT_OBSERVED | wire << at.SENT_WIRE
        for remote in leading.remotes:
            end = -1 if remote.end < 0 else self.numbers.offsets.down(remote.end)
            known = (end + 1) | self._incarnation(remote.observed) << at.REMOTE_LIFE
            word |= known << at.REMOTE + at.REMOTE_BITS * self.encoding.place(
                node.id, remote.broker
            )
        return word | self._view(node.id, node.process.image)

    def _view(self, id: BrokerId, known: MetadataUpdate) -> int:
        word = self.numbers.versions.down(known.partitions[0].partition_epoch) << at.VIEW_EPOCH
        for found in known.registrations:
            seen = self._incarnation(found.epoch) | found.fenced << at.VIEW_FENCED
            word |= seen << at.VIEW + at.VIEW_BITS * self.encoding.place(id, found.broker)
        return word

    def _members(self, sender: BrokerId, item: AlterPartitionItem) -> tuple[int, int, int]:
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

    def _controller_word(self, cluster: Cluster, left: Budgets) -> int:
        state = truth(cluster).partitions[0]
        fenced = (r.broker for r in truth(cluster).registrations if r.fenced)
        word = self._set(fenced) << at.FENCED | self.encoding.number(state.leader) << at.C_LEADER
        word |= self.numbers.epochs.down(state.leader_epoch) << at.C_EPOCH
        word |= self.numbers.versions.down(state.partition_epoch) << at.C_PARTITION_EPOCH
        word |= self._set(state.isr) << at.C_ISR
        for broker, incarnation in cluster.observed[0].isr_epochs:
            word |= self._incarnation(incarnation) << at.LIVES + 3 * self.encoding.number(broker)
        for number, budget in enumerate(left):
            word |= fitting("bound", budget, at.FOUR) << at.BUDGETS + 4 * number
        return word

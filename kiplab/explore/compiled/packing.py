"""Normal forms of the level "partition" (normal_partition.py) as words.

There is no way back: no code reads a packed state, and actions describe a path.
tests/explore/test_compiled.py checks that no two normal forms have the same words.
"""

from collections.abc import Iterable, Mapping

from ...engine.cluster import Cluster, Message, Observed
from ...protocol import ids, messages
from ...protocol.kraft.controller_state import Controller
from ...protocol.log import Log
from ...protocol.replica import broker_state
from ...protocol.replica.broker_state import Broker, Replica
from ..levels import normal_partition as forms
from ..search_terms import Budgets
from . import word_layout as at
from .fitting import SmallNumbers, check_play, fitting
from .word_layout import put

StateWords = tuple[int, ...]


class Encoding:
    """What all words of one search have in common: its play's brokers, numbers and rules.

    `start` is the play's normal form. Raises NotCompiledError with a reason for people.
    """

    def __init__(self, start: Cluster, bounds: Mapping[str, int]) -> None:
        check_play(start, bounds)
        self.ids = [b.id for b in start.brokers]
        numbers = SmallNumbers(start, bounds["writes"])
        self.offsets, self.epochs, self.versions = numbers.offsets, numbers.epochs, numbers.versions

    # --- brokers by number ------------------------------------------------------------------------

    def number(self, broker: ids.BrokerId) -> int:
        """A broker as the words have it."""
        return at.NOBODY if broker == ids.NO_LEADER else self.ids.index(broker)

    def bits(self, members: Iterable[ids.BrokerId]) -> int:
        """A set of brokers."""
        return sum(1 << self.ids.index(b) for b in members)

    def place(self, number: int, other: ids.BrokerId) -> int:
        """Where `other` stands in a table about the two other brokers, at that of a number."""
        return (self.ids.index(other) - number + at.BROKERS - 1) % at.BROKERS

    # --- to words ---------------------------------------------------------------------------------

    def pack(self, cluster: Cluster, left: Budgets) -> StateWords:
        """Ten words. Raises NotCompiledError for what they have no room for."""
        words = [0] * at.WORDS
        for number, node in enumerate(cluster.brokers):
            self._put_broker(words, number, node)
        self._put_controller(words, forms.kraft_controller(cluster))
        self._put_observer(words, *cluster.observed)
        for number, budget in enumerate(left):
            put(words, at.BUDGETS, 0, fitting("bound", budget, at.FOUR), number)
        requests = sorted(
            self._request(m) for m in cluster.messages if m.name.kind == "alter-partition"
        )
        fitting("number of AlterPartition requests in flight", len(requests), at.REQUESTS)
        for number, request in enumerate(requests):
            put(words, at.IN_FLIGHT, number // 2, request, number % 2)
        return tuple(words)

    def _put_controller(self, words: list[int], controller: Controller) -> None:
        (state,) = controller.partitions
        fenced = (r.broker for r in controller.registrations if r.fenced)
        put(words, at.FENCED, 0, self.bits(fenced))
        put(words, at.C_LEADER, 0, self.number(state.leader))
        put(words, at.C_EPOCH, 0, self.epochs.down(state.leader_epoch))
        put(words, at.C_PARTITION_EPOCH, 0, self.versions.down(state.partition_epoch))
        put(words, at.C_ISR, 0, self.bits(state.isr))

    def _put_observer(self, words: list[int], observed: Observed) -> None:
        put(words, at.COMMITTED_LOG, 0, self._log(observed.committed))
        put(words, at.DAMAGED, 0, self.bits(observed.damaged))
        put(words, at.EXCUSED, 0, observed.excused)
        for broker, epoch in observed.isr_epochs:
            put(words, at.LIVES, 0, _incarnation(epoch), self.number(broker))

    def _log(self, log: Log) -> int:
        word = fitting("log end", self.offsets.down(log.end), at.MOST_OFFSET)
        fitting("number of epochs in a log", len(log.epochs), at.ENTRIES)
        for number, entry in enumerate(log.epochs):
            packed = self.epochs.down(entry.epoch) | self.offsets.down(entry.offset) << 4
            word |= packed << at.FIRST_ENTRY + at.ENTRY_BITS * number
        return word

    def _put_broker(self, words: list[int], number: int, node: Broker) -> None:
        put(words, at.LOG_OF, number, self._log(node.durable.replicas[0].log))
        put(words, at.LIFE, number, _incarnation(node.incarnation))
        if node.process is None:
            return
        (replica,) = node.process.replicas
        put(words, at.UP, number, 1)
        put(words, at.LEADER, number, self.number(replica.leader))
        put(words, at.EPOCH, number, self.epochs.down(replica.leader_epoch))
        put(words, at.MARK, number, self.offsets.down(replica.high_watermark))
        if replica.leading is None or node.process.image is None:
            return
        self._put_leader(words, number, replica, replica.leading)
        (partition,) = node.process.image.partitions
        put(words, at.VIEW_EPOCH, number, self.versions.down(partition.partition_epoch))
        for other in node.process.image.registrations:
            place = self.place(number, other.broker)
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
            members, observed, wire = self._members(number, leading.isr_state.sent)
            put(words, at.PROPOSED, number, members)
            put(words, at.SENT_OBSERVED, number, observed)
            put(words, at.SENT_WIRE, number, wire)
        for remote in leading.remotes:
            place = self.place(number, remote.broker)
            end = -1 if remote.end < 0 else self.offsets.down(remote.end)
            put(words, at.REMOTE_END, number, end + 1, place)
            put(words, at.REMOTE_LIFE, number, _incarnation(remote.observed), place)

    def _members(self, sender: int, item: messages.AlterPartitionItem) -> tuple[int, int, int]:
        """(the proposed ISR, incarnations of the two others as they fetched, as on the wire)."""
        observed = wire = 0
        for member in item.isr:
            if member.broker != self.ids[sender]:
                shift = 3 * self.place(sender, member.broker)
                observed |= _incarnation(member.observed) << shift
                wire |= _incarnation(member.epoch) << shift
        return self.bits(m.broker for m in item.isr), observed, wire

    def _request(self, message: Message) -> int:
        body = message.body
        assert isinstance(body, messages.AlterPartitionRequest)
        (item,), sender = body.items, self.number(body.broker)
        members, observed, wire = self._members(sender, item)
        word = sender << at.R_SENDER | _incarnation(message.name.incarnation) << at.R_LIFE
        word |= self.epochs.down(item.leader_epoch) << at.R_EPOCH
        word |= self.versions.down(item.partition_epoch) << at.R_PARTITION_EPOCH
        return word | members << at.R_MEMBERS | observed << at.R_OBSERVED | wire << at.R_WIRE


def _incarnation(incarnation: int | None) -> int:
    if incarnation in (None, ids.NO_BROKER_EPOCH):
        return 0
    return fitting("life", incarnation or 0, at.MOST_LIFE)

"""What answers to AlterPartition make of a leader's proposals: what the metrics of ISRs count."""

from collections.abc import Iterator
from typing import NamedTuple

from ..engine.cluster import broker
from ..protocol import errors, facts, ids, messages
from ..protocol.replica.broker_state import IsrState, Replica, replica_of
from .snapshots import Moment


class Handed(NamedTuple):
    """A result of AlterPartition that reaches the very proposal that it answers."""

    replica: Replica
    state: IsrState
    result: messages.AlterPartitionResult

    @property
    def is_adopted(self) -> bool:
        """Accepted, and of no older epoch than the leader knows by now."""
        result, replica = self.result, self.replica
        is_current = result.leader_epoch == replica.leader_epoch
        return (
            result.error is errors.KafkaError.NONE
            and is_current
            and result.partition_epoch >= replica.partition_epoch
        )

    @property
    def is_growing(self) -> bool:
        """Whether the proposal had asked for more members."""
        return len(self.state.proposed) > len(self.state.isr)


def _handed(moment: Moment) -> Iterator[tuple[ids.BrokerId, Handed]]:
    """What a delivered answer hands to the partitions of its broker. An error of the whole request
    (STALE_BROKER_EPOCH among them) is retried, reaches none of them, and is counted nowhere; nor is
    an answer that comes after the metadata which says the same: by then nothing is pending.

    Source: DefaultAlterPartitionManager.handleAlterPartitionResponse and
    Partition.submitAlterPartition, 3.2 (DefaultAlterIsrManager) to 4.3.
    """
    delivered = moment.delivered
    if delivered is None or not isinstance(delivered.body, messages.AlterPartitionResponse):
        return
    node, request = broker(moment.before, delivered.receiver), moment.answered
    if node is None or node.process is None or request is None or delivered.body.error:
        return
    results = {result.partition: result for result in delivered.body.results}
    retried = any(r.error is errors.KafkaError.NOT_CONTROLLER for r in results.values())
    if node.process.in_flight != request.items or retried:
        return
    for item in request.items:
        mine, result = replica_of(node, item.partition), results.get(item.partition)
        if mine is None or mine.leading is None or result is None:
            continue
        if mine.leading.isr_state.sent == item:
            yield node.id, Handed(mine, mine.leading.isr_state, result)


def changed(moment: Moment, *, growing: bool) -> Iterator[ids.BrokerId]:
    """Leaders whose proposal was adopted: one that asked for more members, or for fewer."""
    for node, handed in _handed(moment):
        if handed.is_adopted and handed.is_growing is growing:
            yield node


def failed(moment: Moment) -> Iterator[ids.BrokerId]:
    """Answers with an error or for an older epoch, and proposals that were not even sent, because
    the manager still has one of the same partition (OPERATION_NOT_ATTEMPTED).

    Source: Partition.handleAlterPartitionError and handleAlterPartitionUpdate, 3.2 to 4.3.
    """
    yield from (node for node, handed in _handed(moment) if not handed.is_adopted)
    for event in moment.step.events:
        if isinstance(event, facts.IsrProposed):
            node = broker(moment.step.cluster, event.node)
            mine = replica_of(node, event.partition) if node is not None else None
            if mine is not None and mine.leading is not None and not mine.leading.isr_state.sent:
                yield event.node

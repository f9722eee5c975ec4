"""Kafka's own Partition as the side of a run that is real."""

from kiplab.judge.partition import partition_process as turns
from kiplab.judge.partition.observed_broker import ObservedBroker, without_times
from kiplab.protocol import ids
from kiplab.protocol.messages import MetadataUpdate
from kiplab.protocol.replica.remote_replicas import LAG_TIME_MAX_MS


class RealLeader:
    """A fresh broker in `process`, with so many partitions of one topic and empty logs.

    Without a clock whoever has not caught up has lagged for too long: so much time passes before
    each turn, and no time is told.
    """

    def __init__(self, process: turns.PartitionProcess, partitions: int, *, timed: bool) -> None:
        self._process = process
        self._timed = timed
        self._words = turns.PartitionWords(tuple(map(turns.partition_name, range(partitions))))
        self._epochs: dict[str, ids.PartitionEpoch] = {}
        process.begin(self._words, turns.LEADER_BROKER_EPOCH)

    def answer(self, turn: turns.BrokerTurn, /) -> ObservedBroker:
        """What is seen after the turn. Raises DeadKafkaError if the process has ended."""
        if not self._timed:
            self._process.tell(f"advance {LAG_TIME_MAX_MS + 1}")
        if isinstance(turn, turns.LagTurn):
            turn = turns.LagTurn(self._words.names)
        if isinstance(turn, MetadataUpdate):
            broker = self._process.observe(self._metadata(turn))
        else:
            broker = self._process.take(self._words, turn)
        return broker if self._timed else without_times(broker)

    def _metadata(self, update: MetadataUpdate) -> str:
        epochs = {state.name: state.partition_epoch for state in update.partitions}
        changed = [name for name, epoch in epochs.items() if self._epochs.get(name) != epoch]
        self._epochs = epochs
        return self._words.metadata(update, changed)

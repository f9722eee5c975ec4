"""What is seen of the engine's broker, in the fields that are seen of Kafka's own."""

from collections.abc import Iterable, Sequence
from typing import Any

from ...protocol.errors import KafkaError
from ...protocol.facts import Fact, Refused
from ...protocol.ids import PartitionName
from ...protocol.log import EMPTY, Log
from ...protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    FetchResponse,
)
from ...protocol.releases import CodeVersion
from ...protocol.replica.broker_state import Broker, Leading, RemoteReplica, log_of, replica_of
from . import observed_broker


class EngineObservation:
    """Of a broker with that code; a partition is its place in `names`."""

    def __init__(self, code: CodeVersion, names: Sequence[PartitionName]) -> None:
        # From 3.5 on a leader knows its followers' broker epochs.
        self._has_epochs = code >= (3, 5)
        self._names = tuple(names)

    def of(
        self, broker: Broker, bodies: Iterable[Any], facts: Iterable[Fact]
    ) -> observed_broker.ObservedBroker:
        """All of it after a turn in which it sent `bodies`, and reports `facts`."""
        sent = list(bodies)
        reply = next((body for body in sent if isinstance(body, FetchResponse)), None)
        refused = [fact.error for fact in facts if isinstance(fact, Refused)]
        error = reply.error if reply is not None else next(iter(refused), KafkaError.NONE)
        return observed_broker.ObservedBroker(
            error=int(error),
            read=None if reply is None or reply.error else _read(reply),
            sent=tuple(self.request(b) for b in sent if isinstance(b, AlterPartitionRequest)),
            partitions=tuple(self.partition(broker, name) for name in self._names),
        )

    def request(self, request: AlterPartitionRequest) -> observed_broker.SeenRequest:
        """A request as its receiver sees it."""
        items = sorted(map(self._item, request.items), key=lambda item: item.partition)
        return observed_broker.SeenRequest(
            request.version, request.broker, request.broker_epoch, tuple(items)
        )

    def _item(self, item: AlterPartitionItem) -> observed_broker.SeenItem:
        asked = self.proposal(item)
        return observed_broker.SeenItem(
            asked.leader_epoch,
            asked.partition_epoch,
            asked.recovery,
            asked.isr,
            self._names.index(item.partition),
        )

    def proposal(self, item: AlterPartitionItem) -> observed_broker.SeenProposal:
        """An ISR that was asked for."""
        isr = sorted(
            (m.broker, m.epoch if self._has_epochs else observed_broker.NO_EPOCHS) for m in item.isr
        )
        return observed_broker.SeenProposal(
            item.leader_epoch, item.partition_epoch, item.recovery, tuple(isr)
        )

    def partition(self, broker: Broker, name: PartitionName) -> observed_broker.SeenPartition:
        """A partition as the broker plays it."""
        replica, log = replica_of(broker, name), log_of(broker, name)
        leading = replica.leading if replica is not None else None
        epochs = tuple((entry.epoch, entry.offset) for entry in log.epochs)
        if replica is None:
            return observed_broker.SeenPartition(
                None, -1, 0, None, (), (), 0, None, (), 0, log.end, epochs
            )
        return observed_broker.SeenPartition(
            leader=replica.leader,
            leader_epoch=replica.leader_epoch,
            partition_epoch=replica.partition_epoch,
            high_watermark=replica.high_watermark,
            end=log.end,
            epochs=epochs,
            **self._led(leading),
        )

    def _led(self, leading: Leading | None) -> dict[str, Any]:
        if leading is None:
            empty: dict[str, Any] = {"isr": (), "maximal": (), "remotes": (), "recovery": 0}
            return empty | {"start_offset": None, "proposed": None}
        state = leading.isr_state
        return {
            "start_offset": leading.start_offset,
            "isr": tuple(sorted(state.isr)),
            "maximal": tuple(sorted(state.maximal)),
            # A pending state is always RECOVERED, whatever the committed one is.
            "recovery": int(state.recovery) if state.sent is None else 0,
            "proposed": None if state.sent is None else self.proposal(state.sent),
            "remotes": tuple(map(self.remote, sorted(leading.remotes, key=lambda r: r.broker))),
        }

    def remote(self, remote: RemoteReplica) -> observed_broker.SeenRemote:
        """A follower as its leader knows it."""
        return observed_broker.SeenRemote(
            broker=remote.broker,
            end=remote.end,
            leader_end_at_last_fetch=remote.leader_end_at_last_fetch,
            last_fetch_ms=remote.last_fetch_ms,
            last_caught_up_ms=remote.last_caught_up_ms,
            epoch=remote.epoch if self._has_epochs else None,
        )


def _read(reply: FetchResponse) -> observed_broker.SeenRead:
    part = reply.diverging
    return observed_broker.SeenRead(
        high_watermark=reply.high_watermark,
        diverging=None if part is None else (part.epoch, part.offset),
        records=tuple(_each(reply.records)),
    )


def _each(records: Log) -> Iterable[tuple[int, int]]:
    """Every record as (leader epoch, offset)."""
    if records == EMPTY or not records.epochs:
        return
    ends = [*(entry.offset for entry in records.epochs[1:]), records.end]
    for entry, end in zip(records.epochs, ends, strict=True):
        for offset in range(entry.offset, end):
            yield entry.epoch, offset

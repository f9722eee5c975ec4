"""The same question in another situation: numbers that fitted then fit again."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplab.engine.truth import Truth
from kiplab.protocol import ids, messages, registrations

from .turns import Asked, Created, Reassigned, Turn

NEAR, AHEAD = 3, 60
"""How far from what was held a number still means that; offsets may be ahead of the log."""


class Retelling(NamedTuple):
    """From a situation where `then` was held to one where `now` is.

    Topics whose names began with `topics[0]` begin with `topics[1]` now.
    """

    then: Truth
    now: Truth
    topics: tuple[str, str]

    def turn(self, done: Turn) -> Turn:
        """The turn, done now."""
        match done:
            case Asked(request=request):
                return replace(done, request=self.request(request))
            case Created():
                return replace(done, topic=self._name(done.topic))
            case Reassigned():
                return replace(done, partition=self._name(done.partition))
        return done

    def request(self, asked: messages.Request) -> messages.Request:
        """The question, asked now."""
        match asked:
            case messages.BrokerHeartbeatRequest():
                return replace(
                    asked,
                    broker_epoch=self._broker_epoch(asked.broker, asked.broker_epoch),
                    metadata_offset=self._offset(asked.broker, asked.metadata_offset),
                )
            case messages.AlterPartitionRequest():
                return replace(
                    asked,
                    broker_epoch=self._broker_epoch(asked.broker, asked.broker_epoch),
                    items=tuple(self._item(item) for item in asked.items),
                )
            case messages.ElectLeadersRequest() if asked.partitions is not None:
                return replace(asked, partitions=tuple(map(self._name, asked.partitions)))
        return asked

    def _item(self, item: messages.AlterPartitionItem) -> messages.AlterPartitionItem:
        name = self._name(item.partition)
        fields: dict[str, Any] = {"partition": name}
        before = registrations.partition(self.then.partitions, item.partition)
        after = registrations.partition(self.now.partitions, name)
        if before is not None and after is not None:
            leader = _moved(item.leader_epoch, before.leader_epoch, after.leader_epoch)
            state = _moved(item.partition_epoch, before.partition_epoch, after.partition_epoch)
            fields |= {
                "leader_epoch": ids.LeaderEpoch(leader),
                "partition_epoch": ids.PartitionEpoch(state),
            }
        isr = tuple(replace(m, epoch=self._broker_epoch(m.broker, m.epoch)) for m in item.isr)
        return replace(item, **fields, isr=isr)

    def _name(self, name: str) -> str:
        before, after = self.topics
        return after + name.removeprefix(before) if name.startswith(before) else name

    def _broker_epoch(self, broker: ids.BrokerId, epoch: ids.BrokerEpoch) -> ids.BrokerEpoch:
        before = registrations.registration(self.then.registrations, broker)
        after = registrations.registration(self.now.registrations, broker)
        if before is None or after is None or epoch == ids.NO_BROKER_EPOCH:
            return epoch
        return ids.BrokerEpoch(_moved(epoch, before.epoch, after.epoch))

    def _offset(self, broker: ids.BrokerId, offset: ids.MetadataOffset) -> ids.MetadataOffset:
        """Near the end of the log, or else near the broker's own registration."""
        before, after = self.then.next_offset, self.now.next_offset
        if -NEAR <= offset - before <= AHEAD:
            return ids.MetadataOffset(offset - before + after)
        old = registrations.registration(self.then.registrations, broker)
        new = registrations.registration(self.now.registrations, broker)
        if old is None or new is None:
            return offset
        return ids.MetadataOffset(_moved(offset, old.record_offset, new.record_offset))


def _moved(number: int, before: int, after: int) -> int:
    return number - before + after if abs(number - before) <= NEAR else number

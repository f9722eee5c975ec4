"""Where the controller looks for the eligible leader replicas of a broker: not in the partitions.

It has a list of partitions for each broker and topic. A partition that changes its ELR changes the
lists; a ClearElrRecord does not, so that they keep who was a member. Such a partition is looked at
although the broker is no member: it may get the same record twice, once for its ISR. A list from
which one of two equal numbers goes gets a 0 for the other. What the lists say is kept only where it
is not what the partitions say.

Source: BrokersToElrs and ReplicationControlManager.removeTopicElrs (4.0.2, 4.3.1). No report of it
was found in the public threads searched.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from ..ids import BrokerId, Count
from ..registrations import PartitionRegistration, partition, topic_of
from .controller_state import Controller, ElrList


def partitions_with_elr_member(
    controller: Controller, broker: BrokerId
) -> Iterator[PartitionRegistration]:
    """The partitions that are looked at when `broker` leaves every ELR; one may come twice.

    Source: BrokersToElrs.partitionsWithBrokerInElr (4.0.2, 4.3.1).
    """
    for topic in dict.fromkeys(topic_of(p.name) for p in controller.partitions):
        for index in _listed(controller, broker, topic):
            found = partition(controller.partitions, f"{topic}-{index}")
            if found is not None:
                yield found


def names_deleted_topic(controller: Controller, broker: BrokerId) -> bool:
    """Whether `broker` is still listed for a topic that is gone: looking at it is an exception.

    Source: ReplicationControlManager.generateLeaderAndIsrUpdates (4.0.2, 4.3.1).
    """
    topics = {topic_of(p.name) for p in controller.partitions}
    mine = (kept for kept in controller.elr_lists if kept.broker == broker and kept.partitions)
    return any(kept.topic not in topics for kept in mine)


def without_topic(before: Controller, after: Controller) -> Controller:
    """`after` with its lists, when a topic has been deleted since `before`: whoever is a member
    then is listed no more; whoever has been one stays listed.

    Source: ReplicationControlManager.replay of a RemoveTopicRecord (4.0.2, 4.3.1).
    """
    gone = [p for p in before.partitions if p not in after.partitions]
    members = {(broker, topic_of(p.name)) for p in gone for broker in p.elr}
    left = tuple(kept for kept in before.elr_lists if (kept.broker, kept.topic) not in members)
    return replace(after, elr_lists=left)


def followed(before: Controller, after: Controller, *, clearing: bool = False) -> Controller:
    """`after` with its lists, when partitions have changed since `before`.

    With `clearing` the lists stay.

    Source: ReplicationControlManager.updatePartitionInfo and BrokersToElrs.update (4.3.1).
    """
    for old, new in zip(before.partitions, after.partitions, strict=True):
        for broker in sorted({*old.elr} ^ {*new.elr}):
            topic, _, index = new.name.rpartition("-")
            # Earlier changes of the same list are in `before`.
            now, number = _listed(before, broker, topic), Count(int(index))
            if not clearing:
                now = (*now, number) if broker in new.elr else _without(now, number)
            after = _with(after, ElrList(broker, topic, now))
            before = replace(before, elr_lists=after.elr_lists)
    return after


def _without(listed: tuple[Count, ...], index: Count) -> tuple[Count, ...]:
    """One number fewer: each that is gone beyond the first is replaced by a 0.

    Source: BrokersToElrs.remove (4.3.1).
    """
    left = tuple(each for each in listed if each != index)
    return (*left, *[Count(0)] * (len(listed) - 1 - len(left)))


def _listed(controller: Controller, broker: BrokerId, topic: str) -> tuple[Count, ...]:
    for kept in controller.elr_lists:
        if (kept.broker, kept.topic) == (broker, topic):
            return kept.partitions
    return _as_partitions_say(controller, broker, topic)


def _as_partitions_say(controller: Controller, broker: BrokerId, topic: str) -> tuple[Count, ...]:
    members = (p.name for p in controller.partitions if broker in p.elr)
    return tuple(Count(int(n.rpartition("-")[2])) for n in members if topic_of(n) == topic)


def _with(controller: Controller, changed: ElrList) -> Controller:
    whose = (changed.broker, changed.topic)
    lists = [kept for kept in controller.elr_lists if (kept.broker, kept.topic) != whose]
    if sorted(_as_partitions_say(controller, *whose)) != sorted(changed.partitions):
        lists.append(changed)
    return replace(controller, elr_lists=tuple(sorted(lists)))

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

from ..ids import BrokerId
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


def followed(before: Controller, after: Controller, *, clearing: bool = False) -> Controller:
    """`after` with its lists, when partitions have changed since `before`.

    With `clearing` the lists stay.

    Source: ReplicationControlManager.updatePartitionInfo and BrokersToElrs.update (4.3.1).
    """
    for old, new in zip(before.partitions, after.partitions, strict=True):
        for broker in sorted({*old.elr} ^ {*new.elr}):
            topic, _, index = new.name.rpartition("-")
            # Earlier changes of the same list are in `before`.
            now = _listed(before, broker, topic)
            if not clearing:
                now = (*now, int(index)) if broker in new.elr else _without(now, int(index))
            after = _with(after, ElrList(broker, topic, now))
            before = replace(before, elr_lists=after.elr_lists)
    return after


def _without(listed: tuple[int, ...], index: int) -> tuple[int, ...]:
    """One number fewer: each that is gone beyond the first is replaced by a 0.

    Source: BrokersToElrs.remove (4.3.1).
    """
    left = tuple(each for each in listed if each != index)
    return (*left, *[0] * (len(listed) - 1 - len(left)))


def _listed(controller: Controller, broker: BrokerId, topic: str) -> tuple[int, ...]:
    for kept in controller.elr_lists:
        if (kept.broker, kept.topic) == (broker, topic):
            return kept.partitions
    return _as_partitions_say(controller, broker, topic)


def _as_partitions_say(controller: Controller, broker: BrokerId, topic: str) -> tuple[int, ...]:
    members = (p.name for p in controller.partitions if broker in p.elr)
    return tuple(int(n.rpartition("-")[2]) for n in members if topic_of(n) == topic)


def _with(controller: Controller, changed: ElrList) -> Controller:
    whose = (changed.broker, changed.topic)
    lists = [kept for kept in controller.elr_lists if (kept.broker, kept.topic) != whose]
    if sorted(_as_partitions_say(controller, *whose)) != sorted(changed.partitions):
        lists.append(changed)
    return replace(controller, elr_lists=tuple(sorted(lists)))

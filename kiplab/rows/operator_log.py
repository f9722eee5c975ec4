"""What an operator reads in the logs of Kafka: level, logger and format as each release has them.

Formats facts and decides nothing. `controller_log`, `broker_log` and `zookeeper_log` have a
function for each kind of event, in the words of the release that the node runs. What the model does
not keep (topic ids, microseconds, the whole text of a pending state) is written as …; where Kafka
logs nothing, there is nothing. What it logs and is left out, and why, is in tests/rows/unlogged.py.
Source: the files named by each logger, at the last tag of every release (of 3.9,
3.9.0-rc3; of 4.0 to 4.3 the sources of 4.0.2, 4.1.2, 4.2.1 and 4.3.1).
"""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from ..engine.events import Delivered, Event
from ..protocol import facts, releases, zookeeper_facts
from ..protocol.registrations import PartitionRegistration
from . import broker_log, controller_log, zookeeper_log
from .snapshots import LogLine, Moment


def log_lines(event: Event, moment: Moment) -> tuple[LogLine, ...]:
    """The lines that follow from one event of a move, in order."""
    lines = _WITH_ZOOKEEPER if moment.mode is releases.Mode.ZOOKEEPER else _LINES
    made = lines.get(type(event))
    return tuple(made(event, moment)) if made is not None else ()


def all_lines(moment: Moment) -> tuple[str, ...]:
    """The lines of a whole move, as text."""
    return tuple(str(line) for e in moment.step.events for line in log_lines(e, moment))


_RELEASES = list(releases.RELEASES)
_DESCRIBES_ELR = frozenset(_RELEASES[_RELEASES.index("3.8") :])
_LINES: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    facts.Refused: controller_log.refused,
    Delivered: lambda event, moment: chain(
        controller_log.delivered(event, moment), broker_log.delivered(event, moment)
    ),
    facts.ControllerResigned: controller_log.resigned,
    facts.PeriodicElections: controller_log.periodic,
    facts.TopicConfigured: controller_log.configured,
    facts.IsrChanged: controller_log.isr_changed,
    facts.LeaderElected: controller_log.elected,
    facts.BrokerChanged: controller_log.broker_changed,
    facts.IsrReverted: broker_log.reverted,
    facts.IsrStuck: broker_log.stuck,
    facts.LifecycleChanged: broker_log.lifecycle,
    facts.Registered: broker_log.one_sentence,
    facts.Truncated: broker_log.one_sentence,
    facts.RecordsDeleted: broker_log.deleted,
    facts.EpochDropped: broker_log.one_sentence,
}
_OF_ZOOKEEPER: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    zookeeper_facts.ZnodeChanged: zookeeper_log.znode_changed,
    zookeeper_facts.SessionOpened: zookeeper_log.session_opened,
    zookeeper_facts.SessionEnded: zookeeper_log.session_ended,
    zookeeper_facts.ShutdownTried: zookeeper_log.shutdown_tried,
    zookeeper_facts.ControllerElected: zookeeper_log.elected,
    zookeeper_facts.ControllerStoodDown: zookeeper_log.stood_down,
    zookeeper_facts.BrokersCompared: zookeeper_log.compared,
}
_LINES |= _OF_ZOOKEEPER
_WITH_ZOOKEEPER: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    facts.Refused: zookeeper_log.refused,
    Delivered: zookeeper_log.delivered,
    facts.IsrProposed: zookeeper_log.proposed,
    facts.IsrChanged: zookeeper_log.isr_changed,
    facts.IsrReverted: zookeeper_log.reverted,
    facts.IsrStuck: broker_log.stuck,
    facts.LifecycleChanged: zookeeper_log.lifecycle,
    facts.Truncated: zookeeper_log.truncated,
    facts.RecordsDeleted: zookeeper_log.deleted,
    facts.EpochDropped: zookeeper_log.truncated,
    **_OF_ZOOKEEPER,
}


def topic_description(state: PartitionRegistration, release: str) -> str:
    """What ``kafka-topics.sh --describe`` prints of a partition, by the metadata of the broker that
    is asked and with the tool of its release. Both lists of KIP-966 come from 3.8 on, from the
    broker's answer to DescribeTopicPartitions: a fenced member of the ELR is listed too.

    Source: TopicCommand.printDescription, KRaftMetadataCache.describeTopicResponse (4.3.1).
    """
    lists = [("Replicas", state.replicas), ("Isr", state.isr)]
    if state.adding or state.removing:
        lists += [("Adding Replicas", state.adding), ("Removing Replicas", state.removing)]
    if release in _DESCRIBES_ELR:
        lists += [("Elr", state.elr), ("LastKnownElr", state.last_known)]
    leader = "none" if state.leader < 0 else str(state.leader)
    told = (f"{name}: {','.join(map(str, ids))}" for name, ids in lists)
    return "  ".join((f"Leader: {leader}", *told))

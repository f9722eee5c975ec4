"""What an operator reads in the logs of Kafka: level, logger and format as each release has them.

Formats facts and decides nothing. What the model does not keep (topic ids, microseconds, the whole
text of a pending state) is written as …; where Kafka logs nothing, there is nothing. What it logs
and is left out here, and why, stands in tests/rows/unlogged.py.
Source: the files named by each logger, at the last tag of every release (of 3.9,
3.9.0-rc3; of 4.0 to 4.3 the sources of 4.0.2, 4.1.2, 4.2.1 and 4.3.1).
"""

from collections.abc import Callable, Iterator
from typing import Any

from ..engine.events import Delivered, Event
from ..protocol import facts, ids, releases, zookeeper_facts
from . import broker_log, controller_log
from . import zookeeper_broker_log as zookeeper_broker
from . import zookeeper_controller_log as zookeeper_controller
from .snapshots import LogLine, Moment


def log_lines(event: Event, moment: Moment) -> tuple[LogLine, ...]:
    """The lines that follow from one event of a move, in order."""
    lines = _WITH_ZOOKEEPER if moment.mode is releases.Mode.ZOOKEEPER else _LINES
    made = lines.get(type(event))
    return tuple(made(event, moment)) if made is not None else ()


def all_lines(moment: Moment) -> tuple[str, ...]:
    """The lines of a whole move, as text."""
    return tuple(str(line) for e in moment.step.events for line in log_lines(e, moment))


def _delivered(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    yield from controller_log.delivered(event, moment)
    yield from broker_log.delivered(event, moment)


def _delivered_with_zookeeper(event: Delivered, moment: Moment) -> Iterator[LogLine]:
    on_a_broker = event.receiver != ids.host_of(event.receiver)
    of = zookeeper_controller if on_a_broker else zookeeper_broker
    yield from of.delivered(event, moment)


def _refused_with_zookeeper(event: facts.Refused, moment: Moment) -> Iterator[LogLine]:
    on_a_broker = event.node != ids.host_of(event.node)
    of = zookeeper_controller if on_a_broker else zookeeper_broker
    yield from of.refused(event, moment)


_LINES: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    facts.Refused: controller_log.refused,
    Delivered: _delivered,
    facts.ControllerResigned: controller_log.resigned,
    facts.PeriodicElections: controller_log.periodic,
    facts.TopicConfigured: controller_log.configured,
    facts.IsrChanged: controller_log.isr_changed,
    facts.BrokerChanged: controller_log.broker_changed,
    facts.IsrReverted: broker_log.reverted,
    facts.IsrStuck: broker_log.stuck,
    facts.LifecycleChanged: broker_log.lifecycle,
    facts.Registered: broker_log.registered,
    facts.Truncated: broker_log.truncated,
    facts.RecordsDeleted: broker_log.deleted,
    facts.EpochDropped: broker_log.epoch_dropped,
}
_OF_ZOOKEEPER: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    zookeeper_facts.ZnodeChanged: zookeeper_broker.znode_changed,
    zookeeper_facts.SessionOpened: zookeeper_broker.session_opened,
    zookeeper_facts.SessionEnded: zookeeper_broker.session_ended,
    zookeeper_facts.ShutdownTried: zookeeper_broker.shutdown_tried,
    zookeeper_facts.ControllerElected: zookeeper_controller.elected,
    zookeeper_facts.ControllerStoodDown: zookeeper_controller.stood_down,
    zookeeper_facts.BrokersCompared: zookeeper_controller.compared,
}
_LINES |= _OF_ZOOKEEPER
_WITH_ZOOKEEPER: dict[type, Callable[[Any, Moment], Iterator[LogLine]]] = {
    facts.Refused: _refused_with_zookeeper,
    Delivered: _delivered_with_zookeeper,
    facts.IsrProposed: zookeeper_broker.proposed,
    facts.IsrChanged: zookeeper_broker.isr_changed,
    facts.IsrReverted: zookeeper_broker.reverted,
    facts.IsrStuck: broker_log.stuck,
    facts.LifecycleChanged: zookeeper_broker.lifecycle,
    facts.Truncated: zookeeper_broker.truncated,
    facts.RecordsDeleted: zookeeper_broker.deleted,
    facts.EpochDropped: zookeeper_broker.epoch_dropped,
    **_OF_ZOOKEEPER,
}

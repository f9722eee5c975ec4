"""What there is to try of a controller of ZooKeeper's time and of those it tells, read off the
engine's own rules and tables; and what situations have tried of it: guards, errors, requests.

Only what is compared with a real controller counts: whatever the controller judges, and what a
broker answers to a whole request. What is not tried on a release has its reason here, mostly by
where in the engine a rule is asked for. What could be tried and is not fails a test.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, get_args

from kiplab.engine import channels, cluster, events, moves, step, zookeeper_routes
from kiplab.protocol import facts, ids, messages, releases, zookeeper
from kiplab.protocol.features import Features
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.replica.broker_state import Broker
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperController

from ..skeleton import coverage
from .situations import CONTROLLER

REQUEST = "request"
"""The family of kinds of requests, and of news from ZooKeeper."""
_BY_HAND = "fake brokers do not look at it: real ones are asked by hand (judge brokers)"
_LEADERS_ASK = "leaders ask a controller for an ISR from inter-broker protocol 2.7-IV2 on"
_OPERATORS = "operators ask for elections in plays (`kiplab real 704-zookeeper`)"
_UNTRIED_IN: dict[str, str] = {"control_requests": _BY_HAND}
"""Why what is asked for in no other module may be untried."""
_SINCE_VERSION = {"UNKNOWN_TOPIC_ID": 2, "OPERATION_NOT_ATTEMPTED": 1}
"""Errors that AlterPartition alone knows, and since when."""
_SINCE_EPOCHS = ("UNKNOWN_SERVER_ERROR",)
_KIP_380 = (2, 2)
_JUDGED = ids.controller_on(ids.BrokerId(CONTROLLER))
_OF_ELECTIONS = frozenset({"zookeeper_elections"})
_OF_ALTER_ISR = ("alter_isr", "isr_checks")
ELECTIONS = coverage.Rule(REQUEST, messages.ElectLeadersRequest.api.label)
"""What operators alone ask for."""


@cache
def control_rules(features: Features) -> tuple[coverage.Rule, ...]:
    """Every guard that a release has and a rule of ZooKeeper mode asks for, every error that one
    names, and every kind of request, or of news from ZooKeeper, that there is a rule for.
    """
    release = releases.RELEASES[features.release]
    return (
        *(
            coverage.Rule(coverage.GUARD, id)
            for id in coverage.guards_in(zookeeper)
            if GUARDS[id].built_in(release)
        ),
        *(coverage.Rule(coverage.ERROR, name) for name in coverage.errors_of(zookeeper)),
        *(coverage.Rule(REQUEST, name) for name in _kinds()),
    )


def asked_for_in(rule: coverage.Rule) -> frozenset[str]:
    """The modules of `protocol/zookeeper` that a rule is in; none for a kind of request."""
    return coverage.words_in(zookeeper).get(rule.name, frozenset())


@cache
def _kinds() -> tuple[str, ...]:
    """Of KIP-343, which no release has, there is none."""
    routed = (
        body
        for node, body in (*zookeeper_routes.JOINT_ROUTES, *zookeeper_routes.ZOOKEEPER_ROUTES)
        if node in (ZooKeeperController, Broker)
    )
    asked = (*get_args(messages.Request), messages.WatcherEvent, messages.SessionExpired)
    built = (
        b for b in routed if b in asked and b.__module__ != messages.heartbeat_messages.__name__
    )
    return tuple(dict.fromkeys(map(_label, built)))


def _label(kind: Any) -> str:
    label: str = kind.api.label
    return label


# --- what is tried --------------------------------------------------------------------------------


class ControlCoverage(coverage.Coverage):
    """Hits of each rule; a rule that refuses nothing is looked for once, at the controller."""

    def __init__(self) -> None:
        super().__init__(
            _shown, list, coverage.guards_in(zookeeper), ids.BrokerId(CONTROLLER), enough=1
        )

    def see(self, before: cluster.Cluster, move: moves.Move, done: step.Step) -> None:
        """One move: the cluster before it, and what it came to."""
        message = channels.find(before, move.message) if isinstance(move, moves.Deliver) else None
        if message is not None and message.receiver == _JUDGED:
            super().see(before, move, done)
        else:
            self.hits.update(_shown(before, move, done))


def _shown(before: cluster.Cluster, move: moves.Move, done: step.Step) -> Iterator[coverage.Rule]:
    message = channels.find(before, move.message) if isinstance(move, moves.Deliver) else None
    if message is None:
        return
    yield coverage.Rule(REQUEST, _label(type(message.body)))
    for event in done.events:
        yield from _shown_by(event, message.receiver)


def _shown_by(event: events.Event, node: ids.BrokerId) -> Iterable[coverage.Rule]:
    """Of a broker it is compared what it answers to a whole request, and not of each partition."""
    if isinstance(event, facts.Refused) and event.guard is not None:
        if event.node == _JUDGED or event.partition is None:
            yield coverage.Rule(coverage.GUARD, event.guard)
    elif isinstance(event, events.Sent | events.Dropped) and event.message.sender == node:
        whole = (getattr(event.body, "error", None),)
        errors = coverage.errors_in(event.body if node == _JUDGED else whole)
        yield from (coverage.Rule(coverage.ERROR, error.name) for error in errors)


# --- what is not tried ----------------------------------------------------------------------------


def why_untried(rule: coverage.Rule, features: Features) -> str | None:
    """Why no situation tries `rule` on this release; None if one can."""
    # Of a release's own elections no error is answered.
    modules = asked_for_in(rule) - (_OF_ELECTIONS if rule.family == coverage.ERROR else frozenset())
    if rule == ELECTIONS or (rule.family == coverage.ERROR and not modules):
        return _OPERATORS
    if rule.family == coverage.ERROR and (why := _why_unanswered(rule.name, features)):
        return why
    is_for_isr = rule.name == "AlterPartition" or (modules and modules <= {*_OF_ALTER_ISR})
    if is_for_isr and features.leaders_write_isr():
        return _LEADERS_ASK
    left = modules - {*_OF_ALTER_ISR} if features.leaders_write_isr() else modules
    reasons = [_UNTRIED_IN.get(module) for module in sorted(left)]
    return None if None in reasons or not reasons else reasons[0]


def _why_unanswered(error: str, features: Features) -> str | None:
    """Why a release does not answer an error at all."""
    release = releases.RELEASES[features.release]
    guards = coverage.guards_in(zookeeper)
    checks = [id for id in guards if getattr(GUARDS[id].error, "name", "") == error]
    if checks and not any(GUARDS[id].built_in(release) for id in checks):
        return f"the release has none of the checks that answer it ({', '.join(checks)})"
    version = _SINCE_VERSION.get(error)
    if version is not None and release.alter_partition < version:
        return f"it came with version {version} of AlterPartition"
    if error in _SINCE_EPOCHS and release.code < _KIP_380:
        return "it takes a request with a broker epoch (KIP-380)"
    return None

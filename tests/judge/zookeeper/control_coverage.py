"""What there is to try of a controller of ZooKeeper's time and of those it tells, read off the
engine's own rules and tables; and what situations have tried of it: guards, errors, requests.

Only what is compared with a real controller counts: whatever the controller judges, and what a
broker answers to a whole request. What is not tried on a release has its reason here, mostly by
where in the engine a rule is asked for. What could be tried and is not fails a test.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, get_args

from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.channels import find
from kiplab.engine.cluster import Cluster
from kiplab.engine.events import Dropped, Event, Sent
from kiplab.engine.step import Step, step
from kiplab.engine.zookeeper_routes import JOINT_ROUTES, ZOOKEEPER_ROUTES
from kiplab.protocol import zookeeper
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import Features, switched
from kiplab.protocol.guards import GUARDS, GuardKind
from kiplab.protocol.ids import BrokerId, controller_on
from kiplab.protocol.messages import (
    ElectLeadersRequest,
    Request,
    SessionExpired,
    WatcherEvent,
    heartbeat_messages,
)
from kiplab.protocol.releases import RELEASES
from kiplab.protocol.replica.broker_state import Broker
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperController
from tests.judge.skeleton.coverage import errors_in
from tests.judge.zookeeper.situations import CONTROLLER

_BY_HAND = "fake brokers do not look at it: real ones are asked by hand (judge/acceptance)"
_LEADERS_ASK = "leaders ask a controller for an ISR from inter-broker protocol 2.7-IV2 on"
_OPERATORS = "operators ask for elections in plays (`kiplab real 704-zookeeper`)"
_UNTRIED_IN: dict[str, str] = {"control_requests": _BY_HAND}
"""Why what is asked for in no other module may be untried."""
_SINCE_VERSION = {"UNKNOWN_TOPIC_ID": 2, "OPERATION_NOT_ATTEMPTED": 1}
"""Errors that AlterPartition alone knows, and since when."""
_SINCE_EPOCHS = ("UNKNOWN_SERVER_ERROR",)
_KIP_380 = (2, 2)
_JUDGED = controller_on(BrokerId(CONTROLLER))
_OF_ALTER_ISR = ("alter_isr",)


class ControlCoverage:
    """``coverage.see(before, move, done)`` for each move of an engine; then `hits`."""

    def __init__(self) -> None:
        self.hits: Counter[ControlRule] = Counter()

    def see(self, before: Cluster, move: moves.Move, done: Step) -> None:
        """One move: the cluster before it, and what it came to."""
        message = find(before, move.message) if isinstance(move, moves.Deliver) else None
        if message is None:
            return
        self.hits[ControlRule(Tried.REQUEST, kind_of(message.body))] += 1
        for event in done.events:
            self.hits.update(_shown_by(event, message.receiver))
        if message.receiver != _JUDGED:
            return
        for rule in _silent_rules(before.features):
            # Each takes a second engine, without it: one time is enough.
            if not self.hits[rule] and _decides(rule.name, before, move, done):
                self.hits[rule] += 1


def _shown_by(event: Event, node: BrokerId) -> Iterator[ControlRule]:
    """Of a broker it is compared what it answers to a whole request, and not of each partition."""
    if isinstance(event, Refused) and event.guard is not None:
        if event.node == _JUDGED or event.partition is None:
            yield ControlRule(Tried.GUARD, event.guard)
    elif isinstance(event, Sent | Dropped) and event.message.sender == node:
        whole = (getattr(event.body, "error", None),)
        errors = errors_in(event.body if node == _JUDGED else whole)
        yield from (ControlRule(Tried.ERROR, error.name) for error in errors)


@cache
def _silent_rules(features: Features) -> tuple[ControlRule, ...]:
    """Guards that refuse nothing: that one acted shows only in what happens without it."""
    active = features.active(BrokerId(CONTROLLER))
    guards = (rule for rule in control_rules(features) if rule.tried is Tried.GUARD)
    silent = (rule for rule in guards if GUARDS[rule.name].kind is GuardKind.RULE)
    return tuple(rule for rule in silent if rule.name in active)


def _decides(guard: str, before: Cluster, move: moves.Move, done: Step) -> bool:
    without = replace(before, features=switched(before.features, guard, False))
    return step(without, move).events != done.events


# --- what is not tried ----------------------------------------------------------------------------


def why_untried(rule: ControlRule, features: Features) -> str | None:
    """Why no situation tries `rule` on this release; None if one can."""
    if rule == ELECTIONS:
        return _OPERATORS
    if rule.tried is Tried.ERROR and (why := _why_unanswered(rule.name, features)):
        return why
    modules = asked_for_in(rule)
    is_for_isr = rule.name == "AlterPartition" or (modules and modules <= {*_OF_ALTER_ISR})
    if is_for_isr and features.leaders_write_isr():
        return _LEADERS_ASK
    left = modules - {*_OF_ALTER_ISR} if features.leaders_write_isr() else modules
    reasons = [_UNTRIED_IN.get(module) for module in sorted(left)]
    return None if None in reasons or not reasons else reasons[0]


def _why_unanswered(error: str, features: Features) -> str | None:
    """Why a release does not answer an error at all."""
    release = RELEASES[features.release]
    checks = [id for id in asked_for_guards() if getattr(GUARDS[id].error, "name", "") == error]
    if checks and not any(GUARDS[id].built_in(release) for id in checks):
        return f"the release has none of the checks that answer it ({', '.join(checks)})"
    version = _SINCE_VERSION.get(error)
    if version is not None and release.alter_partition < version:
        return f"it came with version {version} of AlterPartition"
    if error in _SINCE_EPOCHS and release.code < _KIP_380:
        return "it takes a request with a broker epoch (KIP-380)"
    return None


def coverage_lines(
    hits: Mapping[str, Counter[ControlRule]], features: Mapping[str, Features]
) -> Iterator[str]:
    """`coverage_table`, and below it what was not tried, with the reason."""
    yield from coverage_table(hits, features)
    for patch in hits:
        for rule, why in untried(hits[patch], features[patch]):
            yield f"Kafka {patch}, {rule}: {why or _ASK_FOR_IT}"


def coverage_table(
    hits: Mapping[str, Counter[ControlRule]], features: Mapping[str, Features]
) -> Iterator[str]:
    """How often each patch release has tried each rule; ``-`` where it has none such."""
    rules = {patch: control_rules(features[patch]) for patch in hits}
    every = dict.fromkeys(rule for patch in hits for rule in rules[patch])
    width = max(map(len, map(str, every)), default=0)
    yield " ".join([f"{'times tried':<{width}}", *(f"{patch:>7}" for patch in hits)])
    for rule in every:
        cells = (str(hits[p][rule]) if rule in rules[p] else "-" for p in hits)
        yield " ".join([f"{rule!s:<{width}}", *(f"{cell:>7}" for cell in cells)])


_ASK_FOR_IT = (
    "let a situation ask for it (judge/zookeeper_era/judged_situations.py), or say in"
    " control_coverage.py why none can"
)


def untried(
    hits: Counter[ControlRule], features: Features
) -> Iterable[tuple[ControlRule, str | None]]:
    """Each rule of a release without a hit, and the reason; None where there is no reason."""
    for rule in control_rules(features):
        if not hits[rule]:
            yield rule, why_untried(rule, features)


class Tried(StrEnum):
    """What is counted."""

    GUARD = "guard"
    ERROR = "error"
    REQUEST = "request"


class ControlRule(NamedTuple):
    """One thing for situations to try."""

    tried: Tried
    name: str

    def __str__(self) -> str:
        return f"{self.tried} {self.name}"


@cache
def control_rules(features: Features) -> tuple[ControlRule, ...]:
    """Every guard that a release has and a rule of ZooKeeper mode asks for, every error that one
    names, and every kind of request, or of news from ZooKeeper, that there is a rule for.
    """
    release = RELEASES[features.release]
    ids = (id for id in asked_for_guards() if GUARDS[id].built_in(release))
    errors = (error.name for error in KafkaError if error.name in _modules_by_word())
    return (
        *(ControlRule(Tried.GUARD, id) for id in ids),
        *(ControlRule(Tried.ERROR, name) for name in errors),
        *(ControlRule(Tried.REQUEST, name) for name in _kinds()),
    )


def asked_for_guards() -> tuple[str, ...]:
    """Every guard that a rule of ZooKeeper mode asks for, whatever release has it."""
    return tuple(id for id in GUARDS if id in _modules_by_word())


def asked_for_in(rule: ControlRule) -> frozenset[str]:
    """The modules of `protocol/zookeeper` that a rule is in; none for a kind of request."""
    return _modules_by_word().get(rule.name, frozenset())


def kind_of(body: object) -> str:
    """What a message is called among the rules."""
    return _label(type(body))


@cache
def _kinds() -> tuple[str, ...]:
    """Of KIP-343, which no release has, there is none."""
    routed = (
        body
        for node, body in (*JOINT_ROUTES, *ZOOKEEPER_ROUTES)
        if node in (ZooKeeperController, Broker)
    )
    asked = (*get_args(Request), WatcherEvent, SessionExpired)
    built = (b for b in routed if b in asked and b.__module__ != heartbeat_messages.__name__)
    return tuple(dict.fromkeys(map(_label, built)))


def _label(kind: Any) -> str:
    label: str = kind.api.label
    return label


@cache
def _modules_by_word() -> Mapping[str, frozenset[str]]:
    """Guards' ids and errors' names, and the modules in which they are written."""
    found: dict[str, frozenset[str]] = {}
    for module in pkgutil.iter_modules(zookeeper.__path__, f"{zookeeper.__name__}."):
        name = module.name.rpartition(".")[2]
        for word in _words(module.name):
            found[word] = found.get(word, frozenset()) | {name}
    return found


def _words(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(inspect.getsource(importlib.import_module(module)))):
        if isinstance(node, ast.Constant) and node.value in GUARDS:
            yield str(node.value)
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == KafkaError.__name__:
            yield node.attr


ELECTIONS = ControlRule(Tried.REQUEST, ElectLeadersRequest.api.label)
"""What operators alone ask for."""

"""All that there is to try of a controller of ZooKeeper's time and of those it tells, read off the
engine's own rules and tables; and where each is asked for.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, get_args

from ...engine.zookeeper_routes import JOINT_ROUTES, ZOOKEEPER_ROUTES
from ...protocol import zookeeper
from ...protocol.errors import KafkaError
from ...protocol.features import Features
from ...protocol.guards import GUARDS
from ...protocol.messages import (
    ElectLeadersRequest,
    Request,
    SessionExpired,
    WatcherEvent,
    heartbeat_messages,
)
from ...protocol.releases import RELEASES
from ...protocol.replica.broker_state import Broker
from ...protocol.zookeeper.zookeeper_controller import ZooKeeperController


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

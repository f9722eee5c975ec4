"""All that there is to try of the controller, read off the engine's own rules and tables."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from types import ModuleType
from typing import NamedTuple, get_args

from ...protocol import kraft
from ...protocol.errors import KafkaError
from ...protocol.guards import GUARDS
from ...protocol.kraft import records
from ...protocol.releases import RELEASES
from .controller_transitions import every_transition


class Family(StrEnum):
    """What is counted."""

    GUARD = "guard"
    ERROR = "error"
    RECORD = "record"
    TRANSITION = "transition"


class ControllerRule(NamedTuple):
    """One thing that conversations shall try."""

    family: Family
    name: str

    def __str__(self) -> str:
        return f"{self.family} {self.name}"


def rules_of(release: str) -> tuple[ControllerRule, ...]:
    """Every guard that the controller of `release` asks for, and every error, record and transition
    of any controller: those that this one does not have are said in `unreachable_rules.py`.
    """
    guards = (GUARDS[id] for id in guards_asked_for())
    built = (guard.id for guard in guards if guard.built_in(RELEASES[release]))
    return (
        *(ControllerRule(Family.GUARD, id) for id in built),
        *(ControllerRule(Family.ERROR, error.name) for error in _errors_answered()),
        *(ControllerRule(Family.RECORD, record.__name__) for record in get_args(records.Record)),
        *(ControllerRule(Family.TRANSITION, name) for name in every_transition()),
    )


@cache
def guards_asked_for() -> tuple[str, ...]:
    """Ids that are written in a rule of the controller, in the order of the table."""
    written = {
        node.value
        for tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return tuple(id for id in GUARDS if id in written)


@cache
def _errors_answered() -> tuple[KafkaError, ...]:
    """Errors that a rule of the controller names, and that there is none."""
    named = {
        node.attr
        for tree in _sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    }
    return tuple(error for error in KafkaError if error.name in {*named, KafkaError.NONE.name})


@cache
def _sources() -> tuple[ast.Module, ...]:
    return tuple(ast.parse(inspect.getsource(module)) for module in _modules())


def _modules() -> Iterator[ModuleType]:
    """Where the rules of the controller are: the files that know nothing of a broker's state."""
    for found in pkgutil.iter_modules(kraft.__path__, f"{kraft.__name__}."):
        module = importlib.import_module(found.name)
        if not hasattr(module, "Broker"):
            yield module

"""What there is to try, read off the engine's own rules, and how often it was tried."""

import ast
import importlib
import inspect
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kiplab.engine import cluster, events, moves
from kiplab.engine.step import Step, step
from kiplab.protocol import features, ids
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.guards import GUARDS, GuardKind

GUARD, ERROR = "guard", "error"
"""Families that every judge has; each adds its own."""


class Rule(NamedTuple):
    """One thing that conversations shall try, as in ``guard 841.fenced``."""

    family: str
    name: str

    def __str__(self) -> str:
        return f"{self.family} {self.name}"


@cache
def words_in(package: ModuleType) -> Mapping[str, frozenset[str]]:
    """Ids of guards and names of errors that are written in a package's modules, each with the
    modules that have it.
    """
    written: dict[str, frozenset[str]] = {}
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        name = module.name.rpartition(".")[2]
        for word in _words(module.name):
            written[word] = written.get(word, frozenset()) | {name}
    return written


def _words(module: str) -> Iterator[str]:
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    errors = {KafkaError.__name__, *_aliases(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in GUARDS:
            yield node.value
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in errors:
            yield node.attr


def _aliases(tree: ast.Module) -> Iterator[str]:
    """Shorter names that a module gives to KafkaError."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.value, "id", "") == KafkaError.__name__:
            yield from (name.id for name in node.targets if isinstance(name, ast.Name))


def guards_in(package: ModuleType, *, but: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The guards that a package asks for in more modules than `but`, in the order of the table."""
    words = words_in(package)
    return tuple(id for id in GUARDS if words.get(id, frozenset()) - but)


def errors_of(package: ModuleType, *, but: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The errors that a package names in more modules than `but`, in the order of their numbers."""
    words = words_in(package)
    return tuple(e.name for e in KafkaError if words.get(e.name, frozenset()) - but)


def errors_in(value: object) -> Iterator[KafkaError]:
    """Every error inside an answer."""
    if isinstance(value, KafkaError):
        yield value
    elif isinstance(value, msgspec.Struct):
        yield from (error for part in msgspec.structs.astuple(value) for error in errors_in(part))
    elif isinstance(value, tuple):
        yield from (error for part in value for error in errors_in(part))


Shown = Callable[[cluster.Cluster, moves.Move, Step], Iterable[Rule]]
"""The rules that one move of the engine shows by what it came to."""
Visible = Callable[[Iterable[events.Event]], list[events.Event]]
"""The events of a move that the judge compares."""


_SILENT = (GuardKind.RULE, GuardKind.FEATURE)


class Coverage:
    """Hits of each rule: `see` is told every move of the engine.

    A guard of the kind RULE or FEATURE refuses nothing: it shows only in what happens without it,
    which takes a second step. It is looked for until it has `enough` hits.
    """

    def __init__(
        self, shown: Shown, visible: Visible, silent: Iterable[str], node: ids.BrokerId, enough: int
    ) -> None:
        self.hits: Counter[Rule] = Counter()
        self._shown, self._visible, self._node, self._enough = shown, visible, node, enough
        self._silent = [Rule(GUARD, id) for id in silent if GUARDS[id].kind in _SILENT]

    def see(self, before: cluster.Cluster, move: moves.Move, done: Step) -> None:
        """One move: the cluster before it, and what it came to."""
        self.hits.update(self._shown(before, move, done))
        if isinstance(move, moves.Deliver | moves.ExpireSession | moves.Configure):
            active = before.features.active(self._node)
            for rule in self._silent:
                wanted = rule.name in active and self.hits[rule] < self._enough
                if wanted and self._decides(rule.name, before, move, done):
                    self.hits[rule] += 1

    def _decides(self, guard: str, before: cluster.Cluster, move: moves.Move, done: Step) -> bool:
        """Whether something else is answered or written when the guard is off."""
        without = replace(before, features=features.switched(before.features, guard, False))
        return self._visible(step(without, move).events) != self._visible(done.events)

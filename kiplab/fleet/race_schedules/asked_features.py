"""Several feature sets in one run, for as long as they would all be given the same answers.

Rules ask their features for guards and versions. Where all sets of a run answer alike, one step
stands for all of them; where they do not, the question is noted, and who asked has to part them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId

_GUARD, _FETCH, _ALTER_PARTITION = "guard", "fetch", "alter-partition"
FeatureQuestion = tuple[str, BrokerId, Any]


class AskedGuards:
    """The guards that act on a node, as the first of several sets has them.

    It can be asked what rules ask, and nothing else: a question that it did not note would make
    one set's answer count for another.
    """

    __slots__ = ("differing", "node", "on", "parted")

    def __init__(
        self, node: BrokerId, sets: Iterable[Features], parted: set[FeatureQuestion]
    ) -> None:
        every = [features.active(node) for features in sets]
        self.node, self.on, self.parted = node, every[0], parted
        self.differing = frozenset.union(*every) - frozenset.intersection(*every)

    def __contains__(self, guard: str) -> bool:
        if guard in self.differing:
            self.parted.add((_GUARD, self.node, guard))
        return guard in self.on

    def __ge__(self, guards: Iterable[str]) -> bool:
        return all(guard in self for guard in guards)

    def __and__(self, guards: Iterable[str]) -> frozenset[str]:
        return frozenset(guard for guard in guards if guard in self)


class AskedFeatures(Features, frozen=True):
    """The first of `sets`, which have release, metadata version and nodes in common.

    `parted` collects the questions to which some of them would have answered otherwise.
    """

    sets: tuple[Features, ...] = ()
    parted: set[FeatureQuestion] = msgspec.field(default_factory=set)
    guards: dict[BrokerId, AskedGuards] = msgspec.field(default_factory=dict)

    def active(self, node: BrokerId) -> Any:
        """As of the first set."""
        found = self.guards.get(node)
        if found is None:
            found = self.guards[node] = AskedGuards(node, self.sets, self.parted)
        return found

    def alter_partition_version(self, sender: BrokerId, controller: BrokerId = CONTROLLER) -> int:
        """As of the first set."""
        version: int = self._asked((_ALTER_PARTITION, sender, controller))
        return version

    def fetch_version(self) -> int:
        """As of the first set."""
        version: int = self._asked((_FETCH, CONTROLLER, None))
        return version

    def _asked(self, question: FeatureQuestion) -> Any:
        first, *others = (_answer(features, question) for features in self.sets)
        if any(other != first for other in others):
            self.parted.add(question)
        return first


def asked(sets: tuple[Features, ...]) -> AskedFeatures:
    """Features to run a step with that is meant to be one of all `sets`."""
    one = sets[0]
    return AskedFeatures(one.release, one.metadata_version, one.nodes, one.overrides, sets=sets)


def answers(features: Features, questions: Iterable[FeatureQuestion]) -> tuple[Any, ...]:
    """What one set answers: sets with equal answers go the same way."""
    return tuple(_answer(features, question) for question in questions)


def _answer(features: Features, question: FeatureQuestion) -> Any:
    kind, node, about = question
    if kind == _GUARD:
        return about in features.active(node)
    return (
        features.fetch_version()
        if kind == _FETCH
        else features.alter_partition_version(node, about)
    )

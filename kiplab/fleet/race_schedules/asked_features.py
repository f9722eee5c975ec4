"""Several feature sets in one run, for as long as they would all be given the same answers.

Rules ask their features for guards and versions. Where all sets of a run have a guard, or none has
it, one step stands for all of them; where they differ, that is noted, and who asked has to part
them. A version is mostly sent and not looked at: it is a varied number.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId
from .varied_numbers import Asking, joined


class AskedGuards:
    """The guards that act on a node, as the first of several sets has them.

    It can be asked what rules ask, and nothing else: an answer that it did not compare would make
    one set's count for another.
    """

    __slots__ = ("asking", "differing", "on")

    def __init__(self, node: BrokerId, sets: Iterable[Features], asking: Asking) -> None:
        every = [features.active(node) for features in sets]
        self.on, self.asking = every[0], asking
        differing = frozenset.union(*every) - frozenset.intersection(*every)
        self.differing = {guard: tuple(guard in on for on in every) for guard in differing}

    def __contains__(self, guard: str) -> bool:
        if guard in self.differing:
            self.asking.parted.append(self.differing[guard])
        return guard in self.on

    def __ge__(self, guards: Iterable[str]) -> bool:
        return all(guard in self for guard in guards)

    def __and__(self, guards: Iterable[str]) -> frozenset[str]:
        return frozenset(guard for guard in guards if guard in self)


class AskedFeatures(Features, frozen=True, kw_only=True):
    """The first of `sets`, which have release, metadata version and nodes in common; `members` are
    their numbers, and `asking` notes what they answer.
    """

    asking: Asking
    members: tuple[int, ...]
    sets: tuple[Features, ...]
    guards: dict[BrokerId, AskedGuards] = msgspec.field(default_factory=dict)
    versions: dict[tuple[BrokerId, ...], Any] = msgspec.field(default_factory=dict)

    def active(self, node: BrokerId) -> Any:
        """As of the first set."""
        asked_guards = self.guards.get(node)
        if asked_guards is None:
            asked_guards = self.guards[node] = AskedGuards(node, self.sets, self.asking)
        return asked_guards

    def alter_partition_version(self, sender: BrokerId, controller: BrokerId = CONTROLLER) -> Any:
        """One for each set, where they differ."""
        return self._varied(Features.alter_partition_version, sender, controller)

    def fetch_version(self) -> Any:
        """One for each set, where they differ."""
        return self._varied(Features.fetch_version)

    def _varied(self, version_of: Callable[..., int], *nodes: BrokerId) -> Any:
        version = self.versions.get(nodes)
        if version is None:
            of_each = zip(self.sets, self.members, strict=True)
            parts = ((version_of(features, *nodes), (member,)) for features, member in of_each)
            version = self.versions[nodes] = joined(self.asking, parts)
        return version

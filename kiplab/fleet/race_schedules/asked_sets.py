"""Groups of feature sets: one step's features for a whole group, and how answers split it."""

from typing import Any

from ...protocol.features import Features
from .asked_features import AskedFeatures
from .varied_numbers import Asking


class AskedSets:
    """Feature sets by their numbers, and what each group of them is asked with."""

    def __init__(self, sets: tuple[Features, ...]) -> None:
        self.sets, self.asking = sets, Asking()
        self._groups: dict[tuple[int, ...], AskedFeatures] = {}

    def group(self, members: tuple[int, ...]) -> AskedFeatures:
        """The features to run steps with that are meant for these sets, who are asked from now
        on: nothing is noted yet.
        """
        self.asking.parted.clear()
        self.asking.members = members
        features = self._groups.get(members)
        if features is None:
            features = self._groups[members] = self._asked(members)
        return features

    def parts(self) -> list[tuple[int, ...]]:
        """The current members, parted by the noted answers; those that answered like the first are
        in the first part.
        """
        parts: dict[tuple[Any, ...], list[int]] = {}
        answers = zip(*self.asking.parted, strict=True)
        for member, answer in zip(self.asking.members, answers, strict=True):
            parts.setdefault(answer, []).append(member)
        return [tuple(part) for part in parts.values()]

    def _asked(self, members: tuple[int, ...]) -> AskedFeatures:
        sets = tuple(self.sets[member] for member in members)
        one = sets[0]
        return AskedFeatures(
            one.release,
            one.metadata_version,
            one.nodes,
            one.overrides,
            asking=self.asking,
            members=members,
            sets=sets,
        )

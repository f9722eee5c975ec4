"""One schedule under several feature sets, run once for as long as they go the same way.

After each step a run is parted where a rule got another answer from some of its sets. They stay
apart only if the outcomes differ in more than numbers in the same places: those are kept side by
side (`varied_numbers.py`), and asked like everything else. What schedules of a window begin with is
the same in all of them, and done once.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.step import step
from ...plays.play import Statement
from ...plays.play_errors import PlayError
from ...plays.stage import MOVES_MAX
from .asked_sets import AskedSets
from .first_line import FirstLine
from .merged_clusters import merged
from .outcomes import Outcome, noted
from .schedule_branch import ScheduleBranch, next_move


class After(msgspec.Struct):
    """What a step came to for some of the sets."""

    members: tuple[int, ...]
    cluster: Cluster
    outcome: Outcome


class SharedRun:
    """Runs of `statements` under all of the sets, which begin as the branches given.

    `first` is shared by runs with these sets that begin alike up to the first line that lets time
    pass, with the same branches.
    """

    def __init__(self, statements: Sequence[Statement], sets: AskedSets, first: FirstLine) -> None:
        self.statements, self.sets, self.first = statements, sets, first
        self._waiting: list[ScheduleBranch] = []

    def play(self, beginnings: Sequence[ScheduleBranch]) -> Iterator[ScheduleBranch]:
        """The branches at the end of the schedule. Raises PlayError for one that is too long."""
        self._waiting += beginnings
        while self._waiting:
            branch = self._waiting.pop()
            self._to_the_end(branch)
            yield branch

    def _to_the_end(self, branch: ScheduleBranch) -> None:
        """Play a branch to its end; where its sets part, the others wait."""
        self._ask(branch)
        parted = self.sets.asking.parted
        while True:
            move = next_move(branch, self.statements, parted, self.first)
            if parted:
                parts = self.sets.parts()
                self._part(branch, [After(p, branch.cluster, branch.outcome) for p in parts])
            elif move is None:
                return
            else:
                self._move(branch, move)

    def _move(self, branch: ScheduleBranch, move: moves.Move) -> None:
        if branch.moved >= MOVES_MAX:
            raise PlayError("the schedule is too long")
        branch.moved += 1
        if branch.is_on_first_line and branch.end is not None:
            what_became = self.first.once(branch.cluster, move, lambda: self._done(branch, move))
            self._part(branch, what_became)
            return
        done = step(branch.cluster, move, checked=True)
        outcome = noted(branch.outcome, branch.start, move, done)
        if self.sets.asking.parted:
            after = After(branch.members, done.cluster, outcome)
            self._part(branch, self._groups(branch, move, after))
        else:
            branch.cluster, branch.outcome = done.cluster, outcome

    def _ask(self, branch: ScheduleBranch) -> None:
        """From now on the sets of this branch are asked."""
        features = self.sets.group(branch.members)
        if branch.cluster.features is not features:
            branch.cluster = replace(branch.cluster, features=features)

    def _part(self, branch: ScheduleBranch, groups: Sequence[After]) -> None:
        """Go on with the first group, mostly the only one; the others wait."""
        first, *others = groups
        for group in others:
            waits = replace(branch, kept=dict(branch.kept))
            waits.go_on(group.members, group.cluster, group.outcome)
            self._waiting.append(waits)
        branch.go_on(first.members, first.cluster, first.outcome)
        self._ask(branch)

    def _done(self, branch: ScheduleBranch, move: moves.Move) -> list[After]:
        done = step(branch.cluster, move, checked=True)
        outcome = noted(branch.outcome, branch.start, move, done)
        return self._groups(branch, move, After(branch.members, done.cluster, outcome))

    def _groups(self, branch: ScheduleBranch, move: moves.Move, after: After) -> list[After]:
        """Groups that go on together after a move: `after` is its outcome for the first set."""
        groups: list[After] = []
        others = self._others(branch, move, after) if self.sets.asking.parted else ()
        for one in (after, *others):
            self._join(groups, one)
        for group in groups:
            features = self.sets.group(group.members)
            if group.cluster.features is not features:
                group.cluster = replace(group.cluster, features=features)
        return groups

    def _others(self, branch: ScheduleBranch, move: moves.Move, after: After) -> Iterator[After]:
        """The same step for those of the group just asked who answer otherwise than its first.

        Only who answers like the first stays in `after`.
        """
        after.members, *others = self.sets.parts()
        for members in others:
            features = self.sets.group(members)
            done = step(replace(branch.cluster, features=features), move, checked=True)
            outcome = noted(branch.outcome, branch.start, move, done)
            part = After(members, done.cluster, outcome)
            if self.sets.asking.parted:
                yield from self._others(branch, move, part)
            yield part

    def _join(self, groups: list[After], after: After) -> None:
        """Merge an outcome into a group with an equal one, or make it a new group."""
        for group in groups:
            if group.outcome != after.outcome:
                continue
            asking = self.sets.asking
            both = merged(asking, group.cluster, group.members, after.cluster, after.members)
            if both is not None:
                group.members, group.cluster = (*group.members, *after.members), both
                return
        groups.append(after)

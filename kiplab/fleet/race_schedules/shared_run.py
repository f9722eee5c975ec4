"""One schedule under several feature sets, run once for as long as they go the same way.

After each step a run is parted where a rule got another answer from some of its sets. They stay
apart only if more became of it than other numbers in the same places: those are kept side by side
(`varied_numbers.py`), and asked like everything else. What schedules of a window begin with is the
same in all of them, and done once.
"""

from __future__ import annotations

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
from .merged_clusters import merged
from .outcomes import Outcome, noted
from .schedule_branch import ScheduleBranch, lines_before_time, next_move


class After(msgspec.Struct):
    """What a step came to for some of the sets."""

    members: tuple[int, ...]
    cluster: Cluster
    outcome: Outcome


KnownSteps = dict[tuple[int, moves.Move], tuple[Cluster, list[After]]]
"""What became of clusters, by their identity; so they are kept with it."""


class SharedRun:
    """Runs of `statements` under all of the sets, which begin as the branches given.

    `known` is shared by runs with these sets that begin alike up to the first line that lets time
    pass, with the same branches: what that line begins with is mostly the same in all of them.
    """

    def __init__(self, statements: Sequence[Statement], sets: AskedSets, known: KnownSteps) -> None:
        self.statements, self.sets, self.known = statements, sets, known
        self._first_wait = lines_before_time(statements) + 1
        self._waiting: list[ScheduleBranch] = []

    def play(self, beginnings: Sequence[ScheduleBranch]) -> Iterator[ScheduleBranch]:
        """The branches at the end of the schedule. Raises PlayError for one that is too long."""
        self._waiting += beginnings
        while self._waiting:
            branch = self._waiting.pop()
            if self._ends(branch):
                yield branch

    def _ends(self, branch: ScheduleBranch) -> bool:
        """Whether a branch was played to its end; else its sets have parted, and wait."""
        features, parted = self.sets.group(branch.members), self.sets.asking.parted
        if branch.cluster.features is not features:
            branch.cluster = replace(branch.cluster, features=features)
        while True:
            move = next_move(branch, self.statements, parted)
            if parted:
                for part in self.sets.parts():
                    self._waiting.append(replace(branch, members=part, kept=dict(branch.kept)))
                return False
            if move is None:
                return True
            if branch.moved >= MOVES_MAX:
                raise PlayError("the schedule is too long")
            branch.moved += 1
            if branch.line == self._first_wait and branch.end is not None:
                self._wait(branch, self._as_known(branch, move))
                return False
            done = step(branch.cluster, move)
            outcome = noted(branch.outcome, branch.start, move, done)
            if parted:
                after = After(branch.members, done.cluster, outcome)
                self._wait(branch, self._groups(branch, move, after))
                return False
            branch.cluster, branch.outcome = done.cluster, outcome

    def _wait(self, branch: ScheduleBranch, groups: Sequence[After]) -> None:
        """Put the branches that one becomes by a move among those that wait: mostly one."""
        for group in groups:
            self._waiting.append(
                replace(
                    branch,
                    members=group.members,
                    cluster=group.cluster,
                    outcome=group.outcome,
                    kept=dict(branch.kept),
                )
            )

    def _as_known(self, branch: ScheduleBranch, move: moves.Move) -> list[After]:
        """What becomes of a branch at the beginning; the final pass of time is not among it."""
        here = (id(branch.cluster), move)
        found = self.known.get(here)
        if found is None:
            done = step(branch.cluster, move)
            outcome = noted(branch.outcome, branch.start, move, done)
            groups = self._groups(branch, move, After(branch.members, done.cluster, outcome))
            found = self.known[here] = (branch.cluster, groups)
        return found[1]

    def _groups(self, branch: ScheduleBranch, move: moves.Move, after: After) -> list[After]:
        """Who goes on together after a move: `after` is what it came to for the first."""
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
            done = step(replace(branch.cluster, features=features), move)
            outcome = noted(branch.outcome, branch.start, move, done)
            part = After(members, done.cluster, outcome)
            if self.sets.asking.parted:
                yield from self._others(branch, move, part)
            yield part

    def _join(self, groups: list[After], after: After) -> None:
        """Add to the groups what became of some, or to one of them."""
        for group in groups:
            if group.outcome != after.outcome:
                continue
            asking = self.sets.asking
            both = merged(asking, group.cluster, group.members, after.cluster, after.members)
            if both is not None:
                group.members, group.cluster = (*group.members, *after.members), both
                return
        groups.append(after)

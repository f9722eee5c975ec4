"""One schedule under several feature sets, run once for as long as they go the same way.

After each step a run is parted where a rule got another answer from some of its sets. They stay
apart only if more became of it than other numbers in the same places: those are kept side by side
(`varied_numbers.py`), and asked like everything else.
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
from .schedule_branch import ScheduleBranch, next_move


class SharedRun:
    """Runs of `statements` under all of the sets, which begin as the branches given."""

    def __init__(self, statements: Sequence[Statement], sets: AskedSets) -> None:
        self.statements, self.sets = statements, sets
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
        branch.cluster = replace(branch.cluster, features=self.sets.group(branch.members))
        parted = self.sets.asking.parted
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
            done = step(branch.cluster, move)
            outcome = noted(branch.outcome, branch.start, move, done)
            if parted:
                self._part(branch, move, _After(branch.members, done.cluster, outcome))
                return False
            branch.cluster, branch.outcome = done.cluster, outcome

    def _part(self, branch: ScheduleBranch, move: moves.Move, after: _After) -> None:
        """Put the branches that one becomes by a move among those that wait: mostly one."""
        groups: list[_After] = []
        for one in (after, *self._others(branch, move, after)):
            self._join(groups, one)
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

    def _others(self, branch: ScheduleBranch, move: moves.Move, after: _After) -> Iterator[_After]:
        """The same step for those of the group just asked who answer otherwise than its first.

        Only who answers like the first stays in `after`.
        """
        after.members, *others = self.sets.parts()
        for members in others:
            features = self.sets.group(members)
            done = step(replace(branch.cluster, features=features), move)
            outcome = noted(branch.outcome, branch.start, move, done)
            part = _After(members, done.cluster, outcome)
            if self.sets.asking.parted:
                yield from self._others(branch, move, part)
            yield part

    def _join(self, groups: list[_After], after: _After) -> None:
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


class _After(msgspec.Struct):
    """What a step came to for some of the sets."""

    members: tuple[int, ...]
    cluster: Cluster
    outcome: Outcome

"""The outcomes of one schedule under several feature sets at once."""

from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from ...plays.play import Play, Statement
from ...plays.runner import open_stage
from ...protocol.features import Features
from .asked_sets import AskedSets
from .first_line import FirstLine
from .outcomes import Outcome, at_the_end
from .schedule_branch import ScheduleBranch, lines_before_time
from .shared_run import SharedRun


def outcomes(play: Play, sets: tuple[Features, ...]) -> list[Outcome]:
    """Run a schedule under all `sets`; returns the outcome for each, in their order.

    Raises PlayError when it is too long.
    """
    header, statements = _parted(play)
    common = _common(header, statements[: lines_before_time(statements)], sets)
    run = SharedRun(statements, common.sets, common.first)
    by_member: dict[int, Outcome] = {}
    for branch in run.play([replace(begun, kept={}) for begun in common.beginnings]):
        outcome = at_the_end(branch.outcome, branch.cluster, branch.moved)
        by_member |= dict.fromkeys(branch.members, outcome)
    return [by_member[member] for member in range(len(sets))]


class _Common(NamedTuple):
    """What schedules with the same beginning share."""

    sets: AskedSets
    beginnings: tuple[ScheduleBranch, ...]
    first: FirstLine


def _parted(play: Play) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """The header, which every schedule of a window begins with, and what happens."""
    timed = next(n for n, s in enumerate(play.statements, 1) if s.verb == "timed")
    return play.statements[:timed], play.statements[timed:]


@lru_cache(maxsize=8)
def _common(
    header: tuple[Statement, ...], _before_time: tuple[Statement, ...], sets: tuple[Features, ...]
) -> _Common:
    asked_sets = AskedSets(sets)
    begun = _beginnings(header, sets)
    for branch in begun:
        features = asked_sets.group(branch.members)
        branch.cluster = replace(branch.cluster, features=features)
    return _Common(asked_sets, begun, FirstLine())


def _beginnings(
    header: tuple[Statement, ...], sets: tuple[Features, ...]
) -> tuple[ScheduleBranch, ...]:
    """Sets can go together if they are of one release and begin with the same cluster."""
    groups: list[tuple[object, ScheduleBranch]] = []
    for member, features in enumerate(sets):
        cluster = open_stage(Play(header), features).cluster
        same = (features.release, features.metadata_version, features.nodes)
        seen = (same, replace(cluster, features=_NO_FEATURES))
        group = next((branch for other, branch in groups if other == seen), None)
        if group is None:
            branch = ScheduleBranch(members=(member,), cluster=cluster, start=cluster)
            groups.append((seen, branch))
        else:
            group.members = (*group.members, member)
    return tuple(branch for _, branch in groups)


_NO_FEATURES = Features("", "")

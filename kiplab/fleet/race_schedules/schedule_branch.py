"""A run that several feature sets share, and its next step.

As in `plays.runner`, messages that are not held are delivered, time passes, a line begins.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from ...engine import clock, moves
from ...engine.channels import blocker
from ...engine.cluster import Cluster, Message, MessageName, later
from ...engine.nodes import state_of
from ...engine.step import round_trip
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.stage import Pattern
from ...plays.values import LOSSES, Names, duration
from ...plays.verbs import pattern_of
from ...protocol.ids import NO_LEADER, BrokerId
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import Loss
from .first_line import FirstLine
from .outcomes import Outcome

Holds = dict[str, tuple[tuple[Pattern, bool], ...]]
"""By the kind of message: patterns, the newest first, and whether what fits one is held back."""
_ANY = Names()


class ScheduleBranch(msgspec.Struct, kw_only=True):
    """`members` are the numbers of the sets that share this run; where numbers of theirs differ,
    those in `cluster` are varied. It is changed in place, and copied where sets part.

    `holds` is what the lines said about holding back, `kept` what that came to for each message so
    far. `end` is when the line that lets time pass is over; the first of those is the same for
    all schedules until then.
    """

    members: tuple[int, ...]
    cluster: Cluster
    start: Cluster
    holds: Holds = {}
    kept: dict[MessageName, bool] = {}
    line: int = 0
    end: int | None = None
    is_on_first_line: bool = True
    is_on_last_line: bool = False
    moved: int = 0
    outcome: Outcome = Outcome()

    def go_on(self, members: tuple[int, ...], cluster: Cluster, outcome: Outcome) -> None:
        """As the run of these sets from now on."""
        self.members, self.cluster, self.outcome = members, cluster, outcome

    def is_kept(self, name: MessageName, receiver: BrokerId) -> bool:
        """As the last line says that speaks of such a message."""
        for pattern, keep in self.holds.get(name.kind, ()):
            if pattern.fits(name, receiver):
                return keep
        return False


def lines_before_time(statements: Sequence[Statement]) -> int:
    """How many lines come before the first that lets time pass."""
    waits = (n for n, statement in enumerate(statements) if statement.verb == "advance")
    return next(waits, len(statements))


def next_move(
    branch: ScheduleBranch,
    statements: Sequence[Statement],
    parted: list[tuple[Any, ...]],
    first: FirstLine,
) -> moves.Move | None:
    """The next move of the schedule; None at its end, and where sets differ in what it is.

    That is so when anything is in `parted`; each part is then asked again. Time
    passes on the way to it, and heartbeats that only keep a session are done.
    """
    while True:
        ready = _ready(branch)
        if ready is not None:
            return moves.Deliver(ready.name)
        if branch.end is not None:
            branch.is_on_last_line = branch.line == len(statements)
            alike = first if branch.is_on_first_line else None
            move = _after_time(branch, branch.end, parted, alike)
        elif branch.line == len(statements):
            return None
        else:
            branch.line += 1
            move = _begun(branch, statements[branch.line - 1])
        if move is not None or parted:
            return move


def _after_time(
    branch: ScheduleBranch, end: int, parted: list[tuple[Any, ...]], first: FirstLine | None
) -> moves.Move | None:
    """What falls due first that is more than a heartbeat which keeps a session; None when the line
    is over without it.
    """
    now = branch.cluster
    others = (
        first.once(now, "others", lambda: clock.other_dues(now)) if first else clock.other_dues(now)
    )
    while True:
        coming, is_all = clock.coming_moves(branch.cluster, end, others)
        if parted:
            return None
        if is_all and branch.is_on_last_line and clock.keeps_sessions(branch.cluster, coming):
            _end(branch, end, coming)
            return None
        for at, move in coming if is_all else coming[:1]:
            _pass_time(branch, at, first)
            if not _is_kept_alive(branch, move, parted, first):
                return move
        if is_all:
            _pass_time(branch, end, None)
            branch.end, branch.is_on_first_line = None, False
            return None


def _end(branch: ScheduleBranch, end: int, coming: Sequence[clock.Due]) -> None:
    """The schedule can change nothing more: the rest of it is counted, and not done."""
    times = {at for at, _ in coming} | {end}
    branch.moved += len(times - {branch.cluster.now_ms}) + 3 * len(coming)
    branch.end = None


def _pass_time(branch: ScheduleBranch, at: int, first: FirstLine | None) -> None:
    now = branch.cluster
    ms = at - now.now_ms
    if ms <= 0:
        return
    branch.cluster = first.once(now, ms, lambda: later(now, ms)) if first else later(now, ms)
    branch.moved += 1


def _is_kept_alive(
    branch: ScheduleBranch, move: moves.Move, parted: list[tuple[Any, ...]], first: FirstLine | None
) -> bool:
    """Do a heartbeat and its answer, or a registration in vain, if no more comes of it for any of
    the sets.
    """
    if type(move) is not moves.Fire or move.timer is not moves.Timer.HEARTBEAT:
        return False
    now = branch.cluster
    if not (
        clock.has_started(process_of(state_of(now, move.node)))
        or clock.comes_too_early(now, move.node)
    ):
        return False
    if first:
        after = first.once(now, ("and back", move), lambda: _there_and_back(branch, move, parted))
    else:
        after = _there_and_back(branch, move, parted)
    if after is None:
        return False
    branch.cluster = after
    branch.moved += 3
    return True


def _there_and_back(
    branch: ScheduleBranch, fire: moves.Fire, parted: list[tuple[Any, ...]]
) -> Cluster | None:
    after = round_trip(branch.cluster, fire, branch.is_kept)
    if not parted:
        return after
    # What was asked on the way is asked again, by the steps.
    parted.clear()
    return None


def _ready(branch: ScheduleBranch) -> Message | None:
    """The oldest message that is not held back. A line begins only when there is none, so all that
    are on their way then were looked at under the lines before it.
    """
    cluster, kept = branch.cluster, branch.kept
    for message in cluster.messages:
        name = message.name
        is_kept = kept.get(name)
        if is_kept is None:
            is_kept = kept[name] = branch.is_kept(name, message.receiver)
        if not is_kept and blocker(cluster, message) is None:
            return message
    return None


def _begun(branch: ScheduleBranch, statement: Statement) -> moves.Move | None:
    verb, cluster = statement.verb, branch.cluster
    if verb == "advance":
        branch.end = cluster.now_ms + _waited(statement)
        return None
    if verb in ("hold", "release"):
        _hold(branch, _meant(statement), keep=verb == "hold")
        return None
    if verb == "produce":
        name = statement.words[0]
        state = partition_of(cluster, name)
        leader = state.leader if state is not None else NO_LEADER
        return moves.Produce(name, leader, int(statement.arg("count") or 1))
    broker = BrokerId(int(statement.words[0]))
    if verb == "start":
        return moves.Start(broker, 0)
    return moves.Crash(broker, Loss(LOSSES[statement.arg("disk") or "kept"]))


@lru_cache(maxsize=256)
def _waited(statement: Statement) -> int:
    """In milliseconds; read once for all the branches of a schedule."""
    return duration(statement.words[0], _ANY)


@lru_cache(maxsize=64)
def _meant(statement: Statement) -> Pattern:
    return pattern_of(statement)


def _hold(branch: ScheduleBranch, pattern: Pattern, *, keep: bool) -> None:
    """What is on its way already is let go by a `release`, and not kept by a `hold`."""
    patterns = ((pattern, keep), *branch.holds.get(pattern.kind, ()))
    branch.holds = {**branch.holds, pattern.kind: patterns}
    if not keep:
        let_go = [m.name for m in branch.cluster.messages if pattern.fits(m.name, m.receiver)]
        branch.kept = branch.kept | dict.fromkeys(let_go, False)

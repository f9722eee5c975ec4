"""A run that several feature sets share, and what it does next.

As `plays.runner` goes on: what is not held back is delivered, time passes, the next line begins.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...engine import moves
from ...engine.channels import blocker
from ...engine.clock import Due, due_moves
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.stage import Pattern
from ...plays.values import LOSSES, Names, duration
from ...plays.verbs import pattern_of
from ...protocol.ids import NO_LEADER, BrokerId
from ...protocol.replica.broker_state import Loss
from .outcomes import NOTHING_YET, Outcome

Holds = tuple[tuple[Pattern, bool], ...]
_ANY = Names()


class ScheduleBranch(msgspec.Struct, kw_only=True):
    """`members` are the numbers of the sets that share this run; where numbers of theirs differ,
    those in `cluster` are varied. It is changed in place, and copied where sets part.

    `holds` is what the lines said about holding back, in order, `kept` what that came to for each
    message so far. `end` is when the line that lets time pass is over, `then` what falls due once
    it has passed.
    """

    members: tuple[int, ...]
    cluster: Cluster
    start: Cluster
    holds: Holds = ()
    kept: dict[MessageName, bool] = {}
    line: int = 0
    end: int | None = None
    then: moves.Move | None = None
    moved: int = 0
    outcome: Outcome = NOTHING_YET

    def go_on(self, members: tuple[int, ...], cluster: Cluster, outcome: Outcome) -> None:
        """As the run of these sets from now on."""
        self.members, self.cluster, self.outcome = members, cluster, outcome


def lines_before_time(statements: Sequence[Statement]) -> int:
    """How many lines come before the first that lets time pass."""
    waits = (n for n, statement in enumerate(statements) if statement.verb == "advance")
    return next(waits, len(statements))


def next_move(
    branch: ScheduleBranch, statements: Sequence[Statement], parted: Sequence[object]
) -> moves.Move | None:
    """The next move of the schedule; None at its end, and where sets differ in what it is.

    That has happened when anything is in `parted`; whoever parts them asks each part again.
    """
    if branch.then is not None:
        move, branch.then = branch.then, None
        return move
    while True:
        ready = _ready(branch)
        if ready is not None:
            return moves.Deliver(ready.name)
        if branch.end is not None:
            due = due_moves(branch.cluster, branch.end)
            found = None if parted else _due(branch, branch.end, due)
        elif branch.line == len(statements):
            return None
        else:
            branch.line += 1
            found = _begun(branch, statements[branch.line - 1])
        if found is not None or parted:
            return found


def _ready(branch: ScheduleBranch) -> Message | None:
    """The oldest message that is not held back. A line begins only when there is none, so all that
    are on their way then were looked at under the lines before it.
    """
    cluster, kept = branch.cluster, branch.kept
    for message in cluster.messages:
        name = message.name
        is_kept = kept.get(name)
        if is_kept is None:
            is_kept = kept[name] = _is_kept(branch.holds, name, message.receiver)
        if not is_kept and blocker(cluster, message) is None:
            return message
    return None


def _is_kept(holds: Holds, name: MessageName, receiver: BrokerId) -> bool:
    """As the last line says that speaks of such a message."""
    kind = name.kind
    for pattern, keep in reversed(holds):
        if pattern.kind == kind and pattern.fits(name, receiver):
            return keep
    return False


def _due(branch: ScheduleBranch, end: int, due: Due | None) -> moves.Move | None:
    now = branch.cluster.now_ms
    if due is None:
        branch.end = None
        return moves.Advance(end - now) if end > now else None
    at, move = due
    if at == now:
        return move
    branch.then = move
    return moves.Advance(at - now)


def _begun(branch: ScheduleBranch, statement: Statement) -> moves.Move | None:
    verb, cluster = statement.verb, branch.cluster
    if verb == "advance":
        branch.end = cluster.now_ms + duration(statement.words[0], _ANY)
        return None
    if verb in ("hold", "release"):
        _hold(branch, pattern_of(statement), keep=verb == "hold")
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


def _hold(branch: ScheduleBranch, pattern: Pattern, *, keep: bool) -> None:
    """What is on its way already is let go by a `release`, and not kept by a `hold`."""
    branch.holds = (*branch.holds, (pattern, keep))
    if not keep:
        let_go = [m.name for m in branch.cluster.messages if pattern.fits(m.name, m.receiver)]
        branch.kept = branch.kept | dict.fromkeys(let_go, False)

"""One schedule under several feature sets, run once for as long as they go the same way.

A `SharedBranch` is a run that several sets share. After each step it is parted where a rule got
another answer from some of them, and only what then differs is run apart. What is on its way is
opaque until it arrives: sets whose requests differ (in a version, say) and nothing else stay
together, and part for the one step in which that request is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import blocker
from ...engine.clock import due_moves
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.step import step
from ...engine.truth import partition_of
from ...plays.play import Statement
from ...plays.play_errors import PlayError
from ...plays.stage import MOVES_MAX, Pattern
from ...plays.values import LOSSES, Names, duration
from ...plays.verbs import pattern_of
from ...protocol.features import Features
from ...protocol.ids import NO_LEADER, BrokerId
from ...protocol.replica.broker_state import Loss
from .asked_features import AskedFeatures, answers, asked
from .outcomes import NOTHING_YET, Outcome, noted

Own = dict[MessageName, Message]
_ANY = Names()


class SharedBranch(msgspec.Struct, kw_only=True):
    """`members` are the numbers of the sets that share this run, the first of them in `cluster`.

    `own` has the messages on their way of those whose messages are other than the first one's.
    `end` is when the line that lets time pass is over, `then` what falls due once it has passed.
    """

    members: tuple[int, ...]
    cluster: Cluster
    start: Cluster
    own: dict[int, Own] = {}
    holds: tuple[tuple[Pattern, bool], ...] = ()
    held: frozenset[MessageName] = frozenset()
    line: int = 0
    end: int | None = None
    then: moves.Move | None = None
    moved: int = 0
    outcome: Outcome = NOTHING_YET


class SharedRun:
    """Runs of `statements` under all of `sets`, which begin as the branches given."""

    def __init__(self, statements: Sequence[Statement], sets: tuple[Features, ...]) -> None:
        self.statements, self.sets = statements, sets
        self.features: dict[tuple[int, ...], AskedFeatures] = {}

    def play(self, beginnings: Sequence[SharedBranch]) -> Iterator[SharedBranch]:
        """The branches at the end of the schedule. Raises PlayError for one that is too long."""
        waiting = list(beginnings)
        while waiting:
            branch = waiting.pop()
            while (move := _next(branch, self.statements)) is not None:
                if branch.moved >= MOVES_MAX:
                    raise PlayError("the schedule is too long")
                branch.moved += 1
                first, *others = self._moved(branch, move)
                waiting += others
                branch = first
            yield branch

    def _moved(self, branch: SharedBranch, move: moves.Move) -> list[SharedBranch]:
        """The branches that one becomes by a move; mostly itself."""
        done = [
            after
            for members, cluster in _by_message(branch, move)
            for after in self._step(branch, members, cluster, move)
        ]
        if len(done) == 1:
            branch.held = _held(branch, done[0].cluster)
            branch.cluster, branch.outcome = done[0].cluster, done[0].outcome
            return [branch]
        return [_branch_of(branch, group) for group in _alike(done)]

    def _step(
        self, branch: SharedBranch, members: tuple[int, ...], cluster: Cluster, move: moves.Move
    ) -> Iterator[_After]:
        """The step of `members`, parted by what they answer to what the rules asked."""
        features = self._features(members)
        if cluster.features is not features:
            cluster = replace(cluster, features=features)
        features.parted.clear()
        done = step(cluster, move)
        outcome = noted(branch.outcome, branch.start, move, done)
        if not features.parted:
            yield _After(members, cluster, done.cluster, outcome)
            return
        questions = sorted(features.parted, key=str)
        parts: dict[tuple[Any, ...], list[int]] = {}
        for member in members:
            parts.setdefault(answers(self.sets[member], questions), []).append(member)
        first, *others = (tuple(part) for part in parts.values())
        yield _After(first, cluster, done.cluster, outcome)
        for part in others:
            yield from self._step(branch, part, _with_messages(branch, part[0], cluster), move)

    def _features(self, members: tuple[int, ...]) -> AskedFeatures:
        found = self.features.get(members)
        if found is None:
            found = asked(tuple(self.sets[member] for member in members))
            self.features[members] = found
        return found


class _After(msgspec.Struct):
    """What a step came to for some members, and what their first one's cluster was before."""

    members: tuple[int, ...]
    before: Cluster
    cluster: Cluster
    outcome: Outcome


# --- what comes next ----------------------------------------------------------------------------


def _next(branch: SharedBranch, statements: Sequence[Statement]) -> moves.Move | None:
    """As `run_play` would go on: deliver what is not held, let time pass, begin the next line."""
    if branch.then is not None:
        move, branch.then = branch.then, None
        return move
    while True:
        ready = _ready(branch)
        if ready is not None:
            return moves.Deliver(ready.name)
        if branch.end is not None:
            found = _due(branch, branch.end)
        elif branch.line == len(statements):
            return None
        else:
            branch.line += 1
            found = _begun(branch, statements[branch.line - 1])
        if found is not None:
            return found


def _ready(branch: SharedBranch) -> Message | None:
    held = branch.held
    for message in branch.cluster.messages:
        if message.name not in held and blocker(branch.cluster, message) is None:
            return message
    return None


def _due(branch: SharedBranch, end: int) -> moves.Move | None:
    now = branch.cluster.now_ms
    due = due_moves(branch.cluster, end)
    if due is None:
        branch.end = None
        return moves.Advance(end - now) if end > now else None
    at, move = due
    if at == now:
        return move
    branch.then = move
    return moves.Advance(at - now)


def _begun(branch: SharedBranch, statement: Statement) -> moves.Move | None:
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


def _hold(branch: SharedBranch, pattern: Pattern, *, keep: bool) -> None:
    branch.holds = (*branch.holds, (pattern, keep))
    if not keep:
        flying = {m.name: m.receiver for m in branch.cluster.messages}
        branch.held = frozenset(
            n for n in branch.held if n in flying and not pattern.fits(n, flying[n])
        )


def _held(branch: SharedBranch, after: Cluster) -> frozenset[MessageName]:
    """What was sent in a step is held too if the last line that speaks of it says so."""
    if after.messages is branch.cluster.messages:
        return branch.held
    known = {m.name for m in branch.cluster.messages}
    kept = {m.name for m in after.messages if m.name not in known and _is_kept(branch, m)}
    return branch.held | kept if kept else branch.held


def _is_kept(branch: SharedBranch, message: Message) -> bool:
    fits = (keep for p, keep in reversed(branch.holds) if p.fits(message.name, message.receiver))
    return next(fits, False)


# --- who goes together --------------------------------------------------------------------------


def _by_message(
    branch: SharedBranch, move: moves.Move
) -> Iterator[tuple[tuple[int, ...], Cluster]]:
    """The members of a branch by what the message says that arrives, each part with its cluster."""
    if not (branch.own and type(move) is moves.Deliver):
        yield branch.members, branch.cluster
        return
    parts: list[tuple[Message | None, list[int]]] = []
    for member in branch.members:
        message = branch.own.get(member, {}).get(move.message)
        part = next((members for said, members in parts if said == message), None)
        if part is None:
            parts.append((message, [member]))
        else:
            part.append(member)
    for _, members in parts:
        yield tuple(members), _with_messages(branch, members[0], branch.cluster)


def _with_messages(branch: SharedBranch, member: int, cluster: Cluster) -> Cluster:
    """The branch's cluster with the messages of one member."""
    own = branch.own.get(member, {})
    if not own and cluster.messages is branch.cluster.messages:
        return cluster
    messages = tuple(own.get(m.name, m) for m in branch.cluster.messages)
    return replace(cluster, messages=messages)


def _alike(done: Sequence[_After]) -> list[list[_After]]:
    """Those with the same cluster, but for features and for what messages say, stay together."""
    groups: list[tuple[Any, list[_After]]] = []
    for after in done:
        seen = _seen(after)
        group = next((members for other, members in groups if other == seen), None)
        if group is None:
            groups.append((seen, [after]))
        else:
            group.append(after)
    return [group for _, group in groups]


_NO_FEATURES = Features("", "")


def without_features(cluster: Cluster) -> Cluster:
    """What can be compared between sets."""
    return replace(cluster, features=_NO_FEATURES)


def _seen(after: _After) -> tuple[Any, ...]:
    bare = replace(without_features(after.cluster), messages=())
    return bare, after.outcome, [_envelope(message) for message in after.cluster.messages]


def _envelope(message: Message) -> tuple[Any, ...]:
    return (
        message.name,
        message.receiver,
        message.receiver_incarnation,
        message.lane,
        message.connection,
        type(message.body),
        type(message.request),
    )


def _branch_of(branch: SharedBranch, group: Sequence[_After]) -> SharedBranch:
    """A branch of its own for those that stay together."""
    first = group[0].cluster
    own = {
        member: differing
        for after in group
        for member in after.members
        if (differing := _differing(branch, after, member, first))
    }
    return replace(
        branch,
        members=tuple(member for after in group for member in after.members),
        cluster=first,
        own=own,
        held=_held(branch, first),
        outcome=group[0].outcome,
    )


def _differing(branch: SharedBranch, after: _After, member: int, first: Cluster) -> Own:
    """The messages of a member that are not as those of the first."""
    before = {m.name: m for m in _with_messages(branch, member, after.before).messages}
    pairs = zip(after.cluster.messages, first.messages, strict=True)
    mine = ((before.get(sent.name, sent), theirs) for sent, theirs in pairs)
    return {m.name: m for m, theirs in mine if m != theirs}

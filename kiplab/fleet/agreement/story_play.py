"""A schedule as a play of the engine: a line for each move, and beside it when it was.

A play with a clock sees to its rounds itself. This one has none, and says what happened in the
order in which it happened; a round that changes nothing, or that nobody made in the run with a
clock, is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Sent
from ...engine.nodes import state_of
from ...plays.grammar import parse
from ...plays.history_as_play import statement_of
from ...plays.play import Play, Statement, format_play, split
from ...plays.play_errors import PlayError
from ...plays.rule_lines import under_rules
from ...plays.runner import do_line, open_stage, run_play
from ...plays.stage import Stage
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER
from ...protocol.messages import AlterPartitionRequest
from .driven_engine import DoneMove, header_of
from .engine_lines import partition_in, told_of
from .engine_run import EngineRun
from .outside_events import OutsideSchedule
from .trace_lines import PartitionTold

ALTER_PARTITION = "alter-partition"
PartitionTale = tuple[PartitionTold | int, ...]
"""What becomes of the partition, without times: its states, and who leads without records."""


class StoryLine(msgspec.Struct, frozen=True):
    """A line, and from when to when (ms) what it says was done."""

    statement: Statement
    first: int
    last: int

    @property
    def writes_to(self) -> str | None:
        """Who writes what it says; None where it says something else."""
        return self.statement.arg("to") if self.statement.verb == "produce" else None

    def and_then(self, other: StoryLine) -> StoryLine:
        """Both in one line."""
        count = sum(int(line.statement.arg("count") or 1) for line in (self, other))
        args = tuple((k, str(count) if k == "count" else v) for k, v in self.statement.args)
        return StoryLine(replace(self.statement, args=args), self.first, other.last)


def play_of(
    schedule: OutsideSchedule,
    features: Features,
    *,
    title: str,
    question: str,
    name: str = "fleet-story",
) -> Play | None:
    """The play, with the same states of the partition and the same losses as the run with a clock;
    None where a play without one comes to something else.
    """
    run = EngineRun(schedule, features)
    trace = run.run()
    asked = f"title {title}\nquestion {question}\n"
    hold = f"\nhold {ALTER_PARTITION}\n"
    header = split(asked + header_of(schedule) + hold).statements
    play = Play(under_rules(header, features), name)
    stage = open_stage(play)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    lines = tuple(_beside(_together(_lines(stage, run.engine.done))))
    done = parse(format_play(Play((*play.statements, *lines), name)), name)
    wanted = tuple(line.partition or line.broker for line in trace if _is_told(line.what))
    return done if tale_of(run_play(done)) == wanted else None


def _is_told(what: str) -> bool:
    return what in ("partition", "lost")


def _lines(stage: Stage, done: list[DoneMove]) -> Iterator[StoryLine]:
    number = len(stage.play.statements)
    for made in _meant(done):
        statement = statement_of(made.move)
        try:
            after = do_line(stage, statement, number + 1)
        except PlayError:
            continue
        if isinstance(made.move, moves.Fire) and _nodes(after) == _nodes(stage):
            continue
        stage, number = after, number + 1
        yield StoryLine(statement, made.at, made.at)


def _together(lines: Iterator[StoryLine]) -> Iterator[StoryLine]:
    """Records that are written one after the other, and nothing else meanwhile, are one line."""
    known: StoryLine | None = None
    for line in lines:
        if known is not None and known.writes_to is not None and known.writes_to == line.writes_to:
            known = known.and_then(line)
            continue
        if known is not None:
            yield known
        known = line
    if known is not None:
        yield known


def _beside(lines: Iterator[StoryLine]) -> Iterator[Statement]:
    at = -1
    for line in lines:
        since = f"{line.first / 1000:.3f} to " if line.first != line.last else ""
        time = f"{since}{line.last / 1000:.3f} s"
        yield replace(line.statement, comment=time if line.last != at else None)
        at = line.last


def _meant(done: list[DoneMove]) -> Iterator[DoneMove]:
    """The moves that a line is needed for: messages flow by themselves, but for requests that take
    their time; and to shut down is to say so at once.
    """
    before: moves.Move | None = None
    for made in done:
        move = made.move
        last, before = before, move
        if isinstance(move, moves.Advance):
            before = last
        elif isinstance(move, moves.Deliver):
            if move.message.kind == ALTER_PARTITION:
                yield made
            else:
                before = last
        elif isinstance(move, moves.Fire):
            asks = move.timer is moves.Timer.HEARTBEAT and isinstance(last, moves.ShutDown)
            if not asks and (move.timer is not moves.Timer.LAG_CHECK or _asked(made)):
                yield made
        else:
            yield made


def _asked(made: DoneMove) -> bool:
    sent = (event for event in made.events if isinstance(event, Sent))
    return any(isinstance(event.body, AlterPartitionRequest) for event in sent)


def _nodes(stage: Stage) -> tuple[object, ...]:
    cluster = stage.cluster
    return state_of(cluster, CONTROLLER), cluster.brokers, cluster.messages


def tale_of(stage: Stage) -> PartitionTale:
    """What becomes of the partition in a play."""
    found: list[PartitionTold | int] = []
    was = _partition(stage.history.start)
    for step in stage.history.steps:
        lost = [int(e.leader) for e in step.events if isinstance(e, CommittedLost)]
        now = _partition(step.cluster)
        found += [*lost, *([now] if now != was else [])]
        was = now
    return tuple(found)


def _partition(cluster: Cluster) -> PartitionTold:
    return told_of(partition_in(cluster))

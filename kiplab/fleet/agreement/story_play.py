"""A schedule as a play of the engine: a line for each move, and beside it when it was.

A play with a clock makes its rounds itself. This one has none, and lists the moves in their order;
a round that changes nothing, or that the run with a clock did not make, is left out. Messages flow
by themselves, but for requests with a delay, which `hold` keeps back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Sent
from ...engine.nodes import state_of
from ...plays.grammar import parse
from ...plays.move_lines import statement_of
from ...plays.play import Play, Statement, format_play, split
from ...plays.play_errors import PlayError
from ...plays.rule_lines import under_rules
from ...plays.runner import do_line, open_stage, run_play
from ...plays.stage import Stage
from ...protocol import messages
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER
from .driven_engine import DoneMove, header_of, isr_asked
from .engine_lines import partition_in, traced_state
from .engine_run import EngineRun
from .outside_events import OutsideSchedule
from .trace_lines import TracedState

_REQUEST = messages.KINDS[messages.AlterPartitionRequest]
PartitionTale = tuple[TracedState | int, ...]
"""The history of the partition, without times: its states, and leaders without records."""


class UnplayableError(LookupError):
    """A schedule without an equal play; the message says what it depends on."""


class StoryLine(msgspec.Struct, frozen=True):
    """A line, and from when to when (ms) its moves were done."""

    statement: Statement
    first: int
    last: int

    @property
    def writes_to(self) -> str | None:
        """The broker that its records go to; None if it writes none."""
        return self.statement.arg("to") if self.statement.verb == "produce" else None

    def and_then(self, other: StoryLine) -> StoryLine:
        """Both in one line."""
        count = sum(int(line.statement.arg("count") or 1) for line in (self, other))
        args = tuple((k, str(count) if k == "count" else v) for k, v in self.statement.args)
        return StoryLine(replace(self.statement, args=args), self.first, other.last)


def play_of(schedule: OutsideSchedule, features: Features, *, title: str, question: str) -> Play:
    """The play, with the same states of the partition and the same losses as the run with a clock.

    Raises UnplayableError where a play without a clock has another result.
    """
    run = EngineRun(schedule, features)
    trace = run.run()
    heading = f"title {title}\nquestion {question}\n"
    header = split(f"{heading}{header_of(schedule)}\nhold {_REQUEST}").statements
    play = Play(under_rules(header, features), "fleet-story")
    stage = open_stage(play)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    beside = tuple(_beside(_together(_lines(stage, dated_statements(run.engine.done)))))
    done = parse(format_play(Play((*play.statements, *beside), play.name)), play.name)
    in_play = (line for line in trace if line.what in ("partition", "lost"))
    wanted = tuple(line.partition or line.broker for line in in_play)
    if tale_of(run_play(done)) != wanted:
        raise UnplayableError("hangs on times that a play without a clock does not have")
    return done


def _lines(stage: Stage, lines: Iterable[DatedStatement]) -> Iterator[StoryLine]:
    number = len(stage.play.statements)
    for line in lines:
        try:
            after = do_line(stage, line.statement, number + 1)
        except PlayError:
            continue
        if line.is_round and _nodes(after) == _nodes(stage):
            continue
        stage, number = after, number + 1
        yield StoryLine(line.statement, line.at, line.at)


def _together(lines: Iterator[StoryLine]) -> Iterator[StoryLine]:
    """Records that are written one after the other, and nothing else meanwhile, are one line."""
    for broker, several in groupby(lines, key=lambda line: line.writes_to):
        if broker is None:
            yield from several
        else:
            yield reduce(StoryLine.and_then, several)


def _beside(lines: Iterator[StoryLine]) -> Iterator[Statement]:
    at = -1
    for line in lines:
        since = f"{line.first / 1000:.3f} to " if line.first != line.last else ""
        time = f"{since}{line.last / 1000:.3f} s"
        yield replace(line.statement, comment=time if line.last != at else None)
        at = line.last


def _nodes(stage: Stage) -> tuple[object, ...]:
    cluster = stage.cluster
    return state_of(cluster, CONTROLLER), cluster.brokers, cluster.messages


def tale_of(stage: Stage) -> PartitionTale:
    """The history of the partition in a play."""
    tale: list[TracedState | int] = []
    was = _partition(stage.history.start)
    for step in stage.history.steps:
        lost = [int(e.leader) for e in step.events if isinstance(e, CommittedLost)]
        now = _partition(step.cluster)
        tale += [*lost, *([now] if now != was else [])]
        was = now
    return tuple(tale)


def _partition(cluster: Cluster) -> TracedState:
    return traced_state(partition_in(cluster))


# --- the moves of the run -----------------------------------------------------------------------


class DatedStatement(msgspec.Struct, frozen=True):
    """A line, and when (ms) its move was done. A round that changes nothing needs no line."""

    at: int
    statement: Statement
    is_round: bool = False


def dated_statements(done: Iterable[DoneMove]) -> Iterator[DatedStatement]:
    """The lines that a play needs. A shutdown includes the heartbeat that asks for it."""
    before: moves.Move | None = None
    for made in done:
        move = made.move
        if isinstance(move, moves.Advance):
            continue
        # Other messages arrive by themselves.
        if isinstance(move, moves.Deliver) and move.message.kind != _REQUEST:
            continue
        if not _goes_without_saying(made, before):
            yield DatedStatement(made.at, statement_of(move), isinstance(move, moves.Fire))
        before = move


def _goes_without_saying(made: DoneMove, before: moves.Move | None) -> bool:
    if not isinstance(made.move, moves.Fire):
        return False
    if made.move.timer is moves.Timer.HEARTBEAT:
        return isinstance(before, moves.ShutDown)
    return made.move.timer is moves.Timer.LAG_CHECK and not _asked(made)


def _asked(move: DoneMove) -> bool:
    sent = (event for event in move.events if isinstance(event, Sent))
    return any(isr_asked(event.body) is not None for event in sent)

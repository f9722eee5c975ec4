"""From rate to story: an event counted in a replication opens as a play of the engine.

A line of the play stands for each move, and beside it when it was. A play with a clock makes its
rounds itself. This one has none, and lists the moves in their order; a round that changes nothing,
or that the run with a clock did not make, is left out. Messages flow by themselves, but for
requests with a delay, which `hold` keeps back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from itertools import groupby
from math import ceil

import msgspec
from msgspec.structs import replace

from ...engine import moves
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
from ..kernel.mirrored_guards import features_of
from ..kernel.simulation import simulate
from ..kernel.world import DAY, HOUR, SECOND, World
from ..parameters.scenario import MICROSECONDS_PER_YEAR, Scenario, as_world, horizon_us
from .driven_engine import DoneMove, header_of, isr_asked
from .engine_lines import partition_in, traced_state
from .engine_run import EngineRun
from .kernel_run import OutsideSchedule, TracedState
from .story_schedule import NoStoryError, StorySchedule, called, check_playable, schedule_of


def story(
    scenario: Scenario | World,
    *,
    seed: int,
    replication: int,
    features: str = "none",
    metric: str = "committed_loss",
    years: float | None = None,
) -> Play:
    """The first `metric` of a replication under a feature set, as a play: `kiplab.Lab(play)`.

    The play begins with all replicas in sync, shortly before the first event that matters, and ends
    with what was counted; what lay quiet before is left out. Beside its lines stands when they
    were, in seconds since its beginning; its question says when that was, and not what came.
    `metric` is a loss (``"committed_loss"``, ``"race_loss"``, ``"last_replica_loss"``,
    ``"unclean_loss"``, ``"shock_loss"``), ``"stale_join"`` or ``"offline"``; `years` is how far to
    look, by default a scenario's horizon. `kernel.simulation.simulate` says which replications
    have counted some. A weighed estimate has no replications: what it counts is too rare for any,
    and a world in which the same happens more often shows it.

    Raises NoStoryError where there is none, ValueError for a feature set or a metric that no play
    shows, for other periods than the engine's, and for a world without `years`.
    """
    world, until = _world_of(scenario, years)
    rules = features_of(features)
    chosen = schedule_of(
        world, seed=seed, replication=replication, until_us=until, features=rules, metric=metric
    )
    which = f"replication {replication} of seed {seed}, KIPs: {features}"
    what = f"{metric.replace('_', ' ')} {_when(chosen)}"
    try:
        return play_of(
            chosen.schedule,
            rules,
            title=f"{called(metric).capitalize()} of the fleet: {which}",
            question=f"What led to the {what}?",
        )
    except UnplayableError as reason:
        raise NoStoryError(
            f"the {metric} of replication {replication} of seed {seed} {reason}: take another one"
        ) from None


def _world_of(scenario: Scenario | World, years: float | None) -> tuple[World, int]:
    until = None if years is None else round(years * MICROSECONDS_PER_YEAR)
    if isinstance(scenario, Scenario):
        return as_world(scenario), until or horizon_us(scenario.parameters)
    if until is None:
        raise ValueError("a world has no horizon: say with years= how far to look")
    return scenario, until


def _when(story: StorySchedule) -> str:
    days, rest = divmod(story.begins_us, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, 60 * SECOND)
    return f"on day {days} at {hours:02d}:{minutes:02d}:{rest // SECOND:02d}"


# --- the stories of a study -----------------------------------------------------------------------

_AT_ONCE = 500
"""So many replications are simulated in a block; mostly the first one is enough."""


class FoundStory(msgspec.Struct, frozen=True):
    """A play, and the replication that it shows."""

    play: Play
    replication: int


def stories(
    scenario: Scenario,
    *,
    seed: int,
    features: str,
    metric: str,
    years: float,
    passed_over: Callable[[NoStoryError], object] | None = None,
) -> Iterator[FoundStory]:
    """The first `metric` of every replication that has one, in their order, over so many
    partition-years. One that no play can show is passed over: `passed_over` gets the reason.

    Raises NoStoryError at once if no play can show such a study, ValueError for an unknown metric
    or feature set, and for no years.
    """
    if not 0 < years < float("inf"):
        raise ValueError(f"years is {years:g}; expected partition-years, more than 0")
    check_playable(as_world(scenario), metric)
    for replication in _met(scenario, seed, features, metric, years):
        try:
            play = story(
                scenario, seed=seed, replication=replication, features=features, metric=metric
            )
        except NoStoryError as reason:
            if passed_over is not None:
                passed_over(reason)
            continue
        yield FoundStory(play, replication)


def _met(scenario: Scenario, seed: int, features: str, metric: str, years: float) -> Iterator[int]:
    """The replications that have counted at least one."""
    horizon = horizon_us(scenario.parameters)
    wanted = ceil(years * MICROSECONDS_PER_YEAR / horizon)
    for first in range(0, wanted, _AT_ONCE):
        last = min(first + _AT_ONCE, wanted)
        counts = simulate(
            as_world(scenario),
            seed=seed,
            first=first,
            last=last,
            horizon_us=horizon,
            feature_sets=(features,),
        )
        yield from (n for n in range(first, last) if counts.count(n, features, metric))


# --- the play -------------------------------------------------------------------------------------

_REQUEST = messages.KINDS[messages.AlterPartitionRequest]
PartitionTale = tuple[TracedState | int, ...]
"""The history of the partition, without times: its states, and leaders without records."""


class UnplayableError(LookupError):
    """A schedule without an equal play; the message says what it depends on."""


class StoryLine(msgspec.Struct, frozen=True):
    """A line, and from when to when (ms) its moves were done. A round that changes nothing needs no
    line.
    """

    statement: Statement
    first: int
    last: int
    is_round: bool = False

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
    beside = tuple(_beside(_together(_lines(stage, lines_of(run.engine.done)))))
    done = parse(format_play(Play((*play.statements, *beside), play.name)), play.name)
    in_play = (line for line in trace if line.what in ("partition", "lost"))
    wanted = tuple(line.partition or line.broker for line in in_play)
    if tale_of(run_play(done)) != wanted:
        raise UnplayableError("hangs on times that a play without a clock does not have")
    return done


def _lines(stage: Stage, lines: Iterable[StoryLine]) -> Iterator[StoryLine]:
    number = len(stage.play.statements)
    for line in lines:
        try:
            after = do_line(stage, line.statement, number + 1)
        except PlayError:
            continue
        if line.is_round and _nodes(after) == _nodes(stage):
            continue
        stage, number = after, number + 1
        yield line


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
    was = traced_state(partition_in(stage.history.start))
    for step in stage.history.steps:
        lost = [int(e.leader) for e in step.events if isinstance(e, CommittedLost)]
        now = traced_state(partition_in(step.cluster))
        tale += [*lost, *([now] if now != was else [])]
        was = now
    return tuple(tale)


# --- the moves of the run -----------------------------------------------------------------------


def lines_of(done: Iterable[DoneMove]) -> Iterator[StoryLine]:
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
            is_round = isinstance(move, moves.Fire)
            yield StoryLine(statement_of(move), made.at, made.at, is_round)
        before = move


def _goes_without_saying(made: DoneMove, before: moves.Move | None) -> bool:
    if not isinstance(made.move, moves.Fire):
        return False
    if made.move.timer is moves.Timer.HEARTBEAT:
        return isinstance(before, moves.ShutDown)
    asked = [isr_asked(event.body) for event in made.events if isinstance(event, Sent)]
    return made.move.timer is moves.Timer.LAG_CHECK and asked.count(None) == len(asked)

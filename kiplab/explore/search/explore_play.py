"""The front door: ask one question about one play, within bounds."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ...engine.cluster import Cluster
from ...engine.observer import broken_now
from ...engine.properties import ELECTABLE_HOLDS_COMMITTED, NO_COMMITTED_RECORD_LOST, PROPERTIES
from ...engine.setup import cluster_of
from ...plays.header import features_of, setup_of
from ...plays.library import find
from ...plays.play import Play
from ...plays.play_errors import nearest
from ...plays.play_features import chosen
from ...protocol.features import Features
from ..levels.all_levels import level_named
from ..levels.level_table import ExploreError, Level, quoted
from ..search_terms import REFUTED, Model, SearchOutcome, StopRule
from . import announcements
from .breadth_first import search
from .engine_choice import AUTO, SearchFunction, check_engine, engine_for, steps, too_narrow
from .explored import Explored, sentence_of, vacuity_of
from .interrupts import interruptible
from .limits import MEMORY_MB, Limits, TimedProgress, ceiling_mb, check_limits
from .path_as_play import play_of
from .size_prediction import Pace, predict, rule_of_thumb

CAN_DATA_BE_LOST = (NO_COMMITTED_RECORD_LOST.id, ELECTABLE_HOLDS_COMMITTED.id)
"""What is asked unless something else is: whether a committed record is, or could now be, lost."""


def explore(
    play: str | Path | Play,
    *,
    kafka: str | None = None,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    engine: str = AUTO,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
    progress: Callable[[TimedProgress], object] | None = None,
    cancel: Callable[[], bool] | None = None,
    say: Callable[[str], object] | None = None,
    **bounds: int,
) -> Explored:
    """Could it still go wrong? Everything that can happen, from the situation a play begins with.

    `play`, `kafka`, `off` and `on` are as in `kiplab.run`; of the play only the header counts.
    `bounds` are those of the level: `writes=1, crashes=1, fences=0` by default at level
    "partition". Everything else is as in `explore_play`, but that nobody is left in the dark: a
    search that will be long is announced (by `say`, else on stderr or below the notebook's cell), a
    notebook shows a line of progress unless `progress` is given, and an interrupt (Ctrl-C, the
    kernel's button) ends the search as unfinished, with its numbers; a second one leaves at once.
    The result's `sentence` is the verdict with its bounds, its `play` a shortest counterexample, to
    be run like any other play.
    Raises PlayError, UnknownFeatureError, ExploreError or MissingExtraError, all readable.
    """
    found, shared = (play, None) if isinstance(play, Play) else find(play)
    features = chosen(found, shared, kafka, _tuple(off), _tuple(on))
    line = announcements.Line()
    with interruptible(cancel) as stop:
        result = explore_play(
            found,
            features,
            level=level,
            property=property,
            bounds=bounds,
            engine=engine,
            seconds=seconds,
            states=states,
            memory_mb=memory_mb,
            progress=progress or line.of_search(),
            cancel=stop,
            say=say or announcements.say,
        )
    line.end(f"{result.states:,} states in {result.seconds:.1f} s")
    return result


def _tuple(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def explore_play(
    play: Play,
    features: Features | None = None,
    *,
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    bounds: dict[str, int] | None = None,
    engine: str = AUTO,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
    progress: Callable[[TimedProgress], object] | None = None,
    cancel: Callable[[], bool] | None = None,
    say: Callable[[str], object] | None = None,
) -> Explored:
    """Search everything that can happen from the situation that `play` begins with.

    `features` None means the play's own. `property` is an id, several, or None for
    CAN_DATA_BE_LOST: what counts is that one breaks while no fault excuses it, also under rules
    that promise nothing. `seconds`, `states` and `memory_mb` (of this process in all) end a search
    as unfinished; `progress` is told twice a second, `cancel` asked whether to stop, `say` given a
    prediction before a search that will be long. `engine` is "step" for the engine's own search,
    "compiled" for its twin in machine code (level "partition", numba), and "auto" for the twin
    where the bounds are large and it can answer; all find the same. Raises PlayError for a play
    that the level cannot speak of, ExploreError for an unknown level, property, bound, limit or
    engine.
    """
    found = level_named(level)
    asked = _properties(property)
    check_engine(engine)
    check_limits(seconds, states, memory_mb)
    within = found.with_defaults(bounds or {})
    used = features_of(play) if features is None else features
    start = cluster_of(setup_of(play, used))
    with _no_pauses():
        searcher = engine_for(engine, found, start, within, asked)
        most = (ceiling_mb(memory_mb), seconds, states)
        predicted = _predicted(found, partial(_model, found, start), within, most, searcher.pace)
        for sentence in filter(None, (predicted, searcher.note)):
            (say or _keep_quiet)(sentence)
        limits = Limits(
            seconds=seconds, states=states, memory_mb=memory_mb, progress=progress, cancel=cancel
        )
        outcome = outcome_of(searcher.model, asked, limits, searcher.run)
        if engine == AUTO and too_narrow(outcome):
            searcher = steps(found, start, within, outcome.stopped)
            outcome = outcome_of(searcher.model, asked, limits, searcher.run)
        took = limits.seconds
    return Explored(
        verdict=outcome.verdict,
        violated=outcome.violated,
        properties=asked,
        bounds=within,
        level=found.name,
        features=used.label(),
        steps=len(outcome.path) if outcome.verdict == REFUTED else None,
        play=_shown(play, used, found, outcome),
        path=outcome.path,
        states=outcome.states,
        transitions=outcome.transitions,
        depth=outcome.depth,
        frontier=outcome.frontier,
        seconds=took,
        vacuity=vacuity_of(outcome, searcher.model.seen, found, start),
        stopped=outcome.stopped,
        predicted=predicted,
        sentence=sentence_of(outcome, found, within, asked, used.label()),
        engine=searcher.name,
    )


def _keep_quiet(sentence: str) -> None:
    """Nobody asked to be told."""


def _shown(play: Play, used: Features, level: Level, outcome: SearchOutcome) -> Play | None:
    """The shortest way as a play, if one was found."""
    if not outcome.path or outcome.violated is None:
        return None
    return play_of(play, used, level, outcome.path, outcome.violated)


def _model(level: Level, start: Cluster, bounds: dict[str, int]) -> Model:
    return steps(level, start, bounds).model


def outcome_of(
    model: Model, asked: tuple[str, ...], stop: StopRule, run: SearchFunction = search
) -> SearchOutcome:
    """The search; but what is broken as the play begins needs none."""
    broken = [id for id in broken_now(model.cluster(model.first())) if id in asked]
    if not broken:
        return run(model, asked, stop)
    return SearchOutcome(
        verdict=REFUTED,
        states=1,
        transitions=0,
        depth=0,
        frontier=1,
        path=(),
        violated=broken[0],
        taken={},
        layers=(1,),
    )


def _predicted(
    level: Level,
    model: Callable[[dict[str, int]], Model],
    bounds: dict[str, int],
    limits: tuple[int, float | None, int | None],
    pace: Pace,
) -> str:
    if rule_of_thumb(level, bounds) < pace.certain:
        return ""
    found = predict(level, model, bounds, pace)
    beyond = "; that is beyond the limits: unless something breaks, it will not finish"
    return found.sentence + (beyond if found.beyond(*limits) else "")


def _properties(asked: str | tuple[str, ...] | None) -> tuple[str, ...]:
    wanted = CAN_DATA_BE_LOST if asked is None else (asked,) if isinstance(asked, str) else asked
    if not isinstance(wanted, Collection) or not wanted:
        # A proof of nothing would look like a proof.
        known = ", ".join(PROPERTIES)
        raise ExploreError(f"property is {quoted(asked)}; expected one or more of {known}")
    for id in wanted:
        if id not in PROPERTIES:
            raise ExploreError(f"there is no property {quoted(id)}; {nearest(str(id), PROPERTIES)}")
    return tuple(wanted)


@contextmanager
def _no_pauses() -> Iterator[None]:
    """States never form cycles: the garbage collector would only walk over them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

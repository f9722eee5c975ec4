"""The entry point: ask one question about one play, within bounds."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...engine.observer import broken_now
from ...engine.setup import cluster_of
from ...extras import MissingExtraError
from ...machine import without_collector
from ...plays.header import setup_of
from ...plays.play import Play
from ..compiled.fitting import NotCompiledError
from ..levels.all_levels import level_named
from ..levels.level_table import ExploreError, Level, Pace
from ..search_terms import HaltReason, Model, Progress, SearchOutcome, StopRule
from . import limits as outside
from . import size_prediction as sizes
from .breadth_first import EngineModel, search
from .explored import AS_FOUND, Explored, play_of, vacuity_of
from .limits import MEMORY_MB, Limits, ceiling_mb, interruptible
from .memoised_model import MemoisedModel
from .question import AUTO, COMPILED, STEP, Question, question_about, situation
from .shared_memory import SharedMemory

SearchFunction = Callable[[Any, tuple[str, ...], Any], SearchOutcome]
"""The search over a model of its own kind, for these properties, until a limit says stop."""


def explore(
    play: str | Path | Play,
    *,
    kafka: str | None = None,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    elr: int | None = None,
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    engine: str = AUTO,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
    progress: Callable[[Progress], object] | None = None,
    cancel: Callable[[], bool] | None = None,
    say: Callable[[str], object] | None = None,
    **bounds: int,
) -> Explored:
    """Could it still go wrong? Everything that can happen, from the situation a play begins with.

    `play`, `kafka`, `off`, `on` and `elr` are as in `kiplab.run`; of the play only the header
    counts. `bounds` are those of the level: `writes=1, crashes=1, fences=0` by default at level
    "partition". Everything else is as in `explore_play`, but that nobody is left in the dark: a
    search that will be long is announced (by `say`, else on stderr or below the notebook's cell), a
    notebook shows a line of progress unless `progress` is given, and an interrupt (Ctrl-C, the
    kernel's button) ends the search as unfinished, with its numbers; a second one leaves at once.
    The result's `sentence` is the verdict with its bounds, its `play` a shortest counterexample, to
    be run like any other play.
    Raises PlayError, UnknownFeatureError, ExploreError or MissingExtraError, all readable.
    """
    question = question_about(
        *situation(play, kafka, on, off, elr),
        level=level,
        property=property,
        bounds=bounds,
        engine=engine,
        seconds=seconds,
        states=states,
        memory_mb=memory_mb,
    )
    line = outside.Line()
    with interruptible(cancel) as stop:
        result = explore_play(
            question, progress=progress or line.of_search(), cancel=stop, say=say or outside.say
        )
    line.end(f"{result.states:,} states in {result.seconds:.1f} s")
    return result


def explore_play(
    question: Question,
    *,
    progress: Callable[[Progress], object] | None = None,
    cancel: Callable[[], bool] | None = None,
    say: Callable[[str], object] | None = None,
    memory: SharedMemory | None = None,
) -> Explored:
    """Search everything that can happen from the situation that the question's play begins with.

    What counts is that a property breaks while no fault excuses it, also under rules that promise
    nothing. The limits (memory is that of this process in all) end a search as unfinished;
    `progress` is told twice a second, `cancel` asked whether to stop, `say` given a prediction
    before a search that will be long. `memory` is what earlier searches worked out, for questions
    that differ in their guards alone; this one adds to it. The engine is "step" for the engine's
    own search, "compiled" for its twin in machine code (level "partition", numba), and "auto" for
    the twin where the bounds are large and it can answer; all find the same. Raises PlayError for a
    play that the level cannot speak of, ExploreError where "compiled" was asked for and cannot be.
    """
    level, within, properties = level_named(question.level), question.bounds, question.properties
    start = cluster_of(setup_of(question.play, question.features))
    with without_collector():
        searcher = engine_for(question.engine, level, start, within, properties, memory)
        predicted = _predicted(question, start, searcher.pace)
        for sentence in (predicted, searcher.note):
            if sentence and say is not None:
                say(sentence)
        limits = Limits(
            seconds=question.seconds,
            states=question.states,
            memory_mb=question.memory_mb,
            progress=progress,
            cancel=cancel,
        )
        outcome = outcome_of(searcher.model, properties, limits, searcher.run)
        too_narrow = outcome.halt is not None and outcome.halt.reason is HaltReason.TOO_NARROW
        if question.engine == AUTO and too_narrow:
            searcher = steps(level, start, within, outcome.stopped, memory)
            outcome = outcome_of(searcher.model, properties, limits, searcher.run)
        took = limits.seconds
    return Explored(
        **{name: getattr(outcome, name) for name in AS_FOUND},
        properties=properties,
        bounds=within,
        level=level.name,
        features=question.features.label(),
        play=play_of(question.play, question.features, level, outcome.path, outcome.violated)
        if outcome.path and outcome.violated is not None
        else None,
        seconds=took,
        vacuity=vacuity_of(outcome, searcher.model.coverage, level.within(within), start),
        predicted=predicted,
        engine=searcher.name,
    )


def outcome_of(
    model: Model, properties: tuple[str, ...], stop: StopRule, run: SearchFunction = search
) -> SearchOutcome:
    """The search; but what is broken as the play begins needs none."""
    broken = [id for id in broken_now(model.start) if id in properties]
    if not broken:
        return run(model, properties, stop)
    return SearchOutcome(states=1, frontier=1, path=(), violated=broken[0], taken={}, layers=())


def _predicted(question: Question, start: Cluster, pace: Pace) -> str:
    level = level_named(question.level)
    if sizes.rule_of_thumb(level, question.bounds) < pace.certain:
        return ""
    prediction = sizes.predict(
        level, lambda within: steps(level, start, within).model, question.bounds, pace
    )
    limits = ceiling_mb(question.memory_mb), question.seconds, question.states
    beyond = "; beyond the limits: unless something breaks, it stops there without an answer"
    return prediction.sentence + (beyond if prediction.beyond(*limits) else "")


# --- the engine's own steps, or their compiled twin for large searches ----------------------------

WORTH_COMPILING = 200_000
"""States from which "auto" compiles, which takes half a minute once, and half a second later."""


class Engine(msgspec.Struct, frozen=True):
    """A model and the search `run` over it. `note` says why it is not the compiled one, where that
    was wanted; empty otherwise. `pace` is what a prediction goes by.
    """

    name: str
    model: Model
    run: SearchFunction
    note: str
    pace: Pace


def engine_for(
    engine: str,
    level: Level,
    start: Cluster,
    bounds: Mapping[str, int],
    properties: tuple[str, ...],
    memory: SharedMemory | None = None,
) -> Engine:
    """The engine that was asked for, or for "auto" the one that suits the bounds.

    `memory` is for the engine's own search alone. Raises ExploreError where "compiled" was asked
    for and cannot be, MissingExtraError where it is not installed.
    """
    worth = level.name == "partition" and sizes.rule_of_thumb(level, bounds) >= WORTH_COMPILING
    if engine == STEP or (engine == AUTO and not worth):
        return steps(level, start, bounds, memory=memory)
    try:
        return _compiled(level, start, bounds, properties)
    except MissingExtraError as lacking:
        if engine == COMPILED:
            raise
        note = f"not compiled: {lacking}"
    except NotCompiledError as reason:
        problem = f"the compiled search is for other questions: {reason}"
        if engine == COMPILED:
            raise ExploreError(f"{problem}; engine='step' can do without") from None
        note = f"not compiled: {problem}"
    return steps(level, start, bounds, note, memory)


def steps(
    level: Level,
    start: Cluster,
    bounds: Mapping[str, int],
    note: str = "",
    memory: SharedMemory | None = None,
) -> Engine:
    """The engine's own search, memoised where it can be; it goes on with what `memory` has."""
    model: Model = EngineModel(level, start, dict(bounds))
    if level.name == "partition":
        model = MemoisedModel(level, start, dict(bounds), memory)
    return Engine(STEP, model, search, note, level.pace)


def _compiled(
    level: Level, start: Cluster, bounds: Mapping[str, int], properties: tuple[str, ...]
) -> Engine:
    missing = next((name for name in ("numba", "numpy") if find_spec(name) is None), None)
    if missing is not None:
        raise MissingExtraError("the compiled search", missing, "fleet")
    from ..compiled.compiled_search import CompiledModel, check_properties, search_compiled

    def run(model: Any, properties: tuple[str, ...], limits: Limits) -> SearchOutcome:
        return search_compiled(model, properties, limits, limits.room)

    check_properties(properties)
    return Engine(COMPILED, CompiledModel(level, start, bounds), run, "", sizes.COMPILED)

"""Who searches: the engine's own steps, or their compiled twin where volume demands it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec

from ...engine.cluster import Cluster
from ..levels.level_table import ExploreError, Level
from .breadth_first import Model, Outcome, search
from .engine_model import Plain
from .limits import Limits
from .memoised_model import Quick
from .size_prediction import COMPILED as COMPILED_PACE
from .size_prediction import OWN, PLAIN, Pace, rule_of_thumb

if TYPE_CHECKING:
    from ..compiled.compiled_search import Compiled

AUTO, STEP, COMPILED = ENGINES = ("auto", "step", "compiled")
WORTH_COMPILING = 200_000
"""States by the rule of thumb from which "auto" compiles: the first time that takes half a minute,
and later ones half a second."""
NEEDS = "the compiled search needs numba and numpy: pip install 'kiplab[fleet]'"


Run = Callable[[Any, tuple[str, ...], Any], Outcome]
"""The search over a model of its own kind, for these properties, until a limit says stop."""


class Engine(msgspec.Struct, frozen=True):
    """A model and the search `run` over it. `note` says why it is not the compiled one, where that
    was wanted; empty otherwise. `pace` is what a prediction goes by.
    """

    name: str
    model: Model
    run: Run
    note: str = ""
    pace: Pace = OWN


def check_engine(name: str) -> str:
    """The name itself. Raises ExploreError that lists what there is."""
    if name not in ENGINES:
        raise ExploreError(f"there is no engine {name!r}; the engines are {', '.join(ENGINES)}")
    return name


def engine_for(
    wanted: str, level: Level, start: Cluster, bounds: Mapping[str, int], asked: tuple[str, ...]
) -> Engine:
    """The engine that was asked for, or for "auto" the one that suits the bounds.

    Raises ExploreError where "compiled" was asked for and cannot be.
    """
    worth = level.name == "partition" and rule_of_thumb(level, bounds) >= WORTH_COMPILING
    if wanted == STEP or (wanted == AUTO and not worth):
        return steps(level, start, bounds)
    made = _compiled(level, start, bounds, asked)
    if not isinstance(made, str):
        return made
    if wanted == COMPILED:
        raise ExploreError(f"{made}; engine='step' can do without")
    return steps(level, start, bounds, f"not compiled: {made}")


def steps(level: Level, start: Cluster, bounds: Mapping[str, int], note: str = "") -> Engine:
    """The engine's own search: the quick model where there is one."""
    quick = level.name == "partition"
    model: Model = (Quick if quick else Plain)(level, start, dict(bounds))
    return Engine(STEP, model, search, note, OWN if quick else PLAIN)


def _compiled(
    level: Level, start: Cluster, bounds: Mapping[str, int], asked: tuple[str, ...]
) -> Engine | str:
    if find_spec("numba") is None or find_spec("numpy") is None:
        return NEEDS
    from ..compiled.compiled_search import Compiled, check_properties
    from ..compiled.small_numbers import NotCompiledError

    try:
        check_properties(asked)
        model = Compiled(level, start, bounds)
    except NotCompiledError as reason:
        return f"the compiled search is for other questions: {reason}"
    return Engine(COMPILED, model, _search_compiled, pace=COMPILED_PACE)


def _search_compiled(model: Compiled, asked: tuple[str, ...], limits: Limits) -> Outcome:
    from ..compiled.compiled_search import search as compiled_search

    return compiled_search(model, asked, limits, limits.room)


def too_narrow(outcome: Outcome) -> bool:
    """Whether a compiled search ended because its words have no room for what comes next."""
    return "the words of the compiled search" in outcome.stopped

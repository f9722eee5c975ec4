"""The choice of the search's engine: its own steps, or their compiled twin for large searches."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...extras import MissingExtraError
from ..compiled.fitting import NotCompiledError
from ..levels.level_table import ExploreError, Level, Pace
from ..search_terms import Model, SearchOutcome
from . import size_prediction as sizes
from .breadth_first import search
from .engine_model import EngineModel
from .limits import Limits
from .memoised_model import MemoisedModel
from .shared_memory import SharedMemory

AUTO, STEP, COMPILED = ENGINES = ("auto", "step", "compiled")
WORTH_COMPILING = 200_000
"""States from which "auto" compiles, which takes half a minute once, and half a second later."""


SearchFunction = Callable[[Any, tuple[str, ...], Any], SearchOutcome]
"""The search over a model of its own kind, for these properties, until a limit says stop."""


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

"""Who searches: the engine's own steps, or their compiled twin where volume demands it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec

from ...engine.cluster import Cluster
from ...extras import MissingExtraError
from ..levels.level_table import ExploreError, Level
from ..search_terms import HaltReason, Model, SearchOutcome
from .breadth_first import search
from .engine_model import EngineModel
from .limits import Limits
from .memoised_model import MemoisedModel
from .shared_memory import SharedMemory
from .size_prediction import COMPILED as COMPILED_PACE
from .size_prediction import OWN, QUEUED, STEPPED, UNMEMOISED, Pace, rule_of_thumb

if TYPE_CHECKING:
    from ..compiled.compiled_search import CompiledModel

AUTO, STEP, COMPILED = ENGINES = ("auto", "step", "compiled")
WORTH_COMPILING = 200_000
"""States by the rule of thumb from which "auto" compiles: the first time that takes half a minute,
and later ones half a second."""


SearchFunction = Callable[[Any, tuple[str, ...], Any], SearchOutcome]
"""The search over a model of its own kind, for these properties, until a limit says stop."""


class Engine(msgspec.Struct, frozen=True):
    """A model and the search `run` over it. `note` says why it is not the compiled one, where that
    was wanted; empty otherwise. `pace` is what a prediction goes by.
    """

    name: str
    model: Model
    run: SearchFunction
    note: str = ""
    pace: Pace = OWN


def check_engine(name: str) -> str:
    """The name itself. Raises ExploreError that lists what there is."""
    if name not in ENGINES:
        raise ExploreError(f"there is no engine {name!r}; the engines are {', '.join(ENGINES)}")
    return name


def engine_for(
    wanted: str,
    level: Level,
    start: Cluster,
    bounds: Mapping[str, int],
    asked: tuple[str, ...],
    memory: SharedMemory | None = None,
) -> Engine:
    """The engine that was asked for, or for "auto" the one that suits the bounds.

    `memory` is for the engine's own search alone. Raises ExploreError where "compiled" was asked
    for and cannot be, MissingExtraError where it is not installed.
    """
    worth = level.name == "partition" and rule_of_thumb(level, bounds) >= WORTH_COMPILING
    if wanted == STEP or (wanted == AUTO and not worth):
        return steps(level, start, bounds, memory=memory)
    lacking = _lacking()
    if lacking is not None and wanted == COMPILED:
        raise lacking
    engine = str(lacking) if lacking is not None else _compiled(level, start, bounds, asked)
    if isinstance(engine, Engine):
        return engine
    if wanted == COMPILED:
        raise ExploreError(f"{engine}; engine='step' can do without")
    return steps(level, start, bounds, f"not compiled: {engine}", memory)


def steps(
    level: Level,
    start: Cluster,
    bounds: Mapping[str, int],
    note: str = "",
    memory: SharedMemory | None = None,
) -> Engine:
    """The engine's own search: with the memoised model where there is one, which goes on with the
    `memory` that earlier searches left.
    """
    model: Model
    if level.name == "partition":
        model = MemoisedModel(level, start, dict(bounds), memory)
    else:
        model = EngineModel(level, start, dict(bounds))
    return Engine(STEP, model, search, note, _PACES[level.name])


_PACES = {"partition": OWN, "cluster": UNMEMOISED, "recovery": STEPPED, "zookeeper": QUEUED}


def _lacking() -> MissingExtraError | None:
    """What is not installed of that which compiles."""
    missing = next((name for name in ("numba", "numpy") if find_spec(name) is None), None)
    return None if missing is None else MissingExtraError("the compiled search", missing, "fleet")


def _compiled(
    level: Level, start: Cluster, bounds: Mapping[str, int], asked: tuple[str, ...]
) -> Engine | str:
    from ..compiled.compiled_guards import NotCompiledError
    from ..compiled.compiled_search import CompiledModel, check_properties

    try:
        check_properties(asked)
        model = CompiledModel(level, start, bounds)
    except NotCompiledError as reason:
        return f"the compiled search is for other questions: {reason}"
    return Engine(COMPILED, model, _search_compiled, pace=COMPILED_PACE)


def _search_compiled(model: CompiledModel, asked: tuple[str, ...], limits: Limits) -> SearchOutcome:
    from ..compiled.compiled_search import search_compiled

    return search_compiled(model, asked, limits, limits.room)


def too_narrow(outcome: SearchOutcome) -> bool:
    """Whether a compiled search ended because its words have no room for what comes next."""
    return outcome.halt is not None and outcome.halt.reason is HaltReason.TOO_NARROW

"""One question about one play: the property, the rules, the bounds, the engine and the limits.

All callers (`explore`, `matrix`, `alternatives`, the command) turn their keywords into a Question
at once. It is all that is sent to another process or to Spark.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec

from ...engine.properties import PROPERTIES, properties_of
from ...plays.header import features_asked_for, features_of
from ...plays.library import find
from ...plays.play import Play
from ...plays.play_errors import nearest
from ...protocol.features import Features
from ..levels.all_levels import LEVELS, level_named
from ..levels.level_table import CAN_DATA_BE_LOST, ExploreError, Level, quoted
from .limits import MEMORY_MB, check_limits

AUTO, STEP, COMPILED = ENGINES = ("auto", "step", "compiled")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Whether one of `properties` can break, from where `play` begins, under `features`.

    `bounds` has every bound of the level. `seconds`, `states` and `memory_mb` end a search as
    unfinished. `question_about` makes one of what somebody asks, and checks it.
    """

    play: Play
    features: Features
    bounds: dict[str, int]
    level: str = "partition"
    properties: tuple[str, ...] = CAN_DATA_BE_LOST
    engine: str = AUTO
    seconds: float | None = None
    states: int | None = None
    memory_mb: int = MEMORY_MB


def situation(
    play: str | Path | Play,
    kafka: str | None = None,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    elr: int | None = None,
) -> tuple[Play, Features]:
    """A play by name, file or token, and the rules that it runs under here; as in `kiplab.run`.

    Raises PlayError for a play that there is none of, UnknownFeatureError for such rules.
    """
    play_found, shared_with = (play, None) if isinstance(play, Play) else find(play)
    off, on = ((names,) if isinstance(names, str) else tuple(names) for names in (off, on))
    features = features_asked_for(play_found, shared_with, kafka, off, on, elr)
    return play_found, features_of(play_found) if features is None else features


def question_about(
    play: Play,
    features: Features | None = None,
    *,
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    bounds: Mapping[str, int] | None = None,
    engine: str = AUTO,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
) -> Question:
    """The question, with the level's defaults where nothing is said.

    `features` None means the play's own. `property` is an id, several, or None for
    what the level asks (Level.asks). Raises ExploreError for an unknown level, property, bound,
    limit or engine, for a property that the level is blind for, for one of another mode, and for a
    guard switched by hand that no rule asks for at this level.
    """
    level_found = level_named(level)
    features = features_of(play) if features is None else features
    properties = _properties(property, level_found, features)
    for id in (id for id, _ in features.overrides if id in level_found.unasked):
        raise ExploreError(
            f"no rule reads {id} at level {level}, so that a search would say nothing about it:"
            f" {level_found.unasked[id]}"
        )
    if engine not in ENGINES:
        raise ExploreError(f"there is no engine {engine!r}; the engines are {', '.join(ENGINES)}")
    check_limits(seconds, states, memory_mb)
    return Question(
        play=play,
        features=features,
        bounds=level_found.with_defaults(bounds or {}),
        level=level,
        properties=properties,
        engine=engine,
        seconds=seconds,
        states=states,
        memory_mb=memory_mb,
    )


def _properties(
    properties: str | tuple[str, ...] | None, level: Level, features: Features
) -> tuple[str, ...]:
    wanted = (
        level.asks
        if properties is None
        else (properties,)
        if isinstance(properties, str)
        else properties
    )
    if not isinstance(wanted, Collection) or not wanted:
        # A proof of nothing would look like a proof.
        names = ", ".join(PROPERTIES)
        raise ExploreError(f"property is {quoted(properties)}; expected one or more of {names}")
    for id in wanted:
        if id not in PROPERTIES:
            raise ExploreError(f"there is no property {quoted(id)}; {nearest(str(id), PROPERTIES)}")
        if id in level.blind:
            able = [f"level {other.name}" for other in LEVELS.values() if id not in other.blind]
            others = " or ".join(able) or "plays: no search sees it yet"
            raise ExploreError(
                f"nothing that happens at level {level.name} could break {id}, so that a proof"
                f" would say nothing; it is for {others}"
            )
        if properties is not None and PROPERTIES[id] not in properties_of(features):
            mode, release = PROPERTIES[id].mode, features.release
            raise ExploreError(f"{id} is for mode {mode}, and Kafka {release} is of another")
    return tuple(wanted)

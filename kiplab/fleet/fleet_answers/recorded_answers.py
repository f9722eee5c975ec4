"""What the kernel said of the fleets that lab 10 asks about: a web page cannot run it.

`tests/fleet/fleet_answers/test_recorded_answers.py` writes the file, and holds it to the kernel.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from ...plays.grammar import parse
from ...plays.play import Play
from ..parameters.fleet_study import FleetStudy, read_study
from ..statistics.event_rates import (
    NeverHappens,
    NeverSeen,
    NothingWeighed,
    SeenRate,
    WeighedRate,
)
from .fleet_answer import FleetAnswer
from .fleet_row import row_of

FILE = files(__package__) / "recorded_answers.json"
STORY = "fleet-story"
"""The name of a play that was a story of a fleet."""


class RecordedRow(msgspec.Struct, frozen=True, array_like=True):
    """What of a row is not known without the kernel; `scenario` is its place in the study."""

    scenario: int
    features: str
    metric: str
    method: str
    events: int
    exposure_us: int
    rate: SeenRate | NeverSeen | NeverHappens | WeighedRate | NothingWeighed


class RecordedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """`changes` are the values in which the study differs from the small one; the kernel lived
    through `horizon_years` of each replication.
    """

    feature_sets: tuple[str, ...]
    changes: dict[str, tuple[Any, ...]]
    horizon_years: tuple[float, ...]
    partition_years: float
    rows: tuple[RecordedRow, ...]


class RecordedStory(msgspec.Struct, frozen=True, kw_only=True):
    """`play` is the first loss by `cause` in the small fleet with these parameters, as text."""

    cause: str
    parameters: dict[str, Any]
    play: str


class Recordings(msgspec.Struct, frozen=True):
    """All of the file."""

    answers: tuple[RecordedAnswer, ...]
    stories: tuple[RecordedStory, ...]


@cache
def _recordings() -> Recordings:
    return msgspec.json.decode(FILE.read_bytes(), type=Recordings)


def changes_of(study: FleetStudy) -> dict[str, tuple[Any, ...]]:
    """The values in which it differs from the small study."""
    small = dict(read_study("small").values)
    return {name: several for name, several in study.values if several != small[name]}


def recorded_answer(study: FleetStudy) -> FleetAnswer | None:
    """What `estimate` gives for it with seed 0, without the sums; None where nobody asked."""
    asked = (study.feature_sets, changes_of(study))
    known = (one for one in _recordings().answers if (one.feature_sets, one.changes) == asked)
    return next((_answer(study, one) for one in known), None)


def _answer(study: FleetStudy, recorded: RecordedAnswer) -> FleetAnswer:
    values = dict(study.values) | {"horizon_years": recorded.horizon_years}
    lived = msgspec.structs.replace(study, values=tuple(values.items()))
    scenarios = lived.scenarios
    rows = (msgspec.structs.asdict(row) for row in recorded.rows)
    return FleetAnswer(
        study=lived,
        rows=tuple(row_of(lived, scenarios[row.pop("scenario")], **row) for row in rows),
        summary=(),
        seconds=None,
        partition_years=recorded.partition_years,
    )


def recorded_story(cause: str, parameters: Mapping[str, Any]) -> Play | None:
    """The story that the kernel found; None where nobody asked for it."""
    asked = (cause, dict(parameters))
    known: Iterable[RecordedStory] = _recordings().stories
    plays = (parse(one.play, STORY) for one in known if (one.cause, one.parameters) == asked)
    return next(plays, None)

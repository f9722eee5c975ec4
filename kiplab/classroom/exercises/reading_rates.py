"""Exercises of lab 10: what a rate says, a fleet made safer, what-ifs, and a loss as a play.

Forced windows judge how much safer: how often the last replica of a partition is lost, before two
changes and after them.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

from ...extras import MissingExtraError, needed_by
from ...fleet.fleet_answers import quick_estimate
from ...fleet.parameters import fleet_study, parameter_checks, parameter_table
from ...plays.play import Play
from ..exercise_table import LESS, MORE, NEVER, SAME, WHAT_IFS, UnfitError
from .answers import TrueStatements, Verdict, WholeAnswer

FLEET = "small"


check_rates = TrueStatements(lambda: "BDF")
"""Which statements about rates hold: ``"AC"`` names two."""


LOST_KIPS, LOSS = frozenset({"841", "903"}), "last_replica_loss"
FACTORS = (2.0, 5.0, 10.0)
"""A point each for so many times fewer losses."""
_CHANGE = re.compile(r"(\w+) *[=:] *(\d+(?:\.\d+)?)")
CHANGES = 2
FIXED = ("replication_factor", "min_insync_replicas", "crashes_per_year")
"""What is not theirs to change: copies cost money, and crashes come as they come."""


@WholeAnswer
def check_safer_fleet(answer: object) -> Verdict:
    """A mapping of at most two parameters, each within its usual range; or ``"name=0.1, ..."``.

    Raises UnfitError for what is no such mapping, MissingExtraError without numpy and scipy.
    """
    if isinstance(answer, str):
        answer = {name: float(value) for name, value in _CHANGE.findall(answer)}
    if not isinstance(answer, Mapping) or not answer:
        raise UnfitError('Not answered yet: give changes by name, like {"shutdown_s": 1}.')
    demand_usual(answer)
    factor = times_fewer(tuple(sorted(answer.items())))
    points = sum(factor >= wanted for wanted in FACTORS)
    if points == len(FACTORS):
        return "enough", {"times": factor}
    slow = any("alter_partition" in str(name) for name in answer)
    where = f"Look again at: {', '.join(map(str, answer))}."
    told = {"times": factor, "next": FACTORS[points], "points": points, "where": where}
    return "slow requests" if slow else "less", told


def demand_usual(answer: Mapping[Any, Any]) -> None:
    """Raises UnfitError for too many changes, and for one that is not theirs or not usual."""
    if len(answer) > CHANGES:
        raise UnfitError(f"Here are {len(answer)} changes. Two are all that you get.")
    for name, value in answer.items():
        if name in FIXED:
            raise UnfitError(f"{name} stays as it is. Leave {', '.join(FIXED)} alone.")
        try:
            number = parameter_checks.checked(str(name), value)
        except parameter_checks.ParameterError as problem:
            raise UnfitError(f"{problem}.") from None
        low, high = parameter_table.PARAMETERS[str(name)].usual
        if not low <= number <= high:
            usual = f"from {low:g} to {high:g}"
            raise UnfitError(f"{name} goes {usual} here: what is usual. {number:g} is not.")


@cache
def times_fewer(changes: tuple[tuple[str, Any], ...]) -> float:
    """How many times rarer the loss is with these changes; infinite where nothing is left of it.

    Raises MissingExtraError without numpy and scipy.
    """
    start = fleet_study.read_study(FLEET).scenarios[0].parameters
    after = _rate(msgspec.structs.replace(start, **dict(changes)))
    return _rate(start) / after if after else float("inf")


def _rate(parameters: parameter_table.Parameters) -> float:
    from ...fleet.estimators.forced_windows import forced_rates

    return float(getattr(forced_rates(parameters, LOST_KIPS, seed=0)[LOSS], "rate", 0.0))


TWICE = 2.0
"""The same fleet twice, before a change and after it: from this factor on it is more, or less."""


@cache
def outcome_of(letter: str) -> str:
    """One of WAYS. Raises KeyError for no letter, MissingExtraError as an estimate does."""
    rows = rates_of(letter)
    if all(row.why_never for row in rows):
        return NEVER
    before, after = (row.rate or 0.0 for row in rows)
    return MORE if after >= TWICE * before else LESS if TWICE * after <= before else SAME


def rates_of(letter: str) -> tuple[Any, Any]:
    """The rows before the change and after it. Raises what `outcome_of` raises."""
    what_if = WHAT_IFS[letter]
    pairs = zip(what_if.features, (what_if.before, what_if.after), strict=True)
    answers = ((kips, _answer(kips, tuple(sorted(changed.items())))) for kips, changed in pairs)
    before, after = (answer.row(kips, what_if.metric) for kips, answer in answers)
    return before, after


@cache
def _answer(features: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    study = quick_estimate.changed(fleet_study.read_study(FLEET), dict(parameters))
    return quick_estimate.estimate(msgspec.structs.replace(study, feature_sets=(features,)))


KIPS = "841+903"
CAUSES = ("shock_loss", "last_replica_loss", "unclean_loss")
"""What is frequent enough to be met, the most frequent first."""
_YEARS = 200_000


def loss_of(cause: str = CAUSES[0], **parameters: Any) -> Play:
    """The first loss by one of CAUSES in the small fleet with both KIPs, 200,000 partition-years.

    Parameters given by name replace those of the fleet. Raises ParameterError for a parameter,
    LookupError for no such cause and where none was met. Without numba there are those of lab 10,
    recorded; another one raises MissingExtraError.
    """
    if cause not in CAUSES:
        raise LookupError(f"there is no story of {cause!r}; there are {', '.join(CAUSES)}")
    try:
        with needed_by("a story of a fleet"):
            import numba  # noqa: F401
    except MissingExtraError:
        if (known := quick_estimate.recorded_story(cause, parameters)) is None:
            raise
        return known
    return _story(cause, tuple(sorted(parameters.items())))


@cache
def _story(cause: str, parameters: tuple[tuple[str, Any], ...]) -> Play:
    from ...fleet.agreement.story import stories

    (scenario,) = quick_estimate.changed(fleet_study.read_study(FLEET), dict(parameters)).scenarios
    for story in stories(scenario, seed=0, features=KIPS, metric=cause, years=_YEARS):
        return story.play
    raise LookupError(f"{_YEARS:,} partition-years have no {cause} that can be told")

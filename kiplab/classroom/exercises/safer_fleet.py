"""Exercise: make a fleet safer with two changes, its replicas left as they are.

Forced windows judge it: how often the last replica of a partition is lost, before and after.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from ...fleet.parameters.fleet_study import read_study
from ...fleet.parameters.parameter_checks import checked
from ...fleet.parameters.parameter_errors import ParameterError
from ...fleet.parameters.parameter_table import PARAMETERS, Parameters
from .answers import unfit
from .check_result import Checked

FLEET, KIPS, LOSS = "small", frozenset({"841", "903"}), "last_replica_loss"
FACTORS = (2.0, 5.0, 10.0)
"""A point each for so many times fewer losses."""
CHANGES = 2
FIXED = ("replication_factor", "min_insync_replicas", "crashes_per_year")
"""What is not theirs to change: copies cost money, and crashes come as they come."""
_OF = len(FACTORS)
_WANTED = 'changes by name, like {"shutdown_s": 1}'


def check_safer_fleet(answer: object) -> Checked:
    """Judge a mapping of at most two parameters, each within its usual range.

    Raises MissingExtraError without numpy and scipy.
    """
    if not isinstance(answer, Mapping) or not answer:
        return unfit(_OF, f"Not answered yet: give {_WANTED}.")
    wrong = _wrong(answer)
    if wrong:
        return unfit(_OF, wrong)
    factor = times_fewer(tuple(sorted(answer.items())))
    points = sum(factor >= wanted for wanted in FACTORS)
    said = f"Lost with the last replica {factor:.3g} times less often."
    if points == _OF:
        return Checked(points=points, of=_OF, message=said)
    return Checked(
        points=points,
        of=_OF,
        message=f"{said} The next point is at {FACTORS[points]:g} times.",
        hint="It takes a replica that is away, a crash of the other one, and a crash that costs"
        " records. Which of the three can you make rarer, or shorter?",
        misconception=_idea(answer),
        where=f"Look again at: {', '.join(map(str, answer))}.",
    )


def _idea(answer: Mapping[Any, Any]) -> str:
    slow = [name for name in answer if "alter_partition" in str(name)]
    return "requests that are quick keep the last replica" if slow else ""


def _wrong(answer: Mapping[Any, Any]) -> str:
    """Why this is no answer; empty if it is one."""
    if len(answer) > CHANGES:
        return f"Here are {len(answer)} changes. Two are all that you get."
    for name, value in answer.items():
        if name in FIXED:
            return f"{name} stays as it is. Leave {', '.join(FIXED)} alone."
        try:
            found = checked(str(name), value)
        except ParameterError as problem:
            return f"{problem}."
        low, high = PARAMETERS[str(name)].usual
        if not low <= found <= high:
            return f"{name} goes from {low:g} to {high:g} here: what is usual. {found:g} is not."
    return ""


# --- what the estimator says ----------------------------------------------------------------------


@cache
def times_fewer(changes: tuple[tuple[str, Any], ...]) -> float:
    """How many times rarer the loss is with these changes; infinite where nothing is left of it.

    Raises MissingExtraError without numpy and scipy.
    """
    start = read_study(FLEET).scenarios[0].parameters
    after = _rate(Parameters(**{**_fields(start), **dict(changes)}))
    return _rate(start) / after if after else float("inf")


def _rate(parameters: Parameters) -> float:
    from ...fleet.estimators.forced_windows import forced_rates

    return float(getattr(forced_rates(parameters, KIPS, seed=0)[LOSS], "rate", 0.0))


def _fields(parameters: Parameters) -> dict[str, Any]:
    return {name: getattr(parameters, name) for name in PARAMETERS}

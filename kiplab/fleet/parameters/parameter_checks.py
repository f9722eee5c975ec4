"""Checks of a parameter's value, alone and beside the others, and of the several of a sweep.

An error is one sentence that a person can act on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from .parameter_table import PARAMETERS, Parameter

_KINDS = {float: "a number", int: "a whole number", bool: "true or false"}


def check_name(
    name: str, allowed_names: Iterable[str] = PARAMETERS, what: str = "parameter"
) -> None:
    """Raises ParameterError for a name that is none, with the nearest one."""
    names = list(allowed_names)
    if name in names:
        return
    close = get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    allowed = f"{hint}there are {', '.join(sorted(names))}"
    raise ParameterError(f"there is no such {what}", allowed=allowed, key=name)


def checked(name: str, value: Any) -> Any:
    """The value as the table has it: a float where it says so.

    Raises ParameterError for an unknown name, a wrong type, or what is out of range.
    """
    check_name(name)
    about = PARAMETERS[name]
    if not _fits(value, about.kind):
        problem = f"{value!r} is not {_KINDS[about.kind]}"
        raise ParameterError(problem, allowed=_say(about), key=name)
    if not about.low <= value <= about.high:
        raise ParameterError(f"{value} is out of range", allowed=_say(about), key=name)
    return about.kind(value)


def check_together(values: Mapping[str, Any]) -> None:
    """Raises ParameterError where two values contradict each other."""
    for less, more, why in ORDERED:
        if values[less] > values[more]:
            problem = f"{values[less]} is more than {more}, which is {values[more]}"
            raise ParameterError(problem, allowed=f"{why}; lower it, or raise {more}", key=less)


ORDERED = (
    ("replication_factor", "brokers", "each replica has a broker of its own"),
    ("replica_sets", "partitions", "a replica set has a partition or more"),
    ("disk_failures_per_year", "crashes_per_year", "failing disks are among the crashes"),
    ("controller_failover_min_s", "controller_failover_max_s", "the shortest is not the longest"),
    ("heartbeat_s", "session_s", "a session outlives a heartbeat"),
)
"""The first of two is at most the second, and why."""


def _fits(value: Any, kind: type) -> bool:
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    return isinstance(value, int) or (kind is float and isinstance(value, float))


def _say(about: Parameter) -> str:
    if about.kind is bool:
        return f"{about.name} is true or false, by default {str(about.default).lower()}"
    default = f"by default {about.default:g}"
    kind = _KINDS[about.kind]
    return f"it is {kind} from {about.low:g} to {about.high:g} ({about.unit}), {default}"


# --- errors ---------------------------------------------------------------------------------------


class ParameterError(ValueError):
    """File, line (from 1; 0 where it is unknown), key, what was wrong, what is allowed."""

    def __init__(
        self, problem: str, *, allowed: str, key: str = "", line: int = 0, file: str = ""
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.allowed = allowed
        self.key = key
        self.line = line
        self.file = file

    def placed(self, *, file: str = "", line: int = 0) -> ParameterError:
        """The same error, with the place filled in where it was still open."""
        self.file = self.file or file
        self.line = self.line or line
        return self

    def __str__(self) -> str:
        place = ":".join(word for word in (self.file, str(self.line or "")) if word)
        about = ": ".join(word for word in (place, self.key, self.problem) if word)
        return f"{about}; {self.allowed}"


# --- sweeps ---------------------------------------------------------------------------------------

_SCALES = ("linear", "log")
_PARTS = ("from", "to", "steps", "scale")
_MOST = 10_000
_SHAPE = (
    'a sweep is a list, or {from = 0.2, to = 4, steps = 5, scale = "log"}; without a scale it is'
    " linear"
)


def values_of(name: str, setting: Any) -> tuple[Any, ...]:
    """The values that `setting` means, in its order and each once.

    Raises ParameterError for what is no value of this parameter, and no sweep of any.
    """
    check_name(name)
    if isinstance(setting, dict):
        swept = _spread(name, setting)
    elif isinstance(setting, list | tuple):
        swept = list(setting)
    else:
        swept = [setting]
    if not swept:
        raise ParameterError("the list is empty", allowed=_SHAPE, key=name)
    return tuple(dict.fromkeys(checked(name, value) for value in swept))


def _spread(name: str, parts: dict[str, Any]) -> list[Any]:
    for part in parts:
        if part not in _PARTS:
            raise ParameterError(f"{part} is no part of a sweep", allowed=_SHAPE, key=name)
    lacking = [part for part in _PARTS[:3] if part not in parts]
    if lacking or PARAMETERS[name].kind is bool:
        problem = f"the sweep lacks {' and '.join(lacking)}" if lacking else "it cannot be spread"
        raise ParameterError(problem, allowed=_SHAPE, key=name)
    low, high = checked(name, parts["from"]), checked(name, parts["to"])
    points = _points(name, low, high, _steps(name, parts["steps"]), _scale(name, parts, low, high))
    return [round(point) for point in points] if PARAMETERS[name].kind is int else points


def _steps(name: str, steps: Any) -> int:
    if isinstance(steps, bool) or not isinstance(steps, int) or not 2 <= steps <= _MOST:
        allowed = (
            f"steps is a whole number from 2 to {_MOST:,}: how many values, both ends included"
        )
        raise ParameterError(f"{steps!r} steps", allowed=allowed, key=name)
    return steps


def _scale(name: str, parts: dict[str, Any], low: float, high: float) -> str:
    scale = parts.get("scale", "linear")
    if scale not in _SCALES:
        allowed = f"a scale is {' or '.join(_SCALES)}"
        raise ParameterError(f"there is no scale {scale!r}", allowed=allowed, key=name)
    if scale == "log" and min(low, high) <= 0:
        allowed = "begin above 0, or take the linear scale"
        raise ParameterError("a log scale cannot reach 0", allowed=allowed, key=name)
    return str(scale)


def _points(name: str, low: float, high: float, steps: int, scale: str) -> list[float]:
    if low == high:
        allowed = "a sweep goes from one value to another"
        raise ParameterError(f"from and to are both {low:g}", allowed=allowed, key=name)
    shares = [step / (steps - 1) for step in range(1, steps - 1)]
    if scale == "log":
        between = [low ** (1 - share) * high**share for share in shares]
    else:
        between = [low + (high - low) * share for share in shares]
    # Twelve digits: no library's last bit decides what a point is called.
    return [low, *(float(f"{point:.12g}") for point in between), high]

"""One value of a parameter, or the several of a sweep: a list, or from, to, steps and a scale."""

from typing import Any

from .parameter_checks import check_name, checked
from .parameter_errors import ParameterError
from .parameter_table import PARAMETERS

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

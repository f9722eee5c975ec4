"""Checks of a parameter's value, alone and beside the others."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from .parameter_errors import ParameterError
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
        raise ParameterError(
            f"{value!r} is not {_KINDS[about.kind]}", allowed=_say(about), key=name
        )
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

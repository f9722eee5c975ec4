"""What a FleetLab asks: a study at one point, seen under a few sets of KIPs, over reboot rates."""

from collections.abc import Mapping, Sequence

import msgspec

from ...fleet.fleet_answers.counted_metrics import COUNTED
from ...fleet.parameters.fleet_study import FleetStudy, study_of
from ...fleet.parameters.meaningful_sets import GUARD_OF, NONE_OF_THEM, check_kip_set
from ...protocol.releases import Mode
from .parameter_dial import spread_over

REBOOTS = "bounces_per_year"
"""What the picture goes over."""
_OVER = 3
_PLUMBING = ("incidents", "expansions", "refused")
"""Counted, and no harm by themselves."""
KIPS = tuple(GUARD_OF)


class FleetQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """`values` are those of the dials; `metric` is what is looked at."""

    mode: Mode
    kips: tuple[str, ...]
    values: tuple[tuple[str, float], ...]
    metric: str


def metrics_of(mode: Mode) -> tuple[str, ...]:
    """What can be looked at in a mode: events that are of some harm."""
    return tuple(
        name
        for name, counted in COUNTED.items()
        if counted.mode in (None, mode) and not counted.is_time and name not in _PLUMBING
    )


def sets_seen(kips: Sequence[str]) -> tuple[str, ...]:
    """None of the KIPs, each of them alone, and all together."""
    alone = [check_kip_set(kip) for kip in kips]
    together = [check_kip_set("+".join(kips))] if kips else []
    return tuple(dict.fromkeys([NONE_OF_THEM, *alone, *together]))


def study_asked(base: FleetStudy, question: FleetQuestion) -> FleetStudy:
    """The fleet of the question, over the usual reboot rates and its own.

    Raises ParameterError where its values contradict each other.
    """
    values = dict(question.values)
    return _study(base, question, {**values, REBOOTS: reboots_seen(values[REBOOTS])})


def reboots_seen(own: float) -> list[float]:
    """The ends of the usual range, and between them the one that is asked for."""
    low, middle, high = spread_over(REBOOTS, _OVER)
    between = middle if own in (low, high) else own
    return sorted({low, between, own, high})


def grid_asked(
    base: FleetStudy, question: FleetQuestion, across: str, down: str, points: int
) -> FleetStudy:
    """The same fleet over the usual ranges of two parameters.

    Raises ParameterError where two of the values contradict each other, or both are the same.
    """
    ranges = {name: list(spread_over(name, points)) for name in (down, across)}
    return _study(base, question, {**dict(question.values), **ranges})


def _study(base: FleetStudy, question: FleetQuestion, values: Mapping[str, object]) -> FleetStudy:
    given = {name: several[0] for name, several in base.values}
    return study_of(
        {
            "about": base.about,
            "mode": question.mode,
            "feature_sets": list(sets_seen(question.kips)),
            "parameters": {**given, **values},
        }
    )

"""What a FleetLab asks: a study at one point, seen under a few sets of KIPs, over reboot rates; and
the sliders that say which point. What a slider says is read off the parameter's row in the table.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ...figures.how_often.number_words import number_words
from ...fleet.fleet_answers.counted_metrics import COUNTED
from ...fleet.parameters.fleet_study import FleetStudy, study_of
from ...fleet.parameters.meaningful_sets import GUARD_OF, NONE_OF_THEM, check_kip_set
from ...fleet.parameters.parameter_table import PARAMETERS, Parameter
from ...protocol.releases import Mode
from ..elements.kinds import Scale

DIALS = (
    "bounces_per_year",
    "crashes_per_year",
    "crash_restart_s",
    "tail_lost",
    "slow_alter_partition_share",
    "slow_alter_partition_s",
    "replication_factor",
    "min_insync_replicas",
    "cluster_shocks_per_year",
    "unclean_elections",
)
"""What a FleetLab lets one turn; everything else stays as the study has it."""
_STEPS = 24
_WIDE = 10
"""From so many times its lower end on, a parameter's usual range is walked by ratios."""


def spread_over(name: str, count: int) -> tuple[float, ...]:
    """So many values over the usual range; fewer where it is made of fewer whole numbers.

    Raises KeyError for no parameter.
    """
    usual = _usual(PARAMETERS[name])
    places = [round(n * (len(usual) - 1) / (count - 1)) for n in range(count)]
    return tuple(usual[place] for place in dict.fromkeys(places))


def _usual(about: Parameter) -> tuple[float, ...]:
    low, high = about.usual
    if about.kind is not float:
        return tuple(range(int(low), int(high) + 1))
    shares = [step / _STEPS for step in range(1, _STEPS)]
    if low > 0 and high / low >= _WIDE:
        between = [low ** (1 - share) * high**share for share in shares]
    else:
        between = [low + (high - low) * share for share in shares]
    return (low, *dict.fromkeys(float(f"{value:.2g}") for value in between), high)


class ParameterDial:
    """`slider` shows the parameter; `value` is what it stands on, as the table wants it. `values`
    are its usual range with `value` among it, smallest first. Raises KeyError for no parameter.
    """

    def __init__(self, name: str, value: float) -> None:
        self._about = PARAMETERS[name]
        self.values = sorted({*_usual(self._about), value})
        self.slider = Scale(
            description=name,
            words=tuple(map(self._said, self.values)),
            max=len(self.values) - 1,
            value=self.values.index(value),
            tooltip=dial_tooltip(self._about),
        )

    @property
    def value(self) -> float:
        """A float, an int or a bool, as the parameter is."""
        value: float = self._about.kind(self.values[self.slider.value])
        return value

    def turn_to(self, value: float) -> None:
        """Go to the position nearest to `value`."""
        places = range(len(self.values))
        self.slider.value = min(places, key=lambda at: abs(self.values[at] - value))

    def _said(self, value: float) -> str:
        if self._about.kind is bool:
            return "yes" if value else "no"
        return number_words(value, 3)


def dial_tooltip(about: Parameter) -> str:
    """What it does, in which unit, what is usual, and where the default comes from."""
    if about.kind is bool:
        span, default = about.unit, "yes" if about.default else "no"
    else:
        low, high, usual = (number_words(v, 3) for v in (*about.usual, about.default))
        span, default = f"{about.unit}, usually {low} to {high}", usual
    return f"{about.does} In {span}; by default {default} ({about.basis}): {about.source}"


# --- what is asked --------------------------------------------------------------------------------

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
    own = {name: several[0] for name, several in base.values}
    asked = {"about": base.about, "mode": question.mode, "parameters": own | dict(values)}
    return study_of({**asked, "feature_sets": list(sets_seen(question.kips))})

"""A parameter as something to turn: the positions of its slider, and what it says about itself.

Everything is read off the parameter's row in the table.
"""

import msgspec

from ...figures.how_often.number_words import number_words
from ...fleet.parameters.parameter_table import PARAMETERS, Parameter
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


class DialScale(msgspec.Struct, frozen=True, kw_only=True):
    """The values that a parameter's slider goes through, smallest first, and where it begins."""

    name: str
    values: tuple[float, ...]
    begins: int


def dial_scale(name: str, value: float) -> DialScale:
    """The usual range of a parameter, and `value` among it. Raises KeyError for no parameter."""
    values = sorted({*_usual(PARAMETERS[name]), value})
    return DialScale(name=name, values=tuple(values), begins=values.index(value))


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
    """`slider` shows the parameter; `value` is what it stands on, as the table wants it."""

    def __init__(self, name: str, value: float) -> None:
        self._about, self._scale = PARAMETERS[name], dial_scale(name, value)
        self.slider = Scale(
            description=name,
            words=tuple(self._said(each) for each in self._scale.values),
            max=len(self._scale.values) - 1,
            value=self._scale.begins,
            tooltip=dial_tooltip(self._about),
        )

    @property
    def value(self) -> float:
        """A float, an int or a bool, as the parameter is."""
        found: float = self._about.kind(self._scale.values[self.slider.value])
        return found

    def turn_to(self, value: float) -> None:
        """Go to the position nearest to `value`."""
        places = range(len(self._scale.values))
        self.slider.value = min(places, key=lambda at: abs(self._scale.values[at] - value))

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

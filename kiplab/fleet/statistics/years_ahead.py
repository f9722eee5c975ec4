"""The meaning of a rate: the probability of at least one event within some years.

Never a mean time: one loss in 10^14 years tells nobody whether to expect it.
"""

from math import expm1

import msgspec

from .block_means import NothingWeighed, WeighedRate
from .event_rates import EventRate, NeverHappens, NeverSeen, SeenRate

YEARS = (1, 5, 10)


class AtLeastOne(msgspec.Struct, frozen=True, kw_only=True):
    """The probability of at least one within so many years; None where only `high` is known."""

    years: float
    probability: float | None
    low: float
    high: float


def at_least_one(
    rate: EventRate | WeighedRate | NothingWeighed, units: float, years: tuple[float, ...] = YEARS
) -> tuple[AtLeastOne, ...]:
    """For each of `years`, where `units` of what the rate is of live side by side.

    `units` are independent: replica sets or clusters, not partitions. Raises ValueError for fewer
    than none.
    """
    if units < 0 or any(some < 0 for some in years):
        raise ValueError(f"{units:g} units over {years} years; expected 0 or more of each")
    return tuple(_within(rate, units, some) for some in years)


def _within(
    found: EventRate | WeighedRate | NothingWeighed, units: float, years: float
) -> AtLeastOne:
    exposure = units * years
    match found:
        case NeverHappens():
            return AtLeastOne(years=years, probability=0.0, low=0.0, high=0.0)
        case NothingWeighed():
            return AtLeastOne(years=years, probability=None, low=0.0, high=1.0)
        case NeverSeen():
            high = _some(found.high * exposure)
            return AtLeastOne(years=years, probability=None, low=0.0, high=high)
        case SeenRate() | WeighedRate():
            probability, low, high = (
                _some(rate * exposure) for rate in (found.rate, found.low, found.high)
            )
            return AtLeastOne(years=years, probability=probability, low=low, high=high)


def _some(expected: float) -> float:
    """That a Poisson number is not 0, precise for small expectations too."""
    return -expm1(-expected)

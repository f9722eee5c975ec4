"""A number of ours beside a referee's, with how far apart chance alone can bring them."""

from collections import deque
from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from ..statistics.block_means import block_mean
from ..statistics.event_rates import poisson_interval
from ..statistics.intervals import Interval
from ..statistics.years_ahead import level_of_each

FEW = 1_000
"""Of events: fewer are bounded as Poisson's."""


class Referee(StrEnum):
    """Who ought to know."""

    EXACT_CHAIN = "exact chain"
    CLOSED_FORM = "closed form"
    NAIVE = "naive, accelerated"
    ENGINE = "engine"


class Weighed(msgspec.Struct, frozen=True):
    """A rate from each of independent blocks, by weights; `alarms` say why not to believe it.

    `effective` is how many equal weights would be as sure.
    """

    blocks: tuple[float, ...]
    alarms: tuple[str, ...]
    effective: float

    @property
    def value(self) -> float:
        """The mean."""
        return sum(self.blocks) / len(self.blocks)

    def between(self, confidence: float) -> Interval:
        """What the rate is, at that confidence. Raises ValueError for fewer than 30 blocks."""
        return block_mean(self.blocks, confidence=confidence)


class Counted(msgspec.Struct, frozen=True):
    """Counts of independent blocks of so many years each."""

    blocks: tuple[int, ...]
    years: float
    alarms: tuple[str, ...] = ()
    effective: None = None

    @property
    def value(self) -> float:
        """How many a year."""
        return sum(self.blocks) / len(self.blocks) / self.years

    def between(self, confidence: float) -> Interval:
        """What the rate is, at that confidence: of few events they are too rare to meet each other,
        of many the blocks say how much they differ. Raises ValueError for fewer than 30 blocks.
        """
        total = sum(self.blocks)
        if total < FEW:
            return poisson_interval(total, len(self.blocks) * self.years, confidence=confidence)
        return block_mean([count / self.years for count in self.blocks], confidence=confidence)


class Certain(msgspec.Struct, frozen=True):
    """A number without chance: its interval is the number itself."""

    value: float
    alarms: tuple[str, ...] = ()
    effective: None = None

    def between(self, _confidence: float) -> Interval:
        """The number itself."""
        return Interval(self.value, self.value)


Number = Weighed | Counted | Certain


class Claim(msgspec.Struct, frozen=True):
    """What is to be compared: a metric under a feature set, in a regime said in words.

    The numbers are worked out when they are asked for: what is compared with what can be told
    without. `margin` is what the two may differ by in truth, as a share: what an estimate or a
    formula of first order drops.
    """

    metric: str
    features: str
    referee: Referee
    regime: str
    ours: Callable[[], Number]
    theirs: Callable[[], Number]
    margin: float = 0.0


class Refereed(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the verification page: both numbers, each with an interval, and whether they
    agree. Per replica set and year, except for the engine's, which are counts. `effective` is how
    many equal weights would be as sure as ours, None where nothing was weighed.
    """

    metric: str
    features: str
    referee: Referee
    regime: str
    ours: float
    low: float
    high: float
    theirs: float
    their_low: float
    their_high: float
    margin: float
    agrees: bool
    alarms: tuple[str, ...]
    effective: float | None

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; None where theirs is zero."""
        return self.ours / self.theirs if self.theirs else None

    @property
    def ratio_low(self) -> float | None:
        """The least that the ratio may be; None where theirs is zero."""
        return max(self.low, 0.0) / self.their_high if self.theirs else None

    @property
    def ratio_high(self) -> float | None:
        """The most that it may be; None where theirs may be zero."""
        return self.high / self.their_low if self.their_low > 0 else None

    @property
    def sentence(self) -> str:
        """Both numbers with their interval, the verdict, and in which regime."""
        verdict = "they agree" if self.agrees else "THEY DISAGREE"
        ours = f"{self.ours:.4g} ({self.low:.4g} to {self.high:.4g}) here"
        theirs = f"{self.theirs:.4g} by {self.referee}"
        return f"{self.metric} under {self.features}: {ours}, {theirs}: {verdict} ({self.regime})"


def all_refereed(claims: Iterable[Claim], joint: float) -> tuple[Refereed, ...]:
    """Every claim judged so that all agree with probability `joint`, if all are true.

    Raises ValueError for no claim, or a level that is none; MissingExtraError without scipy.
    """
    waiting = deque(claims)
    # Two intervals in each comparison.
    each = level_of_each(joint, 2 * len(waiting))
    judgements = []
    while waiting:
        # Once a claim is judged its simulated years are freed.
        judgements.append(_refereed(waiting.popleft(), each))
    return tuple(judgements)


def _refereed(claim: Claim, confidence: float) -> Refereed:
    our, their = claim.ours(), claim.theirs()
    ours, theirs = our.between(confidence), their.between(confidence)
    agrees = ours.low <= theirs.high * (1 + claim.margin) and ours.high >= theirs.low * (
        1 - claim.margin
    )
    return Refereed(
        metric=claim.metric,
        features=claim.features,
        referee=claim.referee,
        regime=claim.regime,
        ours=our.value,
        low=ours.low,
        high=ours.high,
        theirs=their.value,
        their_low=theirs.low,
        their_high=theirs.high,
        margin=claim.margin,
        agrees=agrees,
        alarms=our.alarms + their.alarms,
        effective=our.effective,
    )

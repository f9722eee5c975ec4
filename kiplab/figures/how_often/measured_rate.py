"""A rate as pictures need it: seen, never seen, impossible, or not reached by the sampling."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from .fleet_words import number_words, range_words, telling_digits


class Certainty(StrEnum):
    """What is known of a rate. Each has a sign of its own in every picture."""

    SEEN = "seen"
    UNSEEN = "never seen"
    """Nothing in all that exposure: an upper bound, and no rate."""
    NEVER = "cannot happen"
    """Zero by construction: a rule makes it impossible."""
    NOT_REACHED = "not reached"
    """No weighted sample hit it, which bounds nothing."""


class MeasuredRate(msgspec.Struct, frozen=True, kw_only=True):
    """A rate with its bounds: `rate` and `low` only of what was seen, `high` of what was seen or
    bounded, `because` of what cannot happen. `alarms` say why a weighted rate is not to be
    believed, `effective` is how many equal weights would be as sure.
    """

    certainty: Certainty
    rate: float = 0.0
    low: float = 0.0
    high: float = 0.0
    because: str = ""
    alarms: tuple[str, ...] = ()
    effective: float | None = None

    @property
    def is_seen(self) -> bool:
        """Whether there is a rate above 0."""
        return self.certainty is Certainty.SEEN and self.rate > 0

    def times(self, factor: float) -> MeasuredRate:
        """The same for so many times as much: a fleet of a thousand partitions, ten years."""
        rate, low, high = (factor * value for value in (self.rate, self.low, self.high))
        return msgspec.structs.replace(self, rate=rate, low=low, high=high)


def rate_of(rate: float, low: float, high: float) -> MeasuredRate:
    """A rate with its 95 % interval."""
    return MeasuredRate(certainty=Certainty.SEEN, rate=rate, low=low, high=high)


NOT_REACHED = MeasuredRate(certainty=Certainty.NOT_REACHED)


def rate_words(rate: MeasuredRate) -> str:
    """``1.9×10⁻⁸ (1.7 to 2.1×10⁻⁸)``, or why there is no rate; never a bare 0."""
    words, interval, _ = rate_cells(rate)
    if rate.certainty is Certainty.SEEN:
        return f"{words} ({interval})"
    return f"{words}, {interval}" if interval else words


def alarm_words(rates: Iterable[MeasuredRate]) -> str:
    """A sentence about weighted estimates that are not to be believed; empty if all are."""
    ringing = [rate.alarms[0] for rate in rates if rate.alarms]
    if not ringing:
        return ""
    are = "One estimate is" if len(ringing) == 1 else f"{len(ringing)} estimates are"
    return f"{are} not to be relied on (marked !): {ringing[0]}."


_NO_RATE = {
    Certainty.UNSEEN: "none seen",
    Certainty.NEVER: "cannot happen",
    Certainty.NOT_REACHED: "no sample hit it",
}


def rate_cells(rate: MeasuredRate) -> tuple[str, str, str]:
    """What a table says of a rate: the rate or why there is none, its interval, remarks."""
    remarks = [rate.because, *rate.alarms]
    if rate.effective is not None:
        remarks.append(f"{number_words(rate.effective)} effective samples")
    remark = "; ".join(filter(None, remarks))
    if rate.certainty is Certainty.SEEN:
        words = number_words(rate.rate, telling_digits(rate.low, rate.high))
        return words, range_words(rate.low, rate.high), remark
    bound = f"at most {number_words(rate.high)}" if rate.certainty is Certainty.UNSEEN else ""
    return _NO_RATE[rate.certainty], bound, remark

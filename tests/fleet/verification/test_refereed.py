"""Two numbers agree where chance can have parted them, and disagree where it cannot."""

import pytest

from kiplab.fleet.verification import refereed

SPREAD = tuple(1 + 0.01 * (n % 5 - 2) for n in range(40))


def judged(
    ours: refereed.Weighed | refereed.Counted | refereed.Certain,
    theirs: refereed.Weighed | refereed.Counted | refereed.Certain,
    margin: float = 0.0,
) -> refereed.Refereed:
    claim = refereed.Claim(
        metric="offline",
        features="none",
        referee=refereed.Referee.EXACT_CHAIN,
        regime="made up",
        ours=lambda: ours,
        theirs=lambda: theirs,
        margin=margin,
    )
    return refereed.all_refereed([claim], 0.999)[0]


def test_what_lies_within_both_intervals_agrees() -> None:
    row = judged(refereed.Weighed(SPREAD, (), 4_000.0), refereed.Certain(1.002))
    assert row.agrees
    assert row.low < row.ours < row.high
    assert row.ratio_low is not None
    assert row.ratio_high is not None
    assert row.ratio_low < 1 < row.ratio_high


def test_two_percent_off_is_seen_where_the_blocks_are_that_close() -> None:
    row = judged(refereed.Weighed(SPREAD, (), 4_000.0), refereed.Certain(1.02))
    assert not row.agrees
    assert "THEY DISAGREE" in row.sentence
    assert judged(refereed.Weighed(SPREAD, (), 4_000.0), refereed.Certain(1.02), margin=0.02).agrees


def test_never_seen_is_below_something_and_not_zero() -> None:
    none = refereed.Counted((0,) * 40, 1.0)
    assert judged(refereed.Certain(0.05), none).agrees
    assert not judged(refereed.Certain(0.5), none).agrees


def test_few_events_are_bounded_as_poissons_and_many_by_their_blocks() -> None:
    few, many = (
        judged(refereed.Counted((2,) * 40, 1.0), refereed.Certain(2)),
        judged(refereed.Counted((50,) * 40, 1.0), refereed.Certain(50)),
    )
    assert few.low < 2 < few.high
    assert many.low == many.high == 50


def test_what_cannot_happen_may_not_be_seen_once() -> None:
    assert judged(refereed.Counted((0,) * 40, 1.0), refereed.Certain(0.0)).agrees
    assert not judged(refereed.Counted((1,) + (0,) * 39, 1.0), refereed.Certain(0.0)).agrees


def test_the_more_rows_the_wider_each() -> None:
    claim = refereed.Claim(
        metric="offline",
        features="none",
        referee=refereed.Referee.NAIVE,
        regime="made up",
        ours=lambda: refereed.Weighed(SPREAD, (), 4_000.0),
        theirs=lambda: refereed.Certain(1.0),
    )
    alone, among = (
        refereed.all_refereed([claim], 0.999)[0],
        refereed.all_refereed([claim] * 100, 0.999)[0],
    )
    assert among.low < alone.low
    with pytest.raises(ValueError, match="over 0 comparisons"):
        refereed.all_refereed([], 0.999)

"""What comes together is one incident: its interval is as wide as that of so many fewer."""

import pytest
from numpy.random import Generator, Philox

from kiplab.fleet.statistics.block_means import Weights, clustered_rate, dispersion, size_together
from kiplab.fleet.statistics.event_rates import NeverSeen, SeenRate, event_rate


def counted(counts: list[int]) -> Weights:
    return Weights(
        samples=len(counts),
        total=float(sum(counts)),
        squares=float(sum(n * n for n in counts)),
        largest=float(max(counts)),
    )


def drawn(mean: float, together: int, replications: int = 2_000) -> Weights:
    poisson = Generator(Philox(key=5)).poisson(mean, replications)
    return counted([int(n) * together for n in poisson])


@pytest.mark.parametrize("mean", [0.001, 0.5, 3.0])
def test_what_comes_alone_is_bounded_as_poisson_has_it(mean: float) -> None:
    found = drawn(mean, together=1)
    assert dispersion(found) == 1
    assert clustered_rate(found, 100.0) == event_rate(round(found.total), 100.0)


@pytest.mark.parametrize("mean", [0.1, 3.0])
def test_ten_that_come_together_are_one(mean: float) -> None:
    alone, ten = clustered_rate(drawn(mean, 1), 1.0), clustered_rate(drawn(mean, 10), 1.0)
    assert isinstance(alone, SeenRate)
    assert isinstance(ten, SeenRate)
    assert dispersion(drawn(mean, 10)) == pytest.approx(10, rel=0.2)
    assert ten.rate == 10 * alone.rate
    assert ten.high - ten.low == pytest.approx(10 * (alone.high - alone.low), rel=0.15)
    assert "clusters of" in ten.method


def test_two_that_met_by_chance_widen_an_interval_by_little() -> None:
    seldom = drawn(0.1, together=1)
    assert seldom.largest > 1
    found, alone = clustered_rate(seldom, 1.0), event_rate(round(seldom.total), 1.0)
    assert isinstance(found, SeenRate)
    assert isinstance(alone, SeenRate)
    assert 1 < (found.high - found.low) / (alone.high - alone.low) < 1.12


@pytest.mark.parametrize(("clusters", "size"), [(3, 2), (3, 3), (5, 3), (10, 2)])
def test_a_few_events_cover_what_they_say_however_they_come(clusters: int, size: int) -> None:
    """Taken for independent, three times three would cover the truth in 79 % of all cases."""
    random, covered, tries = Generator(Philox(key=3)), 0, 400
    for _ in range(tries):
        counts = size * random.poisson(clusters / 1_000, 1_000)
        found = clustered_rate(counted(counts.tolist()), 1_000.0)
        low = found.low if isinstance(found, SeenRate) else 0.0
        covered += low <= clusters * size / 1_000 <= found.high
    assert covered / tries > 0.92


def test_it_covers_what_it_says_where_events_come_by_fives() -> None:
    random, covered, tries = Generator(Philox(key=7)), 0, 400
    for _ in range(tries):
        counts = 5 * random.poisson(0.5, 200)
        found = clustered_rate(counted(counts.tolist()), 200.0)
        assert isinstance(found, SeenRate)
        covered += found.low <= 2.5 <= found.high
    assert covered / tries > 0.92


def test_an_incident_counts_for_as_many_as_come_together() -> None:
    assert size_together(counted([0, 3, 0, 3, 0, 0])) == 3
    assert size_together(counted([0, 1, 0, 1, 0, 0])) == 1
    assert size_together(counted([0, 0])) == 1
    assert size_together(drawn(3.0, together=10)) == pytest.approx(10, rel=0.2)


def test_nothing_seen_is_never_seen() -> None:
    assert isinstance(clustered_rate(counted([0, 0, 0]), 3.0), NeverSeen)

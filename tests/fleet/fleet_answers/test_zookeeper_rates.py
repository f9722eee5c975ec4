"""The formulas of KIP-380 and KIP-343 beside sampled runs of the engine with ZooKeeper."""

from collections.abc import Callable
from functools import cache
from math import exp, sqrt
from random import Random
from statistics import fmean, stdev

import pytest
from msgspec.structs import replace

from kiplab.engine.at_rest import broken_with_zookeeper
from kiplab.fleet import Parameters, zookeeper_rates
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.runs import Run

DRAWN, SURE = 4_000, 3.3
"""Of each event so many are drawn. Their mean is wrong by more than so many standard errors once in
a thousand times."""
QUICK = Parameters(
    bounces_per_year=1.0,
    crashes_per_year=0.0,
    disk_failures_per_year=0.0,
    shutdown_s=1.0,
    clean_restart_s=3.0,
    ready_s=0.5,
    crash_restart_s=5.0,
    zookeeper_session_s=6.0,
    network_cuts_per_year=1.0,
    network_cut_s=8.0,
    heartbeat_s=4.0,
)
"""One of everything a year, and so quick that a late controller matters."""
CRASHING = replace(QUICK, bounces_per_year=0.0, crashes_per_year=1.0)
HEADER = """controller broker=0 epoch=5
broker 0
broker 1
broker 2
topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=3 log=10@3
consumer orders-0 position=10
"""
Timed = tuple[float, str]


def log_normal(random: Random, median: float, sigma: float) -> float:
    return median * exp(random.gauss(0, sigma))


def planned(random: Random, p: Parameters) -> list[Timed]:
    """Broker 1 stops and is back. The controller is late from its request to stop on."""
    sigma = p.clean_restart_sigma
    restart = log_normal(random, p.clean_restart_s * exp(-(sigma**2) / 2), sigma)
    back = p.shutdown_s + restart + random.expovariate(1 / p.ready_s)
    heard = log_normal(random, p.queue_age_s, p.queue_age_sigma)
    return [(p.shutdown_s, "shut-down 1"), (back, "start 1"), (heard, "release watcher-event")]


def crashed(random: Random, p: Parameters) -> list[Timed]:
    """Broker 1 tries again and again to register. The controller is late from the end of its
    session on.
    """
    over = p.zookeeper_session_s - random.uniform(0, p.zookeeper_session_s / 3)
    first = log_normal(random, p.crash_restart_s, p.crash_restart_sigma)
    first += random.expovariate(1 / p.ready_s)
    heard = over + log_normal(random, p.queue_age_s, p.queue_age_sigma)
    tries = [(first + n * p.heartbeat_s, "start 1") for n in range(4)]
    return [(0.0, "crash 1"), (over, "expire 1"), (heard, "release watcher-event"), *tries]


@cache
def played(lines: tuple[str, ...], release: str) -> Run:
    """Under another release than its own a play goes on where the engine refuses a line: a start
    while ZooKeeper holds the session, or a second one; a heartbeat before KIP-343.
    """
    play = "\n".join(["kafka zk-3.4", HEADER, *lines, ""])
    return Run(run_play(parse(play), parse_features(release)))


def is_missed(lines: tuple[str, ...], release: str) -> bool:
    """Whether something is wrong when all is at rest."""
    run = played(("hold watcher-event to=controller-0", *lines), release)
    return any(True for _ in broken_with_zookeeper(run.stage.cluster, ()))


def served(lines: tuple[str, ...], release: str) -> bool:
    """Whether broker 1 tells a client who leads, after these lines."""
    return not played((*lines, "refresh from=1"), release).refusals


def exposed_s(random: Random, p: Parameters, release: str) -> float:
    """How long it does so in one cut; it fences itself a timeout after its last heartbeat."""
    heal = random.expovariate(1 / p.network_cut_s)
    fence = max(0.0, p.heartbeat_timeout_s - random.uniform(0, p.heartbeat_s))
    until = min(fence, heal)
    cut = ("cut 0 1", "heartbeat 1")
    return until * served(cut, release) + (heal - until) * served((*cut, "fence-itself 1"), release)


def is_near(values: list[float], wanted: float) -> bool:
    return abs(fmean(values) - wanted) < SURE * stdev(values) / sqrt(len(values))


@pytest.mark.parametrize(("draw", "p"), [(planned, QUICK), (crashed, CRASHING)])
def test_the_engine_misses_as_many_bounces_as_the_formula_says(
    draw: Callable[[Random, Parameters], list[Timed]], p: Parameters
) -> None:
    random = Random(380)
    every = [tuple(line for _, line in sorted(draw(random, p))) for _ in range(DRAWN)]
    without = [float(is_missed(lines, "zk-2.1")) for lines in every]
    assert 0.1 < fmean(without) < 0.9
    assert is_near(without, zookeeper_rates(p).missed_bounces)
    assert not any(is_missed(lines, "zk-2.2") for lines in every)


def test_a_leader_of_the_engine_serves_in_a_cut_for_as_long_as_the_formula_says() -> None:
    rates, random = zookeeper_rates(QUICK), Random(343)
    without, with_343 = (
        [exposed_s(random, QUICK, release) for _ in range(DRAWN)]
        for release in ("zk-2.2", "kip-343")
    )
    assert is_near(without, rates.exposed_s)
    assert is_near(with_343, rates.exposed_343_s)
    assert rates.exposed_343_s < 0.7 * rates.exposed_s


# --- numbers from elsewhere -----------------------------------------------------------------------


def test_missed_bounces_hang_on_the_shape_of_planned_restarts() -> None:
    found = zookeeper_rates(Parameters(crashes_per_year=0.0, disk_failures_per_year=0.0))
    shapes = {"log-normal": 0.0016, "exponential": 0.089, "constant": 0.00021}
    for shape, rate in shapes.items():
        assert found.by_shape[shape] == pytest.approx(rate, rel=0.02)
    assert "0.0016 if log-normal, 0.089 if exponential, 0.00021 if constant" in found.sentences[0]
    assert zookeeper_rates(Parameters()).missed_bounces - found.missed_bounces < 1e-5, (
        "what crashes add"
    )


@pytest.mark.parametrize(("bounce_s", "rate"), [(6, 1.63), (15, 0.26), (30, 0.041), (60, 0.004)])
def test_restarts_that_are_faster_than_the_queue(bounce_s: float, rate: float) -> None:
    p = Parameters(shutdown_s=0.0, ready_s=0.0, clean_restart_s=bounce_s, clean_restart_sigma=0.0)
    found = zookeeper_rates(p)
    digits = len(str(rate).split(".")[1])
    assert found.missed_bounces == pytest.approx(rate, abs=0.5 * 10**-digits)
    assert found.by_shape["constant"] == pytest.approx(found.missed_bounces)


def test_heartbeats_bound_how_long_a_leader_is_out_of_touch() -> None:
    cut = Parameters(network_cuts_per_year=2.0, network_cut_s=60.0, heartbeat_s=0.01)
    assert zookeeper_rates(cut).exposed_s == 120
    assert zookeeper_rates(cut).exposed_343_s == pytest.approx(16.715, abs=0.01)
    sooner = replace(cut, heartbeat_s=2.0, heartbeat_timeout_s=1.0)
    assert 0 < zookeeper_rates(sooner).exposed_343_s < 1
    assert "KIP-343 leaves 16.7 of 120 s" in zookeeper_rates(cut).sentences[1]
    assert "nothing to prevent: no network is cut" in zookeeper_rates(Parameters()).sentences[1]


def test_a_controller_that_is_never_late_misses_nothing() -> None:
    prompt = Parameters(queue_age_s=0.001, queue_age_sigma=0.0)
    assert zookeeper_rates(prompt).missed_bounces == 0
    assert zookeeper_rates(replace(prompt, queue_age_s=86_400.0)).missed_bounces == 13

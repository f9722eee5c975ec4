"""Every number of the fleet beside an exact chain, a formula, or years in which it is frequent."""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from kiplab.fleet.estimators.forced_outages import (
    ALL_GONE,
    ALL_GONE_US,
    OUTAGE_METRICS,
    UNCLEAN_LOSS,
    left_out,
    outage_block,
)
from kiplab.fleet.estimators.forced_windows import (
    LAST_REPLICA_LOSS,
    RACE_LOSS,
    STALE_JOIN,
    STALE_JOIN_AFTER_CRASH,
    DrawWindows,
    forced_block,
    forced_exposure,
)
from kiplab.fleet.estimators.window_draws import (
    alone_share,
    away_s,
    expansions,
    met_by_another,
    real_draws,
    replaced_share,
    tail_lost_share,
)
from kiplab.fleet.kernel.world import SECOND, YEAR, Constant, Exponential, Uniform, World
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.parameters.scenario import SECONDS_PER_YEAR, kips_of
from tests.fleet.referees.compared import (
    BOTH,
    QUIET,
    Claim,
    Estimates,
    certain,
    lived,
    weighed,
    weighed_blocks,
    world_of,
    yearly,
)
from tests.fleet.referees.exact_chains import (
    StandingRates,
    UncleanRates,
    elr_rates,
    exponential_draws,
    standing_rates,
    unclean_rates,
    yearly_rates,
)

CHAIN, FORMULA, NAIVE = "exact chain", "closed form", "naive, accelerated"
NOTICED = SECOND // 100
AT_ONCE = World(
    session_us=NOTICED,
    heartbeat_interval_us=1_000,
    heartbeat_age=Uniform(0, 1_000),
    shutdown=Constant(0),
    ready=Constant(0),
    catch_up=Constant(0),
    alter_partition_fast=Constant(0),
    alter_partition_slow=Constant(0),
    failover_mean_us=0,
    # Longer than a leader waits for who is gone: every unflushed tail has committed records in it.
    flush_age=Constant(40 * SECOND),
)
"""Where delays that a chain lacks are tiny."""
STANDING = ((1, 20_000, 20), (2, 20_000, 8), (3, 50_000, 4), (4, 100_000, 1), (5, 150_000, 1))
"""Replicas, crashes a year of each, years."""
SETS = {"none": frozenset[str](), "841": frozenset({"841"}), "903": frozenset({"903"})}
RACE = (STALE_JOIN_AFTER_CRASH, RACE_LOSS, LAST_REPLICA_LOSS)
SOONER = replace(QUIET, crashes_per_year=40.0, slow_alter_partition_share=0.3)
DAY_S = 86_400.0
LONG_LOOPS = replace(
    QUIET, early_crash_factor=500.0, early_crash_within_s=DAY_S, slow_alter_partition_share=0.01
)
ALL_SLOW = replace(QUIET, bounces_per_year=0.0, slow_alter_partition_share=1.0)
OFTEN = replace(ALL_SLOW, crashes_per_year=2_000.0, slow_alter_partition_s=60.0)
OFTEN = replace(OFTEN, crash_restart_s=30.0, lag_s=300.0, tail_lost=1.0)
LOOPING = replace(ALL_SLOW, crashes_per_year=100.0, early_crash_factor=20.0)


def claims(effort: float = 1.0) -> Iterator[Claim]:
    """Years, and weighted samples, in proportion to `effort`: 1 takes a core about a minute."""
    samples = max(500, round(2_000 * effort))
    for replicas, crashes, years in STANDING:
        yield from _last_standing(replicas, crashes, years * effort)
    yield from _eligible(8 * effort)
    yield from _unclean(2_000 * effort)
    yield from _shocks(2_000 * effort)
    yield from _at_base(200_000 * effort)
    yield from _short_of_replicas(100 * effort)
    yield from _race_by_the_chain(samples)
    yield from _stops_at_base_rates(400_000 * effort, samples)
    yield from _race_seen(OFTEN, 1_000 * effort, samples, "2,000 crashes a year, requests slow")
    yield from _race_seen(LOOPING, 5_000 * effort, samples, "crash loops, requests slow")
    yield from _all_gone_by_the_chain(samples)
    yield from _all_gone_seen(20 * effort, samples)
    yield from _waited_for_seen(20 * effort, samples)


# --- the kernel -----------------------------------------------------------------------------------


def _last_standing(replicas: int, crashes: int, years: float) -> Iterator[Claim]:
    repair, tails, disks, least = 60 * SECOND, 0.2, 0.1, 2 if replicas > 2 else 1
    bounces, back = crashes // 2, Exponential(repair)
    world = replace(AT_ONCE, replication_factor=replicas, min_insync_replicas=least)
    world = replace(world, tail_lost=tails, disk_replaced=disks, crash_mean_us=YEAR // crashes)
    world = replace(world, crash_restart=back, clean_restart=back)
    world = replace(world, bounce_mean_us=YEAR // bounces)
    rates = StandingRates(replicas, crashes, bounces, restart=YEAR / repair, lost=tails + disks)
    exact = standing_rates(rates, least)
    if least > 1:
        # Short of replicas nothing is committed, which the chain does not know.
        del exact["last_replica_loss"]
    else:
        exact["committed_loss"] = exact["last_replica_loss"]
        del exact["under_min_us"]
    # Each is missed that much less long, and may meet another before it is noticed.
    margin = replicas * NOTICED * (1 / repair + crashes / YEAR)
    counts = lived(world, (BOTH,), years)
    regime = f"{replicas} replicas, {crashes:,} crashes a year"
    for metric, expected in exact.items():
        ours = yearly(counts, BOTH, metric)
        yield Claim(metric, BOTH, CHAIN, regime, ours, certain(expected), margin)


def _eligible(years: float) -> Iterator[Claim]:
    """Two replicas that both have to be in sync: the ELR has whoever leaves."""
    crashes, repair = 20_000, 60 * SECOND
    back, bounces = Exponential(repair), crashes // 2
    world = replace(AT_ONCE, min_insync_replicas=2, tail_lost=0.0, disk_replaced=0.3)
    world = replace(world, crash_restart=back, clean_restart=back)
    world = replace(world, crash_mean_us=YEAR // crashes, bounce_mean_us=YEAR // bounces)
    rates = StandingRates(2, crashes, bounces, restart=YEAR / repair, lost=0.3)
    counts = lived(world, ("elr",), years)
    # As for the last one standing; and what the chain leaves out.
    margin = 2 * NOTICED * (1 / repair + crashes / YEAR) + (crashes * repair / YEAR) ** 2
    for metric, expected in elr_rates(rates).items():
        ours, theirs = yearly(counts, "elr", metric), certain(expected)
        yield Claim(metric, "elr", CHAIN, "two must be in sync", ours, theirs, margin)


def _unclean(years: float) -> Iterator[Claim]:
    crashes, repair, level, recovery = 500, 420 * SECOND, 180 * SECOND, SECOND
    world = replace(AT_ONCE, unclean_elections=True)
    world = replace(world, crash_mean_us=YEAR // crashes, bounce_mean_us=0, tail_lost=0.0)
    world = replace(world, crash_restart=Exponential(repair), catch_up=Exponential(level))
    world = replace(world, leader_recovery=Exponential(recovery))
    rates = UncleanRates(crash=crashes, restart=YEAR / repair, level=YEAR / level)
    # Who has caught up while its leader recovers joins with the end of that: the chain begins anew.
    often = YEAR / recovery
    for features, recovered, more in ((BOTH, 0.0, 0.0), (f"{BOTH}+704", often, recovery / level)):
        counts, margin = lived(world, (features,), years), 2 * NOTICED / level + more
        for metric, expected in unclean_rates(replace(rates, recovered=recovered)).items():
            ours, theirs = yearly(counts, features, metric), certain(expected)
            yield Claim(metric, features, CHAIN, "unclean", ours, theirs, margin)


def _at_base(years: float) -> Iterator[Claim]:
    counts, returns = lived(world_of(QUIET), ("none", BOTH), years), expansions(QUIET)
    # Nothing is planned, and no replica leaves twice, while one is out.
    margin = alone_share(QUIET)
    for features, again in (("none", QUIET.bounces_per_year), (BOTH, 0.0)):
        for metric, expected in (("incidents", returns), ("expansions", returns + again)):
            ours, theirs = yearly(counts, features, metric), certain(expected)
            yield Claim(metric, features, FORMULA, "at base rates", ours, theirs, margin)


def last_replica_losses(p: Parameters) -> float:
    """The last member of the ISR crashes and loses records. Two replicas.

    With min.insync.replicas=2 nothing is appended while one is missing: an unflushed tail has
    committed records only as long as it reaches back to before. A follower that has crashed is
    missed when its session ends; what was appended until then is below the high watermark then
    (before KIP-966), and so counts as committed.
    """
    alone, often = alone_share(p), p.crashes_per_year
    if p.min_insync_replicas == 1:
        return alone * often * (replaced_share(p) + tail_lost_share(p))
    tail, notice = p.unflushed_s, p.session_s - p.heartbeat_s / 2
    later = notice - notice**2 / (2 * tail) if notice < tail else tail / 2
    reaches = expansions(p) * tail / 2 + often * later
    return often * (alone * replaced_share(p) + reaches * tail_lost_share(p) / SECONDS_PER_YEAR)


def _short_of_replicas(years: float) -> Iterator[Claim]:
    p = replace(QUIET, min_insync_replicas=2, tail_lost=1.0, catch_up_s=1.0)
    # Away for longer than the tail of what was not flushed reaches back.
    p = replace(p, bounces_per_year=0.0, crash_restart_s=40.0, crash_restart_sigma=0.0)
    p = replace(p, crashes_per_year=4_000.0)
    ours = yearly(lived(world_of(p), (BOTH,), years), BOTH, LAST_REPLICA_LOSS)
    # Either may go once more while the other is away, and then again as the only one.
    theirs, margin = certain(last_replica_losses(p)), 2 * met_by_another(p, away_s(p))
    yield Claim(LAST_REPLICA_LOSS, BOTH, FORMULA, "two must be in sync", ours, theirs, margin)


def _shocks(years: float) -> Iterator[Claim]:
    cluster, rack, lost = 20.0, 20.0, 0.5
    for racks in (3, 1):
        p = replace(QUIET, replication_factor=3, racks=racks, shock_tail_lost=lost)
        p = replace(p, crashes_per_year=0.0, bounces_per_year=0.0, cluster_shocks_per_year=cluster)
        p = replace(p, rack_shocks_per_year=rack if racks == 1 else 0.0)
        often = cluster + rack * (racks == 1)
        counts = lived(world_of(p), (BOTH,), years)
        # The next shock may come while they are away.
        margin, theirs = often * away_s(p) / SECONDS_PER_YEAR, certain(often * lost)
        for metric in ("shock_loss", "committed_loss"):
            ours, regime = yearly(counts, BOTH, metric), f"shocks of {racks} racks"
            yield Claim(metric, BOTH, FORMULA, regime, ours, theirs, margin)


# --- what is forced -------------------------------------------------------------------------------


def _forced(p: Parameters, features: str, draw: DrawWindows, samples: int) -> Estimates:
    block = partial(forced_block, p, SETS[features], samples=samples, draw=draw)
    return weighed_blocks(block, forced_exposure(p, samples))


def _outages(p: Parameters, draw: DrawWindows, samples: int) -> Estimates:
    block = partial(outage_block, p, samples=samples, draw=draw)
    return weighed_blocks(block, forced_exposure(p, samples))


def _race_by_the_chain(samples: int) -> Iterator[Claim]:
    for p, where in ((QUIET, "base rates"), (SOONER, "sooner"), (LONG_LOOPS, "crash loops")):
        for features, kips in SETS.items():
            exact, forced = yearly_rates(p, kips), _forced(p, features, exponential_draws, samples)
            for metric in RACE:
                ours, theirs = weighed(forced, metric), certain(exact[metric])
                regime = f"forced, exponential, {where}"
                yield Claim(metric, features, CHAIN, regime, ours, theirs, left_out(p, metric))


def _stops_at_base_rates(years: float, samples: int) -> Iterator[Claim]:
    """Leaders that stop are asked for once more: often enough to be seen."""
    counts, margin = lived(world_of(QUIET), ("none", "903"), years), left_out(QUIET, STALE_JOIN)
    for features in ("none", "903"):
        ours = weighed(_forced(QUIET, features, real_draws, samples), STALE_JOIN)
        theirs = yearly(counts, features, STALE_JOIN)
        yield Claim(STALE_JOIN, features, NAIVE, "forced, base rates", ours, theirs, margin)


def _race_seen(p: Parameters, years: float, samples: int, regime: str) -> Iterator[Claim]:
    """Nothing is planned, so that every stale join begins with a crash."""
    counts = lived(world_of(p), (*SETS, BOTH), years)
    for features in SETS:
        forced = _forced(p, features, real_draws, samples)
        for metric in RACE:
            seen = STALE_JOIN if metric == STALE_JOIN_AFTER_CRASH else metric
            ours, theirs = weighed(forced, metric), yearly(counts, features, seen)
            yield Claim(metric, features, NAIVE, regime, ours, theirs, left_out(p, metric))
    for metric in (STALE_JOIN, RACE_LOSS):
        yield Claim(metric, BOTH, FORMULA, regime, yearly(counts, BOTH, metric), certain(0.0))


SEEN_AS = {ALL_GONE: "offline", ALL_GONE_US: "offline_us"}
"""What chain and kernel count it as, where nothing else takes the partition offline."""


def _all_gone_by_the_chain(samples: int) -> Iterator[Claim]:
    """Every replica is back after seven minutes, after a restart as after a crash."""
    missing_s, alike = 421.0, replace(QUIET, session_s=1.0, heartbeat_s=0.01, catch_up_s=0.1)
    alike = replace(alike, crash_restart_s=missing_s - 1, clean_restart_s=missing_s)
    for replicas in (2, 3, 4, 5):
        p = replace(alike, replication_factor=replicas)
        back, lost = SECONDS_PER_YEAR / (missing_s + p.catch_up_s), p.tail_lost
        rates = StandingRates(replicas, p.crashes_per_year, p.bounces_per_year, back, lost)
        exact, forced = standing_rates(rates), _outages(p, exponential_draws, samples)
        # A second of each is a session's, and not a part of one exponential delay.
        margin = replicas * p.session_s / missing_s + met_by_another(p, missing_s)
        for metric in (*OUTAGE_METRICS, ALL_GONE_US):
            ours, theirs = weighed(forced, metric), certain(exact[SEEN_AS.get(metric, metric)])
            yield Claim(metric, BOTH, CHAIN, f"forced, {replicas}", ours, theirs, margin)


def _all_gone_seen(years: float, samples: int) -> Iterator[Claim]:
    p = replace(QUIET, replication_factor=3, min_insync_replicas=2, tail_lost=1.0)
    p = replace(p, crashes_per_year=10_000.0, bounces_per_year=5_000.0)
    p = replace(p, crash_restart_s=40.0, clean_restart_s=30.0, catch_up_s=10.0)
    counts, forced = lived(world_of(p), (BOTH,), years), _outages(p, real_draws, samples)
    for metric in OUTAGE_METRICS:
        ours, theirs = weighed(forced, metric), yearly(counts, BOTH, SEEN_AS.get(metric, metric))
        yield Claim(metric, BOTH, NAIVE, "forced, 3", ours, theirs, left_out(p, metric))


def _waited_for_seen(years: float, samples: int) -> Iterator[Claim]:
    """Of two replicas the one that stopped in order is eligible, of three only who crashed."""
    often = replace(QUIET, min_insync_replicas=2, tail_lost=1.0)
    often = replace(often, crash_restart_s=40.0, clean_restart_s=30.0, catch_up_s=10.0)
    for replicas, crashes in ((2, 3_000.0), (3, 10_000.0)):
        p = replace(often, replication_factor=replicas, crashes_per_year=crashes)
        p = replace(p, bounces_per_year=5_000.0)
        counts = lived(world_of(p), ("no-elr", "elr"), years)
        for features, lost in (("no-elr", LAST_REPLICA_LOSS), ("elr", UNCLEAN_LOSS)):
            block = partial(outage_block, p, kips_of(features), samples=samples)
            forced = weighed_blocks(block, forced_exposure(p, samples))
            for metric in (lost, ALL_GONE_US):
                ours, seen = weighed(forced, metric), SEEN_AS.get(metric, metric)
                theirs, regime = yearly(counts, features, seen), f"forced, waited for, {replicas}"
                yield Claim(metric, features, NAIVE, regime, ours, theirs, left_out(p, metric))

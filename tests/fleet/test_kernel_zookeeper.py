"""ZooKeeper's replica set, counted over days: what each KIP takes away, and what has no role."""

from itertools import chain, combinations

import pytest
from msgspec.structs import replace

from kiplab.fleet.kernel.feature_sets import IN_MODE, SWITCHED, mask_of
from kiplab.fleet.kernel.mirrored_guards import PURGE, WRITES
from kiplab.fleet.kernel.simulation import METRIC_NAMES, Counts, simulate
from kiplab.fleet.kernel.world import DAY, SECOND, YEAR, Constant, Exponential, World

BUSY = World(
    zookeeper=True,
    session_us=18 * SECOND,
    crash_mean_us=YEAR // 100,
    bounce_mean_us=YEAR // 100,
    cut_mean_us=YEAR // 50,
    failover_mean_us=YEAR // 200,
    unclean_elections=True,
    alter_partition_slow_share=0.3,
    tail_lost=0.3,
)
WILD = World(
    zookeeper=True,
    session_us=6 * SECOND,
    replication_factor=3,
    crash_mean_us=YEAR // 200,
    bounce_mean_us=YEAR // 100,
    cut_mean_us=YEAR // 50,
    failover_mean_us=YEAR // 100,
    alter_partition_slow_share=0.3,
    early_factor=100.0,
)
KIPS = tuple(kip for kip in SWITCHED if kip not in (PURGE, WRITES))
ALL = tuple(
    "+".join(on) or "none"
    for on in chain(*(combinations(KIPS, size) for size in range(len(KIPS) + 1)))
)


def _counted(world: World, names: tuple[str, ...], skips: bool = True) -> Counts:
    return simulate(
        world,
        seed=7,
        first=0,
        last=2,
        horizon_us=10 * DAY,
        feature_sets=names,
        skips=skips,
    )


@pytest.mark.parametrize("mode", ["kraft", "zookeeper"])
def test_of_the_32_sets_those_that_differ_in_what_has_no_role_count_the_same(mode: str) -> None:
    world = BUSY if mode == "zookeeper" else replace(BUSY, zookeeper=False)
    counts = _counted(world, ALL)
    assert counts.total("none", "incidents") > 10
    assert counts.checks == 0
    rows: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    for name in ALL:
        has_role = tuple(kip for kip in name.split("+") if kip in IN_MODE[mode])
        row = tuple(counts.count(n, name, metric) for n in range(2) for metric in METRIC_NAMES)
        rows.setdefault(has_role, set()).add(row)
    assert len(rows) == 8
    assert all(len(found) == 1 for found in rows.values())


@pytest.mark.parametrize("world", [BUSY, WILD], ids=["busy", "wild"])
def test_skipping_quiet_time_changes_no_number_with_zookeeper(world: World) -> None:
    names = ("none", "704", WRITES)
    skipped, stepped = _counted(world, names), _counted(world, names, skips=False)
    assert skipped.table == stepped.table
    assert skipped.steps < stepped.steps
    assert skipped.checks == stepped.checks == 0


def test_with_zookeeper_nobody_purges_an_isr_on_registration() -> None:
    counts = _counted(BUSY, ("none", PURGE))
    for metric in METRIC_NAMES:
        assert counts.total("none", metric) == counts.total(PURGE, metric), metric


def test_kip_380_and_kip_343_take_away_what_each_is_about() -> None:
    sharp = replace(BUSY, clean_restart=BUSY.alter_partition_fast)
    counts = _counted(sharp, ("none", "380", "343"))
    assert counts.total("none", "stale_control_request") > 0
    assert counts.total("380", "stale_control_request") == 0
    none, with_343 = (counts.total(name, "stale_metadata_us") for name in ("none", "343"))
    assert 0 < with_343 < none


def test_only_a_planned_stop_that_happens_can_leave_a_control_request_behind() -> None:
    stops = World(
        zookeeper=True,
        replication_factor=1,
        crash_mean_us=0,
        bounce_mean_us=DAY // 20,
        failover_mean_us=0,
        clean_restart=Exponential(DAY // 20),
        queue_age=Constant(DAY),
    )
    counts = _counted(stops, ("none",))
    happened = counts.total("none", "incidents")
    assert counts.events > happened > 10, "some come while the broker is down"
    assert counts.total("none", "stale_control_request") == happened


def test_a_planned_stop_that_waits_leaves_no_control_request_behind() -> None:
    down = replace(BUSY, crash_mean_us=DAY, crash_restart=Constant(DAY), queue_age=Constant(DAY))
    waits, insists = (
        _counted(replace(down, bounces_wait=waits, clean_restart=Constant(SECOND)), ("none",))
        for waits in (True, False)
    )
    metric = "stale_control_request"
    assert 0 < waits.total("none", metric) < insists.total("none", metric)


def test_only_a_cut_that_happens_leaves_metadata_behind() -> None:
    cuts = World(
        zookeeper=True,
        replication_factor=1,
        crash_mean_us=0,
        bounce_mean_us=0,
        failover_mean_us=0,
        cut_mean_us=DAY // 20,
        cut_lasts=Constant(DAY // 10),
    )
    counts = _counted(cuts, ("none",))
    happened = counts.total("none", "incidents")
    assert counts.events > happened > 10, "some come while the broker is cut off"
    assert counts.total("none", "stale_metadata_us") // (DAY // 10) == happened


def test_where_leaders_write_the_isr_no_stale_replica_joins() -> None:
    slow = replace(WILD, crash_mean_us=DAY // 12, alter_partition_slow_share=1.0)
    counts = _counted(slow, ("none", WRITES))
    assert counts.total("none", "stale_join") > 0 == counts.total(WRITES, "stale_join")
    assert counts.total(WRITES, "refused") == 0 < counts.total(WRITES, "expansions")
    with pytest.raises(ValueError, match="no Kafka has both"):
        mask_of(f"704+{WRITES}", zookeeper=True)

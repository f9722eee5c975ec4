"""Years of a replica set: the same numbers however they are cut, skipped, or compiled."""

from hashlib import sha256
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.fleet.kernel.mirrored_guards import FEATURE_SETS, OF_TODAY, mask_of
from kiplab.fleet.kernel.simulation import METRIC_NAMES, Counts, simulate
from kiplab.fleet.kernel.world import (
    DAY,
    SECOND,
    YEAR,
    Constant,
    Exponential,
    World,
    compiled_world,
)

FOUR = ("none", "841", "903", "841+903")
BUSY = World(crash_mean_us=YEAR // 150, bounce_mean_us=YEAR // 100, alter_partition_slow_share=0.3)
WILD = World(
    crash_mean_us=YEAR // 200,
    bounce_mean_us=YEAR // 100,
    replication_factor=3,
    rack_shock_mean_us=YEAR // 20,
    cut_mean_us=YEAR // 50,
    unclean_elections=True,
    alter_partition_slow_share=0.3,
    early_factor=100.0,
    tail_lost=0.3,
    disk_replaced=0.2,
)
SOON = replace(BUSY, crash_restart=Exponential(5 * SECOND))
"""Who crashed is often back before its session is over."""


def numbers(counts: Counts) -> tuple[int, ...]:
    """The table in a row."""
    return tuple(counts.table.ravel().tolist())


def _counted(
    world: World, first: int = 0, last: int = 2, sets: tuple[str, ...] = FOUR, **more: bool
) -> Counts:
    return simulate(
        world,
        seed=7,
        first=first,
        last=last,
        horizon_us=15 * DAY,
        feature_sets=sets,
        **{"compiled": False, **more},
    )


HASTY = replace(
    BUSY,
    **{"crash_mean_us": YEAR // 1_500, "bounce_mean_us": YEAR // 1_500, "cut_mean_us": YEAR // 200},
    **{"crash_restart": Exponential(5 * SECOND), "clean_restart": Exponential(3 * SECOND)},
    **{"catch_up": Exponential(SECOND), "flush_age": Constant(1), "heartbeat_age": Constant(1)},
    **{"replication_factor": 3, "min_insync_replicas": 2},
)
"""Who has stopped is back before its session is over, and there is nothing to look back for."""


@pytest.mark.parametrize("world", [BUSY, WILD, HASTY], ids=["busy", "wild", "hasty"])
def test_skipping_changes_no_number_of_a_release_of_today(world: World) -> None:
    span: Any = {
        "seed": 7,
        "first": 0,
        "last": 40,
        "horizon_us": 60 * DAY,
        "feature_sets": [*OF_TODAY],
    }
    skipped, stepped = (simulate(world, **span, skips=skips) for skips in (True, False))
    assert numbers(skipped) == numbers(stepped)
    assert skipped.steps < stepped.steps
    assert skipped.checks == stepped.checks == 0


@pytest.mark.parametrize("world", [World(), BUSY, WILD, SOON], ids=["base", "busy", "wild", "soon"])
def test_skipping_quiet_time_changes_no_number(world: World) -> None:
    skipped, stepped = _counted(world), _counted(world, skips=False)
    assert numbers(skipped) == numbers(stepped)
    assert skipped.steps < stepped.steps
    assert skipped.checks == stepped.checks == 0


@pytest.mark.parametrize(
    ("world", "known"),
    [(World(), "34f69f5cb233ab07"), (BUSY, "7df80e29e1144e95"), (WILD, "68a33faac0c1b621")],
)
def test_the_numbers_stay_what_they_were(world: World, known: str) -> None:
    assert sha256(repr(numbers(_counted(world))).encode()).hexdigest()[:16] == known


def test_compiled_and_plain_give_the_same_numbers() -> None:
    compiled, plain = _counted(WILD, compiled=True), _counted(WILD)
    assert numbers(compiled) == numbers(plain)
    assert replace(compiled, table=()) == replace(plain, table=())
    assert compiled.total("none", "incidents") > 10


def test_replications_may_be_cut_into_any_pieces() -> None:
    whole = _counted(BUSY, 0, 3)
    pieces = numbers(_counted(BUSY, 0, 1)) + numbers(_counted(BUSY, 1, 3))
    assert pieces == numbers(whole)


def test_a_feature_set_counts_the_same_in_any_company() -> None:
    alone = simulate(
        BUSY, seed=7, first=0, last=2, horizon_us=15 * DAY, feature_sets=["841"], compiled=False
    )
    together = _counted(BUSY)
    for metric in METRIC_NAMES:
        assert alone.total("841", metric) == together.total("841", metric), metric


def test_with_both_kips_no_stale_replica_ever_joins() -> None:
    counts = _counted(BUSY, 0, 4)
    assert counts.total("none", "stale_join") > 0
    assert counts.total("841+903", "stale_join") == 0


def test_a_switch_without_a_role_leaves_every_number_as_it_is() -> None:
    counts = simulate(
        BUSY,
        seed=7,
        first=0,
        last=2,
        horizon_us=15 * DAY,
        feature_sets=["841", "841+704"],
    )
    for metric in METRIC_NAMES:
        assert len({counts.total(name, metric) for name in counts.feature_sets}) == 1, metric


def test_feature_sets_are_named_after_what_they_have() -> None:
    assert FEATURE_SETS[:3] == ("none", "841", "903")
    assert len({*FEATURE_SETS}) == 8
    with pytest.raises(ValueError, match="no feature set '842'"):
        mask_of("842")


def test_a_world_that_there_is_not_is_refused_by_name() -> None:
    for world, said in (
        (World(replication_factor=6), "replication_factor is 6; expected 1 to 5"),
        (World(tail_lost=1.5), "tail_lost is 1.5; expected a share from 0 to 1"),
        (World(racks=(0,)), "racks names 1 racks"),
        (World(tail_lost=0.6, disk_replaced=0.6), "more than 1 together"),
    ):
        with pytest.raises(ValueError, match=said):
            compiled_world(world)

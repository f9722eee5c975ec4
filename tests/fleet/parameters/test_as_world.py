"""Every parameter reaches the kernel, or is none of a replica set's."""

import pytest
from msgspec.structs import replace

from kiplab.fleet.kernel import feature_sets, world
from kiplab.fleet.parameters import PARAMETERS, Parameters, Scenario
from kiplab.fleet.parameters.as_world import as_world, horizon_us
from kiplab.fleet.parameters.meaningful_sets import meaningful
from kiplab.fleet.parameters.years import MICROSECONDS_PER_YEAR
from kiplab.protocol.releases import Mode

OF_THE_FLEET = {"clusters", "brokers", "partitions", "replica_sets"}
"""How many replica sets there are, and how many partitions on each: what happens to one is the
same."""
IN_ONE_MODE = {"session_s": Mode.KRAFT, "zookeeper_session_s": Mode.ZOOKEEPER}
BASE = Scenario(mode=Mode.KRAFT, feature_sets=("none",))


def moved(name: str, mode: Mode) -> Scenario:
    """One value is another."""
    row = PARAMETERS[name]
    end = row.usual[row.usual[1] != row.default]
    value = not row.default if row.kind is bool else row.kind(end)
    three = Parameters(replication_factor=3, crashes_per_year=20_000.0, session_s=100.0)
    return replace(BASE, mode=mode, parameters=replace(three, **{name: value}))


@pytest.mark.parametrize("name", [n for n in PARAMETERS if n != "horizon_years"])
def test_a_parameter_changes_the_world_it_belongs_to(name: str) -> None:
    for mode in Mode:
        value = PARAMETERS[name].default
        plain = moved("clusters", mode)
        plain = replace(plain, parameters=replace(plain.parameters, **{name: value}))
        other = moved(name, mode)
        reaches = name not in OF_THE_FLEET and IN_ONE_MODE.get(name, mode) is mode
        assert (as_world(other) != as_world(plain)) is reaches, mode


def test_the_defaults_are_the_kernels_base_case() -> None:
    found = as_world(replace(BASE, parameters=Parameters(disk_failures_per_year=0.0)))
    kernel = world.World()
    for name in ("crash_mean_us", "bounce_mean_us", "failover_mean_us", "tail_lost", "session_us"):
        assert getattr(found, name) == getattr(kernel, name)
    for name in ("crash_restart", "clean_restart", "catch_up", "alter_partition_slow", "lag_us"):
        assert getattr(found, name) == getattr(kernel, name)
    world.compiled_world(found)


@pytest.mark.parametrize(("session", "oldest"), [(18.0, 6.0), (6.0, 2.0), (60.0, 10.0)])
def test_with_zookeeper_the_last_ping_is_at_most_a_third_of_a_session_old(
    session: float, oldest: float
) -> None:
    parameters = Parameters(zookeeper_session_s=session)
    with_it = as_world(replace(BASE, mode=Mode.ZOOKEEPER, parameters=parameters))
    assert with_it.heartbeat_age == world.Uniform(0, int(oldest * world.SECOND))
    without = as_world(replace(BASE, parameters=parameters))
    assert without.heartbeat_age == world.Uniform(0, 2 * world.SECOND)


def test_a_year_is_the_kernels_year() -> None:
    assert world.YEAR == MICROSECONDS_PER_YEAR
    assert horizon_us(Parameters(horizon_years=2.0)) == 2 * world.YEAR


def test_a_failing_disk_is_one_of_the_crashes() -> None:
    parameters = Parameters(crashes_per_year=2.0, disk_failures_per_year=0.5, tail_lost=0.2)
    found = as_world(replace(BASE, parameters=parameters))
    assert found.disk_replaced == 0.25
    assert found.tail_lost == pytest.approx(0.15)


@pytest.mark.parametrize("mode", Mode)
def test_the_kernel_has_the_sets_that_the_guard_table_gives_a_meaning(mode: Mode) -> None:
    assert feature_sets.feature_sets(mode) == meaningful(mode)

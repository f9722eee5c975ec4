"""Every parameter reaches the kernel, or is none of a replica set's."""

import pytest
from msgspec.structs import replace

from kiplab.fleet.fleet_answers.zookeeper_rates import zookeeper_rates
from kiplab.fleet.kernel import world
from kiplab.fleet.parameters import PARAMETERS, Parameters, Scenario
from kiplab.fleet.parameters.scenario import MICROSECONDS_PER_YEAR, as_world, horizon_us

OF_THE_FLEET = {"clusters", "brokers", "partitions", "replica_sets"}
"""How many replica sets there are, and how many partitions on each: what happens to one is the
same."""
OF_ZOOKEEPER = {"zookeeper_session_s", "queue_age_s", "queue_age_sigma", "heartbeat_timeout_s"}
BASE = Scenario(feature_sets=("none",))


def moved(name: str) -> Scenario:
    """One value is another."""
    row = PARAMETERS[name]
    end = row.usual[row.usual[1] != row.default]
    value = not row.default if row.kind is bool else row.kind(end)
    three = Parameters(
        replication_factor=3, crashes_per_year=20_000.0, session_s=100.0, network_cuts_per_year=1.0
    )
    return replace(BASE, parameters=replace(three, **{name: value}))


@pytest.mark.parametrize("name", [n for n in PARAMETERS if n != "horizon_years"])
def test_a_parameter_changes_the_world_it_belongs_to(name: str) -> None:
    value = PARAMETERS[name].default
    plain = moved("clusters")
    plain = replace(plain, parameters=replace(plain.parameters, **{name: value}))
    other = moved(name)
    reaches = name not in OF_THE_FLEET | OF_ZOOKEEPER
    assert (as_world(other) != as_world(plain)) is reaches
    changes = zookeeper_rates(other.parameters) != zookeeper_rates(plain.parameters)
    assert changes or name not in OF_ZOOKEEPER


def test_the_defaults_are_the_kernels_base_case() -> None:
    found = as_world(replace(BASE, parameters=Parameters(disk_failures_per_year=0.0)))
    kernel = world.World()
    for name in ("crash_mean_us", "bounce_mean_us", "failover_mean_us", "tail_lost", "session_us"):
        assert getattr(found, name) == getattr(kernel, name)
    for name in ("crash_restart", "clean_restart", "catch_up", "alter_partition_slow", "lag_us"):
        assert getattr(found, name) == getattr(kernel, name)
    world.compiled_world(found)


def test_a_year_is_the_kernels_year() -> None:
    assert world.YEAR == MICROSECONDS_PER_YEAR
    assert horizon_us(Parameters(horizon_years=2.0)) == 2 * world.YEAR


def test_a_failing_disk_is_one_of_the_crashes() -> None:
    parameters = Parameters(crashes_per_year=2.0, disk_failures_per_year=0.5, tail_lost=0.2)
    found = as_world(replace(BASE, parameters=parameters))
    assert found.disk_replaced == 0.25
    assert found.tail_lost == pytest.approx(0.15)

"""Partitions per incident: where partitions stand, what they share, how many an incident takes."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.fleet.estimators.forced_outages import ELR_METRICS, OUTAGE_METRICS
from kiplab.fleet.estimators.forced_windows import METRICS
from kiplab.fleet.kernel.simulation import METRIC_NAMES
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.spread import fate_groups, partition_placement

SMALL: dict[str, Any] = {
    "brokers": 12,
    "partitions": 3_000,
    "replication_factor": 3,
    "replica_sets": 220,
}
SCATTERED = Parameters(**SMALL)
COPYSETS = Parameters(**{**SMALL, "replica_sets": 20})
PINNED = ([[3, 2], [2, 0], [2, 0], [2, 0], [3, 2], [2, 0]], [2, 0, 0, 2, 2, 2])
"""Replicas and leaders of six partitions."""


@st.composite
def clusters(draw: st.DrawFn) -> dict[str, int]:
    brokers = draw(st.integers(1, 30))
    partitions = draw(st.integers(1, 400))
    return {
        "brokers": brokers,
        "partitions": partitions,
        "replication_factor": draw(st.integers(1, min(5, brokers))),
        "replica_sets": draw(st.integers(1, partitions)),
        "seed": draw(st.integers(0, 2**32 - 1)),
    }


# --- where partitions stand ---------------------------------------------------------------------


@given(clusters())
def test_every_partition_has_different_brokers_of_the_cluster(cluster: dict[str, int]) -> None:
    placement = partition_placement.placed(**cluster)
    assert placement.set_of.shape == placement.leader.shape == (cluster["partitions"],)
    for brokers in placement.sets.tolist():
        assert len(brokers) == cluster["replication_factor"]
        assert all(above > below for above, below in pairwise(brokers))
        assert 0 <= brokers[-1] <= brokers[0] < cluster["brokers"]
    assert ((placement.leader >= 0) & (placement.leader < cluster["replication_factor"])).all()


@given(clusters())
def test_no_more_sets_are_in_use_than_were_asked_for_and_each_once(cluster: dict[str, int]) -> None:
    sets = partition_placement.placed(**cluster).sets.tolist()
    assert len(sets) == len({tuple(brokers) for brokers in sets}) <= cluster["replica_sets"]


def test_the_same_seed_gives_the_same_placement_and_another_one_another() -> None:
    one, again = (partition_placement.placed.__wrapped__(**SMALL, seed=5) for _ in range(2))
    other = partition_placement.placed(**SMALL, seed=6)
    assert (one.sets == again.sets).all()
    assert (one.set_of == again.set_of).all()
    assert (one.leader == again.leader).all()
    assert (one.set_of != other.set_of[: len(one.set_of)]).any()


def test_a_placement_never_changes_between_releases_of_kiplab() -> None:
    placement = partition_placement.placed(
        brokers=5, partitions=6, replication_factor=2, replica_sets=3, seed=1
    )
    replicas = placement.sets[placement.set_of]
    leaders = np.take_along_axis(replicas, placement.leader[:, None], axis=1)[:, 0]
    assert (replicas.tolist(), leaders.tolist()) == PINNED


def test_every_set_of_brokers_is_as_likely_as_any_other() -> None:
    placement = partition_placement.placed(
        brokers=6, partitions=60_000, replication_factor=2, replica_sets=15, seed=3
    )
    held = np.bincount(placement.set_of)
    assert len(held) == 15
    chi_square = ((held - 4_000) ** 2 / 4_000).sum()
    assert chi_square < 36.1  # 1 in 1,000 with 14 degrees of freedom; the seed is fixed


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(ValueError, match="sets of 3 replicas cannot be placed on 2 brokers"):
        partition_placement.placed(
            brokers=2, partitions=9, replication_factor=3, replica_sets=1, seed=0
        )


# --- how many an incident takes -----------------------------------------------------------------


def test_every_metric_says_what_its_incidents_take() -> None:
    told = {*METRIC_NAMES, *METRICS, *OUTAGE_METRICS, *ELR_METRICS}
    assert set(fate_groups.GROUP_OF) == told - {"committed_loss"}


@given(clusters())
def test_no_partition_is_lost_and_none_is_counted_twice(cluster: dict[str, int]) -> None:
    shape: dict[str, Any] = {**cluster}
    seed = shape.pop("seed")
    parameters = Parameters(**shape)
    partitions, replicas = parameters.partitions, parameters.replication_factor
    totals = {
        metric: int(fate_groups.partitions_per_incident(parameters, metric, seed).sizes.sum())
        for metric in ("stale_join", "last_replica_loss", "incidents")
    }
    assert totals == {
        "stale_join": partitions * (replicas - 1),
        "last_replica_loss": partitions,
        "incidents": partitions * replicas,
    }


@pytest.mark.parametrize("metric", ["last_replica_loss", "stale_join"])
def test_copysets_give_fewer_and_larger_incidents(metric: str) -> None:
    scattered = fate_groups.partitions_per_incident(SCATTERED, metric)
    few = fate_groups.partitions_per_incident(COPYSETS, metric)
    assert len(few.sizes) < len(scattered.sizes)
    assert few.mean > scattered.mean
    assert len(few.sizes) * few.mean == pytest.approx(len(scattered.sizes) * scattered.mean)


def shocks(share: float) -> fate_groups.IncidentSizes:
    each = Parameters(**SMALL, shock_tail_lost=share, shock_fate_shared=False)
    return fate_groups.partitions_per_incident(each, "shock_loss")


def test_a_shock_takes_about_the_share_that_loses_its_tail() -> None:
    assert set(shocks(1.0).sizes.tolist()) == {3_000}
    assert shocks(0.25).mean == pytest.approx(0.25 * 3_000, rel=0.2)


def test_a_shock_in_which_hardly_anybody_loses_anything_takes_what_one_broker_was_left() -> None:
    """One that was fenced early was left nothing, and such a shock is no incident."""
    rare = shocks(1e-6)
    assert 300 < len(rare.sizes) < 500
    assert rare.sizes.sum() / 500 == pytest.approx(3_000 / 12, rel=0.1)
    sets = fate_groups.partitions_per_incident(SCATTERED, "offline")
    assert shocks(0.0).sizes.tolist() == sets.sizes.tolist()


def test_a_metric_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no incidents are known of 'stale'; there are incidents"):
        fate_groups.partitions_per_incident(SCATTERED, "stale")

"""TLC as a judge: a TLA+ module of the partition level, written from the KIPs, agrees throughout.

What Kafka 3.5 has is not quite enough: with all its guards both judges lose a record in 14 steps,
because a leader that reads metadata as old as its own forgets a pending ISR (test_found.py). Where
nothing is to be lost, the proposal therefore outlives such metadata, as KIP-497 has it.
"""

from pathlib import Path

import pytest

from kiplab.engine import properties
from kiplab.explore.compiled.compiled_search import CompiledModel, search_compiled
from kiplab.explore.search_terms import PROVED, REFUTED
from kiplab.machine.java import JavaNotFound, find_java
from tests.explore.bounds import PARTITION, THREE, begun, bounds, searched
from tests.explore.tlc import LOSS, STALE, judge
from tests.repeated import in_long

pytestmark = pytest.mark.java
LONG = pytest.mark.long(quick="::test_the_same_states")
PENDING = ("497.pending-outlives-metadata",)
PROPERTIES = {
    "NoCommittedRecordLost": properties.NO_COMMITTED_RECORD_LOST.id,
    "ElectableHoldsCommitted": properties.ELECTABLE_HOLDS_COMMITTED.id,
    "NoStaleEpochInIsr": properties.NO_STALE_EPOCH_IN_ISR.id,
}
LOST, ELECTABLE, STALE_MEMBER = PROPERTIES.values()
WHAT = {LOSS: (LOST, ELECTABLE), STALE: (STALE_MEMBER,), "": ()}
TWO_BROKERS = THREE.replace("broker    3 epoch=103\n", "").replace("1,2,3", "1,2")
Bounds = tuple[int, int, int]


@pytest.fixture(autouse=True, scope="module")
def java() -> None:
    try:
        find_java()
    except JavaNotFound as reason:
        pytest.skip(f"TLC needs Java: {reason}")


@pytest.mark.parametrize(
    "bounds", [(1, 0, 0), (0, 1, 0), *in_long([(1, 1, 0), (1, 0, 1), (0, 2, 0)])]
)
def test_the_same_states(tmp_path: Path, bounds: Bounds) -> None:
    """All guards of 3.5, from two of three in sync: as many states, as far from the start."""
    here = searched(begun(), bounds)
    there = judge(tmp_path, bounds)
    assert (there.states, there.depth) == (here.states, here.depth)


def test_the_same_states_between_two_brokers(tmp_path: Path) -> None:
    cluster = begun(TWO_BROKERS, "3.5")
    here = searched(cluster, (1, 1, 1))
    there = judge(tmp_path, (1, 1, 1), brokers="1, 2", isr="1")
    assert (there.states, there.depth) == (here.states, here.depth)


def test_the_same_states_without_any_guard_that_can_be_lost(tmp_path: Path) -> None:
    """Also beyond the first violation: nothing is asked, and nothing stops either search."""
    off = ("841", "903", "631.one-live-incarnation", "497.maximal-isr", "497.partition-epoch")
    here = searched(begun(off=off), (0, 1, 0))
    there = judge(tmp_path, (0, 1, 0), off=off)
    assert (there.states, there.depth) == (here.states, here.depth)


@pytest.mark.parametrize(
    ("off", "on", "bounds", "asked"),
    [
        (("903",), PENDING, (1, 1, 0), LOSS),
        (("841",), (), (0, 1, 0), STALE),
        *in_long(
            [
                (("841",), PENDING, (1, 1, 0), LOSS),
                (("903", "841"), PENDING, (1, 1, 0), LOSS),
                ((), (), (1, 1, 0), LOSS),
                (("497.maximal-isr",), PENDING, (1, 0, 0), LOSS),
                (("631.one-live-incarnation",), PENDING, (1, 1, 0), LOSS),
                (("903",), (), (0, 1, 0), STALE),
            ],
            rows=True,
        ),
    ],
)
def test_the_same_shortest_way(
    tmp_path: Path,
    off: tuple[str, ...],
    on: tuple[str, ...],
    bounds: Bounds,
    asked: str,
) -> None:
    """Each hole that a missing guard leaves, and that of Kafka 3.5 as it was built: as many steps,
    to the same property."""
    here = searched(begun(off=off, on=on), bounds, WHAT[asked])
    there = judge(tmp_path, bounds, off=off, on=on, asked=asked)
    assert here.verdict == REFUTED
    assert (there.steps, PROPERTIES[there.violated]) == (len(here.path), here.violated)


@LONG
def test_nothing_is_lost_in_all_of_480_thousand_states(tmp_path: Path) -> None:
    """KIP-841, KIP-903 and the pending ISR kept: both prove it, and count the same states.

    By the compiled search, as anybody asks for so many.
    """
    model = CompiledModel(PARTITION, begun(on=PENDING), bounds(1, 1, 1))
    here = search_compiled(model, WHAT[LOSS])
    there = judge(tmp_path, (1, 1, 1), on=PENDING, asked=LOSS, workers=2)
    assert (here.verdict, there.violated) == (PROVED, "")
    assert (there.states, there.depth) == (here.states, here.depth)
    assert there.states == 480_334

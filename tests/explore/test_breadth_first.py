"""Verdicts, shortest lengths and state counts: what other judges of this level have to agree on."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kiplab.engine.canonical import canonical
from kiplab.explore import search_terms as terms
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.memoised_model import MemoisedModel
from tests.explore.bounds import PARTITION, begun, searched
from tests.explore.bounds import bounds as within
from tests.repeated import in_long

ENOUGH = terms.Halt(terms.HaltReason.STATES, 1_000)
LOSS = ("no-committed-record-lost", "electable-holds-committed")
STALE = ("no-stale-epoch-in-isr",)
PENDING = ("497.pending-outlives-metadata",)


@pytest.mark.parametrize(
    ("bounds", "states", "transitions", "depth"),
    [
        ((0, 0, 0), 9, 11, 4),
        ((1, 0, 0), 73, 153, 8),
        ((0, 1, 0), 805, 2010, 15),
        ((0, 0, 1), 770, 2003, 14),
        ((1, 1, 0), 8434, 25624, 19),
        *in_long([((1, 0, 1), 8645, 26805, 18), ((0, 2, 0), 18587, 60405, 24)], rows=True),
    ],
)
def test_pinned_counts(
    bounds: tuple[int, int, int], states: int, transitions: int, depth: int
) -> None:
    """All guards of 3.5, from two of three in sync; nothing stops the search."""
    found = searched(begun(), bounds)
    assert (found.states, found.transitions, found.depth) == (states, transitions, depth)
    assert found.verdict == terms.PROVED


@pytest.mark.parametrize(
    ("off", "properties", "steps"),
    [
        (("903",), LOSS, 10),
        (("903",), STALE, 6),
        (("841",), STALE, 5),
        *in_long([(("841",), LOSS, 10), (("903", "841"), LOSS, 10)], rows=True),
    ],
)
def test_what_each_guard_prevents(
    off: tuple[str, ...], properties: tuple[str, ...], steps: int
) -> None:
    found = searched(begun(off=off), (1, 1, 0), properties)
    assert (found.verdict, len(found.path)) == (terms.REFUTED, steps)


@pytest.mark.parametrize("bounds", [(1, 1, 0), *in_long([(1, 0, 1)])])
def test_with_both_kips_and_pending_proposals_kept_nothing_is_lost(
    bounds: tuple[int, int, int],
) -> None:
    assert searched(begun(on=PENDING), bounds, LOSS).verdict == terms.PROVED


def test_between_two_brokers_both_kips_suffice() -> None:
    assert searched(begun(play="kafka-14139"), (1, 1, 1), LOSS).verdict == terms.PROVED
    late = searched(begun(play="kafka-14139", kafka="3.4"), (0, 1, 0), LOSS)
    assert (late.verdict, len(late.path)) == (terms.REFUTED, 6)


def test_late_metadata_undoes_a_pending_proposal() -> None:
    """With every guard of 3.5: found by this search, see test_found.py."""
    found = searched(begun(), (1, 1, 0), LOSS)
    assert (found.verdict, len(found.path)) == (terms.REFUTED, 14)


def test_the_last_replica_is_no_counterexample() -> None:
    """Durability ends with the last disk: it is broken, and excused."""
    assert searched(begun(play="last-replica"), (0, 1, 0), LOSS).verdict == terms.PROVED


@pytest.mark.parametrize("off", [("903",), *in_long([(), ("841",)])])
@pytest.mark.parametrize("bounds", [(0, 1, 0), (1, 0, 0)])
def test_the_normal_form_changes_no_verdict(
    off: tuple[str, ...], bounds: tuple[int, int, int]
) -> None:
    """Against `engine.canonical` alone: equal verdicts, equal shortest lengths, more states."""
    loose = msgspec.structs.replace(PARTITION, normal=canonical, admit=canonical)
    for properties in (LOSS, STALE):
        cluster = begun(off=off, play="kafka-14139")
        exact = search(EngineModel(loose, cluster, within(*bounds)), properties)
        memoised = searched(cluster, bounds, properties)
        assert (exact.verdict, len(exact.path)) == (memoised.verdict, len(memoised.path))
        assert exact.states >= memoised.states


@pytest.mark.parametrize("off", [("903",), *in_long([("841",), ()])])
def test_a_start_that_is_refused_may_be_left_out(off: tuple[str, ...]) -> None:
    """Against a level that leaves refused processes waiting, and lets them ask again."""
    kinds = {k.name: k for k in PARTITION.kinds}
    cluster = level_named("cluster")
    patient = msgspec.structs.replace(kinds["start"], came=lambda _cluster, _action: True)
    again = msgspec.structs.replace(
        cluster.kind("beat"),
        fits=lambda _cluster, node: node.process is not None and node.process.epoch == -1,
        then=kinds["start"].then,
    )
    waiting = msgspec.structs.replace(
        PARTITION,
        kinds=(*(patient if k is kinds["start"] else k for k in PARTITION.kinds), again),
        normal=canonical,
        admit=canonical,
    )
    here = begun(off=off, play="kafka-14139")
    found = search(EngineModel(waiting, here, within(0, 1, 0)), LOSS)
    memoised = searched(here, (0, 1, 0), LOSS)
    assert (found.verdict, len(found.path)) == (memoised.verdict, len(memoised.path))


def test_a_search_can_be_stopped_and_says_what_is_left() -> None:
    seen: list[terms.Progress] = []

    def stop(now: terms.Progress) -> terms.Halt | None:
        seen.append(now)
        return ENOUGH if now.states > 1_000 else None

    found = search(MemoisedModel(PARTITION, begun(), within(1, 1, 0)), LOSS, stop)
    assert (found.verdict, found.halt) == (terms.UNFINISHED, ENOUGH)
    assert found.frontier > 0
    assert found.states > 1_000
    assert [p.states for p in seen] == sorted(p.states for p in seen)


def test_two_processes_find_the_same_way() -> None:
    """Whatever the seed of the hashes."""
    program = (
        "import kiplab; f = kiplab.explore('kafka-14139', kafka='3.4');"
        "print(f.states, f.transitions, f.text())"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert "expect" in said[0]

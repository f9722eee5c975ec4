"""Eligible leader replicas at the level "partition": what is lost, judged by minicheck over a twin.

Counts are pinned for min.insync.replicas=2 and three replicas. With a proposed ISR that outlives
metadata (KIP-497 as written) nothing that was committed is lost by a clean election; as Kafka was
built, something is, with or without an unclean return.
"""

from typing import Any

import pytest
from minicheck import check_safety

import kiplab
from kiplab.engine.events import PropertyBroken
from kiplab.explore.levels.level_table import CAN_DATA_BE_LOST, ExploreError
from kiplab.explore.search.breadth_first import search
from kiplab.explore.search.explore_play import explore
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search_terms import PROVED, REFUTED
from kiplab.plays.runner import run_play
from tests.explore.bounds import ELR, PARTITION, begun, bounds
from tests.explore.elr_twin import Twin
from tests.explore.test_memoised_model import assert_same_graph
from tests.repeated import in_long

PENDING = "497.pending-outlives-metadata"
OF_ELR = tuple(
    f"966.elr-{rule}"
    for rule in ("members", "empty-isr", "election", "last-known-leader", "unclean-shutdown")
)
TWO, THREE, ONE = (1, 2), (1, 2, 3), (1,)
WITHIN = {"writes": 0, "crashes": 0, "fences": 0}
Ids = tuple[int, ...]


def header(isr: Ids, least: int = 2) -> str:
    return ELR.format(isr=",".join(map(str, isr)), m=least)


def level_says(
    isr: Ids, least: int, off: tuple[str, ...], within: dict[str, int], start: str = ""
) -> tuple[str, int, int]:
    """Verdict, states, steps; from `start`, if it is given."""
    on = () if PENDING in off else (PENDING,)
    off = tuple(guard for guard in off if guard != PENDING)
    cluster = begun(start or header(isr, least), "4.3", off, on, elr=1)
    found = search(MemoisedModel(PARTITION, cluster, {**WITHIN, **within}), CAN_DATA_BE_LOST)
    return found.verdict, found.states, len(found.path)


def twin_says(
    isr: Ids, least: int, off: tuple[str, ...], within: dict[str, int], **start: Any
) -> tuple[str, int, int]:
    twin = Twin(isr, least, {**WITHIN, **within}, off, **start)
    answer = check_safety(twin.protocol(beyond=False), max_states=2_000_000)
    assert answer["exhaustive"]
    way = answer["properties"]["nothing is lost"]["counterexample"]
    states = answer["reachable_states"]
    return (PROVED, states, 0) if way is None else (REFUTED, states, len(way) - 1)


@pytest.mark.parametrize(
    ("isr", "least", "within", "states"),
    [
        (TWO, 2, {"crashes": 1}, 736),
        (TWO, 2, {"fences": 1}, 513),
        (TWO, 2, {"kills": 1}, 736),
        (ONE, 2, {"stops": 1}, 758),
        (THREE, 2, {"writes": 1, "crashes": 1}, 1_506),
        (ONE, 1, {"writes": 1}, 228),
        *in_long(
            [
                (TWO, 2, {"writes": 1, "crashes": 1}, 7_366),
                (ONE, 2, {"writes": 1, "crashes": 1}, 11_647),
                (ONE, 1, {"writes": 1, "crashes": 1}, 13_917),
                (THREE, 2, {"writes": 2, "crashes": 2}, 262_224),
            ],
            rows=True,
        ),
    ],
)
def test_nothing_is_lost_by_a_clean_election(
    isr: Ids, least: int, within: dict[str, int], states: int
) -> None:
    """Whatever is lost is lost by the election of a last known leader, which is unclean."""
    assert level_says(isr, least, (), within) == (PROVED, states, 0)
    assert twin_says(isr, least, (), within) == (PROVED, states, 0)


STOP = {"writes": 1, "crashes": 1, "stops": 1}
CRASH = {"writes": 1, "crashes": 1}


@pytest.mark.parametrize(
    ("isr", "least", "off", "within", "steps"),
    [
        (ONE, 2, (PENDING,), {"writes": 1}, 8),
        (ONE, 1, OF_ELR, CRASH, 5),
        *in_long(
            [
                (TWO, 2, (PENDING,), CRASH, 13),
                (TWO, 2, ("903",), CRASH, 10),
                (TWO, 2, OF_ELR, STOP, 8),
                (TWO, 2, ("966.elr-empty-isr",), STOP, 8),
                (TWO, 2, ("966.elr-unclean-shutdown",), STOP, 8),
                (TWO, 2, ("966.committed-with-min-isr",), {**CRASH, "fences": 1}, 6),
            ],
            rows=True,
        ),
    ],
)
def test_what_each_guard_prevents(
    isr: Ids, least: int, off: tuple[str, ...], within: dict[str, int], steps: int
) -> None:
    for says in (level_says, twin_says):
        verdict, _, shortest = says(isr, least, off, within)
        assert (verdict, shortest) == (REFUTED, steps)


@pytest.mark.parametrize(
    ("off", "promised"), [((), True), (("966.elr",), False)], ids=["every rule", "none of KIP-966"]
)
def test_a_break_is_a_broken_promise_with_every_rule_alone(
    off: tuple[str, ...], promised: bool
) -> None:
    """As built a proposed ISR is forgotten: the play of the search breaks what is promised."""
    found = explore(header(ONE), writes=1, crashes=0, off=off)
    assert (found.verdict, found.steps) == (REFUTED, 8)
    events = run_play(found.play).events if found.play else ()
    assert [e.promised for e in events if isinstance(e, PropertyBroken)] == [promised]


def test_without_the_feature_the_last_disk_is_an_excuse_and_with_it_none_is() -> None:
    """KIP-903 concedes that a last member is elected whatever its disk holds."""
    last = header(ONE, 1)
    without = explore(last, elr=0, on=PENDING)
    assert (without.verdict, without.states) == (PROVED, 14_695)
    found = explore(last, on=PENDING, off="966.elr")
    assert (found.verdict, found.steps) == (REFUTED, 5)
    assert explore("last-replica", elr=0, writes=0).verdict == PROVED


def test_a_release_that_is_asked_for_has_them_and_the_compiled_search_says_what_to_do() -> None:
    said: list[str] = []
    found = explore("kafka-14139", kafka="4.3", writes=2, fences=1, states=20, say=said.append)
    assert (found.engine, found.features) == ("step", "4.3 elr=1")
    assert any("KIP-966" in sentence and "--elr 0" in sentence for sentence in said)
    with pytest.raises(ExploreError, match="KIP-966"):
        explore("kafka-14139", kafka="4.3", engine="compiled")
    off = explore("kafka-14139", kafka="4.3", elr=0, states=20)
    assert off.features == "4.3"


def test_a_matrix_over_their_rules() -> None:
    """Of 903 and KIP-966 each is needed where a last member may lose its disk."""
    found = kiplab.matrix(
        header(ONE, 1), ("903", "966.elr"), kafka=None, processes=1, say=lambda _: None
    )
    assert found.verdicts == {
        frozenset(off): verdict
        for off, verdict in (
            ((), PROVED),
            (("903",), REFUTED),
            (("966.elr",), REFUTED),
            (("903", "966.elr"), REFUTED),
        )
    }


ELIGIBLE = header(ONE).replace("isr=1", "isr=1 elr=2").replace("log=empty", "log=1@1")
"""Broker 1 is alone in the ISR, broker 2 is eligible, and everybody has one record."""
MEMBERS, ELECTED = "966.elr-members", "966.elr-election"
EMPTY, RETURNED = "966.elr-empty-isr", "966.elr-unclean-shutdown"


@pytest.mark.parametrize(
    ("off", "verdict", "found"),
    [
        ((), PROVED, 2_477),
        ((ELECTED, RETURNED), REFUTED, 4),
        *in_long(
            [
                (("841",), PROVED, 2_951),
                (("903",), REFUTED, 6),
                ((ELECTED,), PROVED, 2_084),
                ((MEMBERS,), PROVED, 2_183),
                ((RETURNED,), PROVED, 2_113),
                ((ELECTED, EMPTY), REFUTED, 4),
                ((ELECTED, RETURNED, MEMBERS), PROVED, 2_017),
                (("841", EMPTY, RETURNED, MEMBERS), PROVED, 2_399),
            ],
            rows=True,
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else None,
)
def test_cells_of_that_matrix(off: tuple[str, ...], verdict: str, found: int) -> None:
    """What is proved has so many states, what is refuted takes so many steps."""
    asked = ONE, 2, (PENDING, *off), {"crashes": 1}
    level, twin = level_says(*asked, ELIGIBLE), twin_says(*asked, elr=(2,), records=1)
    number = 1 if verdict == PROVED else 2
    assert (level[0], level[number]) == (twin[0], twin[number]) == (verdict, found)


@pytest.mark.long(quick="::test_cells_of_that_matrix")
def test_a_matrix_over_841_903_and_single_rules_of_966() -> None:
    """When broker 1 is alone in the ISR, broker 2 is eligible, and one disk is lost."""
    within: dict[str, Any] = {"writes": 0, "crashes": 1, "say": lambda _: None}
    guards = ("841", "903", MEMBERS, ELECTED, EMPTY, RETURNED)
    found = kiplab.matrix(ELIGIBLE, guards, kafka=None, **within)
    assert len(found.verdicts) == 64
    for off, verdict in found.verdicts.items():
        # Who is not elected from the ELR has to be kept out of the ISR until it has caught up.
        forgotten = EMPTY in off or (RETURNED in off and MEMBERS not in off)
        harmed = "903" in off or (ELECTED in off and forgotten)
        assert verdict == (REFUTED if harmed else PROVED), off


@pytest.mark.parametrize("within", [{"stops": 1}, {"kills": 1}], ids=str)
def test_the_memoised_model_is_the_engines(within: dict[str, int]) -> None:
    assert_same_graph(begun(header(THREE), "4.3", elr=1), {**WITHIN, **within})


@pytest.mark.long(quick="::test_the_memoised_model_is_the_engines")
def test_the_memoised_model_is_the_engines_after_an_unclean_election() -> None:
    assert_same_graph(begun(header(ONE, 1), "4.3", elr=1), bounds(1, 1, 0))


def test_optional_bounds_are_named_where_they_are_asked_for() -> None:
    assert PARTITION.with_defaults({"stops": 0}) == PARTITION.with_defaults({})
    within = PARTITION.with_defaults({"stops": 1})
    assert PARTITION.in_words(within).endswith(" and 1 orderly stop")
    found: Any = explore(header(THREE), writes=0, crashes=0, stops=1)
    assert found.states == 134
    assert "stop" in found.vacuity.taken


@pytest.mark.parametrize("level", ["cluster", "recovery"])
def test_other_levels_take_them(level: str) -> None:
    found = explore(header(ONE, 1), level=level, states=300, writes=0)
    assert (found.features, found.states >= 100) == ("4.3 elr=1", True)
    assert found.verdict != REFUTED

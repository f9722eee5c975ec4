"""Every word of every kind of picture can be read: none is cut off, and none covers another."""

from functools import partial

import pytest

from kiplab.figures.timeline.bounce_panels import OFF, ON
from kiplab.figures.timeline.ladder import ladder_drawing
from kiplab.figures.timeline.whole_runs import timeline_drawing, twin_drawing
from kiplab.plays.library import names
from kiplab.rows.columns import Rows
from tests.figures import zookeeper_plays
from tests.figures.boxes import unreadable
from tests.figures.fleet_samples import CHARTS
from tests.figures.small_plays import EVERY_MARK, play
from tests.figures.test_partitions import SEVEN, THREE
from tests.figures.zookeeper_plays import ALL
from tests.kafka_14139 import rows_on
from tests.repeated import COVERING, in_long

WIDTHS = [600, 840, 1100, 1200, 1400]
CYCLE = (
    "crash 2 disk=replaced\nexpire 2\nstart 2\nunfence 2\nhold alter-partition from=1\n"
    "catch-up 2\nproduce t-0 count=5\ndeliver alter-partition from=1\n"
)
THREE_BROKERS = "broker 1\nbroker 2\nbroker 3\ntopic t replicas=1,2,3 leader=1 log=10@0\n"
RUNS = {
    **{f"{name} on 3.5": partial(rows_on, name, "3.5") for name in names()},
    **{f"{name} on {k}": partial(zookeeper_plays.run, name, k) for name in ALL for k in (OFF, ON)},
    **{f"marks {n}": partial(play, text) for n, text in enumerate(EVERY_MARK)},
    "a long run": partial(play, THREE_BROKERS + 4 * CYCLE),
}
"""Runs whose timeline is drawn."""
REPETITION = {f"{name} on 3.5" for name in {*names()} - {*COVERING}}
EVERY = [name for name in RUNS if name not in REPETITION] + in_long(sorted(REPETITION))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", EVERY)
def test_no_word_of_a_timeline_is_cut_off_or_covered(name: str, width: int) -> None:
    assert unreadable(timeline_drawing(RUNS[name](), width=width)) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("partition", ["orders-0", "notes-0"])
def test_no_word_where_there_are_several_partitions(partition: str, width: int) -> None:
    for text in (THREE, SEVEN):
        drawing = timeline_drawing(play(text), width=width, partition=partition)
        assert unreadable(drawing) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_of_a_twin_or_a_ladder(
    two_by_two: tuple[Rows, ...], implemented: Rows, specified: Rows, width: int
) -> None:
    for runs in ((implemented, specified), two_by_two[:2]):
        assert unreadable(twin_drawing(*runs, width=width)) == []
    for several in (2, 3, 4):
        assert unreadable(ladder_drawing(two_by_two[:several], width=width)) == []


@pytest.mark.parametrize("width", [640, 980, 1320])
@pytest.mark.parametrize("name", CHARTS)
def test_no_word_of_a_chart(name: str, width: int) -> None:
    make, rows = CHARTS[name]
    assert unreadable(make(*rows).drawing(width=width)) == []

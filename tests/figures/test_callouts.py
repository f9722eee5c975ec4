"""Refusals in pictures: whoever looks at one reads which error it was, and why."""

from collections import Counter
from functools import cache
from typing import Any

import pytest

import kiplab
from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline.callouts import callout_lines
from kiplab.figures.timeline.icons import SHIELD_ROOM
from kiplab.figures.timeline.ladder import ladder_drawing
from kiplab.figures.timeline.sheet import PictureOptions
from kiplab.figures.timeline.whole_runs import (
    drawing_so_far,
    timeline,
    timeline_drawing,
    twin_drawing,
)
from kiplab.plays.library import names
from kiplab.rows.columns import MessageRow, Rows
from kiplab.rows.message_paths import drawn_messages
from kiplab.rows.rows_of_stage import rows_of
from tests.figures import small_plays
from tests.figures.boxes import covered, unreadable, words
from tests.figures.long_runs import long_stage
from tests.kafka_14139 import rows_on
from tests.repeated import in_long

SIGNS = (f"<b>{SHIELD_ROOM}", "<b>⊘")
"""How a callout begins: with room for the shield of a guard, or as refused by none."""
QUICK = "tests/figures/test_callouts.py::test_every_refusal_says_its_error_and_what_was_compared"
WIDTHS = [600, 980, *in_long([840, 1280], QUICK)]
RELEASES = ["3.2", "3.4", "3.5", "3.7"]
RANGES = {"whole": None, "zoomed": (50, 60)}


@pytest.fixture(scope="module")
def longer_run() -> Rows:
    return rows_of(long_stage(500))


def refused(*runs: Rows) -> list[MessageRow]:
    """The refusals that get an arrow, of runs as they are drawn."""
    drawn = (m for run in runs for m in drawn_messages(run, run.busiest))
    return [m for m in drawn if m.fate == "refused"]


def wanted(*runs: Rows) -> Counter[str]:
    """Their errors."""
    return Counter(m.error for m in refused(*runs))


def explained(*runs: Rows) -> int:
    """How many of them compared something, or are a guard's: of an election that nobody needs there
    is no more to say than its error.
    """
    return sum(bool(m.compared or m.guard) for m in refused(*runs))


def said(figure: Any) -> list[list[str]]:
    """The lines of every callout, an error's name on one of them."""
    found = (w.text.replace("_<br>", "_") for w in words(figure) if w.text.startswith(SIGNS))
    return [text.split("<br>") for text in found]


def named(figure: Any) -> Counter[str]:
    return Counter(lines[0][len(SIGNS[0]) + 1 : -len("</b>")] for lines in said(figure))


def compared(figure: Any) -> int:
    """How many callouts say more than the error."""
    return sum(len(lines) > 1 for lines in said(figure))


@cache
def refusing(*kafkas: str) -> list[str]:
    """The shipped plays that have a refusal with an arrow under one of these releases."""
    return [name for name in names() if wanted(*(rows_on(name, kafka) for kafka in kafkas))]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kafka", ["3.5", *in_long(["3.2", "3.4", "3.7"], QUICK)])
def test_every_refusal_says_its_error_and_what_was_compared(kafka: str, width: int) -> None:
    assert len(refusing(kafka)) > 1
    for name in refusing(kafka):
        run = rows_on(name, kafka)
        figure = timeline_drawing(run, width=width)
        drawn = PictureOptions(width=width).views((run,))
        assert (name, named(figure)) == (name, wanted(*drawn))
        assert (name, compared(figure)) == (name, explained(*drawn))
        assert (name, unreadable(figure)) == (name, [])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("releases", [("3.4", "3.5"), *in_long([("3.5", "3.7")])], ids="-".join)
def test_so_it_does_in_both_panels_of_a_twin(releases: tuple[str, str], width: int) -> None:
    for name in refusing(*releases):
        one, other = (rows_on(name, kafka) for kafka in releases)
        figure = twin_drawing(one, other, width=width)
        drawn = PictureOptions(width=width).views((one, other))
        assert (name, named(figure)) == (name, wanted(*drawn))
        assert (name, compared(figure)) == (name, explained(*drawn))
        assert (name, covered(figure)) == (name, [])


@pytest.mark.parametrize("width", WIDTHS)
def test_every_refusal_by_the_controller_has_its_name_in_a_ladder(width: int) -> None:
    for name in refusing(*RELEASES):
        runs = [rows_on(name, kafka) for kafka in RELEASES]
        shown = refused(*PictureOptions(width=width).views(runs))
        drawn = [m.error for m in shown if m.receiver == "controller"]
        assert (name, named(ladder_drawing(runs, width=width))) == (name, Counter(drawn))


@pytest.mark.parametrize("width", [600, 840, 980, 1280, 1600])
@pytest.mark.parametrize("between", RANGES.values(), ids=RANGES)
def test_a_long_run_has_them_too_also_where_it_is_zoomed(
    long_run: Rows, width: int, between: tuple[int, int] | None
) -> None:
    figure = timeline_drawing(long_run, width=width, between=between)
    assert named(figure) == Counter({"INELIGIBLE_REPLICA": 1})
    assert compared(figure) == 1
    assert unreadable(figure) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_many_refusals_are_all_named(longer_run: Rows, width: int) -> None:
    figure = timeline_drawing(longer_run, width=width)
    drawn = refused(*PictureOptions(width=width).views((longer_run,)))
    assert named(figure).total() == len(drawn) > 1
    assert covered(figure) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_run_that_ends_with_a_refusal_has_the_name_left_of_it(width: int) -> None:
    lab = kiplab.Lab("kafka-14139", kafka="3.4")
    lab.seek(3)
    lab.do("deliver alter-partition from=1")
    now, whole = rows_of(lab.playback.here), rows_of(lab.playback.whole)
    for figure in (timeline_drawing(now, width=width), drawing_so_far(now, whole, width=width)):
        assert said(figure) == [
            [f"{SIGNS[0]} INELIGIBLE_REPLICA</b>", "broker 2 is fenced", "<i>KIP-841 · fenced</i>"]
        ]
        assert unreadable(figure) == []


def test_refusals_at_one_moment_stand_apart() -> None:
    text = small_plays.REFUSED_AT_ONCE + "".join(
        f"send alter-partition from=1 partition=t-0 isr=1,2 leader-epoch={epoch}"
        " partition-epoch=10\n"
        for epoch in (1, 2, 3, 4)
    )
    for width in (600, 840, 980, 1280):
        figure = timeline_drawing(small_plays.play(text), width=width)
        assert named(figure) == wanted(small_plays.play(text))
        assert unreadable(figure) == []


def test_boxes_leave_the_arrows_of_other_requests_free() -> None:
    figure = timeline(rows_on("alter-partition-mended", "3.5"), width=934)
    boxes = [s for s in figure.layout.shapes if (s.name or "").startswith("callout")]
    low = figure.layout.shapes[[s.fillcolor for s in figure.layout.shapes].index(LIGHT.tile)].y0
    assert len(boxes) == 5
    for box in boxes:
        own = float(box.name.rpartition(" ")[2])
        covering = [x for x in (1, 2, 3, 4, 6) if box.x0 < x < box.x1 and x != own]
        assert (covering, box.y1 < low) == ([], True)


def test_boxes_stay_on_the_plot() -> None:
    figure = timeline(rows_on("epochs-fences", "3.5"), width=980)
    boxes = [s for s in figure.layout.shapes if (s.name or "").startswith("callout")]
    assert len(boxes) == 4
    assert all(box.x0 >= 0 and box.x1 <= 5.2 for box in boxes)


def test_the_lines_are_the_error_the_values_and_the_rule() -> None:
    (refused,) = (m for m in small_plays.play(small_plays.MESSAGES).messages if m.fate == "refused")
    assert callout_lines(refused) == [
        f"{SHIELD_ROOM} STALE_BROKER_EPOCH",
        "broker 1: request 40, registered 53",
        "KIP-497 · request broker epoch",
    ]


def test_a_callout_has_the_sign_that_its_arrow_has() -> None:
    """A shield where a guard refused; where none did, what the text says too."""
    for run, guarded in (
        (small_plays.play(small_plays.MESSAGES), True),
        (small_plays.play(small_plays.REFUSED_BY_NO_GUARD), False),
    ):
        figure = timeline(run)
        shields = [s for s in figure.layout.shapes if (s.name or "").startswith("shield")]
        (lines,) = said(figure)
        assert lines[0].startswith(SIGNS[0] if guarded else SIGNS[1])
        assert len(shields) == guarded


def test_without_refusals_there_is_no_callout() -> None:
    for text in (small_plays.PAIR + "catch-up 2\n", small_plays.TRIO + "fetch 2\n"):
        assert said(timeline(small_plays.play(text))) == []

"""A picture in a low window: its lanes are as much lower as needs be, and can still be read."""

from typing import Any

import pytest

from kiplab.figures.drawing.text_width import LINE_HEIGHT
from kiplab.figures.drawing.theme import sizes_of
from kiplab.figures.timeline.whole_runs import drawing_so_far, low_enough
from kiplab.rows.columns import Rows
from kiplab.runs import run
from tests.figures.boxes import unreadable, words

ROOMS = {"1280x720": (848, 515), "1366x768": (934, 563)}
"""Pixels for a picture below a Lab's head, by the window in which JupyterLab stands."""
WITH_LOGS = (
    *("isr-stale-member", "isr-committed", "kafka-14139", "903-late-fetch"),
    *("903-from-metadata", "unclean-election", "hole-never-level"),
)

TALL = ("elr-cleared-in-outage", "elr-resigning-controller", "elr-switched-off-in-outage")
MORE = 65
"""Plays that no lab draws, and the pixels by which they are too high: the ELR and the last known
leader are two strips more, and records that only some logs have need words of their own."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    return run("timeline-first").rows()


def picture(rows: Rows, width: int, low: float | None) -> Any:
    """The whole run as a Lab draws it."""
    return drawing_so_far(rows, rows, width=width, low=low, legend=False)


def fonts(figure: Any) -> set[float]:
    """The sizes of all words but the heading's."""
    texts = (trace for trace in figure["data"] if trace["mode"] == "text")
    return {size for trace in texts for size in trace["textfont"]["size"]}


@pytest.mark.parametrize(("width", "high"), ROOMS.values(), ids=ROOMS)
def test_every_shipped_play_fits_a_laptops_window(shipped: Rows, width: int, high: int) -> None:
    figure = picture(shipped, width, low_enough(shipped, high, width=width, legend=False))
    assert figure["layout"]["height"] <= high + (MORE if shipped.meta.name in TALL else 0)
    assert unreadable(figure) == []


@pytest.mark.parametrize("name", WITH_LOGS)
def test_so_does_every_play_that_a_lab_shows_with_its_logs(name: str) -> None:
    rows = run(name).rows()
    for width, high in ROOMS.values():
        options = {"width": width, "legend": False, "logs": True}
        figure = drawing_so_far(rows, rows, low=low_enough(rows, high, **options), **options)
        assert figure["layout"]["height"] <= high
        assert unreadable(figure) == []


def test_at_its_lowest_words_are_as_large_as_ever_and_none_is_covered(shipped: Rows) -> None:
    figure = picture(shipped, 848, 1)
    assert unreadable(figure) == []
    assert fonts(figure) <= fonts(picture(shipped, 848, None))


@pytest.mark.parametrize("width", [640, 848, 1400])
@pytest.mark.parametrize("brokers", range(2, 8))
def test_the_lowest_lane_has_room_for_its_three_lines(width: int, brokers: int) -> None:
    sizes = sizes_of(width, brokers, low=1)
    assert sizes.tile >= sizes.text * LINE_HEIGHT + 2 * sizes.small * LINE_HEIGHT
    assert sizes.strip >= sizes.text * LINE_HEIGHT
    assert sizes.band >= sizes.text


def test_a_picture_is_no_lower_than_it_has_to_be(rows: Rows) -> None:
    for high in (560, 545, 530, 515):
        low = low_enough(rows, high, width=848, legend=False)
        assert high - 12 <= picture(rows, 848, low)["layout"]["height"] <= high


def test_where_there_is_height_enough_it_is_as_ever_and_has_its_heading(rows: Rows) -> None:
    assert low_enough(rows, 2000, width=848, legend=False) is None
    figure = picture(rows, 848, None)
    assert any(rows.meta.title in word.text for word in words(figure))


def test_where_even_the_lowest_is_too_high_it_is_the_lowest(rows: Rows) -> None:
    assert low_enough(rows, 200, width=848, legend=False) == 1

"""What a masked picture says: what holds at the step is there and whole, the future is not."""

from typing import Any

import pytest

from kiplab.figures.drawing.svg import svg
from kiplab.figures.drawing.theme import DARK, LIGHT, dark_of_light
from kiplab.figures.timeline.mask import Lasting, from_moment, placed, row_of, seen_until, since
from kiplab.figures.timeline.whole_runs import timeline, twin
from kiplab.rows.columns import Rows
from tests.figures.boxes import move_cursor

UNIT = 50.0


def there(figure: Any) -> dict[str, list[float]]:
    """The words that are drawn, each with where it stands, in moments."""
    found: dict[str, list[float]] = {}
    for trace in (t for t in figure.data if t.name == "words"):
        for x, text in zip(trace.x, trace.text, strict=True):
            if x is not None:
                found.setdefault(text, []).append(x)
    return found


def test_what_lasts_stands_in_the_middle_of_the_part_that_is_seen(lossy: Rows) -> None:
    whole, figure = timeline(lossy), timeline(lossy, until=6)
    assert there(whole)["11"] == [7]
    (middle,) = there(figure)["11"]
    assert 6 < middle < seen_until(6, 80)
    assert len(there(figure)["10"]) == 1


def test_what_comes_later_is_not_said(lossy: Rows) -> None:
    figure = timeline(lossy, until=6)
    words = set(there(figure))
    assert {"fence 2", "unfence 2", "▲ at risk", "in ISR"} <= words
    assert not words & {"elect 2, fence 1", "unfence 1", "crashed, log kept", "truncates to 0"}
    assert not [word for word in words if "lost" in word or "leader, from" in word]


def test_words_on_a_band_stay_on_what_is_seen_of_it(lossy: Rows) -> None:
    first = there(timeline(lossy, until=0))
    assert "★ leader · in ISR" not in first
    assert any(word.startswith("★") for word in first)


def test_a_refusals_box_waits_for_the_refusal(saved: Rows) -> None:
    for moment, visible in ((5, False), (6, True), (None, True)):
        figure = timeline(saved, until=moment)
        (box,) = [s for s in figure.layout.shapes if (s.name or "").startswith("callout")]
        assert (box.visible is not False) == visible
        assert any("INELIGIBLE_REPLICA" in word for word in there(figure)) == visible


def test_a_refusals_box_lies_over_the_mask_as_its_words_do(saved: Rows) -> None:
    names = [s.name or "" for s in timeline(saved, until=6).layout.shapes]
    assert names.index("callout from 6") > names.index("mask")


def test_moving_on_and_back_leaves_the_picture_as_it_was(lossy: Rows, saved: Rows) -> None:
    figure = twin(lossy, saved)
    before = there(figure)
    for moment in (0, 5, 9, None):
        move_cursor(figure, moment)
    assert there(figure) == before


def test_the_still_picture_of_a_step_says_the_same(lossy: Rows) -> None:
    drawn = svg(timeline(lossy, until=3))
    assert "fence 2" in drawn
    assert "unfence 2" not in drawn


def test_a_word_is_known_from_its_place_on_unless_told_otherwise() -> None:
    assert row_of(3.2, "x", 10, "left", None) == [3, 3.2]
    assert row_of(-0.4, "x", 10, "right", None) == [-1, -0.4]
    assert row_of(3.2, "x", 10, "left", 2) == [2, 3.2]
    assert placed([3, 3.2], 2, UNIT) == (None, None)
    assert placed([3, 3.2], 3, UNIT) == (3.2, None)


@pytest.mark.parametrize(("step", "text"), [(2, "5"), (4, "5 · no leader"), (9, None)])
def test_the_longest_version_that_fits_is_said(step: int, text: str | None) -> None:
    row = row_of(6.0, "5 · no leader", 11, "center", Lasting(2, 10, ["5"]))
    x, said = placed(row, step, UNIT)
    assert said == text
    assert x is not None
    assert 2 < x < seen_until(step, UNIT)


def test_names_of_shapes_say_when_they_come() -> None:
    assert since(from_moment("callout", 6)) == 6
    assert since("mask") is None
    assert since(None) is None


def test_every_light_colour_has_one_dark_one() -> None:
    pairs = {(color, vars(DARK)[key]) for key, color in vars(LIGHT).items() if key != "name"}
    assert dict(pairs) == dark_of_light()
    assert len(pairs) == len(dark_of_light())


def test_a_light_picture_recoloured_is_the_dark_one(lossy: Rows) -> None:
    dark = dark_of_light()
    light = timeline(lossy, until=6, theme="light").to_plotly_json()
    assert _recoloured(light, dark) == timeline(lossy, until=6, theme="dark").to_plotly_json()


def _recoloured(value: Any, dark: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _recoloured(item, dark) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_recoloured(item, dark) for item in value)
    return dark.get(value, value) if isinstance(value, str) else value

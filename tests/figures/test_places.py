"""Whoever points at a picture points at what was drawn there."""

import json
from itertools import pairwise
from typing import Any

from kiplab.figures.drawing.svg import across
from kiplab.figures.timeline.whole_runs import drawing_so_far
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from tests.figures.small_plays import HELD, PAIR, play

MANY = PAIR + "".join(f"topic t{n} replicas=1,2\n" for n in range(4)) + "crash 2\n"
NEAR = 1.0
"""Pixels that are lost to rounding."""
BREAKS_OFF, BESIDE = 0.55, 2.6
"""What is seen of the line of a message that is lost; pixels from the middle to a line of two."""
GROWTH_MAX = 0.10


def drawn(rows: Rows) -> tuple[Any, Any]:
    """A picture, and the places in it."""
    drawing = drawing_so_far(rows, rows, width=934, legend=False)
    return drawing, drawing["layout"]["meta"]["places"]


def lines(drawing: Any) -> list[tuple[float, ...]]:
    """The ends of every straight line, in pixels."""
    px = across(drawing["layout"], "x")
    straight = (shape for shape in drawing["layout"]["shapes"] if shape["type"] == "line")
    return [(px(s["x0"]), s["y0"], px(s["x1"]), s["y1"]) for s in straight]


def written(drawing: Any, trace: str) -> list[tuple[str, float, float]]:
    """The words of a trace, each with its place."""
    (found,) = (t for t in drawing["data"] if t["name"] == trace)
    places = zip(found["text"], found["x"], found["y"], strict=True)
    return [(text.replace("<b>", "").replace("</b>", ""), x, y) for text, x, y in places]


def test_a_lane_lies_around_its_own_name(shipped: Rows) -> None:
    drawing, places = drawn(shipped)
    said = {text: y for text, _, y in written(drawing, "words")}
    lanes = {thing: (top, bottom) for thing, top, bottom in places["lanes"]}
    found = [lane for lane in lanes if lane in said]
    assert "controller" in found
    assert len(found) > 1
    for lane in found:
        top, bottom = lanes[lane]
        assert top < said[lane] < bottom


def test_lanes_do_not_overlap_and_no_two_are_called_the_same(shipped: Rows) -> None:
    _, places = drawn(shipped)
    ends = sorted((top, bottom) for _, top, bottom in places["lanes"])
    assert all(bottom <= after for (_, bottom), (after, _) in pairwise(ends))
    assert len({thing for thing, _, _ in places["lanes"]}) == len(ends)
    assert ends[-1][1] <= places["axis"][0] < places["axis"][1]


def test_an_arrow_lies_on_the_line_that_was_drawn(shipped: Rows) -> None:
    drawing, places = drawn(shipped)
    for _, *ends in places["arrows"]:
        x0, y0, x1, y1 = ends
        lost = [x0, y0, x0 + (x1 - x0) * BREAKS_OFF, y0 + (y1 - y0) * BREAKS_OFF]
        off = [
            max(abs(a - b) for a, b in zip(line, seen, strict=True))
            for line in lines(drawing)
            for seen in (ends, lost)
        ]
        assert min(off) <= BESIDE, ends


def test_a_message_on_its_way_is_named_as_the_engine_names_it() -> None:
    stage = run_play(parse(HELD))
    _, places = drawn(rows_of(stage))
    (arrow,) = places["arrows"]
    assert len(arrow) == 5
    assert arrow[0] == f"message {stage.cluster.messages[0].name}"


def test_partitions_that_are_not_followed_have_rows_and_the_last_stands_for_several() -> None:
    _, places = drawn(play(MANY))
    things = [thing for thing, _, _ in places["lanes"]]
    assert things[0] == "partition t-0"
    assert things[-3:] == ["partition t0-0", "partition t1-0", "partition t2-0 t3-0"]


def test_a_step_stands_under_its_number_also_where_steps_are_folded() -> None:
    for rows in (play(HELD), play(PAIR + "produce t-0 count=3\n" * 60)):
        drawing, places = drawn(rows)
        px = across(drawing["layout"], "x")
        numbers = {text.split("–")[0]: x for text, x, _ in written(drawing, "axis")}
        steps = {str(step): px for step, px in places["steps"]}
        shared = numbers.keys() & steps.keys()
        assert len(shared) > 2
        assert all(abs(px(numbers[n]) - steps[n]) <= NEAR for n in shared)


def test_places_are_a_small_part_of_what_is_sent(shipped: Rows) -> None:
    drawing, places = drawn(shipped)
    rest = len(json.dumps(drawing)) - len(json.dumps(places))
    assert len(json.dumps(places)) < rest * GROWTH_MAX

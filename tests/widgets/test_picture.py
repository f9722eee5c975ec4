"""What a picture relies on: from step to step a picture keeps its size, its axes, its traces."""

from functools import cache
from typing import Any

import pytest

from kiplab.figures.timeline.whole_runs import drawing_so_far, timeline_drawing
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from kiplab.widgets.elements.kinds import PlotlyPicture
from kiplab.widgets.elements.surface import PlotlyCode, Surface
from tests.repeated import every_play
from tests.widgets.hands import opened

EVERY = every_play()


@cache
def whole(name: str) -> Rows:
    """The rows of all of a run."""
    return rows_of(opened(name).whole)


def drawing(step: int, name: str = "kafka-14139", **look: Any) -> Any:
    """The run up to a step."""
    now = rows_of(opened(name).frames[step].stage)
    return drawing_so_far(now, whole(name), width=840, **look)


def written(picture: Any) -> dict[str, list[str]]:
    """The words of each trace."""
    return {trace["name"]: list(trace.get("text") or ()) for trace in picture["data"]}


@pytest.mark.parametrize("name", EVERY)
def test_nothing_moves_from_step_to_step(name: str) -> None:
    pictures = [drawing(step, name) for step in range(opened(name).last + 1)]
    first, *others = map(unmoved, pictures)
    assert [step for step, other in enumerate(others, 1) if other != first] == []


def unmoved(picture: Any) -> Any:
    """What is the same at every step."""
    layout, words = picture["layout"], written(picture)
    ranges = layout["xaxis"]["range"], layout["yaxis"]["range"]
    return layout["width"], layout["height"], ranges, list(words), words["axis"]


def test_what_comes_later_is_not_in_the_picture() -> None:
    before, after = written(drawing(5)), written(drawing(8))
    assert not any(word.startswith("▼ ") for word in before["words"])
    assert any(word.startswith("▼ ") for word in after["words"])
    assert before["verdict"] != after["verdict"]


def step_names(picture: Any) -> list[tuple[float, str]]:
    """The words below the axis' numbers, each with its moment."""
    traces = {trace["name"]: trace for trace in picture["data"]}
    numbers, said = traces["axis"], traces["words"]
    rows = zip(said["x"], said["y"], said["text"], strict=True)
    return [(x, text) for x, y, text in rows if y > numbers["y"][0] and x is not None]


@pytest.mark.parametrize("name", ["kafka-14139", "consumer-old-leader", "last-replica"])
def test_the_axis_names_no_step_before_it_has_happened(name: str) -> None:
    last = opened(name).last
    assert len(step_names(drawing(last, name, legend=False))) > 4
    for step in (0, 1, last // 2, last):
        look: dict[str, Any] = {"fold": False, "legend": False}
        shown = step_names(drawing(step, name, **look))
        assert all(x <= step for x, _ in shown)
        masked = timeline_drawing(whole(name), width=840, until=step, **look)
        assert shown == step_names(masked)


def test_no_card_tells_a_later_step() -> None:
    cards = written(drawing(5))["cards"]
    later = [m.text for m in whole("kafka-14139").moments if m.x > 5]
    assert len(later) > 4
    assert not [text for text in later if any(text in card for card in cards)]


def test_the_last_step_says_what_the_timeline_says() -> None:
    shown = written(drawing(opened("kafka-14139").last))
    said = written(timeline_drawing(whole("kafka-14139"), width=840))
    # The legend and its signs have room for however a run may end.
    for name in said.keys() - {"legend", "signs"}:
        assert shown[name] == said[name]


def test_painting_leaves_the_widget_as_if_it_had_been_made_so() -> None:
    """What a page that is loaded again, or a second view, is given."""
    picture = PlotlyPicture(drawing(0))
    widget = Surface(picture)
    for step in (6, 11, 3):
        picture.drawing = drawing(step)
        assert widget.get_state()["tree"]["parts"][picture.id]["drawing"] == drawing(step)


def test_plotly_is_sent_once_for_all_pictures() -> None:
    one, other = (Surface(PlotlyPicture(drawing(step))) for step in (0, 1))
    assert one.plotly == other.plotly == PlotlyCode.shared().model_id
    assert len(one.get_state()["_esm"]) < 10_000


def test_plotly_is_sent_again_when_all_widgets_were_closed() -> None:
    gone = Surface(PlotlyPicture(drawing(0))).plotly
    PlotlyCode.shared().close()
    again = Surface(PlotlyPicture(drawing(0))).plotly
    assert again != gone
    assert PlotlyCode.shared().model_id == again

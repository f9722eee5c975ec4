"""What a picture relies on: from step to step a picture keeps its size, its axes, its traces."""

from typing import Any

import pytest

from kiplab.figures.timeline.under_way import drawing_so_far, so_far
from kiplab.figures.timeline.whole_runs import timeline
from kiplab.plays.library import load, names
from kiplab.rows.rows_of_stage import rows_of
from kiplab.widgets.elements.kinds import PlotlyPicture
from kiplab.widgets.elements.surface import PlotlyCode, Surface
from kiplab.widgets.history_tree.playback import Playback, open_playback


def picture(playback: Playback, step: int) -> Any:
    """The run up to a step."""
    return so_far(rows_of(playback.frames[step].stage), rows_of(playback.whole), width=840)


def drawing(playback: Playback, step: int) -> Any:
    """The same, not yet seen by plotly."""
    return drawing_so_far(rows_of(playback.frames[step].stage), rows_of(playback.whole), width=840)


def written(figure: Any) -> dict[str, list[str]]:
    """The words of each trace."""
    return {trace.name: list(trace.text or ()) for trace in figure.data}


@pytest.mark.parametrize("name", names())
def test_nothing_moves_from_step_to_step(name: str) -> None:
    playback = open_playback(load(name))
    pictures = [picture(playback, step) for step in range(playback.last + 1)]
    assert len({(p.layout.width, p.layout.height) for p in pictures}) == 1
    assert len({(p.layout.xaxis.range, p.layout.yaxis.range) for p in pictures}) == 1
    assert len({tuple(trace.name for trace in p.data) for p in pictures}) == 1
    assert len({tuple(written(p)["axis"]) for p in pictures}) == 1


def test_what_comes_later_is_not_in_the_picture() -> None:
    playback = open_playback(load("kafka-14139"))
    before, after = written(picture(playback, 5)), written(picture(playback, 8))
    assert not any(word.startswith("▼ ") for word in before["words"])
    assert any(word.startswith("▼ ") for word in after["words"])
    assert before["verdict"] != after["verdict"]


def step_names(figure: Any) -> list[tuple[float, str]]:
    """The words below the axis' numbers, each with its moment."""
    (numbers,) = (trace for trace in figure.data if trace.name == "axis")
    (said,) = (trace for trace in figure.data if trace.name == "words")
    rows = zip(said.x, said.y, said.text, strict=True)
    return [(x, text) for x, y, text in rows if y > numbers.y[0] and x is not None]


@pytest.mark.parametrize("name", ["kafka-14139", "consumer-old-leader", "last-replica"])
def test_the_axis_names_no_step_before_it_has_happened(name: str) -> None:
    playback = open_playback(load(name))
    whole = rows_of(playback.whole)
    every = step_names(so_far(whole, whole, width=840, legend=False))
    assert len(every) > 4
    for step in (0, 1, playback.last // 2, playback.last):
        now = rows_of(playback.frames[step].stage)
        figure = so_far(now, whole, width=840, fold=False, legend=False)
        masked = timeline(whole, width=840, until=step, fold=False, legend=False)
        shown = step_names(figure)
        assert all(x <= step for x, _ in shown)
        assert shown == step_names(masked)


def test_no_card_tells_a_later_step() -> None:
    playback = open_playback(load("kafka-14139"))
    (cards,) = (trace for trace in picture(playback, 5).data if trace.name == "cards")
    later = [m.text for m in rows_of(playback.whole).moments if m.x > 5]
    assert len(later) > 4
    assert not [text for text in later if any(text in card for card in cards.text)]


def test_the_last_step_says_what_the_timeline_says() -> None:
    playback = open_playback(load("kafka-14139"))
    whole = timeline(rows_of(playback.whole), width=840)
    shown, said = written(picture(playback, playback.last)), written(whole)
    # The legend and its signs have room for however a run may end.
    for name in said.keys() - {"legend", "signs"}:
        assert shown[name] == said[name]


def test_painting_leaves_the_widget_as_if_it_had_been_made_so() -> None:
    """What a page that is loaded again, or a second view, is given."""
    playback = open_playback(load("kafka-14139"))
    picture = PlotlyPicture(drawing(playback, 0))
    widget = Surface(picture)
    for step in (6, 11, 3):
        picture.drawing = drawing(playback, step)
        assert widget.get_state()["tree"]["parts"][picture.id]["drawing"] == drawing(playback, step)


def test_plotly_is_sent_once_for_all_pictures() -> None:
    playback = open_playback(load("kafka-14139"))
    one, other = (Surface(PlotlyPicture(drawing(playback, step))) for step in (0, 1))
    assert one.plotly == other.plotly == PlotlyCode.shared().model_id
    assert len(one.get_state()["_esm"]) < 10_000


def test_plotly_is_sent_again_when_all_widgets_were_closed() -> None:
    playback = open_playback(load("kafka-14139"))
    gone = Surface(PlotlyPicture(drawing(playback, 0))).plotly
    PlotlyCode.shared().close()
    again = Surface(PlotlyPicture(drawing(playback, 0))).plotly
    assert again != gone
    assert PlotlyCode.shared().model_id == again

"""What the painter relies on: from step to step a picture keeps its size, its axes, its traces."""

from __future__ import annotations

from typing import Any

import pytest

from kiplab.figures.rows import rows_of
from kiplab.figures.so_far import drawing_so_far, so_far
from kiplab.figures.timeline import timeline
from kiplab.plays.library import load, names
from kiplab.widgets.bench import Bench, open_bench
from kiplab.widgets.painter import Painter


def picture(bench: Bench, step: int) -> Any:
    """The run up to a step."""
    return so_far(rows_of(bench.stops[step].stage), rows_of(bench.whole), width=840)


def drawing(bench: Bench, step: int) -> Any:
    """The same, not yet seen by plotly."""
    return drawing_so_far(rows_of(bench.stops[step].stage), rows_of(bench.whole), width=840)


def written(figure: Any) -> dict[str, list[str]]:
    """The words of each trace."""
    return {trace.name: list(trace.text or ()) for trace in figure.data}


@pytest.mark.parametrize("name", names())
def test_nothing_moves_from_step_to_step(name: str) -> None:
    bench = open_bench(load(name))
    pictures = [picture(bench, step) for step in range(bench.last + 1)]
    assert len({(p.layout.width, p.layout.height) for p in pictures}) == 1
    assert len({(p.layout.xaxis.range, p.layout.yaxis.range) for p in pictures}) == 1
    assert len({tuple(trace.name for trace in p.data) for p in pictures}) == 1
    assert len({tuple(written(p)["axis"]) for p in pictures}) == 1


def test_what_comes_later_is_not_in_the_picture() -> None:
    bench = open_bench(load("kafka-14139"))
    before, after = written(picture(bench, 5)), written(picture(bench, 8))
    assert not any(word.startswith("▼ ") for word in before["words"])
    assert any(word.startswith("▼ ") for word in after["words"])
    assert before["verdict"] != after["verdict"]


def test_the_last_step_says_what_the_timeline_says() -> None:
    bench = open_bench(load("kafka-14139"))
    whole = timeline(rows_of(bench.whole), width=840)
    shown, said = written(picture(bench, bench.last)), written(whole)
    # The legend (its signs are bold words) has room for however a run may end.
    for name in said.keys() - {"legend", "words"}:
        assert shown[name] == said[name]
    signs = [word for word in shown["words"] if word not in said["words"]]
    assert signs == ["<b>○</b>"]
    assert set(said["words"]) <= set(shown["words"])


def test_painting_leaves_the_widget_as_if_it_had_been_made_so() -> None:
    bench = open_bench(load("kafka-14139"))
    painter = Painter(drawing(bench, 0))
    for step in (6, 11, 3):
        painter.paint(drawing(bench, step))
        assert written(painter.widget) == written(picture(bench, step))
        shown = painter.widget.to_plotly_json()["layout"]["shapes"]
        assert shown == drawing(bench, step)["layout"]["shapes"]


def test_another_play_can_be_painted_over_a_longer_one() -> None:
    long, short = open_bench(load("kafka-14139")), open_bench(load("last-replica"))
    painter = Painter(drawing(long, long.last))
    painter.paint(drawing(short, short.last))
    assert written(painter.widget) == written(picture(short, short.last))
    assert painter.widget.layout.xaxis.range == picture(short, short.last).layout.xaxis.range

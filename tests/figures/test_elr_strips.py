"""The strips of eligible leader replicas, and an election from them, by the figure's data."""

from typing import Any

import pytest

from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline.ladder import ladder
from kiplab.figures.timeline.legend_marks import legend_words
from kiplab.figures.timeline.whole_runs import timeline, twin
from kiplab.rows.view import until
from tests.figures.boxes import so_far, texts
from tests.figures.small_plays import ELR_ELECTED, TRIO, cards, play, shapes

ON, OFF = play(ELR_ELECTED, "4.3", elr=1), play(ELR_ELECTED, "4.3")
NAMES = ("ELR", "last known leader")
OF_ELR = {"elected from the ELR", "in the ELR", "ELR: eligible leader replicas"}


def named(figure: Any) -> list[str]:
    return [name for name in (text.replace("<br>", " ") for text in texts(figure)) if name in NAMES]


def test_the_strips_stand_under_the_isr_and_end_with_the_lists() -> None:
    figure = timeline(ON, legend=False)
    assert named(figure) == [*NAMES]
    grey = shapes(figure, type="rect", fillcolor=LIGHT.isr_fill)
    isr, elr, last = sorted({s.y0 for s in grey})
    pieces = {y: [(s.x0, s.x1) for s in grey if s.y0 == y] for y in (isr, elr, last)}
    assert pieces[isr][-1] == (8, 9)
    assert pieces[elr] == [(3, 6), (6, 8), (8, 9)]
    assert pieces[last] == [(6, 8)]


def test_an_election_from_the_elr_is_an_arrow_into_the_isr() -> None:
    figure = timeline(ON, legend=False)
    assert shapes(figure, type="line", x0=8, x1=8, line_color=LIGHT.text, line_width=2)
    assert {words for _, words in legend_words(ON)} >= OF_ELR
    assert any("ELR of t-0: {1, 2}" in card for card in cards(figure))


@pytest.mark.parametrize("rows", [OFF, play(TRIO + "crash 1\nexpire 1\n", "4.3", elr=1)])
def test_a_run_without_such_lists_has_no_strips_for_them(rows: Any) -> None:
    figure = timeline(rows)
    assert named(figure) == []
    assert not OF_ELR & {words for _, words in legend_words(rows)}


@pytest.mark.parametrize("draw", [twin, lambda *runs: ladder(runs)], ids=["twin", "ladder"])
def test_runs_beside_each_other_stay_aligned_and_only_one_names_the_strips(draw: Any) -> None:
    assert named(draw(ON, OFF)) == [*NAMES]


def test_nothing_moves_while_the_run_is_under_way() -> None:
    heights = {so_far(until(ON, x), ON).layout.height for x in range(ON.meta.end)}
    assert len(heights) == 1
    assert named(so_far(until(ON, 0), ON)) == [*NAMES]

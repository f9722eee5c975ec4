"""Long runs of six brokers and three partitions: every word of their pictures can be read."""

from typing import Any

import pytest

from kiplab.figures.timeline.whole_runs import timeline
from kiplab.rows.columns import Rows
from kiplab.rows.message_paths import ARROWS_MAX, drawn_messages
from kiplab.rows.rows_of_stage import rows_of, rows_until
from kiplab.rows.view import views
from kiplab.widgets.history_tree.playback import open_playback
from tests.figures.boxes import covered, cut_off, texts, unreadable
from tests.figures.long_runs import long_play, long_stage
from tests.figures.small_plays import cards, play

HEIGHT_MAX = 970
"""Pixels, legend and the other partitions' strips included."""


@pytest.fixture(scope="module", params=[200, 500])
def rows(request: pytest.FixtureRequest) -> Rows:
    return rows_of(long_stage(request.param))


def numbers(figure: Any) -> list[str]:
    (axis,) = (t for t in figure.data if t.name == "axis")
    return [text for text in axis.text if text.startswith("<b>")]


def test_the_play_is_as_long_as_asked_and_the_same_every_time() -> None:
    stage = long_stage(200)
    assert (stage.moment, long_play(200)) == (200, stage.play)
    assert len(stage.events) > 200
    assert not [p for p in stage.performed if p.not_applicable]


@pytest.mark.parametrize("width", [600, 840, 980, 1600])
def test_folded_it_fits_and_no_word_is_cut_off_or_covered(rows: Rows, width: int) -> None:
    figure = timeline(rows, width=width)
    assert unreadable(figure) == []
    assert figure.layout.height <= HEIGHT_MAX * (1.2 if width > 1200 else 1)


def test_unfolded_the_numbers_thin_out(rows: Rows) -> None:
    figure = timeline(rows, fold=False)
    assert unreadable(figure) == []
    every = 10 if rows.meta.end < 300 else 20
    assert numbers(figure) == [f"<b>{n}</b>" for n in range(0, rows.meta.end + 1, every)]


def test_folding_makes_a_long_day_short(rows: Rows) -> None:
    folded = views((rows,))[0]
    assert folded.meta.end < rows.meta.end / 3
    assert sum(b - a + 1 for a, b in folded.meta.columns) == rows.meta.end


@pytest.mark.parametrize("name", ["orders-0", "invoices-0", "parcels-0"])
def test_each_partition_can_be_followed(rows: Rows, name: str) -> None:
    figure = timeline(rows, partition=name)
    assert name in texts(figure)
    assert any("★" in word for word in texts(figure))
    assert covered(figure) == []


def test_at_most_a_readable_number_of_arrows_the_refusals_first(rows: Rows) -> None:
    found = drawn_messages(rows)
    assert len(found) <= ARROWS_MAX
    fates = [m.fate == "refused" for m in found]
    assert fates == sorted(fates, reverse=True)
    assert {m.partition for m in drawn_messages(rows, "orders-0")} <= {"", "orders-0"}


def test_arrows_that_go_the_same_way_at_the_same_time_have_one_label() -> None:
    lines = [f"broker {id}" for id in range(1, 7)]
    lines += ["topic t replicas=1,2,3,4,5,6 leader=1 log=10@0", "hold metadata"]
    lines += ["crash 6", "expire 6", "fetch 2", "release metadata", "fetch 2"]
    figure = timeline(play("\n".join(lines) + "\n"))
    labels = [word for word in texts(figure) if word.startswith("metadata to")]
    assert labels == ["metadata to 5 brokers"]


def test_a_long_name_is_shortened_and_told_in_full_on_the_card() -> None:
    name = "payments-of-the-northern-branch-archive-x"
    text = f"broker 1\nbroker 2\ntopic {name} replicas=1,2 log=10@0\nproduce {name}-0 count=1\n"
    figure = timeline(play(text), width=600)
    assert cut_off(figure) == []
    assert any(word.startswith("payments") and word.endswith("…") for word in texts(figure))
    assert any(f"{name}-0" in card for card in cards(figure))


def test_at_840_pixels_the_axis_says_whole_words(lossy: Rows) -> None:
    said = [text.replace("<br>", " ") for text in texts(timeline(lossy, width=840))]
    assert "broker 2 dies, disk replaced" in said


def test_a_long_run_cut_short_is_what_it_was_then() -> None:
    bench = open_playback(long_play(80))
    whole = rows_of(bench.whole)
    for stop in bench.frames[::7]:
        assert rows_until(whole, stop.stage) == rows_of(stop.stage)

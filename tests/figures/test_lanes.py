"""The brokers' lanes: what their words say, and that signs stay where words do not fit."""

import pytest

from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline.sheet import PictureOptions
from kiplab.figures.timeline.whole_runs import timeline
from kiplab.rows.columns import Rows
from kiplab.rows.view import until
from tests.figures.boxes import scale, so_far, texts, words
from tests.figures.small_plays import LEAVING, PAIR, TRIO, WIPED, play, shapes
from tests.kafka_14139 import rows_on

WIDTHS = [600, 760, 840, 980, 1600]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("fold", [None, False])
def test_a_wiped_disk_has_its_sign_with_or_without_words(
    long_run: Rows, width: int, fold: bool | None
) -> None:
    (seen,) = PictureOptions(width=width, fold=fold).views((long_run,))
    wiped = [s for s in seen.spans if (s.track, s.value) == ("down", "disk replaced")]
    figure = timeline(long_run, width=width, fold=fold, legend=False)
    assert sum("⌀" in word for word in texts(figure)) == len(wiped) == 1


@pytest.mark.parametrize("width", WIDTHS)
def test_no_number_of_a_tile_stands_without_its_kind(long_run: Rows, width: int) -> None:
    epochs = {span.value for span in long_run.spans if span.track == "uptime"}
    figure = timeline(long_run, width=width, legend=False)
    found = [word for word in texts(figure) if word.split(" ")[-1] in epochs - {"none"}]
    assert any(word.startswith(("broker epoch ", "be ")) for word in found)
    assert [word for word in found if word in epochs or word.startswith("epoch ")] == []


def test_a_narrow_tile_says_be(lossy: Rows) -> None:
    assert "be 41" in texts(timeline(lossy, width=520, legend=False))


def test_a_lane_without_the_partition_says_so() -> None:
    rows = play("broker 3 epoch=42\n" + PAIR + "catch-up 2\n")
    assert texts(timeline(rows)).count("no copy of t-0") == 1
    assert "no copy of t-0" not in texts(timeline(play(TRIO + "fetch 2\n")))


@pytest.mark.parametrize("width", WIDTHS)
def test_the_leaders_words_end_where_its_band_gets_lower(width: int) -> None:
    figure = timeline(play(LEAVING), width=width, legend=False)
    bands = shapes(figure, fillcolor=LIGHT.leader, line_color=LIGHT.band_edge)
    left, unit = scale(figure)
    for word in (word for word in words(figure) if word.text.startswith("★")):
        assert any(
            (band.x0 - left) * unit <= word.box.x0 and word.box.x1 <= (band.x1 - left) * unit
            for band in bands
        ), word.text


def test_struck_cells_stand_beside_the_lost_offsets_where_there_is_room(lossy: Rows) -> None:
    for width, count in ((980, 2), (480, 1)):
        figure = timeline(lossy, width=width, legend=False)
        drawn = shapes(figure, type="path", line_color=LIGHT.lost_text)
        assert len(drawn) == count, "the bracket, and the cells"
        assert any(word.startswith("▼ ") and "0–99" in word for word in texts(figure))


def test_the_axis_says_broker_and_words_rather_than_the_plays_line() -> None:
    rows = rows_on("consumer-truncation", "3.5")
    labels = [moment.label for moment in rows.moments]
    assert "consumer billing goes to the earliest offset" in labels
    assert "consumer polls" in labels
    assert not any("=" in label for label in labels)
    wiped = texts(timeline(play(WIPED), legend=False))
    assert "broker 2 registers" in wiped


@pytest.mark.parametrize("width", WIDTHS)
def test_an_axis_abbreviates_all_brokers_or_none(lossy: Rows, width: int) -> None:
    figure = timeline(lossy, width=width, legend=False)
    (numbers,) = (t for t in figure.data if t.name == "axis")
    below = (word for word in words(figure) if word.box.y0 > numbers.y[0])
    text = " ".join(word.text for word in below).replace("<br>", " ")
    assert ("B2" in text) != ("broker 2" in text)


def test_an_isr_that_its_cell_has_no_room_for_is_never_left_out() -> None:
    rows = rows_on("unclean-election", "3.5")
    for step in (1, 20, 24):
        now = words(so_far(until(rows, step), rows, width=748, logs=True))
        (row,) = {w.box.middle[1] for w in now if w.text == "ISR" and w.box.x0 < 122}
        said = [w for w in now if w.box.middle[1] == row and "Logs" not in w.text]
        isrs = [s for s in rows.tracks["partition", "ISR"] if s.x0 <= step]
        assert len(said) == 1 + len(isrs)
        last = max(said, key=lambda word: word.box.x0).text
        assert "".join(last.split()).strip("{}") == "".join(isrs[-1].value.split()).strip("{}")

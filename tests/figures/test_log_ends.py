"""The ends of logs and the high watermark on the lanes, and the controller's epochs."""

from typing import Any

from kiplab.figures.timeline.ladder import ladder
from kiplab.figures.timeline.legend_marks import legend_words
from kiplab.figures.timeline.whole_runs import timeline
from kiplab.rows.log_blocks import HIGH_WATERMARK
from kiplab.rows.sentences import sentences
from kiplab.rows.view import until
from tests.figures.boxes import scale, so_far, texts, unreadable, words
from tests.figures.small_plays import TRIO, play
from tests.kafka_14139 import rows_on


def log_words(figure: Any) -> list[str]:
    return [w.text for w in words(figure) if w.text.startswith(("LEO ", "HW "))]


def start(figure: Any, text: str) -> float:
    """The moment at which the only word of that text begins."""
    (word,) = [w for w in words(figure) if w.text == text]
    left, unit = scale(figure)
    return left + word.box.x0 / unit


def test_lab_01s_play_can_be_read_off_the_leaders_lane() -> None:
    figure = timeline(rows_on("isr-committed", "3.5"), width=1100)
    read = log_words(figure)
    told = ("LEO 110 · HW 110", "LEO 120 · HW 110", "LEO 120 · HW 120")
    assert [read.count(text) for text in told] == [1, 1, 1]
    assert [int(start(figure, text)) for text in told] == [4, 6, 7]


def test_from_3_7_on_the_high_watermark_stays_where_the_isr_is_too_small() -> None:
    assert "LEO 120 · HW 120" not in log_words(timeline(rows_on("isr-committed", "3.7")))


def test_short_words_say_what_has_changed() -> None:
    lines = (
        "produce t-0 count=1\nfetch 2\nfetch 3\nfetch 2\nfetch 3\nproduce t-0 count=1\nfetch 2\n"
    )
    read = log_words(timeline(play(TRIO + lines), width=480))
    assert {"HW 11", "LEO 12"} <= set(read)


def test_a_log_is_read_while_its_broker_runs_only() -> None:
    rows = play(TRIO + "crash 3 disk=replaced\nproduce t-0 count=5\nproduce t-0 count=5\n")
    assert "LEO 0" not in log_words(timeline(rows))


def test_where_moments_are_narrow_there_are_lines_and_the_last_value() -> None:
    rows = play(TRIO + "produce t-0 count=1\nfetch 2\nfetch 3\n" * 20)
    narrow = timeline(rows, width=700, fold=False)
    assert len(log_words(narrow)) == 3
    filled = [s for s in narrow.layout.shapes if s.type == "path" and s.opacity == 0.55]
    assert len(filled) == 3 + 1  # three lanes and the legend
    assert any(text.startswith("LEO 30") for text in log_words(narrow))
    assert unreadable(narrow) == []


def test_the_rows_have_the_high_watermark_as_a_flag() -> None:
    rows = play(TRIO + "produce t-0 count=1\nfetch 2\nfetch 3\nfetch 2\nfetch 3\n")
    leader = [s for s in rows.spans if (s.lane, s.track) == ("broker 1", "log")]
    marks = [flag.removeprefix(HIGH_WATERMARK) for s in leader for flag in s.flags]
    assert marks == ["10", "10", "11"]
    assert [s.value for s in leader] == ["10", "11", "11"]


def test_the_legend_spells_the_letters_out() -> None:
    assert ("LEO", "log end, HW: high watermark") in legend_words(play(TRIO))


def test_a_fail_over_begins_a_tile_with_the_new_controllers_epoch() -> None:
    rows = rows_on("epochs-twelve", "3.5")
    figure = timeline(rows)
    assert 6 < start(figure, "controller epoch 2") < 6.3
    assert 0 < start(figure, "controller epoch 1") < 0.3
    assert "new controller epoch" in [words for _, words in legend_words(rows)]
    assert "controller epoch 2" in sentences(rows)[-2]


def test_it_is_there_before_the_fail_over_too_and_no_lane_moves() -> None:
    rows = rows_on("epochs-twelve", "3.5")
    now = so_far(until(rows, 3), rows)
    assert "controller epoch 1" in texts(now)
    assert "controller epoch 2" not in texts(now)
    assert now.layout.height == so_far(rows, rows).layout.height


def test_the_only_controllers_epoch_is_not_shown() -> None:
    rows = play(TRIO + "crash 3\n")
    assert not [text for text in texts(timeline(rows)) if "controller epoch" in text]
    assert "controller epoch" not in sentences(rows)[0]


def test_small_panels_have_the_tile_too() -> None:
    runs = [rows_on("epochs-twelve", kafka) for kafka in ("3.5", "3.6")]
    assert texts(ladder(runs)).count("controller epoch 2") == 2

"""What a picture is told to leave out: quiet steps, kinds of messages, all but a range."""

from typing import Any

import pytest
from msgspec.structs import replace

from kiplab import run
from kiplab.cli import command
from kiplab.figures.timeline.sheet import PictureOptions
from kiplab.figures.timeline.whole_runs import timeline, timeline_drawing, twin
from kiplab.pages.export import write
from kiplab.pages.page import page
from kiplab.pages.player import carried
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of, rows_until
from kiplab.rows.view import busy, kinds_in, views
from kiplab.widgets.history_tree.playback import open_playback
from tests.figures.boxes import covered, cut_off, move_cursor, so_far, words
from tests.repeated import every_play

PLAY = """
broker 1
broker 2
broker 3
topic t replicas=1,2,3 leader=1 log=10@0
produce t-0 count=5
fetch 2
fetch 3
fetch 2
crash 3
expire 3
heartbeat 2
fetch 2
heartbeat 2
start 3
unfence 3
hold alter-partition from=1
fetch 3
fetch 2
fetch 2
fetch 2
deliver alter-partition from=1
fetch 2
"""
"""Quiet are 1 to 4, 7 to 9, 13 to 15; 11, 12 and 16 are not, and 17 is alone."""


@pytest.fixture(scope="module")
def rows() -> Rows:
    return rows_of(run_play(parse(PLAY)))


@pytest.fixture(scope="module")
def folded(rows: Rows) -> Rows:
    return views((rows,), fold=True)[0]


def texts(figure: Any) -> list[str]:
    return [word.text for word in words(figure)]


# --- folding ------------------------------------------------------------------------------------


def test_stretches_in_which_only_logs_grow_become_one_column_each(folded: Rows) -> None:
    assert folded.meta.columns == (
        *((0, 0), (1, 4), (5, 5), (6, 6), (7, 9), (10, 10), (11, 11), (12, 12)),
        *((13, 15), (16, 16), (17, 17)),
    )
    assert folded.meta.end == 11
    assert [m.label for m in folded.moments if "quiet" in m.label] == [
        "4 quiet steps",
        "3 quiet steps",
        "3 quiet steps",
    ]


def test_a_column_shows_the_state_after_its_last_moment(rows: Rows, folded: Rows) -> None:
    def shown(of: Rows, x: int) -> set[tuple[str, ...]]:
        spans = (s for s in of.spans if s.x0 <= x < s.x1)
        return {(s.lane, s.track, s.partition, s.text) for s in spans}

    for x, (_, last) in enumerate(folded.meta.columns):
        assert shown(folded, x) == shown(rows, last)


def test_nothing_that_a_reader_looks_at_is_folded(rows: Rows, folded: Rows) -> None:
    hidden = {m for a, b in folded.meta.columns if a < b for m in range(a, b + 1)}
    assert not hidden & busy(rows)
    assert [m.text for m in folded.marks] == [m.text for m in rows.marks if m.kind != "appended"]


def test_events_and_messages_stay_to_be_told(rows: Rows, folded: Rows) -> None:
    assert [e.text for e in folded.events] == [e.text for e in rows.events]
    assert len(folded.messages) == len(rows.messages)


def test_without_folding_the_rows_are_the_rows(rows: Rows) -> None:
    assert views((rows,), fold=False)[0] is rows
    assert PictureOptions(width=980).views((rows,)) == (rows,)
    assert PictureOptions(width=600).views((rows,)) == views((rows,), fold=True)


def test_a_view_of_a_view_counts_the_moments_of_the_play(folded: Rows) -> None:
    again = views((folded,), fold=False, between=(4, 12))[0]
    assert again.meta.columns == folded.meta.columns[1:8]


def test_the_axis_has_the_numbers_of_the_play(rows: Rows) -> None:
    said = texts(timeline(rows, fold=True))
    for text in ("<b>1–4</b>", "<b>10</b>", "<b>13–15</b>", "<b>16</b>"):
        assert text in said
    assert "<b>2</b>" not in said


def test_the_cursor_goes_to_the_column_of_a_moment(rows: Rows) -> None:
    figure = timeline(rows, fold=True, until=8)
    (cursor,) = (s for s in figure.layout.shapes if s.name == "cursor")
    (mask,) = (s for s in figure.layout.shapes if s.name == "mask")
    assert (cursor.x0, mask.visible) == (4, True)
    move_cursor(figure, 10)
    assert cursor.x0 == 5
    move_cursor(figure, 17)
    assert mask.visible is False


def test_the_player_has_a_step_for_every_moment_of_the_play(rows: Rows) -> None:
    found = carried([timeline_drawing(rows, fold=True)], (rows,))
    assert list(found.labels) == [m.label for m in rows.moments]
    steps = found.pictures[0].steps
    assert steps[1].x == steps[4].x < steps[5].x
    assert found.initial == 17


def test_twins_fold_what_is_quiet_in_both() -> None:
    play = parse(PLAY)
    one, other = (rows_of(run_play(play, parse_features(r))) for r in ("3.4", "3.5"))
    # The same run, but that at 14 something happens.
    loud = replace(other, marks=(*other.marks, replace(other.marks[0], x=14, kind="truncated")))
    first, second = views((one, loud))
    assert first.meta.columns == second.meta.columns
    assert (14, 14) in first.meta.columns
    assert (7, 9) in first.meta.columns
    assert texts(twin(one, loud, fold=True)).count("<b>7–9</b>") == 1


# --- kinds of messages --------------------------------------------------------------------------


def test_only_the_kinds_asked_for_get_arrows(rows: Rows) -> None:
    assert kinds_in(rows) == ("alter-partition",)
    assert any("AlterPartition" in text for text in texts(timeline(rows)))
    assert not any("AlterPartition" in text for text in texts(timeline(rows, kinds=("fetch",))))
    (seen,) = views((rows,), kinds=("fetch",))
    assert {m.kind for m in seen.messages} == {"fetch", "fetch-reply"}


def test_without_its_arrow_a_moment_may_be_quiet(rows: Rows) -> None:
    assert views((rows,), kinds=())[0].meta.end <= views((rows,))[0].meta.end


def test_an_unknown_kind_is_refused_by_naming_those_there_are(rows: Rows) -> None:
    with pytest.raises(ValueError, match="'gossip'; there are alter-partition, fetch"):
        timeline(rows, kinds=("fetch", "gossip"))


# --- a range ------------------------------------------------------------------------------------


def test_spans_are_cut_at_the_edges_with_their_state(rows: Rows) -> None:
    seen = views((rows,), fold=False, between=(6, 12))[0]
    assert (seen.meta.end, seen.meta.number(0), seen.meta.number(6)) == (7, "6", "12")
    assert all(0 <= s.x0 < s.x1 <= 7 for s in seen.spans)
    (first, *_) = (s for s in seen.spans if (s.lane, s.track) == ("partition", "ISR"))
    assert (first.x0, first.text) == (0, "{1, 2}")


def test_a_message_sent_before_comes_in_over_the_edge(rows: Rows) -> None:
    seen = views((rows,), fold=False, between=(14, 17))[0]
    (entering,) = (m for m in seen.messages if m.x_sent < 0 and m.is_telling)
    assert (entering.x_sent, entering.x_arrived, entering.fate) == (-1, 2, "delivered")
    figure = timeline(rows, fold=False, between=(14, 17))
    arrows = [
        s for s in figure.layout.shapes if s.type == "line" and s.line.width == 2 and s.x1 == 2
    ]
    assert [arrow.x0 for arrow in arrows if arrow.y0 != arrow.y1 and arrow.x0 != 2] == [0]
    assert any("AlterPartition" in text for text in texts(figure))


def test_a_message_that_arrives_later_is_still_on_its_way(rows: Rows) -> None:
    seen = views((rows,), fold=False, between=(10, 14))[0]
    (leaving,) = (m for m in seen.messages if m.is_telling)
    assert (leaving.x_arrived, leaving.fate, leaving.outcome) == (None, "in flight", "")


def test_nothing_from_outside_the_range_is_told(rows: Rows) -> None:
    seen = views((rows,), fold=False, between=(6, 12))[0]
    assert {e.x for e in seen.events} <= set(range(7))
    assert {m.x for m in seen.marks} <= set(range(7))
    assert [m.label for m in seen.moments] == [m.label for m in rows.moments[6:13]]


def test_the_player_of_a_range_begins_at_its_first_moment(rows: Rows) -> None:
    text = page(rows, include_plotlyjs=False, between=(6, 12))
    assert '<input type="range" min="6" max="12" value="12"' in text
    found = carried([timeline_drawing(rows, between=(6, 12))], (rows,))
    assert (found.first, len(found.labels), len(found.pictures[0].steps)) == (6, 7, 7)


@pytest.mark.parametrize("between", [(3, 99), (-1, 4), (5, 5), (9, 4)])
def test_a_range_that_there_is_none_of_is_refused(rows: Rows, between: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="take two moments from 0 to 17"):
        timeline(rows, between=between)


@pytest.mark.parametrize("width", [600, 840, 980, 1600])
@pytest.mark.parametrize(
    "options",
    [{"fold": True}, {"fold": False}, {"between": (6, 12)}, {"between": (12, 17), "fold": False}],
    ids=str,
)
def test_no_word_is_cut_off_or_covered(rows: Rows, options: dict[str, Any], width: int) -> None:
    figure = timeline(rows, width=width, **options)
    assert (cut_off(figure), covered(figure)) == ([], [])


# --- a run under way ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", every_play())
def test_a_run_cut_short_is_what_it_was_then(name: str) -> None:
    bench = open_playback(load(name))
    whole = rows_of(bench.whole)
    for stop in bench.frames:
        assert rows_until(whole, stop.stage) == rows_of(stop.stage)


def test_a_run_that_stands_in_the_middle_of_a_fold_fills_its_column(rows: Rows) -> None:
    bench = open_playback(parse(PLAY))
    for step, end in ((1, 2), (3, 2), (4, 2), (5, 3), (8, 5)):
        now = rows_until(rows, bench.frames[step].stage)
        figure = so_far(now, rows, fold=True)
        strips = [s.x1 for s in figure.layout.shapes if s.type == "rect" and s.x0 == 0]
        assert max(strips) == end


def test_a_range_longer_than_the_run_is_cut_while_it_is_under_way(rows: Rows) -> None:
    assert so_far(rows, rows, between=(6, 40)) == so_far(rows, rows, between=(6, 17))
    assert so_far(rows, rows, between=(30, 40)) == so_far(rows, rows)


# --- where options come from --------------------------------------------------------------------


def test_runs_and_files_take_the_same_options(rows: Rows, tmp_path: Any) -> None:
    played = run(parse(PLAY))
    assert played.timeline(fold=True) == timeline(rows, fold=True)
    assert 'min="6" max="12"' in played.to_html(between=(6, 12))
    written = write(rows, tmp_path / "a.html", include_plotlyjs=False, between=(6, 12))
    assert 'min="6" max="12"' in written.read_text(encoding="utf-8")


def test_three_runs_are_compared_in_full(rows: Rows) -> None:
    with pytest.raises(ValueError, match="compare two runs at a time"):
        page((rows, rows, rows), between=(6, 12))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--between", "3-9"], "--between takes two moments, as in 34:60, not '3-9'"),
        (["--between", "3:99"], "there is no range from 3 to 99"),
        (["--kinds", "fetch,gossip"], "there are no messages called 'gossip'"),
        (["--partition", "x-1"], "there is no partition 'x-1'"),
        (["--width", "wide"], "--width takes pixels, from 480 to 4000, not 'wide'"),
        (["--theme", "pink"], "there is no theme 'pink'"),
    ],
)
def test_the_command_says_what_it_cannot_draw(
    options: list[str], said: str, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "a.html")
    assert command.main(["timeline", "kafka-14139", "-o", out, *options]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_command_draws_what_it_is_told_to(tmp_path: Any) -> None:
    out = tmp_path / "a.html"
    options = ["--between", "2:8", "--kinds", "alter-partition", "--all-steps", "--width", "700"]
    assert (
        command.main(["timeline", "kafka-14139", "-o", str(out), *options, "--theme", "dark"]) == 0
    )
    text = out.read_text(encoding="utf-8")
    assert '<input type="range" min="2" max="8" value="8"' in text
    assert '"width":700' in text

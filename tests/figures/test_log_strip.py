"""After an unclean election logs stand side by side: what parted, what was lost, who read it."""

from typing import Any

import pytest

from kiplab.figures.drawing.svg import Json
from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline import mask
from kiplab.figures.timeline.ladder import ladder_drawing
from kiplab.figures.timeline.log_strip import TITLE, room_aside
from kiplab.figures.timeline.mask import shapes_at
from kiplab.figures.timeline.whole_runs import (
    NOT_PARTED,
    drawing_so_far,
    logs,
    timeline,
    timeline_drawing,
    twin,
)
from kiplab.plays.library import names
from kiplab.rows.columns import Rows
from kiplab.rows.log_blocks import (
    LogBlock,
    LogCell,
    LogSide,
    committed_end,
    log_blocks,
    log_sentences,
)
from kiplab.rows.snapshots import snapshots
from kiplab.rows.view import until
from kiplab.runs import run
from kiplab.widgets.lab import Lab
from tests.figures.boxes import texts, unreadable, words
from tests.figures.small_plays import UNCLEAN, cards, play

WIDTHS = [600, 840, 1100, 1400]
UNCLEAN_PLAYS = ("unclean-election", "consumer-truncation", "unclean-election-by-config")


def side(block: LogBlock, holder: str) -> LogSide:
    (found,) = (s for s in block.sides if s.holder == holder)
    return found


def test_a_small_play_tells_the_election_and_the_return() -> None:
    election, back = log_blocks(play(UNCLEAN), "t-0")
    assert (election.words, election.lost) == ("unclean election", ((10, 20),))
    assert side(election, "broker 1") == LogSide(
        "broker 1",
        "down",
        (LogCell(0, 10, 5, True), LogCell(10, 20, 5, False, True, False)),
        end=20,
    )
    kept = (LogCell(0, 10, 5, True),)
    assert side(election, "broker 2") == LogSide("broker 2", "leader", kept, end=10, mark=10)
    assert back.words == "broker 1 truncates to 10"
    assert side(back, "broker 1") == LogSide("broker 1", "", kept, 10, end=10, mark=10)


def test_other_records_at_the_same_offsets_are_struck_and_so_is_what_was_read() -> None:
    rows = run("consumer-truncation", kafka="3.5").rows()
    election, written, end = log_blocks(rows, "orders-0")
    gone = LogCell(80, 100, 5, False, True, False)
    for block in (election, written):
        assert gone in side(block, "broker 1").cells
        assert gone in side(block, "consumer").cells
    assert side(written, "broker 2").cells[-1] == LogCell(80, 130, 7, True)
    assert gone not in side(end, "consumer").cells
    silent = run("consumer-truncation", kafka="3.5", off="320.validated-position").rows()
    last = side(log_blocks(silent, "orders-0")[-1], "consumer")
    assert gone in last.cells
    assert last.cells[-1] == LogCell(100, 130, 7, True)


def test_runs_without_an_unclean_election_have_no_strip(lossy: Rows) -> None:
    # An election from the ELR truncates what was acknowledged with acks=1, and has a strip as well.
    parted = ("unclean", "704", "elr-acks-one")
    for name in set(names()) - {n for n in names() if n.startswith(parted)}:
        rows = run(name).rows()
        held = any(m.kind == "unclean" and m.partition == rows.busiest for m in rows.marks)
        assert bool(log_blocks(rows, rows.busiest)) == held, name
    assert not any(TITLE in text for text in texts(timeline(lossy)))


def test_every_cell_says_its_leader_epoch_or_its_card_does(implemented: Rows) -> None:
    said_so = " ".join(cards(timeline(implemented)))
    for block in log_blocks(implemented, "orders-0"):
        for mine in block.sides:
            assert f"{mine.holder}, at {block.x}" in said_so
    assert "offsets 11–20 of leader epoch 6, committed once and lost" in said_so


def test_the_alternative_text_tells_the_logs(implemented: Rows) -> None:
    told = log_sentences(implemented, "orders-0")
    assert "At 7 (unclean election), broker 1 (down) has offsets 0–10 of leader epoch 5" in told
    assert told in timeline_drawing(implemented)["layout"]["meta"]["description"]


def test_blocks_come_as_the_run_gets_there(implemented: Rows) -> None:
    drawing = timeline_drawing(implemented, fold=False)
    shapes = drawing["layout"]["shapes"]
    cells = {n for n, s in enumerate(shapes) if (s.get("name") or "").startswith("log cell")}
    moments = {block.x for block in log_blocks(implemented, "orders-0")}
    assert {mask.since(shapes[n]["name"]) for n in cells} == moments
    before = shapes_at(drawing, min(moments) - 1)
    assert not any(before[n]["visible"] for n in cells)
    after = shapes_at(drawing, None)
    assert all(after[n]["visible"] for n in cells)


def test_a_twin_has_a_strip_for_each_run(implemented: Rows, specified: Rows) -> None:
    found = [text for text in texts(twin(implemented, specified)) if TITLE in text]
    assert [text.split(", ")[1].split(" · ")[0] for text in found] == [
        "KIP-704 as implemented",
        "KIP-704 as specified",
    ]


def test_a_ladder_has_no_room_for_logs(implemented: Rows, specified: Rows) -> None:
    assert not any(TITLE in text for text in texts(ladder_drawing((implemented, specified))))


def test_as_implemented_only_the_controller_thinks_that_the_leader_recovers(
    implemented: Rows, specified: Rows
) -> None:
    def flags(rows: Rows) -> set[tuple[str, ...]]:
        spans = rows.tracks["broker 2", "role"]
        return {s.flags for s in spans if "recovering" in s.flags}

    assert flags(implemented) == {("lacks committed", "recovering", "unaware")}
    assert flags(specified) == {("lacks committed", "recovering")}
    assert any(
        "recovering for the controller only" in text for text in texts(timeline(implemented))
    )
    assert any("· recovering" in text for text in texts(timeline(specified)))


def test_a_log_is_in_the_tables_of_a_run(implemented: Rows) -> None:
    old = [r for r in implemented.logs if r.holder == "broker 1"]
    assert old[1].ranges == ((5, 0, 11), (6, 11, 21))
    assert [r.ranges for r in implemented.logs if r.holder == "lost"] == [((-1, 11, 21),)]


def test_the_logs_are_a_picture_of_their_own_too(lossy: Rows) -> None:
    alone = run("unclean-election").logs(width=840)
    assert "e6: 11–20" in texts(alone)
    assert unreadable(alone) == []
    assert texts(logs(lossy)) == [NOT_PARTED]


# --- beside the lanes -----------------------------------------------------------------------------


def bars(drawing: Json) -> list[Json]:
    """The cells of all logs, from the top and the left."""
    cells = (s for s in drawing["layout"]["shapes"] if s.get("name", "").startswith("log cell"))
    boxes = (s for s in cells if s["type"] == "rect" and s["line"]["width"])
    return sorted(boxes, key=lambda s: (s["y0"], s["x0"]))


def beside(rows: Rows, step: int, **options: Any) -> Json:
    return drawing_so_far(until(rows, step), rows, logs=True, **options)


def test_committed_is_what_the_observer_takes_for_committed() -> None:
    for name in (*UNCLEAN_PLAYS, "kafka-14139", "hole-never-level", "isr-committed"):
        run_now = run(name)
        rows = run_now.rows()
        for shot in snapshots(run_now.stage):
            for seen in shot.cluster.observed:
                end = committed_end(rows, seen.partition, shot.x)
                assert (name, shot.x, end) == (name, shot.x, seen.committed.end)


def test_each_bar_is_at_its_brokers_lane_filled_to_the_high_watermark() -> None:
    drawing = beside(run("isr-committed", kafka="3.5").rows(), 6)
    places = drawing["layout"]["meta"]["places"]["lanes"]
    lanes = {lane: (top + low) / 2 for lane, top, low in places}
    found = [(round((b["y0"] + b["y1"]) / 2), b["fillcolor"]) for b in bars(drawing)]
    filled, hollow = LIGHT.log, LIGHT.box
    looks = [("broker 1", filled), ("broker 1", hollow), ("broker 2", filled), ("broker 3", filled)]
    assert found == [(round(lanes[lane]), look) for lane, look in looks]
    (line,) = [s for s in drawing["layout"]["shapes"] if "high watermark" in s.get("name", "")]
    assert line["x0"] == line["x1"] == bars(drawing)[0]["x1"]
    told = "Logs: broker 1 (leader) has offsets 0–109 of leader epoch 5"
    assert told in drawing["layout"]["meta"]["description"]
    assert {"high watermark 110", "LEO 120", "LEO 100"} <= set(texts(drawing))


def test_from_step_to_step_no_offset_moves() -> None:
    rows = run("isr-committed", kafka="3.5").rows()
    first = [bars(beside(rows, step))[0] for step in range(4)]
    assert len({(bar["x0"], bar["x1"]) for bar in first}) == 1


def test_what_a_new_leader_has_lost_is_a_hole_in_its_log(lossy: Rows) -> None:
    shapes = beside(lossy, 11)["layout"]["shapes"]
    (hole,) = [s for s in shapes if s.get("name", "").startswith("hole")]
    assert hole["line"]["color"] == LIGHT.lost_text
    assert any("offsets 0–99 lost" in text for text in texts(beside(lossy, 11)))
    before = texts(beside(lossy, 6, legend=False))
    assert not any("offsets 0–99 lost" in text for text in before)


@pytest.mark.parametrize("width", [600, 848, 1400])
def test_the_lanes_leave_the_ends_of_logs_to_the_bars(shipped: Rows, width: int) -> None:
    drawing = beside(shipped, shipped.meta.end - 1, width=width, legend=False)
    assert unreadable(drawing) == []
    lanes = width - room_aside(width)
    ends = [word.box.x0 for word in words(drawing) if word.text.startswith(("LEO ", "HW "))]
    assert all(x0 >= lanes for x0 in ends)


def test_a_lab_draws_the_logs_where_it_is_asked_to() -> None:
    lab = Lab("unclean-election", logs=True)

    def said() -> list[str]:
        return [text for text in texts(lab.picture.drawing) if text.startswith("<b>Logs at")]

    lab.seek(7)
    assert said() == ["<b>Logs at step 7</b>"]
    lab.logs.value = False
    assert said() == []
    assert "<b>Logs at step 24</b>" in texts(lab.run.timeline(logs=True))

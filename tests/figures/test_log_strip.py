"""After an unclean election logs stand side by side: what parted, what was lost, who read it."""

from kiplab.figures.timeline import mask
from kiplab.figures.timeline.ladder import ladder_drawing
from kiplab.figures.timeline.log_strip import TITLE
from kiplab.figures.timeline.mask import shapes_at
from kiplab.figures.timeline.whole_runs import NOT_PARTED, logs, timeline, timeline_drawing, twin
from kiplab.plays.library import names
from kiplab.rows.columns import Rows
from kiplab.rows.log_blocks import LogBlock, LogCell, LogSide, log_blocks, log_sentences
from kiplab.runs import run
from kiplab.widgets.lab import Lab
from tests.figures.boxes import texts, unreadable
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
        "broker 1", "down", (LogCell(0, 10, 5, True), LogCell(10, 20, 5, False, True))
    )
    assert side(election, "broker 2") == LogSide("broker 2", "leader", (LogCell(0, 10, 5, True),))
    assert back.words == "broker 1 truncates to 10"
    assert side(back, "broker 1") == LogSide("broker 1", "", (LogCell(0, 10, 5, True),), 10)


def test_other_records_at_the_same_offsets_are_struck_and_so_is_what_was_read() -> None:
    rows = run("consumer-truncation", kafka="3.5").rows()
    election, written, end = log_blocks(rows, "orders-0")
    gone = LogCell(80, 100, 5, False, True)
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
    for name in set(names()) - {n for n in names() if n.startswith(("unclean", "704"))}:
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


def test_a_lab_offers_the_logs_once_they_part_and_shows_how_they_are() -> None:
    lab = Lab("unclean-election")

    def shown() -> bool:
        return lab.logs.toggle.layout.display != "none"

    lab.seek(6)
    assert not shown()
    lab.seek(7)
    assert shown()
    assert lab.logs.image.value == ""
    lab.logs.toggle.value = True
    at_the_election = lab.logs.image.value
    assert "At 7 (unclean election)" in at_the_election
    lab.seek(24)
    assert "At 24 (broker 1 truncates to 11)" in lab.logs.image.value
    lab.seek(6)
    assert not shown()
    assert lab.logs.box.layout.display == "none"

"""Every mark of the picture: in the rows, and on the sheet."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.figures.drawing.theme import DARK, LIGHT, Theme
from kiplab.figures.timeline.callouts import OUTCOME_SHARE
from kiplab.figures.timeline.icons import CELLS, LATE, LOST
from kiplab.figures.timeline.whole_runs import timeline
from kiplab.rows.view import until
from tests.figures import small_plays as plays
from tests.figures.boxes import scale, so_far, texts, words
from tests.figures.small_plays import cards, flags, play, shapes, spans
from tests.kafka_14139 import rows_on


def height(shape: Any) -> float:
    return float(abs(shape.y1 - shape.y0))


def test_a_proposed_member_is_hatched_in_a_dashed_border_until_the_controller_decides() -> None:
    rows = play(plays.PROPOSED)
    assert spans(rows, "broker 2", "role") == [(0, 1, "out"), (1, 2, "proposed"), (2, 3, "in ISR")]
    figure = timeline(rows, legend=False)
    (border,) = shapes(figure, type="rect", line_dash="dash")
    assert (border.x0, border.x1, border.line.color) == (1, 2, LIGHT.member_edge)


def test_a_leader_is_outlined_starred_and_higher_than_a_member() -> None:
    figure = timeline(play(plays.PROPOSED), legend=False)
    (leader,) = shapes(figure, fillcolor=LIGHT.leader)
    (member,) = shapes(figure, fillcolor=LIGHT.member)
    assert leader.line.color == LIGHT.band_edge
    assert height(leader) > 1.4 * height(member)
    assert any(word.text.startswith("★ leader") for word in words(figure))


def test_a_leader_that_nobody_told_is_hollow() -> None:
    rows = play(plays.UNKNOWING)
    assert spans(rows, "broker 1", "role")[-1][2] == "believes"
    assert shapes(timeline(rows, legend=False), line_dash="dash", fillcolor=LIGHT.box)


def test_a_recovering_leader_has_a_dotted_outline_and_an_r() -> None:
    rows = play(plays.UNCLEAN)
    assert flags(rows, "broker 2")[3, 7] == ("lacks committed", "recovering", "unaware")
    figure = timeline(rows, legend=False)
    (outline,) = shapes(figure, line_dash="2px,3px", line_color=LIGHT.gone)
    assert (outline.x0, outline.x1) == (3, 7)
    said = texts(figure)
    assert "★ leads without offsets 10–19 · recovering for the controller only" in said


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda t: t.name)
def test_a_leader_that_lacks_committed_records_looks_like_the_loss(theme: Theme) -> None:
    rows = play(plays.STALE_JOIN.replace("produce", "crash 1\nexpire 1\nproduce"), "3.2")
    *_, last = rows.tracks["broker 2", "role"]
    assert (last.text, last.flags) == ("leads without offsets 0–19", ("lacks committed",))
    at_first = so_far(until(rows, last.x0), rows, legend=False, theme=theme.name)
    assert "★ leads without offsets 0–19" in texts(at_first)
    figure = timeline(rows, legend=False, theme=theme.name)
    assert [s.x0 for s in shapes(figure, fillcolor=theme.leader)] == [0]
    (band,) = shapes(figure, fillcolor=theme.lost, line_color=theme.gone)
    assert (band.x0, band.x1) == (last.x0, last.x1)


def test_a_fence_ends_at_a_gate_only_where_the_controller_opens_it() -> None:
    opened = play(plays.WIPED)
    assert [(s.x0, s.x1) for s in opened.gates("broker 2")] == [(3, 4)]
    dead = play(plays.WIPED.replace("unfence 2", "crash 2"))
    assert spans(dead, "broker 2", "fenced")
    assert dead.gates("broker 2") == ()


def test_a_wiped_disk_leaves_a_gap_and_what_follows_starts_hollow() -> None:
    rows = play(plays.WIPED + "fetch 2\n")
    assert spans(rows, "broker 2", "down") == [(1, 3, "disk replaced")]
    hollow = [ends for ends, found in flags(rows, "broker 2").items() if "log empty" in found]
    assert hollow == [(3, 5)]
    figure = timeline(rows, legend=False)
    assert shapes(figure, fillcolor=LIGHT.box, line_color=LIGHT.line, x0=3, x1=5)
    assert any("⌀ disk replaced" in word.text for word in words(figure))


def test_in_a_controlled_shutdown_the_band_is_half_as_high() -> None:
    rows = play(plays.LEAVING)
    assert spans(rows, "broker 1", "shutting down") == [(1, 4, "yes")]
    leading = shapes(timeline(rows, legend=False), fillcolor=LIGHT.leader)
    before, while_leaving, successor = sorted(leading, key=lambda s: s.x0)
    assert [(s.x0, s.x1) for s in (before, while_leaving, successor)] == [(0, 1), (1, 2), (2, 4)]
    assert height(while_leaving) == height(before) / 2 == height(successor) / 2


def test_every_broker_epoch_begins_with_a_hard_edge() -> None:
    figure = timeline(play(plays.WIPED), legend=False)
    edges = shapes(figure, type="line", x0=3, x1=3, line_color=LIGHT.tile_edge)
    assert max(map(height, edges)) > 40


def test_strips_step_where_their_number_changes() -> None:
    figure = timeline(play(plays.PROPOSED), legend=False)
    steps = shapes(figure, type="line", x0=2, x1=2, line_color=LIGHT.tile_edge)
    assert len(steps) == 2, "the partition epoch and the ISR, but not the leader epoch"


def test_messages_are_dashed_when_late_and_solid_when_at_once() -> None:
    late = timeline(play(plays.PROPOSED), legend=False)
    assert [s.line.dash for s in shapes(late, x0=1, x1=2, type="line")] == [LATE]
    at_once = timeline(play(plays.REFUSED_AT_ONCE), legend=False)
    solid = shapes(at_once, type="line", x0=1, x1=1, line_color=LIGHT.refused, line_dash="solid")
    assert len(solid) == 1


def test_a_copy_is_a_double_line_and_a_lost_message_breaks_off_midway() -> None:
    rows = play(plays.MESSAGES)
    (copy,) = [m for m in rows.messages if m.duplicate]
    assert (copy.fate, copy.x_sent, copy.x_arrived) == ("dropped", 2, 7)
    figure = timeline(rows, legend=False)
    lines = shapes(figure, line_dash=LOST)
    assert len(lines) == 2
    assert all(line.x1 < 5.5 for line in lines)
    assert "<b>✕</b>" in texts(figure)


def test_a_refusal_has_a_shield_at_the_receiver_and_a_diamond_where_the_sender_is_gone() -> None:
    rows = play(plays.MESSAGES)
    (refused,) = (m for m in rows.messages if m.fate == "refused")
    assert refused.previous_incarnation
    figure = timeline(rows, legend=False)
    found = shapes(figure, type="path", fillcolor=LIGHT.refused, line_color=LIGHT.refused)
    (shield,) = [shape for shape in found if shape.name is None][1:]
    assert all(5.5 < float(x) < 6 for x in re.findall(r"[ML]([\d.]+),", shield.path))
    assert shapes(figure, type="path", line_color=LIGHT.refused, fillcolor=LIGHT.box)


def test_a_refusal_that_no_guard_made_has_a_ring_with_a_stroke_instead_of_a_shield() -> None:
    figure = timeline(play(plays.REFUSED_BY_NO_GUARD), legend=False)
    (ring,) = shapes(figure, type="circle", line_color=LIGHT.refused, fillcolor=LIGHT.box)
    assert len(shapes(figure, type="path", fillcolor=LIGHT.refused)) == 1, "the arrow's head"
    guarded = timeline(play(plays.REFUSED_AT_ONCE), legend=False)
    assert shapes(guarded, type="circle", line_color=LIGHT.refused, fillcolor=LIGHT.box) == []
    assert ring.y0 > 0


def test_lost_records_are_cells_each_of_them_crossed_out() -> None:
    (cells,) = [
        s
        for s in shapes(
            timeline(play(plays.UNCLEAN, "3.5"), legend=False), line_color=LIGHT.lost_text
        )
        if s.path and "Z" in s.path
    ]
    boxes, strokes = cells.path.count("Z"), cells.path.count("M") - cells.path.count("Z")
    assert (boxes, strokes) == (CELLS, 2 * CELLS)


def test_an_acceptance_stands_at_its_moment() -> None:
    for width in (600, 840, 1100, 1500):
        figure = timeline(rows_on("kafka-14139", "3.4"), width=width)
        (said,) = [word for word in words(figure) if word.text.startswith("✓")]
        left, unit = scale(figure)
        head = (6 - left) * unit
        assert head < said.box.x0 < head + 12
        assert said.box.x1 - said.box.x0 <= max(OUTCOME_SHARE * unit, 62)


def test_time_at_risk_is_washed_and_ticked_and_a_loss_bracketed_and_struck_through() -> None:
    rows = play(plays.STALE_JOIN, "3.4")
    (risk,) = [s for s in spans(rows, "records", "state") if s[2] == "at risk"]
    figure = timeline(rows, legend=False)
    assert shapes(figure, fillcolor=LIGHT.risk, opacity=0.6, x0=risk[0], x1=risk[1])
    assert len(shapes(figure, type="path", line_color=LIGHT.risk_edge)) == 2
    lost = timeline(play(plays.UNCLEAN), legend=False)
    assert len(shapes(lost, type="path", line_color=LIGHT.lost_text, name=None)) == 2
    assert any(word.text.startswith("▼ offsets 10") for word in words(lost))


def test_the_card_of_a_message_tells_both_sides_the_check_and_the_log() -> None:
    (card,) = {
        c for c in cards(timeline(play(plays.MESSAGES))) if "→ controller" in c and "refused: " in c
    }
    for part in (
        "broker 1 (epoch 40) → controller",
        "AlterPartition v3, sent as broker epoch 40",
        "t-0: leader epoch 5, partition epoch 10",
        "proposed ISR: 1@40, 2@41",
        "the controller held no leader, leader epoch 6, partition epoch 11",
        "broker 1: request 40, registered 53",
        "first check that fails: 497.request-broker-epoch",
        "KIP-497:",
        "Reason: Expected broker epoch 53, but got broker epoch 40",
    ):
        assert part in card


def test_the_card_of_a_band_tells_since_when_why_and_who_decided() -> None:
    said = cards(timeline(play(plays.PROPOSED)))
    assert any(
        "in ISR: from 2 to 3 since deliver alter-partition from=1, decided by the controller" in c
        for c in said
    )
    assert any("proposed, not decided: from 1 to 2" in c and "no node yet" in c for c in said)


def test_a_producer_that_is_refused_has_a_mark() -> None:
    rows = kiplab.run("isr-committed").rows()
    texts = [m.text for m in rows.marks]
    assert "produce to orders-0 refused: NOT_ENOUGH_REPLICAS" in texts

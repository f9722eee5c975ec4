"""Clients have lanes: whom they asked, what they were told, and nobody who is not worth one."""

import pytest

from kiplab.figures.timeline.whole_runs import drawing_so_far, timeline, timeline_drawing, twin
from kiplab.plays.library import load
from kiplab.rows.client_requests import API_LABELS, NAMELESS, clients_shown
from kiplab.rows.columns import Rows
from kiplab.rows.difference import differences, first_difference
from kiplab.rows.rows_of_stage import rows_until
from kiplab.rows.run_titles import titles
from kiplab.runs import run
from kiplab.widgets.history_tree.playback import open_playback
from tests.figures.boxes import texts
from tests.figures.small_plays import PAIR, cards, play

WIDTHS = [600, 840, 1100, 1400]
REFUSED = "NOT_LEADER_OR_FOLLOWER"
READ = PAIR + "consumer t-0 name=slow\npoll t-0\nproduce t-0 count=3\npoll t-0 consumer=slow\n"


def asked(rows: Rows, fate: str) -> list[tuple[int, str, str, str]]:
    return [(m.x_sent, m.sender, m.label, m.outcome) for m in rows.clients if m.fate == fate]


def test_what_a_client_learnt_stands_on_its_lane() -> None:
    rows = play(READ)
    assert clients_shown(rows) == ["consumer", "consumer slow"]
    assert asked(rows, "delivered") == [
        (1, "consumer", "Fetch", "reads 0–19"),
        (2, "producer", "Produce", "writes 20–22"),
        (3, "consumer slow", "Fetch", "reads 0–22"),
    ]
    found = texts(timeline(rows))
    assert {"<b>consumer</b>", "<b>consumer slow</b>", "✓ reads 0–22"} <= set(found)
    assert not any("reads to" in text for text in found)


def test_a_run_without_named_clients_has_no_such_lanes(lossy: Rows) -> None:
    assert lossy.clients == ()
    written = play(PAIR + "produce t-0 count=3\ndelete-records t-0 before=5\n")
    assert [m.sender for m in written.clients] == list(reversed(NAMELESS))
    assert clients_shown(written) == []


def test_whoever_has_no_name_has_a_lane_where_a_guard_refused_it(
    implemented: Rows, specified: Rows
) -> None:
    assert not set(clients_shown(implemented)) & set(NAMELESS)
    assert {"consumer", "consumer audit"} <= set(clients_shown(implemented))
    refused = {m.sender for m in specified.clients if m.guard}
    assert set(clients_shown(specified)) == set(clients_shown(implemented)) | refused
    assert "admin client" in refused


def test_a_recovering_leader_refuses_each_of_the_five_requests(specified: Rows) -> None:
    refused = [m for m in specified.clients if m.fate == "refused"]
    assert {m.label for m in refused} == set(API_LABELS.values())
    assert {(m.error, m.guard) for m in refused} == {(REFUSED, "704.leader-refuses")}
    assert all(m.clause.startswith("KIP-704: ") for m in refused)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_refused_client_is_told_why_or_that_it_is_the_same_again(
    specified: Rows, width: int
) -> None:
    found = texts(timeline(specified, width=width))
    for client in clients_shown(specified):
        refused = [m for m in specified.clients if (m.sender, m.fate) == (client, "refused")]
        assert any(f"{refused[0].label}: {REFUSED}" in text or REFUSED in text for text in found)
    assert sum(REFUSED in text for text in found) >= 4


def test_a_refused_request_has_a_card_of_its_own(specified: Rows) -> None:
    card = next(c for c in cards(timeline(specified)) if c.startswith("<b>admin client → broker 2"))
    assert f"refused: {REFUSED}" in card
    assert "first check that fails: 704.leader-refuses" in card
    assert "leader recovery state: request needs RECOVERED, here RECOVERING" in card


def test_an_arrow_is_lit_by_the_id_of_its_event(specified: Rows) -> None:
    marks = timeline_drawing(specified, fold=False)["layout"]["meta"]["marks"]
    arrows = {mark[0] for mark in marks if mark[-1] is True}
    named = set(clients_shown(specified))
    assert {m.began for m in specified.clients if m.sender in named} <= {
        id for ids in arrows for id in ids.split()
    }


def test_what_clients_are_told_is_a_difference(implemented: Rows, specified: Rows) -> None:
    # From the election on: as implemented only the controller thinks that the leader recovers.
    assert first_difference(implemented, specified) == 7
    found = {(d.node, d.field): d for d in differences(implemented, specified, at=12)}
    answer = found["broker 2", "answer to Fetch of consumer audit"]
    assert answer.one == "reads 0–15"
    assert answer.other.startswith(f"refused: {REFUSED}")


def test_both_panels_of_a_twin_have_the_lanes_of_either(implemented: Rows, specified: Rows) -> None:
    found = texts(twin(implemented, specified))
    assert all(found.count(f"<b>{name}</b>") == 2 for name in clients_shown(specified))
    assert titles((implemented, specified)) == (
        "KIP-704 as implemented · Kafka 3.5",
        "KIP-704 as specified · Kafka 3.5",
    )


def test_what_no_release_ever_built_is_not_said_to_be_implemented() -> None:
    runs = [run("343-stale-leader", kafka=release).rows() for release in ("zk-2.2", "kip-343")]
    assert titles(tuple(runs)) == (
        "without KIP-343 · Kafka zk-2.2",
        "KIP-343 as specified · Kafka kip-343",
    )


def test_a_consumer_that_throws_says_what() -> None:
    rows = run("consumer-truncation", kafka="3.5").rows()
    (thrown,) = [m for m in rows.clients if "raises" in m.outcome]
    assert (thrown.x_sent, thrown.receiver) == (10, "broker 2")
    assert "! raises LogTruncationException" in texts(timeline(rows, width=1400))


def test_of_an_answer_that_comes_later_nothing_is_known_before(specified: Rows) -> None:
    whole = specified
    stage = open_playback(load("unclean-election")).frames[4].stage
    drawing = drawing_so_far(rows_until(whole, stage), whole, width=934)
    texts = {t for trace in drawing["data"] if trace["mode"] == "text" for t in trace["text"]}
    assert not any(REFUSED in text for text in texts)

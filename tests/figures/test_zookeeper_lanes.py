"""Picture (c): ZooKeeper's lane, the controller's queues, requests for earlier incarnations."""

import pytest

from kiplab.figures.drawing.svg import svg
from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline.bounce_panels import OFF, ON, BouncePair, bounce_drawing
from kiplab.figures.timeline.legend_marks import occurring
from kiplab.figures.timeline.sheet import BADGE
from kiplab.figures.timeline.whole_runs import timeline, twin
from kiplab.runs import bounces
from tests.figures.boxes import so_far, texts, too_small, unreadable
from tests.figures.small_plays import FAILED_OVER, cards, play, shapes
from tests.figures.zookeeper_plays import ALL, run


@pytest.mark.parametrize("name", list(ALL))
def test_two_runs_stand_on_one_sheet(name: str) -> None:
    figure = twin(run(name, OFF), run(name, ON), width=1100, legend=False)
    assert unreadable(figure) == []
    assert texts(figure).count("<b>ZooKeeper</b>") == 2


def test_the_badge_names_the_time_and_is_on_no_other_picture() -> None:
    assert f"<b>{BADGE}</b>" in texts(timeline(run("stop replica", OFF)))
    kraft = timeline(play(FAILED_OVER))
    assert not [text for text in texts(kraft) if BADGE in text or "ZooKeeper" in text]


def test_mail_for_an_earlier_life_has_a_hollow_tail() -> None:
    def tails(kafka: str, color: str) -> int:
        found = shapes(timeline(run("stop replica", kafka), legend=False), type="path")
        return sum(s.line.color == color and s.fillcolor == LIGHT.box for s in found)

    assert tails(OFF, LIGHT.message) == 2, "the arrow's, and one in the queue"
    assert tails(ON, LIGHT.refused) == 1


def test_a_refusal_names_both_epochs() -> None:
    found = [
        text for text in texts(timeline(run("stop replica", ON))) if "STALE_BROKER_EPOCH" in text
    ]
    assert any("request 100, registered 144" in text for text in found)


def test_a_bounce_has_a_bracket_and_a_missed_one_says_that_nothing_changed() -> None:
    seen = texts(timeline(run("missed bounce", ON), width=1400))
    assert any("1 bounced: 100 → 142" in text for text in seen)
    missed = texts(timeline(run("missed bounce", OFF), width=1400))
    assert any("nothing changed" in text for text in missed)
    assert not any("bounced" in text for text in missed)


def test_cards_say_that_a_broker_of_2_1_does_not_know_its_czxid() -> None:
    told = "the broker itself does not know this number"
    assert any(told in text for text in cards(timeline(run("stop replica", OFF))))
    assert not any(told in text for text in cards(timeline(run("stop replica", ON))))


def test_cards_list_the_mail_in_full() -> None:
    (card,) = {text for text in cards(timeline(run("stop replica", ON))) if "it waited" in text}
    for words_of in ("LeaderAndIsr L-0", "UpdateMetadata F-0", "StopReplica F-0", "was czxid 100"):
        assert words_of in card


def test_a_watch_that_goes_off_at_once_is_a_short_arrow() -> None:
    ids = {mark.id for mark in occurring((run("late shutdown", OFF),))}
    assert "watch" in ids
    assert any(
        "watch: NodeChildrenChanged" in text for text in cards(timeline(run("late shutdown", OFF)))
    )


def test_from_step_to_step_nothing_moves() -> None:
    for name in ALL:
        whole = run(name, ON)
        heights = {so_far(run(name, ON), whole).layout.height, so_far(whole, whole).layout.height}
        assert len(heights) == 1


def test_the_lanes_of_zookeeper_and_the_controller_have_a_place() -> None:
    whole = run("stop replica", ON)
    lanes = so_far(whole, whole).layout.meta["places"]["lanes"]
    by_name = {name: (top, bottom) for name, top, bottom in lanes}
    assert by_name["ZooKeeper"][1] < by_name["controller"][0]
    assert by_name["controller"][1] < by_name["broker 0"][0]


@pytest.mark.parametrize("width", [600, 980, 1400])
def test_four_small_panels_stand_off_and_on(width: int) -> None:
    figure = bounces(width=width)
    told = texts(figure)
    assert told.count("<b>ZooKeeper</b>") == 8 + 1, "a lane for each panel, and the legend"
    assert sum("KIP-380 off" in text for text in told) == 4
    assert sum("KIP-380 on" in text for text in told) == 4
    for letter in "ABCD":
        assert any(text.startswith(f"<b>{letter} · ") for text in told)
    assert sum("STALE_BROKER_EPOCH" in text for text in told) == 3
    assert any("bounced: 100" in text for text in told)
    assert any("nothing changed" in text or "no change" in text for text in told)
    assert "checkpoint loses" in " ".join(told)
    assert too_small(figure) == []


def test_panels_of_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        bounce_drawing(())


def test_small_panels_are_drawn_without_plotly() -> None:
    pairs = [BouncePair(run("stop replica", OFF), run("stop replica", ON), "F-0")]
    assert "STALE_BROKER_EPOCH" in svg(bounce_drawing(pairs, theme="dark"))

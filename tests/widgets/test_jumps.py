"""Steps worth going to: each has a number, or a reason why there is none."""

import pytest

from kiplab.plays.library import load
from kiplab.plays.play import Statement
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import parse_features
from kiplab.widgets.controls import transport
from kiplab.widgets.history_tree import branch_tree as trees
from kiplab.widgets.history_tree.branch_tree import TRUNK, Tree, act, plant
from kiplab.widgets.history_tree.playback import Playback, open_playback, seek
from kiplab.widgets.lab import Lab
from tests.repeated import every_play
from tests.widgets.hands import hear, opened

NEW = parse_features("3.5")


@pytest.fixture
def tree() -> Tree:
    """The play as it was opened."""
    return plant(opened("kafka-14139"))


@pytest.fixture
def refusing() -> Playback:
    """The play under rules that refuse the late request."""
    return open_playback(load("kafka-14139"), NEW)


def test_the_next_refusal_comes_after_where_one_stands(refusing: Playback) -> None:
    assert transport.next_refusal(refusing) == 6
    assert transport.next_refusal(seek(refusing, 5)) == 6
    assert transport.next_refusal(seek(refusing, 6)) == "nothing is refused after step 6"


def test_the_first_violation_is_the_same_from_everywhere(tree: Tree, refusing: Playback) -> None:
    assert transport.first_violation(tree.here.playback) == 6
    assert transport.first_violation(seek(tree.here.playback, 11)) == 6
    assert transport.first_violation(refusing) == "no property is broken in this run"


def test_the_play_as_opened_differs_from_nothing(tree: Tree) -> None:
    assert transport.against(tree) is None
    assert transport.divergence(tree) == "this is the play as it was opened, under its own rules"


def test_the_play_under_other_rules_is_held_against_its_own(tree: Tree) -> None:
    other = trees.rerun(tree, NEW)
    assert transport.divergence(other) == 6
    same = trees.rerun(tree, parse_features("3.4", off=("704",)))
    assert (
        transport.divergence(same) == "this run does not differ from the play under its own rules"
    )


def test_a_branch_is_held_against_the_one_it_forks_from(tree: Tree) -> None:
    first = act(trees.seek(tree, 3), Statement("crash", ("1",)))
    assert transport.divergence(first) == 4
    second = act(trees.seek(act(first, Statement("expire", ("1",))), 4), Statement("fail-over"))
    found = transport.against(second)
    assert found is not None
    assert found[1] == first.here.name
    assert transport.divergence(second) == 5
    assert transport.divergence(trees.switch(second, TRUNK)) == transport.divergence(tree)


@pytest.mark.parametrize("name", every_play())
def test_going_from_refusal_to_refusal_meets_every_one(name: str) -> None:
    playback = opened(name)
    met = []
    while isinstance(target := transport.next_refusal(playback), int):
        playback = seek(playback, target)
        met.append(target)
    told = {
        p.moment
        for p in playback.whole.performed
        if any(isinstance(event, Refused) for event in playback.whole.events_of(p))
    }
    assert met == sorted(told - {0})


def follow(lab: Lab, step: int) -> None:
    """What a page says of a link that was followed."""
    wish = {"step": step, "by": "link"}
    hear(lab, {"part": lab.guide.element.id, "name": "go", "value": wish, "by": "1"})


def test_a_link_leads_to_its_step_stops_a_player_and_the_note_says_so(lab: Lab) -> None:
    follow(lab, 6)
    assert lab.playback.at == 6
    assert "This is step 6, which the text names." in lab.note.value
    assert "Step 6 of 11" in lab.verdict.value
    lab.transport.play.click()
    follow(lab, 3)
    assert (lab.transport.is_playing, lab.playback.at) == (False, 3)


def test_a_step_that_this_run_has_not_is_explained(lab: Lab) -> None:
    lab.seek(1)
    lab.do("crash 1")
    follow(lab, 6)
    assert lab.playback.at == 2
    assert "There is no step 6 here: this run ends at step 2." in lab.note.value
    assert 'role="alert"' in lab.note.value


def test_the_page_knows_which_play_it_is_by_the_name_that_links_have(lab: Lab) -> None:
    assert lab.guide.element.described()["play"] == "kafka-14139"
    lab.load("timeline-first")
    assert lab.guide.element.described()["play"] == "timeline-first"

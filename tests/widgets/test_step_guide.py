"""A link in the prose leads a Lab to a step, and the Lab says that it does."""

import pytest

import kiplab
from kiplab.widgets import Lab
from tests.widgets.hands import hear


@pytest.fixture
def lab() -> Lab:
    return kiplab.Lab("kafka-14139")


def follow(lab: Lab, step: int) -> None:
    """What a page says of a link that was followed."""
    wish = {"step": step, "by": "link"}
    hear(lab, {"part": lab.guide.element.id, "name": "go", "value": wish, "by": "1"})


def test_a_link_leads_to_its_step_and_the_note_says_so(lab: Lab) -> None:
    follow(lab, 6)
    assert lab.bench.at == 6
    assert "This is step 6, which the text speaks of." in lab.note.value
    assert "Step 6 of 11" in lab.verdict.value


def test_a_step_that_this_run_has_not_is_explained(lab: Lab) -> None:
    lab.seek(1)
    lab.do("crash 1")
    follow(lab, 6)
    assert lab.bench.at == 2
    assert "There is no step 6 here: this run ends at step 2." in lab.note.value
    assert 'role="alert"' in lab.note.value


def test_the_page_knows_which_play_it_is_by_the_name_that_links_have(lab: Lab) -> None:
    assert lab.guide.element.described()["play"] == "kafka-14139"
    lab.load("timeline-first")
    assert lab.guide.element.described()["play"] == "timeline-first"


def test_a_player_stops_where_a_link_leads(lab: Lab) -> None:
    lab.transport.play.click()
    follow(lab, 3)
    assert (lab.transport.is_playing, lab.bench.at) == (False, 3)

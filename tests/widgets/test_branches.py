"""Branches compared: each by its name; an answer is over when something else is done."""

from typing import Any

import pytest

from kiplab.widgets.controls.branches import Branches
from kiplab.widgets.lab import Lab


@pytest.fixture
def lab(lab: Lab) -> Lab:
    """On a branch that is compared with the play, under the same rules."""
    lab.seek(1)
    lab.do("crash 2")
    lab.rename(lab.branch, "what if 2 dies")
    lab.folds.open("Branches")
    lab.branching.which.value = 1
    lab.branching.compare.click()
    return lab


@pytest.fixture
def branching(lab: Lab) -> Branches:
    return lab.branching


def compared(branching: Branches) -> Any:
    """What is on the page of a comparison."""
    return branching.comparison.box.children


def said(branching: Branches) -> str:
    return str(branching.answer.box.value)


def test_panels_and_columns_are_headed_by_the_names(branching: Branches) -> None:
    said_first, picture, differences = compared(branching)
    assert "Above, first: what if 2 dies (Kafka 3.4). Below, second" in said_first.value
    words = {word for trace in picture.drawing["data"] for word in trace.get("text") or ()}
    titles = ("what if 2 dies · Kafka 3.4", "the play · Kafka 3.4")
    assert {f"<b>{title}</b>" for title in titles} <= words
    for title in titles:
        assert f'<th scope="col">{title}</th>' in differences.value
    assert f"{titles[0]} and {titles[1]} first differ at 2" in differences.value


def test_rules_that_differ_are_named_too(lab: Lab, branching: Branches) -> None:
    lab.switch("903", True)
    branching.compare.click()
    differences = compared(branching)[2].value
    assert "what if 2 dies · KIP-903 on · Kafka 3.4" in differences
    assert "the play · KIP-903 off · Kafka 3.4" in differences


def test_a_long_name_leaves_room_for_the_verdict(lab: Lab, branching: Branches) -> None:
    lab.rename(lab.branch, "x" * 60)
    branching.compare.click()
    assert f'<th scope="col">{"x" * 35}… · Kafka 3.4</th>' in compared(branching)[2].value


def test_metrics_are_under_both_runs_once_chosen(lab: Lab, branching: Branches) -> None:
    def names() -> list[str]:
        _, picture, _ = compared(branching)
        (words,) = (t["text"] for t in picture.drawing["data"] if t["name"] == "words")
        return [word for word in words if word.replace("<br>", "") == "FencedBrokerCount"]

    lab.do("expire 2")
    branching.compare.click()
    assert names() == []
    lab.folds.open("What the picture shows")
    lab.view_controls.metrics.value = True
    assert len(names()) == 2
    lab.view_controls.metrics.value = False
    assert names() == []


def test_no_comparison_is_below_when_there_is_none(lab: Lab, branching: Branches) -> None:
    assert "The comparison is below." in said(branching)
    lab.do("expire 2")
    assert compared(branching) == ()
    assert said(branching) == ""


@pytest.mark.parametrize(
    "change",
    [
        lambda lab: lab.switch("903", True),
        lambda lab: lab.undo(),
        lambda lab: lab.load("last-replica"),
        lambda lab: lab.rename(lab.branch, "another name"),
        lambda lab: lab.delete(lab.branch),
    ],
    ids=["rules", "undo", "load", "rename", "delete"],
)
def test_a_comparison_goes_with_what_it_was_about(lab: Lab, change: Any) -> None:
    change(lab)
    assert compared(lab.branching) == ()
    assert said(lab.branching) == ""


def test_a_step_leaves_the_comparison_and_ends_the_answer(lab: Lab, branching: Branches) -> None:
    branching.which.value = 1
    lab.seek(1)
    assert len(compared(branching)) == 3
    assert said(branching) == ""


@pytest.mark.usefixtures("lab")
def test_an_answer_comes_after_what_it_answers(branching: Branches) -> None:
    branching.go.click()
    assert "You are on the play." in said(branching)

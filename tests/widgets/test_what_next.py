"""The list and the menus in a Lab, as a page presses them: lazily, in order, and never too late."""

from typing import Any

import pytest

from kiplab.widgets.elements.kinds import ChoiceList
from kiplab.widgets.lab import Lab
from tests.widgets.hands import hear

PARTS_MAX = 5
"""Elements that the list and the menu add to a Lab, however long they are."""


class Pointer:
    """Somebody who points and presses in a page; `said` is what is foretold."""

    def __init__(self, lab: Lab, listed: ChoiceList) -> None:
        self.lab, self.list = lab, listed

    @property
    def rows(self) -> list[list[Any]]:
        return [row for section in self.list.offers["sections"] for row in section["rows"]]

    def place(self, line: str) -> int:
        return next(n for n, (_, said, *_) in enumerate(self.rows) if said == line)

    def _tell(self, name: str, place: int, number: int | None) -> None:
        told = [self.list.offers["number"] if number is None else number, place]
        hear(self.lab, {"part": self.list.id, "name": name, "value": told, "by": "x"})

    def points(self, line: str) -> str:
        self._tell("foresee", self.place(line), None)
        return " ".join(self.list.foreseen["consequences"])

    def presses(self, line: str) -> None:
        self.presses_place(self.place(line))

    def presses_place(self, place: int, number: int | None = None) -> None:
        self._tell("choose", place, number)


@pytest.fixture
def lab(lab: Lab) -> Lab:
    lab.seek(5)
    return lab


@pytest.fixture
def pointer(lab: Lab) -> Pointer:
    """At the list, opened."""
    lab.what_next.toggle.value = True
    return Pointer(lab, lab.what_next.offering.list)


def at_menu(lab: Lab, thing: str) -> Pointer:
    """At the menu of a thing in the picture."""
    hear(lab, {"part": lab.picture.id, "name": "touch", "value": thing, "by": "x"})
    return Pointer(lab, lab.touching.offering.list)


def test_the_list_is_empty_until_it_is_opened_in_the_place_of_the_buttons(lab: Lab) -> None:
    closed = Pointer(lab, lab.what_next.offering.list)
    assert closed.rows == []
    assert lab.what_next.box.layout.display == "none"
    assert lab.inject.box.layout.display != "none"
    lab.seek(6)
    assert closed.rows == []
    lab.what_next.toggle.value = True
    assert lab.what_next.box.layout.display == "flex"
    assert lab.inject.box.layout.display == "none"
    lab.what_next.toggle.value = False
    assert lab.inject.box.layout.display == "flex"


def test_list_and_menu_are_few_elements_however_long_they_are(lab: Lab, pointer: Pointer) -> None:
    at_menu(lab, "broker 2")
    menu = (lab.picture, *lab.touching.offering.list.everything())
    parts = (*lab.what_next.box.everything(), *menu)
    assert len(pointer.rows) > 20
    assert len(parts) <= PARTS_MAX


def test_pointing_foretells_and_does_nothing(lab: Lab, pointer: Pointer) -> None:
    before = lab.tree
    assert "Verdict: harm" in pointer.points("deliver alter-partition from=1")
    assert pointer.list.foreseen["place"] == pointer.place("deliver alter-partition from=1")
    assert lab.tree is before


def test_pressing_does_it_on_a_branch_and_the_list_follows(lab: Lab, pointer: Pointer) -> None:
    said = pointer.points("deliver alter-partition from=1")
    pointer.presses("deliver alter-partition from=1")
    assert lab.playback.play.statements[-1].text == "deliver alter-partition from=1"
    assert lab.branch != "the play"
    assert "harm" in lab.verdict.value
    assert '<b class="kiplab-changed" title="changed by this step">11</b>' in lab.facts.value
    assert "partition epoch 10 → 11" in said
    assert not any(row[1].startswith("deliver") for row in pointer.rows)


def test_what_was_foretold_at_another_step_is_not_said_again(lab: Lab, pointer: Pointer) -> None:
    pointer.points("flush 1")
    before = pointer.rows
    lab.do("flush 1")
    assert pointer.rows == before
    assert pointer.list.foreseen["number"] != pointer.list.offers["number"]


def test_an_empty_menu_costs_a_step_nothing(lab: Lab) -> None:
    sent: list[dict[str, Any]] = []
    lab.box.send = lambda content, *_: sent.append(content)
    lab.seek(6)
    (patch,) = (message["patch"] for message in sent if "patch" in message)
    assert lab.touching.offering.list.id not in patch
    assert lab.what_next.offering.list.id not in patch


def test_what_was_pressed_in_an_older_list_comes_too_late(lab: Lab, pointer: Pointer) -> None:
    number, place = pointer.list.offers["number"], pointer.place("crash 2")
    lab.seek(2)
    before = lab.tree
    pointer.presses_place(place, number)
    pointer.presses_place(999)
    assert lab.tree is before


def test_what_cannot_be_done_now_is_no_row_but_a_note_that_says_why(lab: Lab) -> None:
    menu = at_menu(lab, "broker 2")
    (section,) = menu.list.offers["sections"]
    assert "Not now: Start: broker 2 is running already." in section["notes"]
    assert "start 2" not in [row[1] for row in menu.rows]


def test_a_click_on_a_lane_opens_its_menu_and_paints_nothing_else(lab: Lab) -> None:
    sent: list[dict[str, Any]] = []
    lab.box.send = lambda content, *_: sent.append(content)
    at_menu(lab, "broker 1")
    (patch,) = (message["patch"] for message in sent if "patch" in message)
    changed = {id for id, traits in patch.items() if traits}
    assert changed == {lab.touching.offering.list.id}
    assert lab.touching.offering.list.calls == 1


def test_a_lane_is_crashed_and_an_arrow_delivered_in_the_picture(lab: Lab) -> None:
    at_menu(lab, "message alter-partition #1 from broker 1").presses(
        "deliver alter-partition from=1"
    )
    at_menu(lab, "broker 1").presses("crash 1")
    lines = [s.text for s in lab.playback.play.statements[-2:]]
    assert lines == ["deliver alter-partition from=1", "crash 1"]


def test_the_menu_closes_when_the_step_changes(lab: Lab) -> None:
    menu = at_menu(lab, "broker 1")
    assert menu.rows
    lab.seek(2)
    assert menu.rows == []


def test_a_step_is_gone_to_and_a_branch_begins_there_in_the_list(lab: Lab) -> None:
    at_menu(lab, "step 2").presses_place(0)
    assert lab.playback.at == 2
    menu = at_menu(lab, "step 1")
    menu._tell("foresee", 1, None)
    assert menu.list.foreseen["consequences"] == [
        "The Lab stands on step 1.",
        "Choose there what happens next; this run is kept.",
    ]
    menu.presses_place(1)
    assert lab.playback.at == 1
    assert lab.what_next.toggle.value
    assert lab.what_next.offering.list.calls == 1
    Pointer(lab, lab.what_next.offering.list).presses("expire 2")
    assert (lab.branch, lab.playback.at) == ("branch 2 at step 1: expire 2", 2)


def test_where_nothing_can_be_done_no_menu_opens(lab: Lab) -> None:
    at_menu(lab, "step 99")
    assert lab.touching.offering.list.calls == 0


def test_another_play_has_a_list_of_its_own(lab: Lab) -> None:
    lab.what_next.toggle.value = True
    lab.load("last-replica")
    assert not lab.what_next.toggle.value
    lab.what_next.toggle.value = True
    assert Pointer(lab, lab.what_next.offering.list).rows


def test_a_failure_in_a_choice_is_said_and_changes_nothing(
    lab: Lab, pointer: Pointer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.widgets.hands import fails

    before = lab.tree
    monkeypatch.setattr("kiplab.widgets.history_tree.branch_tree.act", fails)
    pointer.presses("crash 2")
    assert lab.tree is before
    assert "Something went wrong inside kiplab" in lab.note.value

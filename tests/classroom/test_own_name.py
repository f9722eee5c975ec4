"""The name: asked once, and corrected until the class has an answer from it."""

import pytest

import kiplab
from kiplab.classroom import work_on_disk
from kiplab.classroom.attempts import current_seed
from kiplab.classroom.forms.overview import MyWork, Stations
from kiplab.classroom.forms.own_words import ASKED, NameForm
from kiplab.classroom.work_on_disk import seed_of
from kiplab.widgets.elements.kinds import Button, Text
from tests.classroom.conftest import MakeClass

ASKS, OFFERS, NOTHING = ["text", "Keep"], ["Change my name"], list[str]()


def shown(panel: MyWork | Stations) -> list[str]:
    """What there is to fill in and to press."""
    controls = [part for part in panel.box.root.everything() if isinstance(part, Text | Button)]
    return ["text" if isinstance(part, Text) else part.description for part in controls]


def fill_in(form: NameForm, name: str) -> None:
    form.line.value = name
    form.keep_button.click()


def test_it_is_asked_once_and_may_stay_empty() -> None:
    mine = kiplab.my_work()
    assert shown(mine) == ASKS
    assert mine.name.line.description == ASKED
    assert f'{ASKED}: kiplab.my_work(student="...")' in repr(mine)
    fill_in(mine.name, "")
    assert work_on_disk.read().student == ""
    assert shown(mine) == shown(kiplab.my_work()) == OFFERS
    assert ASKED not in repr(mine)
    assert ("My work</caption>" in mine.html(), "<input" in mine.html()) == (True, False)


def test_then_it_is_only_shown_and_can_be_corrected() -> None:
    mine = kiplab.my_work()
    fill_in(mine.name, "  Ana \n Example ")
    assert "My work: Ana Example</caption>" in mine.words.value
    mine.name.change_button.click()
    assert (shown(mine), mine.name.line.value) == (ASKS, "Ana Example")
    fill_in(mine.name, "Anna <b>")
    assert "My work: Anna &lt;b&gt;</caption>" in mine.words.value
    assert "Work of Anna <b>." in repr(mine)
    kiplab.check("epochs/fences", "BLPL")
    assert shown(mine) == OFFERS, "without a class nothing depends on it"


def test_without_a_class_stations_ask_nothing() -> None:
    assert shown(kiplab.stations("04")) == NOTHING
    assert ASKED not in repr(kiplab.stations("04"))


def test_in_a_class_stations_ask_and_the_numbers_stay_from_the_first_answer_on(
    make_class: MakeClass,
) -> None:
    make_class("labs = [2]")
    strip = kiplab.stations("02")
    assert (shown(strip), ASKED in repr(strip)) == (ASKS, True)
    fill_in(strip.name, "Ana")
    assert current_seed() == seed_of("c", "Ana")
    assert "Your exercises have numbers of their own now" in strip.name.state.value
    assert strip.words.value.count("Ana") == 1
    assert kiplab.my_work(student="Anna").work.student == "Anna"
    kiplab.check("isr/schedules", "ABCD")
    assert shown(strip) == OFFERS, "lab 01 is not of this class"
    kiplab.check("epochs/fences", "BPPL")
    assert shown(strip) == shown(kiplab.my_work()) == NOTHING
    assert "Your name stays “Anna”" in repr(kiplab.my_work(student="Ben"))
    assert (work_on_disk.read().student, work_on_disk.read().seed) == ("Anna", seed_of("c", "Anna"))


@pytest.mark.parametrize(("lines", "is_begun"), [(["variants = false"], False), ([], True)])
def test_the_numbers_of_the_text_stay_without_variants_or_for_one_who_began_before(
    make_class: MakeClass, lines: list[str], is_begun: bool
) -> None:
    if is_begun:
        kiplab.check("epochs/fences", "BPPL")
    make_class(*lines)
    fill_in(kiplab.my_work().name, "Anna")
    kiplab.check("epochs/fences", "BLPL")
    assert (work_on_disk.read().student, work_on_disk.read().seed) == ("Anna", "")


@pytest.mark.parametrize("name", ["", "Anna"])
def test_the_name_of_before_counts_in_a_class_and_so_does_an_empty_one(
    make_class: MakeClass, name: str
) -> None:
    kiplab.my_work(student=name)
    assert current_seed() == ""
    make_class()
    assert current_seed() == seed_of("c", name)


@pytest.mark.usefixtures("nowhere")
def test_where_nothing_can_be_written_it_says_so_and_asks_on() -> None:
    mine = kiplab.my_work()
    fill_in(mine.name, "Anna")
    assert "It cannot be kept in" in mine.name.state.value
    assert shown(mine) == ASKS
    assert "It cannot be kept in" in repr(kiplab.my_work(student="Anna"))

"""What a Lab tells says which events it is about, as its picture does; the page does the rest."""

import json
import re
from typing import Any

import pytest

import kiplab
from kiplab.widgets.elements.kinds import Finder
from kiplab.widgets.lab import Lab
from tests.repeated import every_play

FOLD = "This run so far, in sentences and as a table"
ABOUT = re.compile(r' data-about="([^"]*)"')
GROWTH_MAX = 0.10


@pytest.fixture
def lab(lab: Lab) -> Lab:
    lab.seek(6)
    return lab


def about(html: str, words: str) -> str:
    """What the line with these words is about."""
    (found,) = re.findall(r'data-about="([^"]*)"[^>]*>(?:<b>)?[^<]*' + re.escape(words), html)
    return str(found)


def marks(lab: Lab) -> set[str]:
    """All ids in the picture."""
    found: list[list[Any]] = lab.picture.drawing["layout"]["meta"]["marks"]
    return {id for ids, *_ in found for id in ids.split()}


def test_every_line_of_the_transcript_says_what_it_is_about(lab: Lab) -> None:
    said = lab.transcript.value
    assert about(said, "0 the start") == "0"
    assert about(said, "6 deliver alter-partition") == "6"
    changed = about(said, "± ISR of orders-0 {1} -&gt; {1, 2}")
    assert changed.startswith("6.")
    assert changed in marks(lab)


def test_sentences_and_log_lines_say_the_same(lab: Lab) -> None:
    lab.folds.open(FOLD)
    said = lab.telling.text.value
    assert about(said, "ISR of orders-0 {1} -&gt; {1, 2}") == about(
        lab.transcript.value, "± ISR of orders-0 {1} -&gt; {1, 2}"
    )
    assert about(said, "in the controller log, INFO ReplicationControlManager: Fencing") in marks(
        lab
    )


def test_neither_words_nor_marks_are_about_what_comes(lab: Lab) -> None:
    lab.folds.open(FOLD)
    told = {
        id
        for html in (lab.transcript.value, lab.telling.text.value)
        for ids in ABOUT.findall(html)
        for id in ids.split()
    }
    assert {int(id.split(".")[0]) for id in told | marks(lab)} == set(range(7))


def test_the_sentences_can_be_searched_without_asking_the_kernel(lab: Lab) -> None:
    assert any(isinstance(part, Finder) for part in lab.telling.box.everything())
    assert Finder.heeds == ()


def test_the_page_knows_when_another_run_is_told(lab: Lab) -> None:
    guide = lab.guide.element
    first = guide.run
    lab.seek(2)
    assert (guide.run, guide.at) == (first, 2)
    lab.do("crash 1")
    assert guide.run != first
    second = guide.run
    lab.switch("903", True)
    assert guide.run != second


@pytest.mark.parametrize(
    "name",
    every_play(),
)
def test_ids_and_marks_are_a_small_part(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = kiplab.Lab(name)
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(lab.box, "send", sent.append)
    lab.seek(lab.playback.last)
    whole = json.dumps(sent)
    drawn = json.dumps(lab.picture.drawing["layout"]["meta"]["marks"])
    ids = sum(map(len, re.findall(r' data-about=\\"[^"]*\\"', whole)))
    assert len(drawn) + ids < (len(whole) - len(drawn) - ids) * GROWTH_MAX

"""What a lecturer shows: the marks of the notebooks become pictures, slides, cards and pages."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, exercise
from kiplab.classroom.exercises.race import EVENTS, LETTERS
from kiplab.classroom.on_stage import picture_pages, slides_and_cards
from kiplab.classroom.on_stage.marked_cells import KEY_PICTURE, SLIDE, Cells, lab_cells, marked
from kiplab.classroom.on_stage.picture_pages import KeyPicture, key_pictures, painted, snippets_of
from kiplab.classroom.on_stage.slides_and_cards import card_sets, deck, slides
from kiplab.cli import handout_command
from kiplab.figures.drawing.svg import draws, svg
from kiplab.figures.drawing.theme import dark_of_light
from kiplab.machine import LackingError
from tests.conftest import Command
from tests.labs.running import LABS, NAMES
from tests.repeated import in_long

PLAYS = (
    *("timeline-first", "isr-stale-member", "timeline-first", "alter-partition-mended"),
    *("kafka-14139", "903-late-fetch", "unclean-election-short", "380-stale-stop-replica"),
    *("343-stale-leader", "isr-two-of-three-explored", "fleet-story", "hole-never-level"),
    *("elr-last-replica", "play"),
)
STORIES = {name[:2]: play for name, play in zip(NAMES, PLAYS, strict=True)}
"""By lab, the play that its first key picture tells."""
LIGHT_ONLY = {*dark_of_light()} - {*dark_of_light().values()}


def cells_of(lab: str) -> Cells:
    """The cells of a lab by its number."""
    (name,) = (name for name in NAMES if name.startswith(lab))
    return lab_cells(LABS / f"{name}.ipynb")


def pictures_of(lab: str) -> list[KeyPicture]:
    lacks: list[Exception] = []
    found = list(key_pictures(cells_of(lab), lacks))
    assert lacks == []
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_lab_is_marked_for_its_story_and_a_deck(name: str) -> None:
    cells = cells_of(name[:2])
    kinds = {cell.slide for cell in cells}
    assert kinds <= {"", "-", "slide", "subslide", "fragment", "notes", "skip"}
    assert any(KEY_PICTURE in cell.marks and SLIDE in cell.marks for cell in cells)
    assert cells[0].slide == "slide"


SOME = ["04-kafka-14139", *in_long(name for name in NAMES if name[:2] != "04")]
"""Labs that are tried: `make test` tries one."""


@pytest.mark.parametrize("name", SOME)
def test_a_key_picture_is_of_the_labs_story_and_says_what_it_shows(name: str) -> None:
    first, *others = pictures_of(name[:2])
    assert first.picture.runs[0].stage.play.name == STORIES[name[:2]]
    assert first.name.startswith(f"{name[:2]}-{STORIES[name[:2]]}-")
    for each in (first, *others):
        light, dark = (svg(painted(each.picture, theme)) for theme in ("light", "dark"))
        assert draws(each.picture.drawing)
        assert each.caption.count(".") >= len(each.picture.runs)
        assert "<title>" in light
        assert "<desc>" in light
        assert [color for color in LIGHT_ONLY if f"fill:{color}" in dark] == []


@pytest.mark.parametrize("name", SOME)
def test_a_deck_has_eight_to_fifteen_slides_and_no_code(name: str) -> None:
    cells = cells_of(name[:2])
    shown = list(slides(cells, []))
    assert 8 <= [kind for kind, _ in shown].count("slide") <= 15
    assert "## Your prediction" in "\n".join(text for _, text in shown)
    assert [text for _, text in shown if "kiplab.explain(" in text or "](#" in text] == []
    page = deck(cells, [])
    loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"', page)
    assert sorted(loaded) == ["reveal.js/dist/reveal.css", "reveal.js/dist/reveal.js"]
    assert re.findall(r'<img(?![^>]* alt="[^"])', page) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_slide_with_an_answer_comes_after_a_slide_with_its_question(name: str) -> None:
    on_slides = [cell for cell in cells_of(name[:2]) if cell.slide]
    asks = re.compile(r'(?:predict|check|what_if)\(\s*"([^"]+)"')
    cells = cells_of(name[:2])
    asked_under = {id: cell.heading for cell in cells for id in asks.findall(cell.source)}
    for place, cell in enumerate(on_slides):
        for id in re.findall(r'\b(?:after|explain)\(\s*"([^"]+)"', cell.source):
            under = asked_under[
                id.removeprefix("fleet/what-if-").upper() if "what-if" in id else id
            ]
            assert under in [before.heading for before in on_slides[:place]], cell.id


def cards_of(lab: str, heading: str) -> dict[str, str]:
    """The texts of one exercise's cards by their labels."""
    sets = card_sets(cells_of(lab), [])
    return dict(card for title, cards in sets if heading in title for card in cards)


def test_the_cards_of_lab_04_are_the_events_that_are_put_in_order() -> None:
    texts = {letter: EVENTS[name][0] for letter, name in LETTERS.items()}
    assert cards_of("04", "lose the data yourself") == texts
    assert [*cards_of("04", "five moments")][:5] == [*exercise("kafka-14139/five-moments").letters]


def test_the_cards_of_a_schedule_are_the_lines_of_its_play() -> None:
    plays = exercise("isr/schedules").plays
    cards = cards_of("01", "which schedules commit")
    assert [*cards] == [*plays]
    for letter in "ABF":
        lines = plays[letter].replace(" orders-0 count=10", "").split("; ")
        assert re.sub(r" \(.*", "", cards[letter]) == " · ".join(lines)


@pytest.mark.parametrize(
    ("lab", "heading", "id"),
    [
        ("02", "twelve events", "epochs/twelve"),
        ("02", "what gives it away", "epochs/fences"),
        ("03", "eight requests", "conversation/first-rule"),
        ("06", "RECOVERING", "recovery/requests"),
        ("08", "two processes", "heartbeats/incarnations"),
    ],
)
def test_every_part_of_an_exercise_has_a_card(lab: str, heading: str, id: str) -> None:
    cards = cards_of(lab, heading)
    assert len(cards) == exercise(id).points
    assert all(cards.values())


def test_a_what_if_is_a_card_and_a_rule_is_a_door() -> None:
    asked = [e.question for e in EXERCISES if e.what_if is not None]
    assert [" · ".join(card) for card in cards_of("10", "what-ifs").items()] == asked
    assert sorted(cards_of("03", "Nine rules")) == sorted(
        exercise("conversation/first-rule").letters
    )


@pytest.mark.parametrize("name", SOME)
def test_what_one_copies_runs_what_the_picture_shows(
    name: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for each in pictures_of(name[:2]):
        if not each.picture.runs:
            continue
        page, shell, python = snippets_of(each)
        assert page.startswith(f'<iframe src="{each.name}.html" title=')
        ends = [run.sentence for run in each.picture.runs]
        _, said, _ = command(*shlex.split(shell.replace(f"{each.name}.html", "x.txt"))[1:])
        assert said.count(": ") == 1 + len(ends)
        assert [end for end in ends if end not in said] == []
        assert eval(python, {"kiplab": kiplab}).layout.meta["description"]


def test_a_cell_runs_only_the_lines_above_that_it_needs(tmp_path: Path) -> None:
    sources = ["import kiplab", "n = 1\nbroken = 1 / 0", "for m in (2, 3):\n    n += m", "str(n)"]
    code = [
        {"cell_type": "code", "id": s, "metadata": {"tags": ["cards"]}, "source": [s]}
        for s in sources
    ]
    notebook = tmp_path / "00-x.ipynb"
    notebook.write_text(json.dumps({"cells": code}))
    *_, last = cells = lab_cells(notebook)
    only_last = (*(cell._replace(marks=frozenset()) for cell in cells[:-1]), last)
    assert [*marked(only_last, "cards", [])] == [(last, "6")]


def test_what_a_machine_lacks_is_said_and_the_rest_is_written(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lack(*_: object) -> Any:
        raise LackingError("There is no Chromium here.", "Install one.")

    monkeypatch.setattr(picture_pages, "draw_in_browser", lack)
    monkeypatch.setattr(slides_and_cards, "pinned_reveal", lack)
    code, said, err = command("figures", "-o", tmp_path, "11", "--json")
    assert (code, err) == (3, "kiplab: left out: There is no Chromium here. Install one.\n")
    report = json.loads(said)
    assert report["left_out"] == ["There is no Chromium here. Install one."]
    assert {path.name for path in tmp_path.iterdir()} == {*report["files"]}
    assert {"index.html", "cards.html", "11-hole-never-level-on-3.5.dark.svg"} <= {*report["files"]}


def test_a_lab_that_there_is_none_of_is_named(tmp_path: Path, command: Command) -> None:
    code, _, err = command("figures", "-o", tmp_path / "out", "99")
    assert code == 2
    assert err.startswith("kiplab: there is no lab '99'; there are 00-start, 01-isr")
    assert not (tmp_path / "out").exists()


def test_the_pages_of_a_gallery_share_one_engine_and_can_be_changed(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_pages, "write_engine", lambda _: 5_800_000)
    monkeypatch.setattr(picture_pages, "names", lambda: ("kafka-14139",))
    monkeypatch.setattr(handout_command, "shipped_labs", lambda: one_lab(tmp_path / "labs"))
    code, said, _ = command("gallery", "-o", tmp_path / "out")
    assert (code, said.split(": ")[1][:21]) == (0, "5 files; begin with /")
    index, page = (
        (tmp_path / "out" / name).read_text() for name in ("index.html", "kafka-14139.html")
    )
    assert 'data-opens="04-kafka-14139-on-3.4.html"' in index
    assert '<a href="kafka-14139.html">kafka-14139</a>: Broker 2 dies' in index
    assert page.count('id="kiplab-live"') == 1
    assert (tmp_path / "out" / "plotly.min.js").is_file()
    assert re.findall(r'(?:src|href)="(?:https?:)?//', index) == []


def one_lab(folder: Path) -> Path:
    """A folder with lab 04 alone."""
    folder.mkdir()
    (folder / "04-kafka-14139.ipynb").symlink_to(LABS / "04-kafka-14139.ipynb")
    return folder

"""A panel as a page sees it: the whole tree once, then patches; and what the page says back."""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

import kiplab
from kiplab.widgets.elements import kinds
from kiplab.widgets.elements import surface as surfaces
from kiplab.widgets.elements.labelled import button, column, row, words
from kiplab.widgets.elements.surface import Surface

PAGE = Path(surfaces.__file__).with_name("page")
MODELS_MAX = 120


class Page:
    """A browser's side of a surface: what it was given, and what it makes of every message."""

    def __init__(self, surface: Surface, monkeypatch: pytest.MonkeyPatch) -> None:
        self.surface = surface
        self.tree: dict[str, Any] = surface.get_state()["tree"]
        self.messages: list[dict[str, Any]] = []
        monkeypatch.setattr(surface, "send", self.take)

    def take(self, message: dict[str, Any]) -> None:
        self.messages.append(message)
        if "tree" in message:
            self.tree = message["tree"]
        if "patch" in message and message["number"] == self.tree["number"] + 1:
            self.tree["number"] = message["number"]
            for id, traits in message["patch"].items():
                self.tree["parts"].setdefault(id, {}).update(traits)

    def does(self, part: kinds.Element, name: str, value: Any = None, *buffers: bytes) -> None:
        content = {"part": part.id, "name": name, "value": value, "by": "1"}
        self.surface._receive(self.surface, content, list(buffers))

    def seen(self) -> list[tuple[str, dict[str, Any]]]:
        """The parts that are shown, in reading order."""
        return list(self._below(self.tree["root"]))

    def _below(self, id: str) -> Iterator[tuple[str, dict[str, Any]]]:
        part = self.tree["parts"][id]
        yield id, part
        for child in part.get("children", ()):
            yield from self._below(child)

    def is_in_step(self) -> bool:
        """Whether it shows what a page would show that is loaded now."""
        fresh = self.surface.described()
        return all(fresh["parts"][id] == part for id, part in self.seen()) and set(
            fresh["parts"]
        ) == {id for id, _ in self.seen()}


PageOf = Callable[[kinds.Element], Page]


@pytest.fixture
def page_of(monkeypatch: pytest.MonkeyPatch) -> PageOf:
    """A page that shows a part from its beginning."""
    return lambda root: Page(Surface(root), monkeypatch)


def pressed(name: str, seen: list[str]) -> kinds.Button:
    return button(name, lambda: seen.append(name))


def test_a_page_is_given_every_kind_once(page_of: PageOf) -> None:
    first, second = words("one"), words("two")
    page = page_of(column([first, row([second])]))
    assert [part["kind"] for _, part in page.seen()] == ["box", "words", "box", "words"]
    assert page.tree["parts"][second.id]["value"] == "two"


def test_what_changes_is_sent_and_nothing_else(page_of: PageOf) -> None:
    first, second = words("one"), words("two")
    page = page_of(column([first, second]))
    second.value = "three"
    second.value = "three"
    assert page.messages == [{"patch": {second.id: {"value": "three"}}, "number": 1}]
    assert page.is_in_step()


def test_what_changes_together_is_one_message(page_of: PageOf) -> None:
    first, second = words("one"), words("two")
    page = page_of(column([first, second]))
    with page.surface.batch():
        first.value, second.layout.display = "1", "none"
        first.add_class("loud")
    assert len(page.messages) == 1
    assert page.is_in_step()


def test_parts_that_come_are_described_and_those_that_go_are_silent(page_of: PageOf) -> None:
    seen: list[str] = []
    old, new = pressed("old", seen), pressed("new", seen)
    box = column([old])
    page = page_of(box)
    box.children = (words("first"), new)
    assert page.is_in_step()
    page.does(old, "press")
    page.does(new, "press")
    assert seen == ["new"]
    page.messages.clear()
    old.description = "nobody sees it"
    assert page.messages == []


def test_a_part_that_comes_back_is_as_it_is_by_then(page_of: PageOf) -> None:
    told = words("before")
    box = column([told])
    page = page_of(box)
    box.children = ()
    told.value = "meanwhile"
    box.children = (told,)
    assert page.is_in_step()


def test_a_part_may_move_to_another_box_and_a_box_with_what_is_in_it(page_of: PageOf) -> None:
    inner, outer, moving = column([]), column([]), words("moving")
    root = column([inner, outer, column([moving])])
    page = page_of(root)
    for left, right, top in (
        ([moving], [], (inner, outer, column([]))),
        ([], [inner], (outer, moving)),
        ([words("new")], [moving], (inner, outer)),
        ([], [], ()),
        ([moving], [inner], (outer,)),
    ):
        with page.surface.batch():
            root.children, inner.children, outer.children = top, tuple(left), tuple(right)
        assert page.is_in_step()
        moving.value += "."
        assert page.is_in_step()


def test_a_missed_patch_brings_everything(page_of: PageOf, monkeypatch: pytest.MonkeyPatch) -> None:
    told = words("one")
    page = page_of(told)
    monkeypatch.setattr(page.surface, "send", lambda _message: None)
    told.value = "two"
    monkeypatch.setattr(page.surface, "send", page.take)
    told.value = "three"
    assert page.tree["parts"][told.id]["value"] == "one"
    page.surface._receive(page.surface, {"hello": 0}, [])
    assert page.tree["parts"][told.id]["value"] == "three"
    assert page.is_in_step()


def test_nothing_missed_is_nothing_told(page_of: PageOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Surface, "places", {})
    page = page_of(words("one"))
    page.surface._receive(page.surface, {"hello": 0}, [])
    assert page.messages == []


def test_what_is_told_to_all_pages_is_told_once_and_to_those_that_come_later(
    page_of: PageOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Surface, "places", {})
    page = page_of(words("one"))
    page.surface._receive(page.surface, {"hello": 0}, [])
    for _ in range(2):
        Surface.tell_pages("epochs/fences", "This is open now.")
    said = {"places": {"epochs/fences": "This is open now."}}
    assert page.messages == [said]
    late = page_of(words("two"))
    late.surface._receive(late.surface, {"hello": 0}, [])
    assert late.messages == [said]


def test_every_press_is_answered_also_one_that_fails(page_of: PageOf) -> None:
    def fails() -> None:
        raise RuntimeError("<a bug>")

    part = button("Break it", fails)
    page = page_of(part)
    with pytest.raises(RuntimeError):
        page.does(part, "press")
    assert page.messages[-1] == {"done": "1"}


def test_a_press_that_was_on_its_way_when_the_button_went_off_does_nothing(page_of: PageOf) -> None:
    seen: list[str] = []
    part = pressed("go", seen)
    page = page_of(part)
    part.disabled = True
    page.does(part, "press")
    assert seen == []


def test_what_the_kernel_makes_of_a_value_goes_back(page_of: PageOf) -> None:
    number = kinds.WholeNumber(min=1, max=10, value=5)
    page = page_of(number)
    page.does(number, "value", 400)
    assert page.tree["parts"][number.id]["value"] == 10


def test_a_page_cannot_set_what_is_not_the_readers(page_of: PageOf) -> None:
    text = kinds.Text(description="name", value="me")
    page = page_of(text)
    page.does(text, "description", "forged")
    page.does(text, "layout", "forged")
    assert text.description == "name"
    page.does(text, "value", "you")
    assert text.value == "you"


def test_a_choice_is_known_to_a_page_by_its_place(page_of: PageOf) -> None:
    menu = kinds.Dropdown(description="acks", options=(("all of them", -1), ("one", 1)))
    assert menu.value == -1
    page = page_of(menu)
    assert page.tree["parts"][menu.id]["options"] == ["all of them", "one"]
    page.does(menu, "value", 1)
    assert menu.value == 1
    menu.options = (("two", 2), ("three", 3))
    assert menu.value == 2
    page.does(menu, "value", 7)
    assert menu.value == 2
    assert page.is_in_step()


def test_a_question_has_no_answer_of_its_own() -> None:
    question = kinds.Radio(options=("yes", "no"))
    assert question.value is None
    with pytest.raises(ValueError, match="'perhaps' is not among the options"):
        question.value = "perhaps"


def test_a_file_comes_with_its_bytes(page_of: PageOf) -> None:
    files: list[tuple[str, bytes]] = []
    upload = kinds.Upload(lambda *file: files.append(file), description="Choose a file")
    page = page_of(upload)
    page.does(upload, "file", {"name": "mine.play"}, b"broker 1")
    assert files == [("mine.play", b"broker 1")]


def test_a_player_says_where_it_is_and_that_it_came_to_its_end(page_of: PageOf) -> None:
    player = kinds.Player(max=3, playing=True)
    page = page_of(player)
    page.does(player, "value", 3)
    page.does(player, "playing", False)
    assert (player.value, player.playing) == (3, False)


def test_a_position_stays_between_the_ends_also_when_these_move() -> None:
    slider = kinds.Slider(max=11, value=40)
    assert slider.value == 11
    slider.max = 5
    assert slider.value == 5
    slider.value = -3
    assert slider.value == 0


def test_how_a_part_lies_is_told_in_css(page_of: PageOf) -> None:
    slider = kinds.Slider(layout=kinds.Style(min_width="160px"))
    page = page_of(slider)
    slider.layout.flex = "1 1 auto"
    assert page.tree["parts"][slider.id]["style"] == {"min-width": "160px", "flex": "1 1 auto"}
    slider.layout = kinds.Style(width="1em")
    assert page.tree["parts"][slider.id]["style"] == {"width": "1em"}


def test_no_two_files_of_a_pages_code_give_a_name_to_two_things() -> None:
    """They are read as one module, which a browser refuses if there are."""
    code = surfaces.Surface.code.default_value
    names = re.findall(r"^(?:const|let|function|class) (\w+)", code, re.MULTILINE)
    twice = {name for name in names if names.count(name) > 1}
    assert len(names) > 50
    assert not twice, f"call one of them otherwise: {twice}"


def every_part(kind: type[kinds.Element]) -> Iterator[type[kinds.Element]]:
    """A kind of element that the package has, and those made from it."""
    if kind.__module__.startswith("kiplab."):
        yield kind
    for made in kind.__subclasses__():
        yield from every_part(made)


def test_a_page_can_draw_every_kind_of_part() -> None:
    offered = {kind for part in every_part(kinds.Element) if (kind := getattr(part, "kind", None))}
    drawn = surfaces.Surface.code.default_value
    table = re.search(r"const KINDS = \{(.*?)\};", drawn, re.DOTALL)
    assert table is not None
    known = set(re.findall(r"^\s*(\w+)", table[1], re.MULTILINE))
    known |= set(re.findall(r"^KINDS\.(\w+) =", drawn, re.MULTILINE))
    assert offered == known, "write how page/controls.js makes and paints it, and name it in KINDS"


def opened(monkeypatch: pytest.MonkeyPatch, make: Any) -> int:
    """How many models a page is sent for what `make` makes."""
    count = 0
    open_model = ipywidgets.Widget.open

    def counted(widget: ipywidgets.Widget) -> None:
        nonlocal count
        count += 1
        open_model(widget)

    monkeypatch.setattr(ipywidgets.Widget, "open", counted)
    make()
    return count


def test_a_lab_is_few_models_also_with_every_panel_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def walk() -> None:
        lab = kiplab.Lab("kafka-14139")
        for title in lab.folds.headings:
            lab.folds.open(title)
        lab.inject.clients.watched.toggle.value = True
        for partition in lab.inject.partitions.values():
            partition.more.toggle.value = True
        for step in range(lab.playback.last + 1):
            lab.seek(step)
        lab.do("crash 1")
        lab.load("last-replica")

    assert 0 < opened(monkeypatch, walk) <= MODELS_MAX


def test_the_first_lab_opens_as_three_models_and_all_its_steps_are_less_than_a_megabyte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """plotly.js is one of the three, sent once for a kernel."""
    labs: list[kiplab.Lab] = []
    make = partial(kiplab.Lab, "timeline-first", controls="step")
    assert opened(monkeypatch, lambda: labs.append(make())) <= 3
    (lab,) = labs
    page, steps = Page(lab.box, monkeypatch), range(lab.playback.last + 1)
    page.does(lab.reel, "sheets", [lab.reel.edition, *steps])
    assert len(lab.reel.sheets["steps"]) == len(steps)
    assert len(json.dumps([page.tree, page.messages])) < 1_000_000


@pytest.mark.parametrize(
    "make",
    [
        lambda: kiplab.predict("a/b", "What happens?", ["this", "that"]),
        lambda: kiplab.Ordering().check(),
        lambda: kiplab.AnswerSheet().check(),
    ],
)
def test_a_question_and_an_exercise_are_fewer(monkeypatch: pytest.MonkeyPatch, make: Any) -> None:
    assert 0 < opened(monkeypatch, make) <= 20

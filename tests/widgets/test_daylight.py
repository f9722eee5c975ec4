"""The page tells its theme and pictures follow; without a browser the test tells it."""

from html import unescape
from typing import Any
from urllib.parse import unquote

import pytest

import kiplab
from kiplab.explore.matrix.cells import Matrix
from kiplab.figures.drawing.theme import DARK, LIGHT, Theme, theme_of
from kiplab.figures.matrix_chart import colors_of
from kiplab.matrices import matrix
from kiplab.widgets.elements.kinds import PlotlyPicture
from kiplab.widgets.elements.surface import Surface
from kiplab.widgets.lab import Lab
from kiplab.widgets.matrix_view import MatrixView
from tests.widgets.hands import fails, hear

PLAY = "kafka-14139"
Shown = dict[str, Any]


@pytest.fixture(autouse=True)
def no_page_has_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Surface.seen_last, "theme", "light")


@pytest.fixture(scope="module")
def found() -> Matrix:
    return matrix(PLAY, guards=("903",), writes=1, processes=1)


def tell(widget: Any, theme: str) -> None:
    """What the browser sends when the page has that theme."""
    hear(widget, {"theme": theme})


def shown(picture: PlotlyPicture) -> Shown:
    """Everything that has a colour in a figure."""
    figure = picture.drawing
    layout = figure["layout"]
    keys = ("paper_bgcolor", "plot_bgcolor", "font", "hoverlabel", "shapes")
    seen = {key: layout[key] for key in keys}
    return {**seen, "words": [trace.get("textfont") for trace in figure["data"]]}


def paper(lab: Lab) -> Theme:
    """The theme whose paper the lab's picture is on."""
    color = lab.picture.drawing["layout"]["paper_bgcolor"]
    return next(theme for theme in (LIGHT, DARK) if theme.paper == color)


def displayed(widget: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """The still picture that a cell keeps, as SVG."""
    published: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: published.append(data))
    widget._ipython_display_()
    return _image(published[-1]["text/html"])


def _image(html: str) -> str:
    return unquote(unescape(html.split("charset=utf-8,")[1].split('"')[0]))


# --- a Lab ----------------------------------------------------------------------------------------


def test_where_no_page_tells_it_is_light(lab: Lab) -> None:
    assert shown(lab.picture) == shown(kiplab.Lab(PLAY, theme="light").picture)


def test_on_a_dark_page_all_is_as_if_it_had_been_asked_for(lab: Lab) -> None:
    lab.seek(6)
    tell(lab, "dark")
    asked = kiplab.Lab(PLAY, theme="dark")
    asked.seek(6)
    assert shown(lab.picture) == shown(asked.picture)
    assert paper(lab) is DARK


def test_step_branch_and_range_stay_when_the_page_turns_and_turns_back(lab: Lab) -> None:
    lab.seek(6)
    lab.do("crash 1")
    lab.folds.open("What the picture shows")
    lab.view_controls.first.value = 3
    before, where, figure = shown(lab.picture), (lab.branch, lab.playback.at), lab.picture
    span = figure.drawing["layout"]["xaxis"]["range"]
    tell(lab, "dark")
    assert shown(lab.picture) != before
    assert (lab.branch, lab.playback.at) == where
    assert figure.drawing["layout"]["xaxis"]["range"] == span
    tell(lab, "light")
    assert shown(lab.picture) == before
    assert lab.picture is figure


def test_later_steps_and_other_plays_keep_to_the_page(lab: Lab) -> None:
    tell(lab, "dark")
    lab.seek(8)
    assert paper(lab) is DARK
    lab.load("last-replica")
    assert paper(lab) is DARK


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_was_asked_for_wins(theme: str) -> None:
    lab = kiplab.Lab(PLAY, theme=theme)
    tell(lab, "dark")
    tell(lab, "light")
    assert paper(lab) is theme_of(theme)
    assert not any(name.startswith("kiplab-drawn") for name in lab.box.root.classes)


def test_a_theme_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(ValueError, match="'pink'; the themes are light, dark, auto"):
        kiplab.Lab(PLAY, theme="pink")


def test_the_next_lab_of_a_dark_notebook_begins_dark(lab: Lab) -> None:
    tell(lab, "dark")
    assert paper(kiplab.Lab(PLAY)) is DARK
    assert paper(kiplab.Lab(PLAY, theme="light")) is LIGHT


def test_a_lab_that_waits_has_listened_when_it_opens() -> None:
    class Lock:
        locked = False

        def when_locked(self, then: Any) -> None:
            self.then = then

        def passed(self, heading: str) -> None:
            raise AssertionError(heading)

    lock = Lock()
    lab = kiplab.Lab(PLAY, after=lock)
    assert "First lock in your prediction" in lab._root.children[0].value
    assert "First lock in" in repr(lab)
    tell(lab, "dark")
    lock.locked = True
    lock.then()
    assert paper(lab) is DARK
    tell(lab, "light")
    assert paper(lab) is LIGHT


def test_the_style_sheet_knows_which_theme_was_painted(lab: Lab) -> None:
    def classes() -> list[str]:
        return [name for name in lab.box.root.classes if name.startswith("kiplab-drawn")]

    assert classes() == ["kiplab-drawn-light"]
    tell(lab, "dark")
    assert classes() == ["kiplab-drawn-dark"]


def test_two_branches_compared_turn_with_the_page(lab: Lab) -> None:
    lab.seek(3)
    lab.do("fail-over")
    lab.folds.open("Branches")
    lab.branching.which.value = 1
    lab.branching.compare.click()
    comparison = lab.branching.comparison.box
    picture = comparison.children[1]
    tell(lab, "dark")
    assert comparison.children[1] is picture
    assert picture.drawing["layout"]["paper_bgcolor"] == DARK.paper
    painted = shown(picture)
    lab.branching.comparison.repaint()
    assert shown(picture) == painted


def test_a_picture_that_cannot_be_painted_is_said_and_stays(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lab.seek(3)
    with monkeypatch.context() as broken:
        broken.setattr("kiplab.widgets.controls.branches.BranchComparison.repaint", fails)
        tell(lab, "dark")
    assert "Something went wrong inside kiplab" in lab.note.value
    assert "Traceback" in caplog.text
    assert lab.playback.at == 3


@pytest.mark.parametrize(("theme", "kept"), [("auto", LIGHT), ("dark", DARK)])
def test_what_the_notebook_keeps_is_light_unless_asked(
    theme: str, kept: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = kiplab.Lab(PLAY, theme=theme)
    tell(lab, "dark")
    same = kiplab.Lab(PLAY, theme=kept.name)
    assert displayed(lab, monkeypatch) == displayed(same, monkeypatch)
    assert paper(lab) is DARK


def test_the_matrix_and_its_counterexample_turn_too(found: Matrix) -> None:
    view = MatrixView(found)
    cell = found.cell("903")
    view.open("903")
    light = view.below.value
    tell(view, "dark")
    style = view.buttons[cell.off].layout
    assert (style.background, style.color) == colors_of(found, DARK)[cell.word, cell.steps]
    assert DARK.paper in _image(view.below.value)
    assert LIGHT.paper in _image(light)
    tell(view, "light")
    assert view.below.value == light
    dark = MatrixView(found, theme="dark").buttons[cell.off].layout
    assert (dark.background, dark.color) == colors_of(found, DARK)[cell.word, cell.steps]

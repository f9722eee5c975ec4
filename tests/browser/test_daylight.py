"""Pictures follow JupyterLab's theme: at once, when it changes, and back.

The tests share the page and go in the order in which they stand.
"""

import json

import pytest
from playwright.sync_api import Locator, expect

from kiplab.figures.drawing.theme import DARK, LIGHT, Theme
from tests.browser.conftest import Student
from tests.browser.controls import FOLDS, PREDICTION, PROPERTIES, REASONS, Hands
from tests.browser.lab_page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.long(quick="tests/widgets/test_daylight.py")]

ASKED = 'asked = kiplab.Lab("kafka-14139", theme="light")\nasked'
MATRIX = """found = kiplab.matrix("kafka-14139", guards=("903",), writes=1, processes=1)
map_ = found.view()
map_.open("903")
map_"""
RUNS = "*(kiplab.run('kafka-14139', kafka=kafka) for kafka in ('3.4', '3.5'))"
TWIN = f"kiplab.twin({RUNS}, width=840)"
LIGHT_TWIN = f"kiplab.twin({RUNS}, width=840, theme='light')"
LAYOUT = """(element, key) => element.closest('.js-plotly-plot')._fullLayout[key]"""


@pytest.fixture(scope="module")
def hands(lab: LabPage, student: Student) -> Hands:
    """The Lab, a Lab that was asked to be light, and a matrix; opened on a dark page."""
    (student.folder / "kiplab-work.json").write_text(json.dumps({"predictions": PREDICTION}))
    lab.darken()
    lab.rewrite("compare", ASKED)
    lab.rewrite("twin", MATRIX)
    lab.rewrite("strip", TWIN)
    lab.rewrite("story", LIGHT_TWIN)
    lab.run("setup", "lock", "lab", "compare", "twin", "strip", "story")
    made = Hands(lab)
    expect(sheet(made)).to_be_visible()
    return made


def sheet(hands: Hands, cell: str = "lab", which: int = 0) -> Locator:
    """The picture's paper."""
    return hands.page.cell(cell).locator(".js-plotly-plot").nth(which).locator(".main-svg").first


def rgb(color: str) -> str:
    """``#ff0000`` as a page says it."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


def expect_theme(paper: Locator, theme: Theme) -> None:
    """Paper and plot are the theme's, and can be seen."""
    expect(paper).to_have_css("background-color", rgb(theme.paper))
    expect(paper).to_be_visible()
    assert paper.evaluate(LAYOUT, "plot_bgcolor") == theme.paper
    assert paper.evaluate(LAYOUT, "font")["color"] == theme.text
    assert paper.evaluate(LAYOUT, "hoverlabel")["bgcolor"] == theme.box


def cell_color(hands: Hands) -> str:
    button = hands.page.cell("twin").get_by_role("button", name="●").first
    return str(button.evaluate("button => getComputedStyle(button).backgroundColor"))


def test_on_a_dark_page_it_opens_dark(hands: Hands) -> None:
    expect_theme(sheet(hands), DARK)


def test_what_was_asked_for_stays(hands: Hands) -> None:
    expect_theme(sheet(hands, "compare"), LIGHT)


def test_it_turns_light_and_dark_again_and_keeps_step_and_range(hands: Hands) -> None:
    hands.at(6)
    hands.press("What the picture shows")
    hands.fill("first step", "2")
    hands.fill("last step", "9")
    hands.page.python("pass")
    span = sheet(hands).evaluate(LAYOUT, "xaxis")["range"]
    for turn, theme in ((hands.page.lighten, LIGHT), (hands.page.darken, DARK)):
        turn()
        expect_theme(sheet(hands), theme)
        expect_theme(sheet(hands, "compare"), LIGHT)
        expect(hands.verdict).to_contain_text("Step 6 of 11")
        assert sheet(hands).evaluate(LAYOUT, "xaxis")["range"] == span
    hands.press("Show everything", "What the picture shows")


def test_the_matrix_turns_with_its_counterexample(hands: Hands) -> None:
    picture = hands.page.cell("twin").locator(".kiplab-still img").first
    dark, still = cell_color(hands), picture.get_attribute("src")
    hands.page.lighten()
    expect(picture).not_to_have_attribute("src", str(still))
    assert cell_color(hands) != dark
    hands.page.photograph("twin", "light-matrix")
    hands.page.darken()
    expect(picture).to_have_attribute("src", str(still))
    assert cell_color(hands) == dark
    hands.page.photograph("twin", "dark-matrix")


def test_a_figure_turns_with_its_hover_cards_and_one_that_was_asked_for_stays(hands: Hands) -> None:
    def expect_papers(theme: Theme) -> None:
        expect(sheet(hands, "strip")).to_have_css("background-color", rgb(theme.paper))
        expect(sheet(hands, "story")).to_have_css("background-color", rgb(LIGHT.paper))

    words = hands.page.cell("strip").locator("text", has_text="leader epoch").first
    card = hands.page.cell("strip").locator(".hoverlayer path").first
    expect_papers(DARK)
    expect(words).to_have_css("fill", rgb(DARK.muted))
    sheet(hands, "strip").hover(position={"x": 400, "y": 130})
    expect(card).to_have_css("fill", rgb(DARK.box))
    hands.page.photograph("strip", "dark-twin")
    hands.page.lighten()
    expect_papers(LIGHT)
    expect(words).to_have_css("fill", rgb(LIGHT.muted))
    hands.page.darken()
    expect_papers(DARK)


def test_two_branches_compared_turn_too(hands: Hands) -> None:
    hands.from_the_play(1)
    hands.act("Crash", "crash 2", broker=2)
    hands.press("Branches")
    hands.choose("Branch", "the play")
    hands.press("Compare with where I am")
    expect_theme(sheet(hands, which=1), DARK)
    hands.page.lighten()
    expect_theme(sheet(hands, which=1), LIGHT)


@pytest.mark.parametrize("light", [True, False], ids=["light", "dark"])
def test_every_panel_can_be_read(hands: Hands, light: bool) -> None:
    turn, theme = (hands.page.lighten, LIGHT) if light else (hands.page.darken, DARK)
    turn()
    if light:
        for heading in (*(fold for fold in FOLDS if fold != "Branches"), PROPERTIES, REASONS):
            hands.press(heading)
        hands.press("More", broker=1)
    for which in (0, 1):
        expect_theme(sheet(hands, which=which), theme)
    assert hands.page.faults('[data-cell="lab"] .jp-OutputArea-output') == []
    hands.page.photograph("lab", f"{theme.name}-panels")

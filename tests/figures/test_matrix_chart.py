"""The map of the guard matrix: every verdict in words, every cell in its place, the page."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kiplab
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.matrix.cells import Cell, Matrix
from kiplab.explore.matrix.guard_matrix import DEFAULT_GUARDS
from kiplab.figures import matrix_chart
from kiplab.figures.drawing.theme import THEMES
from kiplab.matrices import GuardMatrix, for_authors, matrix
from kiplab.pages.export import ExportError
from kiplab.pages.matrix_page import matrix_page
from tests.figures.boxes import covered, cut_off, texts

THREE = ("841", "903", "497.maximal-isr")


@pytest.fixture(scope="module")
def small() -> Matrix:
    return matrix("kafka-14139", guards=THREE, writes=1, processes=1)


@pytest.fixture(scope="module")
def large(small: Matrix) -> Matrix:
    """64 cells, made up: where everything has to find its place."""
    subsets = matrix_chart.gray(DEFAULT_GUARDS)
    cells = tuple(_made_up(n, off) for n, off in enumerate(subsets))
    return replace(small, guards=DEFAULT_GUARDS, cells=cells, seconds=1.0)


def _made_up(n: int, off: frozenset[str]) -> Cell:
    """Every verdict, and numbers as wide as they come."""
    verdict = ("proved", "refuted", "refuted", "unfinished")[n % 4]
    violated = (None, "no-committed-record-lost", "electable-holds-committed", None)[n % 4]
    return Cell(
        off=tuple(g for g in DEFAULT_GUARDS if g in off),
        on=tuple(g for g in DEFAULT_GUARDS if g not in off),
        verdict=verdict,
        violated=violated,
        steps=17 if verdict == "refuted" else None,
        states=1_444_059,
        seconds=2.0,
        play=None,
        features="3.5",
        stopped="its limit of 2 s was reached" if verdict == "unfinished" else "",
    )


def test_neighbours_differ_in_one_guard() -> None:
    subsets = matrix_chart.gray(("a", "b", "c"))
    assert len(set(subsets)) == 8
    assert subsets[0] == frozenset()
    assert all(len(one ^ other) == 1 for one, other in pairwise(subsets))


def test_a_bar_spans_where_its_guard_is_off() -> None:
    subsets = matrix_chart.gray(("a", "b", "c"))
    assert matrix_chart.stretches("a", subsets) == [(4, 7)]
    assert matrix_chart.stretches("b", subsets) == [(2, 5)]
    assert matrix_chart.stretches("c", subsets) == [(1, 2), (5, 6)]


def test_841_by_903_is_across(small: Matrix) -> None:
    seen = matrix_chart.layout_of(small)
    assert (seen.across, seen.down) == (("841", "903"), ("497.maximal-isr",))
    assert [sorted(off) for off in seen.columns] == [[], ["903"], ["841", "903"], ["841"]]
    assert small.cell(*seen.rows[0], *seen.columns[2]).off == ("841", "903")


def test_every_cell_says_its_verdict_in_words(small: Matrix) -> None:
    found = texts(matrix_chart.matrix_figure(small))
    assert found.count("<b>● proved</b>") == 1
    assert found.count("<b>■ harm in 6</b>") == 3
    assert found.count("<b>■ harm in 3</b>") == 4
    assert "minimal" in found
    assert {"KIP-841 off", "KIP-903 off", "maximal ISR off"} <= {
        word.replace("<br>", " ") for word in found
    }


def test_the_words_of_a_cell() -> None:
    cells = [_made_up(n, frozenset()) for n in range(4)]
    said = [matrix_chart.cell_words(cell) for cell in cells]
    assert said == ["● proved", "▼ loss in 17", "■ harm in 17", "○ not finished"]


@pytest.mark.parametrize("width", [700, 840, 980, 1200])
@pytest.mark.parametrize("theme", sorted(THEMES))
def test_every_word_can_be_read(large: Matrix, width: int, theme: str) -> None:
    figure = matrix_chart.matrix_figure(large, width=width, theme=theme)
    assert figure.layout.width == width
    assert not covered(figure)
    assert not cut_off(figure)
    # Every cell keeps its steps, however narrow.
    assert sum("17" in word for word in texts(figure)) == 32


def test_the_picture_says_what_it_is_about(small: Matrix) -> None:
    said_so = " ".join(texts(matrix_chart.matrix_figure(small))).replace("<br>", " ")
    assert "841, 903 and 497.maximal-isr suffice; every proper subset of them fails" in said_so
    assert "as specified" in said_so
    assert "A bar spans the columns or rows where its guard is off" in said_so
    assert "loss in N steps" not in said_so  # nothing of that kind is in the picture


def test_a_card_for_every_cell(small: Matrix) -> None:
    (cards,) = [trace for trace in matrix_chart.matrix_figure(small).data if trace.name == "cards"]
    assert len(cards.text) == 8
    assert any("without 841" in card.replace("<br>", " ") for card in cards.text)


@pytest.mark.parametrize(
    ("options", "said_so"),
    [({"theme": "red"}, "light, dark"), ({"width": 300}, "640 pixels or more")],
)
def test_what_cannot_be_drawn(small: Matrix, options: dict[str, Any], said_so: str) -> None:
    with pytest.raises(ValueError, match=said_so):
        matrix_chart.matrix_figure(small, **options)


@pytest.mark.parametrize(
    ("guard", "word"),
    [
        ("841", "KIP-841"),
        ("kip-903", "KIP-903"),
        ("497.maximal-isr", "maximal ISR"),
        ("kafka-15021", "KAFKA-15021"),
    ],
)
def test_guards_in_words(guard: str, word: str) -> None:
    assert matrix_chart.guard_word(guard) == word


def test_the_same_as_words(small: Matrix) -> None:
    assert len(matrix_chart.findings(small)) == 2
    sentences = [cell.sentence for cell in small.cells]
    assert "without 841: electable-holds-committed breaks in 6 steps, and in no fewer" in sentences
    heads, body = matrix_chart.table(small)
    assert heads[:3] == ["off", "verdict", "steps"]
    assert ["841, 903", "harm", "6"] in [line[:3] for line in body]
    assert "841, 903" in matrix_chart.text(small)
    html = matrix_chart.grid_html(small, matrix_chart.cell_words)
    assert html.count("<td>") == 8 + 1
    assert '<th scope="col">KIP-841, KIP-903 off</th>' in html


def test_every_counterexample_is_a_button_with_its_timeline(small: Matrix) -> None:
    page = matrix_page(small, include_plotlyjs=False)
    embedded = re.search(r'id="kiplab-cells">(.*?)</script>', page, re.DOTALL)
    assert embedded is not None
    views = json.loads(embedded[1])
    buttons = re.findall(r'<button [^>]*data-cell="(cell-\d+)"', page)
    assert sorted(buttons) == sorted(views)
    assert len(views) == 7
    assert all(
        "kiplab-player" in view and "kiplab play kiplab1:" in view for view in views.values()
    )
    assert 'aria-label="■ harm in 6, without 841' in page


def test_the_page_asks_nobody(small: Matrix) -> None:
    page = matrix_page(small, include_plotlyjs=False)
    assert not re.findall(r'(?:src|href)="http', page)


def test_titles_are_escaped(small: Matrix) -> None:
    odd = replace(small, title="<script>alert(1)</script>")
    assert "<script>alert" not in matrix_page(odd, include_plotlyjs=False)
    assert "<script>alert" not in " ".join(texts(matrix_chart.matrix_figure(odd)))


@pytest.mark.browser
def test_a_cell_opens_by_keyboard(small: Matrix, tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    from kiplab.pages.browser_picture import find_chromium

    chromium = find_chromium()
    if chromium is None:
        pytest.skip("no Chromium")
    file = tmp_path / "matrix.html"
    file.write_text(matrix_page(small), encoding="utf-8")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        problems: list[str] = []
        asked: list[str] = []
        page.on("pageerror", lambda problem: problems.append(str(problem)))
        page.on("request", lambda r: asked.append(r.url) if r.url.startswith("http") else None)
        page.goto(file.as_uri())
        first = page.locator("button[data-cell]").first
        first.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#kiplab-viewer .js-plotly-plot")
        assert page.evaluate("document.activeElement.tagName") == "H2"
        assert page.url.endswith("#" + str(first.get_attribute("data-cell")))
        page.get_by_role("button", name="Back to the map").click()
        assert page.evaluate("document.activeElement.dataset.cell") in page.url
        page.reload()
        page.wait_for_selector("#kiplab-viewer .js-plotly-plot")
        browser.close()
    assert (problems, asked) == ([], [])


@pytest.fixture(scope="module")
def authored(small: Matrix) -> GuardMatrix:
    return for_authors(small)


def test_a_cell_runs_as_a_run(authored: GuardMatrix) -> None:
    run = authored.run("903")
    assert run.verdict == "harm"
    assert run.report()["expectations"]["failed"] == 0
    with pytest.raises(ExploreError, match="there is no counterexample with every guard: proved"):
        authored.run()


def test_it_shows_itself(authored: GuardMatrix) -> None:
    bundle = authored._repr_mimebundle_()
    assert "kiplab-still" in bundle["text/html"]
    assert "Guard matrix of" in bundle["text/plain"]
    assert "nothing" in set(authored.table()["off"])


@pytest.mark.parametrize("suffix", [".html", ".json", ".csv", ".txt"])
def test_files(authored: GuardMatrix, tmp_path: Path, suffix: str) -> None:
    file = authored.write(tmp_path / f"m{suffix}")
    assert "electable-holds-committed" in file.read_text(encoding="utf-8")


def test_another_ending(authored: GuardMatrix, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match=r"\.html \.svg \.png"):
        authored.write(tmp_path / "m.doc")


@pytest.fixture
def view(authored: GuardMatrix) -> Any:
    return authored.view()


def test_the_view_is_a_map_of_buttons(view: Any) -> None:
    assert len(view.buttons) == 8
    assert view.buttons["841",].description == "■ harm in 6"
    view.buttons["841",].click()
    assert "Without 841" in view.below.value
    assert "data:image/svg+xml" in view.below.value
    assert "kiplab1:" in view.below.value
    view.open()
    assert "With every guard: proved" in view.below.value
    assert "data:image" not in view.below.value


def test_kiplab_has_the_names() -> None:
    found = kiplab.matrix("kafka-14139", guards="903", writes=0, processes=1)
    assert isinstance(found, GuardMatrix)
    assert found.minimal == [["903"]]
    assert found.redundant == []
    assert "903 suffices" in found.sentence

"""The guard matrix in a notebook: the map first, and a cell where one looks."""

from html import unescape

import pytest

from kiplab.explore.matrix.cells import Matrix
from kiplab.figures.drawing.theme import DARK, LIGHT
from kiplab.figures.matrix_chart import findings, key
from kiplab.matrices import matrix
from kiplab.widgets.elements.kinds import Html
from kiplab.widgets.elements.surface import Surface
from kiplab.widgets.matrix_view import MatrixView


@pytest.fixture(scope="module")
def found() -> Matrix:
    return matrix("kafka-14139", guards=("903", "841"), writes=1, processes=1)


@pytest.fixture
def view(found: Matrix, monkeypatch: pytest.MonkeyPatch) -> MatrixView:
    monkeypatch.setitem(Surface.seen_last, "theme", "light")
    return MatrixView(found)


def texts(view: MatrixView) -> list[str]:
    """All words in the order in which they stand; a button's by itself."""
    parts = view.box.root.everything()
    return [unescape(p.value) for p in parts if isinstance(p, Html) and p.value]


def test_the_map_comes_first_and_one_line_above_it(view: MatrixView) -> None:
    (title, grid, *told) = view.box.root.children
    assert isinstance(title, Html)
    assert "Which rules are enough?" in title.value
    assert grid is view.grid
    assert len(told) >= 4


def test_it_says_what_paleness_and_frames_mean(view: MatrixView, found: Matrix) -> None:
    said = " ".join(texts(view))
    assert key(found) in said
    assert "The paler, the more steps." in said
    assert "A frame: a minimal sufficient set of guards." in said
    assert all(line in said for line in findings(found))


def test_minimal_cells_are_framed_and_say_so(found: Matrix) -> None:
    for theme in (LIGHT, DARK):
        view = MatrixView(found, theme=theme.name)
        framed = {off: b for off, b in view.buttons.items() if b.layout.border is not None}
        assert sorted(sorted(found.cell(*off).on) for off in framed) == sorted(
            map(sorted, found.minimal)
        )
        assert framed
        assert all(b.description.endswith("\nminimal") for b in framed.values())
        assert all(b.layout.border == f"2px solid {theme.band_edge}" for b in framed.values())


def test_a_cell_opens_under_its_row_and_only_there(view: MatrixView, found: Matrix) -> None:
    for off in view.buttons:
        view.buttons[off].click()
        children = view.grid.children
        place, pressed = children.index(view.below), children.index(view.buttons[off])
        between = [c for c in children[pressed + 1 : place] if c not in view.buttons.values()]
        assert pressed < place
        assert between == [], "no other row begins before it"
        assert view.below.layout.grid_column == "1 / -1"
        assert found.cell(*off).sentence[1:20] in unescape(view.below.value)
        told = [c for c in children if isinstance(c, Html) and c.layout.grid_column and c.value]
        assert told == [view.below], "no other cell stays open"


def test_pressing_cells_moves_no_button(view: MatrixView) -> None:
    before = view.grid.children
    for button in view.buttons.values():
        button.click()
        assert view.grid.children == before

"""A history in a notebook: a line for each finding, a partition's picture under the one pressed."""

import pytest

from kiplab.widgets.elements.kinds import Html
from kiplab.widgets.elements.surface import Surface
from kiplab.widgets.incident_view import IncidentView
from tests.incident.other_life import history


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> IncidentView:
    monkeypatch.setitem(Surface.seen_last, "theme", "light")
    return IncidentView(history())


def texts(view: IncidentView) -> list[str]:
    return [p.value for p in view.box.root.everything() if isinstance(p, Html) and p.value]


def test_there_is_a_line_for_each_finding_and_no_picture_yet(view: IncidentView) -> None:
    assert [b.description for b in view.buttons.values()] == [
        f"{number}. orders-1" for number in range(1, 5)
    ]
    assert "4 findings" in texts(view)[0]
    assert not any("<img" in text for text in texts(view))


def test_a_press_draws_the_partition_under_its_line_and_nowhere_else(view: IncidentView) -> None:
    for number in (2, 4):
        view.buttons[number].click()
        (drawn,) = (text for text in texts(view) if "<img" in text)
        place = texts(view).index(drawn)
        assert view.history.findings[number - 1].sentence[:20] in texts(view)[place - 1]
        assert "Every change" in drawn


def test_a_log_without_findings_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Surface.seen_last, "theme", "light")
    assert "No findings" in texts(IncidentView(history(findings=())))[0]

"""A panel that got lost on its way is shown once more; then the cell says what to do."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kiplab.widgets import still_fallback
from kiplab.widgets.elements.labelled import words
from kiplab.widgets.elements.surface import Surface
from kiplab.widgets.still_fallback import LOST, ShownAgain


class Waiting:
    """A kernel's loop, whose time passes when the test says so; and what is shown in the cell."""

    def __init__(self) -> None:
        self.later: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self.shown: list[dict[str, str]] = []

    def call_later(self, _seconds: float, action: Callable[..., None], *given: Any) -> None:
        self.later.append((action, given))

    def update(self, bundle: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(bundle)

    def pass_time(self) -> None:
        waiting, self.later = self.later, []
        for action, given in waiting:
            action(*given)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Waiting:
    waiting = Waiting()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: waiting)
    monkeypatch.setattr(still_fallback, "monotonic", lambda: 100.0)
    monkeypatch.setattr(ShownAgain, "last_run", 0.0)
    monkeypatch.setattr(Surface, "any_answered", True)
    return waiting


def shown(kernel: Waiting) -> Surface:
    surface = Surface(words("a panel"))
    ShownAgain.watch(surface, kernel, {"text/plain": "a panel"})
    return surface


def test_a_panel_that_is_answered_for_is_left_alone(kernel: Waiting) -> None:
    surface = shown(kernel)
    surface._receive(surface, {"hello": 0}, [])
    kernel.pass_time()
    assert (kernel.shown, kernel.later) == ([], [])


def test_one_that_got_lost_is_shown_again(kernel: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    surface = shown(kernel)
    opened: list[str] = []
    monkeypatch.setattr(surface, "open", lambda: opened.append("again"))
    kernel.pass_time()
    assert opened == ["again"]
    assert kernel.shown == [{"text/plain": "a panel"}]


def test_one_that_is_there_and_out_of_sight_is_only_shown_once_more(
    kernel: Waiting, monkeypatch: pytest.MonkeyPatch
) -> None:
    surface = shown(kernel)
    opened: list[str] = []
    monkeypatch.setattr(surface, "open", lambda: opened.append("again"))
    surface._receive(surface, {"arrived": True}, [])
    kernel.pass_time()
    kernel.pass_time()
    assert (opened, kernel.shown) == ([], [{"text/plain": "a panel"}])


def test_it_keeps_its_name_and_still_hears(kernel: Waiting) -> None:
    surface = shown(kernel)
    name = surface.model_id
    kernel.pass_time()
    assert surface.model_id == name
    surface._receive(surface, {"hello": 0}, [])
    kernel.pass_time()
    assert len(kernel.shown) == 1


def test_then_the_cell_says_what_to_do_until_a_panel_comes_after_all(kernel: Waiting) -> None:
    surface = shown(kernel)
    kernel.pass_time()
    for _ in range(3):
        kernel.pass_time()
        assert kernel.shown[-1]["text/plain"] == LOST
    surface._receive(surface, {"arrived": True}, [])
    kernel.pass_time()
    assert kernel.shown[-1] == {"text/plain": "a panel"}
    assert kernel.later == []


def test_nobody_waits_for_ever(kernel: Waiting) -> None:
    shown(kernel)
    for _ in range(still_fallback.LATE_CHECKS + 3):
        kernel.pass_time()
    assert kernel.shown[-1]["text/plain"] == LOST
    assert kernel.later == []


def test_nothing_is_said_without_a_page(kernel: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook that a program executes has no page, and keeps its panel's output."""
    monkeypatch.setattr(Surface, "any_answered", False)
    shown(kernel)
    kernel.pass_time()
    kernel.pass_time()
    assert kernel.shown == [{"text/plain": "a panel"}]


def test_an_answer_may_wait_behind_cells(kernel: Waiting, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(kernel)
    monkeypatch.setattr(ShownAgain, "last_run", 99.0)
    kernel.pass_time()
    assert kernel.shown == []
    assert len(kernel.later) == 1

"""Widgets with words on them, made alike everywhere; and the one wrapper for every callback."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import ipywidgets

Attempt = Callable[[Callable[[], None]], None]
"""Calls an action, and answers for what goes wrong in it."""
_attempt: ContextVar[Attempt | None] = ContextVar("attempt", default=None)


@contextmanager
def attempted_by(attempt: Attempt) -> Iterator[None]:
    """Callbacks of the controls that are made meanwhile go through `attempt`."""
    before = _attempt.set(attempt)
    try:
        yield
    finally:
        _attempt.reset(before)


def careful(action: Callable[..., None]) -> Callable[..., None]:
    """`action` as a callback: whoever makes the controls now answers for its failures."""
    attempt = _attempt.get()
    if attempt is None:
        return action
    return lambda *given: attempt(lambda: action(*given))


def watch(made: Any, trait: str, action: Callable[[Any], None]) -> None:
    """Call `action` with each new value of a trait; as careful as the buttons are."""
    called = careful(action)
    made.observe(lambda change: called(change["new"]), trait)


def button(label: str, action: Callable[[], None], tooltip: str = "") -> Any:
    """A button that calls `action`; its label says what it does."""
    made = ipywidgets.Button(
        description=label,
        tooltip=tooltip or label,
        layout=ipywidgets.Layout(width="auto", flex="0 0 auto"),
    )
    called = careful(action)
    made.on_click(lambda _: called())
    return made


def dropdown(label: str, options: Iterable[tuple[str, Any]]) -> Any:
    """A choice among (words, value), labelled."""
    return ipywidgets.Dropdown(
        description=label,
        options=tuple(options),
        style={"description_width": "initial"},
        layout=ipywidgets.Layout(width="auto", margin="2px 8px 2px 2px"),
    )


def words(html: str = "", **layout: str) -> Any:
    """HTML that keeps no room for a label of its own."""
    return ipywidgets.HTML(html, layout=ipywidgets.Layout(**{"margin": "2px", **layout}))


def row(children: Iterable[Any], **layout: str) -> Any:
    """Side by side, on one middle line."""
    return ipywidgets.HBox(
        tuple(children), layout=ipywidgets.Layout(**{"align_items": "center", **layout})
    )


def column(children: Iterable[Any], **layout: str) -> Any:
    """One under the other."""
    return ipywidgets.VBox(tuple(children), layout=ipywidgets.Layout(**layout))


def discard(made: Any) -> None:
    """Close a widget with all that is in it: a kernel never forgets one that is not closed."""
    parts = (getattr(made, name, None) for name in ("layout", "style"))
    for inside in (*getattr(made, "children", ()), *(part for part in parts if part is not None)):
        discard(inside)
    made.close()


def offer(made: Any, reason: str | None, tooltip: str) -> None:
    """Let a button be pressed, or not and say why in its tooltip."""
    made.disabled = reason is not None
    made.tooltip = tooltip if reason is None else f"Not now: {reason}"

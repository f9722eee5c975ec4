"""Parts with words on them, made alike everywhere; and the one wrapper for every callback."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from traitlets import HasTraits

from .kinds import Button, Checkbox, Container, Dropdown, Element, Html, Style, Text

Attempt = Callable[..., None]
"""Calls an action with what is given, and answers for what goes wrong in it."""
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
    return action if attempt is None else partial(attempt, action)


def watch(part: Element | HasTraits, trait: str, action: Callable[[Any], None]) -> None:
    """Call `action` with each new value of a trait; as careful as the buttons are."""
    called = careful(action)
    part.observe(lambda change: called(change["new"]), trait)


def button(label: str, action: Callable[[], None], tooltip: str = "") -> Button:
    """A button that calls `action`; its label says what it does."""
    return Button(careful(action), description=label, tooltip=tooltip or label)


def dropdown(label: str, options: Iterable[tuple[str, Any]]) -> Dropdown:
    """A choice among (words, value), labelled."""
    room = Style(margin="2px 8px 2px 2px")
    return Dropdown(description=label, options=tuple(options), layout=room)


def checkbox(label: str, *, value: bool = False, tooltip: str = "", **layout: str) -> Checkbox:
    """A box to tick, its words behind it."""
    return Checkbox(
        description=label,
        value=value,
        tooltip=tooltip,
        layout=Style(**{"margin": "2px", **layout}),
    )


def line(label: str, placeholder: str) -> Text:
    """A line to write in, as wide as there is room."""
    return Text(
        description=label, placeholder=placeholder, layout=Style(flex="1 1 auto", margin="2px")
    )


def words(html: str = "", **layout: str) -> Html:
    """HTML."""
    return Html(value=html, layout=Style(**{"margin": "2px", **layout}))


def row(children: Iterable[Element], **layout: str) -> Container:
    """Side by side, on one middle line."""
    style = Style(**{"align_items": "center", **layout})
    return Container(children=tuple(children), layout=style, classes=("kiplab-row",))


def column(children: Iterable[Element], **layout: str) -> Container:
    """One under the other."""
    return Container(children=tuple(children), layout=Style(flex_direction="column", **layout))


def offer(part: Any, reason: str | None, tooltip: str) -> None:
    """Let a button be pressed, or not and say why in its tooltip."""
    part.disabled = reason is not None
    part.tooltip = tooltip if reason is None else f"Not now: {reason}"

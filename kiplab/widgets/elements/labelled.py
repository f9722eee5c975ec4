"""Parts with words on them, made alike everywhere."""

from collections.abc import Callable, Iterable
from typing import Any

from .kinds import Button, Checkbox, Container, Dropdown, Element, Html, Style, Text


def watch(part: Element, trait: str, action: Callable[[Any], None]) -> None:
    part.watched.append((trait, action))


def button(label: str, action: Callable[[], None], tooltip: str = "") -> Button:
    return Button(action, description=label, tooltip=tooltip or label)


def dropdown(label: str, options: Iterable[tuple[str, Any]]) -> Dropdown:
    room = Style(margin="2px 8px 2px 2px")
    return Dropdown(description=label, options=tuple(options), layout=room)


def checkbox(label: str, *, value: bool = False, tooltip: str = "", **layout: str) -> Checkbox:
    """A box to tick, its words behind it."""
    style = Style(**{"margin": "2px", **layout})
    return Checkbox(description=label, value=value, tooltip=tooltip, layout=style)


def line(label: str, placeholder: str) -> Text:
    """A line to write in, as wide as there is room."""
    style = Style(flex="1 1 auto", margin="2px")
    return Text(description=label, placeholder=placeholder, layout=style)


def words(html: str = "", **layout: str) -> Html:
    return Html(value=html, layout=Style(**{"margin": "2px", **layout}))


def row(children: Iterable[Element], **layout: str) -> Container:
    """Side by side, on one middle line."""
    style = Style(**{"align_items": "center", **layout})
    return Container(children=tuple(children), layout=style, classes=("kiplab-row",))


def column(children: Iterable[Element], **layout: str) -> Container:
    return Container(children=tuple(children), layout=Style(flex_direction="column", **layout))


def offer(part: Any, reason: str | None, tooltip: str) -> None:
    """Let a button be pressed, or not and say why in its tooltip."""
    part.disabled = reason is not None
    part.tooltip = tooltip if reason is None else f"Not now: {reason}"

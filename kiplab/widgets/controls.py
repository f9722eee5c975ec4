"""Widgets with words on them, made alike everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets


def button(label: str, action: Callable[[], None], tooltip: str = "") -> Any:
    """A button that calls `action`; its label says what it does."""
    made = ipywidgets.Button(
        description=label,
        tooltip=tooltip or label,
        layout=ipywidgets.Layout(width="auto", flex="0 0 auto"),
    )
    made.on_click(lambda _: action())
    return made


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


def offer(made: Any, reason: str | None, tooltip: str) -> None:
    """Let a button be pressed, or not and say why in its tooltip."""
    made.disabled = reason is not None
    made.tooltip = tooltip if reason is None else f"Not now: {reason}"

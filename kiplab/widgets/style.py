"""How the lab's own controls look, and the small constructors that keep them alike."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w

MARKS = {"safe": ("●", "#00543b"), "loss": ("▼", "#9a3d00"), "harm": ("▲", "#6b5900")}
"""Glyph and colour of each verdict: never the colour alone."""

STYLE = """
<style>
.kiplab .kiplab-verdict {font-size: 16px; font-weight: 600; margin: 4px 16px 4px 0}
.kiplab .kiplab-note {font-size: 14px; margin: 4px 0; padding: 2px 10px;
  border-left: 3px solid #b34f00; background: #fff6ee; color: #5e2a00}
.kiplab .kiplab-transcript {max-height: 260px; overflow-y: auto; font-size: 13px; line-height: 1.45;
  border: 1px solid #d8dde1; border-radius: 4px; padding: 8px 12px}
.kiplab .kiplab-line {margin-bottom: 6px; color: #50585e}
.kiplab .kiplab-line b {font-family: monospace; font-weight: 600}
.kiplab .kiplab-now {color: #111; background: #f1f5fb; border-left: 3px solid #0072b2;
  padding: 2px 8px}
.kiplab .kiplab-line ul {margin: 2px 0 0 12px; padding: 0; list-style: none}
.kiplab .kiplab-head {font-size: 12px; font-weight: 600; color: #50585e; margin: 0}
</style>
"""


def button(word: str, tooltip: str, press: Callable[[], None], width: str = "auto") -> w.Button:
    """A button with a word on it; `press` takes nothing."""
    made = w.Button(description=word, tooltip=tooltip, layout=w.Layout(width=width))
    made.on_click(lambda _: press())
    return made


def allow(control: w.Button, reason: str | None, otherwise: str) -> None:
    """Enable a button, or disable it with the reason as its tooltip."""
    control.disabled = reason is not None
    control.tooltip = otherwise if reason is None else f"Not now: {reason}"


def head(text: str, width: str = "90px") -> w.HTML:
    """A small row label."""
    return w.HTML(f'<p class="kiplab-head">{text}</p>', layout=w.Layout(width=width))

"""One FigureWidget for the whole life of a Lab: repainted, never replaced.

A FigureWidget brings plotly.js with it, five megabytes each, and browsers never give it back.
"""

from __future__ import annotations

from typing import Any

_SHEET = ("width", "height", "shapes", "meta")
_COLORS = ("paper_bgcolor", "plot_bgcolor", "font", "hoverlabel")
_AXES = ("xaxis", "yaxis")
_TRACE = ("x", "y", "text", "textposition", "textfont")
Drawing = dict[str, Any]
"""A figure as plotly's data and layout, in plain dicts and lists."""


class Painter:
    """Holds `widget`, and paints drawings of the same traces onto it.

    What a drawing has in common with the last one is not sent to the browser again: that is most
    of it, from step to step.
    """

    def __init__(self, drawing: Drawing) -> None:
        import plotly.graph_objects as go

        self.widget: Any = go.FigureWidget(drawing)
        # A bar of zoom buttons means nothing here, and cannot be reached by keyboard.
        self.widget._config = {"displayModeBar": False}
        self._shown = drawing

    def paint(self, drawing: Drawing) -> None:
        """Show another drawing: it has the same traces, by name, and the same axes.

        `plotly_update` takes what it is given. Assigning to the figure would have plotly check
        hundreds of shapes, one by one, that kiplab has drawn itself.
        """
        before, self._shown = self._shown, drawing
        layout = _new_layout(before["layout"], drawing["layout"])
        old, new = _by_name(before), _by_name(drawing)
        names = [trace.name for trace in self.widget.data]
        changes = [_new_trace(old.get(name), new.get(name)) for name in names]
        self.widget.plotly_update(_beside_each_other(changes), layout)


def _new_layout(before: Drawing, now: Drawing) -> Drawing:
    fresh = {key: now[key] for key in (*_SHEET, *_COLORS) if before[key] != now[key]}
    for axis in _AXES:
        if before[axis]["range"] != now[axis]["range"]:
            fresh[f"{axis}.range"] = now[axis]["range"]
    return fresh


def _new_trace(before: Drawing | None, now: Drawing | None) -> Drawing:
    fresh: Drawing = {}
    if (now is None) != (before is None):
        fresh["visible"] = now is not None
    if now is None:
        return fresh
    for key in _TRACE:
        if key in now and (before is None or before.get(key) != now[key]):
            fresh[key] = now[key]
    return fresh


def _beside_each_other(changes: list[Drawing]) -> Drawing:
    """Per property a value for each trace, as plotly's restyle has it."""
    from plotly.basedatatypes import Undefined

    keys = dict.fromkeys(key for change in changes for key in change)
    return {key: [change.get(key, Undefined) for change in changes] for key in keys}


def _by_name(drawing: Drawing) -> dict[str, Drawing]:
    return {trace["name"]: trace for trace in drawing["data"]}

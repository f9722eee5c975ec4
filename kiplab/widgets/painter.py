"""One FigureWidget for the whole life of a Lab: repainted, never replaced.

A FigureWidget brings plotly.js with it, five megabytes each, and browsers never give it back.
"""

from __future__ import annotations

from typing import Any

_LAYOUT = ("width", "height", "shapes", "meta", "paper_bgcolor", "plot_bgcolor")
_AXES = ("xaxis", "yaxis")
_TRACE = ("x", "y", "text", "textposition", "textfont")
Drawing = dict[str, Any]
"""A figure as plotly's data and layout, in plain dicts and lists."""


class Painter:
    """Holds `widget`, and paints drawings of the same traces onto it.

    What a drawing has in common with the last one is neither checked by plotly again nor sent to
    the browser: that is most of it, from step to step.
    """

    def __init__(self, drawing: Drawing) -> None:
        import plotly.graph_objects as go

        self.widget: Any = go.FigureWidget(drawing)
        # A bar of zoom buttons means nothing here, and cannot be reached by keyboard.
        self.widget._config = {"displayModeBar": False}
        self._shown = drawing

    def paint(self, drawing: Drawing) -> None:
        """Show another drawing: it has the same traces, by name, and the same axes."""
        before, self._shown = self._shown, drawing
        with self.widget.batch_update():
            self._lay_out(before["layout"], drawing["layout"])
            old, new = _by_name(before), _by_name(drawing)
            for trace in self.widget.data:
                _retrace(trace, old.get(trace.name), new.get(trace.name))

    def _lay_out(self, before: Drawing, now: Drawing) -> None:
        layout = self.widget.layout
        for key in _LAYOUT:
            if before[key] != now[key]:
                layout[key] = now[key]
        for axis in _AXES:
            if before[axis]["range"] != now[axis]["range"]:
                layout[axis].range = now[axis]["range"]


def _by_name(drawing: Drawing) -> dict[str, Drawing]:
    return {trace["name"]: trace for trace in drawing["data"]}


def _retrace(trace: Any, before: Drawing | None, now: Drawing | None) -> None:
    if (now is None) != (before is None):
        trace.visible = now is not None
    if now is None:
        return
    for key in _TRACE:
        if key in now and (before is None or before.get(key) != now[key]):
            trace[key] = now[key]

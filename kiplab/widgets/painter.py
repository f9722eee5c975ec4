"""One FigureWidget for the whole life of a Lab: repainted, never replaced.

A FigureWidget brings plotly.js with it, five megabytes each, and browsers never give it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

_LAYOUT = ("width", "height", "shapes", "meta", "paper_bgcolor", "plot_bgcolor")
_TRACE = ("x", "y", "text", "textposition", "textfont", "visible")


class Painter:
    """Holds `widget`, and paints figures of the same traces onto it."""

    def __init__(self, figure: go.Figure) -> None:
        import plotly.graph_objects as go

        self.widget: Any = go.FigureWidget(figure)
        # A bar of zoom buttons means nothing here, and cannot be reached by keyboard.
        self.widget._config = {"displayModeBar": False}

    def paint(self, figure: go.Figure) -> None:
        """Show another figure: it has the same traces, by name, and the same axes."""
        with self.widget.batch_update():
            layout = self.widget.layout
            for key in _LAYOUT:
                layout[key] = figure.layout[key]
            for axis in ("xaxis", "yaxis"):
                layout[axis].range = figure.layout[axis].range
            fresh = {trace.name: trace for trace in figure.data}
            for trace in self.widget.data:
                self._retrace(trace, fresh.get(trace.name))

    def _retrace(self, trace: Any, fresh: Any) -> None:
        if fresh is None:
            trace.visible = False
            return
        for key in _TRACE:
            if fresh[key] is not None:
                trace[key] = fresh[key]
        trace.visible = fresh.visible is not False

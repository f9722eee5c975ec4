"""The lab's one FigureWidget: drawn anew when the run changes, else only its cursor moves."""

from __future__ import annotations

import plotly.graph_objects as go

from ..figures.rows import rows_of
from ..figures.sheet import move_cursor
from ..figures.timeline import timeline
from ..plays.stage import Stage


class Picture:
    """`widget` is a plotly FigureWidget, made once."""

    def __init__(self, stage: Stage, width: int) -> None:
        self._width = width
        self._stage = stage
        self.widget = go.FigureWidget(self._drawn(stage, 0))
        self.widget._config = {"displayModeBar": False, "responsive": False}

    def _drawn(self, stage: Stage, moment: int) -> go.Figure:
        return timeline(rows_of(stage), until=moment, width=self._width)

    def show(self, stage: Stage, moment: int) -> None:
        """The whole run with the cursor at `moment`; what comes after it is veiled."""
        if stage is self._stage:
            with self.widget.batch_update():
                move_cursor(self.widget, moment)
            return
        self._stage = stage
        figure = self._drawn(stage, moment)
        with self.widget.batch_update():
            self.widget.data = ()
            self.widget.layout = figure.layout
        self.widget.add_traces(figure.data)

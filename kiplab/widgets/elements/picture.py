"""A Lab's picture in a page: one sheet for its whole life, painted again with every step.

plotly's own FigureWidget brings five megabytes with every figure. Where a slow machine does not
read them within two seconds, anywidget gives the figure up, and it stays blank. It also keeps what
it showed at first: a page that is loaded again, or a second view, would begin with that.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets
from ipywidgets import widget_serialization

Drawing = dict[str, Any]
"""A figure as plotly's data and layout, in plain dicts and lists."""


class PlotlyCode(anywidget.AnyWidget):
    """plotly.js, sent to a page once for all the pictures of a kernel."""

    _esm = "export default {};"
    version = traitlets.Unicode().tag(sync=True)
    code = traitlets.Bytes().tag(sync=True)
    sent: ClassVar[PlotlyCode | None] = None

    @classmethod
    def shared(cls) -> PlotlyCode:
        """The one of this kernel; another one if somebody closed all widgets."""
        from plotly.offline import get_plotlyjs, get_plotlyjs_version

        found = PlotlyCode.sent
        if found is None or found.comm is None:
            code = get_plotlyjs().encode()
            found = PlotlyCode.sent = cls(version=get_plotlyjs_version(), code=code)
        return found


class PictureWidget(anywidget.AnyWidget):
    """Shows `drawing`, in every view and also after the page was loaded again."""

    _esm = Path(__file__).with_name("picture.js")
    plotly = traitlets.Instance(PlotlyCode).tag(sync=True, **widget_serialization)
    drawing = traitlets.Dict().tag(sync=True)

    def __init__(self, drawing: Drawing) -> None:
        super().__init__(plotly=PlotlyCode.shared(), drawing=drawing)

    def paint(self, drawing: Drawing) -> None:
        """Show another drawing in place of this one."""
        self.drawing = drawing

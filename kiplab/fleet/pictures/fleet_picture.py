"""A picture of a fleet with all that belongs to it: a sentence, a table, both themes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...extras import needed_by
from ...figures.drawing.canvas import as_figure
from ...figures.drawing.still_picture import mimebundle
from ...figures.drawing.svg import Json, svg
from ...figures.how_often.fleet_words import PlotTable
from ...figures.how_often.plot_sheet import Chart

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


class FleetPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A chart, and `where`: at which point of the parameter space it was taken, where a study has
    several.
    """

    chart: Chart
    where: str = ""

    @property
    def sentence(self) -> str:
        """What it says."""
        return self.chart.sentence

    @property
    def words(self) -> PlotTable:
        """Every number of it."""
        return self.chart.table

    def draw(self, **options: Any) -> Json:
        """As plotly's data and layout; options as for `figure`. Raises ValueError for one."""
        return self.chart.drawing(**options)

    def figure(self, **options: Any) -> go.Figure:
        """As a plotly figure; `theme` is "light" or "dark", `width` in pixels.

        Raises ValueError for one of them, MissingExtraError without plotly.
        """
        return as_figure(self.draw)(**options)

    def table(self) -> pd.DataFrame:
        """Every number of the picture, in words. Raises MissingExtraError without pandas."""
        with needed_by("a table"):
            import pandas as pd

        return pd.DataFrame(self.words.lines, columns=list(self.words.heads))

    def write_svg(self, path: str | Path, **options: Any) -> Path:
        """The picture as an SVG file, which needs no plotly; options as for `figure`.

        Raises ValueError for one of them, OSError for a path that cannot be written.
        """
        target = Path(path)
        target.write_text(svg(self.draw(**options)), encoding="utf-8")
        return target

    def _repr_mimebundle_(self, **_: Any) -> Any:
        return mimebundle(self.figure())

    def __repr__(self) -> str:
        return f"<FleetPicture: {self.sentence}>"

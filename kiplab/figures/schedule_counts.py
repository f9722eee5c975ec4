"""Shares of random schedules with their intervals: a dot per feature set, a panel per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..extras import needed_by
from .drawing.theme import FONT, Theme, theme_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

CountRow = Mapping[str, Any]

WIDTH, ROW, ABOVE, BELOW = 860, 46, 84, 84
"""Pixels: the figure, one feature set, what is over and under the panels."""
PANELS = {
    "stale join": ("A stale replica joined the ISR", "message", "circle"),
    "loss": ("Committed records were lost", "gone", "diamond"),
}
"""Title, the theme's colour and shape of each metric: never a colour alone."""
GAP = 0.08
LABEL_ROOM = 1.55
"""How much longer than its longest interval an axis is: the counts stand to the right of it."""


def schedules_figure(rows: Sequence[CountRow], caveat: str, *, theme: str = "light") -> go.Figure:
    """A dot and its interval for each row of {features, metric, events, excused, exposure, rate,
    low, high}; shares from 0 to 1. Feature sets stand in the order of the rows, `caveat` on the
    axis. Nothing observed is an open marker at 0 with its upper bound.
    """
    with needed_by("a figure"):
        import plotly.graph_objects as go

    palette = theme_of(theme)
    names = list(dict.fromkeys(row["features"] for row in rows))
    figure = go.Figure()
    panels = [metric for metric in PANELS if any(row["metric"] == metric for row in rows)]
    for panel, metric in enumerate(panels):
        of_metric = [row for row in rows if row["metric"] == metric]
        figure.add_trace(_dots(of_metric, metric, panel, palette))
        figure.update_layout({_axis(panel): _shares(of_metric, panel, len(panels), palette)})
        for note in (_heading(metric, panel, palette), *_counts(of_metric, names, panel, palette)):
            figure.add_annotation(note)
    figure.add_annotation(_caveat(rows, caveat, palette))
    figure.update_layout(_layout(names, rows, palette))
    return figure


def _axis(panel: int) -> str:
    return "xaxis" if panel == 0 else f"xaxis{panel + 1}"


def _reference(panel: int) -> str:
    return "x" if panel == 0 else f"x{panel + 1}"


def _dots(rows: Sequence[CountRow], metric: str, panel: int, palette: Theme) -> go.Scatter:
    import plotly.graph_objects as go

    title, name, shape = PANELS[metric]
    color = getattr(palette, name)
    return go.Scatter(
        x=[row["rate"] for row in rows],
        y=[row["features"] for row in rows],
        xaxis=_reference(panel),
        mode="markers",
        name=title,
        marker={
            "symbol": shape,
            "size": 10,
            "color": [color if row["events"] else palette.paper for row in rows],
            "line": {"color": color, "width": 2},
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [row["high"] - row["rate"] for row in rows],
            "arrayminus": [row["rate"] - row["low"] for row in rows],
            "color": color,
            "thickness": 2,
            "width": 5,
        },
        hovertext=[_hover(row) for row in rows],
        hoverinfo="text",
        cliponaxis=False,
    )


def _hover(row: CountRow) -> str:
    share = f"{row['rate']:.2%}" if row["events"] else "none seen"
    between = f"between {row['low']:.2%} and {row['high']:.2%}"
    return f"{row['features']}: {_count(row)} of {row['exposure']:,}<br>{share}, {between}"


def _count(row: CountRow) -> str:
    excused = row.get("excused", 0)
    if not excused:
        return f"{row['events']:,}"
    return f"{row['events']:,} ({'all' if excused == row['events'] else f'{excused:,}'} excused)"


def _shares(rows: Sequence[CountRow], panel: int, panels: int, palette: Theme) -> dict[str, Any]:
    wide = (1 - GAP * (panels - 1)) / panels
    start = panel * (wide + GAP)
    end = max(row["high"] for row in rows) * LABEL_ROOM
    return {
        "domain": [start, start + wide],
        "range": [-0.03 * end, end],
        "tickformat": ".0%" if end > 0.1 else ".1~%",
        "nticks": 6,
        "showgrid": True,
        "gridcolor": palette.grid,
        "zeroline": True,
        "zerolinecolor": palette.line,
        "tickfont": {"color": palette.muted},
    }


def _heading(metric: str, panel: int, palette: Theme) -> dict[str, Any]:
    return {
        "text": f"<b>{PANELS[metric][0]}</b>",
        "xref": f"{_reference(panel)} domain",
        "yref": "y domain",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "xanchor": "left",
        "showarrow": False,
        "font": {"size": 13, "color": palette.text},
    }


def _counts(
    rows: Sequence[CountRow], names: list[str], panel: int, palette: Theme
) -> list[dict[str, Any]]:
    """How many, to the right of each interval; for none, what it may be at most."""
    # By its place from below: plotly would take a name like 3.6 for a number.
    heights = {name: y for y, name in enumerate(reversed(names))}
    return [
        {
            "text": _count(row) if row["events"] else f"none seen, at most {row['high']:.2%}",
            "xref": _reference(panel),
            "yref": "y",
            "x": row["high"],
            "y": heights[row["features"]],
            "xanchor": "left",
            "xshift": 12,
            "showarrow": False,
            "font": {"size": 11.5, "color": palette.text},
        }
        for row in rows
    ]


def _caveat(rows: Sequence[CountRow], caveat: str, palette: Theme) -> dict[str, Any]:
    text = f"share of schedules ({caveat}); bars: exact 95 % intervals"
    if any(row.get("excused") for row in rows):
        text += (
            "<br>excused: every member of the ISR had died without the records,"
            " which Kafka does not promise to survive"
        )
    return {
        "text": text,
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "yshift": -28,
        "align": "left",
        "showarrow": False,
        "font": {"size": 12, "color": palette.muted},
    }


def _layout(names: list[str], rows: Sequence[CountRow], palette: Theme) -> dict[str, Any]:
    exposure = max(row["exposure"] for row in rows)
    return {
        "width": WIDTH,
        "height": ABOVE + BELOW + ROW * len(names),
        "margin": {"l": 110, "r": 20, "t": ABOVE, "b": BELOW},
        "title": {
            "text": f"The same {exposure:,} random schedules under each set of rules",
            "x": 0.015,
            "xanchor": "left",
            "y": 0.95,
            "font": {"size": 17, "color": palette.text},
        },
        "font": {"family": FONT, "size": 12, "color": palette.text},
        "paper_bgcolor": palette.paper,
        "plot_bgcolor": palette.paper,
        "showlegend": False,
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "range": [-0.6, len(names) - 0.4],
            "showgrid": True,
            "gridcolor": palette.grid,
            "automargin": True,
            "tickfont": {"size": 13},
        },
    }

"""What single and twin pictures share: the sheet, its heading, a panel, the veil."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..protocol.guards import GUARDS
from . import arrows, bands, cards, controller, others, remarks, strips
from .canvas import Canvas, safe
from .columns import Rows, place
from .lanes import lanes
from .measure import LINE_HEIGHT, wrapped
from .panel import Panel
from .theme import sizes_of, theme_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

WIDTH, WIDTH_MIN = 980, 480
TALK = {"silent": 24, "messages": 50, "refusals": 70}
"""Pixels between the controller's line and the first broker, by what has to be said there."""
MARGIN = 14
GROUND_FROM = 18
"""Pixels of a column below which grounds would be nothing but noise."""
VEIL_EDGE = 12
"""Pixels before a moment that the veil covers too: heads of arrows, diamonds, half of a word."""


def canvas_of(rows: Rows, end: int, width: int | None, theme: str) -> Canvas:
    """An empty canvas of that width, or of the width that suits a notebook."""
    pixels = max(width or WIDTH, WIDTH_MIN)
    sizes = sizes_of(pixels, len(rows.meta.brokers))
    return Canvas(pixels, end, theme_of(theme), sizes, rows.meta.columns)


def draw_heading(canvas: Canvas, rows: Rows) -> float:
    """Name, title and question of the play; returns where the panels may begin."""
    meta, sizes = rows.meta, canvas.sizes
    named = bool(meta.name) and meta.name != meta.title
    name = meta.name if named else ""
    title = _lines(canvas, f"{name}  {meta.title}".strip(), sizes.heading)
    bold = title.replace(safe(name), f"<b>{safe(name)}</b>", 1) if name else title
    y = _paragraph(canvas, bold, MARGIN, sizes.heading, canvas.theme.text)
    if meta.question:
        size = sizes.text + 1
        y = _paragraph(canvas, _lines(canvas, meta.question, size), y + 4, size, canvas.theme.muted)
    return y + 18


def _lines(canvas: Canvas, text: str, size: float) -> str:
    room = (canvas.width - 2 * MARGIN) / 1.05
    return "<br>".join(safe(line) for line in (wrapped(text, room, size) or text).split("<br>"))


def _paragraph(canvas: Canvas, text: str, top: float, size: float, color: str) -> float:
    high = (text.count("<br>") + 1) * size * LINE_HEIGHT
    canvas.text(canvas.at(MARGIN), top + high / 2, text, color, size=size)
    return top + high


def draw_panel(
    canvas: Canvas,
    rows: Rows,
    partition: str | None,
    top: float,
    title: str,
    like: tuple[Rows, ...] = (),
) -> Panel:
    """One run, back to front; as roomy as the runs in `like` need, so that twins are alike."""
    runs, name = (rows, *like), chosen(rows, partition)
    planned = lanes(
        top,
        rows.meta.brokers,
        canvas.sizes,
        tick_rows=max(controller.tick_words(canvas, run, name)[1] for run in runs),
        talk=max(TALK[arrows.loudness(run, name)] for run in runs),
    )
    words, _ = controller.tick_words(canvas, rows, name)
    panel = Panel(canvas, rows, name, others.with_room(planned, rows, name), words)
    arrows.reserve(panel)
    strips.draw_grid(panel)
    draw_folds(panel)
    strips.draw_title(panel, title)
    strips.draw_strips(panel)
    controller.draw_controller(panel)
    bands.draw_brokers(panel)
    remarks.draw_glyphs(panel)
    strips.draw_records(panel)
    others.draw_others(panel)
    arrows.draw_messages(panel)
    remarks.draw_remarks(panel)
    cards.draw_cards(panel)
    return panel


def draw_folds(panel: Panel) -> None:
    """A bar under every folded column, and a ground behind it where columns are wide enough."""
    canvas, lanes = panel.canvas, panel.lanes
    for x, (first, last) in enumerate(panel.rows.meta.columns):
        if first == last:
            continue
        if canvas.unit >= GROUND_FROM:
            canvas.rect(x, x + 1, lanes.top - 4, lanes.bottom + 4, canvas.theme.grid)
        canvas.rect(x, x + 1, lanes.bottom + 7, lanes.bottom + 11, canvas.theme.line)


def chosen(rows: Rows, partition: str | None) -> str:
    """The partition to draw. Raises ValueError, naming those there are, for one that is not."""
    if partition is not None and partition not in rows.meta.partitions:
        known = ", ".join(rows.meta.partitions) or "none"
        raise ValueError(f"there is no partition {partition!r} in this run; there is {known}")
    return partition or rows.busiest


def draw_veil(canvas: Canvas, top: float, bottom: float) -> None:
    """The two shapes that `move_cursor` moves, hidden."""
    end, theme = canvas.end, canvas.theme
    above: dict[str, Any] = {"layer": "above", "visible": False}
    canvas.rect(end, end, top, bottom, theme.veil, name="veil", **above)
    canvas.line(end, top, end, bottom, theme.message, width=1.5)
    canvas.shapes[-1].update(name="cursor", visible=False)


def move_cursor(figure: go.Figure, until: int | None) -> None:
    """Veil what comes after moment `until`, or nothing; only two shapes and the verdict change.

    `until` is the play's own number also where moments are folded or left out. The last moment has
    nothing after it, and so no veil.
    """
    meta = figure.layout.meta
    end = meta["end"]
    x = end if until is None else max(place(meta.get("columns", ()), end, until), 0)
    veiled = x < end - 1
    edge = x + max(1 - VEIL_EDGE / _unit(figure), 0.5)
    places = {"veil": {"x0": edge, "x1": end}, "cursor": {"x0": x, "x1": x}}
    for shape in moving(figure):
        drawn = figure.layout.shapes[shape]
        drawn.update(visible=veiled, **places[drawn.name])
    figure.update_traces(visible=not veiled, selector={"name": "verdict"})


def moving(figure: go.Figure) -> list[int]:
    """The numbers of the shapes that are veils and cursors; to ask each shape takes plotly long."""
    shapes = figure.layout.to_plotly_json().get("shapes", ())
    return [n for n, shape in enumerate(shapes) if shape.get("name") in ("veil", "cursor")]


def _unit(figure: go.Figure) -> float:
    """Pixels of a moment."""
    axis = figure.layout.xaxis
    (left, right), (start, stop) = axis.range, axis.domain or (0, 1)
    return float(figure.layout.width * (stop - start) / (right - left))


def rule_word(id: str) -> str:
    """``KIP-903``; a rule that no release has goes by its own words, for it is not that KIP."""
    guard = GUARDS[id]
    return guard.subject if guard.releases else id.partition(".")[2].replace("-", " ")


def own_title(rows: Rows) -> str:
    """``Kafka 3.5``, and what was switched by hand: ``KIP-903 off · Kafka 3.5``."""
    words = [f"{rule_word(id)} {'on' if on else 'off'}" for id, on in rows.meta.switched]
    return " · ".join([*dict.fromkeys(words), f"Kafka {rows.meta.features.split(' ')[0]}"])

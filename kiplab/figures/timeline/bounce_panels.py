"""Picture (c), small: the four failures of KIP-380's motivation, each without it and with it.

Every row is one play under two sets of rules, on an axis of its own: ZooKeeper, the controller with
its queue, and the broker that bounces.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from ...rows.columns import ZOOKEEPER_LANE, Rows, broker_lane, queues_in
from ...rows.run_titles import titles
from ...rows.sentences import summary
from ...rows.view import views
from ..drawing.canvas import Canvas, as_figure, safe
from ..drawing.svg import Json
from ..drawing.text_width import LINE_HEIGHT
from ..drawing.theme import theme_of
from . import arrows, broker_lanes, controller_lane, hover_cards, lane_marks
from .axis import draw_numbers
from .ladder import SIDE_BY_SIDE_FROM, SIZES, Column, draw_head, draw_key, joined
from .lanes import QUEUE, Lanes, Panel
from .legend_marks import draw_legend, occurring
from .places import event_marks
from .sheet import MARGIN, WIDTH, WIDTH_MIN, draw_badge, followed_partition

HEAD, WATCHES, BELOW, TALK, NUMBERS, SEAM = 38, 46, 24, 46, 18, 22
"""Pixels: title and verdict; from ZooKeeper's line to the controller's; from there to a queue; for
what messages say; to the numbers of the moments; between two rows.
"""


BOUNCES = (
    ("380-stale-stop-replica", "F-0"),
    ("380-stale-controlled-shutdown", "F-0"),
    ("380-overwritten-checkpoint", "L-0"),
    ("380-missed-bounce", "L-0"),
)
"""The plays of KIP-380's four failures, cases A to D, and the broker to follow."""
OFF, ON = "zk-2.1", "zk-2.2"
"""The last release without KIP-380, and the first with it."""


class BouncePair(NamedTuple):
    """One play without a rule and with it; `partition` is the one to follow, if not the busiest."""

    off: Rows
    on: Rows
    partition: str | None = None


def bounce_drawing(
    pairs: Iterable[BouncePair],
    *,
    heading: str = "A broker bounces, and nobody can tell its incarnations apart",
    theme: str = "light",
    width: int | None = None,
    legend: bool = True,
) -> Json:
    """Each pair as a lettered row of two small panels, off and on, as plotly's data and layout.

    `width` is in pixels, at least 440, by default 980; below 760 off stands over on. `theme` is
    "light" or "dark". Raises ValueError for another theme, for no pair at all, or for a partition
    that a run has not.
    """
    bounce_pairs = tuple(pairs)
    if not bounce_pairs:
        raise ValueError("there is nothing to draw: name at least one pair of runs")
    pixels = max(width or WIDTH, WIDTH_MIN)
    sheet = Canvas(pixels, 1, theme_of(theme), SIZES)
    size = sheet.sizes.heading
    y = MARGIN + size * LINE_HEIGHT / 2
    sheet.text(sheet.at(MARGIN), y, safe(heading), size=size, bold=True)
    draw_badge(sheet)
    y = MARGIN + size * LINE_HEIGHT + 14
    columns: list[Column] = []
    for place, pair in enumerate(bounce_pairs):
        y, more = _draw_row(sheet, chr(ord("A") + place), pair, y)
        columns += more
    if legend:
        # What there is to explain: one broker's lane, and no records; logs stand nowhere.
        shown = []
        for run, lane in ((r, _bounced(p.off)) for p in bounce_pairs for r in (p.off, p.on)):
            others = {"records", *map(broker_lane, run.meta.brokers)} - {lane}
            spans = tuple(s for s in run.spans if s.lane not in others)
            shown.append(replace(_about(run, lane), spans=spans, logs=()))
        y = draw_legend(sheet, occurring(shown), y - SEAM + 8, dense=False)
    description = " ".join(summary(run) for pair in bounce_pairs for run in (pair.off, pair.on))
    return joined(sheet, tuple(columns), y + 10, description)


bounce_panels = as_figure(bounce_drawing)


def _draw_row(
    sheet: Canvas, letter: str, pair: BouncePair, top: float
) -> tuple[float, list[Column]]:
    """Title, two panels, and what their numbers stand for; returns where it ends."""
    name = followed_partition(pair.partition, pair.off, pair.on)
    lane = _bounced(pair.off)
    runs = [_about(run, lane) for run in views((pair.off, pair.on), fold=False)]
    axis = max(runs, key=lambda run: run.meta.end)
    size = sheet.sizes.title
    title = f"{letter} · {axis.meta.title}"
    y = top + size * LINE_HEIGHT / 2
    sheet.text(sheet.at(MARGIN), y, safe(title), size=size + 1, bold=True)
    top += size * LINE_HEIGHT + 4
    columns, low = [], top
    for place, (run, said) in enumerate(zip(runs, titles((pair.off, pair.on)), strict=True)):
        beside = sheet.width >= SIDE_BY_SIDE_FROM
        half = sheet.width // 2 if beside else sheet.width
        canvas = Canvas(half, axis.meta.end, sheet.theme, SIZES, axis.meta.columns)
        begin = top if beside or not place else low + 14
        low = max(low, _draw_panel(canvas, run, (name, lane), begin, said, runs))
        columns.append(Column(canvas, half * place if beside else 0, (place,)))
    low = draw_key(sheet, axis, low + 6)
    return low + SEAM, columns


def _bounced(run: Rows) -> str:
    """The lane of the first broker that is up twice; else of the first that there is."""
    lanes = [broker_lane(id) for id in run.meta.brokers]
    return next((lane for lane in lanes if len(run.tracks.get((lane, "uptime"), ())) > 1), lanes[0])


def _about(run: Rows, lane: str) -> Rows:
    """With the messages of that broker, the controller and ZooKeeper alone."""
    ends = (ZOOKEEPER_LANE, lane)
    nodes = ((m, (m.sender, m.receiver)) for m in run.messages)
    kept = (m for m, n in nodes if all(x in ends or x.startswith("controller") for x in n))
    return replace(run, messages=tuple(kept), clients=())


def _draw_panel(
    canvas: Canvas, run: Rows, about: tuple[str, str], top: float, title: str, runs: Sequence[Rows]
) -> float:
    """Everything of one run, back to front; returns where the numbers below it end."""
    partition, lane = about
    words, _ = controller_lane.tick_words(canvas, run, partition)
    rows = max(controller_lane.tick_words(canvas, r, partition)[1] for r in runs)
    queued = any(lane in queues_in(r) for r in runs)
    panel = Panel(canvas, run, partition, _lanes(top, lane, rows, queued=queued), words)
    arrows.reserve(panel)
    lanes = panel.lanes
    canvas.grid(lanes.controller - WATCHES - 6, lanes.bottom + 4)
    draw_head(panel, top, f"{title} · {partition}", "")
    controller_lane.draw_control(panel, with_epochs=True)
    broker_lanes.draw_brokers(panel)
    lane_marks.draw_glyphs(panel)
    arrows.draw_messages(panel)
    lane_marks.draw_remarks(panel)
    hover_cards.draw_lane_cards(panel)
    canvas.marks += event_marks(panel)
    y = panel.lanes.bottom + NUMBERS
    draw_numbers(canvas, run.meta, y, run.meta)
    return y + SIZES.text


def _lanes(top: float, lane: str, tick_rows: int, *, queued: bool) -> Lanes:
    row = SIZES.small * 1.35
    y = top + HEAD
    words = tuple(y + row * (n + 0.5) for n in range(tick_rows))
    line = y + row * tick_rows + 11
    controller = line + WATCHES
    queue = (controller + BELOW, controller + BELOW + QUEUE)
    tile = (queue[1] if queued else controller + BELOW) + TALK
    low = tile + SIZES.tile
    queues, tiles = {lane: queue} if queued else {}, {lane: (tile, low)}
    return Lanes(top, {}, words, controller, tiles, {}, (low, low), low, line, queues)

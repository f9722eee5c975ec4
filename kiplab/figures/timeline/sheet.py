"""Common parts of single and twin pictures: options, the sheet, its heading, a panel, the mask."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from ...rows.columns import (
    Rows,
    broker_lane,
    has_zookeeper,
    queues_in,
    strips_of,
    tells_epochs,
)
from ...rows.message_paths import marked_messages
from ...rows.metric_readings import MetricChoice
from ...rows.view import views
from ..drawing.canvas import Canvas, safe, wrapped_safe
from ..drawing.text_width import width_of
from ..drawing.theme import Sizes, sizes_of, theme_of
from . import (
    arrows,
    broker_lanes,
    client_lanes,
    controller_lane,
    from_logs,
    hover_cards,
    lane_marks,
    strips,
)
from .lanes import Panel, lanes
from .log_strip import draw_strip, room_aside
from .places import event_marks

WIDTH, WIDTH_MIN = 980, 440
MOMENT_MIN = 30
"""Pixels that a moment needs; where each has as many, nothing is folded unasked."""
TALK = {"silent": 24, "messages": 50, "refusals": 70, "crowded": 124}
"""Pixels between the controller's line and the first broker, by what has to be said there."""
TILED = 8
"""So many more where the controller's line has a tile."""
MARGIN = 14
BOXES = ("lead", "callout", "shield")
"""How the names of the shapes begin that a refusal's words stand in."""
BADGE = "ZooKeeper era"
GROUND_FROM = 18
"""Pixels of a column below which grounds would be nothing but noise."""


class PictureOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What may be asked of a picture of runs; what cannot be done raises ValueError: a partition, a
    theme, a kind, a metric or a range that there is none of.

    `partition` is the one drawn, by default the one with the most events. `theme` is "light" or
    "dark". `width` is in pixels, at least 440, by default 980; `height` too, and is at least what
    the lanes need. With `until`, what comes after that moment is masked and the verdict hidden.
    `fold`, `kinds` and `between` are as for `view.views`: quiet stretches folded (None: where there
    is no room), messages of some kinds only, a range of moments. `metrics` draws Kafka's metrics
    below the lanes: those that move (True), all that this release has ("all"), or those that are
    named. `legend` explains the marks that occur, below the axis. `logs` draws the log of every
    broker as a bar beside its lane, as it is at the end; the lanes then do not say where logs end.
    `every_message` has an arrow also where there are so many that metadata is marked where it
    arrives.
    """

    partition: str | None = None
    until: int | None = None
    fold: bool | None = None
    kinds: Iterable[str] | None = None
    between: tuple[int, int] | None = None
    metrics: MetricChoice = False
    theme: str = "light"
    width: int | None = None
    height: int | None = None
    legend: bool = True
    every_message: bool = False
    logs: bool = False

    def views(self, runs: Sequence[Rows]) -> tuple[Rows, ...]:
        """The runs as they are drawn, folded where a moment would have too few pixels."""
        pixels = self.width or WIDTH
        sizes = self._sizes(pixels, max(runs, key=lambda run: run.meta.end))
        room = int(pixels - sizes.left - sizes.right - sizes.aside) // MOMENT_MIN
        return views(runs, fold=self.fold, kinds=self.kinds, between=self.between, room=room)

    def canvas(self, rows: Rows, *, low: float | None = None) -> Canvas:
        """An empty canvas, as wide as suits a notebook if nobody says; `low` as for `sizes_of`."""
        pixels = max(self.width or WIDTH, WIDTH_MIN)
        sizes = self._sizes(pixels, rows, low=low)
        canvas = Canvas(pixels, rows.meta.end, theme_of(self.theme), sizes, rows.meta.columns)
        canvas.every_message = self.every_message
        return canvas

    def _sizes(self, pixels: int, rows: Rows, *, low: float | None = None) -> Sizes:
        sizes = sizes_of(pixels, len(rows.meta.brokers), low=low)
        return replace(sizes, aside=room_aside(pixels)) if self.logs else sizes


def check_options(picture: str, options: Iterable[str], useless: Iterable[str]) -> None:
    """Raise TypeError where an option is asked for that this picture has no use for."""
    for name in {*options} & {*useless}:
        raise TypeError(f"{picture} has no option {name!r}")


def axis_rows(runs: Sequence[Rows]) -> Rows:
    """The axis' rows, of the longest run; a line that is not applicable there as another has it."""
    longest = max(runs, key=lambda run: run.meta.end)
    spoken = {m.x: m for run in reversed(runs) for m in run.moments if not m.was_left_out}
    moments = tuple(spoken.get(m.x, m) if m.was_left_out else m for m in longest.moments)
    return replace(longest, moments=moments)


def draw_heading(canvas: Canvas, rows: Rows) -> float:
    """Name, title and question of the play; returns where the panels may begin."""
    meta, sizes = rows.meta, canvas.sizes
    badge = draw_badge(canvas) if has_zookeeper(rows) else 0
    name = safe(meta.name) if meta.name != meta.title else ""
    room, title = canvas.width - 2 * MARGIN, f"{meta.name}  {meta.title}" if name else meta.title
    lines = wrapped_safe(title.strip(), room - badge, sizes.heading)
    bold = lines.replace(name, f"<b>{name}</b>", 1) if name else lines
    y = canvas.paragraph(canvas.at(MARGIN), MARGIN, bold, canvas.theme.text, sizes.heading)
    if meta.question:
        lines = wrapped_safe(meta.question, room, sizes.text + 1)
        y = canvas.paragraph(canvas.at(MARGIN), y + 4, lines, canvas.theme.muted, sizes.text + 1)
    return y + 18


def draw_badge(canvas: Canvas) -> float:
    """The time that a run is from, at the right end of the title; returns the pixels it takes."""
    theme, size = canvas.theme, canvas.sizes.small
    wide, y = width_of(BADGE, size, bold=True) + 16, MARGIN + canvas.sizes.heading * 0.65
    left, right = canvas.width - MARGIN - wide, canvas.width - MARGIN
    edge = {"color": theme.line, "width": 1.2}
    ends = canvas.at(left), canvas.at(right)
    canvas.rect(*ends, y - size, y + size, theme.tile, line=edge, name="badge")
    middle = canvas.at((left + right) / 2)
    canvas.text(middle, y, BADGE, anchor="center", size=size, bold=True, layer="badge")
    return wide + 12


def draw_panel(
    canvas: Canvas, runs: Sequence[Rows], run: int, partition: str | None, top: float, title: str
) -> Panel:
    """One of a picture's runs, back to front, as roomy as all need, so that twins are alike."""
    rows, name = runs[run], followed_partition(partition, runs[run])
    tiled = any(map(tells_epochs, runs))
    planned = lanes(
        top,
        rows.meta.brokers,
        canvas.sizes,
        tick_rows=max(controller_lane.tick_words(canvas, each, name)[1] for each in runs),
        talk=max(TALK[arrows.loudness(canvas, each, name)] for each in runs) + TILED * tiled,
        clients=client_lanes.heights(canvas, runs, name),
        zookeeper=any(map(has_zookeeper, runs)),
        queues=tuple(dict.fromkeys(lane for each in runs for lane in queues_in(each))),
        thin=_without_copies(runs, name),
        tracks=(*strips_of(runs, name), *from_logs.own_tracks(runs)),
        records=any(run.tracks.get(("records", "state")) for run in runs),
    )
    words, _ = controller_lane.tick_words(canvas, rows, name)
    roomy = strips.with_room(planned, rows, name)
    marked = () if canvas.every_message else marked_messages(rows, name, *runs)
    panel = Panel(canvas, rows, name, roomy, words, run, frozenset(m.name for m in marked))
    arrows.reserve(panel)
    strips.draw_grid(panel)
    draw_folds(panel)
    from_logs.draw_findings(panel)
    strips.draw_title(panel, title)
    strips.draw_strips(panel)
    controller_lane.draw_control(panel, with_epochs=tiled)
    client_lanes.draw_below(panel)
    broker_lanes.draw_brokers(panel)
    lane_marks.draw_glyphs(panel)
    strips.draw_records(panel)
    strips.draw_others(panel)
    arrows.draw_messages(panel)
    client_lanes.draw_clients(panel)
    lane_marks.draw_remarks(panel)
    from_logs.draw_unknown(panel)
    hover_cards.draw_cards(panel)
    canvas.marks += event_marks(panel)
    if canvas.sizes.aside:
        draw_strip(panel, runs)
    return panel


def _without_copies(runs: Sequence[Rows], partition: str) -> frozenset[str]:
    """Lanes of brokers without a copy of a partition: with ZooKeeper one is the controller's."""
    lanes = {broker_lane(id) for run in runs if has_zookeeper(run) for id in run.meta.brokers}
    playing = {s.lane for run in runs for s in run.spans if s.track == "role"}
    here = {s.lane for run in runs for s in run.spans if s.partition == partition}
    return frozenset(lanes - (playing & here))


def draw_folds(panel: Panel) -> None:
    """A bar under every folded column, and a ground behind it where columns are wide enough."""
    canvas, lanes = panel.canvas, panel.lanes
    for x, (first, last) in enumerate(panel.rows.meta.columns):
        if first == last:
            continue
        if canvas.unit >= GROUND_FROM:
            canvas.rect(x, x + 1, lanes.top - 4, lanes.bottom + 4, canvas.theme.grid)
        canvas.rect(x, x + 1, lanes.bottom + 7, lanes.bottom + 11, canvas.theme.line)


def followed_partition(partition: str | None, *runs: Rows) -> str:
    """The partition to draw: what most of the runs are about, if nobody says which.

    Raises ValueError, naming those there are, for one that is not.
    """
    if partition is not None and partition not in runs[0].meta.partitions:
        partitions = ", ".join(runs[0].meta.partitions) or "none"
        raise ValueError(f"there is no partition {partition!r} in this run; there is {partitions}")
    about = [run.busiest for run in runs]
    return partition or max(about, key=about.count)


def draw_mask(canvas: Canvas, top: float, bottom: float) -> None:
    """The two shapes that `mask` moves, hidden: over other shapes, under words and boxes."""
    end, theme = canvas.end, canvas.theme
    boxes = [s for s in canvas.shapes if s.get("name", "").startswith(BOXES)]
    canvas.shapes = [s for s in canvas.shapes if s not in boxes]
    canvas.rect(end, end, top, bottom, theme.mask, name="mask", visible=False)
    canvas.line(end, top, end, bottom, theme.message, width=1.5)
    canvas.shapes[-1].update(name="cursor", visible=False)
    canvas.shapes += boxes

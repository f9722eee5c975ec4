"""The common x axis: a number per moment, and what happened there in a few words."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from ...rows.columns import Meta, MomentRow, Rows
from ..drawing.canvas import Box, Canvas, safe_lines
from ..drawing.text_width import first_fit, height_of, width_of, wrapped
from .hover_cards import folded

LINES_MAX, ROWS_MAX, SENTENCES_MAX = 3, 3, 7
ROOM_MAX = 90
"""Pixels that a label may take where not all of them find room."""
BELOW = 5
"""Pixels under a row of labels."""
AROUND = 12
"""Pixels from the middle of a number to the edges of what is lit around it."""
EVERY = (1, 2, 5, 10, 20, 50, 100, 200, 500)
"""Which of the numbers are written: all, every second ..."""


class Label(NamedTuple):
    """What happened at `x`, wrapped, on a row below the numbers; `row` counts downwards."""

    x: int
    text: str
    row: int


def labels(canvas: Canvas, moments: Sequence[MomentRow], rows_max: int = ROWS_MAX) -> list[Label]:
    """On as few rows as let every label stand free of its neighbours, whole if possible; ``B2``
    stands for ``broker 2`` where that saves a row.

    Where even the most rows don't do, labels are left out; the hover card has them.
    """
    wanted = [(m.x, m.label) for m in moments if m.line and m.label]
    abbreviated = [(x, text.replace("broker ", "B")) for x, text in wanted]
    for shortened, rows in product((False, True), range(1, rows_max + 1)):
        for texts in (wanted, abbreviated):
            placed = _on_rows(canvas, texts, rows, shortened)
            if placed is not None:
                return placed
    return list(_as_many_as_fit(canvas, abbreviated, rows_max))


def _on_rows(
    canvas: Canvas, texts: list[tuple[int, str]], rows: int, shortened: bool
) -> list[Label] | None:
    """All of them on so many rows in turn; None if one does not fit."""
    most = canvas.unit * rows - 6
    labels: list[Label] = []
    for n, (x, text) in enumerate(texts):
        room = min(most, 2 * (canvas.edge - canvas.px(x)))
        fits = _wrapped(text, room, canvas.sizes.small, shortened)
        if fits is None:
            return None
        labels.append(Label(x, fits, n % rows))
    return labels


def _as_many_as_fit(
    canvas: Canvas, wanted: list[tuple[int, str]], rows_max: int
) -> Iterator[Label]:
    """From the left, each on the first row where there is room beside what stands there."""
    size = canvas.sizes.small
    ends = [canvas.px(0) - ROOM_MAX / 2] * rows_max
    for x, text in wanted:
        for row, end in enumerate(ends):
            px = canvas.px(x)
            room = min(2 * (px - end - 4), 2 * (canvas.edge - px), ROOM_MAX)
            fitted = _wrapped(text, room, size, shortened=True)
            if fitted is not None and fitted.count("<br>") < 2:
                ends[row] = px + width_of(fitted, size) / 2
                yield Label(x, fitted, row)
                break


def _wrapped(label: str, room: float, size: float, shortened: bool) -> str | None:
    """All of a label on two lines, or on as many as are allowed; `shortened`, its first half."""
    texts = (label, label.split(", ")[0]) if shortened else (label,)
    tries = [lines for text in texts if (lines := wrapped(text, room, size)) is not None]
    fitting = (lines for most in (2, LINES_MAX) for lines in tries if lines.count("<br>") < most)
    return next(fitting, None)


def draw_axis(
    canvas: Canvas, rows: Rows, top: float, now: Rows | None = None, rows_max: int = ROWS_MAX
) -> float:
    """Numbers and labels from `top` on; returns where they end.

    Where a run is under way `now` is what has happened of it: there is room for the words of all
    of its moments, and those of later ones are not said yet. They stand on `rows_max` rows.
    """
    size, theme, happened = canvas.sizes.small, canvas.theme, rows if now is None else now
    draw_numbers(canvas, rows.meta, top, happened.meta)
    placed = labels(canvas, rows.moments, rows_max)
    first = top + canvas.sizes.text * 0.75
    heights = [0.0] * (1 + max((label.row for label in placed), default=0))
    for _, text, row in placed:
        heights[row] = max(heights[row], height_of(text, size) + BELOW)
    struck = {m.x for m in rows.moments if m.was_left_out}
    for x, text, row in (label for label in placed if label.x < happened.meta.end):
        y = first + sum(heights[:row])
        if row:
            canvas.line(x, first + 2, x, y, theme.grid)
        middle = y + height_of(text, size) / 2
        words = safe_lines(text)
        if x in struck:
            words = "<br>".join(f"<s>{line}</s>" for line in words.split("<br>"))
        canvas.text(x, middle, words, theme.muted, size=size, anchor="center")
    left = sum(bool(m.line and m.label) for m in rows.moments) - len(placed)
    if left:
        said = f"{left} more on hover", f"{left} more", f"+{left}"
        canvas.margin(top, first_fit(said, canvas.sizes.left - 16, size), theme.muted, size=size)
    _cards(canvas, happened, top)
    return first + sum(heights)


def draw_numbers(canvas: Canvas, meta: Meta, y: float, happened: Meta) -> None:
    """The play's own numbers of the moments; where there is no room for all, every fifth or so.
    They are marks of all that `happened` there: their ids are those of whole steps.

    Folded columns come first: without their numbers the others could not be counted on.
    """
    size = canvas.sizes.text
    longest = max((*meta.numbers, meta.number(meta.end)), key=len)
    wide = width_of(longest, size, bold=True) + 5

    def counted(x: int) -> int:
        return x if meta.numbers else int(meta.number(x))

    every = next((n for n in EVERY if canvas.unit * n >= wide), EVERY[-1])
    folded = [x for x, (a, b) in enumerate(meta.columns) if a < b]
    singly = [x for x in range(canvas.end + (not meta.numbers)) if x not in folded]
    taken: list[Box] = []
    for x in [*folded, *(x for x in singly if counted(x) % every == 0)]:
        text = meta.number(x)
        box = canvas.box_of(x, y, text, size, "center", bold=True)
        roomy = Box(box.x0 - 4, box.y0, box.x1 + 4, box.y1)
        if box.x1 < canvas.edge + 4 and not any(roomy.overlaps(other) for other in taken):
            taken.append(box)
            canvas.text(x, y, text, anchor="center", bold=True, layer="axis")
    for x in range(happened.end):
        first, last = happened.own(x)
        steps, px = " ".join(map(str, range(first, last + 1))), round(canvas.px(x))
        canvas.marks.append([steps, px - AROUND, round(y) - 9, px + AROUND, round(y) + 9])


def _cards(canvas: Canvas, rows: Rows, y: float) -> None:
    texts_at: dict[int, list[str]] = {}
    for event in rows.events:
        if event.kind not in _SMALL_TALK:
            texts_at.setdefault(event.x, []).append(event.text)
    for moment in rows.moments:
        sentences = texts_at.get(moment.x, [])
        left = len(sentences) - SENTENCES_MAX
        more = [f"... and {left} more"] if left > 0 else []
        heading = f"{rows.meta.number(moment.x)} · {moment.text or moment.label}"
        canvas.card(moment.x, y, folded([heading, *sentences[:SENTENCES_MAX], *more]))


_SMALL_TALK = ("sent", "delivered", "lifecycle")

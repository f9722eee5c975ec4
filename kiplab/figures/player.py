"""A step player in the page itself: slider and buttons that move the veil without a kernel."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from .columns import Rows
from .sheet import move_cursor, moving

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BUTTONS = ("First", "Back", "Play", "Step", "Last")
_PLAYER = """<div class="kiplab-player" id="{id}-player" role="group" aria-label="player" hidden>
<div>{buttons}</div>
<label>step <input type="range" min="{first}" max="{last}" value="{initial}" step="1"></label>
<p aria-live="polite"></p>
</div>
<script type="application/json" id="{id}-steps">{steps}</script>
<script>
{script}("{id}", "{key}");
</script>"""


class Step(msgspec.Struct, frozen=True):
    """The picture at one step: its label, the changes of the layout that move the veil there,
    whether the verdict shows, and how many pixels from the left the cursor stands.
    """

    label: str
    veil: dict[str, Any]
    verdict: bool
    at: int


class Steps(msgspec.Struct, frozen=True):
    """What the script is given: the steps, the one shown at first, the traces of the verdicts, and
    the number of the first step, which is not 0 where a range was zoomed in on.
    """

    steps: tuple[Step, ...]
    initial: int
    verdicts: tuple[int, ...]
    first: int = 0


def steps_of(figure: go.Figure, runs: tuple[Rows, ...]) -> Steps | None:
    """The steps of a timeline, a twin or a ladder; None for a picture that has no veil to be
    moved, or nothing to step through.

    What is shown at first is what `figure` shows: all of it, unless it was drawn with `until`.
    """
    import plotly.graph_objects as go

    numbers = moving(figure)
    if not numbers:
        return None
    labels = _labels(runs)
    # What moves is moved on a sheet of its own: among hundreds of shapes it would take minutes.
    moved = go.Figure(layout=figure.layout)
    moved.layout.shapes = [figure.layout.shapes[n] for n in numbers]
    cursor = _cursor(moved)
    columns = figure.layout.meta.get("columns") or [(x, x) for x in range(moved.layout.meta["end"])]
    first, last = columns[0][0], columns[-1][1]
    initial = columns[int(cursor.x0)][1] if cursor.visible else last
    steps = tuple(_step(moved, x, labels.get(x, ""), numbers) for x in range(first, last + 1))
    verdicts = tuple(n for n, trace in enumerate(figure.data) if trace.name == "verdict")
    return Steps(steps, initial, verdicts, first) if len(steps) > 1 else None


def _cursor(figure: go.Figure) -> Any:
    return next(shape for shape in figure.layout.shapes if shape.name == "cursor")


def _step(figure: go.Figure, moment: int, label: str, numbers: list[int]) -> Step:
    """Asks the figure where its veils and cursors are at a moment: one each per column of panels.

    `numbers` are those that its shapes have in the picture.
    """
    move_cursor(figure, moment)
    shapes = zip(numbers, figure.layout.shapes, strict=True)
    veil = {
        f"shapes[{n}].{key}": shape[key] for n, shape in shapes for key in ("visible", "x0", "x1")
    }
    cursor = _cursor(figure)
    at = _pixel(figure, cursor.xref or "x", cursor.x0)
    return Step(label, veil, not cursor.visible, at)


def _pixel(figure: go.Figure, axis: str, x: float) -> int:
    """How far from the figure's left edge `x` of an axis is."""
    found = figure.layout[axis.replace("x", "xaxis", 1)]
    (left, right), (start, end) = found.range, found.domain or (0, 1)
    return int((start + (end - start) * (x - left) / (right - left)) * figure.layout.width + 0.5)


def _labels(runs: tuple[Rows, ...]) -> dict[int, str]:
    """By moment, as on the axis: a line that does not apply in one run has the other's words."""
    found: dict[int, str] = {}
    for run in sorted(runs, key=lambda run: -run.meta.end):
        for moment in run.moments:
            if "not applicable" in found.get(moment.x, "not applicable"):
                found[moment.x] = moment.label
    return found


def player(steps: Steps, id: str, key: str) -> str:
    """The player as HTML, for the figure whose place is called ``{id}-plot``.

    `key` names the step in the page's address: ``#key=6``. Both must be words safe in HTML.
    """
    buttons = " ".join(
        f'<button type="button" data-do="{name.lower()}">{name}</button>' for name in _BUTTONS
    )
    return _PLAYER.format(
        id=id,
        key=key,
        buttons=buttons,
        first=steps.first,
        last=steps.first + len(steps.steps) - 1,
        initial=steps.initial,
        steps=script_safe(steps),
        script=_file("player.js"),
    )


def style() -> str:
    """The style sheet of the player and the figure around it; its names begin with kiplab-."""
    return _file("player.css")


def script_safe(value: object) -> str:
    """JSON that can stand in a script element: no text in it can end the element or comment it
    out, since a less-than sign is written by its number.
    """
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8").strip()

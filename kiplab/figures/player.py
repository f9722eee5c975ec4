"""A step player in the page itself: slider and buttons that move the veil without a kernel."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec

from .columns import Rows
from .sheet import move_cursor

if TYPE_CHECKING:
    import plotly.graph_objects as go

_BUTTONS = ("First", "Back", "Play", "Step", "Last")
_PLAYER = """<div class="kiplab-player" id="{id}-player" role="group" aria-label="player" hidden>
<div>{buttons}</div>
<label>step <input type="range" min="0" max="{last}" value="{initial}" step="1"></label>
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
    """What the script is given: the steps, the one shown at first, the traces of the verdicts."""

    steps: tuple[Step, ...]
    initial: int
    verdicts: tuple[int, ...]


def steps_of(figure: go.Figure, runs: tuple[Rows, ...]) -> Steps | None:
    """The steps of a timeline or a twin; None for a picture that has no veil to be moved, or
    nothing to step through.

    What is shown at first is what `figure` shows: all of it, unless it was drawn with `until`.
    """
    import plotly.graph_objects as go

    named = {shape.name: n for n, shape in enumerate(figure.layout.shapes) if shape.name}
    if not {"veil", "cursor"} <= named.keys():
        return None
    labels = _labels(runs)
    moved = go.Figure(figure)
    last = figure.layout.meta["end"] - 1
    cursor = figure.layout.shapes[named["cursor"]]
    steps = tuple(_step(moved, x, labels.get(x, ""), named) for x in range(last + 1))
    verdicts = tuple(n for n, trace in enumerate(figure.data) if trace.name == "verdict")
    return Steps(steps, int(cursor.x0) if cursor.visible else last, verdicts) if last else None


def _step(figure: go.Figure, x: int, label: str, named: dict[str, int]) -> Step:
    """Asks `figure` itself where its veil is at moment `x`."""
    move_cursor(figure, x)
    veil = {
        f"shapes[{named[name]}].{key}": figure.layout.shapes[named[name]][key]
        for name in ("veil", "cursor")
        for key in ("visible", "x0", "x1")
    }
    left, right = figure.layout.xaxis.range
    at = round((x - left) / (right - left) * figure.layout.width)
    return Step(label, veil, not figure.layout.shapes[named["veil"]].visible, at)


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
        last=len(steps.steps) - 1,
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

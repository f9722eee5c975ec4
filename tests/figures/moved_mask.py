"""A figure at another step: what is drawn once has to be right wherever the mask is moved to."""

from typing import Any

from kiplab.figures.timeline.mask import shapes_at, traces_at


def move_cursor(figure: Any, until: int | None) -> None:
    """Mask what comes after moment `until`, or nothing, and leave the words that are known then."""
    drawing = figure.to_plotly_json()
    for number, change in shapes_at(drawing, until).items():
        figure.layout.shapes[number].update(change)
    for number, change in traces_at(drawing, until).items():
        figure.data[number].update(change)

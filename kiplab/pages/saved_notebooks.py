"""A Jupyter server extension: notebooks are saved with still pictures, and so stay small.

JupyterLab adds a PNG to every plotly figure that it draws, and keeps the figure besides: a hundred
kilobytes each. Of an output that has kiplab's still picture, only that and the words are saved; of
other figures the PNG is not, because JupyterLab draws them again from what is. Of a text in
Markdown, the plain one beside it is not.
"""

from collections.abc import Iterator
from typing import Any

from ..figures.drawing.still_picture import MARK, PLOTLY

PNG, MARKDOWN, PLAIN = "image/png", "text/markdown", "text/plain"


def lighten(model: dict[str, Any], **_: Any) -> None:
    """Before a save: take what is heavy out of the outputs that don't need it."""
    content = model.get("content")
    if model.get("type") != "notebook" or not isinstance(content, dict):
        return
    for bundle in _bundles(content):
        if MARKDOWN in bundle:
            bundle.pop(PLAIN, None)
        if PLOTLY in bundle:
            bundle.pop(PNG, None)
            text = bundle.get("text/html", "")
            if MARK in ("".join(text) if isinstance(text, list) else text):
                del bundle[PLOTLY]


def _bundles(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for cell in content.get("cells", ()):
        for output in cell.get("outputs", ()):
            if isinstance(output.get("data"), dict):
                yield output["data"]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.contents_manager.register_pre_save_hook(lighten)

"""A still picture: the copy of a cell's figure where nothing runs.

A notebook's reader without plotly.js, without a kernel, or without trust in the notebook has an
image and a paragraph. The image is an ``<img>``: sanitizers that throw away an ``<svg>`` keep it.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any

from .svg import Json, svg

if TYPE_CHECKING:
    import plotly.graph_objects as go

MARK = "kiplab-still"
"""The class by which `saving` and style sheets know such an output."""
PLOTLY = "application/vnd.plotly.v1+json"
DECIMALS = 4
_IN_AN_ADDRESS = str.maketrans({c: f"%{ord(c):02X}" for c in '%#"\n\r\t'})
"""What cannot stand in the address of an image: all else may, and base64 is a third longer."""
_TAG = re.compile("<[^>]*>")


def still(drawing: Json, note: str = "") -> str:
    """The picture as HTML: the image, `note` in front of it, its description below it.

    `drawing` is plotly's data and layout of a picture that kiplab drew.
    """
    layout, description = drawing["layout"], described(drawing)
    paragraph = f"<p>{html.escape(note)}</p>" if note else ""
    alt = html.escape(f"{description.split(' (')[0]}: described below", quote=True)
    # Single quotes do in a tag, and need no three characters each.
    image = _TAG.sub(lambda tag: tag[0].replace('"', "'"), svg(drawing, described=False))
    written = image.translate(_IN_AN_ADDRESS).replace("&", "&amp;")
    return (
        f'<div class="{MARK}">{paragraph}'
        f'<img width="{layout["width"]}" height="{layout["height"]}" alt="{alt}"'
        f' src="data:image/svg+xml;charset=utf-8,{written}">'
        f"<p>{html.escape(description)}</p></div>"
    )


def described(drawing: Json) -> str:
    """What the picture shows, in a paragraph."""
    return str((drawing["layout"].get("meta") or {}).get("description", ""))


def mimebundle(figure: go.Figure) -> dict[str, Any]:
    """What a cell shows: the figure with its hover cards where plotly.js is, else the still one."""
    drawing: Json = figure.to_plotly_json()
    drawing["layout"].pop("template", None)
    live = {**rounded(drawing), "config": {"displayModeBar": False}}
    return {PLOTLY: live, "text/html": still(drawing), "text/plain": described(drawing)}


def rounded(value: Any) -> Any:
    """Plain JSON with no more decimals than a pixel needs."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return round(value, DECIMALS) if isinstance(value, float) else value

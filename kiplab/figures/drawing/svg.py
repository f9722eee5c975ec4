"""A compact SVG of a picture, written from the figure itself: no browser, a few milliseconds.

Knows what `Canvas` draws: rectangles, lines, circles, paths and words; and the panels of charts,
which `flat` makes of them. Its style sheet has class names of one letter; where the document may
stand in a page, its id keeps them to itself.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from . import Json as Json
from .flat import flat, is_panel_axis
from .text_width import LINE_HEIGHT

if TYPE_CHECKING:
    import plotly.graph_objects as go

BASELINE = 0.27
"""How far below the middle of a line its letters stand, in font sizes."""
_DASHES = {"solid": "", "dot": "3 3", "dash": "9 9"}
_ANCHORS = {"left": "end", "center": "middle", "right": "start"}
_POINT = re.compile(r"([MLZ])(?:(-?[\d.]+),(-?[\d.]+))?")
_TAG = re.compile(r"(</?[bis]>)")
_AXIS = re.compile(r"[xy]axis\d*")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Styles:
    """A class name for every set of declarations, in the order of first use."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, declarations: str) -> str:
        """The class that has these declarations."""
        number = len(self._names)
        more = str(number // len(_LETTERS)) if number >= len(_LETTERS) else ""
        return self._names.setdefault(declarations, f"{_LETTERS[number % len(_LETTERS)]}{more}")

    def sheet(self, scope: str) -> str:
        """All classes as CSS; `scope` goes in front of each, as in ``"#id "``."""
        selectors = {
            "white-space:pre": "text",
            **{style: f".{n}" for style, n in self._names.items()},
        }
        return "".join(f"{scope}{selector}{{{style}}}" for style, selector in selectors.items())


class Drawn(NamedTuple):
    """An element in the making: path data that may be joined with its neighbour's, or all of it."""

    style: str
    path: str
    element: str = ""


def svg(picture: go.Figure | Json, *, described: bool = True) -> str:
    """The picture as an SVG document, with its title and description for those who don't see it.

    `picture` is one that kiplab drew, as a figure or as plotly's data and layout in plain dicts: as
    wide and high as its layout says, without margins. Not `described` is for an ``<img>`` whose
    description stands beside it: without the description, and without an id.
    """
    drawing = flat(json_of(picture))
    layout, styles = drawing["layout"], Styles()
    shapes = [s for s in layout.get("shapes", ()) if s.get("visible", True)]
    below = _joined(_shape(s, layout, styles) for s in shapes if s.get("layer") != "above")
    words = (word for trace in drawing["data"] for word in _words(trace, layout, styles))
    # Neighbours of one style share a group that has it.
    groups = (
        f'<g class="{style}">{"".join(element for _, element in elements)}</g>'
        for style, elements in groupby(words, key=lambda word: word[0])
    )
    over = _joined(_shape(s, layout, styles) for s in shapes if s.get("layer") == "above")
    return _document(layout, styles, "".join((*below, *groups, *over)), described)


def draws(drawing: Json) -> bool:
    """Whether all that can be seen in a picture is what `svg` knows: words, shapes and panels."""
    layout = drawing["layout"]
    axes = {key: layout[key] for key in layout if _AXIS.fullmatch(key)}
    return (
        all(is_panel_axis(axis) or not axis.get("visible", True) for axis in axes.values())
        and {"xaxis", "yaxis", "width", "height"} <= layout.keys()
        and not any(layout.get(key) for key in ("images", "title"))
        and not any((layout.get("margin") or {"l": 80}).values())
        and all(_is_known(trace, axes) for trace in drawing["data"])
    )


def _is_known(trace: Json, axes: Json) -> bool:
    """Words, the invisible markers of hover cards, and what stands on a panel."""
    if is_panel_axis(axes.get((trace.get("xaxis") or "x").replace("x", "xaxis"), {})):
        return trace.get("type") in ("scatter", "bar", "heatmap")
    hidden = (trace.get("marker") or {}).get("opacity") == 0
    return trace.get("mode") == "text" or (trace.get("mode") == "markers" and hidden)


def json_of(picture: go.Figure | Json) -> Json:
    """Plotly's data and layout, of a figure or as they are."""
    drawing: Json = picture if isinstance(picture, dict) else picture.to_plotly_json()
    return drawing


def _document(layout: Json, styles: Styles, body: str, is_described: bool) -> str:
    wide, high = layout["width"], layout["height"]
    told = str((layout.get("meta") or {}).get("description", ""))
    family = html.escape(str(layout["font"]["family"]), quote=True)
    title = html.escape(told.split(" (")[0], quote=False)
    description = f"<desc>{html.escape(told, quote=False)}</desc>" if is_described else ""
    id = f"kiplab-{crc32(body.encode()):08x}" if is_described else ""
    own, scope = (f'id="{id}" ', f"#{id} ") if id else ("", "")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {own}role="img" width="{wide}" height="{high}"'
        f' viewBox="0 0 {wide} {high}" font-family="{family}">'
        f"<title>{title}</title>{description}"
        f"<style>{styles.sheet(scope)}</style>"
        f'<rect width="100%" height="100%" fill="{layout["paper_bgcolor"]}"/>{body}</svg>'
    )


def _joined(drawn: Iterable[Drawn]) -> Iterator[str]:
    """Neighbours of one style as one path: nothing that lies between them changes its place."""
    for (style, is_whole), group in groupby(drawn, key=lambda one: (one.style, bool(one.element))):
        if is_whole:
            yield from (one.element for one in group)
        else:
            yield f'<path class="{style}" d="{"".join(one.path for one in group)}"/>'


def across(layout: Json, reference: str) -> Callable[[float], float]:
    """From moments of an x axis to pixels."""
    axis = layout[reference.replace("x", "xaxis", 1)]
    (left, right), (start, end) = axis["range"], axis.get("domain") or (0, 1)
    per = (end - start) * layout["width"] / (right - left)
    return lambda x: start * layout["width"] + (x - left) * per


def _shape(shape: Json, layout: Json, styles: Styles) -> Drawn:
    to = across(layout, shape.get("xref", "x"))
    style = styles.name(_paint(shape))
    if shape["type"] == "path":
        points = _POINT.findall(shape["path"])
        return Drawn(style, _data([(c, to(float(x or 0)), float(y or 0)) for c, x, y in points]))
    x0, x1, y0, y1 = to(shape["x0"]), to(shape["x1"]), shape["y0"], shape["y1"]
    if shape["type"] == "line":
        return Drawn(style, _data([("M", x0, y0), ("L", x1, y1)]))
    if shape["type"] == "circle":
        x, y, r = _short((x0 + x1) / 2), _short((y0 + y1) / 2), _short(abs(x1 - x0) / 2)
        return Drawn(style, "", f'<circle class="{style}" cx="{x}" cy="{y}" r="{r}"/>')
    x0, x1, y0, y1 = min(x0, x1), max(x0, x1), min(y0, y1), max(y0, y1)
    wide, high = _short(x1 - x0), _short(y1 - y0)
    return Drawn(style, f"M{_short(x0)} {_short(y0)}h{wide}v{high}h-{wide}z")


def _paint(shape: Json) -> str:
    line = shape.get("line") or {}
    wide = line.get("width", 2)
    style = [f"fill:{shape['fillcolor'] if shape.get('fillcolor') else 'none'}"]
    if wide and line.get("color"):
        style += [f"stroke:{line['color']}", f"stroke-width:{_short(wide)}"]
        # ``7 4`` of plotly's ``7px,4px``; empty for a solid line.
        dash = line.get("dash") or "solid"
        dash = _DASHES.get(dash, dash.replace("px", "").replace(",", " "))
        style += [f"stroke-dasharray:{dash}"] if dash else []
    if shape.get("opacity") is not None:
        style.append(f"opacity:{shape['opacity']}")
    return ";".join(style)


def _data(points: list[tuple[str, float, float]]) -> str:
    """Path data of M, L and Z in pixels; lines by how far they go, which takes fewer digits."""
    commands, before = [], (0.0, 0.0)
    for command, *at in points:
        x, y = (round(value, 1) for value in at)
        across, down = _short(x - before[0]), _short(y - before[1])
        if command == "Z":
            commands.append("z")
        elif command == "M":
            commands.append(f"M{_short(x)} {_short(y)}")
        elif "0" in (across, down):
            commands.append(f"v{down}" if across == "0" else f"h{across}")
        else:
            commands.append(f"l{across}{'' if down.startswith('-') else ' '}{down}")
        before = before if command == "Z" else (x, y)
    return "".join(commands)


def _short(number: float) -> str:
    """One decimal, and none where there is nothing in it."""
    return f"{round(number, 1) + 0:.1f}".removesuffix(".0")


def _words(trace: Json, layout: Json, styles: Styles) -> Iterator[tuple[str, str]]:
    """(style, element) of every text of a trace."""
    if trace.get("mode") != "text" or trace.get("visible") is False:
        return
    to, font = across(layout, trace.get("xaxis") or "x"), trace["textfont"]
    columns = (trace["x"], trace["y"], trace["text"], trace["textposition"])
    for x, y, text, place, size, color in zip(*columns, font["size"], font["color"], strict=True):
        if x is None:  # not known yet at the step that is shown
            continue
        anchor = _ANCHORS[place.removeprefix("middle ")]
        style = f"fill:{color};font-size:{_short(size)}px"
        if anchor != "start":
            style += f";text-anchor:{anchor}"
        if text.startswith("<b>") and text.endswith("</b>") and text.count("<b>") == 1:
            style, text = f"{style};font-weight:bold", text[3:-4]
        lines = text.split("<br>")
        top = y - (len(lines) - 1) / 2 * size * LINE_HEIGHT + BASELINE * size
        # A bold or slanted part never reaches over the end of a line.
        at, step, (first, *rest) = _short(to(x)), _short(size * LINE_HEIGHT), map(_markup, lines)
        more = "".join(f'<tspan x="{at}" dy="{step}">{line}</tspan>' for line in rest)
        yield styles.name(style), f'<text x="{at}" y="{_short(top)}">{first}{more}</text>'


_MARKUP = {"<b>": '<tspan font-weight="bold">', "<i>": '<tspan font-style="italic">'}
_MARKUP["<s>"] = '<tspan text-decoration="line-through">'
_MARKUP |= dict.fromkeys(("</b>", "</i>", "</s>"), "</tspan>")


def _markup(line: str) -> str:
    """A line with plotly's tags as SVG's; all else escaped, whether or not it was before."""
    return "".join(
        _MARKUP.get(part) or html.escape(html.unescape(part), quote=False)
        for part in _TAG.split(line)
    )

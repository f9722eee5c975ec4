"""How wide text is, without asking a browser: Helvetica's widths, Arial's and Liberation's too."""

import re
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files

_FILE = (files(__package__) / "letter_widths.toml").read_text("utf-8")
_WIDTHS = {char: int(width) for width, chars in tomllib.loads(_FILE).items() for char in chars}
_OTHER = 1000
BOLD = 1.07
"""How much wider bold letters are."""
LINE_HEIGHT = 1.3
"""plotly's distance between lines, in font sizes."""
_TAG = re.compile(r"<[^>]*>")


def width_of(text: str, size: float, *, bold: bool = False) -> float:
    """Pixels of the widest line of `text`, which may hold plotly's tags and ``<br>``."""
    lines = text.split("<br>")
    bold = bold or "<b>" in text
    return max(_line(_TAG.sub("", line), size) for line in lines) * (BOLD if bold else 1)


def height_of(text: str, size: float) -> float:
    """Pixels of all lines of `text`."""
    return (text.count("<br>") + 1) * size * LINE_HEIGHT


def wrapped(text: str, width: float, size: float) -> str | None:
    """`text` with ``<br>`` between words so that it fits; None if a word is too wide by itself.

    As few lines as possible, and those about equally long; two halves of a sentence stay apart.
    """
    halves = text.split(", ")
    if len(halves) == 2 and _line(text, size) > width:
        halves[0] += ","
        if all(_line(half, size) <= width for half in halves):
            return "<br>".join(halves)
    first = _greedy(text, width, size)
    if first is None or "<br>" not in first:
        return first
    for share in (0.6, 0.7, 0.8, 0.9):
        narrower = _greedy(text, width * share, size)
        if narrower is not None and narrower.count("<br>") == first.count("<br>"):
            return narrower
    return first


def _greedy(text: str, width: float, size: float) -> str | None:
    lines: list[str] = []
    for word in text.split(" "):
        if _line(word, size) > width:
            return None
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _line(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "<br>".join(lines)


def shortened(text: str, width: float, size: float, *, bold: bool = False) -> str:
    """`text`, or as much of its beginning as fits on one line with an ellipsis after it."""
    if width_of(text, size, bold=bold) <= width:
        return text
    longest = (text[:n] + "…" for n in range(len(text) - 1, 0, -1))
    return next((t for t in longest if width_of(t, size, bold=bold) <= width), "…")


def first_fit(candidates: Iterable[str], width: float, size: float) -> str:
    """The first of `candidates` that fits on one line; empty if none does."""
    return next((c for c in candidates if width_of(c, size) <= width), "")


@lru_cache(maxsize=4096)  # a lab draws the same words again at every step
def _line(text: str, size: float) -> float:
    unescaped = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return sum(_WIDTHS.get(char, _OTHER) for char in unescaped) * size / 1000

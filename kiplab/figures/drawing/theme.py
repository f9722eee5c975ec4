"""Colours, fonts and sizes. Okabe and Ito's palette, and never a colour without a word or a shape.

Fills that carry text, and text in a palette colour, are that colour darkened (light theme) or
lightened (dark theme) until they reach a contrast of 4.5 to 1.
"""

from math import floor
from typing import Any

import msgspec

FONT = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"


def _pair(light: str, dark: str) -> Any:
    return light, dark


class Theme:
    """One colour per meaning; ``_text`` marks colours that text is written in.

    Orange is kept for records that are lost, cut off or given up. What a rule refused was often
    saved by that: it is violet, far from the orange for every kind of colour vision. Green says
    that records are safe: whoever leads or is in the ISR is slate, for that alone proves nothing.
    """

    paper: str = _pair("#ffffff", "#14181c")
    text: str = _pair("#1b1f23", "#e8eaed")
    muted: str = _pair("#5b636b", "#a3abb3")
    grid: str = _pair("#f0f1f3", "#20262b")
    line: str = _pair("#9aa1a8", "#6c757d")
    epoch_fill: str = _pair("#e9f0fb", "#1d2a3d")
    isr_fill: str = _pair("#f0f2f4", "#242a30")
    tile: str = _pair("#eceff2", "#22282e")
    tile_edge: str = _pair("#7d858d", "#8b949c")
    band_edge: str = _pair("#16191c", "#e8eaed")
    leader: str = _pair("#33475c", "#4d6a86")
    leader_text: str = _pair("#fffffe", "#ffffff")
    member: str = _pair("#c9d8e6", "#24384a")
    member_edge: str = _pair("#5b7d9c", "#7fa3c4")
    member_text: str = _pair("#1d3347", "#cfe2f3")
    hatch: str = _pair("#7d858d", "#8b949c")
    message: str = _pair("#006fae", "#56B4E9")
    refused: str = _pair("#8a1fdb", "#c27dff")
    gone: str = _pair("#b34e00", "#ff9a52")
    safe: str = _pair("#d3ece3", "#16382f")
    safe_text: str = _pair("#00543d", "#a8e6d1")
    risk: str = _pair("#fbf6bf", "#47420f")
    risk_edge: str = _pair("#b3a300", "#d8cb3a")
    risk_text: str = _pair("#5f5600", "#f3e97c")
    lost: str = _pair("#f7d3bd", "#55290f")
    lost_text: str = _pair("#9c3f00", "#ffb285")
    offline: str = _pair("#e4e7ea", "#2c3339")
    box: str = _pair("#ffffff", "#14181c")
    log: str = _pair("#c3d3ec", "#2c4468")
    mask: str = _pair("rgba(255,255,255,0.92)", "rgba(20,24,28,0.92)")
    dot: str = _pair("#8b9299", "#6c757d")

    def __init__(self, name: str) -> None:
        self.name = name
        for key in _COLORS:
            setattr(self, key, getattr(Theme, key)[name == "dark"])


_COLORS = tuple(Theme.__annotations__)
LIGHT, DARK = Theme("light"), Theme("dark")
THEMES = {"light": LIGHT, "dark": DARK}


class Sizes(msgspec.Struct, frozen=True):
    """Pixels. Narrow figures have the smallest set, those for a projector the largest. `air` is the
    share of the room between parts that is left: all of it where there is height enough. `aside` is
    what stands beside the plot, at its right.
    """

    left: int
    right: int
    text: float
    small: float
    title: float
    heading: float
    strip: int
    gap: int
    tile: int
    band: int
    air: float = 1.0
    aside: float = 0.0


WIDE = Sizes(122, 26, 11.5, 11, 14, 17, 21, 5, 62, 28)
LARGE = Sizes(142, 32, 13.5, 12, 17, 21, 25, 6, 68, 32)
NARROW = Sizes(94, 14, 11, 11, 12, 14, 19, 4, 59, 24)
NARROW_BELOW = 720
LARGE_FROM = 1300
LOWER = {4: (6, 6), 5: (14, 6), 6: (16, 7)}
"""By the number of brokers, how much lower their tiles and bands are; six is for more, too."""
LOWEST_STRIP, LOWEST_BAND, LOWEST_AIR = 4, 10, 0.37
"""How much lower strips and bands are where lanes are as low as can be, and what room is left."""


def sizes_of(width: int, brokers: int = 2, *, low: float | None = None) -> Sizes:
    """The set for a figure of this width. With many brokers their lanes are lower.

    `low` is for a window that is not high: 0 for lanes as ever, 1 for the lowest that can be read,
    with as large a font; never the largest set.
    """
    is_large = width >= LARGE_FROM and low is None
    sizes = LARGE if is_large else NARROW if width < NARROW_BELOW else WIDE
    tile, band = LOWER.get(min(brokers, max(LOWER)), (0, 0))
    lower = msgspec.structs.replace(sizes, tile=sizes.tile - tile, band=sizes.band - band)
    if not low:
        return lower
    (lowest, _), air = LOWER[max(LOWER)], 1 - (1 - LOWEST_AIR) * low
    return msgspec.structs.replace(
        lower,
        strip=floor(sizes.strip - LOWEST_STRIP * low),
        gap=floor(sizes.gap * air),
        tile=floor(lower.tile - (lowest - tile) * low),
        band=floor(lower.band - (LOWEST_BAND - band) * low),
        air=air,
    )


def theme_of(name: str) -> Theme:
    """The theme called `name`. Raises ValueError with the names there are."""
    if name not in THEMES:
        raise ValueError(f"there is no theme {name!r}; the themes are {', '.join(THEMES)}")
    return THEMES[name]


def dark_of_light() -> dict[str, str]:
    """The dark theme's colour for each of the light one's, with which a picture can be painted
    dark without being drawn again. No two of the light theme's are alike where the dark one's
    are not.
    """
    return {getattr(LIGHT, key): getattr(DARK, key) for key in _COLORS}


def mixed(color: str, other: str, share: float) -> str:
    """``#rrggbb`` between two such colours, `share` of the way to the other."""
    pairs = ((int(c[n : n + 2], 16) for c in (color, other)) for n in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)

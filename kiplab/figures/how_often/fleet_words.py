"""What pictures of the fleet say: numbers with few digits, names of sets of KIPs and of metrics."""

import tomllib
from collections.abc import Hashable, Iterable, Sequence
from html import escape
from importlib.resources import files
from math import floor, log10
from typing import TypeVar

import msgspec

from ...rows.sentences import html_table

NO_KIPS = "none"
_OF_TODAY = {"elr": "Kafka 4.3 with ELR", "no-elr": "Kafka 4.3 without ELR"}
"""Sets that are named after no KIP (ELR: eligible leader replicas, KIP-966)."""
_SameKey = TypeVar("_SameKey", bound=Hashable)
_FILE = (files(__package__) / "fleet_words.toml").read_text("utf-8")
_METRICS = dict[str, str](tomllib.loads(_FILE))


def metric_words(metric: str) -> str:
    """``A stale replica joins the ISR``; a metric without words says its name."""
    return _METRICS.get(metric, metric.replace("_", " ").capitalize())


def set_words(features: str) -> str:
    """``KIP-841+903``; ``no KIP`` for none; ``Kafka 4.3 with ELR``."""
    kips = "no KIP" if features == NO_KIPS else f"KIP-{features}"
    return _OF_TODAY.get(features, kips)


def sets_words(several: list[str]) -> str:
    """Sets that came to the same: ``KIP-841 (also with 704)``."""
    first, *others = several
    had, also = {*first.split("+")} - {NO_KIPS}, []
    for other in others:
        kips = other.split("+")
        more = "+".join(kip for kip in kips if kip not in had)
        is_more = had < {*kips} and not {first, other} & {*_OF_TODAY}
        also.append(f"with {more}" if is_more else set_words(other))
    return set_words(first) + (f" (also {', '.join(also)})" if also else "")


def counted(count: int, what: str) -> str:
    """``1 incident``, ``2,000 incidents``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(words: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def alike(pairs: Iterable[tuple[_SameKey, str]]) -> dict[_SameKey, list[str]]:
    """Names that came to the same, by what they came to, in their order."""
    same: dict[_SameKey, list[str]] = {}
    for key, name in pairs:
        same.setdefault(key, []).append(name)
    return same


def capital(words: str) -> str:
    """With a capital letter, but for the name of a parameter."""
    return words if "_" in words else words[:1].upper() + words[1:]


class PlotTable(msgspec.Struct, frozen=True):
    """A caption, heads, and a line of words per row."""

    caption: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]


def plot_table_html(table: PlotTable) -> str:
    """The table as HTML; the first word of a line is its head."""
    cells = ((first, (f"<td>{escape(word)}</td>" for word in more)) for first, *more in table.lines)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(more)}</tr>' for first, more in cells
    )
    return html_table(table.caption, table.heads, lines)


NARROW = "to within its last digit"
"""An interval whose ends no number of digits in reason tells apart."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_TIMES = "×"
_PLAIN = range(-3, 6)
"""Exponents of numbers that are written without a power of ten."""


def power_words(exponent: int) -> str:
    """``10⁻⁸``; from a thousandth to 100,000 the number itself."""
    if exponent in _PLAIN:
        return f"{10.0**exponent:,g}" if exponent < 0 else f"{10**exponent:,}"
    return f"10{str(exponent).translate(_RAISED)}"


def number_words(value: float, digits: int = 2) -> str:
    """``1.9×10⁻⁸``, ``0.012``, ``3,200``: so many significant digits."""
    if value == 0:
        return "0"
    sign = "−" if value < 0 else ""
    exponent = floor(log10(abs(value)))
    mantissa = round(abs(value) / 10.0**exponent, digits - 1)
    if mantissa >= 10:  # 9.96 is 1.0 times ten
        exponent, mantissa = exponent + 1, mantissa / 10
    if exponent not in _PLAIN:
        return f"{sign}{mantissa:.{digits - 1}f}×10{str(exponent).translate(_RAISED)}"
    words = f"{mantissa * 10.0**exponent:,.{max(digits - 1 - exponent, 0)}f}"
    return sign + (words.rstrip("0").rstrip(".") if "." in words else words)


def telling_digits(low: float, high: float) -> int:
    """How many significant digits tell the ends of an interval apart: two, up to six if need be."""
    candidates = (
        (digits, f"{low:.{digits - 1}e}", f"{high:.{digits - 1}e}") for digits in range(2, 6)
    )
    return next((digits for digits, first, last in candidates if first != last), 6)


def value_words(value: float) -> str:
    """``104``, ``1.57×10⁻²``, ``10⁻⁴``: a parameter, to three digits and without idle zeros."""
    mantissa, times, power = number_words(value, 3).partition(_TIMES)
    if not times:
        return mantissa
    short = mantissa.rstrip("0").rstrip(".")
    return power if short == "1" else f"{short}{times}{power}"


def range_words(low: float, high: float) -> str:
    """``1.7 to 2.1×10⁻⁸``: a power of ten that both share is said once."""
    digits = telling_digits(low, high)
    first, last = number_words(low, digits), number_words(high, digits)
    return NARROW if first == last else _both(first, last)


def _both(first: str, last: str) -> str:
    """Two numbers; a power of ten that both share is said once."""
    start, times, power = first.partition(_TIMES)
    shares = bool(times) and last.endswith(f"{times}{power}")
    return f"{start if shares else first} to {last}"


def share_words(share: float) -> str:
    """``23 %``; what is not quite 0 or 1 is not said to be."""
    return f"{_percent(share)} %"


def share_range_words(low: float, high: float) -> str:
    """``18 to 29 %``, with as many digits as tell the two apart; empty where none do."""
    candidates = ((_percent(low, digits), _percent(high, digits)) for digits in range(2, 6))
    return next((f"{_both(first, last)} %" for first, last in candidates if first != last), "")


def _percent(share: float, digits: int = 2) -> str:
    percent = 100 * share
    if share in (0, 1):
        return f"{percent:.0f}"
    if percent > 99.9:
        return "over 99.9"
    if percent >= 99:
        return f"{floor(percent * 10) / 10:.1f}"
    return f"{percent:.{digits - 2}f}" if percent >= 10 else number_words(percent, digits)

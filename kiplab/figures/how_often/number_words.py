"""Numbers as people read them: few digits, powers of ten, no false 0 or 100 %."""

from math import floor, log10

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

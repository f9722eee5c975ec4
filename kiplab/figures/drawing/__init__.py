"""Drawing tools of every picture: a canvas, a theme, widths of text, still copies."""

from typing import Any

Json = dict[str, Any]
"""Plotly's data and layout, or a part of them, in plain values."""

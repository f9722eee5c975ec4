"""What a check has found, as a panel shows it under its button."""

from __future__ import annotations

from html import escape

from ...widgets.markup import INK, SOFT
from ..exercises.check_result import Checked


def told(found: Checked) -> str:
    """What is told of an answer at this attempt, as HTML that a screen reader speaks."""
    mark = "✓" if found.right else "○"
    edge = "#009e73" if found.right else "#e69f00"
    lines = [f"<b>{mark} {found.points} of {found.of} points.</b> {escape(found.message)}"]
    lines += [escape(text) for text in (found.where, found.which) if text]
    if found.misconception:
        lines.append(f"You may be thinking that <i>{escape(found.misconception)}</i>.")
    if found.hint:
        lines.append(f"Hint: {escape(found.hint)}")
    if found.kept:
        lines.append(escape(found.kept))
    return (
        f'<div class="kiplab-checked" role="status" style="border-left:5px solid {edge};'
        f'padding:6px 12px;line-height:1.5;color:{INK};background:{SOFT}">'
        f"{'<br>'.join(lines)}</div>"
    )

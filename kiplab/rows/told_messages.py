"""Which messages a picture draws and a summary tells, the most telling first."""

from __future__ import annotations

from msgspec.structs import replace

from ..protocol.messages import BODIES
from .columns import MessageRow, Rows

ARROWS_MAX = 12


def told_messages(rows: Rows, partition: str = "") -> list[MessageRow]:
    """The messages that get an arrow, most telling first; equal ones share one arrow.

    Those that arrived at once and were not refused have none: hover cards and tables list them.
    With `partition`, those about others have none either.
    """
    told = [m for m in rows.messages if m.is_telling]
    if partition:
        told = [m for m in told if m.partition in ("", partition)]
    groups: dict[tuple[object, ...], list[MessageRow]] = {}
    for m in told:
        key = (m.kind, m.sender, m.receiver, m.x_arrived, m.fate, m.partition)
        groups.setdefault(key, []).append(m)
    merged = [_merged(group) for group in groups.values()]
    return sorted(merged, key=_rank)[:ARROWS_MAX]


def _merged(group: list[MessageRow]) -> MessageRow:
    first, *others = group
    if not others:
        return first
    ended = (*first.ended, *(id for m in others for id in (m.began, *m.ended) if id))
    return replace(first, label=f"{first.label} ×{len(group)}", ended=ended)  # noqa: RUF001


def _rank(message: MessageRow) -> tuple[bool, int, int]:
    return (message.fate != "refused", BODIES[message.kind].told, message.x_sent)

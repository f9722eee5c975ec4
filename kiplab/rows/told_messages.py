"""Which messages a picture draws and a summary tells, the most telling first."""

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
        told = [m for m in told if m.earlier_life or m.partition in ("", partition)]
    groups: dict[tuple[object, ...], list[MessageRow]] = {}
    for m in told:
        groups.setdefault(_alike(m), []).append(m)
    merged = [_merged(group) for group in groups.values()]
    return sorted(merged, key=_rank)[:ARROWS_MAX]


def _alike(m: MessageRow) -> tuple[object, ...]:
    """What equal messages have in common; mail for an earlier life that comes at one moment is one
    bundle, whatever it asks for.
    """
    if m.earlier_life:
        return (m.sender, m.receiver, m.x_arrived, m.fate, m.error, m.meant_for)
    return (m.kind, m.sender, m.receiver, m.x_arrived, m.fate, m.partition)


def _merged(group: list[MessageRow]) -> MessageRow:
    first, *others = group
    if not others:
        return first
    ended = (*first.ended, *(id for m in others for id in (m.began, *m.ended) if id))
    if first.earlier_life:
        detail = "; ".join(m.detail for m in group)
        fields = (*first.fields, *dict.fromkeys(m.detail for m in group))
        return replace(first, label=_bundle(group), detail=detail, fields=fields, ended=ended)
    return replace(first, label=f"{first.label} ×{len(group)}", ended=ended)


def _bundle(group: list[MessageRow]) -> str:
    """``LeaderAndIsr, StopReplica ×2 · 3 requests for czxid 100``."""
    names = [BODIES[m.kind].api.label for m in group]
    listed = ", ".join(
        name if names.count(name) == 1 else f"{name} ×{names.count(name)}"
        for name in dict.fromkeys(names)
    )
    return f"{listed} · {len(group)} requests for czxid {group[0].meant_for}"


def _rank(message: MessageRow) -> tuple[bool, int, int]:
    return (message.fate != "refused", BODIES[message.kind].told, message.x_sent)

"""Both columns of a play as text: line by line, side by side."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap

from ...plays.verdict import sentence, verdict
from ..zookeeper_plays.control_columns import ControlColumns
from .two_columns import ColumnLine, TwoColumns

AnyColumns = TwoColumns | ControlColumns

NARROWEST, WIDEST = 80, 180
"""Characters of a line of text."""
OWN = "●"
"""Before what is Kafka's own, in its column."""
_GAP, _INDENT = " │ ", "     "


def columns_text(both: AnyColumns, names: tuple[str, str], notes: Sequence[str], width: int) -> str:
    """The whole play, in lines of `width` characters or what comes nearest; `names` head the
    columns, and `notes` come before them.
    """
    room = (max(NARROWEST, min(width, WIDEST)) - len(_INDENT) - len(_GAP)) // 2
    legend = f"{OWN} marks what Kafka itself has said or done, in its column."
    lines = [both.engine.play.title, *notes, legend, "", *_beside([names[0]], [names[1]], room)]
    lines.append(_INDENT + "─" * room + "─┼─" + "─" * room)
    for line in both.lines:
        lines += _of_line(line, room)
    return "\n".join([*lines, "", *_ending(both), ""])


def _of_line(line: ColumnLine, room: int) -> Iterator[str]:
    yield f"{line.step:>3}  {line.play}{'' if line.agree else '   ≠ here they part'}"
    both = zip(line.kafka, line.own, strict=True)
    marked = [f"{OWN if own else ' '} {sentence}" for sentence, own in both]
    yield from _beside(line.engine, marked, room)


def _beside(left: Sequence[str], right: Sequence[str], room: int) -> Iterator[str]:
    for one, other in zip_longest(left, right, fillvalue=""):
        pieces = zip_longest(_wrapped(one, room), _wrapped(other, room), fillvalue="")
        for mine, theirs in pieces:
            yield f"{_INDENT}{mine:<{room}}{_GAP}{theirs}".rstrip()


def _wrapped(text: str, room: int) -> list[str]:
    return wrap(text, room, subsequent_indent="    ")


def _counts(both: AnyColumns) -> Iterator[str]:
    if isinstance(both, ControlColumns):
        yield f"{both.requests} requests, {both.records} states of partitions"
    elif both.judges.decides:
        yield f"{both.requests} requests, {both.records} records"
    if both.judges.leads:
        yield f"{both.turns} turns of brokers"


def _ending(both: AnyColumns) -> Iterator[str]:
    counts = ", ".join(_counts(both))
    if both.agree:
        yield f"They agree ({counts}). {verdict(both.kafka)}: {sentence(both.kafka)}"
        return
    parted = next(line for line in both.lines if not line.agree)
    yield f"They part at step {parted.step}, {parted.play!r} ({counts})."
    yield f"the engine: {verdict(both.engine)}: {sentence(both.engine)}"
    if isinstance(both, ControlColumns):
        yield "Kafka: unknown: brokers go on as beside the engine's controller."
    else:
        yield f"Kafka: {verdict(both.kafka)}: {sentence(both.kafka)}"

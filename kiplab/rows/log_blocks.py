"""All logs of a partition side by side: at one moment, or at the few at which those of a run part.

After an unclean election, or one from the ELR after which records are cut, these are: the election
itself, the first other record of the new leader at the same offset, the old leader's truncation of
its log, and the end.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, product
from typing import NamedTuple

from ..engine.cluster import Cluster, broker
from ..engine.consumers import consumer_of
from ..engine.events import CommittedLost
from ..engine.truth import partition_of, truth
from ..protocol.ids import NO_LEADER_EPOCH, BrokerId
from ..protocol.log import Log
from ..protocol.replica.broker_state import log_of
from .client_records import stretches as stretches_of
from .client_requests import client_name
from .columns import LOST, LogRow, MarkRow, Ranges, Rows, SpanRow, broker_lane, offsets
from .snapshots import Snapshot, stretches

BLOCKS_MAX = 4
HIGH_WATERMARK = "high watermark "
"""How the flag of a log's span begins; the number follows."""
LEADS = ("leader", "elected")
"""The roles of whom the controller has as leader."""


class LogCell(NamedTuple):
    """Records from `first` up to `end` of one leader epoch. `has` says whether the leader has the
    same ones, `lost` whether they had been committed, `committed` whether they are.
    """

    first: int
    end: int
    epoch: int
    has: bool
    lost: bool = False
    committed: bool = True


class LogSide(NamedTuple):
    """One log: a broker's, or all that a consumer has read. `state` is leader, down or empty, `cut`
    the offset at which it was cut just now; `end` is where a broker's log ends, and `mark` the high
    watermark that it knows of.
    """

    holder: str
    state: str
    cells: tuple[LogCell, ...]
    cut: int | None = None
    end: int | None = None
    mark: int | None = None

    @property
    def is_read(self) -> bool:
        """Whether it is what a consumer has read."""
        return not self.holder.startswith("broker ")


class LogBlock(NamedTuple):
    """All logs at moment `x`; `lost` are committed records that are gone, `mark` the leader's."""

    x: int
    words: str
    sides: tuple[LogSide, ...]
    lost: tuple[tuple[int, int], ...]
    mark: int | None = None


def log_blocks(rows: Rows, partition: str) -> tuple[LogBlock, ...]:
    """In the order of time; none for a run in which no election parts the logs."""
    blocks: list[LogBlock] = []
    for x in sorted(_moments(rows, partition)):
        block = logs_at(rows, partition, x)
        if not blocks or _content(block) != _content(blocks[-1]):
            blocks.append(block)
    return tuple(blocks[:BLOCKS_MAX])


def log_sentences(rows: Rows, partition: str) -> str:
    """The same in sentences."""
    return "".join(
        f" At {rows.meta.number(x)} ({words}), {'; '.join(map(side_words, sides))}."
        for x, words, sides, *_ in log_blocks(rows, partition)
    )


def side_words(side: LogSide) -> str:
    """``broker 1 (down) has offsets 0–10 of leader epoch 5``, and what the leader has not."""
    who = f"{side.holder} ({side.state})" if side.state else side.holder
    verb = "has read" if side.is_read else "has"
    return f"{who} {verb} {', '.join(map(_cell_words, side.cells)) or 'no records'}"


def _cell_words(cell: LogCell) -> str:
    fate = "committed once and lost" if cell.lost else "which the leader lacks"
    records = f"{offsets(cell.first, cell.end - 1)} of leader epoch {cell.epoch}"
    return records if cell.has else f"{records}, {fate}"


def _content(block: LogBlock) -> object:
    return block.lost, [(side.holder, side.cells, side.cut) for side in block.sides]


# --- which moments ------------------------------------------------------------------------------


def _moments(rows: Rows, partition: str) -> set[int]:
    marks = [m for m in rows.marks if m.partition == partition]
    first = _first(marks)
    if first is None:
        return set()
    later = range(first, rows.meta.end)
    parted = next((x for x in later if _is_parted(rows, partition, x)), first)
    cut = next((m.x for m in marks if m.kind == "truncated" and m.x >= first), first)
    changes = (r.x0 for r in rows.logs if r.partition == partition)
    return {first, parted, cut, max((first, *changes))}


def _first(marks: Sequence[MarkRow]) -> int | None:
    """The unclean election; else one from the ELR, if records that were not committed are cut."""
    elected = {m.kind: m.x for m in reversed(marks) if m.kind in ("unclean", "from ELR")}
    from_elr = elected.get("from ELR")
    cut = from_elr is not None and any(m.kind == "truncated" and m.x >= from_elr for m in marks)
    return elected.get("unclean", from_elr if cut else None)


def _is_parted(rows: Rows, partition: str, x: int) -> bool:
    """Whether a broker has another record than the leader at the same offset."""
    sides = logs_at(rows, partition, x).sides
    end = max((c.end for s in sides if s.state == "leader" for c in s.cells), default=0)
    mine = (cell for side in sides if not side.is_read for cell in side.cells)
    return any(not cell.has and cell.first < end for cell in mine)


def _words(rows: Rows, partition: str, x: int) -> str:
    here = [m for m in rows.marks if m.x == x and m.partition == partition]
    words = [f"{mark.lane} {mark.text}" for mark in here if mark.kind == "truncated"]
    words += ["unclean election" for mark in here if mark.kind == "unclean"]
    words += ["election from the ELR" for mark in here if mark.kind == "from ELR"]
    return [*words, *(m.label for m in rows.moments if m.x == x), ""][0]


# --- the logs at a moment -----------------------------------------------------------------------


def logs_at(rows: Rows, partition: str, x: int) -> LogBlock:
    """All logs as they are at the end of moment `x`."""
    here = [r for r in rows.logs if r.partition == partition and r.x0 <= x < r.x1]
    lost = tuple(sorted(r[1:] for row in here if row.holder == LOST for r in row.ranges))
    states = {
        broker_lane(id): _state(rows, broker_lane(id), partition, x) for id in rows.meta.brokers
    }
    leader = next((r for r in here if states.get(r.holder) == "leader"), None)
    leads = None if leader is None else leader.ranges
    committed = committed_end(rows, partition, x)
    cuts = {
        m.lane: int(re.findall(r"\d+", m.text)[-1])
        for m in rows.marks
        if (m.x, m.kind, m.partition) == (x, "truncated", partition)
    }
    sides = []
    for row in (r for r in here if r.holder != LOST and (r.ranges or r.holder in states)):
        cells = tuple(_cells(row.ranges, row.ranges if leads is None else leads, lost, committed))
        span = rows.at(row.holder, "log", x, partition)
        ends = (None, None) if span is None else (int(span.value), high_watermark(span))
        sides.append(
            LogSide(row.holder, states.get(row.holder, ""), cells, cuts.get(row.holder), *ends)
        )
    mark = next((side.mark for side in sides if side.state == "leader"), None)
    return LogBlock(x, _words(rows, partition, x), tuple(sides), lost, mark)


def high_watermark(span: SpanRow) -> int | None:
    """That of a log's span, if the process that has the log knows one."""
    return next((int(flag.removeprefix(HIGH_WATERMARK)) for flag in span.flags), None)


def committed_end(rows: Rows, partition: str, x: int) -> int:
    """Where committed records end at `x`: the highest high watermark since the last loss."""
    lost = [r.x0 for r in rows.logs if (r.holder, r.partition) == (LOST, partition)]
    start = max((at for at in lost if at <= x), default=0)
    end = 0
    for lane in map(broker_lane, rows.meta.brokers):
        leads = [s for s in rows.tracks.get((lane, "role"), ()) if s.value in LEADS]
        for led, log in product(leads, rows.tracks.get((lane, "log"), ())):
            begins, mark = max(led.x0, log.x0), high_watermark(log)
            about = led.partition == log.partition == partition
            if about and start <= begins <= x and begins < min(led.x1, log.x1):
                end = max(end, mark or 0)
    return end


def _state(rows: Rows, lane: str, partition: str, x: int) -> str:
    if rows.at(lane, "down", x) is not None:
        return "down"
    return "leader" if rows.value(lane, "role", x, partition) in LEADS else ""


def _cells(
    ranges: Ranges, leader: Ranges, lost: tuple[tuple[int, int], ...], committed: int
) -> list[LogCell]:
    """Cut where the leader's log parts, where losses begin and end, where `committed` ends."""
    edges = {o for _, first, end in leader for o in (first, end)} | {o for r in lost for o in r}
    edges.add(committed)
    start = min((first for _, first, _ in leader), default=0)
    cells: list[LogCell] = []
    for epoch, first, end in ranges:
        ends = sorted({first, end, *(o for o in edges if first < o < end)})
        for a, b in pairwise(ends):
            has = b <= start or any(
                (e, f <= a, b <= t) == (epoch, True, True) for e, f, t in leader
            )
            gone = not has and any(f <= a and b <= t for f, t in lost)
            cell = LogCell(a, b, epoch, has, gone, has and b <= committed)
            if cells and cells[-1][1:] == (a, *cell[2:]):
                cells[-1] = cells[-1]._replace(end=b)
            else:
                cells.append(cell)
    return cells


# --- log rows -------------------------------------------------------------------------------------


def log_rows(shots: Sequence[Snapshot]) -> Iterator[LogRow]:
    """Partition by partition: brokers, consumers, what was lost."""
    for name in (p.name for p in truth(shots[0].cluster).partitions):
        for node in shots[0].cluster.brokers:
            yield from _rows(shots, broker_lane(node.id), name, partial(_disk, node.id, name))
        for consumer in shots[-1].cluster.consumers:
            if consumer.partition == name:
                lane = client_name("consumer", consumer.name)
                yield from _rows(shots, lane, name, partial(_memory, consumer.name, name))
        yield from _lost(shots, name)


def _rows(
    shots: Sequence[Snapshot], holder: str, name: str, read: Callable[[Cluster], Ranges | None]
) -> Iterator[LogRow]:
    readings = ((shot.x, read(shot.cluster)) for shot in shots)
    for x0, x1, records in stretches(readings, shots[-1].x + 1):
        yield LogRow(holder, name, x0, x1, records)


def _disk(id: BrokerId, name: str, cluster: Cluster) -> Ranges | None:
    node, state = broker(cluster, id), partition_of(cluster, name)
    if node is None or state is None or id not in state.replicas:
        return None
    return ranges(log_of(node, name))


def _memory(consumer: str, name: str, cluster: Cluster) -> Ranges | None:
    mine = consumer_of(cluster, consumer, name)
    return None if mine is None else ranges(mine.observed)


def ranges(log: Log) -> Ranges:
    """Its records by leader epoch; what lies below its start, or was never read, is left out."""
    return tuple((int(s.epoch), int(s.first), int(s.last) + 1) for s in stretches_of(log))


def _lost(shots: Sequence[Snapshot], name: str) -> Iterator[LogRow]:
    for shot in shots:
        for event in shot.events:
            if isinstance(event, CommittedLost) and event.partition == name:
                gone = ((int(NO_LEADER_EPOCH), int(event.first), int(event.last) + 1),)
                yield LogRow(LOST, name, shot.x, shots[-1].x + 1, gone)

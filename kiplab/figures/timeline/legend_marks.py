"""One table says of every mark what it means, how it looks, and where it occurs."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from ...rows.client_requests import asked_about, clients_shown
from ...rows.columns import QUEUE_FOR, MessageRow, Rows, has_zookeeper
from ...rows.log_blocks import log_blocks
from ...rows.told_messages import told_messages
from . import legend_samples
from .legend_samples import Draw

WATCH = "watcher-event"
"""The kind of message that a watch sends when it goes off."""
_DOWN = ("disk replaced", "tail lost", "crashed", "stopped", "down")


class Seen(NamedTuple):
    """What occurs in a run, for the partition that is followed: (track, value) of its states,
    (value, flag) of its roles, kinds of its brokers' marks, the messages that have arrows; of the
    cells of logs whether they were only read, and whether the leader has them. `untold` is that
    some broker does not know the czxid that its tile has.
    """

    states: frozenset[tuple[str, str]]
    flags: frozenset[tuple[str, str]]
    marks: frozenset[str]
    messages: tuple[MessageRow, ...]
    unfenced: bool
    ticked: bool
    zookeeper: bool
    untold: bool
    watched: bool
    cells: frozenset[tuple[bool, bool]]


Occurs = Callable[[Seen], bool]


Group = Literal[
    "replica", "broker", "ZooKeeper", "controller", "messages", "committed records", "logs"
]
"""What an entry is about, as the legend's headings say it."""
GROUPS: tuple[Group, ...] = get_args(Group)


class Mark(NamedTuple):
    """An entry: `glyph` stands for the swatch in plain text."""

    id: str
    group: Group
    glyph: str
    words: str
    draw: Draw
    occurs: Occurs


def legend_words(rows: Rows, partition: str = "") -> list[tuple[str, str]]:
    """(glyph, words) of every mark in a picture of this run."""
    return [(mark.glyph, mark.words) for mark in occurring((rows,), partition)]


def occurring(
    rows_list: Sequence[Rows], partition: str = "", *, growing: bool = False
) -> list[Mark]:
    """The entries that occur in any of these runs, in the table's order.

    In pictures of a `growing` run, messages that take their time are on their way for a while, and
    how it may end stands there whether or not it will: a legend must not give that away.
    """
    sights = [_seen(rows, partition or rows.busiest) for rows in rows_list]
    found = {mark.id for mark in MARKS if any(map(mark.occurs, sights))}
    if growing:
        found |= {"message in flight", "message guarded", "at risk", "lost", "offline"}
        # Its logs are not laid side by side: they would leave no room for its lanes.
        found -= {mark.id for mark in MARKS if mark.group == "logs"}
    return [mark for mark in MARKS if mark.id in found]


# --- where a mark occurs ------------------------------------------------------------------------


def _seen(rows: Rows, partition: str) -> Seen:
    """One pass over the rows: a legend is drawn with every repaint."""
    here = [s for s in rows.spans if s.partition in ("", partition)]
    return Seen(
        states=frozenset((s.track, s.value) for s in here),
        flags=frozenset((s.value, flag) for s in here if s.track == "role" for flag in s.flags),
        marks=frozenset(
            m.kind
            for m in rows.marks
            if m.partition in ("", partition) and m.lane.startswith(("broker", "controller"))
        ),
        messages=(*told_messages(rows, partition), *_asked(rows, partition)),
        unfenced=any(rows.gates(f"broker {id}") for id in rows.meta.brokers),
        ticked=bool(rows.ticks),
        zookeeper=has_zookeeper(rows),
        untold=any("not told" in s.flags for s in here if s.track == "uptime"),
        watched=any(m.kind == WATCH and m.x_sent == m.x_arrived for m in rows.messages),
        cells=frozenset(
            (side.is_read, cell.has)
            for block in log_blocks(rows, partition)
            for side in block.sides
            for cell in side.cells
        ),
    )


def _asked(rows: Rows, partition: str) -> Iterator[MessageRow]:
    shown = clients_shown(rows, partition)
    return (asked for asked in asked_about(rows, partition) if asked.sender in shown)


def _is_role(*values: str) -> Occurs:
    return _is_track("role", *values)


def _has_flag(flag: str, *values: str) -> Occurs:
    return lambda seen: any((value, flag) in seen.flags for value in values)


def _is_track(track: str, *values: str) -> Occurs:
    return lambda seen: any((track, value) in seen.states for value in values)


def _is_tiled(seen: Seen) -> bool:
    return not seen.zookeeper and any(track == "uptime" for track, _ in seen.states)


def _has_new_controllers(seen: Seen) -> bool:
    return sum(track == "controller epoch" for track, _ in seen.states) > 1


def _is_mark(kind: str) -> Occurs:
    return lambda seen: kind in seen.marks


def _is_message(test: Callable[[MessageRow], bool]) -> Occurs:
    return lambda seen: any(map(test, seen.messages))


def _is_late(message: MessageRow) -> bool:
    arrived = message.x_arrived
    return message.fate in ("delivered", "refused") and (arrived or 0) > message.x_sent


MARKS: tuple[Mark, ...] = (
    Mark("leader", "replica", "★", "leader", legend_samples.leader, _is_role("leader")),
    Mark("in ISR", "replica", "▬", "in the ISR", legend_samples.band("in ISR"), _is_role("in ISR")),
    Mark(
        "proposed",
        "replica",
        "▨",
        "proposed",
        legend_samples.band("proposed"),
        _is_role("proposed"),
    ),
    Mark("out", "replica", "─", "out of the ISR", legend_samples.band("out"), _is_role("out")),
    Mark(
        "believes",
        "replica",
        "☆",
        "not agreed yet",
        legend_samples.believes,
        _is_role("elected", "believes"),
    ),
    Mark(
        "recovering",
        "replica",
        "R",
        "recovering",
        legend_samples.recovering,
        _has_flag("recovering", "leader"),
    ),
    Mark(
        "log empty",
        "replica",
        "▭",
        "empty log",
        legend_samples.band("in ISR", "log empty"),
        _has_flag("log empty", "in ISR", "out"),
    ),
    Mark(
        "idle",
        "replica",
        "┅",
        "assigned, and does not fetch",
        legend_samples.band("out", "idle"),
        _has_flag("idle", "out"),
    ),
    Mark(
        "idle member",
        "replica",
        "▭",
        "in the ISR, and does not fetch",
        legend_samples.band("in ISR", "idle"),
        _has_flag("idle", "in ISR"),
    ),
    Mark(
        "checkpoint lost",
        "replica",
        "▼",
        "checkpoint loses a partition",
        legend_samples.glyph("▼", "gone"),
        _is_mark("checkpoint lost"),
    ),
    Mark(
        "log",
        "replica",
        "╷",
        "LEO: log end, HW: high watermark",
        legend_samples.log_end,
        lambda seen: any(track == "log" for track, _ in seen.states),
    ),
    Mark(
        "caught up", "replica", "◆", "caught up", legend_samples.glyph("◆"), _is_mark("caught up")
    ),
    Mark(
        "not proposed",
        "replica",
        "◇",
        "not proposed",
        legend_samples.glyph("◇", "refused"),
        _is_mark("not proposed"),
    ),
    Mark(
        "unclean",
        "replica",
        "▲",
        "unclean election",
        legend_samples.glyph("▲", "gone"),
        _is_mark("unclean"),
    ),
    Mark("uptime", "broker", "▏", "be: broker epoch", legend_samples.tile, _is_tiled),
    Mark(
        "czxid",
        "broker",
        "▏",
        "cz: czxid, the broker epoch",
        legend_samples.tile,
        lambda seen: seen.zookeeper and not seen.untold,
    ),
    Mark(
        "czxid not told",
        "broker",
        "▏",
        "cz: czxid, unknown to the broker",
        legend_samples.tile,
        lambda seen: seen.untold,
    ),
    Mark(
        "registered",
        "broker",
        "┈",
        "still registered",
        legend_samples.still_registered,
        lambda seen: any(track == "registered" for track, _ in seen.states),
    ),
    Mark(
        "passed over",
        "broker",
        "⏻",
        "never elected",
        legend_samples.never_elected,
        _is_track("passed over", "yes"),
    ),
    Mark("fenced", "broker", "⛔", "fenced", legend_samples.fenced, _is_track("fenced", "yes")),
    Mark(
        "gate",
        "broker",
        "✓",
        "unfenced",
        legend_samples.gate,
        lambda seen: seen.unfenced,
    ),
    Mark(
        "shutting down",
        "broker",
        "⏻",
        "shutting down",
        legend_samples.shutting_down,
        _is_track("shutting down", "yes"),
    ),
    Mark(
        "down", "broker", "✕", "down", legend_samples.glyph("✕", "text"), _is_track("down", *_DOWN)
    ),
    Mark(
        "wiped",
        "broker",
        "⌀",
        "records gone",
        legend_samples.glyph("⌀", "gone"),
        _is_track("down", *_DOWN[:2]),
    ),
    Mark(
        "transaction",
        "ZooKeeper",
        "┼",
        "transaction",
        legend_samples.tick,
        lambda seen: seen.ticked and seen.zookeeper,
    ),
    Mark(
        "watch",
        "ZooKeeper",
        "↓",
        "watch goes off",
        legend_samples.watch,
        lambda seen: seen.watched,
    ),
    Mark(
        "tick",
        "controller",
        "┼",
        "metadata record",
        legend_samples.tick,
        lambda seen: seen.ticked and not seen.zookeeper,
    ),
    Mark(
        "bounced", "controller", "⎴", "sees a bounce", legend_samples.bounced, _is_mark("bounced")
    ),
    Mark(
        "queue",
        "controller",
        "◇",
        "waits in a queue",
        legend_samples.queue,
        lambda seen: any(track.startswith(QUEUE_FOR) for track, _ in seen.states),
    ),
    Mark(
        "controller epoch",
        "controller",
        "▕",
        "new controller epoch",
        legend_samples.failed_over,
        _has_new_controllers,
    ),
    Mark(
        "message",
        "messages",
        "→",
        "at once",
        legend_samples.arrow(),
        _is_message(lambda m: m.x_arrived == m.x_sent and m.fate != "dropped"),
    ),
    Mark(
        "message late",
        "messages",
        "⇢",
        "delayed",
        legend_samples.arrow(x_arrived=1),
        _is_message(_is_late),
    ),
    Mark(
        "message in flight",
        "messages",
        "┄",
        "on its way",
        legend_samples.arrow(x_arrived=None, fate="in flight"),
        _is_message(lambda m: m.fate == "in flight"),
    ),
    Mark(
        "message dropped",
        "messages",
        "┈✕",
        "lost message",
        legend_samples.arrow(fate="dropped"),
        _is_message(lambda m: m.fate == "dropped"),
    ),
    Mark(
        "message guarded",
        "messages",
        "⛨",
        "refused by a guard",
        legend_samples.arrow(fate="refused", guard="guard"),
        _is_message(lambda m: m.fate == "refused" and bool(m.guard)),
    ),
    Mark(
        "message refused",
        "messages",
        "⊘",
        "refused",
        legend_samples.arrow(fate="refused"),
        _is_message(lambda m: m.fate == "refused" and not m.guard),
    ),
    Mark(
        "message duplicate",
        "messages",
        "⇉",
        "sent again",
        legend_samples.arrow(duplicate=True),
        _is_message(lambda m: m.duplicate),
    ),
    Mark(
        "message previous",
        "messages",
        "◇→",
        "sender gone",
        legend_samples.arrow(previous_incarnation=True),
        _is_message(lambda m: m.previous_incarnation),
    ),
    Mark(
        "message earlier life",
        "messages",
        "◇→",
        "for an earlier life",
        legend_samples.arrow(earlier_life=True),
        _is_message(lambda m: m.earlier_life),
    ),
    Mark(
        "safe",
        "committed records",
        "●",
        "safe",
        legend_samples.records("safe", "", "●", "safe_text"),
        _is_track("state", "safe"),
    ),
    Mark(
        "at risk",
        "committed records",
        "▲",
        "at risk",
        legend_samples.records("risk", "risk_edge", "▲", "risk_text"),
        _is_track("state", "at risk"),
    ),
    Mark(
        "lost",
        "committed records",
        "▼",
        "lost for good",
        legend_samples.lost,
        _is_track("state", "lost"),
    ),
    Mark(
        "offline",
        "committed records",
        "○",
        "no leader",
        legend_samples.records("offline", "", "○", "text"),
        _is_track("state", "offline"),
    ),
    Mark(
        "cell",
        "logs",
        "▭",
        "e5: records of leader epoch 5",
        legend_samples.cell(),
        lambda seen: bool(seen.cells),
    ),
    Mark(
        "cell struck",
        "logs",
        "☒",
        "not in the leader's log",
        legend_samples.cell(has=False),
        lambda seen: any(not has for _, has in seen.cells),
    ),
    Mark(
        "cell read",
        "logs",
        "▯",
        "read by a consumer",
        legend_samples.cell(is_read=True),
        lambda seen: any(read for read, _ in seen.cells),
    ),
)
"""Every mark of the pictures, in reading order."""
LOG_LINE = Mark(
    "log", "replica", "▁▂", "log end, filled to the high watermark", legend_samples.log_line, bool
)
"""Stands for the ticks where moments are too narrow for words."""

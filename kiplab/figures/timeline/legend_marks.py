"""One table says of every mark what it means, how it looks, and what in a run it stands for."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from ...rows.client_requests import asked_about, clients_shown
from ...rows.columns import QUEUE_FOR, MessageRow, Rows, has_zookeeper
from ...rows.log_blocks import log_blocks
from ...rows.message_paths import told_messages
from . import legend_samples as sample
from .legend_samples import Draw

WATCH = "watcher-event"
"""The kind of message that a watch sends when it goes off."""
_DOWN = ("disk replaced", "tail lost", "crashed", "stopped", "down")
Group = Literal[
    "replica", "broker", "ZooKeeper", "controller", "messages", "committed records", "logs"
]
"""What an entry is about, as the legend's headings name it."""
GROUPS: tuple[Group, ...] = get_args(Group)


class Mark(NamedTuple):
    """An entry: `glyph` stands for the sample in plain text. It occurs where one of its `signs` is
    among those that `_signs` reads in a run; without any, where its id is.
    """

    group: Group
    id: str
    glyph: str
    words: str
    draw: Draw
    signs: frozenset[str]


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
    signs = {sign for rows in rows_list for sign in _signs(rows, partition or rows.busiest)}
    shown = {mark.id for mark in MARKS if signs & (mark.signs or {mark.id})}
    if growing:
        shown |= {"message in flight", "message guarded", "at risk", "lost", "offline"}
        # Its logs are not laid side by side: they would leave no room for its lanes.
        shown -= {mark.id for mark in MARKS if mark.group == "logs"}
    return [mark for mark in MARKS if mark.id in shown]


# --- what occurs in a run -------------------------------------------------------------------------


def _signs(rows: Rows, partition: str) -> Iterator[str]:
    """What there is to explain, for the partition that is followed: ``track: value`` of states,
    ``role, flag`` of roles, kinds of marks on the lanes of brokers and the controller.
    """
    spans = [span for span in rows.spans if span.partition in ("", partition)]
    for span in spans:
        yield from (span.track, f"{span.track}: {span.value}")
        if span.track == "role":
            yield from (f"{span.value}, {flag}" for flag in span.flags)
        if span.track.startswith(QUEUE_FOR):
            yield "queue"
    if len({span.value for span in spans if span.track == "controller epoch"}) > 1:
        yield "new controller"
    for mark in rows.marks:
        if mark.partition in ("", partition) and mark.lane.startswith(("broker", "controller")):
            yield mark.kind
    yield from _signs_of_nodes(rows, spans=tuple(s.flags for s in spans if s.track == "uptime"))
    clients = clients_shown(rows, partition)
    requests = (m for m in asked_about(rows, partition) if m.sender in clients)
    for message in (*told_messages(rows, partition), *requests):
        yield from _signs_of_message(message)
    for block in log_blocks(rows, partition):
        for side in block.sides:
            yield from ("cell read" if side.is_read else "" for _ in side.cells)
            yield from ("cell" if cell.has else "cell struck" for cell in side.cells)


def _signs_of_nodes(rows: Rows, spans: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    """What is drawn otherwise with ZooKeeper; `spans` are the flags of the brokers' uptimes."""
    zookeeper = has_zookeeper(rows)
    unknown = any("not told" in flags for flags in spans)
    if zookeeper:
        yield "czxid not told" if unknown else "czxid"
    elif spans:
        yield "broker epoch"
    if rows.ticks:
        yield "transaction" if zookeeper else "tick"
    if any(m.kind == WATCH and m.x_sent == m.x_arrived for m in rows.messages):
        yield "watch"
    if any(rows.gates(f"broker {id}") for id in rows.meta.brokers):
        yield "gate"


def _signs_of_message(message: MessageRow) -> Iterator[str]:
    """The ids of the entries that a message's arrow needs."""
    fate, arrived = message.fate, message.x_arrived
    if arrived == message.x_sent and fate != "dropped":
        yield "message"
    if fate in ("delivered", "refused") and (arrived or 0) > message.x_sent:
        yield "message late"
    yield f"message {'guarded' if fate == 'refused' and message.guard else fate}"
    if message.duplicate:
        yield "message duplicate"
    if message.previous_incarnation:
        yield "message previous"
    if message.earlier_life:
        yield "message earlier incarnation"


# --- the table ------------------------------------------------------------------------------------


def _group(group: Group, *rows: tuple[str, str, str, Draw, *tuple[str, ...]]) -> Iterator[Mark]:
    """Entries of a group: id, glyph, words, sample, signs."""
    for id, glyph, words, draw, *signs in rows:
        yield Mark(group, id, glyph, words, draw, frozenset(signs))


MARKS: tuple[Mark, ...] = (
    *_group(
        "replica",
        ("leader", "★", "leader", sample.leader, "role: leader"),
        ("in ISR", "▬", "in the ISR", sample.role("in ISR"), "role: in ISR"),
        ("proposed", "▨", "proposed", sample.role("proposed"), "role: proposed"),
        ("out", "─", "out of the ISR", sample.role("out"), "role: out"),
        ("believes", "☆", "not agreed yet", sample.believes, "role: elected", "role: believes"),
        ("recovering", "R", "recovering", sample.recovering, "leader, recovering"),
        ("log empty", "▭", "empty log", sample.empty, "in ISR, log empty", "out, log empty"),
        ("idle", "┅", "assigned, and does not fetch", sample.role("out", "idle"), "out, idle"),
        ("idle member", "▭", "in the ISR, and does not fetch", sample.idle, "in ISR, idle"),
        ("checkpoint lost", "▼", "checkpoint loses a partition", sample.glyph("▼", "gone")),
        ("log", "╷", "LEO: log end, HW: high watermark", sample.log_end),
        ("caught up", "◆", "caught up", sample.glyph("◆")),
        ("not proposed", "◇", "not proposed", sample.glyph("◇", "refused")),
        ("unclean", "▲", "unclean election", sample.glyph("▲", "gone")),
    ),
    *_group(
        "broker",
        ("uptime", "▏", "be: broker epoch", sample.tile, "broker epoch"),
        ("czxid", "▏", "cz: czxid, the broker epoch", sample.tile),
        ("czxid not told", "▏", "cz: czxid, unknown to the broker", sample.tile),
        ("registered", "┈", "still registered", sample.still_registered),
        ("passed over", "⏻", "never elected", sample.power("gone"), "passed over: yes"),
        ("fenced", "⛔", "fenced", sample.fenced, "fenced: yes"),
        ("gate", "✓", "unfenced", sample.gate),
        ("shutting down", "⏻", "shutting down", sample.power("muted"), "shutting down: yes"),
        ("down", "✕", "down", sample.glyph("✕", "text"), *(f"down: {why}" for why in _DOWN)),
        (
            "wiped",
            "⌀",
            "records gone",
            sample.glyph("⌀", "gone"),
            *(f"down: {w}" for w in _DOWN[:2]),
        ),
    ),
    *_group(
        "ZooKeeper",
        ("transaction", "┼", "transaction", sample.tick),
        ("watch", "↓", "watch goes off", sample.watch),
    ),
    *_group(
        "controller",
        ("tick", "┼", "metadata record", sample.tick),
        ("bounced", "⎴", "sees a bounce", sample.bounced),
        ("queue", "◇", "waits in a queue", sample.queue),
        ("controller epoch", "▕", "new controller epoch", sample.failed_over, "new controller"),
    ),
    *_group(
        "messages",
        ("message", "→", "at once", sample.arrow()),
        ("message late", "⇢", "delayed", sample.arrow(x_arrived=1)),
        ("message in flight", "┄", "on its way", sample.arrow(x_arrived=None, fate="in flight")),
        ("message dropped", "┈✕", "lost message", sample.arrow(fate="dropped")),
        ("message guarded", "⛨", "refused by a guard", sample.arrow(fate="refused", guard="guard")),
        ("message refused", "⊘", "refused", sample.arrow(fate="refused")),
        ("message duplicate", "⇉", "sent again", sample.arrow(duplicate=True)),
        ("message previous", "◇→", "sender gone", sample.arrow(previous_incarnation=True)),
        (
            "message earlier incarnation",
            "◇→",
            "for an earlier incarnation",
            sample.arrow(earlier_life=True),
        ),
    ),
    *_group(
        "committed records",
        ("safe", "●", "safe", sample.records("safe", "", "●", "safe_text"), "state: safe"),
        ("at risk", "▲", "at risk", sample.at_risk, "state: at risk"),
        ("lost", "▼", "lost for good", sample.lost, "state: lost"),
        ("offline", "○", "no leader", sample.records("offline", "", "○", "text"), "state: offline"),
    ),
    *_group(
        "logs",
        ("cell", "▭", "e5: records of leader epoch 5", sample.cell(), "cell", "cell struck"),
        ("cell struck", "☒", "not in the leader's log", sample.cell(has=False)),
        ("cell read", "▯", "read by a consumer", sample.cell(is_read=True)),
    ),
)
"""Every mark of the pictures, in reading order."""
LOG_LINE = MARKS[10]._replace(
    glyph="▁▂", words="log end, filled to the high watermark", draw=sample.log_line
)
"""Stands for the ticks where moments are too narrow for words."""

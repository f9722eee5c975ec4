"""Small plays that show a mark or two each, and how to draw them."""

from typing import Any

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of

PAIR = """\
broker 1 epoch=40
broker 2 epoch=41
topic t replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=20@5
"""
TRIO = """\
broker 1 epoch=40
broker 2 epoch=41
broker 3 epoch=42
topic t replicas=1,2,3 leader=1 leader-epoch=5 partition-epoch=10 log=10@5
"""
PROPOSED = PAIR + "hold alter-partition from=1\ncatch-up 2\ndeliver alter-partition from=1\n"
HELD = PAIR + "hold alter-partition from=1\ncatch-up 2\ncrash 2\n"
WIPED = PAIR + "crash 2 disk=replaced\nexpire 2\nstart 2\nunfence 2\n"
UNCLEAN = (
    PAIR
    + "replica t-0 broker=2 log=10@5\n"
    + "crash 1\nexpire 1\nelect t-0 unclean=yes\nstart 1\nunfence 1\nfetch 1\n"
)
READ_AND_LOST = UNCLEAN.replace("crash 1", "poll t-0\ncrash 1", 1)
LEAVING = (
    TRIO
    + "hold broker-heartbeat from=1\nshut-down 1\nrelease broker-heartbeat from=1\n"
    + "produce t-0 count=5\n"
)
MESSAGES = (
    PAIR
    + "hold alter-partition from=1\ncatch-up 2\nduplicate alter-partition from=1\n"
    + "crash 1\nexpire 1\nstart 1\n"
    + "deliver alter-partition from=1\ndrop alter-partition from=1\nunfence 1\n"
)
UNKNOWING = TRIO + "manual\ncut 1 controller\nexpire 1\nproduce t-0 count=1 to=1\n"
REFUSED_AT_ONCE = (
    TRIO + "send alter-partition from=2 partition=t-0 isr=2,3 leader-epoch=5 partition-epoch=10\n"
)
STALE_JOIN = (
    PAIR
    + "hold alter-partition from=1\ncatch-up 2\ncrash 2 disk=replaced\nexpire 2\nstart 2\n"
    + "unfence 2\ndeliver alter-partition from=1\nproduce t-0 count=1\n"
)
REFUSED_BY_NO_GUARD = (
    TRIO
    + "send alter-partition from=1 partition=t-0 isr=1 leader-epoch=5 partition-epoch=10"
    + " recovery=7\n"
)
FAILED_OVER = TRIO + "fail-over\nfetch 2\n"
NOT_PROPOSED = PAIR + "crash 2\nexpire 2\nstart 2\ncatch-up 2\n"
WITH_ELR = TRIO.replace("leader=1 ", "min-insync-replicas=2 leader=1 ")
"""For `play` with elr=1."""
ELR_WAITED_FOR = WITH_ELR + "crash 3\nexpire 3\nshut-down 2\nexpire 2\ncrash 1\nexpire 1\n"
ELR_ELECTED = ELR_WAITED_FOR + "start 2\nunfence 2\n"
ACKS_1_AND_ELR = (
    WITH_ELR
    + "crash 3\nexpire 3\nshut-down 2\nexpire 2\nhold alter-partition from=1\nstart 2\nunfence 2\n"
    + "produce t-0 count=5 acks=1\ncrash 1\nexpire 1\nstart 1\nunfence 1\nfetch 1\n"
)
EVERY_MARK = [
    FAILED_OVER,
    *(HELD, LEAVING, MESSAGES, NOT_PROPOSED, PROPOSED, READ_AND_LOST, REFUSED_AT_ONCE),
    *(REFUSED_BY_NO_GUARD, STALE_JOIN, UNCLEAN, UNKNOWING, WIPED),
]
"""Plays in which, together, everything occurs that a picture has a mark for."""


def play(text: str, kafka: str = "3.5", elr: int = 0) -> Rows:
    """The rows of a play."""
    return rows_of(run_play(parse(text), parse_features(kafka, elr=elr)))


def spans(rows: Rows, lane: str, track: str) -> list[tuple[int, int, str]]:
    return [(s.x0, s.x1, s.value) for s in rows.spans if (s.lane, s.track) == (lane, track)]


def flags(rows: Rows, lane: str) -> dict[tuple[int, int], tuple[str, ...]]:
    return {(s.x0, s.x1): s.flags for s in rows.spans if (s.lane, s.track) == (lane, "role")}


def shapes(figure: Any, **about: Any) -> list[Any]:
    """The shapes with these attributes; ``line_dash`` and ``line_color`` reach into the line."""
    return [s for s in figure.layout.shapes if all(_of(s, k) == v for k, v in about.items())]


def _of(shape: Any, key: str) -> Any:
    return shape.line[key[5:]] if key.startswith("line_") else shape[key]


def cards(figure: Any) -> list[str]:
    """The hover cards, their line breaks as blanks."""
    (found,) = [t for t in figure.data if t.name == "cards"]
    return [text.replace("<br>", " ") for text in found.text]

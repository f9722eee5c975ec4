"""Exercise: two timeouts of one silence (KIP-343). Which pair leaves no window between them?

When each is over is a sum. What happens between them the engine says: after the first one a client
writes to both brokers, and whoever takes it serves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from ...plays.grammar import VERBS, parse
from ...plays.library import load
from ...plays.play import format_play
from ...plays.runner import do_line, open_stage
from ...protocol.facts import Appended
from .answers import BLANK, Slip, in_order, is_none, still_open, summed, unfit
from .check_result import Checked

SITUATION = "343-two-leaders"
"""The play whose situation and rules this is about."""
CUT_OFF = ("cut 0 1", "cut 1 2")
DECLARE, FENCE = "declare-inactive 1", "fence-itself 1"
"""The controller's timeout is over; the broker's own is."""
WRITES = ("produce orders-0 count=1 to=1 acks=1", "produce orders-0 count=1 to=2 acks=1")
ON_ITS_WAY_S = 3
"""How long a heartbeat takes to the controller at most; it may take no time at all."""
NEVER_TWO, NEVER_NOBODY, NEITHER = range(3)
"""What is asked for: never two who take records, never nobody who does, and both."""
_TRIED = ((60, 1), (1, 60))
"""Far apart, one way round and the other: what neither pair does, no pair does."""


def check_timeouts(answer: object) -> Checked:
    """Judge a pair of timeouts for each wish, in seconds: ``["9 18", "18 9", "-"]``.

    The controller's comes first, which runs from the arrival of the last heartbeat; then the
    broker's, which runs from the moment when it was sent. ``-`` says that there is no such pair.
    """
    given = in_order(answer, len(_IDEAS), "answers, each two numbers of seconds, or -")
    if isinstance(given, Checked):
        return given
    strange = next((s for s in given if s != BLANK and not is_none(s) and _pair(s) is None), "")
    if strange:
        form = "the controller's seconds, then the broker's, like 12 15, or - for none"
        return unfit(len(_IDEAS), f"This is no pair: {strange[:20]!r}. Give {form}.")
    slips = [slip for wish, said in enumerate(given) for slip in _judged(wish, said)]
    praise = "Between the two there are two leaders, or none. Which, is a choice."
    return summed(len(_IDEAS), slips, praise)


# --- what the engine says -----------------------------------------------------------------------


def orders(controller_s: int, broker_s: int) -> frozenset[tuple[str, str]]:
    """The orders in which the two can be over, however long the last heartbeat took.

    At the same moment is either of them.
    """
    found = set()
    for took in range(ON_ITS_WAY_S + 1):
        declared = took + controller_s
        found |= {(DECLARE, FENCE)} if declared <= broker_s else set()
        found |= {(FENCE, DECLARE)} if broker_s <= declared else set()
    return frozenset(found)


@cache
def between(order: tuple[str, str]) -> int:
    """How many brokers take records after the first of the two, and before the second."""
    play = load(SITUATION)
    header = tuple(s for s in play.statements if s.verb in VERBS and VERBS[s.verb].header)
    before = format_play(replace(play, statements=header))
    lines = "\n".join([*CUT_OFF, order[0], *WRITES, order[1]])
    written = parse(f"{before}{lines}\n")
    # Whoever does not lead takes no record: that is the answer, and no error of the play.
    stage = replace(open_stage(written), strict=False)
    for number, statement in enumerate(written.statements, 1):
        stage = do_line(stage, statement, number)
    return len({e.node for e in stage.events if isinstance(e, Appended)})


def fulfils(wish: int, controller_s: int, broker_s: int) -> bool:
    """Whether a pair does what is asked for, in every order that there can be."""
    serving = {between(order) for order in orders(controller_s, broker_s)}
    two, nobody = 2 in serving, 0 in serving
    return not {NEVER_TWO: two, NEVER_NOBODY: nobody, NEITHER: two or nobody}[wish]


def can_be(wish: int) -> bool:
    """Whether there is a pair that does it."""
    return any(fulfils(wish, *pair) for pair in _TRIED)


# --- reading and wrong answers ------------------------------------------------------------------


def _pair(said: str) -> tuple[int, int] | None:
    found = re.fullmatch(r"\D*(\d{1,6})\D+(\d{1,6})\D*", said)
    return None if found is None else (int(found[1]), int(found[2]))


_IDEAS = (
    (
        "a broker knows when it has been given up",
        "Broker 1 serves until its own timeout is over. From when on does broker 2?",
    ),
    (
        "who is careful is available",
        "Broker 1 has fenced itself. Since when may somebody else lead?",
    ),
    (
        "with the right numbers nobody pays",
        "One of the two is over first. What happens until the other one is?",
    ),
)
"""By the wish: the idea behind a pair that does not fulfil it, and what to look at."""
_NO_ORDER = (
    "two clocks on two machines have no order",
    "They begin with the same heartbeat: one when it is sent, one when it arrives. Which is first?",
)
_CLOSE = (
    "the longer timeout ends later",
    "The last heartbeat may take no time at all, or three seconds. When is each over then?",
)


def _judged(wish: int, said: str) -> Iterator[Slip]:
    part = f"wish {wish + 1}"
    group = "those with one never" if wish != NEITHER else "the one with two"
    if said == BLANK:
        yield still_open(part, group)
        return
    pair = _pair(said)
    if fulfils(wish, *pair) if pair else not can_be(wish):
        return
    idea, hint = _idea(wish, pair)
    yield Slip(part, hint, idea, group)


def _idea(wish: int, pair: tuple[int, int] | None) -> tuple[str, str]:
    if pair is None:
        return _NO_ORDER
    undecided = len(orders(*pair)) > 1
    return _CLOSE if undecided and wish != NEITHER else _IDEAS[wish]

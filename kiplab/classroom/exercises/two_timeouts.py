"""Exercise of lab 08: two timeouts of one silence (KIP-343). Which pair leaves no window?

When each is over is a sum. What happens between them the engine says: after the first one a client
writes to both brokers, and whoever takes it serves.
"""

import re
from functools import cache

from msgspec.structs import replace

from ...plays.library import load
from ...plays.runner import do_line, open_stage
from ...protocol.facts import Appended
from ..exercise_table import UnfitError
from .answers import BLANK, PartsInOrder, is_none
from .own_runs import written_after

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
# --- what the engine says -------------------------------------------------------------------------


def orders(controller_s: int, broker_s: int) -> frozenset[tuple[str, str]]:
    """The orders in which the two can be over, however long the last heartbeat took.

    At the same moment is either of them.
    """
    possible = set()
    for took in range(ON_ITS_WAY_S + 1):
        declared = took + controller_s
        possible |= {(DECLARE, FENCE)} if declared <= broker_s else set()
        possible |= {(FENCE, DECLARE)} if broker_s <= declared else set()
    return frozenset(possible)


@cache
def between(order: tuple[str, str]) -> int:
    """How many brokers take records after the first of the two, and before the second."""
    lines = "\n".join([*CUT_OFF, order[0], *WRITES, order[1]])
    written = written_after(load(SITUATION), lines)
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


# --- reading and wrong answers --------------------------------------------------------------------


def _pair(part: str) -> tuple[int, int] | None:
    seconds = re.fullmatch(r"\D*(\d{1,6})\D+(\d{1,6})\D*", part)
    return None if seconds is None else (int(seconds[1]), int(seconds[2]))


def _judged_wishes(given: list[str]) -> list[object]:
    """True for a wish that is fulfilled, else what was answered: a pair, None for none of them."""
    strange = next((p for p in given if p != BLANK and not is_none(p) and _pair(p) is None), "")
    if strange:
        form = "the controller's seconds, then the broker's, like 12 15, or - for none"
        raise UnfitError(f"This is no pair: {strange[:20]!r}. Give {form}.")
    return [_judged_wish(wish, part) for wish, part in enumerate(given)]


def _judged_wish(wish: int, part: str) -> object:
    if part == BLANK:
        return part
    pair = _pair(part)
    return (fulfils(wish, *pair) if pair else not can_be(wish)) or pair


def _keys(wish: int, pair: tuple[int, int] | None, _true: bool) -> tuple[str, ...]:
    """What is behind a wish that a pair does not fulfil, where it is not the wish itself."""
    if pair is None:
        return ("no order",)
    return ("close",) if len(orders(*pair)) > 1 and wish != NEITHER else ()


check_timeouts = PartsInOrder(read=_judged_wishes, true=lambda: [True] * 3, keys=_keys)
"""A pair of timeouts for each wish, in seconds: ``["9 18", "18 9", "-"]``.

The controller's comes first, which runs from the arrival of the last heartbeat; then the broker's,
which runs from the moment when it was sent. ``-`` says that there is no such pair.
"""

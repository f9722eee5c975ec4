"""The kernel over a schedule that is written down: its events in order, then what is left."""

from collections.abc import Callable

from . import set_events as event
from .leader_rules import DELAY_TRIES
from .machine_code import inner, root
from .set_events import at_rest, happen, run_until
from .set_words import BROKERS, CONTACT, REPLICAS, STEPS

DELAYS = BROKERS * DELAY_TRIES
"""Delays of the requests on account of one broker: by leader, then by try."""
FIRST_MOMENT = 1
"""Logs begin to be written then; 0 is the end of an empty one. Of brokers was heard at 0."""


@inner
def _learn(delays: list[int], broker_delays: list[int], row: int, b: int) -> None:
    for n in range(DELAYS):
        broker_delays[b * DELAYS + n] = delays[row * DELAYS + n]


PlayOut = Callable[
    [list[int], list[int], list[int], list[int], list[int], list[int], int, int], None
]


def _made(version: int) -> PlayOut:
    def play_out(
        s: list[int],
        w: list[int],
        trace: list[int],
        rows: list[int],
        delays: list[int],
        broker_delays: list[int],
        leader: int,
        end: int,
    ) -> None:
        at_rest(s, w, leader, FIRST_MOMENT)
        for b in range(w[REPLICAS]):
            s[CONTACT + b] = 0
        for n in range(len(rows) // event.ROW):
            row = n * event.ROW
            at, kind, b = rows[row + event.AT], rows[row + event.KIND], rows[row + event.BROKER]
            run_until(s, w, trace, broker_delays, at, kind, b)
            if kind >= event.CUT_OFF and kind != event.OUTAGE_BEGINS:
                _learn(delays, broker_delays, n, b)
            happen(s, w, trace, broker_delays, rows, row)
        run_until(s, w, trace, broker_delays, end, event.RANKS, 0)
        # The digest of the sources is in the closure: a kernel that is kept is this one.
        s[STEPS] += 0 * version

    return play_out


play_out = root(_made)

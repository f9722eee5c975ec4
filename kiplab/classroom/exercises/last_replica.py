"""Exercises of lab 12: what eligible leader replicas (KIP-966) buy and cost, which changes keep the
records of the last replica, and a loss for which one disk is enough.
"""

from functools import cache

import msgspec

from ...plays import verdict
from ...plays.stage import Stage
from ...protocol import ids, registrations
from ..exercise_table import exercise
from .answers import PartsInOrder, TrueStatements, Verdict, sets_among
from .committed import played, state_of
from .losing_schedule import changed
from .own_runs import OwnRun, done
from .vanishing_offsets import lacked

_WITH, _WITHOUT = "1", "0"
_SITUATIONS = exercise("elr/buys-and-costs")
EFFECTS = ("K", "U", "D", "A", "R")
"""What the feature may change at the end of a run."""
CHANGES = exercise("elr/what-keeps").changes
"""What is changed in the play. After some of these no committed record is lost."""


class End(msgspec.Struct, frozen=True):
    """The end of a run: whether committed records are lost, whether the partition has a leader and
    is RECOVERING, and whether the leader lacks records that acks=1 acknowledged.
    """

    lost: bool
    led: bool
    recovering: bool
    lacked: bool


@cache
def end(situation: str, elr: str) -> End:
    """How a situation of the checkpoint ends with the feature, or without it."""
    stage = played(_SITUATIONS.play(situation, elr=elr), situation)
    state = state_of(stage.cluster)
    recovering = state.recovery == registrations.LeaderRecoveryState.RECOVERING
    led = state.leader != ids.NO_LEADER
    return End(bool(verdict.lost(stage)), led, recovering, bool(lacked(stage)))


def effects(situation: str) -> frozenset[str]:
    """The EFFECTS by which the end with the feature differs from the end without it."""
    off, on = end(situation, _WITHOUT), end(situation, _WITH)
    holds = {
        "K": off.lost and not on.lost,
        "U": on.led and not off.led,
        "D": off.led and not on.led,
        "A": on.lacked and not off.lacked,
        "R": on.recovering and not off.recovering,
    }
    return frozenset(letter for letter in EFFECTS if holds[letter])


check_buys_and_costs = PartsInOrder(
    read=sets_among(EFFECTS, use="K, U, D, A, R, or - for none"),
    true=lambda: [effects(situation) for situation in _SITUATIONS.plays],
)
"""The EFFECTS in each situation, in order: ``["KU", "-", ...]`` has the right shape."""


@TrueStatements
def check_what_keeps() -> list[str]:
    """After which of CHANGES no committed record is lost: ``"AB"`` names two of them."""
    return [letter for letter, change in CHANGES.items() if not verdict.lost(changed(change))]


@OwnRun
def check_one_disk(stage: Stage) -> Verdict:
    """A run that loses a committed record although at most one disk is lost."""
    if verdict.verdict(stage) != verdict.LOSS:
        return "harm" if verdict.verdict(stage) == verdict.HARM else "kept"
    disks = sum(line.arg("disk") not in (None, "kept") for line in done(stage))
    return ("right" if disks <= 1 else "disks"), {"disks": disks}

"""Exercise: two IsrChanges that arrive the wrong way round, which KIP-343's text does not notice.

The engine judges: it plays what a student wrote, and once more with a partition epoch in the
request, as Kafka came to have it.
"""

from __future__ import annotations

from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import LOSS, verdict
from ...protocol.facts import Refused
from ...protocol.features import parse_features
from .check_result import Checked
from .own_runs import own_run, token_of

OWN = "343-asked-twice"
GUARD = "343.partition-epoch"
WITH_EPOCHS = parse_features("kip-343")
"""The rules of OWN, and a partition epoch in each IsrChange."""
POINTS = 2


def check_swapped(answer: object) -> Checked:
    """Judge a run of OWN that loses a committed record by an IsrChange that is out of date.

    A point where one is obeyed that a partition epoch would have had refused, one more where a
    committed record is lost, and with partition epochs none is.
    """
    stage = own_run(answer, OWN, POINTS, forbidden=("elect orders-0 unclean=yes",))
    if isinstance(stage, Checked):
        return stage
    noticed = run_play(stage.play, WITH_EPOCHS)
    if not _refuses(noticed):
        message = "Every IsrChange arrives in the order in which it was sent."
        hint = "The first copy is still on its way. What has to happen before it arrives?"
        return _judged(stage, 0, message, hint, "a request that was sent again is gone")
    if verdict(stage) != LOSS:
        return _harmless(stage)
    if verdict(noticed) == LOSS:
        message = "A record is lost, and with partition epochs it would be lost as well."
        return _judged(stage, 1, message, "Leave every disk whole, and every election clean.")
    return _judged(stage, 2, "Lost, by a request that was right when it was written.")


def _refuses(stage: Stage) -> bool:
    return any(isinstance(e, Refused) and e.guard == GUARD for e in stage.events)


def _harmless(stage: Stage) -> Checked:
    message = "A request that is out of date is obeyed, and no committed record is lost."
    idea = "an ISR that is a little too large does no harm"
    hint = "Who is in the ISR may lead. What does broker 2 lack at that moment, if anything?"
    return _judged(stage, 1, message, hint, idea)


def _judged(
    stage: Stage, points: int, message: str, hint: str = "", misconception: str = ""
) -> Checked:
    return Checked(
        points=points,
        of=POINTS,
        message=message,
        hint=hint,
        misconception=misconception,
        token=token_of(stage),
    )

"""Exercise: break what KIP-380 rejected, the id of a session as the generation of a broker.

The engine judges: it plays what a student wrote, with session ids and with czxids.
"""

from __future__ import annotations

from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import SAFE, verdict
from ...protocol.features import parse_features
from ...protocol.ids import BrokerId, SessionId
from ...protocol.zookeeper_facts import BrokersCompared, SessionOpened
from .check_result import Checked
from .own_runs import own_run, token_of

OWN = "380-rising-session-ids"
CZXIDS = parse_features("zk-2.2")
"""The rules of OWN as KIP-380 has them."""
POINTS = 2


def check_session_ids(answer: object) -> Checked:
    """Judge a run of OWN that its session ids do harm in.

    A point where a later life of a broker has a lower session id than the one before, one more
    where harm is done, and czxids in place of session ids do none.
    """
    stage = own_run(answer, OWN, POINTS)
    if isinstance(stage, Checked):
        return stage
    if not falls(stage):
        return _risen(stage)
    if verdict(stage) == SAFE:
        return _unharmed(stage)
    if verdict(run_play(stage.play, CZXIDS)) != SAFE:
        message = "Harm is done, and with czxids there would be harm as well."
        hint = "Leave out what does harm by itself: what is held back has to arrive in the end."
        return _judged(stage, 1, message, hint)
    return _judged(stage, 2, "Missed, since a number fell. With czxids nothing is missed.")


def falls(stage: Stage) -> bool:
    """Whether a broker had a lower session id in a later life than in the one before."""
    known: dict[BrokerId, SessionId] = {}
    for opened in (e for e in stage.events if isinstance(e, SessionOpened)):
        if opened.session < known.get(opened.broker, opened.session):
            return True
        known[opened.broker] = opened.session
    return False


# --- wrong answers ------------------------------------------------------------------------------


def _risen(stage: Stage) -> Checked:
    message = "Nothing is missed: every session has a higher id than the one before."
    hint = "Each server of ZooKeeper counts for itself. At which one does which life begin?"
    return _judged(stage, 0, message, hint, "a later session has a higher id")


def _unharmed(stage: Stage) -> Checked:
    message = "A session id has fallen, and no harm is done."
    compared = [e for e in stage.events if isinstance(e, BrokersCompared)]
    if any(e.dead for e in compared):
        hint = "The controller has seen that broker 1 was gone. Keep it busy until 1 is back."
        return _judged(stage, 1, message, hint, "a number that falls does harm by itself")
    hint = "The controller has not looked since. Let it hear of the change."
    return _judged(stage, 1, message, hint)


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

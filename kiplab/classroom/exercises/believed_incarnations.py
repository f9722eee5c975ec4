"""Exercise: two processes with one broker id (KIP-343). Which of their messages are accepted?

The engine plays the messages, one after the other, and the controller answers.
"""

from __future__ import annotations

from functools import cache

from ...plays.grammar import parse
from ...plays.runner import run_play
from ...plays.stage import Performed, Stage
from ...protocol.facts import Refused
from .answers import BLANK, Slip, half, in_order, still_open, summed, unfit
from .check_result import Checked
from .own_runs import token_of

RUN = """
title Two processes, one broker id
kafka kip-343
broker 0
broker 1 epoch=100
broker 2
controller broker=0 epoch=5
topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=3 log=10@3
send metadata-heartbeat from=1 incarnation-id=100 target-state=active
send isr-change from=1 incarnation-id=140 isr=1
send metadata-heartbeat from=1 incarnation-id=140 target-state=active
send metadata-heartbeat from=1 incarnation-id=100 target-state=active
send isr-change from=1 incarnation-id=100 isr=1 leader-epoch=3
send metadata-heartbeat from=1 incarnation-id=900 target-state=active
"""
"""Broker 1 is registered with ZooKeeper as incarnation 100, all the while."""
ACCEPTED, REFUSED = "A", "R"


def check_incarnations(answer: object) -> Checked:
    """Judge A or R for each message of RUN, in order: accepted, or refused for its incarnation."""
    told = rulings()
    given = in_order(answer, len(told), "letters, each A or R")
    if isinstance(given, Checked):
        return given
    said = [part.upper() for part in given]
    strange = sorted({part for part in said if part not in (ACCEPTED, REFUSED, BLANK)})
    if strange:
        named = ", ".join(part[:20] for part in strange[:5])
        return unfit(len(told), f"There is no {named}. Use A or R.")
    slips = [
        _wrong(number, mine)
        for number, (mine, true) in enumerate(zip(said, told, strict=True), 1)
        if mine != true
    ]
    praise = "A heartbeat may name any number that is higher; an IsrChange only the one known."
    return summed(len(told), slips, praise, token_of(played()))


@cache
def played() -> Stage:
    """The run."""
    return run_play(parse(RUN))


def rulings() -> list[str]:
    """What the controller makes of each message: ACCEPTED, or REFUSED."""
    return [ACCEPTED if _refusal(sent) is None else REFUSED for sent in played().performed]


def answers_in_words() -> str:
    """What the controller makes of each message of RUN, a line for each."""
    return "\n".join(_line(number, sent) for number, sent in enumerate(played().performed, 1))


def _line(number: int, sent: Performed) -> str:
    refusal = _refusal(sent)
    kind, as_incarnation = sent.statement.words[0], sent.statement.arg("incarnation-id")
    said = f"{number}  {kind} as {as_incarnation}: "
    if refusal is None:
        return f"{said}accepted"
    known = "; ".join(f"here {c.held}" for c in refusal.compared)
    return f"{said}refused, {refusal.error.name}: {known}"


def _refusal(sent: Performed) -> Refused | None:
    """How the message of this line is refused; others may be, that come of it."""
    kind = sent.statement.words[0]
    events = (e for e in played().events_of(sent) if isinstance(e, Refused))
    return next((e for e in events if e.request == kind), None)


_IDEAS = (
    ("", "It is registered, and says what the controller knows. What could be wrong?"),
    (
        "who may send heartbeats may change an ISR",
        "Of a heartbeat the text says what a higher number means. Of an IsrChange it says: wrong.",
    ),
    (
        "the controller asks ZooKeeper who is registered",
        'KIP-343: if the id is higher, the controller will "update [it] in memory, and treat the'
        ' broker as valid". Whom does it ask?',
    ),
    (
        "who is registered is right",
        "The number that the controller remembers is another one by now. Is this one lower?",
    ),
    (
        "a leader keeps what it leads",
        "Which incarnation may speak for broker 1 now?",
    ),
    (
        "a number that nobody has is refused",
        "It is higher than the last one. What else is looked at?",
    ),
)


def _wrong(number: int, said: str) -> Slip:
    part, group = f"message {number}", half(number, len(_IDEAS), "messages")
    if said == BLANK:
        return still_open(part, group)
    idea, hint = _IDEAS[number - 1]
    return Slip(part, hint, idea, group)

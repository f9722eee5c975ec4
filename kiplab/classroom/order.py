"""Exercise: order the events so that data is lost with KIP-841 on and KIP-903 off.

The engine judges: any order that loses committed records is right.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..plays.grammar import parse
from ..plays.play import Play
from ..plays.runner import do_line, open_stage
from ..plays.stage import Performed, Stage
from ..plays.tokens import encode
from ..plays.verdict import lost, refused
from .checked import Checked

EVENTS: dict[str, tuple[str, str]] = {
    "asks": ("2 catches up, and 1 asks the controller to add it", "fetch 2"),
    "crashes": ("2 crashes, and its disk is replaced", "crash 2 disk=replaced"),
    "expires": ("2's session expires: the controller fences it", "expire 2"),
    "starts": ("2 starts and registers", "start 2"),
    "unfenced": ("2 is unfenced", "unfence 2"),
    "arrives": ("1's request arrives at the controller", "deliver alter-partition from=1"),
    "leader crashes": ("1 crashes, and keeps its log", "crash 1"),
    "leader expires": ("1's session expires", "expire 1"),
}
"""Name of each event: (what happens, the line of a play)."""

_HEADER = """title Your schedule: KIP-841 on, KIP-903 off
kafka 3.5
off 903
broker 1 epoch=40
broker 2 epoch=41
topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
given next-metadata-offset=56
hold alter-partition from=1
"""


def play_of(answer: Sequence[str]) -> Play:
    """The play whose lines are the events in this order."""
    lines = "\n".join(EVENTS[name][1] for name in answer)
    return parse(f"{_HEADER}{lines}\n", "your schedule")


def check_order(answer: Sequence[str]) -> Checked:
    """Judge an order of the names in EVENTS, each used once. Never raises for a wrong answer."""
    known = ", ".join(EVENTS)
    if sorted(answer) != sorted(EVENTS):
        message = f"Use each of the eight events once: {known}."
        return Checked(points=0, of=1, message=message)
    play = play_of(answer)
    stage, token = _run(play), encode(play)
    broken = next((p for p in stage.performed if p.not_applicable is not None), None)
    if broken is not None:
        return _impossible(answer, broken, token)
    losses = lost(stage)
    if losses:
        first, last = losses[0]["first"], losses[0]["last"]
        message = f"Offsets {first} to {last} are gone: committed, acknowledged, and lost."
        return Checked(points=1, of=1, message=message, token=token)
    misconception, hint = _diagnosis(answer, stage)
    message = "Nothing is lost in this order."
    return Checked(
        points=0, of=1, message=message, hint=hint, misconception=misconception, token=token
    )


def _run(play: Play) -> Stage:
    """The play, an event that cannot happen noted rather than refused."""
    stage = replace(open_stage(play), strict=False)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    return stage


def _impossible(answer: Sequence[str], broken: Performed, token: str) -> Checked:
    name = next(n for n in answer if EVENTS[n][1] == broken.statement.text)
    reason = broken.not_applicable.reason if broken.not_applicable else ""
    message = f"This cannot happen where you put it: {EVENTS[name][0]}. ({reason}.)"
    return Checked(points=0, of=1, message=message, hint=_ORDER_HINTS.get(name, ""), token=token)


_ORDER_HINTS = {
    "asks": "2 has to be alive to fetch, and 1 to answer.",
    "arrives": "A request can only arrive after it was sent.",
    "unfenced": "A broker is registered before it is unfenced, and its old session has to be over"
    " before it can register.",
    "expires": "A session can only end once.",
    "leader expires": "A session can only end once.",
}


def _diagnosis(answer: Sequence[str], stage: Stage) -> tuple[str, str]:
    """(the idea behind the order, what to look at)."""
    at = {name: place for place, name in enumerate(answer)}
    guards = {r["guard"] for r in refused(stage)}
    if "631.one-live-incarnation" in guards:
        return (
            "a broker that starts again is at once the broker that Kafka knows",
            "While the old session lasts, the new process is turned away. What ends the session?",
        )
    if "841.fenced" in guards:
        return (
            "a late request is dangerous while the broker it names is fenced",
            "KIP-841 is on: who is fenced when the request arrives? When is nobody?",
        )
    if at["arrives"] < at["expires"]:
        return (
            "what was let into the ISR stays there",
            "Fencing takes a broker out of every ISR. Let the request come after it.",
        )
    if at["leader expires"] < at["arrives"]:
        return (
            "fencing the leader does not touch the partition",
            "Once the leader is fenced, the leader epoch is another one, and its old request is"
            " refused. Let the request arrive while 1 still leads.",
        )
    return (
        "a wrong ISR alone loses data",
        "Records are lost when somebody without them leads. Who has to go, and when?",
    )

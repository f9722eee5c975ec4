"""Exercises of lab 08: two processes with one broker id (KIP-343), requests in the wrong order, and
what became of KIP-343's ideas.

The engine plays the messages, one after the other, and the controller answers.
"""

from functools import cache

from ...plays.grammar import parse
from ...plays.runner import run_play
from ...plays.stage import Performed, Stage
from ...plays.verdict import LOSS, verdict
from ...protocol.facts import Refused
from ...protocol.features import parse_features
from ...rows.heartbeat_fates import FATES
from .answers import PartsInOrder, Verdict, is_none, letters_among
from .own_runs import OwnRun, token_of

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
    line = f"{number}  {kind} as {as_incarnation}: "
    if refusal is None:
        return f"{line}accepted"
    held = "; ".join(f"here {c.held}" for c in refusal.compared)
    return f"{line}refused, {refusal.error.name}: {held}"


def _refusal(sent: Performed) -> Refused | None:
    """How the message of this line is refused; others may be, that come of it."""
    kind = sent.statement.words[0]
    events = (e for e in played().events_of(sent) if isinstance(e, Refused))
    return next((e for e in events if e.request == kind), None)


check_incarnations = PartsInOrder(
    read=letters_among((ACCEPTED, REFUSED), "A or R"),
    true=rulings,
    token=lambda: token_of(played()),
)
"""A or R for each message of RUN, in order: accepted, or refused for its incarnation."""


# --- the wrong way round --------------------------------------------------------------------------

GUARD = "343.partition-epoch"
WITH_EPOCHS = parse_features("kip-343")
"""The rules of the play, and a partition epoch in each IsrChange, as Kafka came to have it."""


@OwnRun
def check_swapped(stage: Stage) -> Verdict:
    """A run of `343-asked-twice` that loses a committed record by an IsrChange out of date.

    A point where one is obeyed that a partition epoch would have had refused, one more where a
    committed record is lost, and with partition epochs none is.
    """
    noticed = run_play(stage.play, WITH_EPOCHS)
    if not any(isinstance(e, Refused) and e.guard == GUARD for e in noticed.events):
        return "in order"
    if verdict(stage) != LOSS:
        return "kept"
    return "epochs too" if verdict(noticed) == LOSS else "lost"


# --- what became of it ----------------------------------------------------------------------------

NEVER = "N"
LETTERS_OF_KIPS = {380: "B", 497: "A", 631: "K", None: NEVER}
"""**B**roker epochs, **A**lterIsr, **K**Raft's brokers, and never."""


def letters() -> list[str]:
    """The letter of each idea, in the order of FATES, the table that the ledger is held to."""
    return [LETTERS_OF_KIPS[fate.by] for fate in FATES]


def _fate_keys(place: int, _mine: str, true: str) -> tuple[str, ...]:
    """By the clause, where a wrong answer shows an idea; else by whether it was built."""
    return FATES[place].clause, "unbuilt" if true == NEVER else "built"


_READ_FATES = letters_among(tuple(LETTERS_OF_KIPS.values()), "B, A, K or N")

check_fates = PartsInOrder(
    read=lambda given: _READ_FATES([NEVER if is_none(part) else part for part in given]),
    true=letters,
    keys=_fate_keys,
)
"""A letter for each of FATES, in order: B, A, K or N."""

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
from .answers import Idea, PartsInOrder, halves, ideas, is_none, letters_among, numbered
from .own_runs import UNCLEAN, OwnRun, RunVerdict, token_of

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


_IDEAS = ideas("""
1:
   It is registered, and says what the controller knows. What could be wrong?
2: who may send heartbeats may change an ISR
   Of a heartbeat the text says what a higher number means. Of an IsrChange it says: wrong.
3: the controller asks ZooKeeper who is registered
   KIP-343: if the id is higher, the controller will "update [it] in memory, and treat the broker as
   valid". Whom does it ask?
4: who is registered is right
   The number that the controller remembers is another one by now. Is this one lower?
5: a leader keeps what it leads
   Which incarnation may speak for broker 1 now?
6: a number that nobody has is refused
   It is higher than the last one. What else is looked at?
""")

check_incarnations = PartsInOrder(
    of=len(_IDEAS),
    form="letters, each A or R",
    read=letters_among((ACCEPTED, REFUSED), "A or R"),
    true=rulings,
    idea=lambda place, _mine, _true: _IDEAS[str(place + 1)],
    part=numbered("message"),
    group=halves("messages", len(_IDEAS)),
    praise="A heartbeat may name any number that is higher; an IsrChange only the one known.",
    token=lambda: token_of(played()),
)
"""A or R for each message of RUN, in order: accepted, or refused for its incarnation."""


# --- the wrong way round --------------------------------------------------------------------------

OWN = "343-asked-twice"
GUARD = "343.partition-epoch"
WITH_EPOCHS = parse_features("kip-343")
"""The rules of OWN, and a partition epoch in each IsrChange, as Kafka came to have it."""


def _swapped(stage: Stage) -> RunVerdict:
    noticed = run_play(stage.play, WITH_EPOCHS)
    if not any(isinstance(e, Refused) and e.guard == GUARD for e in noticed.events):
        message = "Every IsrChange arrives in the order in which it was sent."
        hint = "The first copy is still on its way. What has to happen before it arrives?"
        return RunVerdict(0, message, hint, "a request that was sent again is gone")
    if verdict(stage) != LOSS:
        message = "A request that is out of date is obeyed, and no committed record is lost."
        hint = "Who is in the ISR may lead. What does broker 2 lack at that moment, if anything?"
        return RunVerdict(1, message, hint, "an ISR that is a little too large does no harm")
    if verdict(noticed) == LOSS:
        message = "A record is lost, and with partition epochs it would be lost as well."
        return RunVerdict(1, message, "Leave every disk whole, and every election clean.")
    return RunVerdict(2, "Lost, by a request that was right when it was written.")


check_swapped = OwnRun(of=2, begins=OWN, judged=_swapped, forbidden=(UNCLEAN,))
"""A run of OWN that loses a committed record by an IsrChange that is out of date.

A point where one is obeyed that a partition epoch would have had refused, one more where a
committed record is lost, and with partition epochs none is.
"""


# --- what became of it ----------------------------------------------------------------------------

NEVER = "N"
LETTERS_OF_KIPS = {380: "B", 497: "A", 631: "K", None: NEVER}
"""**B**roker epochs, **A**lterIsr, **K**Raft's brokers, and never."""
_FATES = ideas("""
343.12: what KRaft has, KRaft began
   The czxid of a registration, as a number for an incarnation: since which lab do you know it?
343.30: a number that is higher is newer, and so it is right
   Lab 03: a request with another broker epoch than the one known. What is the answer?
343.19: a broker that is cut off stops
   Two of these ideas are about silence: one about that of a broker, one about that of the
   controller. Did both come?
343.66: what was rejected stayed rejected
   KRaft has no ZooKeeper. Where does a broker register then?
343.64: old and new brokers are told apart one by one
   What does a cluster ask before it uses something new: each broker, or one number?
built:
   You have met it in a lab of this course, under another name. In which request?
unbuilt:
   Have you seen Kafka do it, in any release and in either mode? Think of who decides.
""")
"""By the clause, where a wrong answer shows an idea; else by whether it was built."""


def letters() -> list[str]:
    """The letter of each idea, in the order of FATES, the table that the ledger is held to."""
    return [LETTERS_OF_KIPS[fate.by] for fate in FATES]


def _fate_idea(place: int, _mine: str, _true: str) -> Idea:
    fate = FATES[place]
    return _FATES.get(fate.clause, _FATES["unbuilt" if fate.by is None else "built"])


_READ_FATES = letters_among(tuple(LETTERS_OF_KIPS.values()), "B, A, K or N")

check_fates = PartsInOrder(
    of=len(FATES),
    form="letters, each B, A, K or N",
    read=lambda given: _READ_FATES([NEVER if is_none(part) else part for part in given]),
    true=letters,
    idea=_fate_idea,
    part=numbered("idea"),
    group=halves("ideas", len(FATES)),
    praise="Seven came, under other names. Three never did.",
)
"""A letter for each of FATES, in order: B, A, K or N."""

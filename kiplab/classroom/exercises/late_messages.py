"""Exercises of lab 07: messages for an earlier process of a broker, and the checks they take.

The engine judges: it plays KIP-380's four failures, reads the symptom off each run, and switches
the checks off one at a time. And what KIP-380 rejected, the id of a session as the generation of a
broker: it plays what a student wrote, with session ids and with czxids.
"""

from collections.abc import Callable, Iterator
from functools import cache

from ...engine.events import PropertyBroken
from ...engine.properties import CHECKPOINT_KEEPS_PARTITIONS, LEADER_SERVES, REPLICA_FETCHES
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import SAFE, sentence, verdict
from ...protocol.facts import IsrChanged, Polled, Refused
from ...protocol.features import Features, parse_features
from ...protocol.ids import BrokerId, SessionId
from ...protocol.zookeeper_facts import BrokersCompared, SessionOpened
from .answers import Idea, PartsInOrder, ideas, letters_among, numbered, sets_among
from .own_runs import OwnRun, RunVerdict

BACK = 1
"""The broker that comes back in each of the plays."""
BEFORE, SINCE = "zk-2.1", "zk-2.2"
MESSAGES = {
    "A": "380-stale-stop-replica",
    "B": "380-stale-controlled-shutdown",
    "C": "380-overwritten-checkpoint",
    "D": "380-missed-bounce",
}
"""What comes late, and the play in which it does."""
CHECKS = {
    "M": "380.control-request-epoch",
    "S": "380.shutdown-epoch",
    "L": "380.bounce-detection",
}
"""A broker compares the epoch of its **m**ail, the control requests; the controller that of a
ControlledShutdown (**s**); the controller compares epochs when it **l**ooks who is registered.
"""
OBJECTORS = {"380.control-request-epoch": "B", "380.shutdown-epoch": "C"}
NOBODY = "N"
"""Nobody refuses anything: who is told of a change finds more in it."""


# --- what the engine says -----------------------------------------------------------------------


@cache
def played(letter: str, features: Features) -> Stage:
    """The play of one of MESSAGES."""
    return run_play(load(MESSAGES[letter]), features)


def _broken(stage: Stage) -> frozenset[str]:
    return frozenset(e.property for e in stage.events if isinstance(e, PropertyBroken))


def _taken_back(stage: Stage) -> bool:
    """Whether broker BACK came into an ISR again."""
    changes = (e for e in stage.events if isinstance(e, IsrChanged))
    return any(BACK in e.after and BACK not in e.before for e in changes)


def _leads_and_does_not_know(stage: Stage) -> bool:
    return LEADER_SERVES.id in _broken(stage)


def _never_fetches(stage: Stage) -> bool:
    fetches = LEADER_SERVES.id in _broken(stage) or _taken_back(stage)
    return REPLICA_FETCHES.id in _broken(stage) and not fetches


def _gives_nothing(stage: Stage) -> bool:
    polls = [e for e in stage.events if isinstance(e, Polled)]
    forgot = CHECKPOINT_KEEPS_PARTITIONS.id in _broken(stage)
    return forgot and any(e.last < e.first and e.node == BACK for e in polls)


def _out_once_more(stage: Stage) -> bool:
    return REPLICA_FETCHES.id in _broken(stage) and _taken_back(stage)


SYMPTOMS: tuple[Callable[[Stage], bool], ...] = (
    _leads_and_does_not_know,
    _never_fetches,
    _gives_nothing,
    _out_once_more,
)
"""What an operator sees, in the order in which the lab tells it."""


@cache
def cause_of(place: int) -> str:
    """The letter of the message that a symptom, counted from 0, comes of."""
    before = parse_features(BEFORE)
    (letter,) = (letter for letter in MESSAGES if SYMPTOMS[place](played(letter, before)))
    return letter


@cache
def objector(letter: str) -> str:
    """Who refuses one of MESSAGES: B, C, or N for nobody."""
    stage = played(letter, parse_features(SINCE))
    guards = (e.guard for e in stage.events if isinstance(e, Refused))
    return next((OBJECTORS[guard] for guard in guards if guard in OBJECTORS), NOBODY)


@cache
def needed(letter: str) -> frozenset[str]:
    """The letters of CHECKS without which one of MESSAGES does harm."""
    return frozenset(check for check in CHECKS if verdict(without(letter, check)) != SAFE)


def without(letter: str, check: str) -> Stage:
    """The play of one of MESSAGES on SINCE, with one of CHECKS off."""
    return played(letter, parse_features(SINCE, off=(CHECKS[check],)))


def one_check_off() -> str:
    """What every play comes to with each of CHECKS off: a paragraph for a play."""
    return "\n\n".join("\n".join(_off(letter)) for letter in MESSAGES)


def _off(letter: str) -> Iterator[str]:
    yield f"{letter}  {MESSAGES[letter]}"
    for check in CHECKS:
        yield f"   without {check}: {sentence(without(letter, check))}"


# --- symptoms, objectors, checks ------------------------------------------------------------------


def _pair(place: int) -> str:
    return "the first two" if place < 2 else "the last two"


_LETTERS = tuple(MESSAGES)
_MESSAGE = [f"message {letter}" for letter in MESSAGES].__getitem__
_SYMPTOMS = ideas("""
1: a broker that leads knows it
   No control request was refused, and none was sent. Of what was the controller notified?
2: a broker that is up asks for what it has to do
   A replica fetches when it is told to, and stops when it is told to. Told by whom?
3: records that are on the disk can be read
   What may be read ends at the high watermark. Where does a leader have it from, when it starts?
4: what is in every ISR is well
   Something happened to it after it was back. Who can take a running broker out of every ISR at
   once?
""")

check_symptoms = PartsInOrder(
    of=len(SYMPTOMS),
    form="letters, one for each symptom",
    read=letters_among(MESSAGES, " ".join(MESSAGES)),
    true=lambda: [cause_of(place) for place in range(len(SYMPTOMS))],
    idea=lambda place, _mine, _true: _SYMPTOMS[str(place + 1)],
    part=numbered("symptom"),
    group=_pair,
    praise="Four symptoms, and one disease: nobody knew which incarnation.",
)
"""Which of MESSAGES each of SYMPTOMS comes of, in their order: ``"ABCD"``."""

_OBJECTORS = ideas("""
A: the controller takes old requests back
   It is on its way to broker 1, and carries the epoch that was known when it was queued.
B: a message from a broker is judged by a broker
   To whom is a ControlledShutdown sent?
C: a newer leader epoch is always obeyed
   Its leader epoch is new. Which other number is in it now, and who reads that first?
D: what is late is refused
   A watch says that something has changed, and no more. What is there to refuse?
""")

check_who_objects = PartsInOrder(
    of=len(MESSAGES),
    form="letters, each B, C or N",
    read=letters_among((*OBJECTORS.values(), NOBODY), "B C N"),
    true=lambda: [objector(letter) for letter in MESSAGES],
    idea=lambda place, _mine, _true: _OBJECTORS[_LETTERS[place]],
    part=_MESSAGE,
    group=_pair,
    praise="Whoever can compare two numbers objects.",
)
"""Who objects to each of MESSAGES on SINCE, in their order: B, C or N."""

_MISSED = ideas("""
L: who refuses the old is safe
   Refused or not: who sends broker 1 what it is to do now, and how does that one know?
M: what is told anew makes good what was obeyed before
   The first control request that broker 1 obeys has it write a file. Is that old request refused?
S: the controller knows who asks it
   To whom does the late message come, and what does that one compare?
too many: all three checks belong together
   Switch it off, and play it: kiplab.run(..., kafka="zk-2.2", off=...). Is there harm?
""")
"""By the check that is needed and was not named; the first of them is shown."""


def _missed(_place: int, mine: frozenset[str], true: frozenset[str]) -> Idea:
    return _MISSED[min(true - mine, default="too many")]


check_needed_checks = PartsInOrder(
    of=len(MESSAGES),
    form="answers, each of the letters M, S and L, or -",
    read=sets_among(CHECKS, use="M, S, L, or - for none"),
    true=lambda: [needed(letter) for letter in MESSAGES],
    idea=_missed,
    part=_MESSAGE,
    group=_pair,
    praise="Two failures take one check each, and two take two.",
)
"""Which of CHECKS each of MESSAGES takes, in their order: ``["MS", "-", ...]``.

A check is needed where harm is done on SINCE with nothing but this check off.
"""


# --- session ids that fall ------------------------------------------------------------------------

OWN = "380-rising-session-ids"
CZXIDS = parse_features("zk-2.2")
"""The rules of OWN as KIP-380 has them."""


def falls(stage: Stage) -> bool:
    """Whether a broker had a lower session id as a later incarnation than in the one before."""
    known: dict[BrokerId, SessionId] = {}
    for opened in (e for e in stage.events if isinstance(e, SessionOpened)):
        if opened.session < known.get(opened.broker, opened.session):
            return True
        known[opened.broker] = opened.session
    return False


def _session_ids(stage: Stage) -> RunVerdict:
    if not falls(stage):
        message = "Nothing is missed: every session has a higher id than the one before."
        hint = "Each server of ZooKeeper counts for itself. Which one numbers which incarnation?"
        return RunVerdict(0, message, hint, "a later session has a higher id")
    if verdict(stage) == SAFE:
        return _unharmed(stage)
    if verdict(run_play(stage.play, CZXIDS)) != SAFE:
        message = "Harm is done, and with czxids there would be harm as well."
        hint = "Leave out what does harm by itself: what is held back has to arrive in the end."
        return RunVerdict(1, message, hint)
    return RunVerdict(2, "Missed, since a number fell. With czxids nothing is missed.")


def _unharmed(stage: Stage) -> RunVerdict:
    message = "A session id has fallen, and no harm is done."
    if any(isinstance(e, BrokersCompared) and e.dead for e in stage.events):
        hint = "The controller has seen that broker 1 was gone. Keep it busy until 1 is back."
        return RunVerdict(1, message, hint, "a number that falls does harm by itself")
    return RunVerdict(1, message, "The controller has not looked since. Let it hear of the change.")


check_session_ids = OwnRun(of=2, begins=OWN, judged=_session_ids)
"""A run of OWN that its session ids do harm in.

A point where a later incarnation of a broker has a lower session id than the one before, one more
where harm is done, and czxids in place of session ids do none.
"""

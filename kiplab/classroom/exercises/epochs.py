"""The exercises of lab 02: which epochs an event moves, which one refuses a stale message, and how
one leader gets through three leader epochs.
"""

from functools import cache

from ...engine.cluster import Cluster
from ...engine.truth import truth
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...protocol.ids import BrokerId
from ...protocol.registrations import PartitionRegistration
from ...runs import run
from .answers import Idea, PartsInOrder, halves, ideas, moments, numbered, sets_among
from .committed import state_of
from .own_runs import OwnRun, RunVerdict

TWELVE, FENCES = "epochs-twelve", "epochs-fences"
FETCH = 4
"""Which of the messages of FENCES is the fetch."""
EPOCHS = {"C": "controller epoch", "B": "broker epoch", "L": "leader epoch", "P": "partition epoch"}
"""A letter for each epoch."""
LAST_EPOCH = 7
"""The leader epoch to reach; the play begins in 5."""
_LEADER = BrokerId(1)
_USE = ", ".join(f"{letter} ({epoch})" for letter, epoch in EPOCHS.items())
_SETS = sets_among(EPOCHS, "epoch", _USE)


# --- what the engine says -------------------------------------------------------------------------


def epochs_moved(stage: Stage) -> list[tuple[str, frozenset[str]]]:
    """(the line, the letters of the epochs that it moved) for each line that did something."""
    before, moved = stage.history.start, []
    for performed, after in moments(stage):
        changed = (a != b for a, b in zip(_epochs(before), _epochs(after), strict=True))
        letters = (letter for letter, change in zip("CBLP", changed, strict=True) if change)
        moved.append((performed.statement.text, frozenset(letters)))
        before = after
    return moved


def fenced_by(stage: Stage) -> list[str]:
    """The letter of the epoch that was compared, for each refusal in turn."""
    names = (e.compared[0].name for e in stage.events if isinstance(e, Refused) and e.compared)
    return [_letter(name) for name in names]


def _epochs(cluster: Cluster) -> tuple[object, ...]:
    now = truth(cluster)
    return (
        now.controller_epoch,
        tuple((r.broker, r.epoch) for r in now.registrations),
        tuple(p.leader_epoch for p in now.partitions),
        tuple(p.partition_epoch for p in now.partitions),
    )


def _letter(name: str) -> str:
    """``"broker 1 epoch"`` is B."""
    return next(letter for letter, epoch in EPOCHS.items() if name.split()[0] == epoch.split()[0])


# --- twelve events --------------------------------------------------------------------------------

_EVENTS = ideas("""
crash: a crash is noticed at once
   Nobody is told of a crash. What ends a session?
fencing: fencing always bumps the partition epoch
   Was the broker in the ISR? If not, there is nothing to write about the partition.
ISR change: the leader epoch changes on every ISR change
   The leader epoch moves when a record sets the leader. Did this one?
same leader: a new leader epoch needs a new leader
   Before metadata version 3.6-IV0 a shrink writes the leader anew, even the same one.
start: a registration touches the broker's partitions
   A registration writes one record, about the broker.
unfence: unfencing is a new incarnation
   The broker epoch is minted at registration.
fail-over: a new controller elects the leaders anew
   The new controller takes over the partitions as the metadata log has them.
other:
   Step through the play, and watch the four rows.
""")


@cache
def _twelve(kafka: str | None) -> list[tuple[str, frozenset[str]]]:
    return epochs_moved(run(TWELVE, kafka=kafka).stage)


def _event_idea(place: int, mine: frozenset[str], moved: frozenset[str], kafka: str | None) -> Idea:
    verb = _twelve(kafka)[place][0].split()[0]
    return _EVENTS[_event_key(verb, mine - moved, moved - mine)]


def _event_key(verb: str, extra: frozenset[str], missing: frozenset[str]) -> str:
    if verb == "crash" and extra:
        return "crash"
    if verb == "expire" and "P" in extra:
        return "fencing"
    if verb in ("expire", "catch-up") and "L" in extra:
        return "ISR change"
    if verb == "expire" and "L" in missing:
        return "same leader"
    if verb == "start" and extra & {"L", "P"}:
        return "start"
    if verb == "unfence" and "B" in extra:
        return "unfence"
    return "fail-over" if verb == "fail-over" and extra else "other"


check_epochs = PartsInOrder(
    of=12,
    by_release=True,
    form="words, one for each event",
    read=_SETS,
    true=lambda kafka: [moved for _, moved in _twelve(kafka)],
    idea=_event_idea,
    part=lambda place: f"event {place + 1} ({_twelve(None)[place][0]})",
    group=halves("events", 12),
    praise="All twelve events are right.",
    token=lambda kafka: run(TWELVE, kafka=kafka).token,
)
"""Which epochs each of the twelve events of TWELVE moves.

One word per event: ``"LP"`` for the leader and the partition epoch, ``"-"`` for none.
"""


# --- what gives it away ---------------------------------------------------------------------------


def _fence_idea(place: int, mine: str, fence: str) -> Idea:
    hint = "Hold each number of the message against the one that is on record. Which is too old?"
    if mine == "C":
        return "every request carries the controller epoch", hint
    if fence == "B":
        return "a broker's earlier incarnation shows in the partition's epochs", hint
    if place + 1 == FETCH and mine == "P":
        hint = "A fetch changes nothing, so it names no version. Which number does it carry?"
        return "a fetch is checked like AlterPartition", hint
    if (fence, mine) == ("L", "P"):
        return "an old leader is kept out by the partition epoch", hint
    if (fence, mine) == ("P", "L"):
        return "every version of a partition has a leader epoch of its own", hint
    return "", hint


def _single_letters(given: list[str]) -> list[str]:
    _SETS(given)
    return [part.upper() for part in given]


check_fences = PartsInOrder(
    of=4,
    by_release=True,
    form="letters, one for each message",
    read=_single_letters,
    true=lambda kafka: fenced_by(run(FENCES, kafka=kafka).stage),
    idea=lambda place, mine, fence, **_: _fence_idea(place, mine, fence),
    part=numbered("message"),
    group=halves("messages", 4),
    praise="Each number guards against another past.",
    token=lambda kafka: run(FENCES, kafka=kafka).token,
    open_is_wrong=True,
)
"""Which epoch gives each message of FENCES away: a letter of EPOCHS each."""


# --- three leader epochs of one leader ------------------------------------------------------------


def _reached(stage: Stage) -> RunVerdict:
    states = [state_of(cluster) for _, cluster in moments(stage)]
    reached = max((state.leader_epoch for state in states), default=0)
    if reached < LAST_EPOCH:
        return _too_few(state_of(stage.history.start), states)
    until = next(n for n, state in enumerate(states) if state.leader_epoch >= LAST_EPOCH)
    if all(state.leader == _LEADER for state in states[: until + 1]):
        return RunVerdict(2, f"Leader epoch {reached}, and it was broker 1 all the while.")
    message = f"Leader epoch {reached}, but broker 1 did not lead all the while."
    hint = "Leave broker 1 alone. On Kafka 3.5, which record sets the leader, even the same one?"
    return RunVerdict(1, message, hint, "a new leader epoch needs a new leader")


def _too_few(first: PartitionRegistration, states: list[PartitionRegistration]) -> RunVerdict:
    last = states[-1] if states else first
    versions = last.partition_epoch - first.partition_epoch
    epochs = last.leader_epoch - first.leader_epoch
    message = f"The partition epoch has moved by {versions}, the leader epoch by {epochs}."
    if versions > epochs:
        hint = "A growing ISR leaves the leader alone. What does a shrinking one do, up to 3.5?"
        return RunVerdict(0, message, hint, "the leader epoch changes on every ISR change")
    return RunVerdict(
        0, message, "Which of the twelve events moved L, and left the leader in place?"
    )


check_reigns = OwnRun(of=2, begins=TWELVE, judged=_reached)
"""A run of TWELVE in which broker 1 leads throughout, into LAST_EPOCH.

A point for the epoch, one if nobody else ever leads.
"""

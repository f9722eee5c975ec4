"""Exercises of lab 02: which epochs an event moves, which refuses an old message."""

from functools import cache, partial

from ...engine.cluster import Cluster
from ...engine.truth import truth
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...runs import run
from ..exercise_table import Exercise
from .answers import OfExercise, PartsInOrder, Verdict, moments, sets_among
from .committed import state_of
from .own_runs import OwnRun

FETCH = 4
"""Which of the messages is the fetch."""
EPOCHS = {"C": "controller epoch", "B": "broker epoch", "L": "leader epoch", "P": "partition epoch"}
LAST_EPOCH = 7
"""The leader epoch to reach; the play begins in 5."""
_SETS = sets_among(EPOCHS, "epoch", ", ".join(f"{key} ({epoch})" for key, epoch in EPOCHS.items()))


def epochs_moved(stage: Stage) -> list[tuple[str, frozenset[str]]]:
    """(the line, the letters of the epochs that it moved) for each line that did something."""
    before, moved = _epochs(stage.history.start), []
    for performed, cluster in moments(stage):
        after = _epochs(cluster)
        letters = frozenset(letter for letter in EPOCHS if before[letter] != after[letter])
        moved.append((performed.statement.text, letters))
        before = after
    return moved


def fenced_by(stage: Stage) -> list[str]:
    """The letter of the epoch that was compared, for each refusal in turn."""
    refusals = (e for e in stage.events if isinstance(e, Refused) and e.compared)
    return [refusal.compared[0].name[0].upper() for refusal in refusals]


def _epochs(cluster: Cluster) -> dict[str, object]:
    now = truth(cluster)
    return {
        "C": now.controller_epoch,
        "B": [(r.broker, r.epoch) for r in now.registrations],
        "L": [p.leader_epoch for p in now.partitions],
        "P": [p.partition_epoch for p in now.partitions],
    }


@cache
def _twelve(play: str, kafka: str | None) -> list[tuple[str, frozenset[str]]]:
    return epochs_moved(run(play, kafka=kafka).stage)


def _event_keys(
    play: str, place: int, mine: frozenset[str], moved: frozenset[str], kafka: str | None
) -> tuple[str, ...]:
    verb = _twelve(play, kafka)[place][0].split()[0]
    extra, missing = mine - moved, moved - mine
    fits = {
        "crash": verb == "crash" and extra,
        "fencing": verb == "expire" and "P" in extra,
        "ISR change": verb in ("expire", "catch-up") and "L" in extra,
        "same leader": verb == "expire" and "L" in missing,
        "start": verb == "start" and extra & {"L", "P"},
        "unfence": verb == "unfence" and "B" in extra,
        "fail-over": verb == "fail-over" and extra,
    }
    return tuple(key for key, fit in fits.items() if fit)


@OfExercise
def check_epochs(entry: Exercise) -> PartsInOrder:
    """Which epochs each of the twelve events of its play moves.

    One word per event: ``"LP"`` for the leader and the partition epoch, ``"-"`` for none.
    """
    return PartsInOrder(
        read=_SETS,
        true=lambda kafka: [moved for _, moved in _twelve(entry.source, kafka)],
        keys=partial(_event_keys, entry.source),
        name=lambda place: f"event {place + 1} ({_twelve(entry.source, None)[place][0]})",
        token=lambda kafka: run(entry.source, kafka=kafka).token,
    )


def _fence_keys(place: int, mine: str, fence: str, **_: object) -> tuple[str, ...]:
    is_fetch = place + 1 == FETCH and mine == "P"
    fits = {"names C": mine == "C", "fenced by B": fence == "B", "a fetch": is_fetch}
    return (*(key for key, fit in fits.items() if fit), f"{fence} {mine}")


def _single_letters(parts: list[str]) -> list[str]:
    _SETS(parts)
    return [part.upper() for part in parts]


@OfExercise
def check_fences(entry: Exercise) -> PartsInOrder:
    """Which epoch gives each message of its play away: a letter of EPOCHS each."""
    return PartsInOrder(
        read=_single_letters,
        true=lambda kafka: fenced_by(run(entry.source, kafka=kafka).stage),
        keys=_fence_keys,
        token=lambda kafka: run(entry.source, kafka=kafka).token,
    )


def _three_leader_epochs(stage: Stage) -> Verdict:
    """Judges a run of epochs-twelve: broker 1 leads throughout, up to LAST_EPOCH."""
    first = state_of(stage.history.start)
    states = [state_of(cluster) for _, cluster in moments(stage)] or [first]
    reached = max(state.leader_epoch for state in states)
    if reached < LAST_EPOCH:
        versions = states[-1].partition_epoch - first.partition_epoch
        epochs = states[-1].leader_epoch - first.leader_epoch
        key = "versions" if versions > epochs else "few"
        return key, {"versions": versions, "epochs": epochs}
    until = next(n for n, state in enumerate(states) if state.leader_epoch >= LAST_EPOCH)
    throughout = all(state.leader == 1 for state in states[: until + 1])
    return "reached" if throughout else "another led", {"reached": reached}


check_reigns = OwnRun(_three_leader_epochs)

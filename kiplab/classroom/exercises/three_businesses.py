"""Exercise of lab 06: settings for three businesses, judged by what three bad nights do to each:
what was lost and refused is held against what the business can bear.
"""

import re
from functools import cache, partial
from itertools import chain, product

import msgspec

from ...engine.cluster import broker
from ...protocol.facts import BatchAcknowledged
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import acknowledged_records, missing
from ..exercise_table import Exercise, UnfitError, exercise
from .answers import BLANK, PARTS_MAX, OfExercise, PartsInOrder
from .committed import PARTITION, played, state_of

Settings = tuple[str, str, str]
CHOICES: tuple[Settings, ...] = (*product(("1", "2", "3"), ("1", "all"), ("true", "false")),)
"""Every min.insync.replicas, acks and unclean.leader.election.enable."""
ID = "recovery/businesses"
NIGHTS = exercise(ID).plays
"""What happens in each, in the text; `acks` is that of every producer."""
WHILE = {"second": "one is down", "fourth": "one in sync is left", "third": "any is up"}
"""What it means that a producer of a night is served."""


class Business(msgspec.Struct, frozen=True):
    """What a business can bear: how many losses, each of what one producer writes, in which nights.

    `takes` are the producers that have to be served while the night lasts.
    """

    name: str
    bears: tuple[int, int, int]
    takes: tuple[str, ...]


BUSINESSES = (
    Business("the bank", (0, 0, 0), ("second",)),
    Business("the parcel service", (0, 0, 1), ("second", "fourth")),
    Business("the click counter", (1, 1, 1), ("second", "third", "fourth")),
)


class Night(msgspec.Struct, frozen=True):
    """How many acknowledged records the last leader lacks, and which producers were served."""

    lost: int
    served: frozenset[str]


def nights(settings: Settings, entry: Exercise | None = None) -> tuple[Night, ...]:
    """What the nights do under (min.insync.replicas, acks, unclean.leader.election.enable)."""
    wanted, acks, unclean = settings
    enabled = "yes" if unclean == "true" else "no"
    of_topic = f"min-insync-replicas={wanted} unclean-leader-election={enabled}"
    entry = entry or exercise(ID)
    plays = (entry.play(night, settings=of_topic, acks=acks) for night in entry.plays)
    return tuple(_night(play) for play in plays)


def bills() -> str:
    """What every choice of settings costs in the nights of the text, a line each."""
    lines = ["min.insync  acks  unclean   lost in the nights   written while"]
    for settings in CHOICES:
        outcomes = nights(settings)
        wanted, acks, unclean = settings
        gone = " ".join(f"{night.lost:4}" for night in outcomes)
        served = _served(outcomes)
        while_ = ", ".join(words for name, words in WHILE.items() if name in served)
        lines.append(f"{wanted:>10}  {acks:4}  {unclean:7} {gone:>19}   {while_ or '-'}")
    return "\n".join(lines)


def _served(outcomes: tuple[Night, ...]) -> frozenset[str]:
    return frozenset().union(*(night.served for night in outcomes))


@cache
def _night(play: str) -> Night:
    stage = played(play, "night")
    leader = broker(stage.cluster, state_of(stage.cluster).leader)
    assert leader is not None, "every night ends with a leader"
    log = log_of(leader, PARTITION)
    gone = sum(part.count for t in acknowledged_records(stage) for part in missing(log, t.records))
    served = (e.producer for e in stage.events if isinstance(e, BatchAcknowledged))
    return Night(gone, frozenset(served))


def _bare(answer: object) -> object:
    """Settings as one text, with ; between, are as good as a list; question marks say nothing."""
    given = answer.split(";") if isinstance(answer, str) else answer
    if not isinstance(given, list | tuple):
        return given
    return [part if _words(str(part)) else BLANK for part in given[:PARTS_MAX]]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _settings(part: str) -> Settings | None:
    return next((settings for settings in CHOICES if [*settings] == _words(part)), None)


def complaint(business: Business, settings: Settings, entry: Exercise | None = None) -> str:
    """The first thing that it cannot bear: ``"lost in third"``, ``"fourth unserved"``; or empty."""
    outcomes, names = nights(settings, entry), ("first", "second", "third")
    count = (entry or exercise(ID)).values["count"]
    pairs = zip(names, outcomes, business.bears, strict=True)
    lost = (f"lost in {name}" for name, night, bears in pairs if night.lost > bears * count)
    refused = (f"{name} unserved" for name in business.takes if name not in _served(outcomes))
    return next(chain(lost, refused), "")


def _complaints(entry: Exercise, parts: list[str]) -> list[str]:
    """What each of BUSINESSES cannot bear of its settings, BLANK where there are none yet."""
    odd = [part for part in parts if _words(part) and _settings(part) is None]
    if odd:
        raise UnfitError(
            f"{odd[0][:40]!r} is no choice of settings. Write min.insync.replicas (1 to 3), acks"
            ' (1 or all) and unclean.leader.election.enable (true or false): "2 all false".'
        )
    chosen = zip(BUSINESSES, map(_settings, parts), strict=True)
    return [BLANK if settings is None else complaint(b, settings, entry) for b, settings in chosen]


@OfExercise
def check_businesses(entry: Exercise) -> PartsInOrder:
    """Settings for BUSINESSES, in order, each as text: min.insync.replicas, acks, unclean.

    ``["2 all false", ...]``: played through the nights, and held to what each of them can bear.
    """
    return PartsInOrder(
        plain=_bare,
        read=partial(_complaints, entry),
        true=lambda: [""] * len(BUSINESSES),
        keys=lambda _place, mine, _true: (mine,),
        solved=lambda: [
            next(" ".join(s) for s in CHOICES if not complaint(b, s, entry)) for b in BUSINESSES
        ],
    )

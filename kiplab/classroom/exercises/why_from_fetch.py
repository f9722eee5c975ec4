"""Exercises of lab 05: the source of a leader's broker epochs. Four designs, a price, a loss."""

from functools import cache

from ...explore.shrink.shortening import goal_of
from ...plays.header import features_of
from ...plays.library import find, load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import HARM, LOSS, lost, refused, verdict
from ...protocol.facts import BecameFollower, LeaderElected, NotProposed
from ...protocol.features import Features, parse_features
from ...protocol.messages import KINDS, FetchRequest
from ..exercise_table import Exercise
from .answers import OfExercise, PartsInOrder, Verdict, is_none, sets_among
from .own_runs import OwnRun

MOMENTS = {"R": "kafka-14139", "F": "903-late-fetch"}
"""What is slow: the leader's **r**equest, or the follower's **f**etch."""
DESIGNS: dict[str, Features] = {
    "no epoch": parse_features("3.4"),
    "a new leader epoch": parse_features("3.4", on=("903.bump-leader-epochs",)),
    "from metadata": parse_features("3.5", on=("903.epoch-from-metadata",)),
    "from Fetch": parse_features("3.5"),
}
"""Ways to deal with a broker that came back as another one, and the rules each is played by."""
BACK = 2
PROPERTY = "no-committed-record-lost"
FETCH = KINDS[FetchRequest]
_SKIPS_FENCED = "841.leader-skips-fenced"


@cache
def losing(design: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of DESIGNS."""
    rules = DESIGNS[design]
    return frozenset(n for n, play in MOMENTS.items() if lost(run_play(load(play), rules)))


check_epoch_sources = PartsInOrder(
    read=sets_among(MOMENTS, use="R, F, or - for none"),
    true=lambda: [losing(design) for design in DESIGNS],
)
"""Which MOMENTS lose data under each of DESIGNS, in their order: ``"RF"``, ``"-"``."""


@cache
def price(play: str, kafka: str = "") -> tuple[int, int, int]:
    """(partitions with a new leader epoch, fetchers that start over, fetches that are refused).

    Of the fetchers, those of brokers other than the one that came back.
    """
    own, _ = find(play)
    stage = run_play(own, parse_features(kafka) if kafka else features_of(own))
    elected = {e.partition for e in stage.events if isinstance(e, LeaderElected)}
    restarts = [e for e in stage.events if isinstance(e, BecameFollower) and e.node != BACK]
    return len(elected), len(restarts), sum(r["request"] == FETCH for r in refused(stage))


@OfExercise
def check_bump_price(entry: Exercise) -> PartsInOrder:
    """Four numbers about its play: leader epochs, restarts, refusals, and with KIP-903.

    The partitions with a new leader epoch; the fetchers of other brokers that start over; the
    fetches that are refused; and how many of all these there are on Kafka 3.5.
    """
    numbers = (*price(entry.source), sum(price(entry.source, "3.5")))
    return PartsInOrder(
        read=lambda words: ["0" if is_none(word) else word for word in words],
        true=lambda: [*map(str, numbers)],
    )


@OwnRun
def check_old_fetch(stage: Stage) -> Verdict:
    """A run of `903-from-metadata` that loses records cleanly, against Kafka's promise."""
    outcome = verdict(stage)
    if outcome == HARM:
        return "harm"
    if outcome == LOSS and not goal_of(stage, PROPERTY).excused:
        return "lost"
    if any(isinstance(e, NotProposed) and e.guard == _SKIPS_FENCED for e in stage.events):
        return "sender fenced"
    stale = "903.controller-epoch" in {str(r["guard"]) for r in refused(stage)}
    return "old epoch" if stale else "kept"

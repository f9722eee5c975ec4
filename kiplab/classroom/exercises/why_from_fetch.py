"""Exercises on where a leader takes broker epochs from: four designs, a price, a losing run.

The engine judges: it plays two accidents under each design, counts what one of them costs, and
plays what a student wrote.
"""

from __future__ import annotations

from functools import cache

from ...explore.shrink.shortening import goal_of
from ...plays.header import features_of
from ...plays.library import load
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...plays.verdict import HARM, LOSS, lost, refused, verdict
from ...protocol.facts import BecameFollower, LeaderElected, NotProposed
from ...protocol.features import Features, parse_features
from ...protocol.messages import KINDS, FetchRequest
from .answers import BLANK, Slip, in_order, is_none, still_open, summed, unfit
from .check_result import Checked
from .own_runs import own_run, token_of

MOMENTS = {"R": "kafka-14139", "F": "903-late-fetch"}
"""What is slow: the leader's **r**equest, or the follower's **f**etch."""
DESIGNS: dict[str, Features] = {
    "no epoch": parse_features("3.4"),
    "a new reign": parse_features("3.4", on=("903.bump-leader-epochs",)),
    "from metadata": parse_features("3.5", on=("903.epoch-from-metadata",)),
    "from Fetch": parse_features("3.5"),
}
"""Ways to deal with a broker that came back as another one, and the rules each is played by."""
PRICE, OWN = "903-bump-price", "903-from-metadata"
BACK = 2
"""The broker that comes back there."""
PROPERTY = "no-committed-record-lost"
FETCH = KINDS[FetchRequest]


def check_epoch_sources(answer: object) -> Checked:
    """Judge which MOMENTS lose data under each of DESIGNS, in their order: ``"RF"``, ``"-"``."""
    given = in_order(answer, len(DESIGNS), "answers, each of the letters R and F, or -")
    if isinstance(given, Checked):
        return given
    strange = sorted({letter for said in given for letter in _letters(said)} - set(MOMENTS))
    if strange:
        return unfit(
            len(DESIGNS), f"There is no {', '.join(strange[:5])}. Use R, F, or - for none."
        )
    slips = [
        _wrong_design(design, said)
        for design, said in zip(DESIGNS, given, strict=True)
        if said == BLANK or _letters(said) != losing(design)
    ]
    return summed(len(DESIGNS), slips, "Two designs lose nothing. Now ask what they cost.")


def check_bump_price(answer: object) -> Checked:
    """Judge four numbers about ``903-bump-price``: leader epochs, restarts, refusals, with KIP-903.

    The partitions with a new leader epoch; the fetchers of other brokers that start over; the
    fetches that are refused; and how many of all these there are on Kafka 3.5.
    """
    given = in_order(answer, 4, "numbers")
    if isinstance(given, Checked):
        return given
    truth = (*price(PRICE), sum(price(PRICE, "3.5")))
    slips = [
        _wrong_number(place, said)
        for place, (said, true) in enumerate(zip(given, truth, strict=True), 1)
        if said != str(true) and not (true == 0 and is_none(said))
    ]
    return summed(4, slips, "One broker came back; two that had done nothing stopped for it.")


def check_old_fetch(answer: object) -> Checked:
    """Judge a run of ``903-from-metadata`` that loses committed records.

    A point where a broker that lacks them could be elected, one more where they are lost. An
    unclean election, and a loss that Kafka does not promise to survive, do not count.
    """
    stage = own_run(answer, OWN, 2, forbidden=("elect orders-0 unclean=yes",))
    if isinstance(stage, Checked):
        return stage
    found = verdict(stage)
    if found == HARM:
        message = "Broker 2 is in the ISR without the records, and nothing is lost yet."
        return _judged(stage, 1, message, "Let it be elected: the leader has to go.")
    if found != LOSS or goal_of(stage, PROPERTY).excused:
        return _kept(stage)
    message = "Committed records are lost. Would they be, with the epoch from Fetch?"
    return _judged(stage, 2, message)


# --- what the engine says -----------------------------------------------------------------------


@cache
def losing(design: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of DESIGNS."""
    runs = {letter: run_play(load(play), DESIGNS[design]) for letter, play in MOMENTS.items()}
    return frozenset(letter for letter, stage in runs.items() if lost(stage))


@cache
def price(play: str, kafka: str = "") -> tuple[int, int, int]:
    """(partitions with a new leader epoch, fetchers that start over, fetches that are refused).

    Of the fetchers, those of brokers other than the one that came back.
    """
    own = load(play)
    stage = run_play(own, parse_features(kafka) if kafka else features_of(own))
    reigns = {e.partition for e in stage.events if isinstance(e, LeaderElected)}
    restarts = [e for e in stage.events if isinstance(e, BecameFollower) and e.node != BACK]
    return len(reigns), len(restarts), sum(r["request"] == FETCH for r in refused(stage))


def _letters(said: str) -> frozenset[str]:
    return frozenset() if is_none(said) else frozenset(c for c in said.upper() if c.isalnum())


# --- wrong answers ------------------------------------------------------------------------------


_DESIGNS = {
    "no epoch": (
        "being alive is as good as being level",
        "On 3.4 nobody says which life of broker 2 was level. Is it fenced, when R or F arrives?",
    ),
    "a new reign": (
        "a new reign only stops what the old leader asks for",
        "When broker 2 registers, the leader epoch moves. Which of the two messages carries it?",
    ),
    "from metadata": (
        "the newest epoch is the right one",
        "R was written before broker 2 died, and F makes the leader write afterwards. With which"
        " epoch each?",
    ),
    "from Fetch": (
        "an old message makes an old request only by luck",
        "The old fetch brings its own epoch along. What does the leader compare it with?",
    ),
}


def _wrong_design(design: str, said: str) -> Slip:
    group = "what KIP-903 rejected" if design in ("a new reign", "from metadata") else "the others"
    if said == BLANK:
        return still_open(design, group)
    idea, hint = _DESIGNS[design]
    return Slip(design, hint, idea, group)


_NUMBERS = (
    (
        "leader epochs",
        "a new leader epoch is a matter of the partitions that broker 2 leads",
        "It leads none. Of which of the three does it have a replica?",
    ),
    (
        "restarts",
        "only who comes back has to start over",
        "Who follows in these partitions, apart from broker 2? Count the lines *follows*.",
    ),
    (
        "refusals",
        "a follower learns of a new reign at once",
        "Broker 3 hears of it late. Which of its fetches are refused, and which of those to it?",
    ),
    (
        "with KIP-903",
        "every way to keep a broker apart from its past costs the others something",
        'Play it: kiplab.run("903-bump-price", kafka="3.5").',
    ),
)


def _wrong_number(place: int, said: str) -> Slip:
    part, idea, hint = _NUMBERS[place - 1]
    group = "what a new reign costs" if place < 4 else "what KIP-903 costs"
    return still_open(part, group) if said == BLANK else Slip(part, hint, idea, group)


def _kept(stage: Stage) -> Checked:
    message = "Nothing committed is lost."
    skipped = {e.guard for e in stage.events if isinstance(e, NotProposed)}
    stopped = {str(r["guard"]) for r in refused(stage)}
    if "841.leader-skips-fenced" in skipped:
        hint = "The old fetch arrives while broker 2 is fenced. When is it no longer?"
        return _judged(
            stage, 0, message, hint, "an old fetch is dangerous while its sender is away"
        )
    if "903.controller-epoch" in stopped:
        hint = "The controller refused an old epoch: the leader had not heard of the new one yet."
        return _judged(stage, 0, message, hint, "the leader's metadata is always the newest")
    hint = "Broker 2 has to get in without a record, and then broker 1 has to go."
    return _judged(stage, 0, message, hint)


def _judged(
    stage: Stage, points: int, message: str, hint: str = "", misconception: str = ""
) -> Checked:
    return Checked(
        points=points,
        of=2,
        message=message,
        hint=hint,
        misconception=misconception,
        token=token_of(stage),
    )

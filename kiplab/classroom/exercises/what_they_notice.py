"""Exercise: four consumers, and records that are no more. What does each of them notice?"""

from __future__ import annotations

from functools import cache

from ...engine.cluster import Cluster, broker
from ...engine.consumers import consumer_of
from ...engine.truth import partition_of
from ...protocol.facts import ConsumerRaised, PositionTruncated
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import missing, stretches
from ...runs import run
from .answers import BLANK, Slip, in_order, still_open, summed, unfit
from .check_result import Checked

PLAY, PARTITION = "704-consumers", "orders-0"
VALIDATION = "320.validated-position"
CONSUMERS = (
    ("before", ()),
    ("cautious", ()),
    ("forgetful", ()),
    ("newcomer", ()),
    ("forgetful", (VALIDATION,)),
)
"""Whom it is asked of, and what is off."""
NOTHING, BACK, THROWS, UNSEEN = "N", "B", "X", "S"
"""Has nothing to notice; is told, and goes **b**ack; throws; does not notice (**s**ilently)."""


def check_what_they_notice(answer: object) -> Checked:
    """Judge a letter for each of CONSUMERS, in order: N, B, X or S."""
    given = in_order(answer, len(CONSUMERS), "letters, each N, B, X or S")
    if isinstance(given, Checked):
        return given
    strange = sorted({part for part in given if part.upper() not in _LETTERS})
    if strange:
        named = ", ".join(part[:20] for part in strange[:5])
        return unfit(len(CONSUMERS), f"There is no {named}. Use N, B, X or S.")
    slips = [
        _wrong(place, said)
        for place, said in enumerate(given)
        if said.upper() != noticed(*CONSUMERS[place])
    ]
    return summed(len(CONSUMERS), slips, "Two are told, and one would never have known.")


@cache
def noticed(consumer: str, off: tuple[str, ...]) -> str:
    """The letter of a consumer of PLAY, with these guards off."""
    stage = run(PLAY, off=off).stage
    if any(isinstance(e, ConsumerRaised) and e.consumer == consumer for e in stage.events):
        return THROWS
    if any(isinstance(e, PositionTruncated) and e.consumer == consumer for e in stage.events):
        return BACK
    return UNSEEN if _has_what_is_gone(stage.cluster, consumer) else NOTHING


_LETTERS = (NOTHING, BACK, THROWS, UNSEEN, BLANK)


def _has_what_is_gone(cluster: Cluster, consumer: str) -> bool:
    """Whether it holds records that the leader has not."""
    state, reader = partition_of(cluster, PARTITION), consumer_of(cluster, consumer, PARTITION)
    assert state is not None
    assert reader is not None, "every consumer asked about is one of the play"
    leader = broker(cluster, state.leader)
    assert leader is not None, "the play ends with a leader"
    return bool(missing(log_of(leader, PARTITION), stretches(reader.observed)))


_IDEAS = (
    (
        "an unclean election is felt by everybody who reads",
        "It has read offsets 0 to 7. Which of them are gone?",
    ),
    (
        "without a reset policy a consumer waits where it is",
        "auto.offset.reset=none. Who decides where it goes on, if not the client?",
    ),
    (
        "an offset that exists again is as good as before",
        "Offset 15 exists again when it asks. Of which leader epoch was what it has read before?",
    ),
    (
        "what was lost is missing for those who come later",
        "It has read nothing yet. What is there to contradict?",
    ),
    (
        "the broker sees that a consumer has read something else",
        "It asks for offset 15, and there is one. Who compares leader epochs now?",
    ),
)


def _wrong(place: int, said: str) -> Slip:
    name, off = CONSUMERS[place]
    part = f"{name}, without the validation" if off else name
    group = "those whose records are gone" if noticed(name, off) != NOTHING else "the others"
    if said == BLANK:
        return still_open(part, group)
    idea, hint = _IDEAS[place]
    return Slip(part, hint, idea, group)

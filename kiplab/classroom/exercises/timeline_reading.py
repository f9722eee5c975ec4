"""The exercises of lab 00: six questions that one timeline answers, and a request accepted."""

from collections.abc import Callable
from functools import cache

import msgspec

from ...engine.cluster import Cluster
from ...engine.nodes import is_up
from ...plays.stage import Stage
from ...plays.verdict import refused
from ...protocol.ids import BrokerId
from ...rows.columns import MessageRow, Rows
from ...runs import run
from .answers import Idea, PartsInOrder, halves, moments, numbered
from .committed import state_of
from .own_runs import OwnRun, RunVerdict

PLAY = "timeline-first"
_DEAD = BrokerId(3)


class ReadingQuestion(msgspec.Struct, frozen=True):
    """`find` reads the answer from the rows; `tempting` a wrong one, with the idea behind it."""

    text: str
    find: Callable[[Rows], str]
    tempting: Callable[[Rows], str]
    misconception: str
    hint: str


def _plain(text: str) -> str:
    """``"{1, 2}"``, ``"1,2"`` and ``"broker 1 2"`` are one answer."""
    bare = text.lower().replace("broker", "").replace("step", "").replace("_", " ")
    return " ".join(bare.translate(str.maketrans("{}[](),", "       ")).split())


def _at(rows: Rows, lane: str, track: str, x: int) -> str:
    """What a row of the picture says at `x`; empty where it has nothing."""
    spans = (s for s in rows.spans if (s.lane, s.track) == (lane, track))
    return next((s.value for s in spans if s.x0 <= x < s.x1), "")


def _leader(rows: Rows, x: int) -> str:
    spans = (s for s in rows.spans if s.track == "role" and s.value == "leader")
    return next((s.lane for s in spans if s.x0 <= x < s.x1), "nobody")


def _late(rows: Rows) -> MessageRow:
    """The message that was on its way for longest."""
    return max(rows.messages, key=lambda m: (m.x_arrived or m.x_sent) - m.x_sent)


QUESTIONS = (
    ReadingQuestion(
        "Which broker leads at the end?",
        lambda rows: _leader(rows, rows.meta.end - 1),
        lambda rows: _leader(rows, 0),
        "a leader that comes back leads again",
        "The filled band is the leader's. In whose lane does it end?",
    ),
    ReadingQuestion(
        "What is the ISR from step 5 on?",
        lambda rows: _at(rows, "partition", "ISR", 5),
        lambda rows: _at(rows, "partition", "ISR", 4),
        "what a step does shows after it",
        "What step 5 does shows from 5 on: read the row ISR to the right of 5.",
    ),
    ReadingQuestion(
        "At which step does the slow AlterPartition request arrive?",
        lambda rows: str(_late(rows).x_arrived),
        lambda rows: str(_late(rows).x_sent),
        "a message takes effect when it is sent",
        "Follow the arrow to its point.",
    ),
    ReadingQuestion(
        "With which error is it refused?",
        lambda rows: _late(rows).error,
        lambda _rows: "INELIGIBLE_REPLICA",
        "a late request is refused because of the broker it names",
        "The name stands beside the shield, and in the text behind ⊘.",
    ),
    ReadingQuestion(
        "What is the partition epoch at step 9, when broker 2 has joined the ISR?",
        lambda rows: _at(rows, "partition", "partition epoch", 9),
        lambda rows: _at(rows, "partition", "partition epoch", 8),
        "only the loss of a member moves the partition epoch",
        "Read the row partition epoch to the right of 9.",
    ),
    ReadingQuestion(
        "What is the broker epoch of the second incarnation of broker 3?",
        lambda rows: _at(rows, "broker 3", "uptime", 8),
        lambda rows: _at(rows, "broker 3", "uptime", 0),
        "a broker keeps its epoch when it starts again",
        "Each tile in a broker's lane is one incarnation, and says its epoch.",
    ),
)
"""The questions, in order; answers are read from the run, none is written down here."""


def _reading_idea(place: int, mine: str, _true: str, kafka: str | None) -> Idea:
    question = QUESTIONS[place]
    tempted = mine == _plain(question.tempting(_rows(kafka)))
    return question.misconception if tempted else "", question.hint


@cache
def _rows(kafka: str | None) -> Rows:
    return run(PLAY, kafka=kafka).rows()


check_reading = PartsInOrder(
    of=len(QUESTIONS),
    by_release=True,
    form="answers",
    read=lambda given: [_plain(part) for part in given],
    true=lambda kafka: [_plain(question.find(_rows(kafka))) for question in QUESTIONS],
    idea=_reading_idea,
    part=numbered("question"),
    group=halves("questions", len(QUESTIONS)),
    praise="You can read a timeline.",
    token=lambda kafka: run(PLAY, kafka=kafka).token,
    open_is_wrong=True,
)
"""Six answers, in the order of QUESTIONS, as text or numbers, about the timeline of a release."""


# --- get it accepted ------------------------------------------------------------------------------


def _acceptance(stage: Stage) -> RunVerdict:
    joined = _joined(stage)
    if any(not is_up(cluster, _DEAD) for cluster in joined):
        message = "Accepted: the ISR has a member that is dead. The controller cannot know it yet."
        return RunVerdict(2, message)
    if joined:
        message = "Accepted, and broker 3 was alive. When is it dead, and nobody knows?"
        hint = "A broker is dead from its crash on. The controller hears of it later."
        return RunVerdict(1, message, hint)
    return _not_accepted(stage)


def _joined(stage: Stage) -> list[Cluster]:
    """The situation after each line by which broker 2 joined broker 3 in the ISR."""
    before, joined = set(state_of(stage.history.start).isr), []
    for _, cluster in moments(stage):
        isr = set(state_of(cluster).isr)
        if 2 in isr - before and 3 in isr & before:
            joined.append(cluster)
        before = isr
    return joined


def _not_accepted(stage: Stage) -> RunVerdict:
    requests = (r for r in refused(stage) if r["request"] == "alter-partition")
    errors = ", ".join(dict.fromkeys(str(r["error"]) for r in requests))
    if errors:
        hint = "It is the end of broker 3's session that moves the epochs. Be quicker than that."
        idea = "a crash is what the controller reacts to"
        return RunVerdict(0, f"The request is refused: {errors}.", hint, idea)
    message = "No request that adds broker 2 and names broker 3 is accepted here."
    hint = "Broker 1 asks when broker 2 has caught up. Then the request has to arrive."
    return RunVerdict(0, message, hint)


check_accepted = OwnRun(of=2, begins=PLAY, judged=_acceptance)
"""A run of PLAY in which a request that names broker 3 is accepted.

A point for the ISR with brokers 2 and 3, one more if broker 3 is dead when it gets there.
"""

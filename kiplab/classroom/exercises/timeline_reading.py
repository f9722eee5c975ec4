"""Exercise: six questions that one timeline answers. The rows behind the picture know."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...rows.columns import MessageRow, Rows
from ...runs import run
from .answers import Slip, half, in_order, summed
from .check_result import Checked

PLAY = "timeline-first"


class ReadingQuestion(msgspec.Struct, frozen=True):
    """`find` reads the answer from the rows; `tempting` a wrong one, with the idea behind it."""

    text: str
    find: Callable[[Rows], str]
    tempting: Callable[[Rows], str]
    misconception: str
    hint: str


def check_reading(answer: object, kafka: str | None = None) -> Checked:
    """Judge six answers, in the order of QUESTIONS, as text or numbers.

    `kafka` is the release whose timeline was read; None is the play's own.
    """
    given = in_order(answer, len(QUESTIONS), "answers")
    if isinstance(given, Checked):
        return given
    found = run(PLAY, kafka=kafka)
    rows = found.rows()
    slips = [
        _slip(number, question, said, rows)
        for number, (question, said) in enumerate(zip(QUESTIONS, given, strict=True), 1)
        if _plain(said) != _plain(question.find(rows))
    ]
    return summed(len(QUESTIONS), slips, "You can read a timeline.", found.token)


def _slip(number: int, question: ReadingQuestion, said: str, rows: Rows) -> Slip:
    tempted = _plain(said) == _plain(question.tempting(rows))
    idea = question.misconception if tempted else ""
    group = half(number, len(QUESTIONS), "questions")
    return Slip(f"question {number}", question.hint, idea, group)


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
        "What is the broker epoch of broker 3 in its second life?",
        lambda rows: _at(rows, "broker 3", "uptime", 8),
        lambda rows: _at(rows, "broker 3", "uptime", 0),
        "a broker keeps its epoch when it starts again",
        "Each tile in a broker's lane is one life, and says its epoch.",
    ),
)
"""The questions, in order; answers are read from the run, none is written down here."""

"""A difference is told in few lines: a play that kiplab runs, with Kafka's answer and the engine's.

Here the right engine stands for Kafka, and one without a rule for the engine.
"""

from __future__ import annotations

import pytest

from kiplab.judge.conversation.generated import Conversation
from kiplab.judge.conversation.turns import Created, Raised
from kiplab.judge.corpus.difference_as_play import UntoldError, difference_as_play
from kiplab.judge.corpus.judge_report import difference_text
from kiplab.judge.corpus.judging import FoundParting
from kiplab.judge.corpus.shortest_difference import (
    PartedConversation,
    ShortestDifference,
    told_of,
)
from kiplab.plays.grammar import parse
from kiplab.plays.play import format_play
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import MetadataOffset
from tests.judge.engine_side import EngineSide

SEEDS = range(300)


def parted(kafka: EngineSide, release: str, guard: str) -> PartedConversation:
    """The first conversation in which an engine without `guard` is caught."""
    wrong = parse_features(release, off=(guard,))
    for seed in SEEDS:
        conversation = Conversation(kafka, wrong, seed)
        if conversation.run(60):
            return told_of(conversation, wrong)
    raise AssertionError(f"{guard} makes no difference at {release}")


@pytest.mark.parametrize(
    ("release", "guard", "most"),
    [
        ("3.5", "841.fenced", 8),
        ("3.5", "841.shutting-down", 12),
        ("3.7", "497.partition-epoch", 10),
        ("3.9", "631.one-live-incarnation", 4),
        ("3.9", "841.active-leader", 12),
    ],
)
def test_the_shortest_difference_is_short_and_a_play_repeats_it(
    release: str, guard: str, most: int
) -> None:
    kafka = EngineSide(parse_features(release))
    found = ShortestDifference(kafka, parted(kafka, release, guard)).shrink()
    assert len(found.turns) <= most
    text = format_play(difference_as_play(found, "3.5.2"))
    mended = text.replace(f"off       {guard}\n", "")
    wrong, right = (run_play(parse(each)) for each in (text, mended))
    assert {e.status for e in right.expectations} <= {"held"}
    assert not wrong.expectations or {e.status for e in wrong.expectations} == {"failed"}
    assert wrong.events != right.events


def test_a_play_shows_both_answers() -> None:
    kafka = EngineSide(parse_features("3.5"))
    found = ShortestDifference(kafka, parted(kafka, "3.5", "841.fenced")).shrink()
    text = format_play(difference_as_play(found, "3.5.2"))
    lines, _, after = text.partition("expect ")
    sent, (expected, *answers) = lines.splitlines()[-1], after.splitlines()
    assert sent.startswith("send      alter-partition")
    assert "isr=" in sent
    assert "broker-epoch=" not in sent, "what fits the situation is not said"
    # Version 2 brought an error of its own.
    errors = ("OPERATION_NOT_ATTEMPTED", "INELIGIBLE_REPLICA")
    assert expected.strip() in [f"error={error} records=none" for error in errors]
    starts = (
        "# Kafka 3.5.2: AlterPartition reply: conversation",
        "#   writes nothing",
        "# the engine: AlterPartition reply: conversation",
        "#   writes @",
    )
    assert all(map(str.startswith, answers, starts))
    assert len(answers) == len(starts)


def test_looking_for_a_shorter_one_ends_after_so_many_attempts() -> None:
    kafka = EngineSide(parse_features("3.5"))
    whole = parted(kafka, "3.5", "841.shutting-down")
    hurried = ShortestDifference(kafka, whole, tries=1).shrink()
    assert len(hurried.turns) == len(whole.turns)


def test_a_conversation_that_raised_the_version_is_told_as_it_was() -> None:
    kafka = EngineSide(parse_features("3.5"))
    whole = parted(kafka, "3.5", "841.fenced")
    raised = Raised("3.5-IV2", "", "", 0, MetadataOffset(17))
    turns = (whole.turns[0]._replace(turn=raised), *whole.turns[1:])
    again = whole._replace(turns=turns)
    assert ShortestDifference(kafka, again).shrink() is again


def test_what_no_play_can_say_is_told_turn_by_turn() -> None:
    kafka = EngineSide(parse_features("3.5"))
    found = ShortestDifference(kafka, parted(kafka, "3.5", "841.fenced")).shrink()
    made = next(n for n, told in enumerate(found.turns) if isinstance(told.turn, Created))
    before = found._replace(turns=(*found.turns[:made], found.turns[made]))
    with pytest.raises(UntoldError, match="which is no question"):
        difference_as_play(before, "3.5.2")
    text = difference_text(FoundParting(before), "3.5.2")
    assert text.splitlines()[0].startswith("# conversation ")
    assert text.splitlines()[-1].startswith("#   made conversation")


def test_a_parting_in_the_first_word_is_before_every_play() -> None:
    kafka = EngineSide(parse_features("3.5"))
    found = parted(kafka, "3.5", "841.fenced")
    with pytest.raises(UntoldError, match="before a play can begin"):
        difference_as_play(found._replace(turns=found.turns[:1]), "3.5.2")

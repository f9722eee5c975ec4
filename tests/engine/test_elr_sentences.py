"""What the transcript and the story of a step say of eligible leader replicas (KIP-966)."""

import pytest

from kiplab.engine.explain import sentence
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.step_story import story_of
from kiplab.protocol.features import parse_features
from tests.figures.small_plays import ELR_ELECTED, ELR_WAITED_FOR, WITH_ELR

ALL_GONE = WITH_ELR + "crash 3\nexpire 3\ncrash 2\nexpire 2\ncrash 1\nexpire 1\nstart 2\n"
CLEARED = ELR_WAITED_FOR + "configure t min-insync-replicas=1\n"
ALLOWED = ELR_WAITED_FOR.replace("topic t ", "topic t unclean-leader-election=yes ")


def played(text: str, kafka: str = "4.3", elr: int = 1) -> Stage:
    return run_play(parse(text), parse_features(kafka, elr=elr))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ELR_WAITED_FOR, "ELR of t-0 {2} -> {1, 2}"),
        (ELR_WAITED_FOR, "last known leader of t-0 none -> broker 1"),
        (ELR_WAITED_FOR, "ISR of t-0 {1} -> {} (partition epoch 13)"),
        (ELR_ELECTED, "broker 2 is elected from the ELR to lead t-0 from leader epoch 7 on"),
        (
            ALL_GONE + "start 1\nunfence 1\n",
            "broker 1 is elected uncleanly to lead t-0 from leader epoch 7 on",
        ),
        (
            CLEARED,
            "min.insync.replicas of t is 1; the controller judges by it who is an eligible leader"
            " replica, as leaders do",
        ),
    ],
)
def test_the_transcript_says(text: str, said: str) -> None:
    assert said in {sentence(event) for event in played(text).events}


def test_without_them_leaders_alone_read_min_insync_replicas() -> None:
    said = {sentence(event) for event in played(CLEARED, elr=0).events}
    assert "min.insync.replicas of t is 1; leaders alone read it" in said


NOBODY = "nobody is in its ISR or its ELR"


@pytest.mark.parametrize(
    ("text", "elr", "matters"),
    [
        (ELR_WAITED_FOR, 0, "until a member of its ISR {1} is back."),
        (ELR_WAITED_FOR, 1, "until a member of its ELR {1, 2} is back: its ISR is empty."),
        (ALL_GONE, 1, "until a member of its ELR {1} is back: its ISR is empty."),
        (
            ALL_GONE + "start 1\n",
            1,
            "until its last known leader, broker 1, is back: its ISR and its ELR are empty.",
        ),
        (CLEARED, 1, f"until an operator elects a leader uncleanly: {NOBODY}."),
        (
            ALLOWED,
            1,
            "until a replica is back: its ISR is empty, and unclean elections are allowed.",
        ),
    ],
)
def test_the_story_says_who_is_waited_for(text: str, elr: int, matters: str) -> None:
    assert story_of(played(text, elr=elr)).matters == f"Clients cannot use t-0 {matters}"


@pytest.mark.parametrize(
    ("text", "happened", "matters"),
    [
        (
            ELR_ELECTED,
            "is elected from the ELR",
            "It was in the ELR: the controller assumes that it has every committed record.",
        ),
        (
            ALL_GONE + "start 1\nunfence 1\n",
            "is elected uncleanly",
            "It was neither in the ISR nor in the ELR: committed records that it lacks are lost.",
        ),
        (
            WITH_ELR + "crash 3\nexpire 3\nexpire 2\n",
            "ELR of t-0 {} -> {2}",
            "Nothing more is committed before the ISR has 2 members again.",
        ),
        (
            WITH_ELR + "crash 3\nexpire 3\ncrash 2\nexpire 2\nstart 2\n",
            "ELR of t-0 {2} -> {}",
            "Only a member of the ISR can be elected cleanly from now on.",
        ),
    ],
)
def test_the_story_says_what_follows(text: str, happened: str, matters: str) -> None:
    story = story_of(played(text))
    assert happened in story.happened
    assert story.matters == matters

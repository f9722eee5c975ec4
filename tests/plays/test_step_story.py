"""One step in two sentences: what a reader must not miss, and what follows from it."""

import pytest

from kiplab.plays.header import features_of
from kiplab.plays.library import load, names
from kiplab.plays.step_story import StepStory, story_of
from kiplab.protocol.features import parse_features
from kiplab.widgets.history_tree.playback import open_playback

HAPPENED_MAX, MATTERS_MAX = 190, 270
"""Characters that the bar of a Lab has room for."""


def stories(name: str, release: str | None = None) -> list[StepStory]:
    """A story for each step of a play, under its own features or those of a release."""
    play = load(name)
    features = features_of(play) if release is None else parse_features(release)
    return [story_of(frame.stage) for frame in open_playback(play, features).frames]


def test_before_the_first_step_it_is_the_question_of_the_play() -> None:
    play = load("kafka-14139")
    assert stories("kafka-14139")[0] == (play.title, play.question)


def test_the_race_of_kafka_14139_can_be_read_from_it() -> None:
    told = stories("kafka-14139", "3.4")
    assert told[3].matters.startswith(
        "It was not in the ISR of orders-0: the partition epoch stays"
    )
    assert told[6] == (
        "ISR of orders-0 {1} -> {1, 2} (partition epoch 11).",
        "Broker 2 could be elected without every committed record.",
    )
    assert told[8].happened.startswith("Broker 2 leads orders-0 without committed offsets 0-99")
    assert told[11].matters.startswith("These records were committed.")


def test_a_refusal_says_the_rule_and_both_values() -> None:
    story = stories("kafka-14139", "3.5")[6]
    assert story.happened.startswith("◘ Controller refuses alter-partition for orders-0")
    assert "request 41, registered 57" in story.matters
    assert "KIP-903 (903.controller-epoch)" in story.matters


def test_a_leader_that_stays_is_no_election() -> None:
    """3.5 raises the leader epoch when the ISR shrinks: that the set is smaller is the story."""
    assert stories("isr-committed", "3.5")[4].happened.startswith("ISR of orders-0 {1, 2, 3}")


def test_records_that_a_follower_cuts_were_committed_or_not() -> None:
    kept, lost = stories("isr-stale-member")[9], stories("hole-never-level")[14]
    assert " truncates offsets 100-109 " in kept.happened
    assert kept.matters.startswith("They were not committed")
    assert " truncates offset 101 " in lost.happened
    assert lost.matters.startswith("These records were committed")


def test_with_zookeeper_a_state_that_is_sent_again_is_no_news() -> None:
    assert not any("STALE_CONTROLLER_EPOCH" in s.happened for s in stories("380-newer-epoch"))


@pytest.mark.parametrize("name", names())
def test_every_step_of_every_play_has_one_that_the_bar_has_room_for(name: str) -> None:
    for happened, matters in stories(name):
        assert happened.endswith((".", "?")) or happened == load(name).title
        assert len(happened) <= HAPPENED_MAX, happened
        assert len(matters) <= MATTERS_MAX, matters

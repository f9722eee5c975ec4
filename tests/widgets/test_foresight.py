"""What is foretold of a line is what follows when it is done; and foretelling does nothing."""

import re

import pytest

from kiplab.engine.cluster import Cluster
from kiplab.engine.truth import truth
from kiplab.plays import verdict as verdicts
from kiplab.plays.library import load
from kiplab.plays.play import Statement
from kiplab.protocol.facts import Refused
from kiplab.protocol.features import parse_features
from kiplab.widgets.controls import offering
from kiplab.widgets.history_tree.playback import Playback, act, open_playback, read_line, seek
from tests.repeated import every_play
from tests.widgets.hands import THREE, at, made, opened, steps

EVERY = every_play()


def told(playback: Playback, line: str) -> str:
    return " ".join(offering.foreseen(playback, read_line(playback, line)))


@pytest.mark.parametrize("name", EVERY)
def test_what_is_foretold_is_what_the_lab_then_says(name: str) -> None:
    """Every event of every step: verdict, records and refusals against those of the line done."""
    for playback in steps(opened(name)):
        for happening in offering.happenings(playback.here.cluster):
            sentences = offering.foreseen(playback, happening.line)
            said = " ".join(sentences)
            after = act(playback, happening.line).here
            if "Verdict: " in said:
                assert f"{verdicts.verdict(after)}, {verdicts.sentence(after)}" in said
            for record, value in re.findall(r"(\w+ epoch) \S+ → (\d+)", said):
                assert value in states(after.cluster, record)
            errors = {
                event.error.name
                for event in after.events_of(after.performed[-1])
                if isinstance(event, Refused)
            }
            assert errors == set(re.findall(r" refuses .*?: ([A-Z_]+)", said))
            assert (said == offering.NOTHING) <= (after.cluster == playback.here.cluster)
            assert len(sentences) <= offering.SENTENCES_MAX


def states(cluster: Cluster, record: str) -> set[str]:
    """The values that a number of a partition has."""
    field = record.replace(" ", "_")
    return {str(getattr(p, field)) for p in truth(cluster).partitions}


def test_a_harmful_answer_is_foretold_with_what_it_records() -> None:
    assert told(at(5), "deliver alter-partition from=1") == (
        "Verdict: harm, nothing lost yet, but a replica that lacks records could be elected."
        " orders-0: ISR {1} → {1, 2}, partition epoch 10 → 11."
    )


def test_a_refusal_is_foretold_with_its_error() -> None:
    playback = open_playback(load("kafka-14139"), parse_features("3.5"))
    said = told(seek(playback, 5), "deliver alter-partition from=1")
    assert said == "Controller refuses alter-partition for orders-0: INELIGIBLE_REPLICA."


def test_what_leads_to_nothing_says_so() -> None:
    assert told(made(THREE), "heartbeat 1") in (offering.NOTHING, offering.NOTHING_ON_RECORD)
    assert told(at(1), "check-lag 1") == offering.NOTHING


def test_what_changes_no_record_is_told_as_the_transcript_does() -> None:
    assert told(made(THREE), "produce orders-0") == "Broker 1 appends offset 10 of orders-0."
    assert told(made(THREE), "cut 1 2") == "The link between broker 1 and broker 2 is cut."


def test_a_disk_that_is_lost_is_told_before_the_broker_that_is_down() -> None:
    said = offering.foreseen(made(THREE), Statement("crash", ("2",), (("disk", "replaced"),)))
    assert said == ("Broker 2 loses offsets 0-9 of orders-0.", "Broker 2: down, not noticed yet.")


def test_what_would_wait_and_what_would_be_held_back_is_told() -> None:
    manual = made("manual\n" + THREE)
    assert told(manual, "fetch 2") == "Then on its way: fetch #1 from broker 2."
    assert told(at(0), "release alter-partition from=1") == "Nothing is held back any more."
    assert told(made(THREE), "hold fetch from=2") == "Held back from now on: fetch from broker 2."


def test_what_cannot_be_done_is_explained() -> None:
    said = told(made(THREE), "start 1")
    assert said == "'start 1' cannot be done now: broker 1 is running already. Nothing has changed."

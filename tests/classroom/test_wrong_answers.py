"""A wrong answer names the idea behind it, where one is known, and gives a hint in any case."""

import re

import pytest

from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.exercises.race import RULES

RIGHT: dict[str, list[object]] = {
    "start/reading": ["2", "{1}", "6", "FENCED_LEADER_EPOCH", "12", "202"],
    "isr/high-watermark": [100, 100, 100, 110, 110, 110, 120, 120],
    "epochs/twelve": ["-", "LP", "B", "-", "P", "C", "-", "LP", "B", "-", "-", "-"],
    "conversation/first-rule": [
        "FENCED_LEADER_EPOCH L",
        "STALE_BROKER_EPOCH B",
        "NONE -",
        "INVALID_UPDATE_VERSION P",
        "INVALID_REQUEST S",
        "NOT_CONTROLLER N",
        "INVALID_REQUEST I",
        "INELIGIBLE_REPLICA F",
    ],
    "kafka-14139/window": [6, 8, "345", "5", "-"],
    "kafka-14139/two-by-two": ["FR", "R", "F", "-"],
    "kafka-14139/last-replica": ["0-99", "0-79", "0"],
}
"""The right answer, where a case below changes one part of it: {place, counted from 0: answer}."""
NUMBERED = ("start/reading", "isr/high-watermark", "epochs/twelve", "conversation/first-rule")
"""Exercises whose parts are named by their number."""
WRONG: dict[str, list[tuple[object, str, str]]] = {
    "start/reading": [
        ({0: "1"}, "5/6", "a leader that comes back leads again"),
        ({1: "{1, 3}"}, "5/6", "what a step does shows after it"),
        ({2: "3"}, "5/6", "a message takes effect when it is sent"),
        (
            {3: "INELIGIBLE_REPLICA"},
            "5/6",
            "a late request is refused because of the broker it names",
        ),
        ({4: "11"}, "5/6", "only the loss of a member moves the partition epoch"),
        ({5: "103"}, "5/6", "a broker keeps its epoch when it starts again"),
    ],
    "isr/high-watermark": [
        ({1: 110}, "7/8", "a record is committed once it is written"),
        ({2: 110}, "7/8", "min.insync.replicas copies are enough to commit a record"),
        ({0: 110}, "7/8", ""),
        ({3: 100}, "7/8", "the high watermark moves only when somebody copies"),
        ({3: 103}, "7/8", ""),
        ({5: 130}, "7/8", ""),
        (
            {6: 110},
            "7/8",
            "the high watermark waits while the ISR is smaller than min.insync.replicas",
        ),
        (
            {7: 110},
            "7/8",
            "the high watermark waits while the ISR is smaller than min.insync.replicas",
        ),
        ({5: 120}, "7/8", "a record is committed once it is written"),
        ({7: 130}, "7/8", "a leader alone in the ISR accepts everything"),
        (
            [100, 100, 100, 110, 110, 110, 110, 110],
            "6/8",
            "the high watermark waits while the ISR is smaller than min.insync.replicas",
        ),
        (
            [100, 100, 100, 100, 100, 100, 100, 100],
            "3/8",
            "the high watermark moves only when somebody copies",
        ),
        ({0: 110}, "7/8", ""),
    ],
    "isr/acknowledged": [
        ("AB", "3/4", "what was acknowledged is committed"),
        ("AC", "3/4", "acks=all waits for min.insync.replicas copies"),
        ("AD", "3/4", "min.insync.replicas copies are enough to commit a record"),
        ("-", "3/4", "acks=1 waits for a follower"),
        ("BCD", "0/4", "acks=1 waits for a follower"),
    ],
    "isr/schedules": [
        ("ABCD", "5/6", "min.insync.replicas copies are enough to commit a record"),
        ("AD", "5/6", "committed means on every replica"),
        ("AC", "5/6", "only acks=all records are ever committed"),
        ("ACDE", "5/6", "a leader alone in the ISR accepts everything"),
        ("ACDF", "5/6", "a record is committed as soon as all have it"),
    ],
    "epochs/twelve": [
        ({0: "P"}, "11/12", "a crash is noticed at once"),
        ({1: "P"}, "11/12", "a new leader epoch needs a new leader"),
        ({2: "BP"}, "11/12", "a registration touches the broker's partitions"),
        ({3: "B"}, "11/12", "unfencing is a new incarnation"),
        ({4: "LP"}, "11/12", "the leader epoch changes on every ISR change"),
        ({5: "CL"}, "11/12", "a new controller elects the leaders anew"),
        ({11: "P"}, "11/12", "fencing always bumps the partition epoch"),
        ({8: "-"}, "11/12", ""),
    ],
    "conversation/first-rule": [
        ({0: "INVALID_UPDATE_VERSION P"}, "7/8", "compare and set comes first"),
        ({1: "NOT_CONTROLLER N"}, "7/8", "what is asked is judged before who asks"),
        ({1: "FENCED_LEADER_EPOCH L"}, "7/8", "what is asked is judged before who asks"),
        ({2: "INELIGIBLE_REPLICA E"}, "7/8", "a broker epoch that is not known is refused"),
        ({3: "NONE -"}, "7/8", "the same request again gets the same answer"),
        ({4: "INVALID_UPDATE_VERSION P"}, "7/8", "compare and set comes first"),
        ({5: "INVALID_UPDATE_VERSION P"}, "7/8", "a number that differs is out of date"),
        ({5: "INVALID_REQUEST S"}, "7/8", "the gravest fault is the one that is named"),
        ({6: "INELIGIBLE_REPLICA F"}, "7/8", "a broker that must not join weighs most"),
        ({7: "INELIGIBLE_REPLICA E"}, "7/8", "an epoch that differs is noticed before a fence"),
        ({7: "INVALID_REQUEST R"}, "7/8", ""),
    ],
    "kafka-14139/window": [
        ({0: 1}, "4/5", "a proposed member counts as a member"),
        ({0: 2}, "4/5", "a lost disk puts committed records at risk at once"),
        ({0: 5}, "4/5", "an empty broker is a danger as soon as it is alive"),
        ({0: 7}, "4/5", "the risk begins when the leader dies"),
        ({0: 3}, "4/5", ""),
        ({1: 7}, "4/5", "records are lost when the leader dies"),
        ({1: 11}, "4/5", "records are lost when the last copy is thrown away"),
        ({2: "45"}, "4/5", "fencing always bumps the partition epoch"),
        ({2: "-"}, "4/5", "fencing always bumps the partition epoch"),
        ({2: "2345"}, "4/5", "a dead broker that was let in stays in"),
        ({3: "-"}, "4/5", "KIP-841 keeps a broker out once it has been fenced"),
        ({3: "45"}, "4/5", "a rule of 3.3 needs the broker epochs of 3.5"),
        ({4: "5"}, "4/5", "an old request looks the same to a new incarnation"),
    ],
    "kafka-14139/two-by-two": [
        ({0: "R"}, "3/4", "fencing always bumps the partition epoch"),
        ({1: "-"}, "3/4", "KIP-841 keeps a broker out once it has been fenced"),
        ({1: "FR"}, "3/4", ""),
        ({2: "-"}, "3/4", "KIP-903 makes KIP-841 superfluous"),
        ({2: "FR"}, "3/4", ""),
        ({3: "F"}, "3/4", "two rules leave the holes of both"),
    ],
    "kafka-14139/last-replica": [
        ({0: "80-99"}, "2/3", "what another replica still has is not lost"),
        ({0: "0-100"}, "2/3", "a log that ends at 100 has a record at offset 100"),
        ({0: "none"}, "2/3", ""),
        ({1: "0-80"}, "2/3", "a log that ends at 80 has a record at offset 80"),
        ({1: "80-99"}, "2/3", "a follower keeps what the leader has lost"),
        ({2: "1"}, "2/3", "KIP-903 looks at every broker that comes back"),
        ({2: "two"}, "2/3", ""),
    ],
    "recovery/vanishing": [
        ("0..99", "1/2", "all that the old leader had goes with it"),
        ("40..99", "1/2", "an unclean election throws away the leader epoch in which it happens"),
        ("60..99", "1/2", "a broker that becomes leader cuts its log at its high watermark"),
        ("80..100", "1/2", "the log end offset is that of the last record"),
        ("-", "0/2", "what acks=all acknowledged cannot be lost"),
        ("80", "1/2", ""),
        ("80..120", "1/2", ""),
        ("70..90", "0/2", ""),
        ([80, 99], "0/2", ""),
    ],
    "explorer/proof": [
        ("ABDG", "6/7", "what holds for one fault holds for two"),
        ("ACDG", "6/7", "a fault that was not searched does no harm"),
        ("ADEG", "6/7", "a rule that was never needed here is never needed"),
        ("ADFG", "6/7", "a proof about a model is a proof about Kafka"),
        ("AD", "6/7", "every proof says that something was safe"),
        ("ADFGEBC", "3/7", "what holds for one fault holds for two"),
        ("DG", "6/7", ""),
    ],
    "explorer/missing-guard": [
        ("497.partition-epoch 903 631", "2/3", "a proposal is harmless until it is accepted"),
        ("903 903 631", "2/3", "data is lost only where a disk is lost"),
        ("maximal-isr 841 631", "2/3", "KIP-841 keeps a broker out once it has been fenced"),
        ("maximal-isr partition-epoch 631", "2/3", "fencing always bumps the partition epoch"),
        (
            "maximal-isr 903 841",
            "2/3",
            "a broker that comes back empty has to ask for its place in the ISR",
        ),
        ("kafka-7128 kafka-7128 kafka-7128", "0/3", ""),
    ],
    "explorer/holes": [
        ("R R 497.partition-epoch 2", "3/4", "KIP-841 keeps a broker out once it has been fenced"),
        ("F F 497.partition-epoch 2", "3/4", "KIP-903 makes KIP-841 superfluous"),
        ("F R 841 2", "3/4", "a later rule makes the earlier one superfluous"),
        ("F R none 2", "3/4", "every check is needed in every situation"),
        ("F R 497.partition-epoch 1", "3/4", "only all rules together suffice"),
        ("M M maximal-isr 14", "0/4", ""),
    ],
    "hole/what-saves": [
        ("ABCDG", "6/7", "a setting about acknowledgements decides who is elected"),
        ("CDG", "6/7", ""),
        ("BDG", "6/7", "the later the metadata, the worse"),
        ("BCG", "6/7", ""),
        ("BCDEG", "6/7", "a proper shutdown waits until everybody has everything"),
        ("BCDFG", "6/7", "a newer release has closed it"),
        ("BCD", "6/7", "a forgotten proposal is committed over at once"),
    ],
    "hole/what-closes": [
        ("-", "4/5", ""),
        ("AB", "4/5", "a larger ISR closes it"),
        ("AC", "4/5", ""),
        ("AD", "4/5", "a new leader epoch mends whatever went wrong"),
        ("AE", "4/5", "the hole is about broker epochs"),
    ],
}
"""By the exercise: (answer, points, idea)."""
CASES = [(id, *case) for id, cases in WRONG.items() for case in cases]


@pytest.mark.parametrize(("id", "answer", "points", "idea"), CASES)
def test_a_wrong_answer_names_the_idea_behind_it(
    id: str, answer: object, points: str, idea: str
) -> None:
    if isinstance(answer, dict):
        changed = [answer.get(place, part) for place, part in enumerate(RIGHT[id])]
        found = exercise(id).judge(changed)
        (place,) = answer
        assert found.which.count(",") == 0
        if id in NUMBERED:
            assert re.search(rf" {place + 1}\b", found.which)
        if id == "kafka-14139/two-by-two":
            assert list(RULES)[place] in found.which
    else:
        found = exercise(id).judge(answer)
    assert (f"{found.points}/{found.of}", found.misconception) == (points, idea)
    assert found.attempted
    assert found.hint


@pytest.mark.parametrize("id", RIGHT)
def test_the_right_answer_is_right(id: str) -> None:
    assert exercise(id).judge(RIGHT[id]).right

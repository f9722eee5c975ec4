"""The engine says what is right, exercise by exercise; answers.toml has what is said of answers.

Other releases have other answers, where an answer depends on the release.
"""

from itertools import combinations, product

import pytest

import kiplab
from kiplab.classroom.exercises import committed, late_messages, race
from kiplab.classroom.exercises import losing_schedule as hole
from kiplab.classroom.exercises import three_businesses as businesses
from kiplab.classroom.exercises.first_failing_rule import failing
from kiplab.classroom.exercises.losing_schedule import least
from kiplab.classroom.exercises.own_runs import FORMS
from kiplab.classroom.exercises.vanishing_offsets import vanishing
from kiplab.plays.verdict import HARM, lost, verdict
from kiplab.protocol.features import parse_features
from tests.classroom.answers import ANSWERS, judged

TWELVE = ANSWERS["epochs/twelve"].right
"""Up to metadata version 3.5-IV2 a shrink of the ISR bumps the leader epoch; later it does not."""
SINCE_36 = ["-", "P", *TWELVE[2:]]

# --- other releases -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "changed", "kafka"),
    [
        ("start/reading", {"3": "INVALID_UPDATE_VERSION"}, "3.6"),
        ("isr/high-watermark", {}, "3.6"),
        ("isr/high-watermark", {"6": 110, "7": 110}, "3.7"),
        ("isr/acknowledged", "A", "3.9"),
        *(("epochs/twelve", {}, kafka) for kafka in ("3.2", "3.5", "3.6/3.5-IV2")),
        *(("epochs/twelve", {"1": "P"}, kafka) for kafka in ("3.6", "3.6/3.6-IV0", "3.9")),
        ("epochs/fences", "BLPL", "3.9"),
        ("conversation/first-rule", {}, "3.9"),
    ],
)
def test_another_release_may_have_another_answer(id: str, changed: object, kafka: str) -> None:
    assert judged(id, changed, kafka).right


@pytest.mark.parametrize(
    ("id", "changed", "kafka", "which"),
    [
        ("start/reading", {}, "3.6", "question 4"),
        ("isr/high-watermark", {}, "3.7", "step 7 (expire 2), step 8 (produce orders-0 count=10)"),
        ("epochs/twelve", {}, "3.6", "event 2 (expire 3)"),
        ("epochs/twelve", {"1": "P"}, "3.5", "event 2 (expire 3)"),
        ("conversation/first-rule", {}, "3.2", "request 6, request 8"),
    ],
)
def test_and_tells_which_parts_differ(id: str, changed: object, kafka: str, which: str) -> None:
    found = judged(id, changed, kafka)
    assert found.points == found.of - 1 - which.count("), ") - which.count("6, ")
    assert found.which == f"Look again at: {which}."


def test_from_36_on_a_shrink_that_moves_the_leader_epoch_is_an_idea() -> None:
    found = judged("epochs/twelve", ["-", "LP", *SINCE_36[2:]], "3.6")
    assert found.misconception == "the leader epoch changes on every ISR change"


# --- acknowledged, committed ----------------------------------------------------------------------


def test_only_one_choice_of_schedules_is_right() -> None:
    choices = ("".join(c) for n in range(7) for c in combinations(committed.SCHEDULES, n))
    assert [c for c in choices if judged("isr/schedules", c).right] == ["ACD"]


def test_in_schedule_f_every_log_has_the_records_and_the_leader_does_not_know() -> None:
    stage = committed.schedule("F")
    assert {b.durable.replicas[0].log.end for b in stage.cluster.brokers} == {110}
    assert not committed.committed(stage)


def test_below_37_records_are_committed_that_no_producer_is_told_of() -> None:
    for kafka, mark in (("3.5", True), ("3.6", True), ("3.7", False)):
        stage = kiplab.run("isr-committed", kafka=kafka).stage
        assert committed.committed(stage, 120) is mark
        assert not committed.acknowledged(stage, 120)
        assert committed.acknowledged(stage, 110)


# --- the requests of AlterPartition, and the race -------------------------------------------------


def test_each_request_breaks_the_rules_that_it_was_written_to_break() -> None:
    assert [failing(n) for n in range(1, 9)] == ["LP", "BNL", "", "P", "SP", "NSP", "IF", "FE"]
    assert [failing(n, "3.2") for n in (6, 8)] == ["SP", ""]


def test_the_records_are_at_risk_from_the_acceptance_to_the_election() -> None:
    moments = {m.text: m.x for m in kiplab.run("kafka-14139", kafka="3.4").rows().moments}
    assert race.at_risk() == (moments["deliver alter-partition from=1"], moments["expire 1"])


def test_only_one_table_is_right() -> None:
    tables = product(("FR", "R", "F", "-"), repeat=4)
    right = [[*t] for t in tables if judged("kafka-14139/two-by-two", [*t]).right]
    assert right == [ANSWERS["kafka-14139/two-by-two"].right]


# --- the epoch from Fetch, recovery ---------------------------------------------------------------


def test_each_idea_about_what_vanishes_is_another_number() -> None:
    run = vanishing()
    assert len({0, run.epoch, run.known_mark, run.first}) == 4
    assert run.end == run.last + 1
    for answer in (range(80, 100), "80..99"):
        token = judged("recovery/vanishing", answer).token
        assert kiplab.run(token).lost == [{"partition": "orders-0", "first": 80, "last": 99}]


@pytest.mark.parametrize("answer", [range(10**9), b"80"])
def test_what_names_no_offsets_is_no_attempt(answer: object) -> None:
    assert not judged("recovery/vanishing", answer).attempted


def test_each_business_can_bear_other_settings() -> None:
    every = businesses.CHOICES
    bank, parcels, clicks = (
        [settings for settings in every if not businesses.complaint(business, settings)]
        for business in businesses.BUSINESSES
    )
    assert bank == [("2", "all", "false")]
    assert parcels == [("1", "all", "false")]
    assert set(clicks) == {("1", "all", "true"), *((n, "1", "true") for n in "123")}
    assert len(businesses.bills().splitlines()) == 1 + len(every)


def test_a_night_is_judged_by_what_was_acknowledged_and_is_gone() -> None:
    found = businesses.nights(("1", "all", "false"))
    assert [night.lost for night in found] == [0, 0, 10]
    assert set().union(*(night.served for night in found)) == {"second", "fourth"}
    assert businesses.nights(("2", "all", "false"))[2].lost == 0
    assert "elect orders-0 unclean=yes" in businesses.NIGHTS["the last one burns"]


# --- messages for an earlier incarnation ----------------------------------------------------------


@pytest.mark.parametrize("play", late_messages.MESSAGES)
def test_a_message_that_is_late_has_one_of_the_symptoms_and_no_other(play: str) -> None:
    stage = late_messages.played(play, parse_features(late_messages.BEFORE))
    assert verdict(stage) == HARM
    assert late_messages.symptoms(stage).count(True) == 1


def test_what_is_printed_has_a_line_for_each_play_with_each_check_off() -> None:
    printed = late_messages.one_check_off().splitlines()
    lines = [line for line in printed if line.startswith("   without")]
    assert len(lines) == len(late_messages.MESSAGES) * len(late_messages.CHECKS)
    assert sum("nothing lost yet" in line for line in lines) == 6


# --- the hole -------------------------------------------------------------------------------------


def test_four_changes_keep_the_record_and_one_of_them_by_luck() -> None:
    runs = {letter: hole.changed(change) for letter, change in hole.CHANGES.items()}
    verdicts = ("loss", "harm", "safe", "safe", "loss", "loss", "safe")
    assert tuple(map(verdict, runs.values())) == verdicts
    for letter, stage in runs.items():
        played = [p.statement.text for p in stage.performed if p.not_applicable is not None]
        assert played == [], letter
    assert lost(runs["A"]) == lost(runs["E"]) == lost(runs["F"])


def test_one_rule_closes_it_and_the_search_needs_twelve_events_to_lose() -> None:
    found = {letter: hole.searched(letter).verdict for letter in hole.RULES}
    assert found == {"A": "proved", **dict.fromkeys("BCDE", "refuted")}
    assert least() == 12


# --- a run of one's own ---------------------------------------------------------------------------


def test_lines_a_run_a_token_and_a_lab_are_one_answer() -> None:
    lines = ANSWERS["start/accepted"].right
    lab = kiplab.Lab("timeline-first")
    lab.seek(4)
    lab.do(lines.splitlines()[-1])
    token = judged("start/accepted", lines).token
    assert kiplab.run(token).partitions[0]["isr"] == [1, 3, 2]
    forms = (lines.replace("\n", "; "), lines.splitlines(), token, kiplab.run(token), lab)
    for form in (*forms, lab.run, lab.run.token):
        assert judged("start/accepted", form).points == 2, form


def test_a_run_and_its_offset_may_be_a_lab_or_a_token_too() -> None:
    lines, offset = ANSWERS["recovery/lose-one"].right
    lab = kiplab.Lab("unclean-election-short")
    for line in lines.split("; "):
        lab.do(line)
    for answer in ((lab, str(offset)), (lab.token, offset)):
        found = judged("recovery/lose-one", answer)
        assert found.right
        gone = [{"partition": "orders-0", "first": offset, "last": offset}]
        assert kiplab.run(found.token).lost == gone
    assert not judged("recovery/lose-one", (lab, None)).attempted


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (kiplab.run("kafka-14139"), "begins in another situation"),
        (kiplab.run("epochs-fences"), "begins in another situation"),
        (42, f"Give {FORMS}. This is of type int."),
        (b"crash 2", "of type bytes"),
    ],
)
def test_what_is_no_run_of_this_situation_says_why(answer: object, says: str) -> None:
    found = judged("start/accepted", answer)
    assert (found.points, found.attempted) == (0, False)
    assert says in found.message


FENCED_SENDER = "an old fetch is dangerous while its sender is away"


@pytest.mark.parametrize(
    ("id", "play", "points", "idea"),
    [
        ("start/accepted", "timeline-first", 0, "the controller notices a crash at once"),
        ("hole/nobody-dies", "hole-never-level", 1, "data is lost only where something breaks"),
        ("fetch/old-fetch", "903-from-metadata", 0, FENCED_SENDER),
    ],
)
def test_the_play_that_it_begins_with_is_no_answer(
    id: str, play: str, points: int, idea: str
) -> None:
    found = judged(id, kiplab.run(play))
    assert (found.points, found.misconception) == (points, idea)


def test_the_token_of_an_answer_is_its_run() -> None:
    lost = {
        "isr/lose-acknowledged": "110 committed records",
        "hole/nobody-dies": "1 committed record",
    }
    for id, records in lost.items():
        assert kiplab.run(judged(id, ANSWERS[id].right).token).sentence == f"{records} lost"

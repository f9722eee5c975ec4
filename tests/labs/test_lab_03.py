"""Lab 03: what it says of its runs, of the order of the rules, and of what a leader does then."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.exercises.first_failing_rule import (
    EIGHT,
    LETTERS_OF_RULES,
    failing,
    rulings_of,
)
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import format_play
from kiplab.protocol.kraft.alter_partition import CHECKS
from kiplab.protocol.releases import Mode
from kiplab.protocol.replica.isr_proposals import REVERTING, WAITING
from kiplab.runs import guards
from tests.labs.running import cells, prose, shown, texts

LAB = "03-alter-partition"
MENDED = "alter-partition-mended"
LEFT_OUT = ("704.recovering-alone", "704.no-way-back", "841.registered", "841.shutting-down")
"""Rules for AlterPartition that the lab says it leaves out; the last has its own exercise."""


def rows(text: str, columns: int) -> list[list[str]]:
    """The lines of the tables in a text that have so many columns, heads left out."""
    lines = (re.findall(r"(?<=\|)[^|]*(?=\|)", line) for line in text.splitlines())
    found = [[cell.strip() for cell in line] for line in lines if len(line) == columns]
    return [line for line in found if set("".join(line)) != {"-"}][1:]


def test_taking_the_rules_away_gives_the_same_five_and_then_the_request_is_taken() -> None:
    """The lab's own cell, without a notebook."""
    names: dict[str, Any] = {"kiplab": kiplab, "after": lambda _id, text: text}
    exec(cells(LAB, "code")["away"], names)
    refused = [r["guard"] for r in kiplab.run(MENDED).refusals]
    assert names["away"] == [*refused, ""]
    assert names["lines"][-1].split() == ["5", "rules", "off:", "accepted:", "harm"]


def test_the_rules_it_lists_are_all_that_a_controller_asks_but_those_it_says_it_leaves_out() -> (
    None
):
    listed = {*LETTERS_OF_RULES.values(), *LEFT_OUT}
    known = [g.id for g in guards() if Mode.KRAFT in g.modes]
    asked = known[: known.index("903.controller-epoch") + 1]
    assert {*asked} == listed
    letters = [letter.strip("*") for letter, *_ in rows(cells(LAB, "markdown")["rules"], 2)]
    assert letters == sorted(LETTERS_OF_RULES) == [*LETTERS_OF_RULES]
    said = cells(LAB, "markdown")["rules"].partition("Left out:")[2]
    for word in ("not registered", "KIP-704", "One more rule comes later in this lab"):
        assert word in said
    begins = exercise("conversation/shutting-down").situation.partition("shuts down\n")[2]
    assert begins in cells(LAB, "code")["shutting-down-story"].replace("; ", "\n")


def test_the_order_it_tells_is_the_controllers_with_its_errors() -> None:
    told = [
        (letter.strip("*"), error.strip("`")) for letter, _, error in rows(texts(LAB)["order"], 3)
    ]
    errors = {g.id: g.error.name for g in guards() if g.error is not None}
    checks = [guard for guard, *_ in CHECKS if guard is not None and guard not in LEFT_OUT]
    asked = ["497.request-broker-epoch", *checks, "841.fenced", "903.controller-epoch"]
    letters = {guard: letter for letter, guard in LETTERS_OF_RULES.items()}
    assert told == [(letters[guard], errors[guard]) for guard in asked]


def test_one_after_the_other_a_request_meets_the_rules_in_that_order() -> None:
    order = "".join(letter.strip("*") for letter, *_ in rows(texts(LAB)["order"], 3))
    for number in range(1, 9):
        places = [order.index(letter) for letter in failing(number)]
        assert places == sorted(places), number


def test_all_about_the_first_member_is_asked_before_anything_about_the_next() -> None:
    """Broker 2 is another incarnation; broker 4 is fenced."""
    play = format_play(load(EIGHT)).partition("\nsend")[0]
    line = (
        "send alter-partition from=1 partition=orders-0 broker-epoch=101 leader-epoch=5"
        " partition-epoch=10 isr=1@101,{}"
    )

    for isr, guard in (("2@33,4@104", "903.controller-epoch"), ("4@104,2@33", "841.fenced")):
        (refused,) = kiplab.run(parse(f"{play}\n{line.format(isr)}\n")).refusals
        assert refused["guard"] == guard


def test_its_table_of_requests_is_the_play() -> None:
    said = rows(cells(LAB, "markdown")["eight-table"], 6)
    sent = [s for s in load(EIGHT).statements if s.verb == "send"]
    asked = ("from", "broker-epoch", "leader-epoch", "partition-epoch", "isr")
    assert [[*row[1:5], row[5].replace(", ", ",")] for row in said] == [
        [statement.arg(key) for key in asked] for statement in sent
    ]
    state = cells(LAB, "markdown")["eight"]
    for words in ("leader 1", "leader epoch 5", "partition epoch 10", "ISR {1, 2}", "4 is fenced"):
        assert f"**{words}**" in state or f"**{words}" in state.replace("broker **", "**"), words


@pytest.mark.parametrize(
    ("kafka", "others"),
    [
        ("3.2", {6: ("INVALID_REQUEST", "S"), 8: ("NONE", "-")}),
        ("3.3", {}),
        ("3.4", {}),
        ("3.9", {}),
    ],
)
def test_only_32_answers_two_of_the_eight_otherwise(
    kafka: str, others: dict[int, tuple[str, str]]
) -> None:
    here = rulings_of(kiplab.run(EIGHT).stage)
    there = rulings_of(kiplab.run(EIGHT, kafka=kafka).stage)
    found = {
        n: (b.error, b.letter)
        for n, (a, b) in enumerate(zip(here, there, strict=True), 1)
        if a != b
    }
    assert found == others


@pytest.mark.usefixtures("own_folder")
def test_a_real_controller_answers_all_eight_alike_as_recorded_where_none_is_here() -> None:
    text = shown(LAB, "setup", "first-rule-check", "real", solved=True)["real"]["text/plain"]
    head, *lines = text.partition("\n\n")[0].splitlines()
    assert head.split(maxsplit=1) == ["engine", "Apache Kafka 3.5.2, recorded"]
    answers = [r.error for r in rulings_of(kiplab.run(EIGHT).stage)]
    assert [line.split() for line in lines] == [[error, error] for error in answers]
    assert "Recorded from Kafka 3.5.2, not run now." in text


def test_who_is_told_an_error_alone_names_no_rule() -> None:
    """As a real controller does."""
    theirs = kiplab.real(EIGHT, kafka="3.5", live=False).runs[1]
    said = {r.letter for r in rulings_of(theirs.stage) if r.error != "NONE"}
    assert said == {"?"}
    assert "STALE_BROKER_EPOCH" in {m.error for m in theirs.rows().messages}


def test_903_is_not_there_before_35_and_none_of_the_eight_can_tell() -> None:
    (rule,) = (g for g in guards() if g.id == LETTERS_OF_RULES["E"])
    assert rule.releases[0] == "3.5"


def test_what_a_leader_does_with_each_error_is_what_the_engine_does() -> None:
    table = dict(rows(texts(LAB)["refusals-why"], 2))
    (back, waits, again) = (re.findall(r"`(\w+)`", errors) for errors in table)
    assert {*back} == {error.name for error in REVERTING}
    assert {*waits} <= {error.name for error in WAITING}
    assert again == ["STALE_BROKER_EPOCH", "NOT_CONTROLLER"]


def test_an_old_leader_gets_an_old_error_and_goes_back() -> None:
    """The lab's own cell; what its explanation says of it."""
    shown: list[Any] = []

    class Ticket:
        def beside(self, run: object) -> None:
            shown.append(run)

    exec(cells(LAB, "code")["exit-compare"], {"kiplab": kiplab, "parse": parse, "ticket": Ticket()})
    (run,) = shown
    assert [r["error"] for r in run.refusals] == ["OPERATION_NOT_ATTEMPTED"]
    assert "AlterPartition v1 " in run.text()
    assert "broker 1 goes back to ISR {1, 2}" in run.text()


def test_the_real_log_line_it_begins_with_is_quoted_once() -> None:
    assert prose(LAB).count("Rejecting AlterPartition request from node 1") == 1

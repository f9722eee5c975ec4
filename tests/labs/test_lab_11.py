"""Lab 11: what it says of the run, of the search and its proof, and of what is shown elsewhere."""

import json
import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.exercises.check_result import LINE
from kiplab.classroom.exercises.losing_schedule import CHANGES, RULES
from kiplab.explore.search.explore_play import explore
from kiplab.judge.partition.partition_process import partition_releases
from kiplab.judge.partition.second_proposal import SECOND
from kiplab.plays.library import load
from tests.labs.running import BETWEEN, PLOTLY, ROOT, SHUT, cells, prose, shown, texts

LAB = "11-what-a-search-found"
PAPER = (ROOT / "assets" / "papers" / "forgotten-isr-proposal.md").read_text(encoding="utf-8")
PLAY, RULE = "hole-never-level", "497.pending-outlives-metadata"


@pytest.mark.parametrize("kafka", ["3.2", "3.3", "3.5", "3.9", "4.1", "4.3"])
def test_with_every_rule_on_there_is_a_way_in_8_steps(kafka: str) -> None:
    found = explore(PLAY, kafka=kafka, crashes=0)
    assert (found.verdict, found.steps) == ("refuted", 8)


def test_the_search_needs_no_crash_no_lost_message_and_one_record() -> None:
    way = explore(PLAY, kafka="3.5", crashes=0).text()
    assert [word for word in ("crash", "expire", "drop", "lose-reply") if f"\n{word}" in way] == []
    assert way.count("\nproduce") == 1
    assert [s.verb for s in load(PLAY).statements].count("produce") == 2


@pytest.mark.usefixtures("locked")
def test_a_real_controller_lets_it_in_and_elects_it_as_recorded_where_none_is_here() -> None:
    figure = shown(LAB, "setup", "real")["real"]
    told = json.dumps(figure[PLOTLY], ensure_ascii=False)
    assert "Apache Kafka 3.5.2, recorded" in told
    assert len(json.dumps(figure)) < 200_000
    asked = kiplab.real(PLAY, kafka="3.5", live=False)
    assert (asked.agree, asked.verdict["kafka"]) == (True, "loss")


@pytest.mark.usefixtures("locked")
def test_kafkas_own_leader_is_asked_too_or_its_recording() -> None:
    kiplab.predict("hole/newer").lock(BETWEEN["hole/newer"])
    said = shown(LAB, "setup", "partition")["partition"]["text/plain"]
    for patch in ("3.5.2", "4.1.2"):
        assert f"Recorded from Kafka {patch}, not run now." in said
    assert max(map(len, said.splitlines())) <= LINE


def test_its_partition_forgets_on_every_release_that_is_run() -> None:
    releases = partition_releases()
    assert (releases[0], releases[-1]) == ("3.3", "4.3")
    assert "from 3.3 to 4.3" in texts(LAB)["shown"]
    for release in releases:
        told = kiplab.second_proposal(release, live=False)
        forgets = [SECOND not in story.waits_for for story in told.stories]
        assert forgets == [story.came_late for story in told.stories]


def test_who_was_level_is_waited_for_29_seconds_and_not_31() -> None:
    verbs = [f"{s.verb} {' '.join(s.words)}".strip() for s in load("hole-level").statements]
    after_it_is_forgotten = verbs[verbs.index("deliver metadata") + 1 :]
    assert after_it_is_forgotten.index("advance 29s") < after_it_is_forgotten.index("advance 2s")
    assert "29 seconds" in prose(LAB)


@pytest.mark.usefixtures("own_folder")
def test_one_second_is_enough_except_with_the_rule_and_the_ticket_commits_nothing() -> None:
    names = dict[str, Any]()
    for id in ("setup", "sooner", "exit-lock", "exit-compare"):
        exec(cells(LAB, "code")[id], names)
    quick = [kiplab.run(names["quick"], on=on).verdict for on in ((), RULE)]
    assert quick == ["harm", "safe"]
    assert "high watermark of" not in kiplab.run(names["play"]).text()


def test_with_the_rule_it_is_proved_within_two_records_and_within_one_crash() -> None:
    for writes, crashes in ((2, 0), (1, 1)):
        found = explore(PLAY, kafka="3.5", on=RULE, writes=writes, crashes=crashes)
        assert found.verdict == "proved", (writes, crashes)
    assert next(g for g in kiplab.guards() if g.id == RULE).releases == ()


def test_its_lists_are_those_that_are_judged() -> None:
    said = dict(re.findall(r"^- \*\*([A-G])\*\* (.*)\.$", prose(LAB), re.MULTILINE))
    assert [*said] == [*CHANGES]
    rows = dict(re.findall(r"^\| \*\*([A-E])\*\* `([\w.-]+)` \|", prose(LAB), re.MULTILINE))
    assert rows == RULES
    suspect = cells(LAB, "code")["suspect"]
    assert f'suspect = "{RULES["B"]}"' in suspect
    assert "writes=2, crashes=0" in suspect


def test_none_of_the_five_rules_is_on_in_35_and_two_came_later() -> None:
    releases = {g.id: g.releases for g in kiplab.guards()}
    first = {letter: releases[id][:1] for letter, id in RULES.items()}
    assert first == {"A": (), "B": ("3.7",), "C": ("3.6",), "D": (), "E": ()}


def test_it_says_of_real_clusters_what_the_paper_says() -> None:
    shown = texts(LAB)["shown"]
    for setting in ("controlled.shutdown.enable=false", "min.insync.replicas=2"):
        assert f"`{setting}`" in shown
        assert setting in PAPER
    runs = dict(re.findall(r"\| `make hole.*` \| ([\d.]+) \| (.*) \|", PAPER))
    lost = {patch for patch, said in runs.items() if said.startswith("lost in attempt")}
    assert lost == {"3.3.2", "3.5.2", "3.9.1", "4.0.2"}
    assert "on 3.5.2 at the first attempt, on 3.3.2, 3.9.1 and 4.0.2 at the second" in shown
    assert [runs[patch][-17:] for patch in ("4.1.2", "4.3.1")] == [
        "in 0 of 5 attempts"[-17:],
        "in 0 of 3 attempts"[-17:],
    ]


def test_it_claims_no_more_than_was_searched() -> None:
    assert "We found no earlier report of this loss" in prose(LAB)
    notes = (ROOT / "labs" / "instructor" / f"{LAB}.md").read_text(encoding="utf-8")
    for claim in (texts(LAB)["title"], texts(LAB)["shown"], notes):
        assert "the issue tracker was not searched exhaustively" in claim
    for claim in (texts(LAB)["shown"], notes):
        assert re.search(r"KAFKA-12686.* PR 10561 \(2021\) names the same override", claim)


def test_where_to_look_is_named_by_the_letters_of_the_list() -> None:
    judged = exercise("hole/what-saves").judge("AE")
    assert "changes A to C, changes D to G" in judged.where


@pytest.mark.usefixtures("own_folder")
def test_the_code_below_the_exercise_names_all_five_rules_and_shows_none_of_them() -> None:
    source = cells(LAB, "code")["proof"]
    assert [rule for rule in RULES.values() if source.count(f'"{rule}"') != 1] == []
    assert "proof" not in source
    waiting = shown(LAB, "setup", "proof")["proof"]["text/plain"]
    assert waiting.startswith(SHUT)
    assert "proved" not in waiting

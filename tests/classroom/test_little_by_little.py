"""Whoever is told "look again at B, C and D" is told A: in every exercise that comes last."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom.exercises import proofs
from kiplab.classroom.exercises.check_result import SAYS_WHERE, SAYS_WHICH, Checked
from kiplab.classroom.work import work_on_disk

PARTS: dict[str, tuple[object, ...]] = {
    "check_reading": ("1 {1} 6 x 12 202", "1 {1} 6 y 12 202", "1 {1} 6 z 12 202"),
    "check_acknowledged": ("AB", "ABC", "BD"),
    "check_high_watermark": ([110] * 8, [100] * 8, [120] * 8),
    "check_schedules": ("AB", "BC", "BF"),
    "check_epochs": (["P"] * 12, ["L"] * 12, ["B"] * 12),
    "check_fences": ("BPPL", "PPPL", "LPPP"),
    "check_first_rule": (
        ["INVALID_REQUEST R"] * 8,
        ["INELIGIBLE_REPLICA F"] * 8,
        ["STALE_BROKER_EPOCH B"] * 8,
    ),
    "check_window": ("2 8 345 - -", "2 8 345 4 -", "1 7 345 - -"),
    "check_two_by_two": ("R R F F", "R R R F", "F R - F"),
    "check_last_replica": ("80-99 0-79 1", "80-99 80-99 1", "1 2 1"),
    "check_epoch_sources": ("R R F F", "RF F - -", "RF - RF -"),
    "check_bump_price": ("0 2 2 1", "2 0 3 1", "2 2 2 1"),
    "check_what_they_notice": ("B X S S B", "N B S N B", "B B B B B"),
    "check_businesses": (
        ["3 all false", "2 all true", "2 1 false"],
        ["2 all false", "2 all true", "2 1 false"],
        ["3 all false", "2 all true", "1 1 true"],
    ),
    "check_symptoms": ("AABC", "BBBB", "CDAA"),
    "check_who_objects": ("NNNB", "CCCC", "BBNB"),
    "check_needed_checks": ("M S M M", "MSL S M L", "S M L S"),
    "check_timeouts": (["9 18", "9 18", "9 18"], ["-", "-", "9 9"], ["-", "9 9", "1 2"]),
    "check_incarnations": ("AAAAAA", "RRRRRR", "ARRRAR"),
    "check_fates": ("KKKKKKKKKK", "NNNNNNNNNN", "KKNKKKKAKK"),
    "check_proof": ("ABDG", "ACDG", "ABC"),
    "check_missing_guard": ("841 841 841", "903 841 903", "903 841 841"),
    "check_rates": ("ACE", "BDE", "ABC"),
    "check_what_saves": ("AB", "EF", "ACG"),
    "check_what_closes": ("AB", "BD", "CDE"),
    "check_holes": ("R R - 2", "F F 841 1", "M M - 1"),
}
"""Three wrong answers to every exercise with parts."""
NAMES = re.compile(
    r"\b(question|statement|schedule|step|event|message|request|change|rule|cluster|arrivals on)"
    r" [A-G\d]"
)


def attempts(name: str) -> list[Checked]:
    """What three students' worth of wrong answers are told, one after the other."""
    check: Callable[[object], Checked] = getattr(kiplab, name)
    return [check(answer) for answer in PARTS[name]]


def test_every_exercise_with_parts_is_tried() -> None:
    """An exercise whose answer is a run of one's own, or one order, has no parts."""
    whole = {
        "accepted",
        "lose_acknowledged",
        "reigns",
        "refusals",
        "order",
        "old_fetch",
        "vanishing",
        "lose_one",
        "session_ids",
        "swapped",
        "shorter",
        "nobody_dies",
        "safer_fleet",
    }
    checks = {n for n in kiplab.__all__ if n.startswith("check_")}
    assert checks == {*PARTS, *(f"check_{name}" for name in whole)}


@pytest.mark.parametrize("name", PARTS)
def test_the_first_attempt_tells_how_many_are_right_and_one_hint(name: str) -> None:
    first = attempts(name)[0]
    assert re.fullmatch(r"(None|\d+) of \d+ (is|are) right\.", first.message)
    assert (first.where, first.which, first.misconception) == ("", "", "")
    assert first.hint
    assert not NAMES.search(f"{first.message} {first.hint}"), str(first)


@pytest.mark.parametrize("name", PARTS)
def test_the_second_tells_where_and_the_third_which(name: str) -> None:
    first, second, third = attempts(name)
    assert (SAYS_WHERE, SAYS_WHICH) == (2, 3)
    assert second.where.startswith("Look again among: ")
    assert second.which == ""
    assert third.which.startswith("Look again at: ")
    assert third.where == ""
    assert third.which not in f"{first}{second}"


@pytest.mark.parametrize("name", PARTS)
def test_no_group_has_all_the_parts(name: str) -> None:
    """Else the second attempt would tell no more than the first."""
    whole = getattr(kiplab, name).__wrapped__
    told = {group for answer in PARTS[name] for group in whole(answer).where[18:-1].split(", ")}
    assert len(told) > 1


def test_ideas_and_parts_are_kept_for_the_teacher_though_the_student_was_not_told() -> None:
    assert kiplab.check_proof("ABDG").misconception == ""
    (tried,) = work_on_disk.read().exercises["explorer/proof"].tries
    assert tried.misconception == proofs.check_proof("ABDG").misconception != ""


def test_the_same_answer_again_is_no_attempt() -> None:
    first, again = kiplab.check_fences("BPPL"), kiplab.check_fences("BPPL")
    assert again.kept == "(The same answer as before: it stays attempt 1.)"
    assert (again.where, again.which) == (first.where, first.which) == ("", "")
    assert "Look again among" in str(kiplab.check_fences("PPPL"))


def test_no_answer_is_no_attempt_either(work_file: Path) -> None:
    for _ in range(3):
        kiplab.check_fences("?")
    assert not work_file.exists()
    assert kiplab.check_fences("BPPL").where == ""


def test_an_experiment_is_told_as_much_as_the_next_attempt_would_be() -> None:
    assert kiplab.check_fences("BPPL", kafka="3.9").which == ""
    kiplab.check_fences("BPPL")
    kiplab.check_fences("PPPL")
    assert kiplab.check_fences("BPPL", kafka="3.9").which == "Look again at: message 2."


def test_attempts_count_where_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KIPLAB_WORK", str(tmp_path / "file" / "work.json"))
    told = [kiplab.check_fences(answer) for answer in ("BPPL", "PPPL", "LPPL")]
    assert [bool(found.where) for found in told] == [False, True, False]
    assert told[2].which
    assert "gone with this kernel" in repr(kiplab.my_work())


def test_a_run_of_ones_own_is_told_what_happened_and_the_idea_only_then() -> None:
    first = kiplab.check_shorter(kiplab.run("kafka-14139"))
    assert (first.message, first.misconception) == ("Lost in 11 events. There is a way in 7.", "")
    again = kiplab.check_shorter("crash 1 disk=replaced; expire 1; start 1; unfence 1")
    assert again.misconception == "every loss is a hole in the protocol"


def test_shown_as_a_value_it_reads_as_when_it_is_printed() -> None:
    found = kiplab.check_fences("BPPL")
    assert repr(found) == str(found)

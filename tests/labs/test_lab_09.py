"""Lab 09: what it holds back until there is an answer, and what it says of time."""

from __future__ import annotations

import json
from pathlib import Path

import kiplab
from kiplab.explore.search.explore_play import explore
from tests.labs.running import RIGHT, prose, run_lab, text_of

LAB = "09-could-it-still-go-wrong"
EXERCISE = ("setup", "matrix", "ways", "holes-check", "holes-why")
GIVEN_AWAY = ("never needed", "of 16 sets", "suffice")


def test_nothing_counts_the_sets_that_suffice_before_there_is_an_answer(tmp_path: Path) -> None:
    shown = run_lab(LAB, tmp_path, only=EXERCISE)
    assert text_of(shown["holes-why"]).strip("'\n") == "First answer, above."
    told = json.dumps([shown[cell] for cell in EXERCISE])
    assert [word for word in GIVEN_AWAY if word in told] == []


def test_the_map_comes_with_the_answer(tmp_path: Path) -> None:
    shown = run_lab(LAB, tmp_path, only=EXERCISE, answers=RIGHT)
    told = json.dumps(shown["holes-why"])
    assert [word for word in GIVEN_AWAY if word not in told] == []


def test_the_clock_tells_29_seconds_from_31(tmp_path: Path) -> None:
    shown = run_lab(LAB, tmp_path, only=("setup", "calm", "twin", "clock", "sooner"))
    said = text_of(shown["clock"])
    assert "29 seconds: safe." in said
    assert "31 seconds: harm." in said
    assert "· high watermark of orders-0 0 -> 1 on broker 1" in text_of(shown["sooner"])


def test_the_images_that_it_calls_skipped_are_those_that_are_dropped() -> None:
    found = explore("isr-two-of-three", kafka="3.5", writes=1, crashes=1)
    assert found.play is not None
    dropped = [
        line.split()[0] for line in kiplab.run(found.play).text().splitlines() if " drop " in line
    ]
    assert dropped == ["8", "9"]
    assert "Steps 8 and 9 are `drop metadata`" in prose(LAB)

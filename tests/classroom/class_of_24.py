"""A class of 24 simulated students: plausible answers by a fixed rule, handed in in every way.

Their work is made as students make it: by locking predictions in and calling the checks.
"""

from pathlib import Path

import pytest

import kiplab
from kiplab.classroom import work_on_disk
from kiplab.classroom.exercise_table import EXERCISES
from kiplab.classroom.forms.overview import packed

STUDENTS = (
    *("Ada", "Ben", "Chidi", "Dana", "Emre", "Farah", "Gustav", "Hana"),
    *("Ines", "Jonas", "Kofi", "Lena", "Mei", "Nils", "Olga", "Pablo"),
    *("Quinn", "Rosa", "Sven", "Tara", "Uma", "Viktor", "Wen", "Zoë"),
)
CHOSEN = {
    "start/slow-request": "AAAADDABCADACAADACADBAC",
    "start/exit-ticket": "BBBABBBBABBBBBABBBBB",
    "epochs/slow-request": "AABACADABABACDAABACABAD",
    "kafka-14139/late-request": "BBABCDBBABBDBACBBABDCBAB",
    "kafka-14139/exit-ticket": "ABAABBABBABAAB",
}
"""By prediction, a letter for each student, in order; the last ones may not have come so far."""
READING = (
    "2 {1, 3} 6 FENCED_LEADER_EPOCH 12 202",
    "1 {1} 6 FENCED_LEADER_EPOCH 12 202",
    "2 {1} 3 FENCED_LEADER_EPOCH 12 202",
    "2 {1} 6 FENCED_LEADER_EPOCH 12 202",
    "2 {1} 6 INELIGIBLE_REPLICA 12 202",
    "2 {1, 3} 6 FENCED_LEADER_EPOCH 12 202",
    "1 {1} 6 FENCED_LEADER_EPOCH 12 202",
)
FENCES = ("BPPL", "PPLB", "BLPL", "BPPL", "BLPL")
TWO_BY_TWO = (["-", "FR", "FR", "F"], ["FR", "R", "F", "-"], ["FR", "F", "R", "-"])


def hand_in(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Every student's work, in `folder`: zips, .json, folders with either, and a notebook."""
    for number, name in enumerate(STUDENTS):
        _hand_in_one(folder, folder.parent / "machines" / name, number, patch)


def _hand_in_one(folder: Path, machine: Path, number: int, patch: pytest.MonkeyPatch) -> None:
    work_file = machine / "kiplab-work.json"
    with patch.context() as here:
        here.setenv("KIPLAB_WORK", str(work_file))
        here.setattr(work_on_disk, "_here", {name: {} for name in work_on_disk._here})
        _work(number)
    (machine / "04-kafka-14139.ipynb").write_text('{"cells": [], "metadata": {}}')
    archive, _ = packed(work_file)
    name, content = STUDENTS[number], work_file.read_bytes()
    (folder / name).mkdir(parents=True) if number % 4 > 1 else folder.mkdir(exist_ok=True)
    where, what = (
        (folder / f"{name}.zip", archive),
        (folder / f"{name}.json", content),
        (folder / name / "kiplab-work.zip", archive),
        (folder / name / "kiplab-work.json", content),
    )[number % 4]
    where.write_bytes(what)


def _work(number: int) -> None:
    """What this student has done: wrong answers first, most of them right in the end."""
    choices = {asked.id: asked.choices for asked in EXERCISES}
    for id, letters in CHOSEN.items():
        if number < len(letters):
            work_on_disk.lock(id, choices[id]["ABCD".index(letters[number])])
    kiplab.check("start/reading", READING[number % 7])
    if number % 3:
        kiplab.check("start/reading", READING[3])
    if number < 20:
        kiplab.check("epochs/fences", FENCES[number % 5])
        if number % 4 != 3:
            kiplab.check("epochs/fences", "BLPL")
    if number < 14:
        for tried in range(1 + number % 2):
            kiplab.check("kafka-14139/two-by-two", TWO_BY_TWO[(number + tried) % 3])


Files = dict[str, str | bytes]
"""What is in files, by their paths in a folder."""


def put(folder: Path, files: Files) -> Path:
    """Write the files."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder

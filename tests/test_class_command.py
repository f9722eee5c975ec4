"""`kiplab class` and `kiplab grade`: the contract of commands, for a folder of students' work."""

import json
from pathlib import Path

import pytest

from kiplab.cli.common_options import COMMANDS
from tests.conftest import Command

ANSWER = "2 {1} 6 FENCED_LEADER_EPOCH 12 202"
TRIED = {"attempts": 1, "best": 6, "tries": [{"answer": ANSWER, "points": 6}]}
WORK = {
    "predictions": {"start/slow-request": "It accepts broker 2, and leaves broker 3 out."},
    "exercises": {"start/reading": TRIED},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One student's work, one file that is damaged, and one that is nobody's."""
    there = tmp_path / "class"
    there.mkdir()
    (there / "anna.json").write_text(json.dumps(WORK))
    (there / "ben.json").write_text("{")
    (there / "notes.txt").write_text("")
    return there


def test_class_prints_the_table_and_names_what_it_left_out(folder: Path, command: Command) -> None:
    code, out, err = command("class", folder)
    assert code == 0
    assert out.startswith("1 student.")
    assert err.startswith("kiplab: not counted: ben.json: it is damaged")
    assert "anna" not in out
    assert "anna" in command("class", folder, "--names")[1]


def test_grade_prints_a_line_a_student_and_names_what_is_nobodys(
    folder: Path, command: Command
) -> None:
    code, out, err = command("grade", folder)
    assert code == 0
    assert "anna           6/8  graded" in out
    assert "ben            0/8  unreadable" in out
    assert err == "kiplab: not graded: notes.txt: it ends in .txt; work is a .zip or a .json\n"


def test_json_is_one_object_and_nothing_else(folder: Path, command: Command) -> None:
    code, out, _ = command("class", folder, "--json")
    report = json.loads(out)
    assert (code, report["students"], len(report["left_out"])) == (0, 1, 2)
    first = report["predictions"][0]
    assert (first["id"], first["answered"]) == ("start/slow-request", 1)
    assert [choice["students"] for choice in first["choices"]] == [0, 1, 0, 0]
    assert [choice["right"] for choice in first["choices"]] == [False, False, True, False]
    code, out, _ = command("grade", folder, "--json", "--lab", "00")
    anna, ben = json.loads(out)["submissions"]
    assert (code, anna["student"], anna["points"], anna["status"]) == (0, "anna", 6, "graded")
    reading = {"id": "start/reading", "first": 6, "best": 6, "of": 6, "attempts": 1}
    assert reading.items() <= anna["exercises"][0].items()
    assert (ben["points"], ben["of"], ben["status"]) == (0, anna["of"], "unreadable")


@pytest.mark.parametrize("ending", COMMANDS["class"]["endings"])
def test_they_write_what_the_name_ends_in(folder: Path, command: Command, ending: str) -> None:
    """Into that folder, where it is no student of the next time."""
    for name, said in (("class", "1 student."), ("grade", "2 submissions; labs that count: 00;")):
        for _ in range(2):
            out = folder / f"{name}{ending}"
            code, told, err = command(name, folder, "-o", out)
            assert (code, out.name in err) == (0, False)
            assert told.startswith(f"{out}: {said}")
            assert out.stat().st_size > 100
        out.unlink()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("class nowhere", "there is no folder nowhere; name the one"),
        ("grade nowhere", "there is no folder nowhere; name the one"),
        ("class empty", "there is no student's work in empty; put each student's kiplab-work.zip"),
        ("grade empty", "there is nothing to grade in empty; put each student's kiplab-work.zip"),
        ("class class -o c.pdf", "c.pdf ends in .pdf; it can end in .html, .json"),
        ("grade class -o g.pdf", "g.pdf ends in .pdf; it can end in .csv, .html"),
        ("class class -o none/c.html", "none/c.html cannot be written: No such file"),
        ("grade class -o none/g.csv", "none/g.csv cannot be written: there is no such folder"),
        ("class class -o c.html --theme pink", "there is no theme 'pink'"),
        ("grade class -o g.html --theme pink", "there is no theme 'pink'"),
        ("grade class --class none.toml", "none.toml cannot be had (No such file or directory)"),
        ("grade class --lab 99", "there is no lab '99'; there are 00, 01"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    folder: Path, command: Command, monkeypatch: pytest.MonkeyPatch, arguments: str, said: str
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("empty").mkdir()
    code, out, err = command(*arguments.split())
    assert (code, out) == (2, "")
    assert f"kiplab: {said}" in err

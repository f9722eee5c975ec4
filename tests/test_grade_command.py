"""`kiplab grade`: the contract of commands, for a folder of students' work."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command

ANSWER = "2 {1} 6 FENCED_LEADER_EPOCH 12 202"
WORK = {
    "exercises": {
        "start/reading": {"attempts": 1, "best": 6, "tries": [{"answer": ANSWER, "points": 6}]}
    }
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


def test_it_prints_a_line_a_student_and_names_what_is_nobodys(
    folder: Path, command: Command
) -> None:
    code, out, err = command("grade", folder)
    assert code == 0
    assert "anna           6/8  graded" in out
    assert "ben            0/8  unreadable" in out
    assert err == "kiplab: not graded: notes.txt: it ends in .txt; work is a .zip or a .json\n"


def test_json_is_the_contract_and_nothing_else(folder: Path, command: Command) -> None:
    code, out, _ = command("grade", folder, "--json", "--lab", "00")
    anna, ben = json.loads(out)["submissions"]
    assert (code, anna["student"], anna["points"], anna["status"]) == (0, "anna", 6, "graded")
    first = anna["exercises"][0]
    assert [first[key] for key in ("id", "first", "best", "of", "attempts")] == [
        *("start/reading", 6, 6, 6, 1)
    ]
    assert (ben["points"], ben["of"], ben["status"]) == (0, anna["of"], "unreadable")


def test_the_file_it_writes_is_no_submission_of_the_next_time(
    folder: Path, command: Command
) -> None:
    out = folder / "grades.json"
    for _ in range(2):
        code, said, _ = command("grade", folder, "-o", out)
        assert (code, said) == (
            0,
            f"{out}: 2 submissions; labs that count: 00; 1 row with remarks.\n",
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no folder nowhere; name the one"),
        (["empty"], "there is nothing to grade in empty; put each student's kiplab-work.zip"),
        (["class", "-o", "g.pdf"], "g.pdf ends in .pdf; it can end in .csv, .html"),
        (["class", "-o", "none/g.csv"], "none/g.csv cannot be written: there is no such folder"),
        (["class", "-o", "g.html", "--theme", "pink"], "there is no theme 'pink'"),
        (["class", "--class", "none.toml"], "none.toml cannot be had (No such file or directory)"),
        (["class", "--lab", "99"], "there is no lab '99'; there are 00, 01"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    folder: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(folder.parent)
    Path("empty").mkdir()
    code, out, err = command("grade", *arguments)
    assert (code, out) == (2, "")
    assert f"kiplab: {said}" in err

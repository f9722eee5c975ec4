"""`kiplab class`: the contract of commands, for a folder of students' work."""

import json
from pathlib import Path

import pytest

from kiplab.cli.common_options import COMMANDS
from tests.conftest import Command

WORK = {"predictions": {"start/slow-request": "It accepts broker 2, and leaves broker 3 out."}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One student's work, and one file that is damaged."""
    there = tmp_path / "class"
    there.mkdir()
    (there / "anna.json").write_text(json.dumps(WORK))
    (there / "ben.json").write_text("{")
    return there


def test_it_prints_the_table_and_names_what_it_left_out(folder: Path, command: Command) -> None:
    code, out, err = command("class", folder)
    assert code == 0
    assert out.startswith("1 student.")
    assert err.startswith("kiplab: not counted: ben.json: it is damaged")
    assert "anna" not in out
    assert "anna" in command("class", folder, "--names")[1]


def test_json_is_one_object_and_nothing_else(folder: Path, command: Command) -> None:
    code, out, _ = command("class", folder, "--json")
    report = json.loads(out)
    assert (code, report["students"], len(report["left_out"])) == (0, 1, 1)
    first = report["predictions"][0]
    assert (first["id"], first["answered"]) == ("start/slow-request", 1)
    assert [choice["students"] for choice in first["choices"]] == [0, 1, 0, 0]
    assert [choice["right"] for choice in first["choices"]] == [False, False, True, False]


@pytest.mark.parametrize("ending", COMMANDS["class"]["endings"])
def test_it_writes_what_the_name_ends_in(folder: Path, command: Command, ending: str) -> None:
    out = folder.parent / f"class{ending}"
    code, said, _ = command("class", folder, "-o", out)
    assert code == 0
    assert said.startswith(f"{out}: 1 student.")
    assert out.stat().st_size > 100


def test_the_file_it_writes_is_no_student_of_the_next_time(folder: Path, command: Command) -> None:
    for _ in range(2):
        _, _, err = command("class", folder, "-o", folder / "class.json")
        assert "class.json" not in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "there is no folder nowhere; name the one"),
        (["empty"], "there is no student's work in empty; put each student's kiplab-work.zip"),
        (["class", "-o", "class.pdf"], "class.pdf ends in .pdf; it can end in .html, .json"),
        (["class", "-o", "none/class.html"], "none/class.html cannot be written: No such file"),
        (["class", "-o", "class.html", "--theme", "pink"], "there is no theme 'pink'"),
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
    code, out, err = command("class", *arguments)
    assert (code, out) == (2, "")
    assert f"kiplab: {said}" in err

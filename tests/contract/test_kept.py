"""What 28837d0 wrote for students opens today and means the same, or one sentence says why not.

That commit's own code wrote kept.json.xz. `plays` are its files; `labs` a saved Lab of each play,
with the name, token, report and transcript of each branch; `work` the work files of three students
who gave the answers of answers.toml, one of them right ones alone. Its recording has the tokens of
the plays. Sentences may have other words since; what they mean is compared: verdicts, losses,
refusals, and of a transcript the steps, signs, numbers and errors of each line.
"""

import json
import lzma
import re
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import kiplab
from kiplab.classroom import work_on_disk
from kiplab.classroom.exercise_table import EXERCISES, ExerciseIdError, exercise
from kiplab.classroom.exercises.check_result import Checked
from kiplab.classroom.together.class_work import ClassWork, class_work
from kiplab.plays.grammar import parse
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.runs import Run, run
from kiplab.widgets.history_tree import lab_file
from kiplab.widgets.history_tree.playback import as_played
from tests.contract import recorded
from tests.repeated import every_play

KEPT = json.loads(lzma.decompress(Path(__file__).with_name("kept.json.xz").read_bytes()))
PLAYS = sorted(KEPT["plays"])
STUDENTS = sorted(KEPT["work"])
LATER = r"±.*leader recovery state.*|RECOVERING|^ *\d+ +(?=(?:hold|release) )"
"""What transcripts say since and did not then, or the other way round."""


def meaning(report: dict[str, Any]) -> dict[str, Any]:
    """A run's report without sentences, and without what differs by what transcripts say since."""
    bare = {k: v for k, v in report.items() if k not in ("sentence", "token", "events", "title")}
    bare["violated"] = [{**each, "detail": None} for each in report["violated"]]
    return bare


def marks(transcript: str) -> list[list[str]]:
    """The signs, numbers and names in capitals of each line."""
    lines = re.sub(LATER, "", transcript, flags=re.MULTILINE).splitlines()
    found = [re.findall(r"[·⊘✕■▲±]|\b\d+\b|\b[A-Z][A-Z_]{3,}\b", line) for line in lines]
    return [line for line in found if line]


def same(now: Run, then: dict[str, Any], apart_from: str = "") -> bool:
    found, before = meaning(now.report()), meaning(then)
    return all(found[key] == before[key] for key in found.keys() - {apart_from})


@pytest.mark.parametrize("name", every_play(PLAYS))
def test_a_play_and_its_token_mean_the_same(name: str) -> None:
    then = recorded.read()[f"play {name}"]["json"]
    assert same(Run(run_play(parse(KEPT["plays"][name], name))), then)
    assert same(run(then["token"]), then)


@pytest.mark.parametrize("name", every_play(PLAYS))
def test_a_saved_lab_opens_with_its_branches_where_it_stood(name: str) -> None:
    kept_lab = KEPT["labs"][name]
    tree = lab_file.loaded(kept_lab["saved"].encode(), name)
    assert tree.here.playback.at == kept_lab["at"]
    assert [*tree.names] == [branch["name"] for branch in kept_lab["branches"]]
    for branch, then in zip(tree.branches, kept_lab["branches"], strict=True):
        now = Run(as_played(branch.playback))
        assert same(now, then["report"])
        assert marks(now.text()) == marks(then["text"].replace("▲", "■"))
        # A Lab does not check what a play expects; its token does.
        assert same(run(then["token"]), then["report"], apart_from="expectations")


def judged_again(id: str, answer: str) -> Checked:
    """A kept answer, which is text: as it was typed, else the list or the values that it shows."""
    checked = exercise(id).judge(answer)
    if checked.attempted:
        return checked
    values = literal_eval(answer) if answer.startswith("{") else answer.split(", ")
    return exercise(id).judge(values)


@pytest.mark.parametrize("student", STUDENTS)
def test_kept_answers_earn_the_same_points(student: str) -> None:
    parted = {}
    for id, work in KEPT["work"][student]["exercises"].items():
        for attempt in work["tries"]:
            now = judged_again(id, attempt["answer"])
            if (now.points, now.of) != (attempt["points"], work["of"]):
                parted[attempt["answer"]] = now
    # Lists in lists were kept as flat text: the points stand, and a sentence says what is missing.
    assert all(not now.attempted and now.message.startswith("Give ") for now in parted.values())
    assert len(parted) == (2 if student == "ada" else 0)


@pytest.fixture
def handed_in(tmp_path: Path) -> ClassWork:
    """The three work files of then, as a class of today reads them."""
    for student in STUDENTS:
        content = json.dumps(KEPT["work"][student])
        (tmp_path / f"{student}.json").write_text(content, "utf-8")
    return class_work(tmp_path)


def test_a_class_reads_all_that_was_answered(handed_in: ClassWork) -> None:
    assert (handed_in.students, handed_in.left_out) == (3, ())
    counts = {entry.id: entry for entry in handed_in.counts.exercises}
    for id in KEPT["work"]["ada"]["exercises"]:
        works = [KEPT["work"][student]["exercises"][id] for student in STUDENTS]
        assert (counts[id].tried, counts[id].attempts) == (3, sum(w["attempts"] for w in works))
        assert counts[id].solved == sum(w["best"] >= w["of"] for w in works)


def test_a_prediction_in_words_of_then_is_shown_and_neither_right_nor_wrong(
    handed_in: ClassWork,
) -> None:
    for asked in handed_in.counts.predictions:
        kept_choices = {KEPT["work"][s]["predictions"].get(asked.id) for s in STUDENTS}
        taken = [choice for choice in asked.choices if choice.students]
        assert {choice.choice for choice in taken} == kept_choices - {None}
        assert all((c.right is None) == (not c.letter) for c in taken)
    assert "not among the choices of this kiplab's lab" in handed_in.to_html()


def test_old_work_goes_on_and_says_by_which_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "kiplab-work.json"
    file.write_text(json.dumps(before := KEPT["work"]["grace"]), "utf-8")
    monkeypatch.setenv("KIPLAB_WORK", str(file))
    kiplab.check("kafka-14139/window", ["1", "2", "3", "4", "5"])
    after, then = work_on_disk.read(), msgspec.convert(before, work_on_disk.Work)
    assert after.version == kiplab.__version__
    assert after.predictions == then.predictions
    changed = {id for id, work in after.exercises.items() if work != then.exercises[id]}
    assert changed == {"kafka-14139/window"}


# --- what does not open -------------------------------------------------------------------------


def later(token: str) -> str:
    return token.replace("kiplab1:", "kiplab2:")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (later, "this token is of version 2; update kiplab to read it"),
        (lambda token: token[:-9], "this token is damaged"),
    ],
)
def test_a_token_that_does_not_open_says_why(spoil: Callable[[str], str], says: str) -> None:
    token = KEPT["labs"]["kafka-14139"]["branches"][0]["token"]
    with pytest.raises(PlayError) as problem:
        run(spoil(token))
    assert says in str(problem.value)
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"kiplab_lab": 1', '"kiplab_lab": 2', "was saved by a newer kiplab"),
        ('"made"', '"maid"', "is damaged, or no saved lab"),
    ],
)
def test_a_lab_that_does_not_open_says_why(old: str, new: str, says: str) -> None:
    saved = KEPT["labs"]["kafka-14139"]["saved"]
    with pytest.raises(PlayError) as problem:
        lab_file.loaded(saved.replace(old, new).encode(), "mine.kiplab.json")
    assert f"mine.kiplab.json {says}" in str(problem.value)


def test_an_exercise_that_is_gone_says_so() -> None:
    gone = KEPT["work"]["ada"]["predictions"].keys() - {entry.id for entry in EXERCISES}
    assert gone == {"bounce/back-again"}
    with pytest.raises(ExerciseIdError, match="bounce/back-again"):
        exercise(*gone)

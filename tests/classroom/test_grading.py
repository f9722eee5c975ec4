"""`kiplab.grade`: made submissions of every kind, and what becomes of each; none spoils another."""

import csv
import io
import json
import os
import re
import zipfile
from pathlib import Path
from threading import Event, Timer
from typing import Any

import pytest

import kiplab
from kiplab.classroom import attempts
from kiplab.classroom.class_file import VARIABLE
from kiplab.classroom.exercise_table import WRITTEN, exercise
from kiplab.classroom.forms.overview import packed
from kiplab.classroom.grading import grades, inside, limited_process
from kiplab.classroom.grading.alike import alike
from kiplab.classroom.grading.graded import Submission
from kiplab.classroom.grading.grades import Grades
from kiplab.classroom.grading.inside import points_of
from kiplab.classroom.grading.limited_process import _environment, can_be_held, in_own_process
from kiplab.classroom.together import class_folder
from kiplab.classroom.together.class_folder import BYTES_MAX
from kiplab.classroom.together.class_work import harmless_csv
from kiplab.classroom.together.handed_in import bundles, handed_in
from kiplab.classroom.work_on_disk import (
    ANSWER_MAX,
    WRITTEN_MAX,
    ExerciseWork,
    Try,
    Work,
    seed_of,
)
from kiplab.plays import library
from kiplab.plays.play import format_play
from tests.classroom.answers import ANSWERS, judged
from tests.classroom.class_of_24 import Files, hand_in, put
from tests.html_outline import Outline
from tests.repeated import in_long

RIGHT, WRONG = "2 {1} 6 FENCED_LEADER_EPOCH 12 202", "1 {1} 6 FENCED_LEADER_EPOCH 12 202"
READING = "start/reading"
RUNS = f"import kiplab\nkiplab.check({READING!r}, {RIGHT!r})"
EVIL = '=HYPERLINK("x")<script>window.hacked=1</script>'
MOODLE = "Anna Example_12345_assignsubmission_file_"
TEXT = "Each rule protects against another delay, so that none of both can be left out."
_NOT_PERMITTED, _DENIED = "Operation not permitted", "Permission denied"
_CLICKED = "what was clicked is not in them"
HOSTILE = {
    "loops": ("while True: pass", "it was ended"),
    "hogs": ("memory = bytearray(10**11)", "MemoryError"),
    "forks": ("import os\nwhile True: os.fork()", _NOT_PERMITTED),
    "starts": ("import subprocess\nsubprocess.run(['ls'])", _NOT_PERMITTED),
    "connects": ("import socket\nsocket.create_connection(('127.0.0.1', 1))", _NOT_PERMITTED),
    "kills": ("import os\nos.kill(os.getppid(), 9)", _NOT_PERMITTED),
    "writes": ("open('{outside}/evil', 'w')", _DENIED),
    "reads": ("open('{outside}/class/right.json').read()", _DENIED),
    "fills": (
        "for n in range(99): open(str(n), 'wb').write(bytes(40_000_000))",
        "it was ended when it had written 200 MB",
    ),
    "leaves": ("import os\nos._exit(0)", _CLICKED),
    "waits": ("import os\nos.remove('kiplab-work.json')\nos.mkfifo('kiplab-work.json')", _DENIED),
    "peeks": ("open(kiplab.__path__[0] + '/../pyproject.toml').read()", _DENIED),
    "nests": ("import os\nwhile True: os.mkdir('d'); os.chdir('d')", "too deep a folder"),
    "lingers": (
        "import threading\nthreading.Thread(target=threading.Event().wait).start()",
        _CLICKED,
    ),
    "forges": (
        "import os\nfor n in range(3, 9):\n"
        "  try: os.write(n, b'{\"verdict\":' + b'[' * 4000 + b']' * 4000 + b'}\\n')\n"
        "  except OSError: pass",
        _CLICKED,
    ),
}
"""Cells that do harm, after one that is right, and what is said of each."""
LINKS = "import os\nos.symlink('{outside}/evil', 'x')\nos.replace('x', 'handed-in.ipynb')"
needs_limits = pytest.mark.skipif(not can_be_held(), reason="only Linux has the limits")


def work(*answers: str, points: int | None = None, **fields: Any) -> dict[str, Any]:
    """Work of a student: answers to READING a minute apart, with their points or with these."""
    tries: list[dict[str, Any]] = [
        {
            "answer": answer,
            "points": judged(READING, answer).points if points is None else points,
            "at": f"2026-12-01T10:{number:02}:00Z",
        }
        for number, answer in enumerate(answers)
    ]
    best = max((tried["points"] for tried in tries), default=0)
    tried = {"attempts": len(tries), "best": best, "of": 6, "tries": tries}
    return {"exercises": {READING: tried} if tries else {}, **fields}


def notebook(*cells: str) -> str:
    code: Any = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return json.dumps({"cells": [{**code, "source": [cell]} for cell in cells], "metadata": {}})


def zipped(content: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("kiplab-work.json", content)
    return archive.getvalue()


TAMPERED = notebook(
    "from kiplab.classroom.exercises.check_result import Checked\n"
    "from kiplab.classroom.exercise_table import Exercise\n"
    "Exercise.judge = lambda *_: Checked(points=6, of=6, message='')",
    f"import kiplab\nkiplab.check({READING!r}, {WRONG!r})",
)
BY_HAND = notebook(f"open('kiplab-work.json', 'w').write({json.dumps(work('x', points=6))!r})")
HANDED_IN: Files = {
    "right.json": json.dumps(work(WRONG, RIGHT, written={"start/two-rules": TEXT})),
    "wrong.json": json.dumps(work(WRONG, written={"start/two-rules": f"{TEXT} Really."})),
    "says-more.json": json.dumps(work(WRONG, points=6)),
    "no-answer.json": json.dumps(work("let me pass", points=6)),
    "cut.json": json.dumps(work("2" * ANSWER_MAX, points=4)),
    "empty.json": '{"predictions": {}}',
    "broken.json": "{",
    "half.zip": zipped(json.dumps(work(RIGHT)))[:-40],
    "deep.json": "[" * 100_000,
    f"{MOODLE}/kiplab-work.zip": zipped(json.dumps(work(RIGHT, student="Example, Anna"))),
    f"{MOODLE[:4]} Other_99_assignsubmission_file_kiplab-work.zip": zipped(
        json.dumps(work(RIGHT, student="Ben"))
    ),
    "exampleben_LATE_12345_67890_kiplab-work-1.json": json.dumps(work(RIGHT)),
    f"{EVIL.replace('/', '')}.json": json.dumps(work(written={"start/one-picture": EVIL})),
    "nothing/notes.pdf": "",
    "essay.pdf": "",
    "tampered.ipynb": TAMPERED,
    "by-hand.ipynb": BY_HAND,
    "torn.ipynb": TAMPERED[:40],
    "made.play": format_play(library.load("kafka-14139")),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Grades:
    """All of HANDED_IN at once."""
    folder = put(tmp_path_factory.mktemp("school") / "class", HANDED_IN)
    with (folder / "huge.json").open("wb") as file:
        file.truncate(BYTES_MAX + 1)
    rules = "variants = false\ndeadline = 2026-12-01T10:00:00Z"
    return kiplab.grade(folder, labs=["00"], of_class=class_toml(folder.parent, rules))


def class_toml(folder: Path, rules: str = "") -> str:
    (folder / "class.toml").write_text(f'code = "2026"\n{rules}')
    return str(folder / "class.toml")


def row(graded: Grades, student: str) -> Submission:
    (found,) = (one for one in graded.submissions if one.student == student)
    return found


@pytest.mark.parametrize(
    ("student", "status", "points", "remark"),
    [
        ("right", "graded", 6, "look at it beside wrong: nearly the same text"),
        ("wrong", "graded", 5, "look at it beside right: nearly the same text"),
        ("says-more", "graded", 5, "start/reading: the file says 6 points, judged again 5"),
        ("no-answer", "graded", 0, "start/reading: the file says 6 points, judged again 0"),
        ("cut", "not judged again", 4, "its points are the file's"),
        ("empty", "nothing in it", 0, ""),
        ("nothing", "nothing in it", 0, ""),
        ("broken", "unreadable", 0, "broken.json: it is damaged"),
        ("half", "unreadable", 0, "half.zip: it is no zip, or a damaged one"),
        ("huge", "unreadable", 0, "huge.json: it is larger than 50 MB"),
        ("deep", "unreadable", 0, "deep.json: it is damaged"),
        ("Anna Example", "graded", 6, ""),
        ("Anna Other", "graded", 6, "signed by 'Ben': perhaps it is another student's file"),
        ("exampleben", "graded", 6, "the system for courses calls it late"),
        ("made", "run", 0, "made.play: loss"),
        pytest.param("tampered", "graded", 5, "the file says 6 points", marks=needs_limits),
        pytest.param("torn", "unreadable", 0, "torn.ipynb: it is no notebook", marks=needs_limits),
        pytest.param("by-hand", "graded", 0, "the file says 6 points", marks=needs_limits),
    ],
)
def test_each_submission_has_the_row_that_it_deserves(
    graded: Grades, student: str, status: str, points: int, remark: str
) -> None:
    found = row(graded, student)
    assert (found.status, found.points) == (status, points)
    assert remark in "\n".join(found.remarks)
    assert bool(found.remarks) == bool(remark) or "beside" in "".join(found.remarks)


def test_first_and_best_attempt_their_number_time_and_date_are_told(graded: Grades) -> None:
    found = row(graded, "right")
    reading, accepted = found.exercises[:2]
    assert (reading.first, reading.best, reading.of, reading.attempts) == (5, 6, 6, 2)
    assert (reading.minutes, reading.date) == (1.0, "2026-12-01T10:01:00Z")
    assert (reading.late, row(graded, "wrong").exercises[0].late) == (True, False)
    assert (accepted.id, accepted.attempts, accepted.best) == ("start/accepted", 0, 0)
    assert (found.points, found.of) == (6, 6 + accepted.of)


def test_written_answers_stand_beside_their_rubric(graded: Grades, tmp_path: Path) -> None:
    page = Outline(graded.to_html())
    shown = " ".join("".join(page.words[False]).split())
    assert TEXT in shown
    assert WRITTEN["start/two-rules"].rubric in shown
    (answer,) = row(graded, "right").written
    assert (answer.answer, answer.of) == (TEXT, 2)
    rows = [*csv.DictReader(graded.write(tmp_path / "g.csv").read_text("utf-8").splitlines())]
    assert TEXT in {row["answer"] for row in rows}


def test_the_long_table_has_a_row_for_each_question_and_the_wide_one_for_each_student(
    graded: Grades, tmp_path: Path
) -> None:
    text = graded.write(tmp_path / "long.csv").read_text("utf-8")
    long = [*csv.DictReader(io.StringIO(text))]
    assert tuple(long[0]) == grades.HEADS
    assert {one.student for one in graded.submissions} == {
        line["student"].removeprefix("'") for line in long
    }
    (broken,) = (line for line in long if line["student"] == "broken")
    assert (broken["status"], broken["exercise"], broken["best"]) == ("unreadable", "", "")
    sheet = Grades(graded.submissions, graded.labs, wide=True).write(tmp_path / "wide.csv")
    wide = {line["student"]: line for line in csv.DictReader(io.StringIO(sheet.read_text("utf-8")))}
    assert len(wide) == len(graded.submissions)
    assert (wide["right"]["points"], wide["right"][READING]) == ("6", "6")


def test_no_cell_is_a_formula_and_no_name_is_a_script(graded: Grades, tmp_path: Path) -> None:
    for name in ("long.csv", "wide.csv"):
        sheet = Grades(graded.submissions, graded.labs, wide=name == "wide.csv")
        text = sheet.write(tmp_path / name).read_text("utf-8")
        cells = [cell for line in csv.reader(io.StringIO(text)) for cell in line]
        assert any("HYPERLINK" in cell for cell in cells)
        assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]
    page = graded.to_html()
    assert not re.findall("<script|https?:", page)
    assert Outline(page).is_closed


@pytest.mark.parametrize("text", ["=1", " =1", "\t=1", "x;=1", "x\n@y", 'x;"=1', "\uff1d1"])
def test_a_formula_is_none_wherever_a_spreadsheet_looks_for_one(text: str) -> None:
    (cell,) = [*csv.reader(io.StringIO(harmless_csv(["a"], [[text]])))][1]
    assert cell.replace("'", "") == text
    assert not re.search(r"(^|[;\t\r\n])[\s\"]*[=@\uff1d]", cell)


def test_every_wide_row_and_text_line_can_be_printed(graded: Grades) -> None:
    assert all(line.isprintable() for line in graded.text().splitlines())


# --- what a submission cannot do ----------------------------------------------------------------


@needs_limits
@pytest.mark.long(quick="::test_each_submission_has_the_row_that_it_deserves")
def test_what_a_hostile_notebook_does_is_its_own_matter(tmp_path: Path) -> None:
    cells = {n: harm.replace("{outside}", str(tmp_path)) for n, (harm, _) in HOSTILE.items()}
    files: Files = {f"{n}.ipynb": notebook(RUNS, c) for n, c in cells.items()}
    files["right.json"] = json.dumps(work(WRONG, RIGHT))
    links = notebook(RUNS, LINKS.replace("{outside}", str(tmp_path)))
    files |= {f"links_1_assignsubmission_file_/{n}.ipynb": links for n in (1, 2)}
    before = {*tmp_path.iterdir()}
    found = kiplab.grade(put(tmp_path / "class", files), labs=["00"], seconds=8)
    assert row(found, "right").points == 6
    said = {one.student: " ".join(one.remarks) for one in found.submissions}
    assert [name for name, (_, why) in HOSTILE.items() if why not in said[name]] == []
    points = {one.student: one.points for one in found.submissions}
    assert [name for name in HOSTILE if points[name] != 6] == ["waits"]
    assert {*tmp_path.iterdir()} - before == {tmp_path / "class"}


@needs_limits
def test_a_process_ends_when_its_time_is_over_or_grading_is_stopped(tmp_path: Path) -> None:
    endless = notebook("while True: pass").encode()
    stop = Event()
    Timer(0.5, stop.set).start()
    ended = in_own_process(inside.NOTEBOOK, endless, tmp_path, 20, stop)
    assert ended.why == "grading was stopped"
    assert "ended" in in_own_process(inside.NOTEBOOK, endless, tmp_path, 1, Event()).why


def test_ctrl_c_gives_what_was_graded_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(rows: list[Any]) -> None:
        rows[0].result()
        raise KeyboardInterrupt

    monkeypatch.setattr(grades, "wait", interrupted)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    files: Files = {f"s{n}.json": json.dumps(work(RIGHT)) for n in range(4)}
    found = kiplab.grade(put(tmp_path, files))
    assert found.stopped
    assert found.submissions[0].status == "graded"
    assert found.submissions[-1].status == "stopped"


def test_nothing_of_the_instructors_is_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "t")
    assert not {"SECRET_TOKEN", "USER", VARIABLE} & {*_environment(tmp_path)}


def test_a_sealed_kiplab_judges_with_the_code_of_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limited_process, "is_sealed", lambda: True)
    monkeypatch.setenv(VARIABLE, "2026")
    assert _environment(tmp_path)[VARIABLE] == "2026"


def test_where_nothing_can_be_held_a_notebook_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kiplab.classroom.grading import graded as module

    monkeypatch.setattr(module, "can_be_held", lambda: False)
    (found,) = kiplab.grade(put(tmp_path, {"anna.ipynb": notebook(RUNS)})).submissions
    assert (found.status, found.points) == ("not run", 0)
    assert "only Linux can keep it" in found.remarks[0]


# --- judging again ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "id", [READING, "recovery/lose-one", *in_long([id for id in ANSWERS if id != READING])]
)
def test_a_kept_answer_earns_again_what_the_answer_earned(id: str) -> None:
    known = ANSWERS[id]
    for listed in (known.right, *known.spelled, *(wrong.answer for wrong in known.wrong)):
        answer, checked = known.whole(listed), judged(id, listed)
        kept = attempts._as_text(answer, checked)
        assert points_of(id, kept, "", checked.points) == checked.points, answer


def test_a_run_with_a_number_is_kept_as_its_token() -> None:
    lab = kiplab.Lab("kafka-14139")
    checked = judged("recovery/lose-one", ANSWERS["recovery/lose-one"].right)
    assert attempts._as_text((lab, 11), checked) == f"{checked.token}, 11"


# --- whose it is, and who else's ----------------------------------------------------------------


def test_names_of_course_systems_are_the_students(tmp_path: Path) -> None:
    one = json.dumps(work(RIGHT))
    files: Files = {
        "Anna Example_12_assignsubmission_file_/kiplab-work.json": one,
        "Anna Example_12_assignsubmission_file_/04-kafka-14139.ipynb": notebook(),
        "Ben de Groot_13_assignsubmission_file_kiplab-work (1).json": one,
        "Teilnehmerin_14_assignsubmission_file_/04-kafka-14139.ipynb": notebook(),
        "Teilnehmerin_15_assignsubmission_file_/kiplab-work.json": one,
        "smithbob_340934_208490284_kiplab-work.json": one,
        "smithbob_340934_208490285_07-controlled-shutdown-bounce.ipynb": notebook(),
    }
    found, left_out = bundles(put(tmp_path, files))
    names = {bundle.name: len(bundle.pieces) for bundle in found}
    once = ("Ben de Groot", "Teilnehmerin/14", "Teilnehmerin/15")
    assert (names, left_out) == (
        {"Anna Example": 2, **dict.fromkeys(once, 1), "smithbob": 2},
        [],
    )
    assert "Anna Example_12_assignsubmission_file_" not in {
        left.file for left in handed_in(tmp_path).left_out
    }


def test_a_name_in_the_file_counts_where_the_file_has_none(tmp_path: Path) -> None:
    files: Files = {
        "kiplab-work (1).json": json.dumps(work(RIGHT, student=" Anna  Example")),
        "kiplab-work (2).json": json.dumps(work(RIGHT, student="Ben", seed="other")),
    }
    found = kiplab.grade(put(tmp_path / "in", files), of_class=class_toml(tmp_path))
    assert [one.student for one in found.submissions] == ["Anna Example", "Ben"]
    assert "its exercises have the numbers of the text" in found.submissions[0].remarks
    assert "its numbers are not those that 'Ben' has in this class" in found.submissions[1].remarks


def test_the_numbers_of_the_class_are_no_remark(tmp_path: Path) -> None:
    seed = seed_of("2026", "ben")
    own = json.dumps(work(exercise(READING, seed).solution, points=6, student="Ben", seed=seed))
    files: Files = {"Ben.json": own}
    (found,) = kiplab.grade(put(tmp_path / "in", files), of_class=class_toml(tmp_path)).submissions
    assert (found.remarks, found.exercises[0].best) == ((), 6)


def test_more_than_kiplab_keeps_is_not_looked_at(tmp_path: Path) -> None:
    many = work(*["x"] * 50, RIGHT, student="A" * 1_000, written={"start/two-rules": "a " * 9_000})
    (found,) = kiplab.grade(put(tmp_path, {"kiplab-work (1).json": json.dumps(many)})).submissions
    assert (found.points, found.exercises[0].attempts) == (6, 51)
    assert (len(found.student), len(found.written[0].answer)) == (100, WRITTEN_MAX)


def test_a_time_that_is_none_is_said(tmp_path: Path) -> None:
    one = json.dumps(work(RIGHT)).replace("2026-12-01T", "soon")
    (found,) = kiplab.grade(put(tmp_path, {"anna.json": one})).submissions
    assert "its time cannot be read" in found.remarks[0]


def tried(*answers: str, at: str = "") -> ExerciseWork:
    return ExerciseWork(len(answers), 0, 4, tuple(Try(answer, 0, at=at) for answer in answers))


def test_alike_is_what_hardly_anybody_else_has() -> None:
    frequent = Work(exercises={"a": tried("x"), "b": tried("y")})
    seldom = Work(exercises={"a": tried("q", "r"), "b": tried("s")}, predictions={"p": "1"})
    other = Work(exercises={"a": tried("q", "r"), "b": tried("s")})
    many = [Work(exercises=frequent.exercises, predictions={"p": str(n)}) for n in range(5)]
    found = alike([f"s{n}" for n in range(7)], [*many, seldom, other])
    assert found == {
        5: ["look at it beside s6: the same wrong answers, in order, to a, b"],
        6: ["look at it beside s5: the same wrong answers, in order, to a, b"],
    }


def test_equal_files_and_equal_times_are_pointed_out() -> None:
    timed = Work(exercises={id: tried(id, at="2026-12-01T10:00:00Z") for id in "abc"})
    same_times = Work(exercises={id: tried("o", at="2026-12-01T10:00:00Z") for id in "abc"})
    named = Work(exercises=timed.exercises, student="Ben")
    found = alike(["x", "y", "z"], [timed, named, same_times])
    assert found[0] == [
        "look at it beside y: the same work",
        "look at it beside z: 3 attempts in the same seconds",
    ]


# --- a class ------------------------------------------------------------------------------------


@pytest.mark.long(quick="::test_each_submission_has_the_row_that_it_deserves")
def test_a_class_of_25_with_work_of_every_form_is_graded_as_the_checks_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The 25th is made in a browser, which calls every download the same, and numbers them."""
    hand_in(tmp_path / "class", monkeypatch)
    (tmp_path / "kiplab-work.json").write_text(json.dumps(work(RIGHT, student="Yan")))
    archive, _ = packed(tmp_path / "kiplab-work.json")
    (tmp_path / "class" / "kiplab-work (1).zip").write_bytes(archive)
    found = kiplab.grade(tmp_path / "class")
    assert {one.status for one in found.submissions} == {"graded"}
    assert (len(found.submissions), row(found, "Yan").points) == (25, 6)
    believed = [r for one in found.submissions for r in one.remarks if "judged again" in r]
    assert not believed


def test_a_file_of_an_earlier_version_is_judged_as_any_other() -> None:
    (ada,) = kiplab.grade(Path(__file__).with_name("handed_in")).submissions
    assert (ada.status, ada.points, ada.remarks) == ("graded", 3, ())
    assert [(e.attempts, e.date) for e in ada.exercises if e.attempts] == [(1, "")]
    (of_another_lab,) = Grades([ada], ["11"]).submissions
    assert (len(ada.predictions), of_another_lab.predictions) == (1, ())


def test_work_that_was_done_in_the_site_of_a_class_is_graded_by_its_own_numbers() -> None:
    """As Chromium saved it, from a folder of `kiplab site --class`."""
    room = Path(__file__).parent
    (maria,) = kiplab.grade(room / "from_a_browser", of_class=str(room / "class.toml")).submissions
    assert (maria.student, maria.points, maria.remarks) == ("Maria Muster", 6, ())
    assert [(e.first, e.best, e.attempts) for e in maria.exercises if e.attempts] == [(1, 6, 2)]


def test_of_a_zip_no_more_is_unpacked_than_a_class_can_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_folder, "UNPACKED_MAX", 100)
    monkeypatch.setattr(class_folder, "INSIDE_MAX", 50)
    found, _ = bundles(put(tmp_path, {"bomb.zip": zipped(" " * 101), "anna.zip": zipped("{}")}))
    why = {bundle.name: bundle.pieces[0].why for bundle in found}
    assert "unpacks to more than any work has" in why["bomb"]
    assert "anna" not in why


def test_a_student_s_zip_leaves_room_for_the_others_in_the_zip_of_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(class_folder, "INSIDE_MAX", 1_000)
    monkeypatch.setattr(class_folder, "UNPACKED_MAX", 2_500)
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as opened:
        opened.writestr("anna.zip", zipped(" " * 900))
        opened.writestr("ben.zip", zipped(json.dumps(work(RIGHT))))
        opened.writestr("/".join("a" * 30_000), "kiplab-work.json")
    assert {bundle.name for bundle in bundles(tmp_path / "class.zip")[0]} >= {"ben"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such file")
def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "anna.json")
    (tmp_path / "ben.json").symlink_to("/dev/zero")
    found, _ = bundles(tmp_path)
    why = [bundle.pieces[0].why for bundle in found]
    assert ["a pipe" in why[0], "a link" in why[1]] == [True, True]

"""`kiplab.class_work`: what a class answered, in numbers, in words, and on a page."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, LETTERS
from kiplab.classroom.exercises.check_result import LINE
from kiplab.classroom.together.class_counts import ExerciseCount, PredictionCount
from kiplab.classroom.together.class_page import NAMES_MAX
from kiplab.classroom.together.class_work import ClassWork
from kiplab.classroom.together.handed_in import ClassFolderError, HandedIn, StudentWork
from kiplab.classroom.work_on_disk import ExerciseWork, Try, Work
from kiplab.cli.common_options import COMMANDS
from kiplab.pages.browser_picture import ExportError
from tests.classroom.answers import judged
from tests.classroom.class_of_24 import CHOSEN, STUDENTS, hand_in
from tests.html_outline import Outline

LATE = "kafka-14139/late-request"
ENDINGS = COMMANDS["class"]["endings"]
ENDINGS = COMMANDS["class"]["endings"]
EVIL = "<script>window.hacked=1</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the class of 24 has handed in."""
    there = tmp_path_factory.mktemp("school") / "class"
    with pytest.MonkeyPatch.context() as patch:
        hand_in(there, patch)
    return there


@pytest.fixture(scope="module")
def together(folder: Path) -> ClassWork:
    return kiplab.class_work(folder)


@pytest.fixture(scope="module")
def named(folder: Path) -> ClassWork:
    return kiplab.class_work(folder, names=True)


def of_students(*works: Work, names: bool = False) -> ClassWork:
    """A class of so many, called s0, s1, ..."""
    students = [StudentWork(f"s{number}", work) for number, work in enumerate(works)]
    return ClassWork(HandedIn(tuple(students)), names=names)


def prediction(found: ClassWork, id: str = LATE) -> PredictionCount:
    (asked,) = (asked for asked in found.counts.predictions if asked.id == id)
    return asked


def exercise(found: ClassWork, id: str) -> ExerciseCount:
    (asked,) = (asked for asked in found.counts.exercises if asked.id == id)
    return asked


# --- numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", CHOSEN)
def test_every_choice_has_the_number_of_students_who_locked_it(
    together: ClassWork, id: str
) -> None:
    asked = prediction(together, id)
    taken = {choice.letter: choice.students for choice in asked.choices if choice.students}
    assert taken == {**Counter(CHOSEN[id])}
    assert asked.answered == len(CHOSEN[id])


def test_choices_that_nobody_took_are_there_too_in_the_order_of_the_lab(
    together: ClassWork,
) -> None:
    for listed in (asked for asked in EXERCISES if not asked.check):
        choices = prediction(together, listed.id).choices
        assert tuple(choice.choice for choice in choices) == listed.choices
        assert "".join(choice.letter for choice in choices) in LETTERS
        assert [choice.letter for choice in choices if choice.right] == [listed.right]


def test_everything_that_the_labs_ask_is_counted(together: ClassWork) -> None:
    counted = {asked.id for asked in together.counts.predictions}
    counted |= {asked.id for asked in together.counts.exercises}
    assert counted == {asked.id for asked in EXERCISES}


def test_an_exercise_has_who_tried_who_solved_it_who_did_at_once_and_all_attempts(
    together: ClassWork,
) -> None:
    reading = exercise(together, "start/reading")
    assert (reading.tried, reading.solved, reading.at_once, reading.attempts) == (24, 17, 3, 38)
    fences = exercise(together, "epochs/fences")
    assert (fences.tried, fences.solved, fences.at_once, fences.attempts) == (20, 17, 8, 29)


def test_misconceptions_are_the_ones_that_the_checks_name_most_frequent_first(
    together: ClassWork,
) -> None:
    """Of the five students in each row of answers, two begin with one idea and one with another."""
    often, seldom = (judged("epochs/fences", a).misconception for a in ("BPPL", "PPLB"))
    found = exercise(together, "epochs/fences").misconceptions
    assert [(idea.misconception, idea.first) for idea in found] == [(often, 8), (seldom, 4)]


def test_an_idea_of_a_later_attempt_is_no_first_one() -> None:
    tries = (Try("a", 0, misconception="first"), Try("b", 0, misconception="then"))
    work = Work(exercises={"epochs/fences": ExerciseWork(2, 0, 4, tries)})
    found = exercise(of_students(work), "epochs/fences").misconceptions
    assert [(i.misconception, i.first, i.ever) for i in found] == [("first", 1, 1), ("then", 0, 1)]


def test_a_wrong_first_attempt_without_a_known_idea_is_counted_as_such() -> None:
    works = [
        Work(exercises={"epochs/fences": ExerciseWork(1, points, 4, (Try("a", points),))})
        for points in (0, 3, 4)
    ]
    found = of_students(*works)
    asked = exercise(found, "epochs/fences")
    assert (asked.unexplained, asked.at_once, asked.misconceptions) == (2, 1, ())
    said = "Wrong at first, with no known idea behind it: What gives it away? (2)."
    assert said in found.text()
    assert said in found.to_html()


def test_an_answer_of_another_version_of_the_lab_is_counted_in_its_own_words() -> None:
    found = of_students(Work({LATE: "It explodes."}), Work({LATE: "It explodes."}))
    asked = prediction(found)
    assert asked.answered == 2
    last = asked.choices[-1]
    assert (last.letter, last.choice, last.students, last.right) == ("", "It explodes.", 2, None)
    assert "not among the choices" in found.to_html()


def test_what_no_lab_asks_comes_last_and_nobody_knows_what_is_right() -> None:
    own = Work({"mine/own": "Yes."}, {"mine/try": ExerciseWork(1, 1, 1, (Try("a", 1),))})
    found = of_students(own, Work({"mine/own": "No."}))
    assert [choice.right for choice in prediction(found, "mine/own").choices] == [None, None]
    assert exercise(found, "mine/try").solved == 1
    assert found.counts.labs() == [""]
    assert "Asked in no lab of this kiplab" in found.text()
    assert "Which one comes true?" not in found.to_html()


# --- names --------------------------------------------------------------------------------------


def test_what_is_written_is_counted_and_read_with_names_only() -> None:
    works = Work(written={"bounce/price": "Never."}), Work(written={"bounce/price": " "}), Work()
    shown, hidden = (of_students(*works, names=names) for names in (True, False))
    assert all("election. When would you" in " ".join(w.text().split()) for w in (shown, hidden))
    assert all("1 of 3 have written." in " ".join(w.text().split()) for w in (shown, hidden))
    assert "s0: Never." in shown.text()
    assert "Never." not in f"{hidden.text()}{hidden.report()}"
    assert next(w for w in shown.report()["written"] if w["answered"])["who"] == {"s0": "Never."}


def test_without_names_nothing_shown_names_a_student(together: ClassWork, tmp_path: Path) -> None:
    shown = [together.text(), together.to_html(), together.html(), repr(together)]
    shown += [together.write(tmp_path / f"class{end}").read_text("utf-8") for end in ENDINGS]
    words = {word for text in shown for word in re.findall(r"\w+", text)}
    assert not {*STUDENTS} & words


def test_with_names_it_shows_who_chose_what_and_who_has_not_solved_it(named: ClassWork) -> None:
    chosen = prediction(named).choices[2]
    assert chosen.who == tuple(n for n, c in zip(STUDENTS, CHOSEN[LATE], strict=True) if c == "C")
    for text in (named.text(), named.to_html(), named.html()):
        assert ", ".join(chosen.who) in text
        assert "not solved yet: Dana, Lena, Pablo" in text


def test_many_names_are_folded() -> None:
    works = [Work({LATE: "Yes."})] * NAMES_MAX
    few, many = of_students(*works, names=True), of_students(*works, *works, names=True)
    assert '<span class="who">s0, s1, ' in few.to_html()
    assert '<details class="who"><summary>40 students</summary>s0, s1, ' in many.to_html()


def test_files_are_students_too_and_named_only_with_names(tmp_path: Path) -> None:
    (tmp_path / "anna.json").write_text('{"predictions": {}}')
    (tmp_path / "ben.json").write_text("{")
    without, having = (kiplab.class_work(tmp_path, names=names) for names in (False, True))
    for shown in (without.to_html(), without.text()):
        assert "Not counted, or not wholly: 1 file." in shown
        assert "ben" not in shown
    for shown in (having.to_html(), having.text()):
        assert "Not counted: ben.json: it is damaged" in shown
    assert "ben" not in json.dumps(without.report())
    assert [left["file"] for left in having.report()["left_out"]] == ["ben.json"]


# --- words and tables ---------------------------------------------------------------------------


def test_the_text_fits_a_terminal_and_has_a_line_for_each_choice(together: ClassWork) -> None:
    lines = together.text().splitlines()
    assert max(map(len, lines)) <= LINE
    assert (
        lines[0] == "24 students. Nothing yet from labs 01, 03, 05, 06, 07, 08, 09, 10, 11, 12, 13."
    )
    (line,) = (line for line in lines if "broker 2 has been fenced since" in line)
    assert line.split()[:3] == ["B", "13", "█" * 13]


def test_the_text_does_not_say_which_choice_comes_true(together: ClassWork) -> None:
    marked = {line[:4].strip() for line in together.text().splitlines() if "It accepts" in line}
    assert marked == {""}
    assert "true" not in together.text()


def test_the_table_has_a_row_for_each_number(together: ClassWork, named: ClassWork) -> None:
    table = together.table()
    assert list(table) == ["lab", "id", "title", "kind", "what", "count", "of", "right"]
    late = table[table["id"] == LATE]
    assert late["count"].tolist() == [5, 13, 3, 3]
    assert late["right"].tolist() == [False, False, False, True]
    kinds = "choice tried solved solved+at+once attempts first+misconception misconception+ever"
    assert {kind.replace(" ", "+") for kind in table["kind"]} == {*kinds.split()}
    assert named.table()["who"].tolist()[0].startswith("Ada, Ben")


def test_every_kind_of_file_says_the_same(together: ClassWork, tmp_path: Path) -> None:
    files = {end: together.write(tmp_path / f"class{end}").read_text("utf-8") for end in ENDINGS}
    report: dict[str, Any] = json.loads(files[".json"])
    assert report == json.loads(json.dumps(together.report()))
    rows = [*csv.DictReader(files[".csv"].splitlines())]
    assert len(rows) == len(together.table())
    for asked in report["predictions"]:
        counts = [int(row["count"]) for row in rows if row["id"] == asked["id"]]
        assert counts == [choice["students"] for choice in asked["choices"]]
    assert files[".txt"] == together.text()
    assert files[".html"] == together.to_html()


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t"])
def test_no_cell_is_a_formula_for_a_spreadsheet(tmp_path: Path, begins: str) -> None:
    evil = f"{begins}1+HYPERLINK(0)"
    tried = ExerciseWork(1, 0, 1, (Try("a", 0, misconception=evil),))
    student = StudentWork(evil, Work({LATE: evil}, {evil: tried}))
    found = ClassWork(HandedIn((student,)), names=True)
    file = found.write(tmp_path / "class.csv")
    cells = [cell for row in csv.reader(file.read_text("utf-8").splitlines()) for cell in row]
    assert cells.count(f"'{evil}") > 4
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))]


def test_a_file_of_another_kind_is_refused_with_the_kinds_there_are(
    together: ClassWork, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=r"cannot write 'class.pdf'; .* \.html \.json \.csv"):
        together.write(tmp_path / "class.pdf")


# --- the page -----------------------------------------------------------------------------------


def test_the_right_choice_is_only_where_one_clicks(together: ClassWork) -> None:
    page = together.to_html()
    outline = Outline(page)
    assert outline.is_closed
    assert page.count("<details>") == len(CHOSEN)
    assert {*re.findall(r"<details([^>]*)>", page)} == {"", ' class="ideas"'}
    behind = "".join(outline.words[True])
    for id in CHOSEN:
        right = prediction(together, id).right
        assert right is not None
        assert f"{right.choice} ({right.students} of {len(CHOSEN[id])})" in behind


def test_outside_of_it_the_right_choice_looks_like_the_others(together: ClassWork) -> None:
    """But for its words, its letter and its numbers."""
    page = re.sub(r"<details>.*?</details>", "", together.to_html(), flags=re.DOTALL)
    rows = re.findall(r'<tr><th scope="row"><b>[A-H]</b>&ensp;.*?</tr>', page)
    assert len(rows) == sum(len(prediction(together, id).choices) for id in CHOSEN)
    assert len({re.sub(r">[^<]+<|[\d.]+%", "", row) for row in rows}) == 1


def test_ideas_behind_wrong_answers_open_at_a_click_too(together: ClassWork) -> None:
    """One may be a choice of a prediction: seen beside it, it would say that it is wrong."""
    outline = Outline(together.to_html())
    shown, behind = ("".join(outline.words[where]) for where in (False, True))
    for asked in together.counts.exercises:
        for idea in asked.misconceptions:
            assert idea.misconception in behind
            assert idea.misconception not in shown


def test_bars_are_as_long_as_their_numbers(together: ClassWork) -> None:
    page = together.to_html()
    late = page[page.index("Prediction: the late request") :]
    outline = Outline(late[late.index("<tbody>") : late.index("</table>")])
    assert widths(outline) == [pytest.approx(100 * n / 24, abs=0.01) for n in (5, 13, 3, 3)]


def widths(outline: Outline) -> list[float]:
    """How long the bars are, in percent."""
    styles = " ".join(filter(None, (bar.get("style") for bar in outline.named("i"))))
    return [float(width) for width in re.findall(r"width:([\d.]+)%", styles)]


def test_the_numbers_are_in_real_tables_with_captions_and_heads(together: ClassWork) -> None:
    outline = Outline(together.to_html())
    tags = [tag for tag, _ in outline.tags]
    assert tags.count("table") == tags.count("caption") == tags.count("thead")
    assert [tag for tag in tags if re.fullmatch(r"h\d", tag)][:3] == ["h1", "h2", "h3"]


@pytest.mark.parametrize("theme", ["light", "dark", "auto"])
def test_the_page_is_light_or_dark_and_needs_nothing_else(together: ClassWork, theme: str) -> None:
    page = together.to_html(theme=theme)
    assert ("prefers-color-scheme: dark" in page) == (theme == "auto")
    assert not re.findall(r"<script|<link|<img|https?:|url\(|@import", page)
    assert re.search(r"@media print \{ :root \{ --kiplab-text: #1b1f23", page)


def test_what_students_write_is_shown_and_never_run() -> None:
    tried = ExerciseWork(1, 0, 1, (Try("a", 0, misconception=EVIL),))
    found = of_students(Work({LATE: EVIL, EVIL: EVIL}, {EVIL: tried}), names=True)
    for page in (found.to_html(), found.html()):
        assert EVIL not in page
        assert "&lt;script&gt;window.hacked=1" in page
        assert Outline(page).is_closed


@pytest.mark.parametrize("students", [1, 300])
def test_small_and_large_classes_have_the_same_page(students: int) -> None:
    choices = prediction(of_students()).choices
    works = [Work({LATE: choices[number % 3].choice}) for number in range(students)]
    found = of_students(*works)
    assert f"{students} of {students} student{'s' * (students > 1)} locked" in found.to_html()
    assert max(widths(Outline(found.to_html()))) <= 100
    assert max(map(len, found.text().splitlines())) <= LINE


def test_a_class_that_has_not_begun_is_said() -> None:
    found = of_students(Work())
    labs = sorted({asked.lab for asked in EXERCISES})
    assert found.sentence == f"1 student. Nothing yet from labs {', '.join(labs)}."
    assert "<h2>" not in found.to_html()


def test_in_a_notebook_it_is_the_same_without_a_page_around_it(together: ClassWork) -> None:
    shown = together._repr_html_()
    assert shown == together.html()
    assert "<html" not in shown
    assert shown.count("<table>") == together.to_html().count("<table>")


# --- folders without work -----------------------------------------------------------------------


def test_a_folder_of_damaged_files_says_what_is_wrong_with_the_first_ones(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / f"{name}.json").write_text("{")
    with pytest.raises(ClassFolderError, match=r"\(a.json: it is damaged.*; and 2 more\)"):
        kiplab.class_work(tmp_path)

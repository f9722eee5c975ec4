"""What every lab has, in the order of the curriculum; and what the index and the lists say."""

import re

import pytest

import kiplab
from kiplab.classroom.exercise_table import EXERCISES, LETTERS, WAYS, WHAT_IFS, Exercise, what_if_id
from kiplab.classroom.forms.held_back import EXPLANATIONS
from tests.labs.running import (
    LABS,
    NAMES,
    ROOT,
    cells,
    checks_asked,
    exercises,
    explained,
    notebook_of,
    predictions_asked,
    prose,
    texts,
)

PATTERN = (
    *("A question people ask", "Five minutes", "## Your prediction", "## Run it", "## The gap"),
    *("## Change one thing", "## Checkpoint", "## Make or break", "## Exit ticket"),
    *("**To discuss:**", "## Take your work home"),
)
CHECKS = ROOT / "kiplab" / "classroom" / "exercises"
LINES_MAX, WORDS_MAX = 25, 190
"""Of a cell of prose: what fits a screen at 840 pixels."""
TEXT_ONLY = (".text()", "in words")


@pytest.mark.parametrize("name", NAMES)
def test_it_goes_the_way_of_the_curriculum(name: str) -> None:
    said = prose(name)
    places = [said.find(part) for part in PATTERN]
    assert -1 not in places, PATTERN[places.index(-1)]
    assert places == sorted(places)
    stations = kiplab.stations(name[:2]).done
    heads = "\n".join(cells(name, "markdown").values())
    assert [heading for heading in stations if f"## {heading}" not in heads] == []
    assert f'kiplab.stations("{name[:2]}")' in cells(name, "code")["setup"]


def test_a_panel_or_a_button_that_a_lab_names_is_there() -> None:
    lab = kiplab.Lab("isr-stale-member", controls="all")
    few = kiplab.Lab("isr-stale-member", controls="step")
    panels = (lab, few, kiplab.AnswerSheet("isr/lose-acknowledged", lab))
    parts = [part for panel in panels for part in panel.box.root.everything()]
    there = " ".join(f"{vars(part).get('description')} {vars(part).get('value')}" for part in parts)
    spoken = "\n".join(map(prose, NAMES))
    named = set(re.findall(r"(?:[Pp]ress|under) \*\*(.+?)\*\*", spoken))
    assert named >= {"Step", "Clients"}
    assert [words for words in named if words not in there] == []
    assert "drawer" not in spoken


@pytest.mark.parametrize("name", NAMES)
def test_it_says_how_long_it_takes_and_each_half_of_it(name: str) -> None:
    (whole,) = map(int, re.findall(r"\*About (\d+) minutes", prose(name)))
    halves = [int(n) for n in re.findall(r"^## \w+ half: (\d+) minutes", prose(name), re.MULTILINE)]
    assert 35 <= whole == sum(halves or [whole]) <= 60
    taken = [minutes for minutes, _ in core_minutes(name)]
    assert all(t <= said for t, said in zip(taken, halves or [whole], strict=True)), taken


def core_minutes(name: str) -> list[tuple[float, float]]:
    """What all but the optional sections of each half take somebody who reads 130 words a minute,
    with four minutes for an exercise, two for a picture to step through, 1.5 for a prediction, and
    8 in all to discuss; and how many exercises there are. The ideas of others stay folded.
    """
    halves, is_core, told = [[0.0, 0.0]], True, explained(name)
    for cell in notebook_of(name).cells:
        read = cell.source if cell.cell_type == "markdown" else told.get(cell.id, "")
        if cell.source.startswith("##"):
            is_core = "(optional)" not in cell.source.splitlines()[0]
        if cell.source.startswith("## Second half"):
            halves.append([0.0, 0.0])
        if is_core:
            words = [w for part in read.split("\n\n") if part[:1] != "[" for w in part.split()]
            halves[-1][1] += cell.source.count("kiplab.check(")
            halves[-1][0] += sum(any(map(str.isalnum, word)) for word in words) / 130
            halves[-1][0] += 2 * len(re.findall(r"kiplab\.(?:Lab|twin)\(", cell.source))
            halves[-1][0] += 1.5 * len(re.findall(r"\b(?:predict|what_if)\(", cell.source))
    return [(8 / len(halves) + minutes + 4 * asked, asked) for minutes, asked in halves]


@pytest.mark.parametrize("name", NAMES)
def test_its_optional_sections_and_no_others_are_folded_in_the_browser(name: str) -> None:
    for cell in notebook_of(name).cells:
        optional = bool(re.match(r"## .*\(optional\)", cell.source))
        assert cell.metadata.get("jp-MarkdownHeadingCollapsed", False) == optional, cell.id


@pytest.mark.parametrize("name", NAMES)
def test_each_half_has_two_to_four_exercises_and_they_begin_unanswered(name: str) -> None:
    assert [asked for _, asked in core_minutes(name) if not 2 <= asked <= 4] == []
    found, code = exercises(name), cells(name, "code")
    assert [id for id in found if '?"' not in code[id]] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_question_is_in_the_table_of_what_is_asked(name: str) -> None:
    listed = [exercise for exercise in EXERCISES if exercise.lab == name[:2]]
    for called, entered in (
        (predictions_asked(name), [e.id for e in listed if not e.check]),
        (checks_asked(name), [e.id for e in listed if e.check]),
    ):
        assert called == entered, (
            f"lab {name} asks for {', '.join(called) or 'nothing'}: enter that, in this order, in"
            " kiplab/classroom/exercises.toml"
        )


@pytest.mark.parametrize("name", NAMES)
def test_the_table_marks_what_an_optional_section_asks(name: str) -> None:
    heading, asked = "", list[str]()
    for cell in notebook_of(name).cells:
        heading = cell.source.splitlines()[0] if cell.source.startswith("##") else heading
        found = re.findall(r'kiplab\.(?:predict|check)\("([^"]+)"', cell.source)
        asked += found * ("(optional)" in heading)
    assert asked == [e.id for e in EXERCISES if e.lab == name[:2] and e.optional]


@pytest.mark.parametrize("name", NAMES)
def test_the_choice_that_comes_true_is_the_one_of_the_teachers_notes(name: str) -> None:
    notes = (LABS / "instructor" / f"{name}.md").read_text(encoding="utf-8")
    for prediction in (a for a in EXERCISES if a.lab == name[:2] and not a.check):
        assert f"| {prediction.id} | {prediction.comes_true} |" in notes, (
            f"labs/instructor/{name}.md says something else than {prediction.comes_true!r}: mend"
            f" the notes, or `right` of {prediction.id} in kiplab/classroom/exercises.toml"
        )


def test_every_check_of_the_package_is_asked_somewhere() -> None:
    modules = {file.stem: file.read_text("utf-8") for file in CHECKS.glob("*.py")}
    checks = [
        f"{module}.{name}"
        for module, text in modules.items()
        for name in re.findall(r"^(?:def )?(check_\w+)(?: =|\()", text, re.MULTILINE)
    ]
    assert sorted(checks) == sorted(exercise.check for exercise in EXERCISES if exercise.check)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_way_without_pictures_and_a_section_on_fidelity(name: str) -> None:
    said, code = prose(name), "\n".join(cells(name, "code").values())
    assert [word for word in TEXT_ONLY if word in f"{said}{code}"]
    assert "fidelity" in cells(name, "markdown")


def test_every_explanation_is_shown_by_one_lab() -> None:
    shown = sorted(text for name in NAMES for text in explained(name).values())
    assert shown == sorted(file.read_text("utf-8") for file in EXPLANATIONS.rglob("*.md"))


@pytest.mark.parametrize("asked", [e for e in EXERCISES if not e.check], ids=lambda e: e.id)
def test_every_wrong_choice_has_the_idea_behind_it_answered(asked: Exercise) -> None:
    told = "\n".join(text.read_text("utf-8") for text in EXPLANATIONS.glob(f"{asked.id}*.md"))
    answered = re.findall(r"^\[(\w)\] \*\*If you ", told, re.MULTILINE)
    if asked.what_if is not None:
        assert all(idea.startswith("If you ") for idea in asked.what_if.ideas.values())
        answered = [asked.letter_of(WAYS[way]) for way in asked.what_if.ideas]
    wrong = [letter for letter in LETTERS[: len(asked.choices)] if letter != asked.right]
    assert sorted(answered) == wrong


@pytest.mark.parametrize("name", NAMES)
def test_what_it_holds_back_opens_with_a_question_of_its_own_that_comes_before(name: str) -> None:
    code = list(cells(name, "code").values())
    for place, source in enumerate(code):
        for id in re.findall(r'\b(?:after|explain)\(\s*"([^"]+)"', source):
            question = _asked_by(id)
            assert any(question in earlier for earlier in code[:place]), (id, source)


def _asked_by(id: str) -> str:
    """How the cell of a question has it."""
    letters = {what_if_id(letter): letter for letter in WHAT_IFS}
    return f'what_if("{letters[id]}")' if id in letters else f'("{id}"'


@pytest.mark.parametrize("name", NAMES)
def test_its_prose_fits_a_screen(name: str) -> None:
    for id, source in texts(name).items():
        assert len(source.splitlines()) <= LINES_MAX, id
        # The bars of a table and the points between words are not read.
        words = [word for word in source.split() if any(map(str.isalnum, word))]
        assert len(words) <= WORDS_MAX, id


@pytest.mark.parametrize("name", NAMES)
def test_its_last_cells_show_the_work_and_where_to_go_on(name: str) -> None:
    code = cells(name, "code")
    assert list(code)[-1] == "my-work"
    assert code["my-work"] == "kiplab.my_work()"
    last = list(cells(name, "markdown").values())[-1]
    place = NAMES.index(name)
    beside = (NAMES[place - 1] if place else None, (*NAMES, NAMES[0])[place + 1])
    missing = [other for other in beside if other and f"({other}.ipynb)" not in last]
    assert not missing, f"{name} has no link to {', '.join(missing)}"


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_labs_that_exist(name: str) -> None:
    links = re.findall(r"\]\(([^)]*\.ipynb)\)", prose(name))
    assert links
    assert [link for link in links if not (LABS / link).exists()] == []


def test_the_index_names_every_lab() -> None:
    others = {path.name for path in LABS.glob("*.ipynb")} - {"00-start.ipynb"}
    unnamed = [name for name in sorted(others) if f"({name})" not in prose("00-start")]
    assert not unnamed, f"{', '.join(unnamed)}: lab 00 has no link to it"


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_says_what_one_can_do_afterwards(name: str) -> None:
    rows = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"| `{name}` |" in rows, f"{name} has no row in the README's table of labs"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_walked_in_a_browser(name: str) -> None:
    walks = (ROOT / "tests" / "browser").glob("*.py")
    walked = any(f'"{name}' in walk.read_text(encoding="utf-8") for walk in walks)
    assert walked, f"no test in tests/browser opens {name}"


@pytest.mark.parametrize("name", NAMES)
def test_only_a_cell_named_spark_needs_java(name: str) -> None:
    code = cells(name, "code")
    on_spark = re.compile(r"\bfleet\.(schedules|run)\b")
    assert [id for id, source in code.items() if on_spark.search(source) and id != "spark"] == []

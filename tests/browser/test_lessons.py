"""Each lab in a real JupyterLab: run, predicted, stepped, answered, compared, taken home.

The tests of one lab share its page and go in the order in which a student does. What only one lab
has stands in its Walk.
"""

import json
import re
import zipfile
from collections.abc import Callable
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import ViewportSize, expect

import kiplab
from kiplab.classroom import rulings_of
from kiplab.classroom.exercise_table import WAYS
from kiplab.rows.rows_of_stage import rows_of
from tests.browser.conftest import WINDOW, Student
from tests.browser.lab_page import NAME_CELLS
from tests.browser.lesson import Lesson
from tests.browser.slow_machine import stand_still, wait_until_ran
from tests.browser.windows import (
    COLUMN_BELOW,
    DIRECTION,
    IN_SIGHT,
    LAPTOPS,
    NARROW,
    TO_THE_TOP,
    ZOOMED,
    cut_off,
    spills,
)
from tests.labs.running import PLOTLY, cells, prediction

pytestmark = pytest.mark.browser

FIGURE = ".js-plotly-plot .main-svg"
FOLDS = 6
TELLING = "This run so far, in sentences and as a table"
SIZE_MAX = 320_000
"""Bytes of a saved notebook, all that it has opened and drawn."""
NO_KERNEL = """() => !window.jupyterapp.shell.currentWidget?.context?.sessionContext
  ?.session?.kernel"""
STILL = ".kiplab-still"
DRAWN = "image => image.complete && image.naturalWidth > 400"
COMPILED_MS = 180_000
"""The first estimate on a machine compiles the kernel."""
WITHOUT_SPARK = "found = kiplab.fleet.schedules(20, spark=False)\nfound.figure()"
"""In place of the Spark cell of lab 04, which has tests of its own."""
MIDDLE_OF_ARROW = """() => {
  const picture = document.querySelector('[data-cell="lab"] .kiplab-stage .kiplab-picture');
  const [, x0, y0, x1, y1] = picture.drawing.layout.meta.marks.find(mark => mark[5] === true);
  return [(x0 + x1) / 2, (y0 + y1) / 2];
}"""
ONLY_STEPPED = (
    *("00-start", "01-isr-and-high-watermark"),
    *("02-four-epochs", "03-alter-partition"),
)
"""Labs that open with controls for stepping."""
BUTTONS_MAX, WORDS_MAX = 8, 120
"""What is shown of a Lab when it opens."""
GLANCE = """cell => {
  const head = cell.querySelector('.kiplab-head').getBoundingClientRect();
  const picture = cell.querySelector('.kiplab-picture').getBoundingClientRect();
  const bar = cell.querySelector('.kiplab-verdict');
  const shown = [...cell.querySelectorAll('.kiplab-surface button')].filter(b => b.offsetParent);
  const text = cell.querySelector('.kiplab-surface').innerText.split(/\\s+/).filter(Boolean);
  const overflow = bar.scrollHeight - bar.clientHeight;
  return [Math.round(picture.top - head.top), overflow, shown.length, text.length];
}"""
"""Where the picture begins below the head, what the bar has no room for in pixels, how many
buttons and how many words there are."""
STORIES = {
    "00-start": ("timeline-first", None),
    "04-kafka-14139": ("kafka-14139", "3.4"),
    "06-unclean-recovery": ("unclean-election-short", None),
}
"""The play and the release of labs of which every step is looked at whole."""
ACTED_ON = ("04-kafka-14139", "06-unclean-recovery")
"""Of these, labs that are opened to act on the picture."""
OUT_OF_SIGHT = """(cell, things) => {
  const scroller = cell.closest('.jp-WindowedPanel-outer, .jp-Notebook').getBoundingClientRect();
  const picture = cell.querySelector('.kiplab-stage .kiplab-picture');
  const { top } = picture.getBoundingClientRect();
  const lanes = picture.drawing.layout.meta.places.lanes
    .filter(([thing]) => things.includes(thing))
    .map(([thing, y0, y1]) => [thing, top + y0, top + y1]);
  const parts = [...cell.querySelectorAll('.kiplab-verdict, .kiplab-rules, .kiplab-was')]
    .map(part => [part.className, part.getBoundingClientRect()])
    .map(([name, { top, bottom }]) => [name, top, bottom]);
  return [...lanes, ...parts]
    .filter(([, y0, y1]) => y0 < scroller.top - 1 || y1 > scroller.bottom + 1);
}"""
"""Which of the lanes of these things, of the bar, the chips and the run before are not in sight."""
SIZES = (*LAPTOPS, ZOOMED, NARROW)
Texts = tuple[tuple[str, str], ...]
"""Cells by their ids, and what each contains."""


class Walk(NamedTuple):
    """What a student meets in one lab."""

    name: str
    why: Texts = ()
    """What opens with the prediction."""
    presses: Texts = ()
    """Buttons of the first Lab, and what its verdict contains then."""
    link: tuple[str, str, str] | None = None
    """The cell of a link, its name, and the verdict of the Lab that it leads to that step."""
    answered: Texts = ()
    """What is read when the exercises are answered."""
    windows: tuple[ViewportSize, ...] = ()
    """The sizes of window that its Lab is held against."""
    compared: Texts = ()
    """What is in these cells when the exit ticket is locked in."""
    own: tuple[Callable[[Lesson], None], ...] = ()
    """What only this lab has, after its exercises."""


@pytest.fixture(scope="module")
def name(walk: Walk) -> str:
    return walk.name


def labs_in(lesson: Lesson) -> list[str]:
    """The ids of its cells with a Lab."""
    return [id for id in ("lab", "lab-2") if id in cells(lesson.name, "code")]


def changed_things(name: str) -> list[list[str]]:
    """What changes at each step of a lab's first run, as the picture calls it."""
    play, kafka = STORIES[name]
    rows = rows_of(kiplab.run(play, kafka=kafka).stage)
    kinds = {"partition": f"partition {rows.busiest}", "records": f"records {rows.busiest}"}
    changes = [*((s.lane, s.x0) for s in rows.spans), *((m.lane, m.x) for m in rows.marks)]
    return [
        sorted({kinds.get(lane, lane) for lane, x in changes if x == step})
        for step in range(rows.meta.end)
    ]


def see(lesson: Lesson, texts: Texts) -> None:
    """Each cell contains its text."""
    for id, text in texts:
        expect(lesson.cell(id)).to_contain_text(text)


# --- what only one lab has ------------------------------------------------------------------------


def open_a_cell_of_the_matrix_by_keyboard(lesson: Lesson) -> None:
    """The map says in words what the exercise asks, so it comes after the answer."""
    matrix = lesson.cell("holes-why")
    refuted = matrix.get_by_role("button", name="in 6").first
    refuted.focus()
    lesson.page.keyboard.press("Enter")
    expect(matrix).to_contain_text("in 6 steps")
    expect(matrix.locator("img, svg").first).to_be_visible()
    lesson.photograph("holes-why", "matrix")


def lock_each_what_if(lesson: Lesson) -> None:
    """They have a test of their own: here they belong to the checkpoint."""
    for id in [id for id in cells(lesson.name, "code") if id.startswith("what-if-")]:
        lesson.lock(id, WAYS["S"])


def shut_down_a_broker_of_kraft(lesson: Lesson) -> None:
    """The second half of lab 07: predicted, stepped, compared."""
    expect(lesson.cell("lab-today")).to_contain_text("First lock in your prediction above")
    lesson.lock("today-lock", "Broker 2: it was in the ISR when broker 1 crashed.")
    lesson.press("lab-today", "Last")
    expect(lesson.verdict("lab-today")).to_contain_text("Step 6 of 6")
    lesson.cell("today-why").get_by_role("link", name="step 3", exact=True).click()
    expect(lesson.verdict("lab-today")).to_contain_text("Step 3 of 6")
    see(lesson, (("today-why", "You thought it was in"), ("today-last-why", "is not released")))
    lesson.photograph("lab-today", "kraft")


def fill_in_the_sheet(lesson: Lesson) -> None:
    """A sheet of answers is filled in and checked; the other exercise is answered."""
    see(lesson, (("shutting-down-why", "no broker leads"),))
    sheet = lesson.cell("sheet")
    expect(sheet.get_by_role("button", name="Check")).to_be_disabled()
    rulings = rulings_of(kiplab.run("alter-partition-eight").stage)
    for number, ruling in enumerate(rulings, 1):
        sheet.get_by_label(f"error of request {number}").select_option(ruling.error)
        sheet.get_by_label(f"rule of request {number}").select_option(ruling.letter)
    lesson.press("sheet", "Check")
    expect(sheet.locator(".kiplab-checked")).to_contain_text("8 of 8 points")
    lesson.photograph("sheet", "checked")
    assert cut_off(sheet.locator(".kiplab-surface")) == []


def read_the_run_up_to_step_8(lesson: Lesson) -> None:
    """In words, below the picture."""
    lesson.press("lab", TELLING)
    lesson.cell("lab").get_by_label("step", exact=True).fill("8")
    expect(lesson.verdict()).to_contain_text("Step 8 of 11")


def see_a_line_light_up_its_mark_and_a_mark_its_line(lesson: Lesson) -> None:
    """By mouse and by keyboard."""
    lines = lesson.cell("lab").locator(".kiplab-transcript [data-about]")
    changed = lines.filter(has_text="± ISR of orders-0 {1} -> {1, 2}")
    changed.hover()
    lit = lesson.cell("lab").locator(".kiplab-halo-lit")
    assert lit.count() >= 2
    expect(changed).to_have_class(re.compile("kiplab-lit"))
    picture = lesson.cell("lab").locator(".kiplab-stage .kiplab-picture")
    x, y = lesson.page.evaluate(MIDDLE_OF_ARROW)
    picture.hover(position={"x": x, "y": y})
    sent = lines.filter(has_text="AlterPartition v2 as epoch 40").first
    expect(sent).to_have_class(re.compile("kiplab-lit"))
    lesson.page.mouse.move(0, 0)
    expect(lit).to_have_count(0)
    lines.first.locator("xpath=ancestor::*[@data-told]").press("ArrowDown")
    lesson.page.keyboard.press("ArrowDown")
    expect(lines.nth(1)).to_be_focused()
    expect(lit.first).to_be_attached()
    parts = lesson.cell("lab").locator(".kiplab-places")
    for _ in range(10):
        parts.press("ArrowDown")
    expect(lines.filter(has_text="8 expire 1")).to_have_class(re.compile("kiplab-lit"))


COUNT_FLASHES = """() => {
  window.flashes = 0;
  const ended = (event) => { window.flashes += event.animationName === 'kiplab-flash'; };
  document.addEventListener('animationend', ended);
}"""


def pin_a_line_until_the_next_step(lesson: Lesson) -> None:
    """A click in the picture pins nothing; where harm begins, the strip flashes."""
    cell, page = lesson.cell("lab"), lesson.page
    lit, pops = cell.locator(".kiplab-halo-lit"), cell.locator(".kiplab-pops")
    line = cell.locator(".kiplab-transcript [data-about]").filter(has_text="8 expire 1").first
    line.click()
    page.mouse.move(0, 0)
    expect(lit.first).to_be_attached()
    lesson.press("lab", "Back")
    expect(lesson.verdict()).to_contain_text("Step 7 of 11")
    expect(lit).to_have_count(0)
    x, y = page.evaluate(MIDDLE_OF_ARROW)
    cell.locator(".kiplab-stage .kiplab-picture").click(position={"x": x, "y": y})
    expect(pops).to_be_visible()
    page.mouse.move(0, 0)
    expect(lit).to_have_count(0)
    page.keyboard.press("Escape")
    page.evaluate(COUNT_FLASHES)
    motions: tuple[Literal["no-preference", "reduce"], ...] = ("no-preference", "reduce")
    for motion in motions:
        page.emulate_media(reduced_motion=motion)
        for step in ("5", "6"):
            cell.get_by_label("step", exact=True).fill(step)
            expect(lesson.verdict()).to_contain_text(f"Step {step} of 11")
        expect(cell.locator(".kiplab-flash")).to_have_count(0)
        assert page.evaluate("window.flashes") == 1
    page.emulate_media(reduced_motion="no-preference")
    cell.get_by_label("step", exact=True).fill("8")
    expect(lesson.verdict()).to_contain_text("Step 8 of 11")


def search_what_has_happened(lesson: Lesson) -> None:
    """It counts, leads to a step, and does not know the future."""
    cell = lesson.cell("lab")
    field, count = cell.get_by_label("Search"), cell.locator(".kiplab-finder output")
    field.fill("truncates")
    expect(count).to_have_text(re.compile(r"^0 of \d+$"))
    field.fill("isr of orders-0")
    expect(count).to_have_text(re.compile(r"^2 of \d+$"))
    expect(cell.locator(".kiplab-halo-found").first).to_be_attached()
    for step, words in (("6", "1"), ("8", "2")):
        field.press("Enter")
        expect(lesson.verdict()).to_contain_text(f"Step {step} of 11")
        expect(count).to_have_text(re.compile(rf"^2 of \d+, this is number {words}$"))
    expect(field).to_be_focused()
    field.press("Escape")
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    expect(cell.locator(".kiplab-found")).to_have_count(0)
    lesson.press("lab", TELLING)


def put_the_events_in_order(lesson: Lesson) -> None:
    """The order is judged and drawn."""
    exercise = lesson.cell("order")
    lesson.press("order", "Check")
    expect(exercise).to_contain_text("0 of 2 points")
    expect(exercise.locator(FIGURE).first).to_be_visible()
    events = exercise.get_by_role("listitem")
    request = events.filter(has_text="B · 1's request arrives at the controller")
    for _ in range(4):
        request.press("ArrowDown")
    expect(request).to_be_focused()
    expires = events.filter(has_text="E · 2's session expires: the controller fences it")
    expires.drag_to(events.filter(has_text="D · "))
    expect(events).to_have_text([re.compile(f"^{letter} · ") for letter in "ACEDFBGH"])
    lesson.press("order", "Check")
    expect(exercise).to_contain_text("2 of 2 points")
    expect(exercise).to_contain_text("With KIP-903 on, the same order loses nothing.")
    lesson.photograph("order", "ordered")


QUICK = "04-kafka-14139"
"""The lab that `make test` walks through; `make test-long` walks the rest."""
WALKS = (
    Walk("00-start", windows=SIZES),
    Walk("01-isr-and-high-watermark"),
    Walk("02-four-epochs"),
    Walk("03-alter-partition", windows=SIZES, own=(fill_in_the_sheet,)),
    Walk(
        "04-kafka-14139",
        why=(
            ("why", "Nothing was refused, at any step."),
            ("compare", "loss: 100 committed records lost"),
        ),
        presses=(("First violation", "■ harm"), ("Last", "▼ loss: 100 committed records lost")),
        link=("run", "step 6", "Step 6 of"),
        answered=(
            ("order-check", "the same order loses nothing."),
            ("moments-why", "three colours"),
        ),
        windows=(LAPTOPS[1], NARROW),
        own=(
            put_the_events_in_order,
            read_the_run_up_to_step_8,
            see_a_line_light_up_its_mark_and_a_mark_its_line,
            pin_a_line_until_the_next_step,
            search_what_has_happened,
        ),
    ),
    Walk(
        "05-why-from-fetch",
        why=(("why", "and the controller accepts"),),
        presses=(("First violation", "Step 6 of"), ("Last", "▼ loss")),
        link=("why", "step 6", "Step 6 of"),
        answered=(("ask", "Proved for these bounds"), ("finer", "breaks in 13 steps")),
    ),
    Walk(
        "06-unclean-recovery",
        why=(("why", "ten records"),),
        presses=(("Last", "▼ loss"),),
        link=("why", "step 9", "Step 9 of"),
        windows=SIZES,
        answered=(
            ("requests-why", "A leader cannot go back."),
            ("businesses", "one in sync is left"),
            ("vanishing", "20 committed records lost"),
        ),
    ),
    Walk(
        "07-controlled-shutdown-bounce",
        why=(("why", "Broker 1 fetches neither."),),
        presses=(("Last", "■ harm"),),
        link=("why", "step 4", "Step 4 of"),
        answered=(
            ("late-shutdown-why", "the line at the top of this lab"),
            ("needed", "without L: nothing lost yet"),
            ("assumptions", "lists four assumptions"),
            ("real-mail", "Kafka 2.1.1"),
        ),
        own=(shut_down_a_broker_of_kraft,),
    ),
    Walk(
        "08-heartbeats",
        why=(("why", "no broker reads the leader there"),),
        presses=(("Last", "Step 15 of 15"),),
        link=("why", "step 8", "Step 8 of"),
        answered=(
            ("incarnations", "metadata-heartbeat as 900: accepted"),
            ("fates", "a broker that is cut off keeps serving clients"),
        ),
        compared=(("real-kafka", "Engine and Kafka agree: True"),),
    ),
    Walk(
        "09-could-it-still-go-wrong",
        why=(("why", "Refuted, in 14 steps"),),
        presses=(("First violation", "■ harm"),),
        own=(open_a_cell_of_the_matrix_by_keyboard,),
    ),
    Walk(
        "10-fleet",
        why=(("why", "A crash of all brokers at once"),),
        presses=(("Last", "▼ loss"),),
        own=(lock_each_what_if,),
    ),
    Walk(
        "11-what-a-search-found",
        why=(("why", "It takes it over as it is, and forgets."),),
        presses=(("First violation", "Step 9 of"), ("Last", "▼ loss")),
        link=("how", "5", "Step 5 of"),
        answered=(("ask", "breaks in 8 steps"), ("proof", "pending-outlives-metadata: proved")),
    ),
    Walk(
        "12-the-last-replica-again",
        why=(("why", "the controller waits for broker 2"),),
        presses=(("Last", "nothing lost"),),
        link=("run", "step 5", "Step 5 of"),
        answered=(("costs", "is elected uncleanly"),),
        compared=(("trap-run", "10 committed records lost"),),
    ),
    Walk(
        "13-your-own-incident",
        why=(("why", "Broker 3, as epoch 98."), ("findings", "joined the ISR at 100")),
        presses=(("Last", "▼ loss"),),
        answered=(("prevented-why", "The controller refuses the late request."),),
    ),
)
LONG = pytest.mark.long(quick="tests/browser/test_lessons.py::test_run_all_stops_nowhere")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(walk, id=walk.name, marks=() if walk.name == QUICK else LONG) for walk in WALKS
    ],
)
def walk(request: pytest.FixtureRequest) -> Walk:
    found: Walk = request.param
    return found


# --- from the first cell to the last --------------------------------------------------------------


def test_run_all_stops_nowhere(lesson: Lesson) -> None:
    """In lab 04 also if the server stands still in the middle."""
    if "spark" in cells(lesson.name, "code"):
        lesson.rewrite("spark", WITHOUT_SPARK)
        lesson.run_all()
        wait_until_ran(lesson, 2)
        stand_still(lesson, 2.5)
    else:
        lesson.run_all()
    wait = COMPILED_MS if lesson.name == "10-fleet" else None
    source = cells(lesson.name, "code")
    for id in [id for id in labs_in(lesson) if "after=" in source[id]]:
        shut = "First lock in your prediction above"
        expect(lesson.cell(id)).to_contain_text(shut, timeout=wait)
    lesson.expect_all_run()
    expect(lesson.cell("exit-compare")).to_contain_text("nothing to compare yet")


def test_a_prediction_opens_the_lab(walk: Walk, lesson: Lesson, student: Student) -> None:
    lesson.photograph("lock", "prediction")
    expect(lesson.cell("why")).to_contain_text("This opens when you lock in your prediction")
    id, choice = prediction(lesson.name)
    lesson.lock("lock", choice)
    expect(lesson.cell("lab").locator(FIGURE).first).to_be_visible()
    see(lesson, walk.why)
    kept = json.loads((student.folder / "kiplab-work.json").read_text())
    assert kept["predictions"][id] == choice
    expect(lesson.cell("compare")).to_contain_text(re.compile("As you said|Not this time"))
    expect(lesson.cell("setup")).to_contain_text("✓ Your prediction▶ Run it")
    lesson.cell("setup").get_by_role("link", name="The gap").press("Enter")
    expect(lesson.cell("gap").get_by_role("heading")).to_be_in_viewport()


def test_one_window_has_what_a_step_changes_and_nothing_moves(lesson: Lesson) -> None:
    """The picture's upper edge stays, and the bar has room for its words, at every step; what
    changes is in sight with the bar and the chips, and so is the run before a chip was pressed.
    """
    lesson.page.set_viewport_size(LAPTOPS[0])
    cell = lesson.cell("lab")
    lesson.python("pass")
    cell.locator(".kiplab-surface").evaluate(TO_THE_TOP)
    last = int(cell.get_by_label("step", exact=True).get_attribute("max") or 0)
    tops, changes = set(), changed_things(lesson.name) if lesson.name in STORIES else []
    expect(cell.locator(".kiplab-rules")).to_have_count(int(lesson.name not in ONLY_STEPPED))
    for step in range(last + 1):
        cell.get_by_label("step", exact=True).fill(str(step))
        expect(lesson.verdict()).to_contain_text(f"Step {step} of {last}")
        top, overflow, buttons, words = cell.evaluate(GLANCE)
        tops.add(top)
        assert overflow <= 0, lesson.verdict().inner_text()
        if changes:
            assert cell.evaluate(OUT_OF_SIGHT, changes[step]) == []
        if lesson.name in ONLY_STEPPED:
            expect(cell.locator(".kiplab-picture").first).to_be_in_viewport(ratio=IN_SIGHT)
            assert buttons <= BUTTONS_MAX
            assert step or words <= WORDS_MAX
    if lesson.name in ACTED_ON:
        see_the_run_before_a_switch(lesson, last)
        tops.add(cell.evaluate(GLANCE)[0])
    assert len(tops) == 1
    cell.get_by_label("step", exact=True).fill(str(last - 1))
    cell.get_by_role("button", name="Step", exact=True).dblclick()
    expect(lesson.verdict()).to_contain_text(f"Step {last} of {last}")
    expect(lesson.cell("setup")).to_contain_text("▶ The gap")
    cell.get_by_role("button", name="Now: the gap").press("Enter")
    expect(lesson.cell("gap").get_by_role("heading")).to_be_in_viewport()
    expect(lesson.cell("setup")).to_contain_text("✓ The gap")
    lesson.press("lab", "First")
    expect(lesson.verdict()).to_contain_text("Step 0 of")
    lesson.page.set_viewport_size(WINDOW)


def see_the_run_before_a_switch(lesson: Lesson, last: int) -> None:
    """Below the numbers of the axis, without scrolling, until it is hidden."""
    cell, name = lesson.cell("lab"), "KIP-704 as specified" if last > 11 else "KIP-903"
    chip = cell.get_by_role("button", name=name, exact=True)
    for pressed in ("true", "false"):
        lesson.press("lab", name)
        expect(chip).to_have_attribute("aria-pressed", pressed)
        expect(cell.locator(".kiplab-ghost")).to_contain_text("◆ First difference: step")
        assert cell.evaluate(OUT_OF_SIGHT, []) == []
        assert cell.locator(".kiplab-was").count() >= 3
    assert lesson.faults() == []
    lesson.press("lab", "Hide")
    expect(cell.locator(".kiplab-was")).to_have_count(0)


def test_the_story_is_stepped_through(walk: Walk, lesson: Lesson) -> None:
    for id in labs_in(lesson):
        lesson.all_controls(id)
    for label, verdict in walk.presses:
        lesson.press("lab", label)
        expect(lesson.verdict()).to_contain_text(verdict)
    lesson.photograph("lab", "story")
    if walk.link:
        cell, link, verdict = walk.link
        # The ideas of others are folded.
        lesson.cell(cell).locator("details").evaluate_all("all => all.forEach(f => f.open = true)")
        lesson.cell(cell).get_by_role("link", name=link, exact=True).click()
        expect(lesson.verdict()).to_contain_text(verdict)


def test_every_lab_in_it_steps_and_breaks(lesson: Lesson) -> None:
    for id in labs_in(lesson):
        lesson.cell(id).get_by_label("step", exact=True).fill("0")
        lesson.press(id, "Step")
        expect(lesson.verdict(id)).not_to_contain_text("Step 0 of")
        lesson.press(id, "Last")
        last = lesson.cell(id).get_by_label("step", exact=True).get_attribute("max")
        expect(lesson.verdict(id)).to_contain_text(f"Step {last} of {last}")
        lesson.press(id, "First")
        lesson.cell(id).locator(".kiplab-broker-1").get_by_role("button", name="Crash").click()
        expect(lesson.verdict(id)).to_contain_text("on branch 2 at step 0: crash 1")
        lesson.press(id, "Reset")


def test_it_fits_every_window(walk: Walk, lesson: Lesson) -> None:
    """One walk through the sizes, with the run told to its end."""
    lab = lesson.cell("lab")
    surface = lab.locator(".kiplab-surface")
    lesson.press("lab", "Last", TELLING)
    for window in walk.windows:
        lesson.page.set_viewport_size(window)
        lesson.python("pass")
        surface.evaluate(TO_THE_TOP)
        expect(lab.locator(".kiplab-head")).to_be_in_viewport(ratio=IN_SIGHT)
        if window in LAPTOPS:
            expect(lab.locator(FIGURE).first).to_be_in_viewport(ratio=IN_SIGHT)
        columns = lab.locator(".kiplab-columns")
        is_narrow = surface.evaluate("surface => surface.offsetWidth") < COLUMN_BELOW
        if is_narrow:
            assert columns.evaluate(DIRECTION) == "column"
        assert is_narrow or window in LAPTOPS
        assert cut_off(surface) == [], window
        assert not spills(surface), window
    lesson.page.set_viewport_size(WINDOW)
    lesson.press("lab", TELLING)


def test_the_exercises_are_answered_in_their_cells(walk: Walk, lesson: Lesson) -> None:
    lesson.answer_exercises()
    see(lesson, walk.answered)


def test_what_only_this_lab_has(walk: Walk, lesson: Lesson) -> None:
    for part in walk.own:
        part(lesson)


def test_the_exit_ticket_is_compared(walk: Walk, lesson: Lesson) -> None:
    lesson.lock_between()
    lesson.compare_exit_ticket()
    see(lesson, walk.compared)
    expect(lesson.cell("setup").get_by_role("listitem")).to_have_text([re.compile("✓")] * 7)


def test_the_work_goes_home_without_a_mouse(lesson: Lesson) -> None:
    """What was answered since its cell has run is in it."""
    link = lesson.cell("my-work").locator(".kiplab-live a[download]")
    expect(link).to_be_visible()
    link.focus()
    with lesson.page.expect_download() as found:
        lesson.page.keyboard.press("Enter")
    assert found.value.suggested_filename == "kiplab-work.zip"
    with zipfile.ZipFile(found.value.path()) as archive:
        work = json.loads(archive.read("kiplab-work.json"))
        assert f"{lesson.name}.ipynb" in archive.namelist()
    id, choice = prediction(lesson.name)
    assert work["predictions"][id] == choice
    assert all(e["best"] == e["of"] for e in work["exercises"].values())


@LONG
def test_every_output_is_photographed(lesson: Lesson) -> None:
    for id in lesson.with_output():
        if id not in labs_in(lesson):
            lesson.photograph(id, f"output-{id}")


def test_nothing_is_in_the_way_of_anybody_and_nothing_complained(lesson: Lesson) -> None:
    for id in labs_in(lesson):
        folds = lesson.cell(id).locator(".kiplab-fold")
        expect(folds).to_have_count(FOLDS)
        for fold in folds.all():
            fold.click()
        expect(lesson.cell(id).get_by_label("Token", exact=True)).to_be_visible()
    assert lesson.faults() == []
    assert lesson.outside == []
    assert lesson.complaints == []


def test_saved_it_is_small_and_without_its_kernel_no_blank(
    lesson: Lesson, student: Student
) -> None:
    lesson.save()
    file = student.folder / f"{lesson.name}.ipynb"
    assert file.stat().st_size < SIZE_MAX
    assert PLOTLY not in file.read_text(encoding="utf-8")
    lesson.stop_kernel()
    lesson.page.wait_for_function(NO_KERNEL)
    lesson.page.reload()
    lesson.page.wait_for_selector(STILL)
    lesson.page.evaluate(NAME_CELLS)
    cell = lesson.cell("lab")
    cell.scroll_into_view_if_needed()
    picture = cell.locator(f"{STILL} img")
    expect(picture).to_be_visible()
    assert picture.evaluate(DRAWN)
    expect(cell.locator(STILL)).to_contain_text("run the cell again")
    expect(cell.get_by_text("Error displaying widget")).to_be_hidden()

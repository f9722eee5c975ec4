"""`my_work()`: the table of what is done, and a button that holds the work itself."""

import base64
import io
import json
import re
import zipfile
from pathlib import Path

import nbformat
import pytest

import kiplab
from kiplab.classroom import attempts, work_on_disk
from kiplab.classroom.exercise_table import EXERCISES, WRITTEN, exercise
from kiplab.classroom.forms.overview import DOWNLOAD_MAX, Stations
from tests.classroom.answers import ANSWERS
from tests.html_outline import Outline


def downloaded() -> dict[str, bytes]:
    """What the button saves, by file name."""
    page = Outline(kiplab.my_work().html())
    assert page.is_closed
    (link,) = page.named("a")
    assert link["download"] == "kiplab-work.zip"
    kind, _, data = (link["href"] or "").partition(";base64,")
    assert kind == "data:application/zip"
    with zipfile.ZipFile(io.BytesIO(base64.b64decode(data))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_before_anything_is_done_there_is_nothing_to_download(work_file: Path) -> None:
    mine = kiplab.my_work()
    assert {so_far for _, _, so_far in mine.lines} == {"not yet"}
    assert len(mine.lines) == len(EXERCISES) + len(WRITTEN)
    assert "Nothing is kept yet" in repr(mine)
    assert "<a " not in mine.html()
    assert not work_file.exists()


def test_it_tells_done_from_tried_from_not_yet() -> None:
    work_on_disk.lock("start/slow-request", "It accepts <b>.")
    kiplab.check("epochs/fences", "BPPL")
    kiplab.check("epochs/fences", "BLPL")
    kiplab.check("isr/schedules", "ABCD")
    said = {title: so_far for _, title, so_far in kiplab.my_work().lines}
    assert said["What gives it away?"] == "✓ right, after 2 attempts"
    assert said["Which schedules commit?"].startswith("○ 5/6 after 1 attempt. Hint: Broker 3 is in")
    assert said["Twelve events"] == "not yet"
    assert said["Prediction: the slow request"] == "locked in: It accepts <b>."
    assert "It accepts &lt;b&gt;." in kiplab.my_work().html()


def test_a_lab_that_nobody_has_begun_has_one_line() -> None:
    kiplab.check("epochs/fences", "BLPL")
    shown = kiplab.my_work().rows
    asked = [entry.lab for entry in EXERCISES] + [entry.lab for entry in WRITTEN.values()]
    assert [lab for lab, _, _ in shown].count("02") == asked.count("02")
    assert [row for row in shown if row[0] == "03"] == [
        ("03", f"{asked.count('03')} questions", "not yet")
    ]
    assert {lab for lab, _, _ in shown} == set(asked)


def test_the_button_holds_the_work_file_itself(work_file: Path) -> None:
    kiplab.check("epochs/fences", "BLPL")
    assert downloaded() == {"kiplab-work.json": work_file.read_bytes()}
    assert f"It is kept in {work_file}." in repr(kiplab.my_work())


def test_notebooks_go_along_without_their_outputs(work_file: Path) -> None:
    kiplab.check("epochs/fences", "BLPL")
    cell = nbformat.v4.new_code_cell("6 * 7", execution_count=3)
    cell.outputs = [nbformat.v4.new_output("stream", text="x" * 200_000)]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), work_file.parent / "mine.ipynb")
    (work_file.parent / "broken.ipynb").write_text("{ half a notebook")
    found = downloaded()
    assert set(found) == {"kiplab-work.json", "mine.ipynb", "broken.ipynb"}
    mine = nbformat.reads(found["mine.ipynb"].decode(), as_version=4)
    nbformat.validate(mine)
    assert (mine.cells[0].source, mine.cells[0].outputs) == ("6 * 7", [])
    assert found["broken.ipynb"] == b"{ half a notebook"


def test_labs_that_nobody_has_begun_stay_behind(work_file: Path) -> None:
    kiplab.check("epochs/fences", "BLPL")  # of lab 02
    ran = nbformat.v4.new_code_cell("6 * 7", execution_count=3)
    for name, cell in (("02-answered", None), ("03-untouched", None), ("04-ran", ran)):
        cells = [cell or nbformat.v4.new_code_cell("6 * 7")]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), work_file.parent / f"{name}.ipynb")
    assert set(downloaded()) == {"kiplab-work.json", "02-answered.ipynb", "04-ran.ipynb"}


def test_what_is_too_large_stays_behind_and_is_named(work_file: Path) -> None:
    kiplab.check("epochs/fences", "BLPL")
    noise = "".join(f"{(n * 2_654_435_761) % 2**32:x}" for n in range(40_000))
    (work_file.parent / "a-large.ipynb").write_text(noise)
    (work_file.parent / "b-small.ipynb").write_text("{}")
    assert set(downloaded()) == {"kiplab-work.json", "b-small.ipynb"}
    mine = kiplab.my_work()
    assert len(mine.archive) <= DOWNLOAD_MAX
    assert "Too large to go along: a-large.ipynb." in repr(mine)


def test_a_work_file_that_is_too_large_is_not_packed_but_said(work_file: Path) -> None:
    noise = "".join(f"{(n * 2_654_435_761) % 2**32:x}" for n in range(40_000))
    work_file.write_text(json.dumps({"predictions": {"a": noise}}))
    mine = kiplab.my_work()
    assert (mine.href, mine.left_out) == ("", ("kiplab-work.json",))
    assert str(work_file) in repr(mine)


def test_earlier_work_that_could_not_be_read_is_mentioned(work_file: Path) -> None:
    work_file.write_text("{")
    kiplab.check("epochs/fences", "BLPL")
    assert "kiplab-work.json.damaged is earlier work" in repr(kiplab.my_work())


@pytest.mark.parametrize("damage", [b"{", b'{"predictions": [3]}', b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_said_before_anything_else(
    work_file: Path, damage: bytes
) -> None:
    work_file.write_bytes(damage)
    mine = kiplab.my_work()
    said = f"{work_file} cannot be read: it is damaged"
    assert repr(mine).replace("\n", " ").startswith(said)
    assert mine.html().index('role="alert"') < mine.html().index("<table>")
    assert {so_far for _, _, so_far in mine.lines} == {"cannot be read"}
    assert "It is kept in" not in repr(mine)
    assert work_file.read_bytes() == damage
    assert downloaded() == {"kiplab-work.json": damage}


def test_a_file_that_may_not_be_read_is_said_too(work_file: Path) -> None:
    """A folder is what nobody may read as a file, whoever one is."""
    work_file.mkdir()
    mine = kiplab.my_work()
    assert "cannot be read: Is a directory." in repr(mine).replace("\n", " ")
    assert "%env KIPLAB_WORK=" in mine.html()
    assert mine.href == ""


@pytest.mark.usefixtures("nowhere")
def test_what_only_this_kernel_remembers_is_said() -> None:
    kiplab.predict("start/slow-request", "Yes or no?", ["Yes.", "No."]).lock("Yes.")
    said = repr(kiplab.my_work())
    assert "locked in: Yes." in said
    assert "it is gone with this kernel" in said
    assert "Nothing is kept yet" not in said


def test_equal_work_is_an_equal_download() -> None:
    kiplab.check("epochs/fences", "BLPL")
    assert kiplab.my_work().archive == kiplab.my_work().archive


def test_it_shows_what_is_answered_after_it_was_made() -> None:
    mine = kiplab.my_work()
    kiplab.check("epochs/fences", "BLPL")
    for shown in (mine.words.value, mine._repr_mimebundle_()["text/plain"]):
        assert re.search("Three leader epochs of one leader", shown)
    kiplab.predict("epochs/slow-request").lock(exercise("epochs/slow-request").comes_true)
    assert "locked in: INVALID_UPDATE_VERSION" in mine.words.value
    assert mine.archive == kiplab.my_work().archive


def marked(strip: Stations) -> str:
    """The signs of the strip in a row, and the station that comes next."""
    return "".join(re.findall(r">([✓▶○]) <a", strip.words.value))


def test_the_stations_fill_as_one_goes_on_and_the_next_is_marked() -> None:
    strip, question = kiplab.stations("04"), kiplab.predict("kafka-14139/late-request")
    assert marked(strip) == "▶○○○○○○"
    lab = kiplab.Lab("kafka-14139", kafka="3.4", after=question)
    question.lock(question.choices.options[0])
    assert marked(strip) == "✓▶○○○○○"
    lab.seek(lab.playback.last)
    assert marked(strip) == "✓✓▶○○○○"
    assert 'aria-current="step" style="font-weight:700">▶ <a href="#The-gap"' in strip.words.value
    assert (lab.transport.step.description, lab.transport.step.leads) == ("Now: the gap", "The gap")
    lab.transport.step.click()
    assert (marked(strip), lab.playback.at) == ("✓✓✓▶○○○", lab.playback.last)
    lab.seek(0)
    assert (lab.transport.step.description, lab.transport.step.leads) == ("Step", "")
    for id in ("window", "two-by-two", "five-moments", "last-replica"):
        kiplab.check(f"kafka-14139/{id}", ANSWERS[f"kafka-14139/{id}"].right)
    assert marked(strip) == "✓✓✓✓✓▶○"
    assert repr(strip).endswith("✓ Checkpoint · ○ Make or break · ○ Exit ticket")


def test_after_a_restart_they_are_filled_by_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "passed", set())
    work_on_disk.lock("start/slow-request", exercise("start/slow-request").comes_true)
    assert marked(kiplab.stations("00")) == "✓▶○○○○○"
    kiplab.check("start/accepted", ANSWERS["start/accepted"].right)
    assert marked(kiplab.stations("00")) == "✓✓✓✓▶✓○"


def test_a_lab_that_there_is_none_of_has_no_stations() -> None:
    with pytest.raises(ValueError, match="there is no lab '4'; there are 00, 01, 02"):
        kiplab.stations("4")

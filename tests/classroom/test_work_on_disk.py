"""Attempts are on disk at once, survive a restart, other notebooks and damaged files."""

import json
import re
import sys
from multiprocessing import get_context
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom import work_on_disk
from kiplab.classroom.exercise_table import exercise

RIGHT, WRONG = "BLPL", "BPPL"


def test_an_attempt_is_on_disk_at_once_with_all_that_there_is_to_say(work_file: Path) -> None:
    kiplab.check("epochs/fences", WRONG)
    found = exercise("epochs/fences").judge(WRONG)
    said = {"hint": found.hint, "misconception": found.misconception, "at": work_on_disk.now()}
    tries = [{"answer": WRONG, "points": 3, **said}]
    kept = {"epochs/fences": {"attempts": 1, "best": 3, "of": 4, "tries": tries}}
    assert json.loads(work_file.read_text())["exercises"] == kept
    assert list(work_file.parent.iterdir()) == [work_file]


def test_attempts_are_counted_and_the_best_one_stays() -> None:
    assert "attempt 1; your best so far: 4/4" in str(kiplab.check("epochs/fences", RIGHT))
    assert "attempt 2; your best so far: 4/4" in str(kiplab.check("epochs/fences", WRONG))
    found = work_on_disk.read().exercises["epochs/fences"]
    assert found.done
    assert [t.answer for t in found.tries] == [RIGHT, WRONG]


def test_the_first_and_the_latest_attempts_are_kept_and_all_are_counted() -> None:
    kiplab.check("epochs/fences", "PPLB")
    for number in range(work_on_disk.TRIES_MAX + 4):
        kiplab.check("epochs/fences", (WRONG, "CCCC")[number % 2])
    found = work_on_disk.read().exercises["epochs/fences"]
    assert [tried.answer for tried in found.tries][:2] == ["PPLB", "CCCC"]
    most = work_on_disk.TRIES_MAX
    assert (found.attempts, len(found.tries)) == (most + 5, most)
    assert not found.done


def test_another_release_is_an_experiment_and_not_kept(work_file: Path) -> None:
    assert kiplab.check("epochs/fences", RIGHT, kafka="3.9").kept == ""
    assert not work_file.exists()


def test_an_answer_that_is_a_run_is_kept_as_its_token() -> None:
    run = kiplab.run("timeline-first")
    kiplab.check("start/accepted", run)
    (tried,) = work_on_disk.read().exercises["start/accepted"].tries
    assert kiplab.run(tried.answer).events == run.events


@pytest.mark.usefixtures("work_file")
def test_predictions_and_attempts_share_one_file() -> None:
    work_on_disk.lock("question", "yes")
    kiplab.check("epochs/fences", RIGHT)
    work_on_disk.lock("another", "no")
    assert work_on_disk.read().predictions == {"question": "yes", "another": "no"}
    assert work_on_disk.read().exercises["epochs/fences"].done


def test_a_damaged_file_is_set_aside_with_a_sentence_and_never_over_another(
    work_file: Path,
) -> None:
    damages = [b"{ half a fi", b'{"predictions": ["no", "such", "shape"]}', b"\xff\xfe\x00"]
    for damage in damages:
        work_file.write_bytes(damage)
        said = kiplab.check("epochs/fences", WRONG).kept
        assert "Your earlier work could not be read; it is kept unchanged in" in said
    assert [path.name for path in work_on_disk.damaged_files()] == [
        "kiplab-work.json.damaged",
        "kiplab-work.json.damaged-2",
        "kiplab-work.json.damaged-3",
    ]
    assert [path.read_bytes() for path in work_on_disk.damaged_files()] == damages
    assert work_on_disk.read().exercises["epochs/fences"].attempts == 1


def test_what_a_newer_kiplab_has_added_stays_in_the_file(work_file: Path) -> None:
    work_file.write_text('{"predictions": {"a": "b"}, "badges": [1, 2]}')
    kiplab.check("epochs/fences", RIGHT)
    assert json.loads(work_file.read_text())["badges"] == [1, 2]
    assert work_on_disk.read().predictions == {"a": "b"}


@pytest.mark.usefixtures("nowhere")
def test_a_folder_that_cannot_be_written_is_said_and_the_answer_judged_all_the_same() -> None:
    found = kiplab.check("epochs/fences", RIGHT)
    assert found.right
    assert "This cannot be kept in" in found.kept
    line = str(found).splitlines()[-1]
    assert re.fullmatch(r"%env KIPLAB_WORK=\S+/kiplab-work\.json", line)


def write_many(name: str, times: int) -> None:
    """One notebook's kernel."""
    for number in range(times):
        work_on_disk.lock(f"{name}/{number}", "yes")
        work_on_disk.note("shared", work_on_disk.Try(name, 1), 2)


def test_notebooks_that_write_at_the_same_time_lose_nothing(work_file: Path) -> None:
    # A fork would take this process's threads along; a fresh interpreter is what a kernel is.
    context = get_context("spawn")
    kernels = [context.Process(target=write_many, args=(f"lab {n}", 40)) for n in range(3)]
    for kernel in kernels:
        kernel.start()
    for kernel in kernels:
        kernel.join()
    assert [kernel.exitcode for kernel in kernels] == [0, 0, 0], sys.version
    assert len(work_on_disk.read().predictions) == 120
    assert work_on_disk.read().exercises["shared"].attempts == 120
    assert list(work_file.parent.iterdir()) == [work_file]

"""What a lab holds back, in a real kernel: it opens by itself, and after a restart it is open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.labs.running import SHUT, text_of

BEGIN = """
import kiplab
from kiplab.classroom import after, explain
prediction = kiplab.predict("start/slow-request", "And now?", ["yes", "no"])
"""


def run_cells(folder: Path, *sources: str) -> list[list[Any]]:
    """The outputs of each cell, as they are when the last one has run."""
    folder.mkdir(exist_ok=True)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (BEGIN, *sources)]
    )
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=60, resources=place, store_widget_state=False).execute()
    return [cell.outputs for cell in notebook.cells[1:]]


def test_an_explanation_fills_itself_in_above_as_soon_as_the_prediction_is_locked(
    tmp_path: Path,
) -> None:
    (shown, _) = run_cells(tmp_path, 'explain("start/slow-request")', 'prediction.lock("yes")')
    (output,) = shown
    assert output["data"]["text/markdown"].startswith("**If you thought the leader knows best:**")


def test_figures_texts_and_tables_fill_themselves_in_too(tmp_path: Path) -> None:
    *shown, _ = run_cells(
        tmp_path,
        'after("start/slow-request", kiplab.run("timeline-first").timeline())',
        'after("start/slow-request", kiplab.run("timeline-first").text, "and more")',
        'after("start/slow-request", kiplab.run("timeline-first").frames()["ticks"])',
        'prediction.lock("yes")',
    )
    figure, text, table = (outputs[0]["data"] for outputs in shown)
    assert "application/vnd.plotly.v1+json" in figure
    assert text["text/plain"].endswith("and more")
    assert "<table" in table["text/html"]


def test_an_exercise_opens_with_the_right_answer_or_the_third_attempt(tmp_path: Path) -> None:
    held = 'explain("epochs/fences")'
    wrong = [
        f'print(kiplab.check("epochs/fences", "{answer}"))' for answer in ("BPPL", "PPPL", "LPPL")
    ]
    assert SHUT in text_of(run_cells(tmp_path / "a", held, *wrong[:2])[0])
    assert SHUT not in text_of(run_cells(tmp_path / "a", held, wrong[2])[0])
    assert SHUT not in text_of(
        run_cells(tmp_path / "b", held, 'kiplab.check("epochs/fences", "BLPL")')[0]
    )


def test_it_counts_the_attempts_as_they_are_made(tmp_path: Path) -> None:
    held, wrong = 'explain("epochs/fences")', 'kiplab.check("epochs/fences", "BPPL")'
    assert text_of(run_cells(tmp_path, held, wrong)[0]).endswith("So far: 1.")


def test_after_a_restart_it_is_open_at_once(tmp_path: Path) -> None:
    work = {"predictions": {"start/slow-request": "yes"}}
    (tmp_path / "kiplab-work.json").write_text(json.dumps(work))
    (shown,) = run_cells(tmp_path, 'explain("start/slow-request")')
    assert SHUT not in text_of(shown)


def test_a_panel_that_displays_itself_asks_for_its_cell_to_be_run(tmp_path: Path) -> None:
    panel = 'after("start/slow-request", lambda: kiplab.Lab("timeline-first"))'
    before, _, again = run_cells(tmp_path, panel, 'prediction.lock("yes")', panel)
    assert text_of(before) == "This is open now: run this cell."
    assert "at step 0 of" in text_of(again)

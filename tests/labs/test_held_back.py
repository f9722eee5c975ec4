"""What a lab holds back, in a real kernel: it opens by itself, and after a restart it is open.

That it is open after a restart is seen in every lab, whose predictions are kept before it runs.
"""

from pathlib import Path
from typing import Any

import nbformat

from tests.labs.running import PLOTLY, SHUT, client_in, executed, text_of

BEGIN = """
import kiplab
from kiplab.classroom import after
prediction = kiplab.predict("start/slow-request", "And now?", ["yes", "no"])
"""
PANEL = 'after("start/slow-request", lambda: kiplab.Lab("timeline-first"))'


def run_cells(folder: Path, *sources: str) -> tuple[list[list[Any]], list[list[Any]]]:
    """The outputs of each cell, as they were when it had run, and when the last one had."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(source) for source in (BEGIN, *sources)]
    )
    _, *at_once = executed(client_in(folder), notebook)
    return at_once, [cell.outputs for cell in notebook.cells[1:]]


def test_what_waits_for_a_prediction_fills_itself_in_above_as_soon_as_that_is_locked(
    tmp_path: Path,
) -> None:
    at_once, finally_ = run_cells(
        tmp_path,
        'kiplab.explain("start/slow-request")',
        'after("start/slow-request", kiplab.run("timeline-first").timeline())',
        'after("start/slow-request", kiplab.run("timeline-first").text, "and more")',
        'after("start/slow-request", kiplab.run("timeline-first").frames()["ticks"])',
        PANEL,
        'prediction.lock("yes")',
        PANEL,
    )
    assert [SHUT in text_of(outputs) for outputs in at_once[:5]] == [True] * 5
    prose, figure, text, table = (outputs[0]["data"] for outputs in finally_[:4])
    assert prose["text/markdown"].startswith(
        "**The partition has changed since the request was sent.**"
    )
    assert PLOTLY in figure
    assert text["text/plain"].endswith("and more")
    assert "<table" in table["text/html"]
    panel, kept = (outputs["data"] for outputs in finally_[4])
    assert "at step 0 of" in panel["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in panel
    assert "kiplab-still" in kept["text/html"]
    assert "at step 0 of" in text_of(at_once[6])


def test_an_exercise_opens_with_the_third_attempt_or_the_right_answer(tmp_path: Path) -> None:
    waits, told = 'kiplab.explain("epochs/fences")', 'kiplab.explain("epochs/reigns")'
    wrong = [f'kiplab.check("epochs/fences", "{answer}")' for answer in ("BPPL", "PPPL", "LPPL")]
    right = 'kiplab.check("epochs/reigns", "crash 3; expire 3; crash 2; expire 2")'
    at_once, finally_ = run_cells(
        tmp_path, waits, wrong[0], waits, wrong[1], waits, wrong[2], waits, told, right
    )
    before = [text_of(at_once[cell]) for cell in (0, 2, 4)]
    assert [SHUT in text for text in before] == [True] * 3
    assert [text.split()[-1] for text in before[1:]] == ["1.", "2."]
    assert SHUT not in text_of(at_once[6])
    assert SHUT in text_of(at_once[7])
    assert [SHUT in text_of(finally_[cell]) for cell in (0, 2, 4, 6, 7)] == [False] * 5

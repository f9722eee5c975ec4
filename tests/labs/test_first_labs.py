"""Labs 00, 01 and 02 from their first cell to their last, each in a kernel of its own.

That they are small, bare and follow the pattern is `test_hygiene`'s to say.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import kiplab
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import format_play

ROOT = Path(__file__).resolve().parents[2]
LABS = ROOT / "labs"
SECONDS = 120
PREDICTIONS = {
    "00-start": ("start/slow-request", "It refuses: broker 1 does not lead any more."),
    "01-isr-and-high-watermark": (
        "isr/stale-member",
        "M1 is thrown away, and Kafka broke no promise: it was never committed.",
    ),
    "02-four-epochs": (
        "epochs/slow-request",
        "INVALID_UPDATE_VERSION: only the partition epoch has moved.",
    ),
}
TICKETS = {
    "00-start": ("start/exit-ticket", "It is refused: broker 3 is fenced.", "INELIGIBLE_REPLICA"),
    "01-isr-and-high-watermark": (
        "isr/exit-ticket",
        "No: the whole ISR was one disk.",
        "100 committed records lost",
    ),
    "02-four-epochs": (
        "epochs/exit-ticket",
        "FENCED_LEADER_EPOCH: the version is 3.5.",
        "FENCED_LEADER_EPOCH",
    ),
}
NAMES = tuple(PREDICTIONS)
Outputs = dict[str, list[Any]]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels find this checkout; predictions are kept beside the notebook."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("KIPLAB_WORK", raising=False)


def run_all(name: str, folder: Path) -> Outputs:
    """The outputs of each code cell, by the cell's id. Fails at the first cell that raises."""
    notebook = nbformat.read(LABS / f"{name}.ipynb", as_version=4)
    place = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, resources=place, store_widget_state=False).execute()
    return {cell.id: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def text_of(outputs: list[Any]) -> str:
    """Everything a cell shows as plain text."""
    return "\n".join(o.get("text") or o["data"].get("text/plain", "") for o in outputs)


def markdown(name: str) -> str:
    """The prose of a lab."""
    notebook = nbformat.read(LABS / f"{name}.ipynb", as_version=4)
    return "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")


@pytest.mark.parametrize("name", NAMES)
def test_before_the_prediction_the_lab_waits_and_nothing_fails(name: str, tmp_path: Path) -> None:
    shown = run_all(name, tmp_path)
    assert "not made yet" in text_of(shown["lock"])
    assert "First lock in your prediction" in text_of(shown["lab"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", NAMES)
def test_after_the_prediction_the_lab_is_open(name: str, tmp_path: Path) -> None:
    (id, said), (ticket, answer, found) = PREDICTIONS[name], TICKETS[name]
    work = {"predictions": {id: said, ticket: answer}}
    (tmp_path / "kiplab-work.json").write_text(json.dumps(work))
    shown = run_all(name, tmp_path)
    assert said in text_of(shown["lock"])
    assert "at step 0 of" in text_of(shown["lab"])
    assert said in text_of(shown["compare"])
    assert found in text_of(shown["exit-compare"])


@pytest.mark.parametrize("name", NAMES)
def test_what_the_exercises_begin_with_is_wrong_and_gets_a_hint(name: str, tmp_path: Path) -> None:
    cells = {
        "00-start": ("answers",),
        "01-isr-and-high-watermark": ("acknowledged", "marks", "schedules"),
        "02-four-epochs": ("twelve", "fences"),
    }
    shown = run_all(name, tmp_path)
    for cell in cells[name]:
        points, of = re.findall(r"^(\d+)/(\d+)", text_of(shown[cell]))[0]
        assert int(points) < int(of)
        assert "Hint: " in text_of(shown[cell])


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_labs_that_exist(name: str) -> None:
    links = re.findall(r"\]\(([^)]*\.ipynb)\)", markdown(name))
    assert links
    assert [link for link in links if not (LABS / link).exists()] == []


def test_the_index_names_every_lab() -> None:
    others = {path.name for path in LABS.glob("*.ipynb")} - {"00-start.ipynb"}
    assert {name for name in others if f"({name})" not in markdown("00-start")} == set()


def test_lab_00_broker_3_could_have_been_elected_with_an_empty_log() -> None:
    """What its text says of the upper run: had 1 and 2 died between 8 and 10."""
    before, unfenced, _ = format_play(load("timeline-first")).partition("unfence   3\n")
    deaths = "crash 1\ncrash 2\nexpire 1\nexpire 2\n"
    off = ("497.leader-epoch", "497.partition-epoch", "841")
    run = kiplab.run(parse(f"{before}{unfenced}{deaths}"), off=off)
    assert run.partitions[0]["leader"] == 3
    assert run.sentence == "100 committed records lost"


def test_lab_00_broker_1_leads_until_step_11() -> None:
    spans = kiplab.run("timeline-first").rows().spans
    led = [(s.x0, s.x1) for s in spans if s.lane == "broker 1" and s.value == "leader"]
    assert led == [(0, 11)]


def test_lab_01_broker_3_is_elected_cleanly_and_broker_1_cuts_its_log_back() -> None:
    story = kiplab.run("isr-stale-member").text()
    assert "broker 3 leads orders-0" in story
    assert "broker 1 truncates offsets 100-109 of orders-0" in story

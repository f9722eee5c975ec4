"""What is said before a long search and during it, without anybody having asked for it."""

import re
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import kiplab
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.matrix.alternatives import alternatives
from kiplab.explore.search import explore_play, limits
from kiplab.explore.search.size_prediction import rule_of_thumb
from kiplab.explore.search_terms import Progress
from kiplab.matrices import matrix
from tests.explore.bounds import FAR, Bounds


@pytest.fixture
def _without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_play, "find_spec", lambda _name: None)


# --- before ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("_without_numba")
def test_bounds_out_of_reach_are_said_in_python_too(capsys: pytest.CaptureFixture[str]) -> None:
    found = kiplab.explore("isr-two-of-three", states=100, **FAR)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"kiplab: {found.predicted}\n")
    assert "give or take a factor of three" in found.predicted
    assert found.predicted.endswith("it stops there without an answer")
    told: list[str] = []
    kiplab.explore("isr-two-of-three", states=100, say=told.append, **FAR)
    assert told[0] == found.predicted
    assert capsys.readouterr().err == ""


def test_a_search_of_seconds_is_not_announced(capsys: pytest.CaptureFixture[str]) -> None:
    kiplab.explore("kafka-14139", writes=0)
    matrix("kafka-14139", guards="903", writes=0, processes=1)
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("_without_numba")
def test_a_matrix_says_how_many_cells_and_how_long_each(capsys: pytest.CaptureFixture[str]) -> None:
    stop: dict[str, Any] = {"cancel": lambda: True, "processes": 2}
    kiplab.matrix("isr-two-of-three", guards="903", **FAR, **stop)
    said = capsys.readouterr().err
    assert said.startswith("kiplab: 2 cells, 2 at a time; where nothing breaks, for each: about ")
    assert "it stops there without an answer" in said
    told: list[str] = []
    matrix("isr-two-of-three", guards="903", say=told.append, **FAR, **stop)
    assert [f"kiplab: {sentence}\n" for sentence in told] == [said]


@pytest.mark.usefixtures("_without_numba")
def test_the_alternatives_say_it_too() -> None:
    sentences: list[str] = []
    options: dict[str, Any] = {"say": sentences.append, "processes": 1, "seconds": 0}
    alternatives("isr-two-of-three", **options, **FAR)
    assert len(sentences) == 1
    assert sentences[0].startswith("4 rows, 1 at a time; where nothing breaks, for each: about ")


# --- level "cluster" ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("play", "bounds", "states"),
    [
        ("kafka-14139", {"writes": 2, "crashes": 0}, 735),
        ("kafka-14139", {"writes": 1, "crashes": 0, "lags": 1}, 1_054),
        ("kafka-14139", {"writes": 0, "crashes": 1}, 12_809),
        ("isr-two-of-three", {"crashes": 0}, 12_271),
    ],
    ids=str,
)
def test_a_prediction_at_level_cluster_is_within_a_factor_of_ten(
    play: str, bounds: Bounds, states: int
) -> None:
    """`states` is what whole searches have counted; they take up to a minute."""
    found = kiplab.explore(play, level="cluster", cancel=lambda: True, **bounds)
    assert "give or take a factor of ten" in found.predicted
    number = re.match(r"about ([\d,]+) states", found.predicted)
    assert number is not None
    assert states / 10 < int(number[1].replace(",", "")) < states * 10


def test_a_crash_between_three_brokers_is_known_to_be_out_of_reach() -> None:
    found = kiplab.explore("isr-two-of-three", level="cluster", crashes=1, cancel=lambda: True)
    assert " h and " in found.predicted
    assert found.predicted.endswith(
        "beyond the limits: unless something breaks, it stops there without an answer"
    )


def test_the_default_bounds_of_the_partition_level_end_in_seconds() -> None:
    level = level_named("partition")
    assert rule_of_thumb(level, level.with_defaults({})) / level.pace.states_per_s < 10


def test_the_default_bounds_of_the_cluster_level_find_the_hole_or_say_how_long_it_takes() -> None:
    found = kiplab.explore("kafka-14139", kafka="3.4", level="cluster")
    assert (found.verdict, found.steps) == ("refuted", 10)
    assert "give or take a factor of ten" in found.predicted
    assert found.play is not None
    assert kiplab.run(found.play).report()["expectations"]["failed"] == 0


# --- during ---------------------------------------------------------------------------------------


def test_outside_a_notebook_nothing_is_shown() -> None:
    assert not limits.in_notebook()
    assert (limits.Line().of_search(), limits.of_cells()) == (None, None)


def test_a_notebook_is_told_in_lines_that_it_need_not_break(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "in_notebook", lambda: True)
    sentence = "about 3,000,000 states, at this level, where every message is a step of its own; "
    limits.say(sentence * 3)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 78
    assert said.split() == ["kiplab:", *(sentence * 3).split()]


def outputs(*cells: str) -> list[list[Any]]:
    """What a notebook of these cells shows, cell by cell."""
    made = [nbformat.v4.new_code_cell(cell) for cell in cells]
    notebook = nbformat.v4.new_notebook(cells=made)
    NotebookClient(notebook, timeout=180, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def test_a_line_in_a_notebook_says_how_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "in_notebook", lambda: True)
    put: list[str] = []
    line = limits.Line()
    monkeypatch.setattr(line, "put", put.append)
    tell = line.of_search()
    assert tell is not None
    tell(Progress(states=5_000, transitions=9, depth=7, frontier=40, seconds=1.0, rate=9.0))
    assert put == [
        "5,000 states, 40 to check, 7 steps deep, 9 transitions/s;"
        " interrupt the kernel to stop and keep this"
    ]


def test_a_notebook_shows_one_line_and_its_interrupt_keeps_the_numbers() -> None:
    before, searched, interrupted, cells = outputs(
        "import signal, kiplab; from kiplab.explore.search import limits; limits.TELL_EVERY_S = 0",
        "kiplab.explore('kafka-14139', kafka='3.5', writes=0).verdict",
        "stop = lambda: signal.raise_signal(signal.SIGINT)\n"
        "kiplab.explore('isr-two-of-three', cancel=stop, progress=lambda now: None).verdict",
        "kiplab.matrix('kafka-14139', guards='903', writes=0, processes=1).minimal",
    )
    assert before == []
    line, result = searched
    assert re.fullmatch(r"\d+ states in [\d.]+ s", line.data["text/plain"])
    assert result.data["text/plain"] == "'proved'"
    assert [out.data["text/plain"] for out in interrupted] == ["'unfinished'"]
    assert [out.data["text/plain"] for out in cells] == ["2 of 2 cells", "[['903']]"]

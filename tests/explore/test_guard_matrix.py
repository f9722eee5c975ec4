"""The guard matrix: every subset searched, minimal sets and redundant guards, and bad input."""

import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kiplab
from kiplab.cli.command import main
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.matrix.alternatives import Alternatives, alternatives
from kiplab.explore.matrix.cells import Cell, Matrix
from kiplab.explore.matrix.guard_matrix import DEFAULT_GUARDS, PENDING
from kiplab.explore.matrix.processes import answers
from kiplab.explore.search.explore_play import explore, explore_play
from kiplab.explore.search.question import Question, question_about, situation
from kiplab.explore.search_terms import PROVED, REFUTED, UNFINISHED
from kiplab.matrices import matrix
from kiplab.plays.library import load
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import UnknownFeatureError, parse_features, switched
from tests.conftest import Command
from tests.explore.bounds import RACE

PAIR = ("841", "903")


@pytest.fixture(scope="module")
def whole() -> Matrix:
    """All 64 cells between two brokers."""
    return matrix("kafka-14139", writes=1, crashes=1, processes=1)


@pytest.fixture(scope="module")
def two() -> Matrix:
    return matrix("isr-two-of-three", guards=PAIR, processes=1)


# --- what it says ---------------------------------------------------------------------------------


def test_every_subset_has_its_cell(whole: Matrix) -> None:
    assert whole.guards == DEFAULT_GUARDS
    assert len(whole.cells) == 64 == len({frozenset(cell.off) for cell in whole.cells})
    assert whole.cells[0].off == ()
    for cell in whole.cells:
        assert {*cell.off, *cell.on} == set(DEFAULT_GUARDS)
        assert (cell.play is None) == (cell.verdict == PROVED)
        assert (cell.steps is None) == (cell.verdict == PROVED)


def test_each_cell_is_the_explorers_own_answer(whole: Matrix) -> None:
    for off in [(), ("841",), ("903", "497.maximal-isr"), ("kafka-7128.epoch-start",)]:
        cell = whole.cell(*off)
        found = explore("kafka-14139", kafka="3.5", off=off, on=PENDING)
        assert (cell.verdict, cell.steps, cell.states) == (found.verdict, found.steps, found.states)
        assert cell.play == found.play


def test_counterexamples_replay(whole: Matrix) -> None:
    for cell in whole.cells:
        if cell.play is not None:
            assert kiplab.run(cell.play).report()["expectations"]["failed"] == 0


def test_the_minimal_set_and_what_is_never_needed(whole: Matrix) -> None:
    assert whole.minimal == [["841", "903", "497.maximal-isr", "631.one-live-incarnation"]]
    assert whole.redundant == ["497.partition-epoch", "kafka-7128.epoch-start"]
    assert "4 of 64 sets of guards are proved to suffice, 60 are refuted" in whole.sentence
    assert "1 record written, 1 crash that loses a disk" in whole.sentence
    assert "every proper subset of them fails" in whole.sentence


def test_more_guards_never_did_harm_here(whole: Matrix) -> None:
    """Looked at cell by cell: nothing was inferred."""
    assert whole.surprises == []


def test_the_hole_that_each_kip_closes(two: Matrix) -> None:
    assert two.cell().verdict == PROVED
    for kip in PAIR:
        cell = two.cell(kip)
        assert (cell.word, cell.steps) == ("harm", 10)
        assert cell.violated == "electable-holds-committed"
    assert two.minimal == [["841", "903"]]
    assert two.redundant == []


def test_as_built_no_set_is_enough() -> None:
    """Late metadata undoes a pending proposal: the matrix says which base it has."""
    built = matrix("isr-two-of-three", guards=PAIR, as_specified=False, processes=1)
    assert {cell.verdict for cell in built.cells} == {REFUTED}
    assert (built.minimal, built.redundant) == ([], [])
    assert built.cell().steps == 14
    assert "as built" in built.base_sentence
    assert "No set of these guards was proved to suffice" in built.sentence
    assert not built.as_specified
    by_hand = matrix("isr-two-of-three", guards="841", off=PENDING, processes=1)
    assert {cell.verdict for cell in by_hand.cells} == {REFUTED}


def test_as_specified_is_said_and_is_the_default(two: Matrix) -> None:
    assert two.as_specified
    assert PENDING in two.base
    assert "as specified" in two.base_sentence
    # A base that has the guards needs no word about it.
    assert two.cell().features == two.base
    assert "on the wire" not in two.base_sentence


def test_guards_are_on_even_if_the_release_lacks_them() -> None:
    old = matrix("kafka-14139", guards="903", kafka="3.4", processes=1, **RACE)
    assert [cell.verdict for cell in old.cells] == [PROVED, REFUTED]


@pytest.mark.parametrize(
    ("kafka", "switched"),
    [
        ("3.5/3.4-IV0", {}),
        ("3.5/3.3-IV3", {}),
        ("3.3/3.2-IV0", {}),
        ("3.2", {"on": "841.leader-skips-fenced"}),
        ("3.5", {"off": "841.fenced"}),
        ("3.5", {"off": ("903.fetch-epoch", "841.leader-skips-fenced")}),
    ],
    ids=str,
)
def test_a_guard_is_on_as_a_whole_where_the_base_has_a_part_of_it(
    kafka: str, switched: dict[str, Any]
) -> None:
    """Metadata version 3.4-IV0 has all of KIP-903 but the epoch in Fetch, which takes version 15:
    the guard brings it along, and the matrix says so."""
    found = matrix("kafka-14139", PAIR, kafka=kafka, processes=1, **switched, **RACE)
    assert [cell.verdict for cell in found.cells] == [PROVED, REFUTED, REFUTED, REFUTED]
    assert found.minimal == [["841", "903"]]
    assert "on as a whole, with what they need on the wire" in found.base_sentence
    assert found.cell().features in found.base_sentence


def test_a_guard_is_on_as_a_whole_on_every_broker(tmp_path: Path) -> None:
    """The controller has all of KIP-841, and the leader is not upgraded yet."""
    rolling = tmp_path / "rolling.play"
    rolling.write_text(
        "kafka 3.5\nmetadata 3.2-IV0\nbroker 1 epoch=101 kafka=3.2\nbroker 2 epoch=102\n"
        "topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5\n"
    )
    found = matrix(rolling, "841", kafka=None, on="903", processes=1, **RACE)
    assert [cell.verdict for cell in found.cells] == [PROVED, REFUTED]
    assert "+841" in found.cell().features


# --- what cells say together ----------------------------------------------------------------------


def judged(guards: str, **by_off: str) -> Matrix:
    """``judged("ab", none=..., a=..., ab=...)``: verdicts by the letters of what is off."""
    words = {"p": PROVED, "r": REFUTED, "u": UNFINISHED}
    cells = tuple(
        Cell(tuple(off.replace("none", "")), (), words[v], None, None, 0, 0.0, None, "")
        for off, v in by_off.items()
    )
    return Matrix("", tuple(guards), "", True, "partition", {}, (), cells, 0.0)


@pytest.mark.parametrize(
    ("found", "minimal", "perhaps", "redundant", "surprises"),
    [
        (judged("ab", none="p", a="p", b="p", ab="r"), [["a"], ["b"]], [], [], []),
        (judged("ab", none="p", a="p", b="p", ab="p"), [[]], [], ["a", "b"], []),
        (judged("ab", none="p", a="u", b="r", ab="r"), [], [["a", "b"]], [], []),
        (
            judged("ab", none="r", a="p", b="r", ab="p"),
            [[]],
            [],
            ["a", "b"],
            [([], "a"), (["b"], "a")],
        ),
    ],
    ids=["two minimal sets", "nothing is needed", "not finished", "a guard that does harm"],
)
def test_what_cells_say_together(
    found: Matrix,
    minimal: list[list[str]],
    perhaps: list[list[str]],
    redundant: list[str],
    surprises: list[tuple[list[str], str]],
) -> None:
    assert (found.minimal, found.perhaps_minimal) == (minimal, perhaps)
    assert (found.redundant, found.surprises) == (redundant, surprises)


@pytest.mark.parametrize(
    "said",
    [dict(zip(("none", "a"), pair, strict=True)) for pair in product("pru", repeat=2)],
    ids=str,
)
def test_redundant_means_never_needed(said: dict[str, str]) -> None:
    redundant = judged("a", **said).redundant == ["a"]
    assert redundant == (
        said in ({"none": "p", "a": "p"}, {"none": "r", "a": "p"}, {"none": "u", "a": "p"})
    )


# --- how it is worked out -------------------------------------------------------------------------


def test_processes_change_nothing() -> None:
    one, two = (
        [replace(cell, seconds=0) for cell in matrix("kafka-14139", PAIR, processes=n).cells]
        for n in (1, 2)
    )
    assert one == two


def test_a_script_without_a_main_guard_may_ask(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import kiplab\n"
        "print(kiplab.matrix('kafka-14139', guards=('841', '903'), processes=2,"
        " writes=0).minimal)\n"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[['841', '903']]\n", "")


def test_progress_is_told_cell_by_cell() -> None:
    told: list[tuple[int, int]] = []
    matrix("kafka-14139", PAIR, processes=1, progress=lambda *now: told.append(now), **RACE)
    assert told[-1] == (4, 4)
    assert told == sorted(told)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_cancelled_matrix_says_what_is_left(processes: int) -> None:
    found = matrix("isr-two-of-three", processes=processes, cancel=lambda: True)
    assert {cell.verdict for cell in found.cells} == {UNFINISHED}
    assert found.cells[0].stopped == "it was cancelled"
    assert "64 were not finished" in found.sentence
    assert found.minimal == []


def test_limits_leave_cells_unfinished() -> None:
    found = matrix("isr-two-of-three", guards=PAIR, states=300, processes=1)
    assert {cell.verdict for cell in found.cells} == {UNFINISHED}
    assert "300 states" in found.cells[0].stopped


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX")
def test_a_process_that_is_killed_costs_its_cell_only(monkeypatch: pytest.MonkeyPatch) -> None:
    from kiplab.explore.matrix import processes

    said = processes._said
    killed: list[int] = []

    def struck(worker: Any, payload: bytes) -> bytes:
        if not killed:
            killed.append(worker.pid)
            worker.kill()
        return said(worker, payload)

    monkeypatch.setattr(processes, "_said", struck)
    within = {"writes": 0, "crashes": 1, "fences": 0}
    question = Question(play=load("kafka-14139"), features=parse_features("3.4"), bounds=within)
    found = answers([question] * 4, processes=2)
    assert [one is None for one in found].count(True) == 1
    assert {one.steps for one in found if one is not None} == {6}


def test_a_cell_is_what_a_search_of_its_own_finds() -> None:
    """Whatever the cells before it have left in memory, and in whatever order they came."""
    play, features = situation("kafka-14139", "3.4", on=PENDING)
    base = question_about(play, features, bounds={"writes": 1})
    rules = [switched(features, guard, on) for guard in ("841", "903") for on in (False, True)]
    questions = [replace(base, features=r) for r in (*rules, *reversed(rules))]
    together, alone = answers(questions, processes=1), [explore_play(q) for q in questions]
    timeless = [[replace(one, seconds=0) for one in found if one] for found in (together, alone)]
    assert timeless[0] == timeless[1]
    assert {one.verdict for one in alone} == {PROVED, REFUTED}


# --- the alternatives -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rejected() -> Alternatives:
    return alternatives("kafka-14139", processes=1, **RACE)


def test_what_kip_903_rejected(rejected: Alternatives) -> None:
    assert [(row.name, row.verdict) for row in rejected.rows] == [
        ("nothing", REFUTED),
        ("KIP-903", PROVED),
        ("903.bump-leader-epochs", PROVED),
        ("903.epoch-from-metadata", REFUTED),
    ]


def test_what_it_costs_where_it_holds(rejected: Alternatives) -> None:
    cost = {row.name: (row.cost.refused_fetches, row.cost.leader_epochs) for row in rejected.rows}
    assert cost["KIP-903"] == (0, 0)
    assert cost["903.bump-leader-epochs"] == (1, 1)
    said = " ".join(rejected.sentences)
    assert "903.bump-leader-epochs: it holds, and costs 1 leader epoch and 1 refused fetch" in said
    assert "903.epoch-from-metadata: electable-holds-committed breaks in 6 steps" in said
    assert "1 crash that loses a disk" in said
    assert list(rejected.table()["verdict"]) == [
        r["verdict"] for r in rejected.report()["alternatives"]
    ]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"guards": ("banana",)}, UnknownFeatureError, "guards begin with one of"),
        ({"guards": ("841", "841.fenced")}, ExploreError, "name it once"),
        ({"guards": ()}, ExploreError, "expected 1 to 6 of"),
        ({"guards": (*DEFAULT_GUARDS, "704")}, ExploreError, "128 cells"),
        ({"level": "galaxy"}, ExploreError, "the levels are"),
        ({"kafka": "0.8"}, UnknownFeatureError, "the releases are"),
        ({"play": "nowhere"}, PlayError, "expected one of"),
    ],
    ids=str,
)
def test_what_does_not_exist_is_refused_with_what_does(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error) as problem:
        matrix(**options)
    assert said in str(problem.value)


def test_a_cell_of_a_guard_that_was_not_chosen(two: Matrix) -> None:
    assert two.cell("kip-903") == two.cell("903")
    with pytest.raises(ExploreError, match="the matrix is about 841 and 903"):
        two.cell("704")


# --- the command ----------------------------------------------------------------------------------


def test_the_command_prints_the_contract_as_json(command: Command) -> None:
    words = ["matrix", "kafka-14139", "--guards", "841,903", "--bound", "writes=0", "--json"]
    code, out, err = command(*words)
    found = json.loads(out)
    assert code == 0
    assert list(found)[:3] == ["cells", "minimal", "redundant"]
    assert [list(cell)[:5] for cell in found["cells"]] == [
        ["off", "verdict", "steps", "states", "play"]
    ] * 4
    assert found["minimal"] == [["841", "903"]]
    assert "4 of 4 cells" in err


@pytest.mark.parametrize("suffix", [".html", ".json", ".csv", ".txt"])
def test_the_command_writes_files(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"matrix{suffix}"
    words = ["matrix", "kafka-14139", "--guards", "903", "--bound", "writes=0", "-o", str(out)]
    assert main(words) == 0
    assert "electable-holds-committed" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--guards", "841,banana"], 2, "guards begin with one of"),
        (["--guards", ","], 2, "expected 1 to 6 of"),
        (["--bound", "writes"], 2, "expected NAME=N"),
        (["-o", "matrix.doc"], 2, "it can end in .html"),
        (["--guards", "903", "--seconds", "0"], 4, "2 of 2 cells"),
    ],
)
def test_exit_codes(words: list[str], code: int, said: str, command: Command) -> None:
    done, _, err = command("matrix", "kafka-14139", *words)
    assert done == code
    assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "nowhere/m.html"], "nowhere/m.html cannot be written: there is no folder nowhere"),
        (["-o", "taken.txt"], "taken.txt cannot be written: it is a folder"),
        (["-o", "m.txt", "--theme", "pink"], "the themes are light, dark"),
        (["-o", "m.html", "--theme", "red"], "the themes are light, dark"),
        (["--theme", "pink"], "the themes are light, dark"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_searches(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken.txt").mkdir()
    code, out, err = command("matrix", "kafka-14139", "--bound", "writes=0", *words)
    assert (code, out) == (2, "")
    assert said in err
    assert "cells" not in err

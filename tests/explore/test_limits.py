"""What ends a search from outside: limits that can be meant, memory in all, an interrupt."""

import signal
import sys
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kiplab
from kiplab.cli import common_options, search_commands
from kiplab.cli.command import main
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.matrix.alternatives import alternatives
from kiplab.explore.matrix.processes import LEAST_MB, processes_and_memory
from kiplab.explore.search import limits
from kiplab.explore.search.explore_play import explore
from kiplab.explore.search.limits import Limits, ceiling_mb, interruptible
from kiplab.explore.search_terms import UNFINISHED, Progress
from kiplab.matrices import matrix

NONSENSE = [
    ({"seconds": -1}, "seconds is -1"),
    ({"seconds": float("nan")}, "seconds is nan"),
    ({"seconds": float("inf")}, "None for no limit"),
    ({"seconds": "5"}, "seconds is '5'"),
    ({"seconds": True}, "seconds is True"),
    ({"states": -1}, "states is -1"),
    ({"states": 2.5}, "states is 2.5"),
    ({"memory_mb": 0}, "memory limit is 0"),
    ({"memory_mb": -5}, "expected a whole number of MB"),
    ({"memory_mb": "2 GB"}, "memory limit is '2 GB'"),
]
DIGITS = "9" * 5_000


def interrupt() -> bool:
    """What Ctrl-C and a notebook's button do to this process."""
    signal.raise_signal(signal.SIGINT)
    return False


def interrupted_at(look: int) -> Callable[[], bool]:
    """A `cancel` that is interrupted when it is asked for that time."""
    looks = count(1)
    return lambda: next(looks) == look and interrupt()


# --- limits ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "said"), NONSENSE, ids=str)
def test_limits_that_cannot_be_meant_are_refused(given: dict[str, Any], said: str) -> None:
    for ask in (explore, matrix):
        with pytest.raises(ExploreError, match=r"^[^\n]*$") as problem:
            ask("kafka-14139", writes=0, **given)
        assert said in str(problem.value)


def test_nothing_at_all_is_a_limit_that_can_be_meant() -> None:
    found = explore("kafka-14139", seconds=0, states=0)
    assert found.verdict == UNFINISHED


@pytest.mark.parametrize("processes", [0, -1, 1.5, "2"])
def test_a_number_of_processes_that_cannot_be(processes: Any) -> None:
    for ask in (matrix, alternatives):
        with pytest.raises(ExploreError, match="one per core"):
            ask("kafka-14139", processes=processes)


@pytest.mark.parametrize("command", ["explore", "matrix"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "0"], "memory limit is 0"),
        (["--memory", "-5"], "memory limit is -5"),
        (["--seconds", "-1"], "seconds is -1"),
        (["--seconds", "nan"], "seconds is nan"),
        (["--bound", f"writes={DIGITS}"], "expected 0 to 15"),
        (["--bound", f"writes={DIGITS}x"], "expected NAME=N"),
        (["--bound", "crashes=0", "--bound", "crashes=1"], "given twice, as 0 and as 1"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_the_command_refuses_them_in_one_short_line(
    command: str, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "kafka-14139", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert told.err.count("\n") == 1
    assert len(told.err) < 200


def test_a_bound_with_leading_zeros_is_the_number_that_it_is() -> None:
    assert search_commands.bounds_of(["writes=002"]) == {"writes": 2}


def test_a_bound_that_python_cannot_even_write() -> None:
    with pytest.raises(ExploreError, match="more than 19 digits; expected 0 to 15"):
        explore("kafka-14139", writes=10**5_000)


def test_limits_are_asked_often_enough_where_states_are_dear() -> None:
    """At the level "cluster" a state costs milliseconds, sixteen of them a tenth of a second."""
    asked: list[None] = []

    def never() -> bool:
        asked.append(None)
        return False

    found = explore("kafka-14139", level="cluster", crashes=0, cancel=never)
    assert found.verdict == "proved"
    assert len(asked) >= found.states / 16


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "ceiling"),
    [("1000000000\n", 750), ("max\n", 2_000), ("9223372036854771712\n", 2_000), (None, 2_000)],
)
def test_a_container_has_the_last_word(
    said: str | None, ceiling: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three quarters of what it has: JupyterLab and the kernel live there, too."""
    file = tmp_path / "memory.max"
    if said is not None:
        file.write_text(said)
    monkeypatch.setattr(limits, "CONTAINERS", (file,))
    assert ceiling_mb(2_000) == ceiling
    assert Limits().memory_mb == ceiling


def test_processes_share_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CONTAINERS", ())
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert processes_and_memory(4, 2_000, 64) == (4, 500)
    assert processes_and_memory(None, 2_000, 64) == (2_000 // LEAST_MB, LEAST_MB)
    assert processes_and_memory(None, 2_000, 3) == (3, 666)
    assert processes_and_memory(None, 100, 64) == (1, 100)
    assert processes_and_memory(4, 2_000, 0) == (1, 2_000)


def test_memory_is_looked_at_now_and_then_only(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    monkeypatch.setattr(limits, "memory_now", lambda: next(looks))
    monkeypatch.setattr(limits, "WEIGH_EVERY_S", 3_600)
    ask = Limits()
    for states in range(1_000):
        assert ask(Progress(states, 0, 0, 0)) is None
    assert next(looks) == 1


def test_in_a_page_the_memory_is_what_its_python_has_grown_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heap = SimpleNamespace(HEAP8=SimpleNamespace(length=50_000_000))
    monkeypatch.setitem(sys.modules, "pyodide_js", SimpleNamespace(_module=heap))
    monkeypatch.setattr(sys, "platform", "emscripten")
    monkeypatch.setattr(limits, "_STATM", Path("/no/such/file"))
    assert limits.memory_now() == 50_000_000
    assert Limits(memory_mb=60).room(20_000_000) is not None
    assert Limits(memory_mb=60).room(5_000_000) is None


# --- interrupts -----------------------------------------------------------------------------------


def test_an_interrupt_ends_a_search_and_keeps_what_was_found() -> None:
    before = signal.getsignal(signal.SIGINT)
    found = kiplab.explore("isr-two-of-three", cancel=interrupted_at(3))
    assert (found.verdict, found.stopped) == ("unfinished", "it was cancelled")
    assert found.states > 20
    assert found.frontier > 0
    assert signal.getsignal(signal.SIGINT) == before


def test_a_second_interrupt_leaves_at_once() -> None:
    with interruptible() as stop:
        assert not stop()
        interrupt()
        assert stop()
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_who_ignores_interrupts_goes_on_ignoring_them() -> None:
    """As under `nohup`."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible() as stop:
            interrupt()
            assert not stop()
    finally:
        signal.signal(signal.SIGINT, before)


def test_outside_the_main_thread_a_search_runs_without_them() -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(explore("kafka-14139").verdict))
    thread.start()
    thread.join()
    assert found == ["refuted"]


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupted_matrix_keeps_its_cells(processes: int) -> None:
    cancel = interrupted_at(1)
    found = matrix("kafka-14139", guards="903", writes=0, processes=processes, cancel=cancel)
    assert {cell.verdict for cell in found.cells} == {UNFINISHED}
    assert {cell.stopped for cell in found.cells} == {"it was cancelled"}


def test_a_matrix_that_is_interrupted_between_cells_has_those_that_were_done() -> None:

    def after_one(done: int, _of: int) -> None:
        if done == 1:
            interrupt()

    found = matrix("kafka-14139", guards="903", writes=0, processes=1, progress=after_one)
    assert [cell.verdict for cell in found.cells] == ["proved", UNFINISHED]


def test_the_command_says_what_an_interrupted_search_came_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    at_first = interrupted_at(1)
    monkeypatch.setattr(limits, "TELL_EVERY_S", 0)
    monkeypatch.setattr(common_options, "complain", lambda _sentence: at_first())
    assert main(["explore", "isr-two-of-three"]) == 4
    said = capsys.readouterr()
    assert "Not finished" in said.out
    assert "it was cancelled" in said.out
    assert said.err == ""

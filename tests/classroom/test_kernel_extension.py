"""A kernel of the labs: it knows widgets, and says what comes first where a name is missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kiplab.classroom.kernel_extension import what_comes_first

EXTENSION = "kiplab.classroom.kernel_extension"


@pytest.fixture
def shell() -> Iterator[Any]:
    shells: Any = InteractiveShell
    made = shells.instance()
    made.extension_manager.load_extension(EXTENSION)
    yield made
    made.set_custom_exc((), None)
    made.clear_instance()


def test_a_cell_that_is_run_too_early_is_told_what_comes_first(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell("lab = kiplab.Lab('kafka-14139', after=prediction)")
    said = capsys.readouterr()
    assert what_comes_first("kiplab") in said.err
    assert "Traceback" not in said.out + said.err
    assert not result.success  # so that Run All stops here


def test_a_mistake_inside_a_function_is_shown_as_python_does(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("def wrong():\n    return missing\nwrong()")
    said = capsys.readouterr().out
    assert "wrong" in said
    assert "NameError" in said


def test_any_other_error_is_shown_as_python_does(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell("1 / 0")
    assert "ZeroDivisionError" in capsys.readouterr().out

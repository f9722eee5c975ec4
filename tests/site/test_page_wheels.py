"""kiplab in a page: its wheel, and what it does in Python for a browser, here under node."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from kiplab.machine.cache import zipped
from kiplab.site import page_wheels
from kiplab.site.registries import ask, pinned_wheels, tool

NOT_FOR_KIPLAB = {"jedi", "parso", "micropip", "packaging", page_wheels.KERNEL}
"""A kernel in a page imports these, and a Lab does not."""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Python for a browser and all that a Lab needs, as source."""
    folder = tmp_path_factory.mktemp("python")
    names: Sequence[str] = [*pinned_wheels().keys() - NOT_FOR_KIPLAB - {"jupyterlab-widgets"}]
    page_wheels.lay_out(folder, names)
    return folder


def test_a_play_a_search_and_a_first_lab_run_in_python_for_a_browser(python: Path) -> None:
    answer = json.loads(ask(tool("node"), str(page_wheels.FIRST_LAB), str(python)))
    assert answer == {"verdict": "safe", "search": "refuted", "drawn": 2}


def test_the_list_names_the_wheels_that_are_there_and_no_other(python: Path) -> None:
    listed = json.loads((python / "pyodide-lock.json").read_text())["packages"].values()
    assert {entry["file_name"] for entry in listed} == {w.name for w in python.glob("*.whl")}


def test_a_kernel_of_the_page_loads_the_hooks_of_the_labs(python: Path) -> None:
    (wheel,) = python.glob("kiplab-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (
            n for n in archive.namelist() if n.endswith("data/etc/ipython/ipython_config.json")
        )
        hooks = json.loads(archive.read(entry))
    assert hooks == {"InteractiveShellApp": {"extensions": ["kiplab.classroom.jupyter_hooks"]}}


def test_the_wheel_has_the_plays_and_no_command(python: Path) -> None:
    (wheel,) = python.glob("kiplab-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "kiplab/plays/scenarios/kafka-14139.play" in names
    assert not [name for name in names if name.startswith(("kiplab/cli/", "kiplab/site/"))]


def test_an_archive_does_not_show_when_or_in_which_order_it_was_made() -> None:
    assert zipped({"b": b"2", "a": b"1"}) == zipped({"a": b"1", "b": b"2"})

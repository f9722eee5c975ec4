"""The shape of the house: imports go downwards only, and the lower floors stay light."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("IPython", "ipywidgets", "numpy", "pandas", "plotly", "pyarrow", "pyspark")


def test_imports_go_downwards_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    # It configures logging, and would silence every logger that there is for the tests after it.
    monkeypatch.setattr("importlinter.cli.logging_config.dictConfig", lambda _: None)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize(
    "package",
    [
        "kiplab",
        "kiplab.protocol",
        "kiplab.engine",
        "kiplab.plays",
        "kiplab.explore",
        "kiplab.explore.search.explore_play",
        "kiplab.spark",
    ],
)
def test_importing_loads_nothing_heavy(package: str) -> None:
    """What contracts can't see: an import that reaches a heavy library by way of another one."""
    program = f"import {package}, sys; print(*(name for name in {HEAVY} if name in sys.modules))"
    fresh = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (fresh.returncode, fresh.stdout.split(), fresh.stderr) == (0, [], "")


PAGE_LINES, ROOM_LINES = 150, 50
ROOMS = sorted(path.parent for path in (ROOT / "kiplab").glob("*/__init__.py"))
PATHS = re.compile(r"`([\w/.-]+\.(?:py|play|toml|md)|tests/[\w/]+|[a-z_]+/)`")


def named_in(page: Path) -> set[str]:
    """The files and folders that a page names."""
    return set(PATHS.findall(page.read_text(encoding="utf-8")))


def is_there(name: str, room: Path) -> bool:
    """In the repository, in the package, or anywhere in the room of the page."""
    return any((base / name).exists() for base in (ROOT, ROOT / "kiplab", room)) or any(
        room.rglob(name.rstrip("/"))
    )


def test_the_page_of_the_house_is_short_and_names_what_is_there() -> None:
    page = ROOT / "ARCHITECTURE.md"
    assert len(page.read_text(encoding="utf-8").splitlines()) <= PAGE_LINES
    assert [name for name in sorted(named_in(page)) if not is_there(name, ROOT)] == []


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_every_room_has_a_page_of_a_screen_that_names_what_is_there(room: Path) -> None:
    page = room / "README.md"
    assert len(page.read_text(encoding="utf-8").splitlines()) <= ROOM_LINES
    assert [name for name in sorted(named_in(page)) if not is_there(name, room)] == []
    assert f"`{room.name}/`" in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

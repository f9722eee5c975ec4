"""Copies of the repository, to try on what a recipe of CONTRIBUTING.md says."""

import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("kiplab", "labs", "tests", "assets")


class Ran(NamedTuple):
    """What a run of pytest over some tests of a copy came to."""

    passed: bool
    text: str


class Copied(NamedTuple):
    """A copy of the repository that a test may change."""

    path: Path

    def write(self, file: str, text: str, *, after: str = "") -> None:
        """Add `text` to a file: right after some of its text, or to the end; or make the file."""
        path = self.path / file
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        head, found, tail = before.partition(after) if after else (before, "", "")
        assert found == after, f"{file} has no {after!r} any longer, which this recipe adds to"
        path.write_text(head + found + text + tail, encoding="utf-8")
        self.forget(path)

    def forget(self, path: Path) -> None:
        """Remove the bytecode of a file: two texts of one length and second share it."""
        Path(cache_from_source(path)).unlink(missing_ok=True)

    def naming(self, word: str, *folders: str) -> list[str]:
        """The files of tests in these folders that have a word in them."""
        files = (file for folder in folders for file in (self.path / folder).rglob("test_*.py"))
        named = (file for file in files if word in file.read_text(encoding="utf-8"))
        return sorted(str(file.relative_to(self.path)) for file in named)

    def test(self, *what: str) -> Ran:
        """Run these tests of the copy, on the copy's own package."""
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *what]
        here = {**os.environ, "PYTHONPATH": str(self.path), "COLUMNS": "400"}
        for name in [name for name in here if name.startswith("PYTEST_")]:
            del here[name]
        ran = subprocess.run(
            command, cwd=self.path, env=here, capture_output=True, text=True, check=False
        )
        return Ran(ran.returncode == 0, ran.stdout + ran.stderr)


def copy(folder: Path) -> Copied:
    """The package, the labs, the tests and the pages at the top, as they are now."""
    for part in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    for page in (*ROOT.glob("*.md"), ROOT / "pyproject.toml"):
        shutil.copy(page, folder)
    return Copied(folder)

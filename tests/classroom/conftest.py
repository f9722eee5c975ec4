"""Every test has its own place for predictions."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kiplab.classroom import work_on_disk

NOW = "2026-01-31T23:59:59Z"
"""When everything happens in these tests."""
DUE, OVER = "2026-02-01T00:59:59+01:00", "2026-02-01T00:59:58+01:00"
"""A deadline that is kept to the second, and one that has just passed."""


MakeClass = Callable[..., Path]
"""From lines of a class.toml to its path; the class is the one of this test."""


@pytest.fixture
def make_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeClass:
    """Writes the file, and says by the variable where it is."""

    def make(*lines: str) -> Path:
        path = tmp_path / "class.toml"
        path.write_text("\n".join(['code = "c"', *lines]))
        monkeypatch.setenv("KIPLAB_CLASS", str(path))
        return path

    return make


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A place for predictions where nothing can be written, whoever one is."""
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "work.json"
    monkeypatch.setenv("KIPLAB_WORK", str(place))
    return place


@pytest.fixture(autouse=True)
def work_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's predictions are kept."""
    path = tmp_path / "kiplab-work.json"
    monkeypatch.setenv("KIPLAB_WORK", str(path))
    monkeypatch.delenv("KIPLAB_CLASS", raising=False)
    monkeypatch.setattr(work_on_disk, "now", lambda: NOW)
    monkeypatch.setattr(work_on_disk, "_here", {name: {} for name in work_on_disk._here})
    return path

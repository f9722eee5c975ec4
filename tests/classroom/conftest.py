"""Every test has its own place for predictions."""

from pathlib import Path

import pytest

from kiplab.classroom import work_on_disk

NOW = "2026-01-31T23:59:59Z"
"""When everything happens in these tests."""


@pytest.fixture(autouse=True)
def work_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's predictions are kept."""
    path = tmp_path / "kiplab-work.json"
    monkeypatch.setenv("KIPLAB_WORK", str(path))
    monkeypatch.setattr(work_on_disk, "now", lambda: NOW)
    monkeypatch.setattr(work_on_disk, "_here", {name: {} for name in work_on_disk._here})
    return path

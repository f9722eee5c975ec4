"""Every test has its own place for predictions."""

from pathlib import Path

import pytest

from kiplab.classroom import work_on_disk


@pytest.fixture(autouse=True)
def work_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's predictions are kept."""
    path = tmp_path / "kiplab-work.json"
    monkeypatch.setenv("KIPLAB_WORK", str(path))
    monkeypatch.setattr(work_on_disk, "_here", {name: {} for name in work_on_disk._here})
    return path

"""Kernels find this checkout, and every lab keeps its work in a folder of its own."""

from pathlib import Path

import pytest

from tests.labs.running import ROOT


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Work is kept beside the notebook; what a kernel says only to a server's owner stays out. As
    on Binder, no Kafka is in the cache.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("KIPLAB_WORK", raising=False)


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work of cells that run here, without a kernel, is kept in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path

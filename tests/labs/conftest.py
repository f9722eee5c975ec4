"""Kernels find this checkout, and every lab keeps its work in a folder of its own."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.labs.running import ROOT, prediction


@pytest.fixture(autouse=True, scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Work is kept beside the notebook. As on Binder, no Kafka is in the cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.delenv("KIPLAB_WORK", raising=False)
        yield


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work of cells that run here, without a kernel, is kept in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def locked(own_folder: Path, request: pytest.FixtureRequest) -> Path:
    """The same, in which the prediction of the module's LAB is locked in."""
    work = {"predictions": dict([prediction(request.module.LAB)])}
    (own_folder / "kiplab-work.json").write_text(json.dumps(work))
    return own_folder

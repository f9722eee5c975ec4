"""Kernels find this checkout, and every lab keeps its work in a folder of its own."""

from __future__ import annotations

import pytest

from tests.labs.running import ROOT


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is kept beside the notebook; what a kernel says only to a server's owner stays out."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.delenv("KIPLAB_WORK", raising=False)

"""The rules of ruff and the types of mypy hold everywhere: what `make lint` runs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("tool", [("ruff", "check"), ("mypy",)], ids=lambda tool: tool[0])
def test_nothing_is_found(tool: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", *tool]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr

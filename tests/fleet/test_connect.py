"""SPARK_REMOTE: the same study through a Spark Connect server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import kiplab
remote = kiplab.fleet.schedules(40, progress=False)
plain = kiplab.fleet.schedules(40, spark=False, progress=False)
assert remote.rows == plain.rows, (remote.rows, plain.rows)
print(len(remote.rows), "rows agree")
"""


@pytest.mark.spark
def test_spark_remote_gives_the_same_integers() -> None:
    """In a process of its own: Connect and classic sessions do not live side by side."""
    environment = {**os.environ, "SPARK_REMOTE": "local[2]", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "8 rows agree" in ran.stdout

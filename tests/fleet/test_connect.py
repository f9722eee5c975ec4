"""SPARK_REMOTE: the same studies through a Spark Connect server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fleet.small_fleet import PLAIN

pytestmark = pytest.mark.long(quick="tests/fleet/test_study_on_spark.py")

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import kiplab
remote = kiplab.fleet.schedules(40, progress=False)
plain = kiplab.fleet.schedules(40, spark=False, progress=False)
assert remote.rows == plain.rows, (remote.rows, plain.rows)
print(len(remote.rows), "rows agree")

import sys
from pathlib import Path
from kiplab.fleet.fleet_answers.work_block import work_block
from kiplab.fleet.pipeline.study_folder import partials_in
from kiplab.fleet.pipeline.study_run import run_study
from tests.fleet.small_fleet import plan

there, here = Path(sys.argv[1]) / "there", Path(sys.argv[1]) / "here"
run_study(plan(5), work_block, there, partitions=3)
run_study(plan(5), work_block, here, spark=False)
assert partials_in(there).equals(partials_in(here))
print(partials_in(there).num_rows, "partials agree")
"""


@pytest.mark.spark
def test_spark_remote_gives_the_same_integers(tmp_path: Path) -> None:
    """In a process of its own: Connect and classic sessions do not live side by side."""
    environment = {**os.environ, **PLAIN, "SPARK_REMOTE": "local[2]", "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "8 rows agree" in ran.stdout
    assert "520 partials agree" in ran.stdout

"""Spark goes away in the middle of a study: one sentence, and a folder that is gone on with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kiplab.fleet.pipeline.study_folder import partials_in
from kiplab.fleet.pipeline.study_run import run_study
from tests.fleet import coins
from tests.spark.goes_away import PLAN

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long(
        quick="tests/spark/test_session.py::test_another_master_than_the_live_one_is_refused"
    ),
]
ROOT = Path(__file__).resolve().parents[2]
GONE = (
    "The Java that Spark ran in has gone away."
    " Restart this Python process (in a notebook, the kernel)."
)


@pytest.mark.parametrize(
    ("remote", "next_time"),
    [("", GONE), ("local[2]", "The Spark session of this process takes nothing any more: ")],
    ids=["classic", "connect"],
)
def test_java_that_is_killed_is_told_of_and_what_was_done_is_kept(
    tmp_path: Path, remote: str, next_time: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} | (
        {"SPARK_REMOTE": remote} if remote else {}
    )
    ran = subprocess.run(
        [sys.executable, "-m", "tests.spark.goes_away", str(tmp_path / "study")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    first, second = ran.stdout.splitlines()
    assert first == GONE
    assert second.startswith(next_time)
    outcome = run_study(PLAN, coins.throw, tmp_path / "study", resume=True, spark=False)
    assert 0 < outcome.blocks_before < outcome.all_blocks
    run_study(PLAN, coins.throw, tmp_path / "once", spark=False)
    assert partials_in(tmp_path / "study").equals(partials_in(tmp_path / "once"))

"""What the blocks of a study may answer, and what is told meanwhile."""

from pathlib import Path
from typing import Any

import pytest

from kiplab.fleet.pipeline.study_run import RunProgress
from kiplab.spark import BlockFailed
from tests.fleet import coins
from tests.fleet.coins import work_out


@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (
            coins.refuse_block_3,
            r"Block 3 failed: scenario \w{16}: ArithmeticError: the coin stands",
        ),
        (coins.forget_a_set, "one partial for each feature set that was asked for and each metric"),
        (coins.find_itself_wrong, r"the kernel found itself wrong 2 times \(none, heads\)"),
    ],
)
def test_a_block_that_fails_is_named(tmp_path: Path, work: Any, sentence: str) -> None:
    with pytest.raises(BlockFailed, match=sentence):
        work_out(tmp_path / "study", work=work)


def test_progress_tells_the_pace_and_the_time_left() -> None:
    now = RunProgress(
        blocks=3, years=30.0, all_blocks=10, all_years=100.0, years_before=10.0, seconds=4.0
    )
    assert now.years_per_second == 5.0
    assert now.seconds_left == 14.0


def test_the_bar_shows_partition_years_and_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work_out(tmp_path / "study", progress=True)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "100%" in last
    assert "1.00k of 1.00k partition-years" in last
    assert "left" in last

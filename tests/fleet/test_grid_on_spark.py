"""FleetLab's grid on Spark: begun by its button, cancelled by its button, gone on with."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiplab import FleetLab
from kiplab.fleet.fleet_answers import quick_estimate
from kiplab.fleet.fleet_answers.fleet_answer import FleetAnswer
from kiplab.fleet.pipeline.study_run import RunProgress
from kiplab.spark import session
from kiplab.widgets.fleet_lab.grid_panel import GridRun
from tests.fleet.small_fleet import PLAIN

pytestmark = [pytest.mark.spark, pytest.mark.long(quick="tests/fleet/test_study_on_spark.py")]
YEARS = 4_000.0
SOON_S = 300
"""Nobody waits so long, but on a machine that is broken."""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[FleetLab]:
    monkeypatch.setattr(quick_estimate, "_WORK", 20_000)
    with session("local[2]", app="kiplab tests") as spark:
        spark.sparkContext.environment |= PLAIN
        found = FleetLab()
        found.grid.years.options = (("few", YEARS),)
        yield found


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when the first wave is kept and the next one is under way."""
    event, heard = threading.Event(), GridRun._heard

    def telling(run: GridRun, now: RunProgress) -> None:
        heard(run, now)
        if now.blocks:
            event.set()

    monkeypatch.setattr(GridRun, "_heard", telling)
    return event


def ended(lab: FleetLab) -> FleetAnswer:
    lab.grid.wait()
    assert lab.grid.run is not None
    assert lab.grid.run.problem is None
    assert lab.grid.run.answer is not None
    return lab.grid.run.answer


def test_a_grid_that_is_cancelled_goes_on_to_the_integers_of_one_run(
    lab: FleetLab, begun: threading.Event, tmp_path: Path
) -> None:
    lab.grid.folder.value = str(tmp_path / "twice")
    lab.grid.start.click()
    assert begun.wait(SOON_S)
    lab.grid.cancel.click()
    stopped = ended(lab)
    assert not stopped.finished
    assert 0 < stopped.partition_years < YEARS
    assert "Stopped: " in lab.grid.status.value
    lab.grid.start.click()
    twice = ended(lab)
    assert twice.finished
    assert "Done: " in lab.grid.status.value
    lab.grid.folder.value = str(tmp_path / "once")
    lab.grid.begin(spark=False)
    once = ended(lab)
    assert twice.summary == once.summary
    assert twice.rows == once.rows

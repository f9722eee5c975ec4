"""A study on Spark: the same integers however it is laid out, whoever is killed in the middle.

The kernel runs compiled here and as plain Python on the executors. Coins stand in where only the
keeping of books is looked at.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from kiplab.fleet.fleet_answers.work_block import checked_block, work_block
from kiplab.fleet.pipeline.study_folder import partials_in
from kiplab.fleet.pipeline.study_plan import code_version
from kiplab.fleet.pipeline.study_run import RunProgress, run_study
from kiplab.spark import BlockFailed, session, waves
from kiplab.spark.waves import run_waves
from tests.fleet import coins, small_fleet
from tests.repeated import in_long
from tests.spark import work
from tests.spark.local_cluster import LocalCluster, local_cluster

pytestmark = pytest.mark.spark
ROOT = Path(__file__).resolve().parents[2]
PLAN = small_fleet.plan()
"""A second or two of work for the kernel as plain Python."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    """The partials that one process finds without Spark."""
    folder = tmp_path_factory.mktemp("plain") / "study"
    assert run_study(PLAN, work_block, folder, spark=False).finished
    found = partials_in(folder)
    assert sum(found["events"].to_pylist()) > 0
    return found


@pytest.fixture(scope="class")
def _session() -> Iterator[None]:
    with session("local[2]", app="kiplab tests") as spark:
        assert spark.sparkContext.master == "local[2]"
        spark.sparkContext.environment |= small_fleet.PLAIN
        yield


@pytest.fixture(scope="class")
def cluster() -> Iterator[LocalCluster]:
    """Its executors have nothing of kiplab but what they are sent."""
    with local_cluster(workers=2) as running, session(running.master, app="kiplab tests") as spark:
        spark.sparkContext.environment |= small_fleet.PLAIN
        yield running


@pytest.mark.usefixtures("_session")
class TestOnThisMachine:
    @pytest.mark.parametrize(
        ("partitions", "batch"),
        [(3, 1), *in_long([(1, 10_000), (None, 10_000)], rows=True)],
    )
    def test_layouts_give_the_partials_of_plain_python(
        self, plain: pa.Table, tmp_path: Path, partitions: int | None, batch: int
    ) -> None:
        session(app="kiplab tests").conf.set(
            "spark.sql.execution.arrow.maxRecordsPerBatch", str(batch)
        )
        run_study(PLAN, work_block, tmp_path / "study", partitions=partitions)
        assert partials_in(tmp_path / "study").equals(plain)

    def test_a_wave_has_tasks_for_the_cores_that_are_there_when_it_begins(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Executors of a cluster come one by one."""
        asked: list[int] = []

        def growing(_spark: object) -> int:
            asked.append(len(asked) + 1)
            return asked[-1]

        monkeypatch.setattr(waves, "cores_of", growing)
        orders = [list(range(40)), list(range(40))]
        found = run_waves(session(app="kiplab tests"), work.task, iter(orders), schema="task int")
        tasks = sorted(len(set(wave.rows["task"].to_pylist())) for wave in found)
        assert tasks == [4, 8]

    def test_a_block_that_fails_is_named_and_the_others_are_kept(self, tmp_path: Path) -> None:
        plan = coins.plan(blocks=20)
        with pytest.raises(BlockFailed, match=r"Block 3 failed: scenario \w{16}: ArithmeticError"):
            run_study(plan, coins.refuse_block_3, tmp_path / "study", partitions=4)
        assert run_study(plan, coins.throw, tmp_path / "study", resume=True).finished

    def test_a_stop_cancels_what_is_under_way(self, tmp_path: Path) -> None:
        stop, plan = threading.Event(), coins.plan(blocks=40)

        def heard(now: RunProgress) -> None:
            if now.blocks >= 4:
                stop.set()

        outcome = run_study(plan, coins.throw, tmp_path / "study", listener=heard, stop=stop)
        assert not outcome.finished
        assert 0 < outcome.blocks < outcome.all_blocks
        resumed = run_study(plan, coins.throw, tmp_path / "study", resume=True)
        assert resumed.blocks_before == outcome.blocks
        run_study(plan, coins.throw, tmp_path / "plain", spark=False)
        assert partials_in(tmp_path / "study").equals(partials_in(tmp_path / "plain"))

    @pytest.mark.long(
        quick="tests/fleet/test_study_folder.py::test_killed_at_any_moment_it_is_gone_on_with"
    )
    def test_a_driver_that_is_killed_is_gone_on_with(self, plain: pa.Table, tmp_path: Path) -> None:
        folder = tmp_path / "study"
        driver = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(folder)],
            cwd=ROOT,
            env={**os.environ, **small_fleet.PLAIN, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert driver.stdout is not None
        with driver.stdout:
            assert int(driver.stdout.readline()) >= 4
            os.killpg(driver.pid, signal.SIGKILL)
        assert driver.wait(30) == -signal.SIGKILL
        outcome = run_study(PLAN, work_block, folder, resume=True)
        assert 4 <= outcome.blocks_before < outcome.all_blocks
        assert partials_in(folder).equals(plain)


DRIVER = """
import sys
from kiplab.fleet.fleet_answers.work_block import work_block
from kiplab.fleet.pipeline.study_run import run_study
from tests.fleet import small_fleet

def heard(now):
    if now.blocks >= 4:
        print(now.blocks, flush=True)

run_study(small_fleet.plan(), work_block, sys.argv[1], listener=heard, progress=False)
"""


@pytest.mark.long(quick="::TestOnThisMachine::test_layouts_give_the_partials_of_plain_python")
class TestOnACluster:
    def test_a_cluster_gives_the_partials_of_plain_python(
        self, cluster: LocalCluster, plain: pa.Table, tmp_path: Path
    ) -> None:
        """What it was sent says itself that it is the code of this process."""
        work = partial(checked_block, code_version())
        run_study(PLAN, work, tmp_path / "study", master=cluster.master, partitions=5)
        assert partials_in(tmp_path / "study").equals(plain)

    def test_executors_that_have_other_code_refuse_their_blocks(
        self, cluster: LocalCluster, tmp_path: Path
    ) -> None:
        work = partial(checked_block, "0" * 12)
        with pytest.raises(BlockFailed, match=r"WrongPlaceError: .* another version of kiplab"):
            run_study(PLAN, work, tmp_path / "study", master=cluster.master)

    def test_a_worker_and_an_executor_killed_in_the_middle_change_nothing(
        self, cluster: LocalCluster, plain: pa.Table, tmp_path: Path
    ) -> None:
        first, second = cluster.worker_pids
        killed: list[int] = []

        def heard(now: RunProgress) -> None:
            share = now.years / now.all_years
            if not killed and 0.1 <= share < 1:
                killed.append(_kill(first))
            elif len(killed) == 1 and 0.5 <= share < 1:
                killed.append(_kill(_executor_of(second)))

        folder = tmp_path / "study"
        outcome = run_study(PLAN, work_block, folder, master=cluster.master, listener=heard)
        assert len(killed) == 2
        assert outcome.finished
        assert partials_in(folder).equals(plain)


def _kill(pid: int) -> int:
    os.kill(pid, signal.SIGKILL)
    return pid


def _executor_of(worker: int) -> int:
    """The process that a worker has started for this program."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, parent = int(path.parent.name), int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == worker:
            return pid
    raise AssertionError(f"worker {worker} has no executor")

"""The same rows from a cluster of several processes, which gets kiplab as a zip file."""

import os
from collections.abc import Iterator

import pytest
from pyspark import cloudpickle

from kiplab.spark import BlockFailed, run_blocks, run_blocks_plainly, session
from tests.spark import work
from tests.spark.local_cluster import LocalCluster, local_cluster

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long(
        quick="tests/spark/test_blocks.py::"
        "test_any_number_of_partitions_gives_the_rows_of_plain_python"
    ),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Its workers find neither this folder nor the checkout: they only get what is sent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        cloudpickle.register_pickle_by_value(work)
        with local_cluster(workers=2) as running, session(running.master, app="kiplab tests"):
            yield running
        cloudpickle.unregister_pickle_by_value(work)
    for pid in (running.master_pid, *running.worker_pids):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.parametrize("partitions", [1, 8])
def test_the_cluster_gives_the_rows_of_plain_python(cluster: LocalCluster, partitions: int) -> None:
    on_spark = run_blocks(
        work.draw, work.BLOCKS, schema=work.SCHEMA, master=cluster.master, partitions=partitions
    )
    assert on_spark.equals(run_blocks_plainly(work.draw, work.BLOCKS, work.SCHEMA))


def test_executors_import_kiplab_from_the_zip_they_were_sent(cluster: LocalCluster) -> None:
    found = run_blocks(work.where_kiplab_is, [b""], schema="file string", master=cluster.master)
    assert ".zip" in found["file"][0].as_py()


def test_a_failing_block_reads_the_same(cluster: LocalCluster) -> None:
    with pytest.raises(BlockFailed, match=r"^Block 7 failed: ValueError: seed must not be 7"):
        run_blocks(work.refuse_7_and_23, work.BLOCKS, schema=work.SCHEMA, master=cluster.master)

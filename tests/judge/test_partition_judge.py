"""Kafka's own Partition and the engine's broker, to which the same happens. Live; the same runs as
recorded are longer.
"""

from collections.abc import Iterator

import pytest

from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.partition.partition_process import PartitionProcess
from kiplab.judge.partition.second_proposal import stories_of
from kiplab.protocol.features import parse_features
from tests.judge.kafka_here import real_kafka
from tests.judge.partition.partition_judge import generated_run, story_runs

QUICK = (
    "tests/judge/test_partition_recordings.py::"
    "test_the_engine_goes_the_way_that_kafka_went_in_its_first_runs"
)
pytestmark = [pytest.mark.kafka, pytest.mark.long(quick=QUICK)]
LIVE = ("3.3", "3.5", "3.7", "3.9", "4.3")
SEEDS, TURNS = 8, 100


@pytest.fixture(scope="module", params=LIVE)
def process(request: pytest.FixtureRequest) -> Iterator[PartitionProcess]:
    with real_kafka():
        made = PartitionProcess(request.param)
    with made:
        yield made


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_generated_run_goes_the_same_way(process: PartitionProcess, seed: int) -> None:
    run = generated_run(process, parse_features(process.release), seed, TURNS)
    last = run.done[-1]
    assert not run.parted, f"{last.turn}\n" + "\n".join(map(str, last.partings))
    assert len(run.done) == TURNS


def test_late_metadata_makes_a_leader_forget_whom_it_asked_for(process: PartitionProcess) -> None:
    stories = stories_of(process)
    assert not any(run.parted for run in story_runs(process)), "as in the engine"
    level_late, level_in_order, behind_late, behind_in_order = stories
    for late, in_order in ((level_late, level_in_order), (behind_late, behind_in_order)):
        assert late.forgotten
        assert in_order.waits_for == (1, 2, 3)
        assert late.leader_isr == (1, 2), "the answer that accepts 3 is ignored"
        assert in_order.leader_isr == (1, 2, 3)
        assert (late.missing, in_order.missing) == (5, 0)
    assert level_late.within_the_lag == 0, "it is waited for as long as it may still be level"
    assert behind_late.within_the_lag == 4, "who was never level is not waited for at all"


def test_a_process_that_is_told_nonsense_ends_with_its_last_words(
    process: PartitionProcess,
) -> None:
    with (
        PartitionProcess(process.release) as other,
        pytest.raises(DeadKafkaError, match="unknown command sing"),
    ):
        other.tell("sing")

"""What may happen to a broker: the same for the same seed, and all of it in a few runs."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

import pytest

from kiplab.judge.partition import partition_process
from kiplab.judge.partition.observed_broker import ObservedBroker
from kiplab.judge.partition.partition_process import partition_releases
from kiplab.protocol import errors, ids, messages
from kiplab.protocol.features import parse_features
from tests.judge.partition import engine_leader, partition_judge, pretended_controller
from tests.judge.partition.leader_transitions import OFTEN_ENOUGH, RULES, rules_of
from tests.judge.skeleton.generating import Dice


def test_every_error_is_answered_with() -> None:
    elsewhere = pretended_controller.PretendedController(Dice(0), partition_judge.PARTITIONS)
    item = messages.AlterPartitionItem(
        partition_process.partition_name(0), ids.LeaderEpoch(1), ids.PartitionEpoch(1), ()
    )
    request = messages.AlterPartitionRequest(
        version=3,
        broker=partition_process.LEADER,
        broker_epoch=partition_process.LEADER_BROKER_EPOCH,
        items=(item,),
    )
    answers = [result.error for _ in range(3_000) for result in elsewhere.answer(request).results]
    assert set(answers) == {*pretended_controller.REFUSING, errors.KafkaError.NONE}
    (refused,) = elsewhere.not_me(request).results
    assert refused.error is errors.KafkaError.NOT_CONTROLLER


@pytest.mark.parametrize("release", [partition_releases()[0], partition_releases()[-1]])
def test_all_that_a_leader_does_is_tried_often_enough(release: str) -> None:
    """Of the engine's, with which Kafka's agrees turn by turn."""
    runs = [list(lived(release, seed)) for seed in range(partition_judge.RUNS)]
    hits = Counter(rule for run in runs for rule in rules_of(run))
    assert set(hits) <= set(RULES), "each has a name in ALL_TRANSITIONS"
    assert {type(turn) for run in runs for turn, _ in run} == set(
        get_args(partition_process.BrokerTurn)
    )
    rare = {rule: hits[rule] for rule in RULES if hits[rule] < OFTEN_ENOUGH}
    assert not rare, "let leader_turns.py or pretended_controller.py ask for it more often"


def lived(release: str, seed: int) -> Iterator[tuple[partition_process.BrokerTurn, ObservedBroker]]:
    engine = engine_leader.EngineLeader(
        parse_features(release), partition_judge.PARTITIONS, timed=partition_judge.is_timed(seed)
    )
    for turn in partition_judge.generated_turns(engine, seed, partition_judge.TURNS):
        yield turn, engine.answer(turn)

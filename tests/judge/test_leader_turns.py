"""What may happen to a broker: the same for the same seed, and all of it in a few runs."""

from __future__ import annotations

from collections import Counter
from typing import get_args

from kiplab.judge.partition.broker_turns import BrokerTurn
from kiplab.judge.partition.engine_leader import EngineLeader
from kiplab.judge.partition.leader_turns import LeaderTurns
from kiplab.judge.partition.pretended_controller import REFUSING
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import parse_features
from kiplab.protocol.messages import AlterPartitionResponse


def turns_of(seed: int, count: int = 150, release: str = "3.7") -> list[BrokerTurn]:
    timed = seed % 2 == 0
    engine = EngineLeader(parse_features(release), 2, timed=timed)
    source = LeaderTurns(seed, 2, timed=timed)
    found: list[BrokerTurn] = [source.first()]
    engine.do(found[0])
    while len(found) < count:
        found.append(source.next(engine))
        engine.do(found[-1])
    return found


def test_a_seed_is_a_run() -> None:
    assert turns_of(7) == turns_of(7)
    assert turns_of(7) != turns_of(9)


def test_all_kinds_of_turns_come() -> None:
    kinds = Counter(type(turn) for seed in range(12) for turn in turns_of(seed))
    assert set(kinds) == set(get_args(BrokerTurn))
    assert min(kinds.values()) >= 4, kinds


def test_every_error_is_answered_with() -> None:
    answers = [
        result.error
        for seed in range(60)
        for turn in turns_of(seed)
        if isinstance(turn, AlterPartitionResponse)
        for result in turn.results
    ]
    assert set(answers) == {*REFUSING, KafkaError.NONE, KafkaError.NOT_CONTROLLER}

"""Log directories: what is registered, reported, removed, and who may lead without one.

What happens line by line in PLAY agrees with real controllers and Partitions of 4.1.2 and 4.3.1.
"""

from typing import Any

import pytest

from kiplab.engine import moves
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.runner import open_stage, run_play
from kiplab.plays.stage import Stage
from kiplab.protocol import facts, registrations
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.ids import BrokerId, Count

PLAY = """kafka 4.3 elr=1
broker 1 epoch=101
broker 2 epoch=102 directories=3
topic orders replicas=1,2 isr=1,2 leader=1 min-insync-replicas=2 log=100@5
topic clicks replicas=2,1 isr=2,1 leader=1 min-insync-replicas=2 log=10@1
replica orders-0 broker=2 log=100@5 directory=2
replica clicks-0 broker=2 log=10@1 directory=3
given next-metadata-offset=248
shut-down 2
expire 2
remove-directory 2 directory=2
hold fetch from=2
hold assign-replicas-to-dirs
start 2
unfence 2
crash 1
expire 1
"""
RELEASED = f"{PLAY}release assign-replicas-to-dirs\n"
SEND = "send assign-replicas-to-dirs from=2"


def played(text: str) -> Stage:
    return run_play(parse(text))


def partition(stage: Stage, name: str) -> Any:
    return registrations.partition(truth(stage.cluster).partitions, name)


@pytest.mark.parametrize(
    ("kafka", "after"), [("4.3 elr=1", ((2,), 2, (1,))), ("4.1 elr=1", ((), -1, ()))]
)
def test_a_replica_in_a_removed_directory_may_lead_only_after_its_broker_has_reported_it(
    kafka: str, after: tuple[tuple[int, ...], int, tuple[int, ...]]
) -> None:
    before = played(PLAY.replace("4.3 elr=1", kafka))
    assert partition(before, "orders-0").leader == -1
    assert partition(before, "clicks-0").leader == 2
    # The partition has changed since the first report, so that there is a second: it elects.
    state = partition(played(RELEASED.replace("4.3 elr=1", kafka)), "orders-0")
    assert (state.isr, state.leader, state.elr) == after
    assert state.directories == ()


def test_what_is_left_on_a_broker_is_registered_and_its_logs_go_to_the_emptiest_directory() -> None:
    stage = played(PLAY)
    (_, two) = stage.cluster.brokers
    homes = {kept.partition: (kept.directory, kept.log.end) for kept in two.durable.replicas}
    assert homes == {"orders-0": (1, 0), "clicks-0": (3, 10)}
    assert truth(stage.cluster).registrations[1].log_dirs == (1, 3)


@pytest.mark.parametrize(
    ("line", "errors"),
    [
        ("broker-epoch=5 partition=orders-0 directory=1", [(None, KafkaError.STALE_BROKER_EPOCH)]),
        (
            "partition=nothing-0 directory=1 partition=orders-7 directory=1",
            [
                ("nothing-0", KafkaError.UNKNOWN_TOPIC_ID),
                ("orders-7", KafkaError.UNKNOWN_TOPIC_OR_PARTITION),
            ],
        ),
        ("partition=alone-0 directory=1", [("alone-0", KafkaError.NOT_LEADER_OR_FOLLOWER)]),
        ("partition=clicks-0 directory=1", []),
    ],
)
def test_a_report_is_refused_as_a_whole_or_for_one_replica(
    line: str, errors: list[tuple[str | None, KafkaError]]
) -> None:
    alone = RELEASED.replace("given ", "topic alone replicas=1 isr=1 leader=1 log=1@0\ngiven ")
    stage = played(f"{alone}{SEND} {line}\n")
    refused = [e for s in stage.history.steps for e in s.events if isinstance(e, facts.Refused)]
    assert [(e.partition, e.error) for e in refused] == errors


def test_a_replica_that_is_reported_in_an_unknown_directory_leaves_the_isr() -> None:
    state = partition(played(f"{RELEASED}{SEND} partition=clicks-0 directory=9\n"), "clicks-0")
    # Its broker reports at once where it is, and waits for somebody who unfences it.
    assert (state.isr, state.leader, state.elr) == ((), -1, (1, 2))
    assert state.directories == (3, 1)


@pytest.mark.parametrize(
    ("header", "broker", "directory", "reason"),
    [
        ("broker 2 epoch=102 directories=2", 2, 1, "broker 2 is running"),
        ("broker 2 epoch=102 down=yes", 3, 1, "there is no broker 3 (there is 1, 2)"),
        (
            "broker 2 epoch=102 directories=2 down=yes",
            *(2, 3, "broker 2 has no log directory 3 (it has 1, 2)"),
        ),
        ("broker 2 epoch=102 down=yes", 2, 1, "broker 2 needs a log directory"),
    ],
)
def test_a_directory_is_removed_that_is_there_and_not_the_last_one(
    header: str, broker: int, directory: int, reason: str
) -> None:
    text = f"kafka 4.3\nbroker 1\n{header}\ntopic orders replicas=1 isr=1 leader=1 log=1@0\n"
    move = moves.RemoveDirectory(BrokerId(broker), Count(directory))
    assert why_not(open_stage(parse(text)).cluster, move) == reason


def test_with_zookeeper_no_directory_is_removed() -> None:
    cluster = open_stage(load("704-zookeeper")).cluster
    reason = "a run with ZooKeeper has no log directories"
    assert why_not(cluster, moves.RemoveDirectory(BrokerId(1), Count(1))) == reason

"""A header that describes what Kafka could not be in is refused, with its line and column."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.header import features_of, setup_of
from kiplab.plays.play_errors import PlayError

TWO = "broker 1 epoch=40\nbroker 2 epoch=41\n"


@pytest.mark.parametrize(
    ("header", "line", "column", "found"),
    [
        ("broker ²", 1, 8, "'²' is no broker id"),
        ("broker 01", 1, 8, "'01' is no broker id"),
        ("broker 1\nbroker 1 epoch=9", 2, 1, "broker 1 is introduced twice"),
        ("broker 1 epoch=7\nbroker 2 epoch=7", 2, 1, "epoch 7 belongs to another"),
        ("broker 1 epoch=-1", 1, 16, "'-1' is negative"),
        ("kafka 3.4\nkafka 3.5\nbroker 1", 2, 1, "kafka stands there twice"),
        ("kafka 3.4\nmetadata 3.9-IV0\nbroker 1", 2, 10, "does not know metadata version"),
        ("broker 1 kafka=3.2", 1, 10, "Kafka 3.2 does not know metadata version 3.5-IV2"),
        ("controller\nbroker 1", 1, 1, "says nothing of the controller"),
        ("given\nbroker 1", 1, 1, "'given' says nothing"),
        (TWO + "given next-metadata-offset=41", 3, 7, "has the epoch 41"),
        (TWO + "topic a/b", 3, 7, "'a/b' is no topic"),
        (TWO + "topic ..", 3, 7, "'..' is no topic"),
        (TWO + "topic t-", 3, 7, "'t-' is no topic"),
        (TWO + "topic " + "t" * 250, 3, 7, "is no topic"),
        (TWO + "topic t partition=-1", 3, 19, "'-1' is no partition's number"),
        (TWO + "topic t partition=01", 3, 19, "'01' is no partition's number"),
        (TWO + "topic t\nreplica t--1 broker=2 log=5@1", 4, 9, "'t--1' is no partition name"),
        (TWO + "topic t\nconsumer t--1", 4, 10, "'t--1' is no partition name"),
        (TWO + "topic t\ntopic t partition=0", 4, 1, "partition t-0 is introduced twice"),
        (TWO + "topic t replicas=none", 3, 9, "without replicas"),
        (TWO + "topic t replicas=1,1", 3, 9, "lists a broker twice"),
        (TWO + "topic t replicas=1 isr=1,2", 3, 20, "isr has broker 2"),
        (TWO + "topic t replicas=1,3 isr=3", 3, 22, "isr has broker 3"),
        (TWO + "topic t isr=none", 3, 9, "without an ISR"),
        (TWO + "topic t isr=1 leader=2", 3, 15, "leader 2 is not in the ISR"),
        (TWO + "topic t adding=7", 3, 9, "adding has broker 7"),
        (TWO + "topic t leader-epoch=2 log=9@5", 3, 9, "records of leader epoch 5"),
        (TWO + "topic t flushed=-3", 3, 17, "'-3' is negative"),
        (TWO + "topic t\nreplica t-0 log=5@1", 4, 1, "'replica' needs broker="),
        (TWO + "topic t replicas=1\nreplica t-0 broker=2 log=5@1", 4, 13, "no replica on broker 2"),
        (TWO + "topic t\n" + "replica t-0 broker=2 log=5@1\n" * 2, 5, 1, "is given twice"),
        (TWO + "topic t\n" + "consumer t-0\n" * 2, 5, 1, "consumer on t-0 is introduced twice"),
        (TWO + "topic t\nconsumer t-1", 4, 10, "there is no partition 't-1'"),
        (TWO + "topic t\nconsumer t-0 name=7up", 4, 19, "'7up' is no consumer's name"),
        (TWO + "topic t\nconsumer t-0 reset=never", 4, 20, "'never' is not known here"),
        (TWO + "topic t\nconsumer t-0 position=-1", 4, 23, "'-1' is negative"),
        (TWO + "topic t\npoll t-0 consumer=me", 4, 19, "there is no consumer 'me'"),
        (TWO + "topic t\npoll t-0\nreset t-0", 5, 1, "'reset' needs to="),
        ("".join(f"broker {i}\n" for i in range(1, 15)), 13, 1, "too large"),
    ],
)
def test_what_cannot_be_is_refused(header: str, line: int, column: int, found: str) -> None:
    with pytest.raises(PlayError) as problem:
        parse(header, "race.play")
    assert str(problem.value).startswith(f"race.play:{line}:{column}: ")
    assert found in str(problem.value)


def test_a_replica_may_be_on_a_broker_that_is_not_registered() -> None:
    play = parse("broker 1\ntopic t replicas=1,2 isr=1")
    assert setup_of(play, features_of(play)).partitions[0].replicas == (1, 2)


def test_the_leader_epoch_is_that_of_the_newest_records_unless_given() -> None:
    play = parse(TWO + "topic t log=80@4\nreplica t-0 broker=2 log=80@4,2@5")
    assert setup_of(play, features_of(play)).partitions[0].leader_epoch == 5

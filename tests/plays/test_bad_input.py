"""What can be wrong with a play: file, line, column, what was found, what was expected there."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.header import features_of, setup_of
from kiplab.plays.library import find
from kiplab.plays.play import LINE_LENGTH_MAX, LINES_MAX, Statement
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import do_line, open_stage, run_play
from kiplab.protocol.features import parse_features

HEAD = "kafka 3.4\nbroker 1\nbroker 2\ntopic orders replicas=1,2 isr=1 log=10@0\n"
TWO = "broker 1 epoch=40\nbroker 2 epoch=41\n"


def assert_refused(text: str, line: int, column: int, *parts: str) -> None:
    """That a play cannot be read, at this place, and what is said of it."""
    with pytest.raises(PlayError) as problem:
        parse(text, "race.play")
    assert str(problem.value).startswith(f"race.play:{line}:{column}: ")
    assert [part for part in parts if part not in str(problem.value)] == []


@pytest.mark.parametrize(
    ("line", "column", "found", "expected"),
    [
        ("delivr alter-partition", 1, "unknown verb 'delivr'", "; did you mean 'deliver'?"),
        ("xyzzy 2", 1, "unknown verb 'xyzzy'", "and 54 more"),
        ("crash 7", 7, "no broker '7'", "the brokers are 1, 2"),
        ("crash 2 dsk=kept", 9, "'crash' has no 'dsk'", "disk"),
        ("crash 2 disk=melted", 14, "'melted' is not known", "replaced"),
        ("crash", 1, "'crash' has 0", "crash BROKER"),
        ("crash 2 1", 9, "'crash' has 2", "crash BROKER"),
        ("hold alter-partitions", 6, "'alter-partitions'", "'alter-partition'"),
        ("produce clicks-0 count=1", 9, "no partition 'clicks-0'", "orders-0"),
        ("produce orders-0 count=none", 24, "no whole number", "expected 0, 17"),
        ("advance 9", 9, "no duration", "9s"),
        ("expect error=INELIGIBLE", 14, "no Kafka error", "INELIGIBLE_REPLICA"),
        ("expect guard=904.x", 14, "unknown guard '904.x'", "kiplab guards"),
        ("expect @3.1 verdict=safe", 8, "unknown release '3.1'", "3.2"),
        ("upgrade 1 kafka=2.8", 17, "unknown release '2.8'", "3.2"),
        ("send metadata from=1", 6, "'metadata' is not known", "update-metadata"),
    ],
)
def test_a_line_that_cannot_be_read(line: str, column: int, found: str, expected: str) -> None:
    assert_refused(HEAD + line, 5, column, found, expected)


@pytest.mark.parametrize(
    ("line", "column", "found"),
    [
        ("fetch ²", 7, "there is no broker '²'"),
        ("produce orders-0 count=0", 24, "'0' is out of range"),
        ("hold hold", 6, "'hold' is not known here"),
        ("upgrade 7 kafka=3.6", 9, "there is no broker '7'"),
        ("upgrade all", 1, "does not say what is upgraded to what"),
        ("upgrade 1 metadata=3.5-IV2", 1, "does not say what is upgraded to what"),
        ("send fetch from=2 to=controller", 22, "there is no broker 'controller'"),
        ("send alter-partition from=1 to=2", 29, "alter-partition has no 'to'"),
        ("send elect-leaders from=1 isr=1", 27, "elect-leaders has no 'isr'"),
        ("expect", 1, "expects nothing"),
        ("expect broker ² fenced=no", 15, "there is no broker '²'"),
        ("expect broker 1 2 fenced=no", 8, "'broker 1 2' cannot be read"),
        ("expect broker 1", 1, "expects nothing"),
        ("expect replica 1 clicks-0 end=0", 18, "there is no partition 'clicks-0'"),
        ("expect @3.4 clicks-0 isr=1", 13, "there is no partition 'clicks-0'"),
        ("expect orders-0 fenced=no", 17, "orders-0 has no 'fenced'"),
        ("produce t--1 count=1", 9, "'t--1' is no partition name"),
        ("poll ..-0", 6, "'..-0' is no partition name"),
        ("send fetch from=2 partition=t--1", 29, "'t--1' is no partition name"),
        ("send fetch from=2 partition=t-01", 29, "'t-01' is no partition name"),
        ("send fetch from=2 partition=orders", 29, "'orders' is no partition name"),
        ("expect t--1 isr=1", 8, "'t--1' is no partition name"),
        ("expect reply t--1 isr=1", 14, "'t--1' is no partition name"),
        ("expect replica 1 t--1 end=0", 18, "'t--1' is no partition name"),
        ("expect consumer t--1 position=0", 17, "'t--1' is no partition name"),
        ("expect lost t--1 0..3", 13, "'t--1' is no partition name"),
        ("expect lost clicks-0 0..3", 13, "there is no partition 'clicks-0'"),
        ("expect lost", 8, "'lost' cannot be read"),
        ("expect lost orders-0 all", 8, "'lost orders-0 all' cannot be read"),
        ("expect property durability broken", 17, "'durability' is not known"),
        ("expect error=NONE isr=1", 19, "the last line has no 'isr'"),
        ("advance 0s", 9, "'0s' is no duration"),
        ("fetch 2\x0cfetch 2", 1, "control character"),
    ],
)
def test_the_place_of_what_is_wrong(line: str, column: int, found: str) -> None:
    assert_refused(HEAD + line, 5, column, found)


def test_a_wrong_partition_name_is_told_what_a_right_one_is() -> None:
    said = ("TOPIC-NUMBER", "orders-0", "249", "neither . nor ..", "a number from 0")
    assert_refused(HEAD + "produce t--1 count=1", 5, 9, *said)


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
def test_a_header_that_describes_what_cannot_be(
    header: str, line: int, column: int, found: str
) -> None:
    assert_refused(header, line, column, found)


def test_a_replica_may_be_on_a_broker_that_is_not_registered() -> None:
    play = parse("broker 1\ntopic t replicas=1,2 isr=1")
    assert setup_of(play, features_of(play)).partitions[0].replicas == (1, 2)


def test_the_leader_epoch_is_that_of_the_newest_records_unless_given() -> None:
    play = parse(TWO + "topic t log=80@4\nreplica t-0 broker=2 log=80@4,2@5")
    assert setup_of(play, features_of(play)).partitions[0].leader_epoch == 5


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("kafka 3.1\nbroker 1", "unknown release '3.1'"),
        ("kafka 3.3/3.5-IV1\nbroker 1", "does not know metadata version 3.5-IV1"),
        ("off 904\nbroker 1", "unknown guard '904'"),
        ("title only", "there is no broker"),
        ("broker 1\ncrash 1\nbroker 2", "belongs to the header"),
        ("broker 1\ntopic t log=5@2,5@1", "leader epochs have to rise"),
    ],
)
def test_a_header_that_cannot_be_read(header: str, found: str) -> None:
    with pytest.raises(PlayError, match=found.replace("(", r"\(")):
        parse(header)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("start 1", "broker 1 is running already"),
        ("deliver alter-partition from=1", "no such message is in flight (in flight: nothing)"),
        ("recover 1", "broker 1 is RUNNING"),
        ("advance 9s", "this run has no clock"),
        ("produce orders-0 count=1 to=2", "broker 2 does not lead orders-0"),
        ("heal 1 2", "that link is not cut"),
        ("retry 1", "no AlterPartition to retry"),
    ],
)
def test_a_move_that_is_impossible_now(line: str, reason: str) -> None:
    with pytest.raises(PlayError) as problem:
        run_play(parse(HEAD + line, "race.play"))
    assert str(problem.value).startswith("race.play:5:1: ")
    assert reason in str(problem.value)


def test_an_impossible_line_leaves_the_history_as_it_was() -> None:
    stage = open_stage(parse(HEAD))
    with pytest.raises(PlayError):
        do_line(stage, Statement("start", ("1",)), 5)
    assert stage == open_stage(parse(HEAD))


def test_under_other_features_a_line_without_object_is_not_applicable() -> None:
    play = parse(HEAD + "start 1\ncrash 2\n")
    stage = run_play(play, parse_features("3.9"))
    assert stage.performed[0].not_applicable is not None
    assert stage.performed[1].not_applicable is None


def test_sizes_are_bounded() -> None:
    with pytest.raises(PlayError, match=f"at most {LINES_MAX}"):
        parse("# a\n" * (LINES_MAX + 1))
    with pytest.raises(PlayError, match=f"at most {LINE_LENGTH_MAX}"):
        parse("title " + "x" * LINE_LENGTH_MAX)
    with pytest.raises(PlayError, match="at most 12 brokers"):
        run_play(parse("\n".join(f"broker {n}" for n in range(40))))
    with pytest.raises(PlayError, match="control character"):
        parse("title \x00\nbroker 1")


@pytest.mark.parametrize("source", ["no-such-play", "no/such/file.play"])
def test_a_play_that_is_not_there(source: str) -> None:
    with pytest.raises(PlayError, match=r"no-such-play|No such file"):
        find(source)

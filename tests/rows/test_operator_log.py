"""What operators read in the logs, release by release."""

import pytest

from kiplab.protocol.releases import Mode, of_mode
from kiplab.rows.columns import Rows
from kiplab.rows.sentences import LOG, sentences, table
from tests.figures.small_plays import HELD, TRIO, play

KRAFT = of_mode(Mode.KRAFT)


def logs(rows: Rows) -> list[str]:
    return [line for event in rows.events for line in event.log.split("\n") if line]


def sent(text: str, kafka: str = "3.5") -> list[str]:
    """The log after a raw request: `text` is what follows ``send``."""
    return logs(play(f"{TRIO}send {text}\n", kafka))


FAILED = {
    **dict.fromkeys(("3.2", "3.3", "3.4"), "failed with {} in … us"),
    "3.5": "failed with {} in … us. Reason: {}",
    "3.6": "event failed with {} in … microseconds.",
    **dict.fromkeys(
        ("3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3"),
        "event failed with {} in … microseconds. Exception message: {}",
    ),
}
"""How the controller's queue logs an exception, and what it was about."""


def test_the_words_of_every_release_are_written_down_here() -> None:
    lacks = set(KRAFT) - set(FAILED)
    assert not lacks, (
        f"read what QuorumController logs at {sorted(lacks)}, and add it to FAILED"
        " (tests/rows/test_operator_log.py); compare the other lines of rows/controller_log.py,"
        " rows/broker_log.py and rows/rejection_lines.py, and the reasons"
        " in tests/rows/unlogged.py, with that source too"
    )


def test_the_elections_that_a_controller_holds_unasked_are_logged_from_3_9_on() -> None:
    text = (
        "broker 1\nbroker 2\ntopic t replicas=1,2 isr=1,2 leader=2\n"
        "topic u replicas=1,2 isr=1 leader=1 unclean-leader-election=yes\n"
        "controller auto-leader-rebalance=yes\n"
    )
    lines = "crash 1\nexpire 1\nupgrade all kafka=3.9\nelect-unclean\n"
    found = logs(play(text + lines, "3.8"))
    assert found[-2:] == [
        "controller log, ERROR ReplicationControlManager: Triggering unclean leader election for"
        " offline partition u-0.",
        "controller log, INFO QuorumController: maybeElectUncleanLeaders: generated 1 records in"
        " … microseconds.",
    ]
    crash = "crash 1\nexpire 1\ncrash 2\nexpire 2\n"
    later = f"{crash}upgrade all kafka=3.9\nelect-unclean\n"
    assert logs(play(text + later, "3.8"))[-2] == (
        "controller log, WARN ReplicationControlManager: Cannot trigger unclean leader election for"
        " offline partition u-0: ELIGIBLE_LEADERS_NOT_AVAILABLE"
    )


@pytest.mark.parametrize(("kafka", "said"), [("3.9", 1), ("3.8", 0)])
def test_a_rebalance_is_logged_from_3_9_on(kafka: str, said: int) -> None:
    text = (
        "broker 1\nbroker 2\ntopic t replicas=1,2 isr=1,2 leader=2\n"
        "controller auto-leader-rebalance=yes\nbalance-leaders\n"
    )
    line = (
        "controller log, INFO QuorumController: maybeBalancePartitionLeaders: generated 1 records"
        " in … microseconds."
    )
    assert logs(play(text, kafka)).count(line) == said


@pytest.mark.parametrize(
    ("fields", "level", "why"),
    [
        ("leader-epoch=4", "DEBUG", "because the current leader epoch is 5, not 4."),
        ("partition-epoch=9", "INFO", "because the current partition epoch is 10, not 9."),
        (
            "partition-epoch=11",
            "DEBUG",
            "because the current partition epoch is 10, which is greater than the local value 11.",
        ),
    ],
)
def test_old_and_new_epochs_are_logged_at_their_levels(fields: str, level: str, why: str) -> None:
    values = {"leader-epoch": "5", "partition-epoch": "10"}
    values |= dict([fields.split("=")])
    given = " ".join(f"{key}={value}" for key, value in values.items())
    start = f"controller log, {level} ReplicationControlManager: Rejecting AlterPartition request"
    assert f"{start} from node 1 for t-0 {why}" in sent(
        f"alter-partition from=1 partition=t-0 isr=1,2 {given}"
    )


@pytest.mark.parametrize(
    ("text", "kafka", "said"),
    [
        (
            "send alter-partition from=1 partition=nobody-0 isr=1,2 version=1",
            *("3.5", f"unknown topic ID {'A' * 22} or name nobody."),
        ),
        (
            "send alter-partition from=1 partition=t-7 isr=1,2",
            *("3.5", "request for unknown partition t-7."),
        ),
        (
            "send broker-heartbeat from=2 want-fence=yes",
            "3.5",
            "controller log, INFO BrokerHeartbeatManager: Unfenced broker 2 has requested and been"
            " granted fencing",
        ),
        # A controller of 3.2 does not know whom to fence.
        (
            "crash 2\nsend unregister-broker from=1 broker=2\nexpire 2",
            "3.2",
            "controller log, WARN QuorumController: maybeFenceReplicas: failed with unknown server"
            " exception RuntimeException at epoch 1",
        ),
    ],
)
def test_what_no_play_of_the_library_shows_is_logged(text: str, kafka: str, said: str) -> None:
    """The others are in log_lines.txt, release by release."""
    assert [line for line in logs(play(f"{TRIO}{text}\n", kafka)) if said in line]


CHANGING = "controller log, INFO ReplicationControlManager: {}: changing 1 partition(s)"


@pytest.mark.parametrize("kafka", FAILED)
def test_a_broker_that_is_unregistered_says_how_many_partitions_change(kafka: str) -> None:
    found = sent("unregister-broker from=1 broker=1", kafka)
    assert found[0] == CHANGING.format("handleBrokerUnregistered")
    reason = "Broker ID 7 is not currently registered"
    said = "unregisterBroker: " + FAILED[kafka].format("BrokerIdNotRegisteredException", reason)
    unknown = sent("unregister-broker from=1 broker=7", kafka)
    assert unknown == [f"controller log, INFO QuorumController: {said}"]


@pytest.mark.parametrize(
    ("kafka", "named"),
    [("3.2", "topic ID null."), ("3.3", "topic ID … or name ."), ("3.9", "topic ID … or name .")],
)
def test_a_topic_that_nobody_knows_is_logged_once(kafka: str, named: str) -> None:
    twice = "partition=nobody-0 isr=1,2 partition=nobody-1 isr=1,2"
    found = sent(f"alter-partition from=1 {twice}", kafka)
    start = "controller log, INFO ReplicationControlManager: Rejecting AlterPartition request"
    assert [line for line in found if "Rejecting" in line] == [f"{start} for unknown {named}"]


LATE_FETCH = TRIO + "hold fetch from=2\nfetch 2\n{}crash 3\nexpire 3\ndeliver fetch from=2\n"


def test_a_follower_that_has_not_heard_of_the_epoch_says_that_it_waits() -> None:
    rows = play(LATE_FETCH.format("hold metadata to=2\n"))
    waits, failed = [x for x in logs(rows) if "ReplicaFetcherThread" in x]
    assert "has an older epoch (5) than the current leader. Will await" in waits
    assert failed == "broker 2 log, WARN ReplicaFetcherThread: Partition t-0 marked as failed"


def test_what_kafka_does_not_log_has_no_line() -> None:
    assert logs(play(HELD)) == []


def test_a_refused_request_has_the_lines_of_both_sides(saved: Rows) -> None:
    (refused,) = [m for m in saved.messages if m.fate == "refused"]
    assert [line.split(":")[0] for line in refused.log] == [
        "controller log, INFO ReplicationControlManager",
        "broker 1 log, INFO Partition",
    ]


def test_sentences_and_table_have_the_log_too(saved: Rows) -> None:
    (told,) = [line for line in sentences(saved) if line.startswith("6.")]
    assert "requested=41 VS expected=57" in told
    heads, body = table(saved)
    assert heads[-1] == LOG
    assert "requested=41 VS expected=57" in body[6][-1]
    assert body[1][-1] == ""

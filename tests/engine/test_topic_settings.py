"""A topic's settings, changed while the cluster runs: who reads them, and when. What
min.insync.replicas has to do with KIP-966 is in test_eligible_leader_replicas.py.

Read in Kafka's code and judged by no controller: the judge changes no topic's settings.
"""

import pytest

from kiplab.engine import explain, moves
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.move_lines import statement_of
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.plays.verdict import lost
from kiplab.protocol.facts import TopicConfigured
from kiplab.protocol.ids import CONTROLLER, Count
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration
from kiplab.protocol.replica.broker_state import replica_of
from kiplab.rows.operator_log import all_lines
from kiplab.rows.snapshots import Moment
from tests.protocol.building import present

LEADERLESS = """
broker 1
broker 2
topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 log=80@4,20@5
replica orders-0 broker=2 log=80@4
topic clicks replicas=2,1
crash 1
expire 1
"""
ON = "configure orders unclean-leader-election=yes\n"


def played(kafka: str, lines: str, head: str = "") -> Stage:
    return run_play(parse(f"kafka {kafka}\n{head}{LEADERLESS}{lines}"))


def orders(stage: Stage) -> PartitionRegistration:
    return next(p for p in truth(stage.cluster).partitions if p.name == "orders-0")


@pytest.mark.parametrize("kafka", ["3.5", "3.8", "3.9", "4.3"])
def test_the_setting_elects_nobody_by_itself(kafka: str) -> None:
    stage = played(kafka, ON)
    before = played(kafka, "")
    assert orders(stage).leader == -1
    assert orders(stage).unclean_leader_election
    assert orders(stage).partition_epoch == orders(before).partition_epoch


def test_it_is_a_setting_of_one_topic() -> None:
    states = truth(played("3.9", ON).cluster).partitions
    assert [(p.name, p.unclean_leader_election) for p in states] == [
        ("clicks-0", False),
        ("orders-0", True),
    ]


@pytest.mark.parametrize("kafka", ["3.9", "4.3"])
def test_from_3_9_on_the_next_look_at_leaderless_partitions_elects(kafka: str) -> None:
    stage = played(kafka, ON + "elect-unclean\n")
    assert orders(stage).leader == 2
    assert lost(stage) == [{"partition": "orders-0", "first": 80, "last": 99}]


@pytest.mark.parametrize("kafka", ["3.9", "4.3"])
def test_with_a_clock_it_elects_within_300_s(kafka: str) -> None:
    text = f"kafka {kafka}\ntimed\n{LEADERLESS.replace('expire 1', 'advance 12s')}{ON}"
    assert orders(run_play(parse(text))).leader == -1
    assert orders(run_play(parse(f"{text}advance 300s\n"))).leader == 2


def test_an_unfenced_broker_is_a_reason_to_elect_too() -> None:
    """ReplicationControlManager.handleBrokerUnfenced looks at all partitions without a leader."""
    again = "crash 2\nexpire 2\nstart 2\n"
    assert orders(played("3.9", f"{again}unfence 2\n")).leader == -1
    state = orders(played("3.9", f"{again}{ON}unfence 2\n"))
    assert (state.leader, state.isr, state.recovery) == (2, (2,), LeaderRecoveryState.RECOVERING)


@pytest.mark.parametrize("kafka", ["3.2", "3.5", "3.8"])
def test_up_to_3_8_no_controller_reads_it(kafka: str) -> None:
    stage = played(kafka, f"{ON}crash 2\nexpire 2\nstart 2\nunfence 2\n")
    assert orders(stage).leader == -1
    (told,) = (e for e in stage.events if isinstance(e, TopicConfigured))
    assert not told.heeded
    assert "does not read it (KAFKA-12670)" in explain.sentence(told)
    why = why_not(stage.cluster, moves.Fire(CONTROLLER, moves.Timer.ELECT_UNCLEAN))
    assert why is not None
    assert "KAFKA-12670" in why


def test_off_again_it_elects_nobody() -> None:
    stage = played("3.9", f"{ON}configure orders unclean-leader-election=no\nelect-unclean\n")
    assert orders(stage).leader == -1
    (told, off) = (e for e in stage.events if isinstance(e, TopicConfigured))
    assert (told.value, off.value) == ("true", "false")


def test_its_record_takes_an_offset_of_the_metadata_log() -> None:
    """So the broker that registers after it has a broker epoch that is one higher."""

    def epoch(lines: str) -> int:
        found = truth(played("3.9", f"{lines}crash 2\nexpire 2\nstart 2\n").cluster)
        return next(r.epoch for r in found.registrations if r.broker == 2)

    assert epoch(ON) == epoch("") + 1


def test_what_it_is_already_is_no_change() -> None:
    cluster = played("3.9", ON).cluster
    move = moves.Configure("orders", True)
    assert why_not(cluster, move) == "unclean.leader.election.enable of orders is true already"
    none = why_not(cluster, moves.Configure("payments", True))
    assert none == "there is no topic payments (there is clicks, orders)"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("configure payments unclean-leader-election=yes", "there is no topic 'payments'"),
        ("configure orders-0 unclean-leader-election=yes", "there is no topic 'orders-0'"),
        ("configure orders", "does not say which setting is changed"),
        (
            "configure orders min-insync-replicas=2 unclean-leader-election=yes",
            "does not say which setting is changed",
        ),
        ("configure orders min-insync-replicas=0", "'0'"),
        ("configure orders unclean-leader-election=true", "'true'"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused(line: str, said: str) -> None:
    with pytest.raises(PlayError, match=said):
        parse(f"{LEADERLESS}{line}\n")


@pytest.mark.parametrize(
    ("move", "line"),
    [
        (moves.Configure("orders", True), ON),
        (moves.Configure("orders", None, Count(2)), "configure orders min-insync-replicas=2\n"),
        (moves.ConfigureBrokers(Count(2)), "configure-brokers min-insync-replicas=2\n"),
    ],
)
def test_a_move_is_a_line_and_a_line_is_a_move(move: moves.Move, line: str) -> None:
    assert statement_of(move).text == line.strip()
    assert move in [step.move for step in played("3.9", line).history.steps]


LEAST = "configure orders min-insync-replicas=2\n"


@pytest.mark.parametrize("kafka", ["3.6", "3.7", "4.3"])
def test_a_leader_applies_a_new_min_insync_replicas_without_an_epoch(kafka: str) -> None:
    """Records that it has committed stay so; from 3.7 on the next ones wait (KAFKA-15583)."""
    head = f"kafka {kafka}\nbroker 1\nbroker 2\ntopic orders isr=1 log=10@0\n"
    stage = run_play(parse(f"{head}{LEAST}produce orders-0 count=5 acks=1\n"))
    assert orders(stage).partition_epoch == 0
    led = present(replica_of(stage.cluster.brokers[0], "orders-0"))
    assert led.min_insync_replicas == 2
    assert led.high_watermark == (15 if kafka == "3.6" else 10)


def test_min_insync_replicas_once_more_is_no_change_but_an_entry_of_its_own_is() -> None:
    cluster = played("4.3", "").cluster
    own = moves.Configure("orders", None, Count(1))
    assert why_not(cluster, own) is None
    cluster = played("4.3", "configure orders min-insync-replicas=1\n").cluster
    assert why_not(cluster, own) == "min.insync.replicas of orders is 1 already"
    stage = played("3.9", LEAST)
    (told,) = (e for e in stage.events if isinstance(e, TopicConfigured))
    assert explain.sentence(told).endswith("is 2; leaders alone read it")


@pytest.mark.parametrize(
    ("kafka", "line"),
    [
        ("3.5", "ConfigResource(type=TOPIC, name='orders'): set configuration"),
        ("3.9", "Replayed ConfigRecord for ConfigResource(type=TOPIC, name='orders') which set"),
    ],
)
def test_an_operator_reads_of_it_in_the_controllers_log(kafka: str, line: str) -> None:
    history = played(kafka, ON).history
    told = (text for step in history.steps for text in all_lines(Moment(history.start, step)))
    (said,) = (text for text in told if line in text)
    assert said.endswith("unclean.leader.election.enable to true")

"""KIP-704 as it is specified, clause by clause: which no release of Kafka does, so unjudged.

The number in a test's name is that of the clause in the ledger.
"""

from typing import Any

import pytest

from kiplab.engine import moves
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import settle
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.header import features_of
from kiplab.plays.library import load
from kiplab.plays.move_lines import statement_of
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage as PlayStage
from kiplab.plays.verdict import lost, refused
from kiplab.protocol.errors import KafkaError as E
from kiplab.protocol.facts import LeaderElected, LeaderRecovery, NotProposed, Refused
from kiplab.protocol.features import Features, parse_features, switched
from kiplab.protocol.ids import BrokerId, LeaderEpoch, Offset
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.replica import client_reads
from kiplab.protocol.replica.broker_state import replica_of
from kiplab.protocol.replica.recovering import is_recovering
from tests.protocol.building import instance, present
from tests.protocol.leading import KRAFT, NAME, Stage

RECOVERED, RECOVERING = LeaderRecoveryState
HEAD = """\
kafka     {kafka}
broker    1
broker    2
broker    3
topic     orders replicas=1,2,3 isr=1 leader=1 leader-epoch=6 log=11@5,10@6
replica   orders-0 broker=2 log=11@5
replica   orders-0 broker=3 log=11@5
consumer  orders-0
"""
ELECTED = "crash 1\nexpire 1\nelect orders-0 unclean=yes\nrefresh\n"
EVERYTHING = parse_features("3.5", on=("704.specified",))
TWO = BrokerId(2)


def played(lines: str, *on: str, kafka: str = "3.5", off: tuple[str, ...] = ()) -> PlayStage:
    """`lines` after an unclean election has made broker 2 the leader."""
    switches = "".join(f"on {name}\n" for name in on) + "".join(f"off {name}\n" for name in off)
    return run_play(parse(HEAD.format(kafka=kafka) + switches + ELECTED + lines, "made up"))


def specified(lines: str = "", kafka: str = "3.5") -> PlayStage:
    return played(lines, "704.specified", kafka=kafka)


def events(stage: PlayStage, kind: type) -> list[Any]:
    return [event for event in stage.events if isinstance(event, kind)]


def recovers(cluster: Cluster, broker: int = 2) -> bool:
    replica = present(replica_of(cluster.brokers[broker - 1], "orders-0"))
    return is_recovering(replica)


def state(stage: PlayStage) -> LeaderRecoveryState:
    return truth(stage.cluster).partitions[0].recovery


def leader(features: Features = EVERYTHING) -> Stage:
    """101 leads alone, RECOVERING; 102 and 103 follow."""
    return Stage(features, [101, 102, 103], [101], hw=10, cache=KRAFT, recovery=RECOVERING)


# --- the leader ---------------------------------------------------------------------------------


def test_704_7_an_unclean_election_leaves_one_member_and_recovering() -> None:
    stage = specified()
    (partition,) = truth(stage.cluster).partitions
    assert (partition.isr, partition.leader, partition.recovery) == ((2,), 2, RECOVERING)


def test_704_8_and_704_10_the_leader_says_when_it_is_done_and_only_then_it_is_recovered() -> None:
    stage = specified("hold alter-partition-reply\nfinish-recovery orders-0\n")
    assert [e.phase for e in events(stage, LeaderRecovery)] == ["begins", "done", "over"]
    stage = specified("hold alter-partition\nhold metadata\nfinish-recovery orders-0\n")
    assert recovers(stage.cluster), "the controller has not written it yet"
    assert state(stage) is RECOVERING


def test_704_10_as_implemented_nobody_tells_the_controller_before_the_isr_grows() -> None:
    stage = played("produce orders-0 count=1\nheartbeat 2\n")
    assert state(stage) is RECOVERING
    assert not recovers(stage.cluster)
    assert state(played("catch-up 3\n")) is RECOVERED


def test_704_11_and_704_12_no_follower_joins_before_the_recovery_is_over() -> None:
    stage = played("catch-up 3\n", "704.leader-recovers")
    (barred,) = events(stage, NotProposed)
    assert (barred.follower, barred.guard) == (3, "704.leader-recovers")
    assert truth(stage.cluster).partitions[0].isr == (2,)
    stage = specified("catch-up 3\nfinish-recovery orders-0\ncatch-up 3\n")
    assert truth(stage.cluster).partitions[0].isr == (2, 3)


@pytest.mark.parametrize(
    ("line", "request_"),
    [
        ("fetch 3", "fetch"),
        ("poll orders-0", "consumer-fetch"),
        ("produce orders-0 count=1", "produce"),
        ("produce orders-0 count=1 acks=1", "produce"),
        ("reset orders-0 to=earliest", "list-offsets"),
        ("reset orders-0 to=latest", "list-offsets"),
        ("delete-records orders-0", "delete-records"),
    ],
)
def test_704_14_requests_to_a_recovering_leader_are_refused(line: str, request_: str) -> None:
    (found,) = refused(specified(line))
    assert found["error"] == "NOT_LEADER_OR_FOLLOWER"
    assert (found["guard"], found["request"]) == ("704.leader-refuses", request_)
    held = {"name": "leader recovery state", "requested": "needs RECOVERED", "held": "RECOVERING"}
    assert found["compared"] == [held]
    assert refused(specified(f"finish-recovery orders-0\n{line}")) == []
    assert refused(played(line)) == [], "as implemented it is answered"


def test_704_14_the_end_of_an_epoch_is_refused_as_well() -> None:
    lines = ELECTED.replace("crash 1", "poll orders-0\ncrash 1")
    head = HEAD.format(kafka="3.5")
    stage = run_play(parse(f"{head}on 704.specified\n{lines}poll orders-0\n"))
    (found,) = refused(stage)
    assert found["request"] == "offsets-for-leader-epoch"
    assert (found["error"], found["guard"]) == ("NOT_LEADER_OR_FOLLOWER", "704.leader-refuses")


def test_704_14_who_obeys_an_earlier_epoch_is_told_so_first() -> None:
    stage = leader()
    asked = client_reads.question(stage.broker, NAME, LeaderEpoch(4), EVERYTHING, None)
    answer = instance(Refused, client_reads.consumer_fetch(asked, Offset(0)))
    assert answer.error is E.FENCED_LEADER_EPOCH


def test_704_14_a_refused_request_leaves_the_same_broker() -> None:
    stage = leader()
    before = stage.broker
    assert stage.fetch(102, 10).error is E.NOT_LEADER_OR_FOLLOWER
    assert stage.broker is before


# --- another leader -----------------------------------------------------------------------------

LEADER_GONE = "crash 2\nexpire 2\nstart 2\nunfence 2\n"


def test_704_13_the_next_leader_comes_from_an_unclean_election_too() -> None:
    stage = specified(LEADER_GONE)
    (partition,) = truth(stage.cluster).partitions
    assert (partition.isr, partition.leader) == ((2,), -1), "it is back, and does not lead"
    stage = specified(f"{LEADER_GONE}elect orders-0 unclean=yes\n")
    (partition,) = truth(stage.cluster).partitions
    assert (partition.isr, partition.leader, partition.recovery) == ((2,), 2, RECOVERING)
    assert events(stage, LeaderElected)[-1].unclean
    assert recovers(stage.cluster)


def test_704_13_where_the_topic_allows_it_the_controller_does_so_by_itself() -> None:
    text = HEAD.format(kafka="3.9").replace(
        "isr=1 leader=1", "isr=1 leader=1 unclean-leader-election=yes"
    )
    stage = run_play(parse(f"{text}on 704.specified\ncrash 1\nexpire 1\ncrash 2\nexpire 2\n"))
    elected = events(stage, LeaderElected)
    assert [(e.leader, e.unclean) for e in elected] == [(2, True), (3, True)]
    assert state(stage) is RECOVERING


def test_704_13_as_implemented_the_member_of_the_isr_is_elected_cleanly_and_the_state_kept() -> (
    None
):
    stage = played(LEADER_GONE)
    (partition,) = truth(stage.cluster).partitions
    assert (partition.leader, partition.recovery) == (2, RECOVERING)
    assert not events(stage, LeaderElected)[-1].unclean


def test_704_13_the_preferred_replica_has_to_wait_as_well() -> None:
    stage = specified("start 1\nunfence 1\nelect orders-0\n")
    assert truth(stage.cluster).partitions[0].leader == 2
    assert refused(stage)[-1]["error"] == "PREFERRED_LEADER_NOT_AVAILABLE"


def test_704_48_another_leader_writes_no_recovered() -> None:
    assert state(specified(LEADER_GONE)) is RECOVERING
    assert state(played(LEADER_GONE)) is RECOVERING


# --- what begins and ends it --------------------------------------------------------------------


def test_704_17_and_704_18_metadata_of_the_same_leader_epoch_ends_it_at_leader_and_followers() -> (
    None
):
    raw = "send alter-partition from=2 version=3 isr=2@102 recovery=0\n"
    stage = specified(f"hold alter-partition-reply\n{raw}")
    assert not recovers(stage.cluster)
    assert truth(stage.cluster).partitions[0].leader_epoch == 8
    follower = Stage(EVERYTHING, [101, 102], [102], hw=10)
    for epoch, told, barred in ((2, RECOVERING, True), (3, RECOVERED, False)):
        follower.metadata([101, 102], [102], le=6, pe=epoch, leader=102, recovery=told)
        asked = client_reads.question(follower.broker, NAME, LeaderEpoch(6), EVERYTHING, None)
        answer = client_reads.consumer_fetch(asked, Offset(0))
        guard = answer.guard if isinstance(answer, Refused) else None
        assert (guard == "704.follower-refuses") is barred


def test_704_32_and_704_55_a_leader_recovers_whatever_metadata_version_holds() -> None:
    old = switched(parse_features("3.5/3.3-IV0"), "704.specified", True)
    assert leader(old).leading.isr_state.recovery is RECOVERING


@pytest.mark.parametrize("version", [0, 1])
def test_704_39_and_704_54_version_0_of_alter_partition_means_recovered(version: int) -> None:
    raw = f"send alter-partition from=2 version={version} isr=2 recovery=1\n"
    assert state(played(raw)) is (RECOVERING if version else RECOVERED)
    assert recovers(specified(raw).cluster) is bool(version)


def test_704_37_nobody_joins_while_the_state_stays_recovering() -> None:
    raw = "send alter-partition from=2 version=3 isr=2@102,3@103 recovery=1\n"
    for stage in (played(raw), specified(raw)):
        (found,) = refused(stage)
        assert (found["error"], found["guard"]) == ("INVALID_REQUEST", "704.recovering-alone")


def test_704_38_no_leader_asks_to_recover_again() -> None:
    raw = "catch-up 3\nsend alter-partition from=2 version=3 isr=2@102 recovery=1\n"
    found = refused(played(raw))[-1]
    assert (found["error"], found["guard"]) == ("INVALID_REQUEST", "704.no-way-back")


def test_704_42_an_answer_to_alter_partition_begins_no_recovery() -> None:
    stage = Stage(EVERYTHING, [101, 102], [101], hw=10, cache=KRAFT)
    stage.fetch(102, 10)
    stage.completes([101, 102], recovery=RECOVERING)
    assert stage.is_committed([101, 102])
    assert not is_recovering(stage.replica)


def test_704_42_but_it_may_end_one() -> None:
    stage = leader()
    stage.recovers()
    assert stage.proposed == {101: 1101}
    stage.completes([101])
    assert not is_recovering(stage.replica)


def test_704_57_a_refused_follower_asks_again() -> None:
    stage = specified("fetch 3\nfinish-recovery orders-0\nfetch 3\n")
    assert [found["request"] for found in refused(stage)] == ["fetch"]
    assert truth(stage.cluster).partitions[0].isr == (2, 3)


# --- finish-recovery ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "on", "said"),
    [
        ("finish-recovery orders-0", (), "no release of Kafka recovers anything"),
        (2 * "finish-recovery orders-0\n", ("704.specified",), "it has nothing to finish"),
        (
            "hold alter-partition\nfinish-recovery orders-0\nfinish-recovery orders-0",
            ("704.specified",),
            "has reported it already, and waits for the controller's reply",
        ),
        ("crash 2\nfinish-recovery orders-0", ("704.specified",), "broker 2 is down"),
        ("crash 2\nexpire 2\nfinish-recovery orders-0", ("704.specified",), "has no leader"),
        ("finish-recovery orders-0 by=3", ("704.specified",), "broker 3 does not lead orders-0"),
        ("finish-recovery orders-1", ("704.specified",), "the partitions are orders-0"),
        ("finish-recovery orders-0 by=7", ("704.specified",), "the brokers are 1, 2, 3"),
    ],
)
def test_nothing_is_finished_where_nothing_recovers(
    lines: str, on: tuple[str, ...], said: str
) -> None:
    with pytest.raises(PlayError, match=said):
        played(lines, *on)


def test_under_other_features_the_line_has_lost_its_object() -> None:
    head = HEAD.format(kafka="3.5")
    play = parse(f"{head}on 704.specified\n{ELECTED}finish-recovery orders-0\n")
    twin = run_play(play, switched(features_of(play), "704.specified", False))
    missing = [p.not_applicable for p in twin.performed if p.not_applicable]
    assert [m.text for m in missing] == ["finish-recovery orders-0"]


def test_a_play_of_a_release_may_have_the_line_for_those_who_ask_for_the_rules() -> None:
    line = "finish-recovery orders-0 where=704.specified\n"
    (missing,) = (p.not_applicable for p in played(line).performed if p.not_applicable)
    assert missing.reason == "it is for 704.specified, which is not on here"
    assert state(specified(line)) is RECOVERED
    with pytest.raises(PlayError, match=r"KIP\.specified what it wants and no release does"):
        specified("finish-recovery orders-0 where=recovery\n")


FIVE = {"fetch", "consumer-fetch", "produce", "list-offsets", "delete-records"}
FIVE |= {"offsets-for-leader-epoch"}


def test_the_play_names_the_lost_offsets_and_each_refused_request() -> None:
    play = load("unclean-election")
    asked = switched(features_of(play), "704.specified", True)
    for features in (None, asked):
        (one,) = lost(run_play(play, features))
        assert one == {"partition": "orders-0", "first": 11, "last": 20}
    found = [r for r in refused(run_play(play, asked)) if r["guard"] == "704.leader-refuses"]
    assert {r["request"] for r in found} == FIVE, "Fetch both of a follower and of a consumer"
    assert {r["error"] for r in found} == {"NOT_LEADER_OR_FOLLOWER"}
    (only,) = refused(run_play(play))
    assert only["guard"] == "704.recovering-alone"


def test_a_history_says_who_was_done() -> None:
    stage = specified("finish-recovery orders-0\n")
    lines = [statement_of(step.move).text for step in stage.history.steps]
    assert "finish-recovery orders-0 by=2" in lines


def test_a_deposed_leader_that_is_done_is_told_so_by_the_controller() -> None:
    lines = "hold metadata to=2\ncut controller 2\nexpire 2\nelect orders-0 unclean=yes\n"
    stage = specified(f"{lines}heal controller 2\nfinish-recovery orders-0 by=2\n")
    found = refused(stage)[-1]
    assert (found["request"], found["error"]) == ("alter-partition", "FENCED_LEADER_EPOCH")
    assert recovers(stage.cluster), "it waits for metadata"


def test_a_cluster_that_is_left_alone_recovers() -> None:
    here = settle(specified("hold metadata to=1\n").cluster)
    (partition,) = truth(here).partitions
    assert (partition.isr, partition.recovery) == ((2, 3, 1), RECOVERED)
    assert why_not(here, moves.FinishLeaderRecovery("orders-0", TWO))


def test_as_implemented_the_states_are_what_they_were() -> None:
    on = canonical(played("catch-up 3\nproduce orders-0 count=2\n").cluster)
    assert "704" not in repr(on.features)
    assert not recovers(on)


# --- the alternatives that it rejected ----------------------------------------------------------


def test_704_60_and_704_61_with_the_epoch_of_the_election_the_recovery_is_forgotten() -> None:
    kept = ("704.specified", "704.election-epoch")
    stage = played("crash 2\nexpire 2\n", *kept)
    assert state(stage) is RECOVERED, "the leader epoch has risen: it is another number now"
    stage = played(LEADER_GONE, *kept)
    (partition,) = truth(stage.cluster).partitions
    assert (partition.leader, partition.recovery) == (2, RECOVERED)
    assert not events(stage, LeaderElected)[-1].unclean
    assert not recovers(stage.cluster), "and nobody has recovered anything"


def test_704_60_while_the_leader_sits_the_two_are_the_same() -> None:
    for lines in ("", "finish-recovery orders-0\ncatch-up 3\n"):
        with_state = specified(lines)
        with_epoch = played(lines, "704.specified", "704.election-epoch")
        assert truth(with_state.cluster).partitions == truth(with_epoch.cluster).partitions


@pytest.mark.parametrize("on", [(), ("704.specified",)])
@pytest.mark.parametrize(
    "lines",
    [
        "catch-up 3\n",
        LEADER_GONE,
        "send alter-partition from=2 version=3 isr=2@102 recovery=0\n",
        "send alter-partition from=2 version=3 isr=2@102,3@103 recovery=1\n",
        "send alter-partition from=2 version=3 isr=2@102 recovery=1\n",
    ],
)
def test_704_62_a_boolean_does_whatever_the_byte_does(lines: str, on: tuple[str, ...]) -> None:
    byte, boolean = played(lines, *on), played(lines, *on, "704.election-boolean")
    assert boolean.events == byte.events


def test_704_62_but_for_a_byte_that_means_nothing() -> None:
    raw = "send alter-partition from=2 version=3 isr=2@102 recovery=7\n"
    assert refused(played(raw))[-1]["error"] == "UNKNOWN_SERVER_ERROR"
    assert refused(played(raw, "704.election-boolean")) == []

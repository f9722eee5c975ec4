"""What Kafka's metrics say through a run: by name, by node, by release."""

import re
from itertools import pairwise

import pytest

from kiplab.plays.library import names
from kiplab.protocol.releases import RELEASES
from kiplab.rows.columns import MetricRow, Rows
from kiplab.rows.metrics import METRICS, Metric
from kiplab.rows.view import until, views
from kiplab.runs import run
from tests.figures.small_plays import PAIR, TRIO, UNCLEAN, play
from tests.kafka_14139 import rows_on
from tests.repeated import every_play

Steps = list[tuple[int, int, int]]
EXPANDING = PAIR + "hold metadata to=1\ncatch-up 2\nrelease metadata to=1\n"
OUTSIDE = TRIO.replace("leader=1 ", "isr=1,2 leader=1 ")
NOT_EVEN_SENT = OUTSIDE + "hold alter-partition from=1\ncatch-up 3\nexpire 2\nfetch 3\n"


def said(rows: Rows, metric: str, node: str = "controller") -> Steps:
    """(x0, x1, value) of what a node reports."""
    return [(r.x0, r.x1, r.value) for r in rows.metrics if (r.metric, r.node) == (metric, node)]


def counted(rows: Rows, metric: str, node: str = "controller") -> int:
    """What a node's meter has come to at the end."""
    return said(rows, metric, node)[-1][2]


# --- who reports --------------------------------------------------------------------------------


def test_a_broker_reports_what_it_leads_and_nothing_while_it_is_down() -> None:
    rows = run("last-replica").rows()
    assert said(rows, "UnderReplicatedPartitions", "broker 1") == [(0, 1, 1), (3, 4, 0), (4, 6, 1)]
    assert said(rows, "UnderReplicatedPartitions", "broker 2") == [(0, 6, 0)]
    assert not said(rows, "UnderReplicatedPartitions")


def test_a_partition_that_nobody_leads_is_offline_and_not_under_replicated() -> None:
    """An alarm on UnderReplicatedPartitions alone falls silent just when it gets worse."""
    rows = run("last-replica").rows()
    assert said(rows, "OfflinePartitionsCount") == [(0, 2, 0), (2, 4, 1), (4, 6, 0)]
    at_3 = [r.value for r in rows.metrics if r.metric == "UnderReplicatedPartitions" and _at(r, 3)]
    assert at_3 == [0, 0, 0]


def _at(row: MetricRow, x: int) -> bool:
    return row.x0 <= x < row.x1


def test_a_leader_that_has_not_heard_of_its_successor_counts_its_partition_still() -> None:
    rows = play(TRIO + "cut 1 controller\nexpire 1\nheal 1 controller\n")
    assert said(rows, "LeaderCount", "broker 1") == [(0, 3, 1), (3, 4, 0)]
    assert said(rows, "LeaderCount", "broker 2") == [(0, 2, 0), (2, 4, 1)]
    assert said(rows, "UnderReplicatedPartitions", "broker 1") == [(0, 4, 0)]
    assert said(rows, "UnderReplicatedPartitions", "broker 2") == [(0, 2, 0), (2, 4, 1)]


# --- the plays of the lessons -------------------------------------------------------------------


def test_kafka_14139_looks_healthier_at_each_step_that_loses_the_records() -> None:
    rows = rows_on("kafka-14139", "3.4")
    assert said(rows, "UnderReplicatedPartitions", "broker 1")[:2] == [(0, 6, 1), (6, 7, 0)]
    assert said(rows, "FencedBrokerCount")[:3] == [(0, 3, 0), (3, 5, 1), (5, 8, 0)]
    assert said(rows, "OfflinePartitionsCount") == [(0, 12, 0)]
    assert counted(rows, "FailedIsrUpdatesPerSec", "broker 1") == 0


def test_under_kip_903_the_refusal_counts_as_a_failed_update_and_the_partition_is_offline() -> None:
    rows = rows_on("kafka-14139", "3.5")
    assert said(rows, "FailedIsrUpdatesPerSec", "broker 1") == [(0, 6, 0), (6, 12, 1)]
    assert said(rows, "OfflinePartitionsCount") == [(0, 8, 0), (8, 10, 1), (10, 12, 0)]


@pytest.mark.parametrize(
    "unclean", [play(UNCLEAN, "3.9"), run("unclean-election-by-config").rows()]
)
def test_an_unclean_election_is_counted_by_the_controller(unclean: Rows) -> None:
    assert counted(unclean, "UncleanLeaderElectionsPerSec") == 1


def test_a_controller_that_is_upgraded_counts_from_then_on() -> None:
    rows = run("unclean-election-after-upgrade").rows()
    assert said(rows, "UncleanLeaderElectionsPerSec") == [(3, 4, 0), (4, 5, 1)]


def test_in_controlled_shutdown_a_broker_is_active_and_leads_less() -> None:
    rows = run("903-window-2-during-shutdown").rows()
    assert said(rows, "ActiveBrokerCount") == [(0, 4, 2)]
    assert said(rows, "LeaderCount", "broker 2") == [(0, 2, 1), (2, 4, 0)]
    assert counted(rows, "IsrShrinksPerSec", "broker 1") == 0, "the controller shrinks it by itself"


def test_fewer_than_min_insync_replicas_is_its_own_metric() -> None:
    few = (
        TRIO.replace("leader=1", "leader=1 min-insync-replicas=2")
        + "crash 2\nexpire 2\ncrash 3\nexpire 3\n"
    )
    rows = play(few)
    assert said(rows, "AtMinIsrPartitionCount", "broker 1") == [(0, 2, 0), (2, 4, 1), (4, 5, 0)]
    assert said(rows, "UnderMinIsrPartitionCount", "broker 1") == [(0, 4, 0), (4, 5, 1)]


@pytest.mark.parametrize(("kafka", "under"), [("3.6", 1), ("3.7", 0)])
def test_from_3_7_on_no_more_members_are_asked_for_than_there_are_replicas(
    kafka: str, under: int
) -> None:
    few = PAIR.replace("isr=1 ", "isr=1,2 min-insync-replicas=3 ")
    rows = play(few + "produce t-0 count=1 acks=1\n", kafka)
    assert counted(rows, "UnderMinIsrPartitionCount", "broker 1") == under


# --- meters of the ISR --------------------------------------------------------------------------


def test_an_isr_that_the_leader_asked_for_counts_once_its_answer_is_there() -> None:
    rows = play(EXPANDING)
    assert counted(rows, "IsrExpandsPerSec", "broker 1") == 1
    assert counted(rows, "IsrShrinksPerSec", "broker 1") == 0


def test_it_does_not_count_if_metadata_says_so_before_the_answer() -> None:
    assert counted(play(PAIR + "catch-up 2\n"), "IsrExpandsPerSec", "broker 1") == 0


@pytest.mark.parametrize(("kafka", "shrinks", "failed"), [("3.5", 0, 1), ("3.6", 1, 0)])
def test_a_smaller_one_counts_as_a_shrink_if_the_leader_epoch_stays(
    kafka: str, shrinks: int, failed: int
) -> None:
    """Up to 3.5 (KAFKA-15021) a smaller ISR begins a new leader epoch: the leader, which has not
    heard of it, takes the answer for one that is not for it.
    """
    rows = play(TRIO + "hold metadata to=1\nproduce t-0 count=1\nfetch 2\ncheck-lag 1\n", kafka)
    assert counted(rows, "IsrShrinksPerSec", "broker 1") == shrinks
    assert counted(rows, "FailedIsrUpdatesPerSec", "broker 1") == failed
    assert counted(rows, "IsrExpandsPerSec", "broker 1") == 0


def test_a_refused_request_of_an_old_process_fails_no_update() -> None:
    """STALE_BROKER_EPOCH is about the whole request: no partition hears of it."""
    sent = "send alter-partition from=1 broker-epoch=1 partition=t-0 isr=1,2\n"
    assert counted(play(PAIR + sent), "FailedIsrUpdatesPerSec", "broker 1") == 0


def test_a_proposal_that_is_not_even_sent_fails_too() -> None:
    """The manager still waits for the answer to an older one of the same partition."""
    rows = play(NOT_EVEN_SENT)
    assert said(rows, "FailedIsrUpdatesPerSec", "broker 1") == [(0, 3, 0), (3, 4, 1)]


def test_a_count_goes_on_when_the_process_is_another_one() -> None:
    rows = play(NOT_EVEN_SENT + "crash 1\nstart 1\n")
    assert said(rows, "FailedIsrUpdatesPerSec", "broker 1") == [(0, 3, 0), (3, 6, 1)]


# --- every metric, every play -------------------------------------------------------------------


SOME = ("zk-2.1", "zk-3.4", "3.2", "3.9", "4.3")
"""Releases between which metrics were added; the others are asked, too, where there is time."""


@pytest.mark.parametrize("kafka", SOME)
@pytest.mark.parametrize("name", every_play())
def test_no_value_is_negative_and_no_count_goes_back(name: str, kafka: str) -> None:
    rows = run(name, kafka=kafka).rows()
    assert all(row.value >= 0 and row.x0 < row.x1 for row in rows.metrics)
    for metric in METRICS.values():
        for node in {row.node for row in rows.metrics if row.metric == metric.name}:
            steps = said(rows, metric.name, node)
            assert all(a[1] <= b[0] for a, b in pairwise(steps))
            if metric.kind != "gauge":
                assert [value for _, _, value in steps] == sorted(v for _, _, v in steps)


@pytest.mark.long(quick="::test_no_value_is_negative_and_no_count_goes_back")
@pytest.mark.parametrize("kafka", [kafka for kafka in RELEASES if kafka not in SOME])
@pytest.mark.parametrize("name", names())
def test_nor_in_any_other_release(name: str, kafka: str) -> None:
    test_no_value_is_negative_and_no_count_goes_back(name, kafka)


@pytest.mark.parametrize("kafka", RELEASES)
def test_every_release_reports_just_the_metrics_that_it_has(kafka: str) -> None:
    reported = {row.metric for row in play(TRIO, kafka).metrics}
    release = RELEASES[kafka]
    assert reported == {name for name, metric in METRICS.items() if metric.is_read_at(release)}


@pytest.mark.parametrize(("kafka", "reported"), [("zk-2.1", 3), ("zk-2.5.0", 4), ("zk-3.4", 4)])
def test_with_zookeeper_brokers_say_what_they_lead_and_nothing_of_kraft_is_shown(
    kafka: str, reported: int
) -> None:
    rows = run("380-missed-bounce", kafka=kafka).rows()
    assert len({row.metric for row in rows.metrics}) == reported
    assert {row.node for row in rows.metrics} == {"broker 0", "broker 1", "broker 2"}


def test_a_leader_of_zookeeper_mode_counts_its_isr() -> None:
    rows = run("380-missed-bounce", kafka="zk-2.2").rows()
    assert said(rows, "LeaderCount", "broker 2")[0][2] == 1
    assert [v for _, _, v in said(rows, "UnderReplicatedPartitions", "broker 2")] == [0, 2]


def test_all_registered_brokers_are_active_or_fenced() -> None:
    rows = run("kafka-14139").rows()
    active, fenced = said(rows, "ActiveBrokerCount"), said(rows, "FencedBrokerCount")
    assert [a[2] + f[2] for a, f in zip(active, fenced, strict=True)] == [2] * len(active)


@pytest.mark.parametrize("metric", METRICS.values(), ids=lambda metric: metric.name)
def test_an_entry_says_how_it_is_read_and_where_kafka_counts_it(metric: Metric) -> None:
    name, kind = metric.name, metric.kind
    ways = [metric.is_counted, metric.total, metric.marked]
    assert sum(way is not None for way in ways) == 1, f"{name}: say in one way how it is read"
    assert (metric.marked is None) is (kind == "gauge"), f"{name}: moves mark all but gauges"
    assert (metric.total is None) is metric.by_brokers or metric.marked, f"{name}: who reports it?"
    assert name.endswith("PerSec") is (kind == "meter"), f"{name}: Kafka calls meters ...PerSec"
    assert re.search(r"\w\.\w+.*\d\.\d", metric.source), f"{name}: name class, method and releases"


# --- views --------------------------------------------------------------------------------------


def test_a_folded_column_has_the_value_of_its_last_moment() -> None:
    rows = run("epochs-twelve").rows()
    seen = views((rows,), fold=True)[0]
    for x, (_, last) in enumerate(seen.meta.columns):
        assert _values(seen, x) == _values(rows, last)


def test_what_comes_later_is_cut_off() -> None:
    rows = rows_on("kafka-14139", "3.5")
    cut = until(rows, 6)
    assert said(cut, "FailedIsrUpdatesPerSec", "broker 1") == [(0, 6, 0), (6, 7, 1)]
    assert max(row.x1 for row in cut.metrics) == 7


def _values(rows: Rows, x: int) -> dict[tuple[str, str], int]:
    return {(r.metric, r.node): r.value for r in rows.metrics if _at(r, x)}

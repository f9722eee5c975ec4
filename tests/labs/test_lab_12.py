"""Lab 12: what it says of eligible leader replicas, of their price, and of what they do not do."""

import re
from typing import Any

import pytest

import kiplab
from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.exercises.last_replica import CHANGES, EFFECTS
from kiplab.protocol.facts import LeaderElected, Truncated
from kiplab.protocol.ids import NO_LEADER
from tests.labs.running import cells, exit_run, prose

LAB = "12-the-last-replica-again"
PLAY = "elr-last-replica"


def elections(run: kiplab.Run) -> list[LeaderElected]:
    """Every election of a leader in a run."""
    return [e for e in run.events if isinstance(e, LeaderElected) and e.leader != NO_LEADER]


@pytest.mark.parametrize("kafka", ["4.1", "4.2", "4.3"])
def test_each_release_keeps_the_records_and_loses_them_without_the_feature(kafka: str) -> None:
    on, off = kiplab.run(PLAY, kafka=kafka), kiplab.run(PLAY, kafka=kafka, elr=0)
    assert (on.verdict, off.lost) == (
        "safe",
        [{"partition": "orders-0", "first": 0, "last": 99}],
    )
    assert [(e.unclean, e.from_elr) for e in (elections(off)[-1], elections(on)[-1])] == [
        (False, False),
        (False, True),
    ]


def test_with_the_default_as_much_is_lost_and_only_the_mark_differs() -> None:
    on, off = (kiplab.run("elr-min-isr-one", kafka="4.1", elr=elr) for elr in (1, 0))
    assert on.lost == off.lost == [{"partition": "orders-0", "first": 0, "last": 109}]
    assert [elections(run)[-1].unclean for run in (on, off)] == [True, False]


def test_a_topic_with_one_replica_stays_recovering_and_loses_nothing() -> None:
    run = kiplab.run("elr-one-replica")
    assert (run.verdict, run.partitions[0]["recovery"]) == ("safe", "RECOVERING")


def test_the_five_records_of_acks_1_are_truncated_only_with_the_feature() -> None:
    on, off = (kiplab.run("elr-acks-one", kafka="4.3", elr=elr) for elr in (1, 0))
    cuts = [[e for e in run.events if isinstance(e, Truncated)] for run in (on, off)]
    assert [sum(e.last - e.first + 1 for e in found) for found in cuts] == [5, 0]


def test_without_the_change_of_the_setting_the_last_leader_leads_and_has_everything() -> None:
    kept = kiplab.run("elr-cleared-in-outage", off="966.elr-cleared")
    assert (kept.verdict, kept.partitions[0]["leader"]) == ("safe", 1)
    assert kiplab.run("elr-cleared-in-outage").partitions[0]["leader"] == 3


def test_its_lists_are_those_that_are_judged() -> None:
    said = dict(re.findall(r"^- \*\*([A-G])\*\* (.*)\.$", cells(LAB, "markdown")["keeps"], re.M))
    assert [*said] == [*CHANGES]
    effects = re.findall(r"^- \*\*([A-Z])\*\* ", cells(LAB, "markdown")["checkpoint"], re.M)
    assert tuple(effects) == EFFECTS


def test_each_situation_of_the_checkpoint_has_the_setting_that_its_row_says() -> None:
    rows = re.findall(r"^\| \*\*\d\*\* \| (\d) \|", cells(LAB, "markdown")["checkpoint"], re.M)
    plays = exercise("elr/buys-and-costs").plays.values()
    set_to = [re.search(r"min-insync-replicas=(\d)", play) for play in plays]
    assert rows == [found[1] if found else "1" for found in set_to]


def test_a_power_failure_loses_as_much_without_the_feature() -> None:
    run = exit_run(LAB, "ticket.")
    without = kiplab.run(run.stage.play, kafka="4.3", elr=0)
    assert run.lost == without.lost == [{"partition": "orders-0", "first": 90, "last": 99}]
    assert [elections(each)[-1].unclean for each in (run, without)] == [True, False]


def test_it_says_which_clusters_have_the_feature() -> None:
    for claim in ("New clusters of Kafka 4.1 and later", "4.2 and 4.3 do the same"):
        assert claim in prose(LAB)
    labels = [kiplab.run(PLAY, kafka=kafka).stage.features.label() for kafka in ("4.0", "4.1")]
    assert labels == ["4.0", "4.1 elr=1"]


@pytest.mark.usefixtures("own_folder")
def test_the_searches_prove_it_with_the_rules_and_refute_it_without_them() -> None:
    names = dict[str, Any]()
    for id in ("setup", "proof"):
        exec(cells(LAB, "code")[id], names)
    found = [names[name] for name in ("kept", "gone", "hole")]
    assert [(f.verdict, f.steps) for f in found] == [
        ("proved", None),
        ("refuted", 4),
        ("refuted", 8),
    ]
    assert "Without its rules four steps are enough" in prose(LAB)
    assert "elr=1" in names["hole"].sentence

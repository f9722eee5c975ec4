"""Brokers that are Kafka's own in a play: what they are told, what a parting looks like, and what
cannot be told. Live: whatever may happen to a few brokers, by dice, goes the same way.
"""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, enabled
from kiplab.engine.events import Happened
from kiplab.engine.step import step
from kiplab.judge.kafka_jars.jar_cache import patch_release
from kiplab.judge.side_by_side import judged_step, live_kafka, real_run
from kiplab.judge.side_by_side.chosen import JUDGES
from kiplab.judge.side_by_side.deciding import RealNodes
from kiplab.judge.side_by_side.two_columns import TwoColumns, play_in_two_columns
from kiplab.plays import grammar, library, play_errors, runner
from kiplab.plays.play import Play
from kiplab.protocol.facts import NotProposed
from kiplab.protocol.features import Features, UnknownFeatureError, parse_features
from tests.judge import another_engine, kafka_here
from tests.judge.side_by_side.shipped import why_untold

HEAD = """\
title    Made for a test
kafka    3.5
broker   1 epoch=101
broker   2 epoch=102
broker   3 epoch=103
topic    orders replicas=1,2,3 isr=1,2 leader=1 leader-epoch=5 partition-epoch=10 log=3@4,2@5
replica  orders-0 broker=3 log=4@4
topic    clicks replicas=2,3 isr=2,3 leader=2 leader-epoch=2 log=2@2 min-insync-replicas=2
given    next-metadata-offset=249
"""


def made(*lines: str) -> Play:
    return grammar.parse(HEAD + "".join(f"{line}\n" for line in lines), "made")


def led(play: Play, kafka: str, led_by: str, **switched: Any) -> TwoColumns:
    """The engine's leaders under one release beside its leaders under another."""
    other = another_engine.AnotherLeader(parse_features(led_by, **switched))
    return play_in_two_columns(play, parse_features(kafka), lambda _: RealNodes(None, other))


# --- beside another engine ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kafka-14139", "hole-level", "isr-committed", "last-replica"])
@pytest.mark.parametrize("release", ["3.4", "3.9"])
def test_the_same_rules_hold_the_same_line_by_line(name: str, release: str) -> None:
    both = led(library.load(name), release, release)
    assert not [line for line in both.lines if not line.agree]
    assert both.turns > 10
    assert both.requests == both.records == 0


def test_a_leader_that_commits_earlier_parts_and_goes_its_own_way() -> None:
    """Before 3.7 a partition below its min.insync.replicas still commits (KIP-966)."""
    both = led(library.load("isr-committed"), "3.7", "3.6")
    parted = [line for line in both.lines if not line.agree]
    assert parted[0].play == "expire 2"
    said = "· broker 1: orders-0 high_watermark: Kafka has 120, the engine 110"
    assert said in parted[0].kafka
    assert "· high watermark of orders-0 110 -> 120 on broker 1" in parted[0].kafka
    assert "· high watermark of orders-0 110 -> 120 on broker 1" not in parted[0].engine
    marks = [replica_mark(stage.cluster) for stage in (both.engine, both.kafka)]
    assert marks == [110, 120]


def replica_mark(cluster: Cluster) -> int:
    process = cluster.brokers[0].process
    assert process is not None
    return process.replicas[0].high_watermark


def test_a_leader_that_asks_for_nobody_parts_and_sends_nothing() -> None:
    fenced = made("expire 3", "fetch 3", "fetch 3")
    both = led(fenced, "3.5", "3.5", off=("841.leader-skips-fenced", "903.leader-epoch"))
    first = next(line for line in both.lines if not line.agree)
    assert first.play.startswith("fetch 3")
    assert any("proposes ISR" in said for said in first.kafka)
    assert not any("proposes ISR" in said for said in first.engine)


def test_a_leader_that_refuses_answers_nothing_else() -> None:
    """KAFKA-15221: from 3.7 on a fetch of an earlier incarnation is refused."""
    play = library.load("903-late-fetch")
    assert led(play, "3.6", "3.6").agree
    both = led(play, "3.6", "3.7")
    first = next(line for line in both.lines if not line.agree)
    assert any("error: Kafka has 6, the engine 0" in said for said in first.kafka)
    assert any("refuses fetch" in said for said in first.kafka)


def test_kafka_never_says_why_a_follower_is_not_asked_for() -> None:
    both = led(made("expire 3", "fetch 3", "fetch 3"), "3.5", "3.5")
    assert both.agree
    assert any(isinstance(event, NotProposed) for event in both.engine.events)
    assert not any(isinstance(event, NotProposed) for event in both.kafka.events)


def test_what_is_kafkas_own_is_marked() -> None:
    both = led(library.load("isr-committed"), "3.5", "3.5")
    marks = {said: own for one in both.lines for said, own in zip(one.kafka, one.own, strict=True)}
    assert marks["· broker 1 appends offsets 100-109 of orders-0"]
    assert marks["· high watermark of orders-0 100 -> 110 on broker 1"]
    assert not marks["· broker 3 crashes"]
    assert not marks["± ISR of orders-0 {1, 2, 3} -> {1, 2} (partition epoch 11)"]


# --- what cannot be told --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("upgrade 2 kafka=3.6", "broker 2 is up: let it stop, upgrade it, and start it"),
        ("upgrade all kafka=3.6", "broker 1 is up"),
        ("delete-records orders-0 before=2", "a real broker does not do that here"),
        (f"produce orders-0 count={live_kafka.RECORDS_MAX + 1} acks=1", "10,001 are too many"),
        ("configure-brokers min-insync-replicas=2", "settings stay as they are made"),
        ("produce orders-0 count=1 transaction=open", "receives no transaction"),
    ],
)
def test_what_no_real_leader_can_be_told_is_named_with_its_line(line: str, why: str) -> None:
    found = why_untold(made(line), parse_features("3.5"))
    assert why in str(found)
    assert str(found).startswith(f"made:10:1: no real leader can be told {line!r}")


def test_a_log_that_is_too_long_is_named_with_its_topic() -> None:
    play = grammar.parse(HEAD.replace("3@4,2@5", "20000@5"), "made")
    found = why_untold(play, parse_features("3.5"))
    assert "20,000 are too many" in str(found)
    assert str(found).startswith("made:6:1: no real leader can be told 'topic orders")


def test_a_broker_may_be_upgraded_while_it_is_down() -> None:
    lines = ("crash 3", "expire 3", "upgrade 3 kafka=3.6", "start 3", "unfence 3", "fetch 3")
    assert led(made(*lines), "3.5", "3.5").agree


def test_brokers_that_cannot_be_told_are_the_engines_and_the_line_is_named() -> None:
    run = real_run.real("kafka-15221", kafka="3.5", live=False)
    assert run.agree
    assert run.report()["judge"] == {"controller": "kafka", "leader": "engine"}
    assert "no real leader can be told 'race fetch" in run.notes[1]
    with pytest.raises(play_errors.PlayError, match=r"^kafka-15221:18:1: no real leader"):
        real_run.real("kafka-15221", kafka="3.5", live=False, judge="both")


@pytest.mark.parametrize("judge", ["engine", "", "Controller"])
def test_there_are_three_judges(judge: str) -> None:
    with pytest.raises(UnknownFeatureError, match=f"there are {', '.join(JUDGES)}"):
        real_run.real("isr-committed", kafka="3.5", judge=judge)


def test_the_leader_of_3_2_is_the_engines_and_that_is_said() -> None:
    run = real_run.real("kafka-14139", kafka="3.2", live=False)
    assert "The Partition of this release is not driven." in run.notes[1]
    assert run.report()["judge"] == {"controller": "kafka", "leader": "engine"}
    with pytest.raises(UnknownFeatureError, match=r"the Partition of Kafka 3\.2 is not run"):
        real_run.real("kafka-14139", kafka="3.2", live=False, judge="leader")


@pytest.mark.parametrize("judge", JUDGES)
def test_each_judge_says_what_is_kafkas_own(judge: str) -> None:
    run = real_run.real("isr-committed", kafka="3.9", live=False, judge=judge)
    assert run.agree
    told = run.report()
    decides, leads = judge != "leader", judge != "controller"
    assert told["judge"] == {
        "controller": "kafka" if decides else "engine",
        "leader": "kafka" if leads else "engine",
    }
    assert (told["records"] > 0, told["turns"] > 0) == (decides, leads)
    assert run.text().count("every broker's Partitions") == leads
    for line in told["lines"]:
        assert len(line["own"]) == len(line["kafka"].splitlines())


# --- live -----------------------------------------------------------------------------------------

LIVE = ("3.5", "4.3")
WALKS, MOVES = 6, 80
_OFTEN = {
    moves.Deliver: 12.0,
    moves.Fire: 8,
    moves.Produce: 4,
    moves.Start: 3,
    moves.FinishRecovery: 3,
    moves.ExpireSession: 1,
    moves.Heal: 1,
    moves.Elect: 0.7,
    moves.ShutDown: 0.5,
    moves.TimeOut: 0.5,
    moves.LoseReply: 0.5,
    moves.Crash: 0.4,
    moves.Drop: 0.3,
    moves.Duplicate: 0.3,
    moves.Cut: 0.2,
    moves.FailOver: 0.1,
}
"""How often each kind of move is made where it can be."""


@pytest.fixture(scope="module", params=LIVE)
def leaders(request: pytest.FixtureRequest) -> Iterator[tuple[str, live_kafka.LiveLeaders]]:
    with live_kafka.LiveLeaders(request.param, patch_release(request.param)) as leaders:
        with kafka_here.real_kafka():
            leaders.begin(started(parse_features(request.param)))
            judged_step.begun(started(parse_features(request.param)), leaders)
        yield request.param, leaders


def started(features: Features) -> Cluster:
    return runner.open_stage(made(), features).cluster


@kafka_here.live(test_the_same_rules_hold_the_same_line_by_line)
def test_whatever_happens_goes_the_same_way_with_real_brokers(
    leaders: tuple[str, live_kafka.LiveLeaders],
) -> None:
    release, real_ones = leaders
    turns = 0
    for seed in range(WALKS):
        parted = walked(real_ones, Random(seed), parse_features(release))
        assert parted is None, f"seed {seed}: {parted}"
        turns += real_ones.turns
    assert turns > 15 * WALKS


@kafka_here.live(test_the_same_rules_hold_the_same_line_by_line)
def test_real_brokers_part_from_an_engine_that_is_wrong(
    leaders: tuple[str, live_kafka.LiveLeaders],
) -> None:
    release, real_ones = leaders
    wrong = parse_features(release, off=("841.leader-skips-fenced", "903.leader-epoch"))
    found = (walked(real_ones, Random(seed), wrong) for seed in range(WALKS * 4))
    assert any(parted is not None for parted in found)


def walked(leaders: live_kafka.LiveLeaders, dice: Random, features: Features) -> str | None:
    """So many moves by dice; where the two part, or None."""
    mine = started(features)
    leaders.begin(mine)
    theirs, do = judged_step.begun(mine, leaders), judged_step.DecidedStep(None, leaders)
    for _ in range(MOVES):
        move = chosen(mine, dice)
        mine, done = step(mine, move).cluster, do(theirs, move)
        theirs = done.cluster
        said = [e.text for e in done.events if isinstance(e, Happened) and "Kafka has" in e.text]
        if said or held(mine) != held(theirs):
            return f"{move}: {said}"
    return None


def chosen(cluster: Cluster, dice: Random) -> moves.Move:
    offers = [m for m in enabled(cluster, replace(EVERYTHING, produce=(1, 3))) if type(m) in _OFTEN]
    kinds = sorted({type(move) for move in offers}, key=lambda kind: kind.__name__)
    (kind,) = dice.choices(kinds, [_OFTEN[kind] for kind in kinds])
    return dice.choice([move for move in offers if type(move) is kind])


def held(cluster: Cluster) -> Any:
    return [
        (b.durable, b.process and (b.process.replicas, b.process.items, b.process.in_flight))
        for b in cluster.brokers
    ]

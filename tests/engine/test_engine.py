"""The engine's interfaces: step, why_not, enabled, settle, canonical, history, properties."""

import subprocess
import sys
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.engine import impossible_moves, moves, observer, properties
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, PROGRESS, Menu, enabled, settle
from kiplab.engine.events import CommittedLost, PropertyBroken
from kiplab.engine.history import History
from kiplab.engine.step import step
from kiplab.engine.truth import truth
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.runner import open_stage, run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.features import parse_features
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.kraft import alter_partition
from kiplab.protocol.replica.broker_state import Durable, Loss
from tests.engine.small_clusters import BROKER_1, BROKER_2, BROKER_9


def opened(release: str = "3.5", play: str = "kafka-14139") -> Cluster:
    return open_stage(load(play), parse_features(release)).cluster


def ran(release: str, play: str = "kafka-14139", **switches: Any) -> Stage:
    return run_play(load(play), parse_features(release, **switches))


def test_an_impossible_move_is_refused_with_its_reason() -> None:
    cluster = opened()
    for move in (
        moves.Start(BROKER_1),
        moves.Crash(BROKER_9),
        moves.Advance(5),
        moves.Heal(BROKER_1, BROKER_2),
    ):
        reason = impossible_moves.why_not(cluster, move)
        assert reason
        with pytest.raises(impossible_moves.ImpossibleMoveError) as problem:
            step(cluster, move)
        assert problem.value.reason == reason


def test_enabled_offers_only_what_can_be_done_and_always_in_the_same_order() -> None:
    for recorded in ran("3.4").history.steps:
        offered = enabled(recorded.cluster, EVERYTHING)
        assert offered == enabled(recorded.cluster, EVERYTHING)
        assert len(set(offered)) == len(offered)
        for move in offered:
            step(recorded.cluster, move)


def test_a_menu_offers_the_kinds_that_are_on_it() -> None:
    menu = replace(EVERYTHING, kinds=EVERYTHING.kinds - {*moves.FAULTS})
    offered = {type(m) for m in enabled(opened(), EVERYTHING)}
    assert {type(m) for m in enabled(opened(), menu)} == offered - {*moves.FAULTS}
    assert enabled(opened(), Menu(kinds=frozenset())) == ()


def test_messages_of_one_connection_arrive_in_order() -> None:
    cluster = opened()
    for _ in range(2):
        cluster = step(cluster, moves.Fire(BROKER_2, moves.Timer.FETCH)).cluster
    first, second = (m.name for m in cluster.messages)
    assert impossible_moves.why_not(cluster, moves.Deliver(first)) is None
    assert "ahead of it" in (impossible_moves.why_not(cluster, moves.Deliver(second)) or "")


def test_a_retry_may_overtake_the_request_it_repeats() -> None:
    cluster = step(opened(), moves.Fire(BROKER_2, moves.Timer.FETCH)).cluster
    cluster = step(cluster, moves.Deliver(cluster.messages[0].name)).cluster
    request = next(m.name for m in cluster.messages if m.name.kind == "alter-partition")
    cluster = step(cluster, moves.Duplicate(request)).cluster
    retry = next(
        m.name for m in cluster.messages if m.name.kind == request.kind and m.name != request
    )
    accepted = step(cluster, moves.Deliver(retry)).cluster
    late = step(accepted, moves.Deliver(request))
    assert late.cluster.controller is accepted.controller
    assert "INVALID_UPDATE_VERSION" in str(late.events)


def test_a_crash_closes_the_channels_to_the_dead_but_not_from_it() -> None:
    cluster = step(opened(), moves.Fire(BROKER_2, moves.Timer.FETCH)).cluster
    cluster = step(cluster, moves.Deliver(cluster.messages[0].name)).cluster
    kinds = {m.name.kind for m in cluster.messages}
    assert kinds == {"fetch-reply", "alter-partition"}
    after = step(cluster, moves.Crash(BROKER_2)).cluster
    assert {m.name.kind for m in after.messages} == {"alter-partition"}
    after = step(cluster, moves.Crash(BROKER_1)).cluster
    assert {m.name.kind for m in after.messages} == kinds


def test_what_a_crash_takes() -> None:
    cluster = opened()
    cluster = step(cluster, moves.Produce("orders-0", BROKER_1, 7)).cluster

    def end(loss: Loss) -> int:
        after = step(cluster, moves.Crash(BROKER_1, loss)).cluster
        return after.brokers[0].durable.replicas[0].log.end

    assert (end(Loss.NOTHING), end(Loss.UNFLUSHED), end(Loss.DISK)) == (107, 100, 0)


def test_a_link_that_is_cut_keeps_what_is_on_it() -> None:
    cluster = step(opened(), moves.Fire(BROKER_2, moves.Timer.FETCH)).cluster
    cluster = step(cluster, moves.Cut(BROKER_1, BROKER_2)).cluster
    assert impossible_moves.why_not(cluster, moves.Deliver(cluster.messages[0].name)) is not None
    cluster = step(cluster, moves.Heal(BROKER_2, BROKER_1)).cluster
    assert impossible_moves.why_not(cluster, moves.Deliver(cluster.messages[0].name)) is None


def test_settle_heals_a_crash() -> None:
    cluster = step(opened("3.9", "last-replica"), moves.Crash(BROKER_2, Loss.DISK)).cluster
    rested = settle(cluster)
    state = truth(rested).partitions[0]
    assert set(state.isr) == {1, 2, 3}
    assert not rested.messages
    assert {b.durable.replicas[0].log.end for b in rested.brokers} == {100}
    assert canonical(settle(rested)) == canonical(rested)


def test_settle_does_not_restore_what_was_lost() -> None:
    rested = settle(ran("3.4").cluster)
    assert truth(rested).partitions[0].leader == 2
    assert {b.durable.replicas[0].log.end for b in rested.brokers} == {0}


SHIFTED = """
broker 1 epoch={first}
broker 2 epoch={second}
topic t replicas=1,2 isr=1 leader-epoch={first} partition-epoch={first} log=5@{first}
hold alter-partition from=1
fetch 2
crash 2 disk=replaced
expire 2
start 2
"""


def test_canonical_forgets_how_things_are_numbered() -> None:
    def shifted(first: int) -> Cluster:
        return run_play(parse(SHIFTED.format(first=first, second=first + 1))).cluster

    assert shifted(10) != shifted(700)
    assert canonical(shifted(10)) == canonical(shifted(700))


def test_canonical_keeps_what_differs() -> None:
    one, other = ran("3.4").cluster, ran("3.5").cluster
    assert canonical(one) != canonical(replace(other, features=one.features))


def test_history_seeks_and_forks() -> None:
    history = History(opened()).do(moves.Crash(BROKER_2))
    history = history.do(moves.ExpireSession(BROKER_2)).do(moves.Start(BROKER_2))
    assert history.seek(2).cluster == history.steps[1].cluster
    assert history.seek(99).at == 3
    assert history.seek(-5).cluster == history.start
    assert len(history.seek(1).steps) == 3, "seeking forgets nothing"
    other = history.seek(1).do(moves.Start(BROKER_2))
    assert [type(s.move) for s in other.steps] == [moves.Crash, moves.Start]
    assert len(history.steps) == 3, "a fork leaves the history it came from alone"


def test_equal_runs_in_another_process_and_under_another_hash_seed() -> None:
    code = (
        "import hashlib\n"
        "from kiplab.plays.library import load\n"
        "from kiplab.plays.runner import run_play\n"
        "from kiplab.protocol.features import parse_features\n"
        "stage = run_play(load('kafka-14139'), parse_features('3.4'))\n"
        "print(hashlib.sha256(repr(stage.history).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    }
    assert len(digests) == 1


# --- properties ---------------------------------------------------------------------------------


def first_break(stage: Stage, id: str) -> PropertyBroken | None:
    found = (e for e in stage.events if isinstance(e, PropertyBroken) and e.property == id)
    return next(found, None)


def test_the_race_breaks_candidates_first_and_durability_later() -> None:
    stage = ran("3.4")
    order = [e.property for e in stage.events if isinstance(e, PropertyBroken)]
    assert order == [
        "electable-holds-committed",
        "no-stale-epoch-in-isr",
        "no-committed-record-lost",
    ]


def test_without_its_guards_nothing_is_promised() -> None:
    broken = first_break(ran("3.5", off=("903",)), "no-committed-record-lost")
    assert broken is not None
    assert not broken.promised


@pytest.mark.parametrize(
    ("guard", "play"),
    [("903.controller-epoch", "kafka-14139"), ("841.fenced", "841-by-903-while-fenced")],
)
def test_with_every_guard_the_same_break_is_a_bug(
    guard: str, play: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promise is live: take a check out behind the features' back, and it is called broken."""
    check = alter_partition._first_ineligible
    monkeypatch.setattr(
        alter_partition, "_first_ineligible", lambda case, active: check(case, active - {guard})
    )
    stage = ran("3.5", play)
    promised = {e.property for e in stage.events if isinstance(e, PropertyBroken) and e.promised}
    assert {"electable-holds-committed", "no-committed-record-lost"} <= promised


def test_the_last_replica_is_a_loss_that_nothing_promised_to_prevent() -> None:
    stage = ran("3.9", "last-replica")
    broken = first_break(stage, "no-committed-record-lost")
    assert broken is not None
    assert not broken.promised
    assert any(isinstance(e, CommittedLost) for e in stage.events)
    assert stage.cluster.observed[0].excused


def test_logs_that_part_and_meet_again_are_seen_from_either_side() -> None:
    log = "log=2@3,2@5\nreplica t-0 broker=2 log=1@3,1@4,2@5"
    here = open_stage(parse(f"broker 1\nbroker 2\ntopic t replicas=1,2 {log}")).cluster
    before = replace(here, brokers=tuple(replace(b, durable=Durable()) for b in here.brokers))
    assert [p.id for p, *_ in observer.checks(before, here)].count("logs-match") == 2


def test_every_guard_a_property_needs_exists() -> None:
    for found in properties.PROPERTIES.values():
        assert set(found.needs) <= set(GUARDS)
        assert found.promise
        assert found.sentence.endswith(".")


def test_progress_never_hurts() -> None:
    assert not [m for m in enabled(opened(), PROGRESS) if isinstance(m, moves.FAULTS)]

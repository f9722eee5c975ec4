"""A heartbeat and its answer in one go come to what three steps come to; see `round_trip`."""

from collections.abc import Iterator

import pytest

from kiplab.engine import clock, moves, nodes
from kiplab.engine.cluster import Cluster, MessageName, later
from kiplab.engine.step import round_trip, step
from kiplab.fleet.race_schedules.random_schedule import Window, schedule
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import NO_BROKER_EPOCH, BrokerId
from kiplab.protocol.replica.broker_parts import process_of

RELEASES = ("3.2", "3.5", "3.7", "4.0")


def held(_name: MessageName, _receiver: BrokerId) -> bool:
    return True


def free(_name: MessageName, _receiver: BrokerId) -> bool:
    return False


def situations(release: str, index: int) -> Iterator[tuple[Cluster, moves.Move]]:
    """A schedule's clusters, and what was done with each."""
    stage = run_play(schedule(Window(), 0, index), parse_features(release))
    cluster = stage.history.start
    for recorded in stage.history.steps:
        yield cluster, recorded.move
        cluster = recorded.cluster


def heartbeats(release: str, index: int) -> list[tuple[Cluster, moves.Fire]]:
    return [
        (cluster, move)
        for cluster, move in situations(release, index)
        if isinstance(move, moves.Fire) and move.timer is moves.Timer.HEARTBEAT
    ]


def asks_for_an_epoch(cluster: Cluster, fire: moves.Fire) -> bool:
    node = nodes.state_of(cluster, fire.node)
    return process_of(node).epoch == NO_BROKER_EPOCH


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("release", RELEASES)
def test_it_comes_to_what_three_steps_come_to_or_to_nothing(release: str, index: int) -> None:
    outcomes = set()
    for cluster, fire in heartbeats(release, index):
        after = round_trip(cluster, fire, free)
        outcomes.add(after is None)
        if after is not None:
            asked = step(cluster, fire).cluster
            answered = step(asked, moves.Deliver(asked.messages[-1].name)).cluster
            heard = step(answered, moves.Deliver(answered.messages[-1].name))
            assert heard.cluster == after
    assert outcomes == {True, False}


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("release", RELEASES)
def test_of_brokers_in_good_standing_no_more_comes_than_that(release: str, index: int) -> None:
    good = [
        round_trip(cluster, fire, free)
        for cluster, fire in heartbeats(release, index)
        if clock.keeps_sessions(cluster, [(cluster.now_ms, fire)])
    ]
    assert good
    assert None not in good


@pytest.mark.parametrize("release", RELEASES)
def test_a_registration_that_comes_too_early_is_refused_in_one_go(release: str) -> None:
    early = [
        (cluster, fire)
        for index in range(4)
        for cluster, fire in heartbeats(release, index)
        if asks_for_an_epoch(cluster, fire) and clock.comes_too_early(cluster, fire.node)
    ]
    assert early
    for cluster, fire in early:
        after = round_trip(cluster, fire, free)
        assert after is not None
        assert after.controller == cluster.controller


@pytest.mark.parametrize("release", RELEASES)
def test_nothing_is_done_where_a_message_would_be_held_back(release: str) -> None:
    for cluster, fire in heartbeats(release, 0):
        assert round_trip(cluster, fire, held) is None


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("release", RELEASES)
def test_what_is_said_to_come_is_what_falls_due_after_each_heartbeat(
    release: str, index: int
) -> None:
    said = 0
    for cluster, move in situations(release, index):
        if not isinstance(move, moves.Advance):
            continue
        end = cluster.now_ms + 7_000
        coming, is_all = clock.coming_moves(cluster, end, clock.other_dues(cluster))
        for at, due in coming:
            assert clock.due_moves(cluster, end) == (at, due)
            cluster = later(cluster, at - cluster.now_ms)
            after = round_trip(cluster, due, free) if isinstance(due, moves.Fire) else None
            if after is None or not is_all:
                break
            cluster = after
        else:
            assert clock.due_moves(cluster, end) is None
            said += 1
    assert said

"""The mode decides: what control planes on brokers plan, and who is asked for what.

The made-up controller of `made_up_controller.py` stands on a broker, beside KRaft's or in a mode of
its own.
"""

import pytest
from msgspec.structs import replace

from kiplab.engine import clock, impossible_moves, moves, nodes
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, PROGRESS, enabled
from kiplab.engine.settle import settle
from kiplab.engine.step import step
from kiplab.engine.truth import truth
from kiplab.explore.levels.normal_partition import kraft_controller
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import CLIENT, CONTROLLER, BrokerId, ControllerEpoch, Milliseconds
from kiplab.protocol.messages import AlterPartitionRequest, ElectLeadersRequest
from kiplab.protocol.replica.broker_state import Leading, Loss
from tests.engine.made_up_controller import (
    ANNOUNCE,
    BALANCE,
    HERE,
    PATIENCE_MS,
    THERE,
    MadeUp,
    MadeUpTruth,
    make_known,
    with_plane,
)
from tests.engine.small_clusters import BROKER_1, BROKER_2, cluster, partition


@pytest.fixture(autouse=True)
def made_up_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables know the made-up controller."""
    make_known(monkeypatch)


def world_of(features: Features) -> Cluster:
    """Three brokers, with a made-up controller on brokers 1 and 2; the younger is on broker 2."""
    start = cluster(features, partition("orders-0", 3, isr=3, log=((2, 5),)))
    return with_plane(with_plane(start, HERE, 1), THERE, 2)


@pytest.fixture
def world() -> Cluster:
    return world_of(parse_features("3.5"))


def in_a_mode_of_its_own(world: Cluster) -> Cluster:
    """`world` without KRaft: nothing stands off the brokers but what is true."""
    held = MadeUpTruth(ControllerEpoch(2), partitions=truth(world).partitions)
    return replace(world, controller=held)


def plane(world: Cluster, node: BrokerId = HERE) -> MadeUp:
    found = nodes.state_of(world, node)
    assert isinstance(found, MadeUp)
    return found


def changed(world: Cluster, node: BrokerId, found: MadeUp) -> Cluster:
    return nodes.with_state(world, node, found)


# --- its own timers -----------------------------------------------------------------------------


def queueing(world: Cluster) -> Cluster:
    """The controller on broker 1 has something for everybody."""
    everybody = tuple(b.id for b in world.brokers)
    return changed(world, HERE, replace(plane(world), queued=everybody))


def test_its_timers_are_offered_where_something_would_come_of_them(world: Cluster) -> None:
    fire = moves.Fire(HERE, ANNOUNCE)
    assert fire not in enabled(world, EVERYTHING)
    assert impossible_moves.why_not(world, fire) == "it has nothing to announce"
    fires = (m for m in enabled(queueing(world), EVERYTHING) if isinstance(m, moves.Fire))
    assert {m.node for m in fires if m.node < 0} == {HERE, THERE}


def test_a_cluster_comes_to_rest_when_its_queue_is_empty(world: Cluster) -> None:
    assert moves.Fire(HERE, ANNOUNCE) in enabled(queueing(world), PROGRESS)
    assert plane(settle(queueing(world))).queued == ()


def timed(world: Cluster) -> Cluster:
    return replace(world, timed=True)


def fired_by(world: Cluster, node: BrokerId, end_ms: Milliseconds) -> list[tuple[int, str]]:
    """What falls due at `node` up to `end_ms`, as a timed run does it: when, and which timer."""
    found = []
    while (due := clock.due_moves(world, end_ms)) is not None:
        at_ms, move = due
        if at_ms > world.now_ms:
            world = step(world, moves.Advance(at_ms - world.now_ms)).cluster
        if isinstance(move, moves.Fire) and move.node == node:
            found.append((at_ms, str(move.timer)))
        world = step(world, move).cluster
        while world.messages:
            world = step(world, moves.Deliver(world.messages[0].name)).cluster
    return found


def test_a_timed_run_fires_its_timer_period_after_period_until_nothing_is_queued(
    world: Cluster,
) -> None:
    fired = fired_by(timed(queueing(world)), HERE, 1_000)
    assert fired == [(0, "retry"), (50, "retry"), (100, "retry")]
    assert fired_by(timed(queueing(world)), THERE, 1_000) == []


# --- its own plan -------------------------------------------------------------------------------


def unbalanced(world: Cluster) -> Cluster:
    """Broker 2 is preferred, and broker 1 leads."""
    (state,) = truth(world).partitions
    ids = (BROKER_2, BROKER_1, BrokerId(3))
    held = replace(nodes.state_of(world, CONTROLLER), partitions=(replace(state, replicas=ids),))
    return nodes.with_state(world, CONTROLLER, held)


def passed(world: Cluster, ms: int) -> Cluster:
    return step(world, moves.Advance(ms)).cluster


def test_each_of_them_plans_for_itself_whatever_has_just_happened(world: Cluster) -> None:
    waiting = passed(timed(unbalanced(queueing(world))), 7)
    after = step(waiting, moves.Fire(HERE, ANNOUNCE)).cluster
    due = [plane(after, node).timers.balance_leaders for node in (HERE, THERE)]
    assert due == [7 + PATIENCE_MS, 7 + PATIENCE_MS]
    assert passed(after, 5) == replace(after, now_ms=12)


def test_another_release_may_be_a_reason_to_plan(world: Cluster) -> None:
    after = step(timed(unbalanced(world)), moves.Upgrade(None, "3.9")).cluster
    assert plane(after).timers.balance_leaders == PATIENCE_MS


def test_without_a_reason_and_without_a_clock_nothing_is_planned(world: Cluster) -> None:
    calm = passed(timed(world), 7)
    assert plane(calm).timers.balance_leaders == 0
    assert impossible_moves.why_not(calm, moves.Fire(HERE, BALANCE)) == "it has planned no election"
    cut = step(unbalanced(world), moves.Cut(BROKER_1, BROKER_2)).cluster
    assert plane(cut).timers.balance_leaders == 0


def test_what_it_has_planned_falls_due_by_itself(world: Cluster) -> None:
    fired = fired_by(timed(unbalanced(world)), THERE, 2 * PATIENCE_MS)
    assert [timer for _, timer in fired] == ["balance-leaders"]
    assert fired[0][0] >= PATIENCE_MS


# --- what it asks for, and does not hear of -------------------------------------------------------


def asking(world: Cluster) -> Cluster:
    """The controller on broker 1 has asked the one off the brokers for elections."""
    return step(world, moves.Fire(HERE, BALANCE)).cluster


def test_it_is_told_that_no_answer_will_come(world: Cluster) -> None:
    world = asking(world)
    (request,) = world.messages
    assert (request.name.sender, request.receiver) == (HERE, CONTROLLER)
    assert plane(world).asks
    assert not plane(step(world, moves.TimeOut(request.name)).cluster).asks
    assert plane(step(world, moves.Drop(request.name)).cluster).asks
    assert not plane(step(world, moves.LoseReply(request.name)).cluster).asks


def test_a_later_life_is_not_told_of_what_an_earlier_one_asked(world: Cluster) -> None:
    world = asking(world)
    world = step(world, moves.Crash(BROKER_1, Loss.NOTHING)).cluster
    world = with_plane(step(world, moves.Start(BROKER_1)).cluster, HERE, 3)
    world = changed(world, HERE, replace(plane(world), asks=True))
    request = next(m for m in world.messages if isinstance(m.body, ElectLeadersRequest))
    assert plane(step(world, moves.TimeOut(request.name)).cluster).asks


# --- whom a leader asks for another ISR -----------------------------------------------------------


def believing(world: Cluster, controller: BrokerId | None) -> Cluster:
    """Broker 1 takes `controller` for the controller."""
    leader = nodes.state_of(world, BROKER_1)
    process = replace(leader.process, controller=controller)
    return nodes.with_state(world, BROKER_1, replace(leader, process=process))


def shrinking(world: Cluster) -> Cluster:
    """Broker 1 has a record that nobody else has, and looks at who lags."""
    world = step(world, moves.Produce("orders-0", BROKER_1, 1)).cluster
    return step(world, moves.Fire(BROKER_1, moves.Timer.LAG_CHECK)).cluster


def requests(world: Cluster) -> list[tuple[int, AlterPartitionRequest]]:
    sent = ((m.receiver, m.body) for m in world.messages)
    return [(to, body) for to, body in sent if isinstance(body, AlterPartitionRequest)]


def led(world: Cluster) -> Leading:
    leading = nodes.state_of(world, BROKER_1).process.replicas[0].leading
    assert isinstance(leading, Leading)
    return leading


@pytest.mark.parametrize("controller", [CONTROLLER, HERE, THERE])
def test_a_leader_asks_whom_it_takes_for_the_controller(
    world: Cluster, controller: BrokerId
) -> None:
    ((receiver, _),) = requests(shrinking(believing(world, controller)))
    assert receiver == controller


def test_a_controller_on_a_broker_answers_it_by_its_own_rule(world: Cluster) -> None:
    world = shrinking(believing(in_a_mode_of_its_own(world), THERE))
    while world.messages:
        world = step(world, moves.Deliver(world.messages[0].name)).cluster
    assert (led(world).isr_state.isr, led(world).isr_state.sent) == ((BROKER_1,), None)


def test_a_leader_that_knows_of_no_controller_asks_when_it_knows_of_one(world: Cluster) -> None:
    waiting = shrinking(believing(world, None))
    assert requests(waiting) == []
    assert led(waiting).isr_state.proposed == (BROKER_1,)
    retry = moves.Fire(BROKER_1, moves.Timer.RETRY)
    assert step(waiting, retry).cluster == waiting
    ((receiver, _),) = requests(step(believing(waiting, HERE), retry).cluster)
    assert receiver == HERE


def test_the_version_is_what_both_brokers_speak() -> None:
    mixed = replace(parse_features("3.5/3.4-IV0"), nodes=((BROKER_2, "3.4"),))
    spoken = [
        requests(shrinking(believing(world_of(mixed), controller)))[0][1].version
        for controller in (CONTROLLER, HERE, THERE)
    ]
    assert spoken == [3, 3, 2]
    assert mixed.release_of(THERE) == mixed.release_of(BROKER_2)


# --- whom an operator asks for an election --------------------------------------------------------


def test_an_operator_asks_whom_the_mode_says(world: Cluster) -> None:
    def asks(world: Cluster) -> tuple[int, int]:
        (request,) = step(world, moves.Elect("orders-0")).cluster.messages
        assert isinstance(request.body, ElectLeadersRequest)
        return request.name.sender, request.receiver

    assert asks(world) == (CLIENT, CONTROLLER)
    assert asks(in_a_mode_of_its_own(world)) == (CLIENT, THERE)


# --- who knows one mode only ----------------------------------------------------------------------


def test_the_partition_level_refuses_another_mode(world: Cluster) -> None:
    with pytest.raises(PlayError, match="level partition knows KRaft"):
        kraft_controller(in_a_mode_of_its_own(world))

"""Nodes have kinds: a made-up controller that lives on a broker, and two of them at once."""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.engine import events, impossible_moves, moves, nodes, routes, truth, zookeeper_routes
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster
from kiplab.engine.step import Step, step
from kiplab.engine.truth import READERS
from kiplab.protocol import features, ids, messages
from kiplab.protocol.replica.broker_state import Loss
from tests.engine import unrouted
from tests.engine.made_up_controller import (
    ANNOUNCE,
    HERE,
    THERE,
    MadeUp,
    MadeUpTruth,
    make_known,
    with_plane,
)
from tests.engine.small_clusters import BROKER_1, BROKER_2, cluster, partition

PERIOD_MS = routes.PERIOD_MS[ANNOUNCE]
Gaps = Callable[[], list[str]]
"""The sentences of what is missing in some table."""


@pytest.fixture(autouse=True)
def made_up_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables know the made-up controller."""
    make_known(monkeypatch)


@pytest.fixture
def world() -> Cluster:
    """Three brokers, with a made-up controller on broker 1."""
    start = cluster(features.parse_features("3.5"), partition("orders-0", 3, isr=3, log=((2, 5),)))
    return with_plane(start, HERE, 1)


def asked(world: Cluster, node: ids.BrokerId, unclean: bool = False) -> Cluster:
    """A client's request for an election is on its way to `node`."""
    request = messages.ElectLeadersRequest(unclean=unclean, partitions=("orders-0",))
    return step(world, moves.RawRequest(ids.CLIENT, node, request)).cluster


def arrived(world: Cluster) -> Step:
    """The newest message arrives."""
    return step(world, moves.Deliver(world.messages[-1].name))


def queue_of(world: Cluster, node: ids.BrokerId) -> tuple[int, ...]:
    return tuple(nodes.state_of(world, node).queued)


def test_its_address_has_a_name_and_a_host() -> None:
    assert ids.node_name(HERE) == "controller on broker 1"
    assert (ids.host_of(HERE), ids.host_of(THERE)) == (BROKER_1, BROKER_2)
    assert [ids.host_of(n) for n in (BROKER_1, ids.CONTROLLER, ids.CLIENT)] == [
        BROKER_1,
        ids.CONTROLLER,
        ids.CLIENT,
    ]


def test_a_request_finds_its_rule_by_the_kind_of_the_receiver(world: Cluster) -> None:
    done = arrived(asked(world, HERE))
    assert queue_of(done.cluster, HERE) == (1, 2, 3)
    (reply,) = done.cluster.messages
    assert (reply.name.sender, reply.receiver) == (HERE, ids.CLIENT)
    assert str(reply.name) == "elect-leaders-reply #1 from controller on broker 1"
    assert done.cluster.controller is world.controller
    assert not arrived(done.cluster).cluster.messages


def test_the_other_control_plane_answers_the_same_request_by_its_own_rule(world: Cluster) -> None:
    done = arrived(asked(world, ids.CONTROLLER))
    assert queue_of(done.cluster, HERE) == ()
    assert done.cluster.messages[-1].name.sender == ids.CONTROLLER


def test_two_at_once_keep_their_states_and_their_queues_apart(world: Cluster) -> None:
    world = with_plane(world, THERE, 2)
    world = arrived(asked(world, THERE)).cluster
    assert (queue_of(world, HERE), queue_of(world, THERE)) == ((), (1, 2, 3))
    epochs = [nodes.state_of(world, node).epoch for node in (HERE, THERE)]
    assert epochs == [1, 2]


def test_its_timer_sends_what_it_has_queued(world: Cluster) -> None:
    world = arrived(asked(world, HERE)).cluster
    world = step(world, moves.Fire(HERE, ANNOUNCE)).cluster
    assert queue_of(world, HERE) == (2, 3)
    assert (world.messages[-1].name.sender, world.messages[-1].receiver) == (HERE, BROKER_1)


def test_its_timer_is_due_one_period_later_in_a_run_with_a_clock(world: Cluster) -> None:
    timed = replace(world, timed=True)
    again = moves.Fire(HERE, ANNOUNCE)
    fired = step(arrived(asked(timed, HERE)).cluster, again).cluster
    said = f"the retry timer of controller on broker 1 is due at {PERIOD_MS} ms"
    assert impossible_moves.why_not(fired, again) == said
    assert impossible_moves.why_not(step(fired, moves.Advance(PERIOD_MS)).cluster, again) is None


def test_it_has_no_timers_but_its_own(world: Cluster) -> None:
    flush = moves.Fire(HERE, moves.Timer.FLUSH)
    assert impossible_moves.why_not(world, flush) == "controller on broker 1 has no flush timer"
    heartbeat = moves.Fire(ids.CONTROLLER, moves.Timer.HEARTBEAT)
    assert impossible_moves.why_not(world, heartbeat) == "controller has no heartbeat timer"
    nowhere = moves.Fire(THERE, ANNOUNCE)
    assert impossible_moves.why_not(world, nowhere) == "there is no controller on broker 2"


def test_a_crash_of_its_broker_ends_it_and_closes_what_was_on_the_way_to_it(world: Cluster) -> None:
    world = asked(world, HERE)
    done = step(world, moves.Crash(BROKER_1, Loss.NOTHING))
    assert not nodes.is_up(done.cluster, HERE)
    lost = [e.receiver for e in done.events if isinstance(e, events.Dropped)]
    assert (lost, done.cluster.messages) == ([HERE], ())
    again = step(done.cluster, moves.Start(BROKER_1)).cluster
    assert not nodes.is_up(again, HERE)


def test_what_it_sent_before_its_broker_crashed_still_arrives(world: Cluster) -> None:
    world = arrived(asked(world, HERE)).cluster
    world = step(world, moves.Crash(BROKER_1, Loss.NOTHING)).cluster
    (reply,) = world.messages
    assert reply.name.sender == HERE
    assert not arrived(world).cluster.messages


def test_a_crash_of_a_receiver_loses_what_was_sent_and_not_what_is_queued(world: Cluster) -> None:
    world = arrived(asked(world, HERE)).cluster
    announce = moves.Fire(HERE, ANNOUNCE)
    world = step(step(world, announce).cluster, announce).cluster
    assert world.messages[-1].receiver == BROKER_2
    world = step(world, moves.Crash(BROKER_2, Loss.NOTHING)).cluster
    assert all(m.receiver != BROKER_2 for m in world.messages)
    assert queue_of(world, HERE) == (3,)


def test_what_is_queued_for_a_broker_that_is_down_reaches_its_next_life(world: Cluster) -> None:
    world = arrived(asked(world, HERE)).cluster
    announce = moves.Fire(HERE, ANNOUNCE)
    world = step(world, announce).cluster
    world = step(world, moves.Crash(BROKER_2, Loss.NOTHING)).cluster
    waiting = step(world, announce).cluster
    assert queue_of(waiting, HERE) == (2, 3)
    back = step(step(waiting, moves.Start(BROKER_2)).cluster, announce).cluster
    assert queue_of(back, HERE) == (3,)
    sent = back.messages[-1]
    assert (sent.name.sender, sent.receiver, sent.receiver_incarnation) == (HERE, BROKER_2, 2)


def test_one_that_resigns_is_gone_while_its_broker_runs_on(world: Cluster) -> None:
    world = asked(asked(world, HERE, unclean=True), HERE)
    done = step(world, moves.Deliver(world.messages[0].name))
    assert nodes.is_up(done.cluster, BROKER_1)
    assert not nodes.is_up(done.cluster, HERE)
    assert [e.receiver for e in done.events if isinstance(e, events.Dropped)] == [HERE]


def test_it_is_as_far_away_as_its_broker(world: Cluster) -> None:
    world = step(asked(world, HERE), moves.Cut(ids.CLIENT, BROKER_1)).cluster
    said = impossible_moves.why_not(world, moves.Deliver(world.messages[-1].name))
    assert said == "the link between client and controller on broker 1 is cut"
    assert not nodes.is_cut(world, HERE, BROKER_1)


def test_its_life_is_that_of_its_process(world: Cluster) -> None:
    restarted = step(world, moves.Crash(BROKER_1, Loss.NOTHING)).cluster
    restarted = with_plane(step(restarted, moves.Start(BROKER_1)).cluster, HERE, 3)
    done = arrived(asked(restarted, HERE)).cluster
    assert done.messages[-1].name[:2] == (HERE, 2)
    renumbered = canonical(done)
    assert nodes.incarnation_of(renumbered, HERE) == renumbered.messages[-1].name.incarnation
    assert nodes.state_of(renumbered, HERE).elected_at < 100


def test_a_message_that_no_such_node_gets_is_refused_with_the_reason(world: Cluster) -> None:
    fetch = messages.FetchRequest(
        version=15,
        partition="orders-0",
        replica=BROKER_1,
        replica_epoch=ids.BrokerEpoch(101),
        leader_epoch=ids.LeaderEpoch(5),
        offset=ids.Offset(2),
    )
    said = impossible_moves.why_not(world, moves.RawRequest(BROKER_1, HERE, fetch))
    assert said == "fetch is nothing to send to controller on broker 1: it asks nobody"


def test_a_mode_that_says_how_it_is_read_is_read(world: Cluster) -> None:
    held = MadeUpTruth(ids.ControllerEpoch(7), partitions=truth.truth(world).partitions)
    other = replace(world, controller=held)
    assert truth.truth(other).controller_epoch == 7
    assert truth.partition_of(other, "orders-0") is truth.partition_of(world, "orders-0")
    assert not truth.session_lasts(other, BROKER_1)


# --- complete -----------------------------------------------------------------------------------


class Unheard(msgspec.Struct, frozen=True):
    """A mode that no table but READERS has heard of."""


def kinds() -> list[type]:
    """Every kind of node that any table knows, by name."""
    known = {kind for kind, _ in routes.TIMERS} | routes.node_kinds() | {*routes.PLANS, *READERS}
    return sorted(known, key=lambda kind: kind.__name__)


def _is_routed(kind: type, body: type) -> bool:
    return (kind, body) in routes.ROUTES or (kind, body) in zookeeper_routes.JOINT_ROUTES


def without_a_route() -> list[str]:
    """What is missing in the routing tables, one sentence for each message of a kind of node."""
    return [
        f"{body.__name__} may come to {kind.__name__}: add a rule to ROUTES, or say in"
        " NOT_ADDRESSED why it never does (kiplab/engine/routes.py, or its mode's tables beside it)"
        for kind in kinds()
        for body in get_args(messages.Body)
        if _is_routed(kind, body) == ((kind, body) in routes.NOT_ADDRESSED)
    ]


def without_a_rule() -> list[str]:
    """What a mode doesn't say of moves that every mode does in its own way."""
    wanted = {move for _, move in routes.MODE_MOVES}
    return [
        f"{move.__name__} is not said of {mode.__name__}: add ({mode.__name__},"
        f" moves.{move.__name__}) to MODE_MOVES in kiplab/engine/routes.py"
        for mode in sorted(READERS, key=lambda k: k.__name__)
        for move in sorted(wanted, key=lambda m: m.__name__)
        if (mode, move) not in routes.MODE_MOVES
    ]


def without_a_plan() -> list[str]:
    """The kinds of nodes of which nobody says what they plan."""
    return [
        f"{kind.__name__} plans something or nothing: add it to PLANS, or say in PLANS_NOTHING why"
        " not (tests/engine/unrouted.py)"
        for kind in kinds()
        if (kind in routes.PLANS) == (kind in unrouted.PLANS_NOTHING)
    ]


@pytest.mark.parametrize("gaps", [without_a_route, without_a_rule, without_a_plan])
def test_every_kind_of_node_and_every_mode_says_all_that_is_asked(gaps: Gaps) -> None:
    assert not gaps(), "\n".join(gaps())


@pytest.mark.parametrize(
    ("table", "key", "gaps", "sentence"),
    [
        (
            *(routes.NOT_ADDRESSED, (MadeUp, messages.FetchRequest), without_a_route),
            "FetchRequest may come to MadeUp: add a rule to ROUTES, or say",
        ),
        (
            *(routes.PLANS, MadeUp, without_a_plan),
            "MadeUp plans something or nothing: add it to PLANS, or say",
        ),
    ],
)
def test_what_is_not_said_of_a_node_is_named(
    monkeypatch: pytest.MonkeyPatch, table: dict[Any, Any], key: Any, gaps: Gaps, sentence: str
) -> None:
    monkeypatch.delitem(table, key)
    assert [line.startswith(sentence) for line in gaps()] == [True]


def test_what_is_not_said_of_a_mode_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(READERS, Unheard, next(iter(READERS.values())))
    bodies = [line for line in without_a_route() if " may come to Unheard: add a rule" in line]
    assert len(bodies) == len(get_args(messages.Body))
    said = "FailOver is not said of Unheard: add (Unheard, moves.FailOver) to MODE_MOVES"
    assert any(line.startswith(said) for line in without_a_rule())


def test_what_is_idle_is_a_timer() -> None:
    assert set(routes.IDLE) <= {*routes.TIMERS, *zookeeper_routes.JOINT_TIMERS}

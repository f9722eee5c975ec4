"""Nodes have kinds: made-up controllers that live on brokers, with timers and plans of their own.

What ZooKeeper's controllers do on brokers is in tests/protocol/zookeeper and the plays.
"""

from collections.abc import Callable
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.engine import clock, events, impossible_moves, moves, nodes, routes, zookeeper_routes
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, PROGRESS, enabled, settle
from kiplab.engine.step import step
from kiplab.engine.truth import READERS, truth
from kiplab.protocol import features, ids, messages
from kiplab.protocol.replica.broker_state import Leading, Loss
from tests.engine import unrouted
from tests.engine.made_up_controller import (
    ANNOUNCE,
    BALANCE,
    HERE,
    PATIENCE_MS,
    THERE,
    MadeUp,
    make_known,
    with_plane,
)
from tests.engine.small_clusters import BROKER_1, BROKER_2, cluster, partition

Gaps = Callable[[], list[str]]
"""The sentences of what is missing in some table."""


@pytest.fixture(autouse=True)
def made_up_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables know the made-up controller."""
    make_known(monkeypatch)


def world_of(rules: features.Features) -> Cluster:
    """Three brokers, with made-up controllers on two; that on broker 1 has something for all."""
    start = cluster(rules, partition("orders-0", 3, isr=3, log=((2, 5),)))
    return with_plane(with_plane(start, THERE), HERE, queued=tuple(b.id for b in start.brokers))


@pytest.fixture
def world() -> Cluster:
    return world_of(features.parse_features("3.5"))


def plane(world: Cluster, node: ids.BrokerId = HERE) -> MadeUp:
    found = nodes.state_of(world, node)
    assert isinstance(found, MadeUp)
    return found


# --- where it lives -----------------------------------------------------------------------------


def test_a_crash_of_its_broker_ends_it_and_closes_what_was_on_the_way_to_it(world: Cluster) -> None:
    done = step(shrinking(believing(world, HERE)), moves.Crash(BROKER_1, Loss.NOTHING))
    assert not nodes.is_up(done.cluster, HERE)
    lost = [e.receiver for e in done.events if isinstance(e, events.Dropped)]
    assert (lost, done.cluster.messages) == ([HERE], ())
    again = step(done.cluster, moves.Start(BROKER_1)).cluster
    assert not nodes.is_up(again, HERE)


def test_its_incarnation_is_that_of_its_process(world: Cluster) -> None:
    restarted = step(world, moves.Crash(BROKER_1, Loss.NOTHING)).cluster
    restarted = step(restarted, moves.Start(BROKER_1)).cluster
    done = step(with_plane(restarted, HERE, queued=(BROKER_2,)), moves.Fire(HERE, ANNOUNCE)).cluster
    assert done.messages[-1].name[:2] == (HERE, 2)
    renumbered = canonical(done)
    assert nodes.incarnation_of(renumbered, HERE) == renumbered.messages[-1].name.incarnation
    assert nodes.state_of(renumbered, HERE).elected_at < 100


def test_a_message_that_no_such_node_gets_is_refused_with_the_reason(world: Cluster) -> None:
    asked = messages.ElectLeadersRequest(unclean=False, partitions=("orders-0",))
    said = impossible_moves.why_not(world, moves.RawRequest(ids.CLIENT, HERE, asked))
    assert said == "elect-leaders cannot be sent to controller on broker 1: it asks nobody"


# --- its own timers -----------------------------------------------------------------------------


def test_it_has_no_timers_but_its_own(world: Cluster) -> None:
    flush = moves.Fire(HERE, moves.Timer.FLUSH)
    assert impossible_moves.why_not(world, flush) == "controller on broker 1 has no flush timer"
    heartbeat = moves.Fire(ids.CONTROLLER, moves.Timer.HEARTBEAT)
    assert impossible_moves.why_not(world, heartbeat) == "controller has no heartbeat timer"
    nowhere = moves.Fire(ids.controller_on(ids.BrokerId(3)), ANNOUNCE)
    assert impossible_moves.why_not(world, nowhere) == "there is no controller on broker 3"


def test_they_are_offered_where_something_would_come_of_them_until_it_rests(world: Cluster) -> None:
    idle = moves.Fire(THERE, ANNOUNCE)
    assert impossible_moves.why_not(world, idle) == "it has nothing to announce"
    assert moves.Fire(HERE, ANNOUNCE) in enabled(world, PROGRESS)
    fires = {m for m in enabled(world, EVERYTHING) if isinstance(m, moves.Fire) and m.node < 0}
    assert {(m.node, m.timer) for m in fires} >= {(HERE, ANNOUNCE), (THERE, BALANCE)}
    assert idle not in fires
    assert plane(settle(world)).queued == ()


def timed(world: Cluster) -> Cluster:
    return replace(world, timed=True)


def fired_by(world: Cluster, node: ids.BrokerId, end_ms: ids.Milliseconds) -> list[tuple[int, str]]:
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
    assert fired_by(timed(world), HERE, 1_000) == [(0, "retry"), (50, "retry"), (100, "retry")]
    assert fired_by(timed(world), THERE, 1_000) == []
    again = moves.Fire(HERE, ANNOUNCE)
    said = impossible_moves.why_not(step(timed(world), again).cluster, again)
    assert said == "the retry timer of controller on broker 1 is due at 50 ms"


# --- its own plan -------------------------------------------------------------------------------


def unbalanced(world: Cluster) -> Cluster:
    """Broker 2 is preferred, and broker 1 leads."""
    (state,) = truth(world).partitions
    replicas = (BROKER_2, BROKER_1, ids.BrokerId(3))
    held = nodes.state_of(world, ids.CONTROLLER)
    held = replace(held, partitions=(replace(state, replicas=replicas),))
    return nodes.with_state(world, ids.CONTROLLER, held)


def test_each_of_them_plans_for_itself_whatever_has_just_happened(world: Cluster) -> None:
    waiting = step(timed(unbalanced(world)), moves.Advance(7)).cluster
    after = step(waiting, moves.Fire(HERE, ANNOUNCE)).cluster
    due = [plane(after, node).timers.balance_leaders for node in (HERE, THERE)]
    assert due == [7 + PATIENCE_MS, 7 + PATIENCE_MS]
    assert step(after, moves.Advance(5)).cluster == replace(after, now_ms=12)


def test_another_release_may_be_a_reason_to_plan_and_without_a_clock_nothing_is(
    world: Cluster,
) -> None:
    after = step(timed(unbalanced(world)), moves.Upgrade(None, "3.9")).cluster
    assert plane(after).timers.balance_leaders == PATIENCE_MS
    untimed = step(unbalanced(world), moves.Fire(HERE, ANNOUNCE)).cluster
    assert plane(untimed).timers.balance_leaders == 0


def test_what_it_has_planned_falls_due_by_itself(world: Cluster) -> None:
    fired = fired_by(timed(unbalanced(world)), THERE, 2 * PATIENCE_MS)
    assert [timer for _, timer in fired] == ["balance-leaders"]
    assert fired[0][0] >= PATIENCE_MS


# --- what it asks for, and does not hear of -------------------------------------------------------


def test_it_is_told_that_no_answer_will_come_and_a_later_incarnation_is_not(world: Cluster) -> None:
    world = step(world, moves.Fire(HERE, BALANCE)).cluster
    (request,) = world.messages
    assert (request.name.sender, request.receiver) == (HERE, ids.CONTROLLER)
    assert plane(world).asks
    assert not plane(step(world, moves.TimeOut(request.name)).cluster).asks
    assert plane(step(world, moves.Drop(request.name)).cluster).asks
    assert not plane(step(world, moves.LoseReply(request.name)).cluster).asks
    world = step(world, moves.Crash(BROKER_1, Loss.NOTHING)).cluster
    world = with_plane(step(world, moves.Start(BROKER_1)).cluster, HERE, asks=True)
    assert plane(step(world, moves.TimeOut(request.name)).cluster).asks


# --- whom a leader asks for another ISR -----------------------------------------------------------


def believing(world: Cluster, controller: ids.BrokerId | None) -> Cluster:
    """Broker 1 takes `controller` for the controller."""
    leader = nodes.state_of(world, BROKER_1)
    process = replace(leader.process, controller=controller)
    return nodes.with_state(world, BROKER_1, replace(leader, process=process))


def shrinking(world: Cluster) -> Cluster:
    """Broker 1 has a record that nobody else has, and looks at who lags."""
    world = step(world, moves.Produce("orders-0", BROKER_1, 1)).cluster
    return step(world, moves.Fire(BROKER_1, moves.Timer.LAG_CHECK)).cluster


def asked_with(world: Cluster) -> list[tuple[int, int]]:
    """Whom a leader asks, and in which version."""
    sent = ((m.receiver, m.body) for m in world.messages)
    return [(to, b.version) for to, b in sent if isinstance(b, messages.AlterPartitionRequest)]


def test_a_leader_that_knows_of_no_controller_asks_when_it_knows_of_one(world: Cluster) -> None:
    waiting = shrinking(believing(world, None))
    assert asked_with(waiting) == []
    leading = nodes.state_of(waiting, BROKER_1).process.replicas[0].leading
    assert isinstance(leading, Leading)
    assert leading.isr_state.proposed == (BROKER_1,)
    retry = moves.Fire(BROKER_1, moves.Timer.RETRY)
    assert step(waiting, retry).cluster == waiting
    assert asked_with(step(believing(waiting, HERE), retry).cluster) == [(HERE, 3)]


def test_whomever_it_takes_for_the_controller_is_asked_in_the_version_that_both_speak() -> None:
    mixed = replace(features.parse_features("3.5/3.4-IV0"), nodes=((BROKER_2, "3.4"),))
    for controller, version in ((ids.CONTROLLER, 3), (HERE, 3), (THERE, 2)):
        asking = shrinking(believing(world_of(mixed), controller))
        assert asked_with(asking) == [(controller, version)]


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

"""Elections on an operator's request (ElectLeaders), and those that the controller schedules.

The input is a request, for some partitions or for all, to make the preferred replica leader, or a
replica outside the ISR if there is no leader. Each partition is judged on its own, against the
state before the request: unknown; no election needed (the preferred replica leads, or any replica
does); no eligible replica. Otherwise the builder of `partition_change.py` has found a leader. The
output is the records of all elections, the new metadata for every broker, one answer to the client
(without the partitions that needed nothing, if all were asked for), and a Refused fact for each
error in it. Without an election the controller stays the same object. No guard is asked for here by
name: `controller_state.may_lead` decides which replica may lead.

The controller schedules two kinds of elections by itself. A partition without a leader may become
one that a replica outside the ISR may lead: a configuration changes, or the next controller's
release reads it. And a partition may have another leader than its preferred replica, the first.
After every event `plan` looks for such partitions; if there are any and no task is scheduled, it
sets the timer of that task to `INTERVAL_MS` from now. When the timer fires the task checks all of
them. It writes records as for any election, and one PeriodicElections fact if it checked a
partition. The remaining partitions are scheduled anew. A new controller has no timers and plans for
itself. Kafka holds at most 1,000 elections at once, more than a cluster here has partitions.
"""

from collections.abc import Callable, Iterable
from functools import partial

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Fact, PeriodicElections, Refused
from ..features import Features
from ..ids import CLIENT, CONTROLLER, NO_LEADER, Milliseconds
from ..messages import ElectLeadersRequest, ElectLeadersResponse, Send
from ..registrations import PartitionRegistration, partition
from .controller_state import Controller, ControllerTimers, effective_min_isr, may_lead
from .partition_change import Code, Election, Targets, build, ordinary
from .records import PartitionChangeRecord
from .replay import ControllerEffect, commit


def elect_leaders(
    controller: Controller, request: ElectLeadersRequest, features: Features
) -> ControllerEffect:
    """Judge each partition on its own, in the order asked for, against the state before them all.

    None asks for every partition, and what needs no election is then left out of the answer; an
    empty list asks for none.

    Source: ReplicationControlManager.electLeaders and electLeader (3.2.0 to 3.9.0-rc3); KIP-460.
    """
    names = request.partitions
    if names is None:
        names = tuple(p.name for p in controller.partitions)
    records: list[PartitionChangeRecord] = []
    results: list[tuple[str, KafkaError]] = []
    for name in names:
        error, record = elect_leader(controller, name, request.unclean, features)
        records += [record] if record else []
        if request.partitions is not None or error is not KafkaError.ELECTION_NOT_NEEDED:
            results.append((name, error))
    refused: list[Fact] = [
        Refused(CONTROLLER, "elect-leaders", e, None, partition=name)
        for name, e in results
        if e is not KafkaError.NONE
    ]
    controller, sends, facts = commit(controller, records, features)
    reply = ElectLeadersResponse(results=tuple(results))
    return controller, (*sends, Send(CLIENT, reply)), (*refused, *facts)


def elect_leader(
    controller: Controller, name: str, unclean: bool, features: Features
) -> tuple[KafkaError, PartitionChangeRecord | None]:
    """The record that gives one partition a leader, or the error that says why there is none.

    Source: ReplicationControlManager.electLeader (3.2.0 to 3.9.0-rc3).
    """
    state = partition(controller.partitions, name)
    if state is None:
        return KafkaError.UNKNOWN_TOPIC_OR_PARTITION, None
    if not (_is_leaderless(state) if unclean else _is_imbalanced(state)):
        return KafkaError.ELECTION_NOT_NEEDED, None
    code = Code.of(features)
    acceptable = partial(may_lead, controller, code.active, state)
    election = Election.UNCLEAN if unclean else Election.PREFERRED
    targets = Targets(min_isr=effective_min_isr(controller, state))
    record = build(state, targets, acceptable, code, election)
    if record is not None:
        return KafkaError.NONE, record
    if unclean:
        return KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE, None
    return KafkaError.PREFERRED_LEADER_NOT_AVAILABLE, None


INTERVAL_MS = 300_000
"""leader.imbalance.check.interval.seconds and unclean.leader.election.interval.ms."""


def plan(controller: Controller, features: Features, now_ms: Milliseconds) -> Controller:
    """The controller with every task planned that it has reason for.

    Source: QuorumController.maybeScheduleNextBalancePartitionLeaders (3.2.0 to 3.9.0-rc3) and
    maybeScheduleNextElectUncleanLeaders (3.9.0-rc3).
    """
    elect, balance = controller.timers.elect_unclean, controller.timers.balance_leaders
    has_elections, rebalances = has_unclean_elections(features), controller.auto_leader_rebalance
    if not (has_elections or elect or rebalances or balance):
        return controller
    next_ms = _next_ms(controller, features, now_ms)
    reasons = [
        _due(elect, has_elections, controller, _is_leaderless, next_ms),
        _due(balance, rebalances, controller, _is_imbalanced, next_ms),
    ]
    if reasons == [elect, balance]:
        return controller
    return replace(controller, timers=ControllerTimers(*reasons))


def _next_ms(controller: Controller, features: Features, now_ms: Milliseconds) -> Milliseconds:
    """When a task is done that is planned now.

    Source: QuorumController.registerElectUnclean and registerElectPreferred,
    PeriodicTaskControlManager.reschedule (4.0.2).
    """
    if features.code_of(CONTROLLER) < (4, 0):
        return now_ms + INTERVAL_MS
    # From 4.0 on the tasks are done again and again, whether or not there is a reason.
    since = controller.active_since_ms
    return since + ((now_ms - since) // INTERVAL_MS + 1) * INTERVAL_MS


def _is_leaderless(state: PartitionRegistration) -> bool:
    return state.leader == NO_LEADER


def _is_imbalanced(state: PartitionRegistration) -> bool:
    return state.leader != state.replicas[0]


def _due(
    waiting: Milliseconds,
    has: bool,
    controller: Controller,
    is_reason: Callable[[PartitionRegistration], bool],
    next_ms: Milliseconds,
) -> Milliseconds:
    # What waits goes on waiting although the reason may be gone: then it finds nothing to do.
    if not has or waiting:
        return waiting if has else 0
    return next_ms if any(map(is_reason, controller.partitions)) else 0


def has_unclean_elections(features: Features) -> bool:
    """Whether this controller looks at leaderless partitions from time to time.

    Source: QuorumController.maybeScheduleNextElectUncleanLeaders (3.9.0-rc3).
    """
    # KAFKA-12670, "Support configuring unclean leader election in KRaft": what makes an unclean
    # election possible may change while nobody leads, so leaderless partitions are looked at again.
    return "kafka-12670.unclean-by-config" in features.active(CONTROLLER)


def elect_unclean_leaders(controller: Controller, features: Features) -> ControllerEffect:
    """Give leaderless partitions a leader, where unclean.leader.election.enable is on.

    Source: ReplicationControlManager.maybeElectUncleanLeaders (3.9.0-rc3).
    """
    timers = replace(controller.timers, elect_unclean=0)
    code = Code.of(features)
    leaderless = [
        p.name
        for p in controller.partitions
        if _is_leaderless(p) and ordinary(p, code) is Election.UNCLEAN
    ]
    return _hold(replace(controller, timers=timers), leaderless, True, features)


def balance_leaders(controller: Controller, features: Features) -> ControllerEffect:
    """Give partitions back to their preferred leaders, the first of their replicas.

    leader.imbalance.per.broker.percentage is not asked for: KRaft looks at partitions.

    Source: ReplicationControlManager.maybeBalancePartitionLeaders (3.2.0 to 3.9.0-rc3).
    """
    timers = replace(controller.timers, balance_leaders=0)
    imbalanced = [p.name for p in controller.partitions if _is_imbalanced(p)]
    return _hold(replace(controller, timers=timers), imbalanced, False, features)


def _hold(
    controller: Controller, names: Iterable[str], unclean: bool, features: Features
) -> ControllerEffect:
    records: list[PartitionChangeRecord] = []
    elected: list[str] = []
    left: list[str] = []
    for name in names:
        error, record = elect_leader(controller, name, unclean, features)
        records += [record] if record else []
        (elected if error is KafkaError.NONE else left).append(name)
    if not elected and not left:
        return controller, (), ()
    controller, sends, facts = commit(controller, records, features)
    elections = PeriodicElections(unclean=unclean, elected=tuple(elected), left=tuple(left))
    return controller, sends, (elections, *facts)

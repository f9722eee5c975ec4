"""What there is to try of the controller, what one move shows of it, and what no conversation can
try, each with the reason.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple, get_args

from kiplab.engine import moves, step, truth
from kiplab.engine.cluster import Cluster
from kiplab.engine.events import Dropped, Event
from kiplab.protocol import facts, guards, ids, kraft, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import Features, switched
from kiplab.protocol.kraft import records
from kiplab.protocol.kraft.heartbeats import BrokerState, next_state
from kiplab.protocol.releases import RELEASES, Release, at_least

from ..skeleton.coverage import ERROR, GUARD, Coverage, Rule, errors_in, errors_of, guards_in
from .pairs import JudgedPair, judged_pairs

RECORD, TRANSITION = "record", "transition"
OF_BROKERS = frozenset({"broker_lifecycle"})
"""Modules of the package that are no rules of the controller."""
ENOUGH = 20
"""Hits that a rule needs before it counts as tried."""


RARE = {
    Rule(ERROR, "NEW_LEADER_ELECTED"): 5,
    Rule(GUARD, "pr-20629.last-known-by-leader"): 5,
    Rule(TRANSITION, "CONTROLLED_SHUTDOWN to SHUTDOWN_NOW by heartbeat"): 10,
}
"""Rules that need fewer: of some thousand requests one completes a reassignment that takes the
leadership from its sender, empties the ISR of a partition without a leader, or lets a broker go
that had to wait for it and has not been silent since.
"""


def rules_of(release: str) -> tuple[Rule, ...]:
    """Every guard that the controller of `release` asks for, and every error, record and transition
    of any controller: those that this one does not have are in `UNREACHABLE`.
    """
    built = (id for id in controller_guards() if guards.GUARDS[id].built_in(RELEASES[release]))
    errors = dict.fromkeys((KafkaError.NONE.name, *errors_of(kraft, but=OF_BROKERS)))
    return (
        *(Rule(GUARD, id) for id in built),
        *(Rule(ERROR, name) for name in errors),
        *(Rule(RECORD, record.__name__) for record in get_args(records.Record)),
        *(Rule(TRANSITION, name) for name in every_transition()),
    )


def controller_guards() -> tuple[str, ...]:
    """Ids that are written in a rule of the controller, in the order of the table."""
    return guards_in(kraft, but=OF_BROKERS)


def pair_that_notices(guard: str) -> JudgedPair:
    """Where another guard would be noticed: the newest pair of the first release that has it, or
    of the first that could; of eligible leader replicas one that has them.
    """
    feature = guards.GUARDS[guard].kind is guards.GuardKind.FEATURE
    newest = [p for p in judged_pairs() if p.is_newest and bool(p.elr) is feature]
    having = [pair for pair in newest if guards.GUARDS[guard].built_in(RELEASES[pair.release])]
    return (having or newest)[0]


def with_the_other(guard: str) -> Callable[[Features], Features]:
    """Makes features with that guard on where it is built off, and off where it is built on."""
    return lambda features: switched(features, guard, not guards.GUARDS[guard].built)


def coverage() -> Coverage:
    """Counts what the engine's controller tries from now on."""
    return Coverage(_shown, _visible, controller_guards(), ids.CONTROLLER, ENOUGH)


def _visible(events: Iterable[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, Dropped | facts.RecordWritten)]


def _shown(before: Cluster, move: moves.Move, done: step.Step) -> Iterator[Rule]:
    for event in done.events:
        if isinstance(event, facts.Refused) and event.guard is not None:
            yield Rule(GUARD, event.guard)
        elif isinstance(event, facts.RecordWritten):
            yield Rule(RECORD, event.record)
        elif isinstance(event, Dropped):
            yield from (Rule(ERROR, error.name) for error in errors_in(event.body))
    for transition in transitions(before, move, done):
        yield Rule(TRANSITION, transition)


# --- transitions ----------------------------------------------------------------------------------

RESIGNED, TOOK_OVER = "controller resigns", "controller takes over"
UNKNOWN = "UNKNOWN"
"""The state of a broker that is not registered."""
_LASTING = tuple(state for state in BrokerState if state is not BrokerState.SHUTDOWN_NOW)


def every_transition() -> tuple[str, ...]:
    """All that there are; heartbeats lead where `next_state` says, whatever they hold."""
    names = ("want_fence", "want_shut_down", "caught_up", "leads", "granted")
    inputs = [dict(zip(names, i, strict=True)) for i in product((False, True), repeat=len(names))]
    beaten = {_by_heartbeat(now, next_state(now, **i)): None for now in _LASTING for i in inputs}
    return (
        *beaten,
        *(_by_silence(state) for state in _LASTING),
        *(_registered(state) for state in (UNKNOWN, *_LASTING)),
        TOOK_OVER,
        RESIGNED,
    )


def transitions(before: Cluster, move: moves.Move, done: step.Step) -> Iterator[str]:
    """Those that one move of the engine has gone through."""
    match move:
        case moves.ExpireSession(broker=broker):
            yield _by_silence(_state(before, broker))
        case moves.FailOver():
            yield TOOK_OVER
        case moves.Deliver(message=name):
            (body,) = (m.body for m in before.messages if m.name == name)
            if isinstance(body, messages.BrokerRegistrationRequest):
                yield _registered(_state(before, body.broker))
            if isinstance(body, messages.BrokerHeartbeatRequest):
                yield from _beaten(before, body.broker, done)
            if any(isinstance(event, facts.ControllerResigned) for event in done.events):
                yield RESIGNED


def _beaten(before: Cluster, broker: ids.BrokerId, done: step.Step) -> Iterator[str]:
    for event in done.events:
        answer = event.body if isinstance(event, Dropped) else None
        if isinstance(answer, messages.BrokerHeartbeatResponse) and not answer.error:
            yield _by_heartbeat(_state(before, broker), _after(done.cluster, broker, answer))


def _after(cluster: Cluster, broker: ids.BrokerId, answer: messages.BrokerHeartbeatResponse) -> str:
    if answer.should_shut_down:
        return BrokerState.SHUTDOWN_NOW
    return BrokerState.FENCED if answer.is_fenced else _state(cluster, broker)


def _state(cluster: Cluster, broker: ids.BrokerId) -> str:
    """What the controller makes of a broker, as `heartbeats.current_state` has it."""
    if truth.registration_of(cluster, broker) is None:
        return UNKNOWN
    known = next((s for s in truth.sessions(cluster) if s.broker == broker), None)
    if known is not None and known.leaving:
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.FENCED if known is None or known.fenced else BrokerState.UNFENCED


def _by_heartbeat(now: str, then: str) -> str:
    return f"{now} to {then} by heartbeat"


def _by_silence(now: str) -> str:
    return f"{now} falls silent"


def _registered(now: str) -> str:
    return f"{now} registers"


# --- what cannot be tried -------------------------------------------------------------------------

Where = Callable[[Release, JudgedPair], bool]


class Unreachable(NamedTuple):
    """A rule, where it cannot be reached, and why."""

    rule: Rule
    where: Where
    why: str


def why_unreachable(rule: Rule, pair: JudgedPair) -> str | None:
    """Why no conversation with `pair` tries `rule`; None if one can."""
    release = RELEASES[pair.release]
    return next((u.why for u in UNREACHABLE if u.rule == rule and u.where(release, pair)), None)


def _speaks_below(version: int) -> Where:
    """AlterPartition is not spoken up to that version."""
    return lambda release, _pair: release.alter_partition < version


def _from(version: str) -> Where:
    return lambda _release, pair: at_least(pair.metadata_version, version)


def _without_elr(_release: Release, pair: JudgedPair) -> bool:
    return not pair.elr


UNREACHABLE = (
    *(
        Unreachable(Rule(GUARD, id), _without_elr, "Only a cluster with the feature asks for it.")
        for id, guard in guards.GUARDS.items()
        if guard.kind is guards.GuardKind.FEATURE
    ),
    Unreachable(
        Rule(RECORD, "RemoveTopicRecord"),
        _without_elr,
        "Conversations without eligible leader replicas delete no topic.",
    ),
    Unreachable(
        Rule(RECORD, "ClearElrRecord"),
        _without_elr,
        "A cluster without eligible leader replicas clears none.",
    ),
    Unreachable(
        Rule(ERROR, "NOT_LEADER_OR_FOLLOWER"),
        _without_elr,
        "Conversations without eligible leader replicas have no log directories.",
    ),
    Unreachable(
        Rule(ERROR, "NOT_CONTROLLER"),
        lambda release, _pair: release.code < (3, 3),
        "Up to 3.2 epochs that are too new get the answers of those that are too old.",
    ),
    Unreachable(
        Rule(ERROR, "NEW_LEADER_ELECTED"),
        _speaks_below(2),
        "It came with version 2 of AlterPartition; before that it is FENCED_LEADER_EPOCH.",
    ),
    Unreachable(
        Rule(ERROR, "INELIGIBLE_REPLICA"),
        _speaks_below(2),
        "It came with version 2 of AlterPartition.",
    ),
    Unreachable(
        Rule(ERROR, "OPERATION_NOT_ATTEMPTED"),
        lambda release, _pair: release.code < (3, 3) or release.oldest_alter_partition >= 2,
        "It tells old leaders of members that may not join: 3.2 lets everybody join, and from 4.0"
        " on there are no such leaders.",
    ),
    Unreachable(
        Rule(ERROR, "UNKNOWN_TOPIC_ID"),
        _speaks_below(2),
        "Topics have ids since version 2 of AlterPartition.",
    ),
    Unreachable(
        Rule(TRANSITION, "FENCED falls silent"),
        lambda release, _pair: release.code < (4, 0),
        "Up to 3.9 a fenced broker has no session.",
    ),
    Unreachable(
        Rule(RECORD, "ConfigRecord"),
        _without_elr,
        "Conversations without eligible leader replicas change no setting of a topic.",
    ),
    Unreachable(
        Rule(RECORD, "FenceBrokerRecord"),
        _from("3.3-IV2"),
        "From metadata version 3.3-IV2 on a BrokerRegistrationChangeRecord stands for it.",
    ),
    Unreachable(
        Rule(RECORD, "UnfenceBrokerRecord"),
        _from("3.3-IV2"),
        "From metadata version 3.3-IV2 on a BrokerRegistrationChangeRecord stands for it.",
    ),
    Unreachable(
        Rule(RECORD, "BrokerRegistrationChangeRecord"),
        lambda release, _pair: not at_least(release.latest, "3.3-IV2"),
        "It waits for metadata version 3.3-IV2.",
    ),
)
"""What is named here and reached all the same fails a test."""

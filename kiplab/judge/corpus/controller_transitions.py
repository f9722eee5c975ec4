"""What a controller goes through: its brokers' states, and what befalls itself."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import Dropped
from ...engine.step import Step
from ...engine.truth import registration_of, sessions
from ...protocol.facts import ControllerResigned
from ...protocol.ids import BrokerId
from ...protocol.kraft.heartbeats import BrokerState, next_state
from ...protocol.messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
)

RESIGNED, TOOK_OVER = "controller resigns", "controller takes over"
UNKNOWN = "UNKNOWN"
"""The state of a broker that is not registered."""
_LASTING = tuple(state for state in BrokerState if state is not BrokerState.SHUTDOWN_NOW)


def every_transition() -> tuple[str, ...]:
    """All that there are: heartbeats lead where `next_state` says, from whatever it is told."""
    inputs = list(product((False, True), repeat=5))
    beaten = {_by_heartbeat(now, _led_to(now, given)): None for now in _LASTING for given in inputs}
    return (
        *beaten,
        *(_by_silence(state) for state in _LASTING),
        *(_registered(state) for state in (UNKNOWN, *_LASTING)),
        TOOK_OVER,
        RESIGNED,
    )


def _led_to(now: BrokerState, given: tuple[bool, ...]) -> BrokerState:
    want_fence, want_shut_down, caught_up, leads, granted = given
    return next_state(
        now,
        want_fence=want_fence,
        want_shut_down=want_shut_down,
        caught_up=caught_up,
        leads=leads,
        granted=granted,
    )


def transitions(before: Cluster, move: moves.Move, done: Step) -> Iterator[str]:
    """Those that one move of the engine has gone through."""
    match move:
        case moves.ExpireSession(broker=broker):
            yield _by_silence(_state(before, broker))
        case moves.FailOver():
            yield TOOK_OVER
        case moves.Deliver(message=name):
            (body,) = (m.body for m in before.messages if m.name == name)
            if isinstance(body, BrokerRegistrationRequest):
                yield _registered(_state(before, body.broker))
            if isinstance(body, BrokerHeartbeatRequest):
                yield from _beaten(before, body.broker, done)
            if any(isinstance(event, ControllerResigned) for event in done.events):
                yield RESIGNED


def _beaten(before: Cluster, broker: BrokerId, done: Step) -> Iterator[str]:
    for event in done.events:
        answer = event.body if isinstance(event, Dropped) else None
        if isinstance(answer, BrokerHeartbeatResponse) and not answer.error:
            yield _by_heartbeat(_state(before, broker), _after(done.cluster, broker, answer))


def _after(cluster: Cluster, broker: BrokerId, answer: BrokerHeartbeatResponse) -> str:
    if answer.should_shut_down:
        return BrokerState.SHUTDOWN_NOW
    return BrokerState.FENCED if answer.is_fenced else _state(cluster, broker)


def _state(cluster: Cluster, broker: BrokerId) -> str:
    """What the controller makes of a broker, as `heartbeats.current_state` has it."""
    if registration_of(cluster, broker) is None:
        return UNKNOWN
    known = next((s for s in sessions(cluster) if s.broker == broker), None)
    if known is not None and known.leaving:
        return BrokerState.CONTROLLED_SHUTDOWN
    return BrokerState.FENCED if known is None or known.fenced else BrokerState.UNFENCED


def _by_heartbeat(now: str, then: str) -> str:
    return f"{now} to {then} by heartbeat"


def _by_silence(now: str) -> str:
    return f"{now} falls silent"


def _registered(now: str) -> str:
    return f"{now} registers"

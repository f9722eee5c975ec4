"""The lines that a move of the engine adds to a trace."""

from collections.abc import Collection, Iterator

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Delivered, Event
from ...engine.truth import partition_of, registration_of
from ...protocol.errors import KafkaError
from ...protocol.facts import Refused
from ...protocol.ids import CONTROLLER, NO_LEADER, BrokerId
from ...protocol.messages import IsrMember
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration
from .driven_engine import PARTITION, DoneMove, isr_asked
from .trace_lines import NOBODY, TracedState, TraceLine


def engine_lines(
    before: Cluster, after: Cluster, move: DoneMove, behind: Collection[int]
) -> Iterator[TraceLine]:
    """The lines of one move; `behind` are the brokers that have not caught up."""
    for event in move.events:
        yield from _of_event(before, after, move, event, behind)
    was, now = partition_in(before), partition_in(after)
    if was is not now and was != now:
        yield TraceLine(move.at, "partition", partition=traced_state(now))


def _of_event(
    before: Cluster, after: Cluster, made: DoneMove, event: Event, behind: Collection[int]
) -> Iterator[TraceLine]:
    if isinstance(event, Refused) and event.node == CONTROLLER:
        # NEW_LEADER_ELECTED refuses nothing: another leader came on the way.
        if event.error is not KafkaError.NEW_LEADER_ELECTED:
            yield TraceLine(made.at, "refused", _sender(made.move), event.guard or "")
    elif isinstance(event, CommittedLost):
        yield TraceLine(made.at, "lost", int(event.leader))
    elif isinstance(event, Delivered):
        for member in _stale_joins(before, after, isr_asked(event.body) or (), behind):
            yield TraceLine(made.at, "stale join", int(member))


def _sender(move: moves.Move) -> int:
    assert isinstance(move, moves.Deliver)
    return int(move.message.sender)


def _stale_joins(
    before: Cluster, after: Cluster, members: tuple[IsrMember, ...], behind: Collection[int]
) -> Iterator[BrokerId]:
    """Members that the controller accepts although they are fenced or another incarnation now."""
    was, now = partition_in(before), partition_in(after)
    if now.partition_epoch == was.partition_epoch:
        return
    for member in members:
        registration = registration_of(before, member.broker)
        if member.broker in was.isr or member.broker not in now.isr:
            continue
        is_gone = (registration is None or registration.fenced) and member.broker in behind
        if is_gone or (registration is not None and registration.epoch != member.observed):
            yield member.broker


def partition_in(cluster: Cluster) -> PartitionRegistration:
    """The one partition of a schedule."""
    registration = partition_of(cluster, PARTITION)
    assert registration is not None
    return registration


def traced_state(state: PartitionRegistration) -> TracedState:
    """The state as a line of a trace has it."""
    return TracedState(
        leader=NOBODY if state.leader == NO_LEADER else int(state.leader),
        leader_epoch=int(state.leader_epoch),
        partition_epoch=int(state.partition_epoch),
        isr=tuple(int(member) for member in state.isr),
        recovering=state.recovery is LeaderRecoveryState.RECOVERING,
        elr=tuple(int(member) for member in state.elr),
        last_known=next((int(leader) for leader in state.last_known), NOBODY),
    )

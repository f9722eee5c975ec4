"""The lines that a move of the engine adds to a trace, and the cause of lost committed records.

The cause is the first that holds of the leader. Its records went in a shock; it was elected
uncleanly; it joined the ISR as a stale replica; else it was the last member. The effect of a shock
or a stale join on a broker ends once it has caught up with a leader again, or leads itself: then
its records are those that count.
"""

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.events import CommittedLost, Delivered, Event
from ...engine.truth import partition_of, registration_of
from ...protocol.errors import KafkaError
from ...protocol.facts import LeaderElected, Refused
from ...protocol.ids import CONTROLLER, NO_LEADER, NO_LEADER_EPOCH, BrokerId
from ...protocol.messages import IsrMember
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ...protocol.replica.broker_state import log_of
from .driven_engine import PARTITION, DoneMove, DrivenEngine, isr_asked
from .kernel_run import NOBODY, Outside, TracedState, TraceLine


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
            assert isinstance(made.move, moves.Deliver)
            yield TraceLine(made.at, "refused", int(made.move.message.sender), event.guard or "")
    elif isinstance(event, CommittedLost):
        yield TraceLine(made.at, "lost", int(event.leader))
    elif isinstance(event, Delivered):
        for member in _stale_joins(before, after, isr_asked(event.body) or (), behind):
            yield TraceLine(made.at, "stale join", int(member))


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


# --- the causes of losses -------------------------------------------------------------------------


class LossCauses:
    """`shocked` and `stale` brokers, and the leader epoch of the last unclean election."""

    def __init__(self) -> None:
        self.shocked: set[int] = set()
        self.stale: set[int] = set()
        self.uncleanly = NO_LEADER_EPOCH

    def crashed(self, event: Outside) -> None:
        """A process is gone, and with it perhaps some records."""
        if event.fate != "kept":
            self.shocked.discard(event.broker)
            self.shocked |= {event.broker} if event.shock else set()

    def levelled(self, engine: DrivenEngine, leader: int, followers: Iterable[int]) -> None:
        """These have fetched what they were given; who leads has what counts from now on."""
        self.shocked.discard(leader)
        self.stale.discard(leader)
        end = log_of(engine.node(leader), PARTITION).end
        for b in followers:
            if engine.follows(b) and log_of(engine.node(b), PARTITION).end == end:
                self.shocked.discard(b)
                self.stale.discard(b)

    def named(
        self, lines: Iterable[TraceLine], move: DoneMove, state: PartitionRegistration
    ) -> Iterator[TraceLine]:
        """The lines of a move that came to `state`, its losses with their causes."""
        for event in move.events:
            if isinstance(event, LeaderElected) and event.unclean:
                self.uncleanly = event.leader_epoch
        for line in lines:
            if line.what == "stale join":
                self.stale.add(line.broker)
            is_loss = line.what == "lost"
            yield replace(line, cause=self._of(line.broker, state)) if is_loss else line

    def _of(self, broker: int, state: PartitionRegistration) -> str:
        if broker in self.shocked:
            return "shock_loss"
        if state.leader_epoch == self.uncleanly:
            return "unclean_loss"
        return "race_loss" if broker in self.stale else "last_replica_loss"

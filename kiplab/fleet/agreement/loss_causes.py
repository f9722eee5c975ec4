"""The cause of lost committed records, from the engine's moves: the first that holds of the leader.

Its records went in a shock; it was elected uncleanly; it joined the ISR as a stale replica; else it
was the last member. The effect of a shock or a stale join on a broker ends once it has caught up
with a leader again, or leads itself: then its records are those that count.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ...protocol.facts import LeaderElected
from ...protocol.ids import NO_LEADER_EPOCH
from ...protocol.registrations import PartitionRegistration
from ...protocol.replica.broker_state import log_of
from .driven_engine import PARTITION, DoneMove, DrivenEngine
from .outside_events import Outside
from .trace_lines import TraceLine


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

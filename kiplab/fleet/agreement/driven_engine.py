"""The engine with one partition, driven move by move; whatever is ready flows by itself.

Heartbeats, fetches and other rounds come on request: a process's timers are turned back before.
Only AlterPartition requests stay under way until the caller delivers them.
"""

from collections.abc import Callable
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from ...engine import channels, clock, moves, truth
from ...engine.cluster import Cluster, Message, broker
from ...engine.events import Event
from ...engine.nodes import is_cut, with_state
from ...engine.setup import cluster_of
from ...engine.step import step
from ...plays.header import setup_of
from ...plays.play import Play, split
from ...protocol import messages
from ...protocol.features import Features
from ...protocol.ids import NO_LEADER, BrokerEpoch, BrokerId
from ...protocol.replica.broker_state import Broker, Timers, Volatile, log_of, replica_of
from .kernel_run import FIRST_LEADER_EPOCH, FIRST_PARTITION_EPOCH, OutsideSchedule

PARTITION = "orders-0"
_NOW = Timers()
ROUNDS = 3
"""One after the other: a first round brings the records, or where the logs diverge, a last one
says so. When all have done so everybody learns what is committed."""


def header_of(schedule: OutsideSchedule) -> str:
    """How every play of a schedule begins."""
    ids = ",".join(str(b) for b in range(1, schedule.replicas + 1))
    lines = [f"broker {b} epoch={40 + b}" for b in range(1, schedule.replicas + 1)]
    unclean = " unclean-leader-election=yes" if schedule.unclean else ""
    topic = (
        f"topic orders replicas={ids} isr={ids} leader={schedule.leader}"
        f" leader-epoch={FIRST_LEADER_EPOCH} partition-epoch={FIRST_PARTITION_EPOCH}"
        f" log=10@{FIRST_LEADER_EPOCH} min-insync-replicas={schedule.min_insync}{unclean}"
    )
    return "\n".join([*lines, topic])


@lru_cache(maxsize=1_024)
def begun(header: str, features: Features) -> Cluster:
    """The situation that a play with this header, and a clock, begins with."""
    statements = split(f"{header}\ntimed\n").statements
    return cluster_of(setup_of(Play(statements), features))


def isr_asked(body: messages.Body) -> tuple[messages.IsrMember, ...] | None:
    """The ISR that a leader asks for; None if a message does not."""
    return body.items[0].isr if isinstance(body, messages.AlterPartitionRequest) else None


class DoneMove(msgspec.Struct, frozen=True):
    """When (ms), what, and what followed from it."""

    at: int
    move: moves.Move
    events: tuple[Event, ...]


class DrivenEngine:
    """`cluster` at `now` (ms), and every move that was `done`; `after` is called with each."""

    def __init__(self, first: Cluster, after: Callable[[Cluster, DoneMove], None]) -> None:
        self.cluster = first
        self.now = 0
        self.done: list[DoneMove] = []
        self.after = after

    # --- moves --------------------------------------------------------------------------------

    def do(self, move: moves.Move) -> None:
        """One step. Raises what `step` raises for an impossible one."""
        made = step(self.cluster, move)
        before, self.cluster = self.cluster, made.cluster
        self.done.append(DoneMove(self.now, move, made.events))
        self.after(before, self.done[-1])

    def wait_until(self, at: int) -> None:
        """Time passes."""
        if at > self.now:
            self.do(moves.Advance(at - self.now))
            self.now = at

    def fire(self, b: int, timer: moves.Timer) -> None:
        """The round comes now, whatever the timer says, and what it sends arrives."""
        process = self.process(b)
        if process.timers != _NOW:
            node = replace(self.node(b), process=replace(process, timers=_NOW))
            self.cluster = with_state(self.cluster, BrokerId(b), node)
        self.do(moves.Fire(BrokerId(b), timer))
        self.flow()

    def note_order(self, b: int, epoch: BrokerEpoch) -> None:
        """A process that ended had stopped in order, let go or not: LogManager.shutdown (4.3.1)."""
        if self.cluster.features.has_elr:
            durable = replace(self.node(b).durable, clean_epoch=epoch)
            node = replace(self.node(b), durable=durable)
            self.cluster = with_state(self.cluster, BrokerId(b), node)

    def fire_if_up(self, b: int, timer: moves.Timer) -> None:
        """The round of a process, if there is one."""
        if self.node(b).process is not None:
            self.fire(b, timer)

    def catch_up(self, b: int, leader: int) -> None:
        """A follower fetches as long as something comes of it."""
        before = None
        for _ in range(ROUNDS):
            now = self.replicas_and_logs(b, leader)
            if now == before or not self.is_behind(b):
                return
            self.fire(b, moves.Timer.FETCH)
            before = now

    def flow(self) -> None:
        """Deliver everything but requests that the schedule delays."""
        while (message := self._deliverable()) is not None:
            self.do(moves.Deliver(message.name))

    def _deliverable(self) -> Message | None:
        cluster = self.cluster
        for m in cluster.messages:
            if isinstance(m.body, messages.AlterPartitionRequest):
                continue
            is_linked = not is_cut(cluster, m.name.sender, m.receiver)
            if is_linked and channels.blocker(cluster, m) is None:
                return m
        return None

    def as_one_batch(self, b: int) -> None:
        """Who is reached again fetches the metadata log to its end and publishes one image of it;
        what was true meanwhile and is no more is never played: MetadataLoader.handleCommit (3.5.0).
        """
        waiting = [
            m.name
            for m in self.cluster.messages
            if m.receiver == b and isinstance(m.body, messages.MetadataUpdate)
        ]
        for name in waiting[:-1]:
            self.do(moves.Drop(name))

    # --- what is so ---------------------------------------------------------------------------

    def node(self, b: int) -> Broker:
        """A broker, up or down."""
        found = broker(self.cluster, BrokerId(b))
        assert found is not None
        return found

    def process(self, b: int) -> Volatile:
        """The process of a broker that is up."""
        process = self.node(b).process
        assert process is not None
        return process

    def leads(self, b: int) -> bool:
        """Whether a broker knows that it leads."""
        if b == NO_LEADER:
            return False
        replica = replica_of(self.node(b), PARTITION)
        return replica is not None and replica.leading is not None

    def follows(self, b: int) -> bool:
        """Whether a broker knows that it follows."""
        replica = replica_of(self.node(b), PARTITION)
        return replica is not None and replica.leading is None

    def is_behind(self, b: int) -> bool:
        """Whether a follower has something to fetch, or to hear."""
        replica = replica_of(self.node(b), PARTITION)
        if replica is None or replica.leading is not None:
            return False
        return clock.wants_fetch(self.cluster, self.node(b), replica)

    def replicas_and_logs(self, b: int, leader: int) -> tuple[object, ...]:
        """All that a follower's fetch can change: after a fetch without effect none has any."""
        nodes = self.node(b), self.node(leader)
        return tuple((replica_of(n, PARTITION), log_of(n, PARTITION)) for n in nodes)

    def session_ends(self) -> dict[int, int]:
        """By broker, when (ms) its session is over without another heartbeat."""
        if not truth.watches_sessions(self.cluster):
            return {}
        timeout = truth.session_timeout_ms(self.cluster) + 1
        live = [s for s in truth.sessions(self.cluster) if not s.over and not s.fenced]
        return {int(s.broker): s.last_contact_ms + timeout for s in live}

    def session_is_new(self, b: int) -> bool:
        """Whether a controller is new, and the broker will have to ask it once more."""
        session = next(s for s in truth.sessions(self.cluster) if s.broker == b)
        return not session.over and not session.leaving

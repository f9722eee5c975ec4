"""A schedule through the engine: every move is the engine's own, at the time that it says.

The schedule's world stands here: links, delays, who has caught up, a client that writes without a
pause. What Kafka does about it is `step`'s business, and so are its clocks of sessions and lag.
Heartbeats, fetches and other rounds come when the world has them come: a process's timers are
turned back before.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import blocker
from ...engine.clock import wants_fetch
from ...engine.cluster import Cluster, Message, MessageName, broker
from ...engine.events import CommittedLost, Delivered, Event
from ...engine.impossible_moves import why_not
from ...engine.nodes import is_cut, with_state
from ...engine.setup import cluster_of
from ...engine.step import step
from ...engine.truth import (
    partition_of,
    registration_of,
    session_timeout_ms,
    sessions,
    watches_sessions,
)
from ...plays.header import setup_of
from ...plays.play import Play, split
from ...protocol.errors import KafkaError
from ...protocol.facts import BecameLeader, Refused
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, NO_LEADER, BrokerId
from ...protocol.kraft.broker_lifecycle import HEARTBEAT_MS
from ...protocol.messages import AlterPartitionRequest, MetadataUpdate
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ...protocol.replica.broker_state import (
    Broker,
    Lifecycle,
    Loss,
    Timers,
    Volatile,
    log_of,
    replica_of,
)
from ...protocol.replica.periods import LAG_CHECK_MS
from ..kernel.set_events import (
    EXPIRY,
    HEALS,
    IS_LEVEL,
    LAG_CHECK,
    LEADER_RECOVERED,
    OUTAGE_ENDS,
    RANKS,
    READY,
    REQUEST_ARRIVES,
    STARTS,
    STOPS,
)
from .kernel_run import FIRST_LEADER_EPOCH, FIRST_PARTITION_EPOCH
from .outside_events import Outside, OutsideSchedule
from .trace_lines import NOBODY, PartitionTold, Trace, TraceLine

PARTITION = "orders-0"
ROUNDS = 3
"""One after the other: a first round brings the records, or the place where logs part, a last one
says so. When all have done so everybody learns what is committed."""
_LOSSES = {"kept": Loss.NOTHING, "tail-lost": Loss.UNFLUSHED, "replaced": Loss.DISK}
Planned = tuple[int, int, int]
"""When (ms), its rank, of which broker or request."""


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
def _first_cluster(header: str, features: Features, timed: bool) -> Cluster:
    statements = split(header + ("\ntimed\n" if timed else "\n")).statements
    return cluster_of(setup_of(Play(statements), features))


class DoneMove(msgspec.Struct, frozen=True):
    """When (ms), what, and what followed from it."""

    at: int
    move: moves.Move
    events: tuple[Event, ...]


class EngineRun:
    """One run; `told` is its trace, `done` every move."""

    def __init__(self, schedule: OutsideSchedule, features: Features, timed: bool = True) -> None:
        self.cluster = _first_cluster(header_of(schedule), features, timed)
        self.schedule = schedule
        self.now = self.turn = 0
        self.told: list[TraceLine] = []
        self.done: list[DoneMove] = []
        self.plans: dict[tuple[int, int], int] = {}
        self.requests: dict[int, tuple[int, MessageName]] = {}
        self.level = dict.fromkeys(self.ids, True)
        self.last: dict[int, Outside] = {}
        self.tries = dict.fromkeys(self.ids, 0)
        self.gives_up: dict[int, int] = {}
        self.cut: set[int] = set()
        self.outage = 0
        self.written = 0
        self.cause = 0
        self.state = self._partition()

    @property
    def ids(self) -> range:
        return range(1, self.schedule.replicas + 1)

    def run(self) -> Trace:
        """The whole schedule."""
        for event in self.schedule.events:
            self._until(event.order)
            self._event(event.at, lambda event=event: self._outside(event))
        self._until((self.schedule.end, RANKS, 0))
        return tuple(self.told)

    # --- time ---------------------------------------------------------------------------------

    def _until(self, limit: Planned) -> None:
        while True:
            plan = min(self._planned(), default=None)
            if plan is None or plan >= limit:
                return
            if not self._put_off(plan):
                self._event(plan[0], lambda plan=plan: self._by_itself(plan))

    def _planned(self) -> list[Planned]:
        found = [(at, rank, b) for (rank, b), at in self.plans.items()]
        found += [(at, REQUEST_ARRIVES, n) for n, (at, _) in self.requests.items()]
        return found if self.outage else found + self._expiries()

    def _expiries(self) -> list[Planned]:
        """The engine's own sessions, of those whom nobody hears.

        Who is fenced already is left alone: from 4.0 on a controller fences it once more, for
        nothing, and at another time than the kernel everybody else would be heard of.
        """
        if not watches_sessions(self.cluster):
            return []
        timeout = session_timeout_ms(self.cluster) + 1
        silent = {
            s.broker: s
            for s in sessions(self.cluster)
            if not s.over and not s.fenced and self._silent(s.broker)
        }
        return [(max(s.last_contact_ms + timeout, self.now), EXPIRY, b) for b, s in silent.items()]

    def _silent(self, b: int) -> bool:
        process = self._node(b).process
        starting = process is not None and process.lifecycle is Lifecycle.STARTING
        return process is None or starting or b in self.cut

    def _put_off(self, plan: Planned) -> bool:
        _, rank, of = plan
        waiting = of
        if rank == REQUEST_ARRIVES:
            waiting = self.requests[of][1].sender
        elif rank == HEALS:
            if not self.outage:
                return False
            self.plans[rank, of] = self.outage
            return True
        elif rank not in (STOPS, STARTS, READY):
            return False
        until = self.outage or (self.plans[HEALS, waiting] if waiting in self.cut else 0)
        if until and rank == REQUEST_ARRIVES:
            self.requests[of] = (until, self.requests[of][1])
        elif until:
            self.plans[rank, of] = until
        return bool(until)

    def _event(self, at: int, what: object) -> None:
        """Time passes; the client writes; something happens; whoever can fetches."""
        self.turn += 1
        if at > self.now:
            self._do(moves.Advance(at - self.now))
            self.now = at
        self._write()
        self._replicate()
        what()  # type: ignore[operator]
        self._flow()
        self._replicate()

    # --- the world ----------------------------------------------------------------------------

    def _write(self) -> None:
        if self.now <= self.written:
            return
        self.written = self.now
        leader = self._leader()
        if leader:
            self._try(moves.Produce(PARTITION, BrokerId(leader), 1))

    def _leader(self) -> int:
        """Who leads, knows it and can be reached."""
        leader = self.state.leader
        return int(leader) if self._leads(leader) and leader not in self.cut else NOBODY

    def _leads(self, b: int) -> bool:
        """Whether a broker knows that it leads."""
        if b == NO_LEADER:
            return False
        replica = replica_of(self._node(b), PARTITION)
        return replica is not None and replica.leading is not None

    def _replicate(self) -> None:
        leader = self._leader()
        if not leader:
            return
        followers = [b for b in self.ids if b != leader and self.level[b] and b not in self.cut]
        for b in (*followers, *followers):
            before = None
            for _ in range(ROUNDS):
                now = self._known(b, leader)
                if now == before or not self._behind(b):
                    break
                self._fire(b, moves.Timer.FETCH)
                before = now

    def _known(self, b: int, leader: int) -> tuple[object, ...]:
        """What a follower's fetch may change: if it does not, the next one does not."""
        nodes = self._node(b), self._node(leader)
        return tuple((replica_of(n, PARTITION), log_of(n, PARTITION)) for n in nodes)

    def _behind(self, b: int) -> bool:
        replica = replica_of(self._node(b), PARTITION)
        if replica is None or replica.leading is not None:
            return False
        return wants_fetch(self.cluster, self._node(b), replica)

    def _outside(self, event: Outside) -> None:
        b, kind = event.broker, event.kind
        if kind == "outage":
            self._outage(event)
        elif kind == "flush":
            self._try_fire(b, moves.Timer.FLUSH)
        elif kind == "beat":
            self._try_fire(b, moves.Timer.CHECKPOINT)
            if self._heard(b):
                self._fire(b, moves.Timer.HEARTBEAT)
        else:
            self._note(event)
            self._fetch_once_more(b)
            {"cut": self._cut, "crash": self._crash, "bounce": self._bounce}[kind](event)

    def _fetch_once_more(self, b: int) -> None:
        """Followers fetch without a pause, so their last fetch was just now: theirs, if they are
        about to go, and their leader's word on them all, if it is.
        """
        leader = self._leader()
        for follower in self.ids:
            goes = b in (follower, leader) and follower != leader and leader
            if (
                goes
                and self.level[follower]
                and follower not in self.cut
                and self._follows(follower)
            ):
                self._fire(follower, moves.Timer.FETCH)

    def _follows(self, b: int) -> bool:
        replica = replica_of(self._node(b), PARTITION)
        return replica is not None and replica.leading is None

    def _note(self, event: Outside) -> None:
        self.last[event.broker], self.tries[event.broker] = event, 0
        self.plans[LAG_CHECK, event.broker] = self.now + event.lag_phase

    def _outage(self, event: Outside) -> None:
        if not self.outage:
            self.outage = self.plans[OUTAGE_ENDS, 0] = self.now + event.lasts

    def _crash(self, event: Outside) -> None:
        b = event.broker
        if self._node(b).process is None:
            return
        self._do(moves.Crash(BrokerId(b), _LOSSES[event.fate]))
        self._ended(b)

    def _ended(self, b: int) -> None:
        self.level[b] = False
        for rank in (STOPS, READY, IS_LEVEL):
            self.plans.pop((rank, b), None)
        self.plans[STARTS, b] = self.now + self.last[b].restart

    def _cut(self, event: Outside) -> None:
        b = event.broker
        if self._node(b).process is None or b in self.cut:
            return
        for other in self._others(b):
            if other not in self.cut:
                self._do(moves.Cut(BrokerId(b), other))
        self.cut.add(b)
        self.level[b] = False
        self.plans.pop((IS_LEVEL, b), None)
        self.plans[HEALS, b] = self.now + event.lasts

    def _others(self, b: int) -> list[BrokerId]:
        return [CONTROLLER, *(BrokerId(c) for c in self.ids if c != b)]

    def _bounce(self, event: Outside) -> None:
        b = event.broker
        waits = self.schedule.bounces_wait and len(self.state.isr) < self.schedule.replicas
        if self._heard(b) and not waits:
            self._do(moves.ShutDown(BrokerId(b)))
            self._flow()
            self.gives_up[b] = self.now + self.schedule.patience
            self._ask_to_stop(b, self.last[b].shutdown)

    def _ask_to_stop(self, b: int, again: int) -> None:
        self._fire(b, moves.Timer.HEARTBEAT)
        if self._node(b).process is None:
            self._ended(b)
        else:
            self.plans[STOPS, b] = self.now + again

    # --- what comes by itself -----------------------------------------------------------------

    def _by_itself(self, plan: Planned) -> None:
        _, rank, of = plan
        self.cause = of
        self.plans.pop((rank, of), None)
        if rank == REQUEST_ARRIVES:
            self._do(moves.Deliver(self.requests.pop(of)[1]))
        else:
            _BY_ITSELF[rank](self, of)

    def _expire(self, b: int) -> None:
        self._all_beat()
        self._do(moves.ExpireSession(BrokerId(b)))

    def _outage_ends(self, _: int) -> None:
        self.outage = 0
        self._do(moves.FailOver())
        self._all_beat()

    def _heal(self, b: int) -> None:
        self._as_one_batch(b)
        self.cut.discard(b)
        for other in self._others(b):
            if other not in self.cut:
                self._do(moves.Heal(BrokerId(b), other))
        process = self._node(b).process
        if process is None or process.lifecycle is Lifecycle.STARTING:
            return
        self.plans[IS_LEVEL, b] = self.now + self.last[b].level
        self._flow()
        if process.lifecycle is Lifecycle.RUNNING:
            self._fire(b, moves.Timer.HEARTBEAT)

    def _as_one_batch(self, b: int) -> None:
        """Who is reached again fetches the metadata log to its end and publishes one image of it;
        what was true meanwhile and is no more is never played: MetadataLoader.handleCommit (3.5.0).
        """
        waiting = [
            m.name
            for m in self.cluster.messages
            if m.receiver == b and isinstance(m.body, MetadataUpdate)
        ]
        for name in waiting[:-1]:
            self._do(moves.Drop(name))

    def _stop(self, b: int) -> None:
        self._fetch_once_more(b)
        self._all_beat()
        fresh = self._session_is_new(b)
        self._ask_to_stop(b, self.last[b].shutdown if fresh else HEARTBEAT_MS)
        if not fresh and self._node(b).process is not None and self.now >= self.gives_up[b]:
            self._fire(b, moves.Timer.FLUSH)
            self._fire(b, moves.Timer.CHECKPOINT)
            self._do(moves.Crash(BrokerId(b)))
            self._ended(b)

    def _session_is_new(self, b: int) -> bool:
        """A controller that is new, and that the broker will have to ask once more."""
        known = next(s for s in sessions(self.cluster) if s.broker == b)
        return not known.over and not known.leaving

    def _start(self, b: int) -> None:
        if self._node(b).process is None:
            self._do(moves.Start(BrokerId(b)))
            self._flow()
            self._fire(b, moves.Timer.FLUSH)
        else:
            self._fire(b, moves.Timer.HEARTBEAT)
        process = self._node(b).process
        assert process is not None
        if process.lifecycle is Lifecycle.STARTING:
            self.plans[STARTS, b] = self.now + HEARTBEAT_MS
        else:
            self.plans[READY, b] = self.now + self.last[b].ready
            self.plans[IS_LEVEL, b] = self.now + self.last[b].level

    def _ready(self, b: int) -> None:
        self._do(moves.FinishRecovery(BrokerId(b)))
        self._fire(b, moves.Timer.HEARTBEAT)

    def _is_level(self, b: int) -> None:
        self.level[b] = True
        self.plans.pop((LAG_CHECK, b), None)

    def _lag_check(self, b: int) -> None:
        if not self.level[b]:
            self.plans[LAG_CHECK, b] = self.now + LAG_CHECK_MS
        leader = self._leader()
        if leader:
            self._fire(leader, moves.Timer.LAG_CHECK)

    def _leader_recovered(self, _: int) -> None:
        leader = self.state.leader
        done = moves.FinishLeaderRecovery(PARTITION, leader)
        if not self._leads(leader) or why_not(self.cluster, done) is not None:
            return
        if leader in self.cut or self._process(leader).items:
            self.plans[LEADER_RECOVERED, 0] = self.now + HEARTBEAT_MS
            return
        self.cause = leader
        self._do(done)

    # --- moves --------------------------------------------------------------------------------

    def _heard(self, b: int) -> bool:
        process = self._node(b).process
        runs = process is not None and process.lifecycle is Lifecycle.RUNNING
        return runs and b not in self.cut and not self.outage

    def _all_beat(self) -> None:
        for b in self.ids:
            if self._heard(b):
                self._fire(b, moves.Timer.HEARTBEAT)

    def _node(self, b: int) -> Broker:
        found = broker(self.cluster, BrokerId(b))
        assert found is not None
        return found

    def _process(self, b: int) -> Volatile:
        process = self._node(b).process
        assert process is not None
        return process

    def _fire(self, b: int, timer: moves.Timer) -> None:
        """The round comes now: whatever the timer says."""
        process = self._process(b)
        if process.timers != _NOW:
            node = replace(self._node(b), process=replace(process, timers=_NOW))
            self.cluster = with_state(self.cluster, BrokerId(b), node)
        self._do(moves.Fire(BrokerId(b), timer))
        self._flow()

    def _try_fire(self, b: int, timer: moves.Timer) -> None:
        if self._node(b).process is not None:
            self._fire(b, timer)

    def _try(self, move: moves.Move) -> None:
        if why_not(self.cluster, move) is None:
            self._do(move)

    def _flow(self) -> None:
        """Deliver everything but requests that the schedule delays."""
        while (message := self._deliverable()) is not None:
            self._do(moves.Deliver(message.name))

    def _deliverable(self) -> Message | None:
        cluster = self.cluster
        for m in cluster.messages:
            if isinstance(m.body, AlterPartitionRequest):
                continue
            if not is_cut(cluster, m.name.sender, m.receiver) and blocker(cluster, m) is None:
                return m
        return None

    def _do(self, move: moves.Move) -> None:
        done = step(self.cluster, move)
        before, self.cluster = self.cluster, done.cluster
        self.done.append(DoneMove(self.now, move, done.events))
        for event in done.events:
            self._hear(before, event)
        for m in self.cluster.messages:
            if isinstance(m.body, AlterPartitionRequest):
                self._delay(m, m.body)
        self._look()

    def _delay(self, m: Message, body: AlterPartitionRequest) -> None:
        if any(name == m.name for _, name in self.requests.values()):
            return
        asked = {member.broker for member in body.items[0].isr}
        joins = asked - set(self.state.isr)
        cause = next(iter(joins), self.cause)
        delay = self.last[cause].delay(int(m.name.sender), self.tries[cause])
        self.tries[cause] += 1
        self.requests[self.turn] = (self.now + delay, m.name)

    # --- what is told -------------------------------------------------------------------------

    def _partition(self) -> PartitionRegistration:
        found = partition_of(self.cluster, PARTITION)
        assert found is not None
        return found

    def _look(self) -> None:
        state = self._partition()
        if state is self.state:
            return
        was, self.state = self.state, state
        if state == was:
            return
        self.told.append(TraceLine(self.now, "partition", partition=told_of(state)))

    def _begins(self, leader: int) -> None:
        """A process plays the leader: if it has to recover, it begins to."""
        self.plans.pop((LEADER_RECOVERED, 0), None)
        if self._partition().recovery is LeaderRecoveryState.RECOVERING:
            self.plans[LEADER_RECOVERED, 0] = self.now + self.last[leader].recover

    def _hear(self, before: Cluster, event: Event) -> None:
        if isinstance(event, Refused) and event.node == CONTROLLER:
            if event.error is KafkaError.NEW_LEADER_ELECTED:
                # It has done what it was asked for, and elected another leader on the way.
                return
            sender = _sender(self.done[-1].move)
            self.told.append(TraceLine(self.now, "refused", sender, event.guard or ""))
        elif isinstance(event, CommittedLost):
            self.told.append(TraceLine(self.now, "lost", int(event.leader)))
        elif isinstance(event, BecameLeader) and event.node == self._partition().leader:
            self._begins(int(event.node))
        elif isinstance(event, Delivered) and isinstance(event.body, AlterPartitionRequest):
            self._joins(before, event.body)

    def _joins(self, before: Cluster, request: AlterPartitionRequest) -> None:
        """A member that the controller accepts although it is fenced, or another life by now."""
        was, now = partition_of(before, PARTITION), self._partition()
        assert was is not None
        for member in request.items[0].isr:
            found = registration_of(before, member.broker)
            if member.broker in was.isr or member.broker not in now.isr or found is None:
                continue
            if now.partition_epoch != was.partition_epoch and (
                (found.fenced and not self.level[member.broker]) or found.epoch != member.observed
            ):
                self.told.append(TraceLine(self.now, "stale join", int(member.broker)))


def told_of(state: PartitionRegistration) -> PartitionTold:
    return PartitionTold(
        leader=NOBODY if state.leader == NO_LEADER else int(state.leader),
        leader_epoch=int(state.leader_epoch),
        partition_epoch=int(state.partition_epoch),
        isr=tuple(int(member) for member in state.isr),
        recovering=state.recovery is LeaderRecoveryState.RECOVERING,
    )


def _sender(move: moves.Move) -> int:
    assert isinstance(move, moves.Deliver)
    return int(move.message.sender)


_NOW = Timers()
_BY_ITSELF = {
    EXPIRY: EngineRun._expire,
    OUTAGE_ENDS: EngineRun._outage_ends,
    HEALS: EngineRun._heal,
    STOPS: EngineRun._stop,
    STARTS: EngineRun._start,
    READY: EngineRun._ready,
    IS_LEVEL: EngineRun._is_level,
    LAG_CHECK: EngineRun._lag_check,
    LEADER_RECOVERED: EngineRun._leader_recovered,
}


def engine_trace(schedule: OutsideSchedule, features: Features) -> Trace:
    """What the engine makes of it."""
    return EngineRun(schedule, features).run()

"""A schedule through the engine: every move is the engine's own, at the schedule's time.

The schedule's world is here: links, delays, brokers that have caught up, a client that writes
without a pause. `step` decides Kafka's reaction, and has the clocks of sessions and lag.
Heartbeats, fetches and other rounds come when the world makes them: a process's timers are turned
back before.
"""

from collections.abc import Callable
from functools import partial

from ...engine import moves
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.impossible_moves import why_not
from ...engine.truth import registration_of
from ...protocol.facts import BecameLeader
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.kraft.broker_lifecycle import HEARTBEAT_MS
from ...protocol.messages import AlterPartitionRequest
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ...protocol.replica.broker_state import LAG_CHECK_MS, Lifecycle, Loss
from ..kernel import set_events
from .driven_engine import PARTITION, DoneMove, DrivenEngine, begun, header_of
from .engine_lines import LossCauses, engine_lines, partition_in
from .kernel_run import NOBODY, Outside, OutsideSchedule, Trace, TraceLine

_LOSSES = {"kept": Loss.NOTHING, "tail-lost": Loss.UNFLUSHED, "replaced": Loss.DISK}
Planned = tuple[int, int, int]
"""When (ms), its rank, of which broker or request."""


class EngineRun:
    """One run; `trace` has its lines so far."""

    def __init__(self, schedule: OutsideSchedule, features: Features) -> None:
        begins = begun(header_of(schedule), features)
        self.engine = DrivenEngine(begins, self._after)
        self.schedule = schedule
        self.turn = 0
        self.trace: list[TraceLine] = []
        self.causes = LossCauses()
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

    @property
    def ids(self) -> range:
        return range(1, self.schedule.replicas + 1)

    @property
    def state(self) -> PartitionRegistration:
        """The partition as the controller has it."""
        return partition_in(self.engine.cluster)

    def run(self) -> Trace:
        """The whole schedule."""
        for event in self.schedule.events:
            self._until(event.order)
            self._event(event.at, partial(self._outside, event))
        self._until((self.schedule.end, set_events.RANKS, 0))
        return tuple(self.trace)

    # --- time ---------------------------------------------------------------------------------

    def _until(self, limit: Planned) -> None:
        while True:
            plan = min(self._planned(), default=None)
            if plan is None or plan >= limit:
                return
            if not self._put_off(plan):
                self._event(plan[0], partial(self._by_itself, plan))

    def _planned(self) -> list[Planned]:
        planned = [(at, rank, b) for (rank, b), at in self.plans.items()]
        planned += [(at, set_events.REQUEST_ARRIVES, n) for n, (at, _) in self.requests.items()]
        # The engine's own sessions, of those whom nobody hears.
        ends = {} if self.outage else self.engine.session_ends()
        over = ((max(at, self.engine.now), b) for b, at in ends.items() if self._silent(b))
        return planned + [(at, set_events.EXPIRY, b) for at, b in over]

    def _silent(self, b: int) -> bool:
        process = self.engine.node(b).process
        starting = process is not None and process.lifecycle is Lifecycle.STARTING
        return process is None or starting or b in self.cut

    def _put_off(self, plan: Planned) -> bool:
        _, rank, of = plan
        waiting = of
        if rank == set_events.REQUEST_ARRIVES:
            waiting = self.requests[of][1].sender
        elif rank == set_events.HEALS:
            if not self.outage:
                return False
            self.plans[rank, of] = self.outage
            return True
        elif rank not in (set_events.STOPS, set_events.STARTS, set_events.READY):
            return False
        until = self.outage or (self.plans[set_events.HEALS, waiting] if waiting in self.cut else 0)
        if until and rank == set_events.REQUEST_ARRIVES:
            self.requests[of] = (until, self.requests[of][1])
        elif until:
            self.plans[rank, of] = until
        return bool(until)

    def _event(self, at: int, what: Callable[[], None]) -> None:
        """Time passes; the client writes; something happens; whoever can fetches."""
        self.turn += 1
        self.engine.wait_until(at)
        self._write()
        self._replicate()
        what()
        self.engine.flow()
        self._replicate()

    # --- the world ----------------------------------------------------------------------------

    def _write(self) -> None:
        if self.engine.now <= self.written:
            return
        self.written = self.engine.now
        leader = self._leader()
        record = moves.Produce(PARTITION, BrokerId(leader), 1)
        if leader and why_not(self.engine.cluster, record) is None:
            self.engine.do(record)

    def _leader(self) -> int:
        """Who leads, knows it and can be reached."""
        leader = self.state.leader
        return int(leader) if self.engine.leads(leader) and leader not in self.cut else NOBODY

    def _replicate(self) -> None:
        leader = self._leader()
        if not leader:
            return
        followers = self._followers(leader)
        for b in (*followers, *followers):
            self.engine.catch_up(b, leader)
        self.causes.levelled(self.engine, leader, followers)

    def _followers(self, leader: int) -> list[int]:
        """Those that have caught up, and reach it."""
        return [b for b in self.ids if b != leader and self.level[b] and b not in self.cut]

    def _outside(self, event: Outside) -> None:
        b, kind = event.broker, event.kind
        if kind == "outage":
            if not self.outage:
                self.outage = self.engine.now + event.lasts
                self.plans[set_events.OUTAGE_ENDS, 0] = self.outage
        elif kind == "flush":
            self.engine.fire_if_up(b, moves.Timer.FLUSH)
        elif kind == "beat":
            self.engine.fire_if_up(b, moves.Timer.CHECKPOINT)
            if self._is_reachable(b):
                self.engine.fire(b, moves.Timer.HEARTBEAT)
        else:
            self.last[b], self.tries[b] = event, 0
            self.plans[set_events.LAG_CHECK, b] = self.engine.now + event.lag_phase
            self._fetch_once_more(b)
            {"cut": self._cut, "crash": self._crash, "bounce": self._bounce}[kind](event)

    def _fetch_once_more(self, b: int) -> None:
        """Followers fetched just now: their last word if they go, their leader's if it does."""
        leader = self._leader()
        for follower in self._followers(leader):
            if leader and b in (follower, leader) and self.engine.follows(follower):
                self.engine.fire(follower, moves.Timer.FETCH)

    def _crash(self, event: Outside) -> None:
        b = event.broker
        if self.engine.node(b).process is None:
            return
        self.engine.do(moves.Crash(BrokerId(b), _LOSSES[event.fate]))
        self.causes.crashed(event)
        self._ended(b)

    def _ended(self, b: int) -> None:
        self.level[b] = False
        for rank in (set_events.STOPS, set_events.READY, set_events.IS_LEVEL):
            self.plans.pop((rank, b), None)
        self.plans[set_events.STARTS, b] = self.engine.now + self.last[b].restart

    def _cut(self, event: Outside) -> None:
        b = event.broker
        if self.engine.node(b).process is None or b in self.cut:
            return
        for other in self._others(b):
            if other not in self.cut:
                self.engine.do(moves.Cut(BrokerId(b), other))
        self.cut.add(b)
        self.level[b] = False
        self.plans.pop((set_events.IS_LEVEL, b), None)
        self.plans[set_events.HEALS, b] = self.engine.now + event.lasts

    def _others(self, b: int) -> list[BrokerId]:
        return [CONTROLLER, *(BrokerId(c) for c in self.ids if c != b)]

    def _bounce(self, event: Outside) -> None:
        b = event.broker
        waits = self.schedule.bounces_wait and any(map(self._is_missing, self.ids))
        if self._is_reachable(b) and not waits:
            self._shut_down(b)

    def _is_missing(self, b: int) -> bool:
        registration = registration_of(self.engine.cluster, BrokerId(b))
        fenced = registration is None or registration.fenced
        return fenced or self.engine.node(b).process is None or b not in self.state.isr

    def _shut_down(self, b: int) -> None:
        self.engine.do(moves.ShutDown(BrokerId(b)))
        self.engine.flow()
        self.gives_up[b] = self.engine.now + self.schedule.patience
        self._ask_to_stop(b, self.last[b].shutdown)

    def _ask_to_stop(self, b: int, again: int) -> None:
        self.engine.fire(b, moves.Timer.HEARTBEAT)
        if self.engine.node(b).process is None:
            self._ended(b)
        else:
            self.plans[set_events.STOPS, b] = self.engine.now + again

    # --- what comes by itself -----------------------------------------------------------------

    def _by_itself(self, plan: Planned) -> None:
        _, rank, of = plan
        self.cause = of
        self.plans.pop((rank, of), None)
        rules: dict[int, Callable[[int], None]] = {
            set_events.REQUEST_ARRIVES: self._arrive,
            set_events.EXPIRY: self._expire,
            set_events.OUTAGE_ENDS: self._outage_ends,
            set_events.HEALS: self._heal,
            set_events.STOPS: self._stop,
            set_events.STARTS: self._start,
            set_events.READY: self._ready,
            set_events.IS_LEVEL: self._is_level,
            set_events.LAG_CHECK: self._lag_check,
            set_events.LEADER_RECOVERED: self._leader_recovered,
        }
        rules[rank](of)

    def _arrive(self, request: int) -> None:
        self.engine.do(moves.Deliver(self.requests.pop(request)[1]))

    def _expire(self, b: int) -> None:
        self._all_beat()
        self.engine.do(moves.ExpireSession(BrokerId(b)))

    def _outage_ends(self, _: int) -> None:
        self.outage = 0
        self.engine.do(moves.FailOver())
        self._all_beat()

    def _heal(self, b: int) -> None:
        self.engine.as_one_batch(b)
        self.cut.discard(b)
        for other in self._others(b):
            if other not in self.cut:
                self.engine.do(moves.Heal(BrokerId(b), other))
        if self.engine.node(b).process is not None:
            self._is_back(b)

    def _is_back(self, b: int) -> None:
        process = self.engine.process(b)
        if process.lifecycle is Lifecycle.STARTING:
            return
        self.plans[set_events.IS_LEVEL, b] = self.engine.now + self.last[b].level
        self.engine.flow()
        if process.lifecycle is Lifecycle.RUNNING:
            self.engine.fire(b, moves.Timer.HEARTBEAT)

    def _stop(self, b: int) -> None:
        self._fetch_once_more(b)
        self._all_beat()
        fresh = self.engine.session_is_new(b)
        self._ask_to_stop(b, self.last[b].shutdown if fresh else HEARTBEAT_MS)
        is_up = self.engine.node(b).process is not None
        if is_up and not fresh and self.engine.now >= self.gives_up[b]:
            self.engine.fire(b, moves.Timer.FLUSH)
            self.engine.fire(b, moves.Timer.CHECKPOINT)
            epoch = self.engine.process(b).epoch
            self.engine.do(moves.Crash(BrokerId(b)))
            self._ended(b)
            self.engine.note_order(b, epoch)

    def _start(self, b: int) -> None:
        if self.engine.node(b).process is None:
            self.engine.do(moves.Start(BrokerId(b)))
            self.engine.flow()
            self.engine.fire(b, moves.Timer.FLUSH)
        else:
            self.engine.fire(b, moves.Timer.HEARTBEAT)
        process = self.engine.node(b).process
        assert process is not None
        if process.lifecycle is Lifecycle.STARTING:
            self.plans[set_events.STARTS, b] = self.engine.now + HEARTBEAT_MS
        else:
            self.plans[set_events.READY, b] = self.engine.now + self.last[b].ready
            self.plans[set_events.IS_LEVEL, b] = self.engine.now + self.last[b].level

    def _ready(self, b: int) -> None:
        self.engine.do(moves.FinishRecovery(BrokerId(b)))
        self.engine.fire(b, moves.Timer.HEARTBEAT)

    def _is_level(self, b: int) -> None:
        self.level[b] = True
        self.plans.pop((set_events.LAG_CHECK, b), None)

    def _lag_check(self, b: int) -> None:
        if not self.level[b]:
            self.plans[set_events.LAG_CHECK, b] = self.engine.now + LAG_CHECK_MS
        leader = self._leader()
        if leader:
            self.engine.fire(leader, moves.Timer.LAG_CHECK)

    def _leader_recovered(self, _: int) -> None:
        leader = self.state.leader
        done = moves.FinishLeaderRecovery(PARTITION, leader)
        if not self.engine.leads(leader) or why_not(self.engine.cluster, done) is not None:
            return
        if self._leader() == NOBODY or self.engine.process(leader).items:
            self.plans[set_events.LEADER_RECOVERED, 0] = self.engine.now + HEARTBEAT_MS
            return
        self.cause = leader
        self.engine.do(done)

    # --- moves --------------------------------------------------------------------------------

    def _is_reachable(self, b: int) -> bool:
        process = self.engine.node(b).process
        runs = process is not None and process.lifecycle is Lifecycle.RUNNING
        return runs and b not in self.cut and not self.outage

    def _all_beat(self) -> None:
        for b in self.ids:
            if self._is_reachable(b):
                self.engine.fire(b, moves.Timer.HEARTBEAT)

    def _after(self, before: Cluster, move: DoneMove) -> None:
        """The effects of a move in the schedule's world, and its lines of the trace."""
        behind = [b for b in self.ids if not self.level[b]]
        lines = engine_lines(before, self.engine.cluster, move, behind)
        self.trace += self.causes.named(lines, move, self.state)
        for event in move.events:
            if isinstance(event, BecameLeader) and event.node == self.state.leader:
                self._begins(int(event.node))
        for m in self.engine.cluster.messages:
            if isinstance(m.body, AlterPartitionRequest):
                self._delay(m, m.body)

    def _delay(self, m: Message, body: AlterPartitionRequest) -> None:
        if any(name == m.name for _, name in self.requests.values()):
            return
        broker_ids = {member.broker for member in body.items[0].isr}
        joins = broker_ids - set(self.state.isr)
        cause = next(iter(joins), self.cause)
        delay = self.last[cause].delay(int(m.name.sender), self.tries[cause])
        self.tries[cause] += 1
        self.requests[self.turn] = (self.engine.now + delay, m.name)

    def _begins(self, leader: int) -> None:
        """A process plays the leader: if it has to recover, it begins to."""
        self.plans.pop((set_events.LEADER_RECOVERED, 0), None)
        if self.state.recovery is LeaderRecoveryState.RECOVERING:
            self.plans[set_events.LEADER_RECOVERED, 0] = self.engine.now + self.last[leader].recover

"""A schedule through the engine with ZooKeeper: `engine_run` with other sessions, registration,
failovers of the controller, and controlled shutdown.
"""

from ...engine import moves
from ...engine.cluster import Cluster, Message
from ...protocol.features import Features
from ...protocol.ids import ZOOKEEPER, BrokerId
from ...protocol.messages import AlterPartitionRequest, ControlledShutdownResponse
from ...protocol.replica.broker_state import Lifecycle
from ..kernel.metadata_rules import RESEND_US
from ..kernel.set_events import EXPIRY, HEALS, IS_LEVEL, READY, REQUEST_ARRIVES, STOPS
from ..kernel.zookeeper_rules import SHUTDOWN_BACKOFF_US, SHUTDOWN_TRIES
from .driven_engine import DoneMove
from .driven_zookeeper import HOST, DrivenZooKeeper, first_with_zookeeper
from .engine_run import EngineRun, Planned
from .kernel_run import RETRY_MS
from .outside_events import Outside, OutsideSchedule
from .trace_lines import NOBODY

_BACKOFF_MS = SHUTDOWN_BACKOFF_US // 1_000
_TRYING_MS = (SHUTDOWN_TRIES - 1) * _BACKOFF_MS


class ZooKeeperRun(EngineRun):
    """One run. `contact` is when (ms) a broker last reached ZooKeeper; a `starting` broker has a
    process that recovers its log, and no session yet.
    """

    engine: DrivenZooKeeper

    def __init__(self, schedule: OutsideSchedule, features: Features) -> None:
        super().__init__(schedule, features)
        self.resent = 0
        self.contact = dict.fromkeys(self.ids, 0)
        self.starting: set[int] = set()

    def _driven(self, schedule: OutsideSchedule, features: Features) -> DrivenZooKeeper:
        first = first_with_zookeeper(schedule, features)
        return DrivenZooKeeper(first, self._after, BrokerId(schedule.host))

    # --- time ---------------------------------------------------------------------------------

    def _planned(self) -> list[Planned]:
        outage, self.outage = self.outage, 0
        planned = super()._planned()
        self.outage = outage
        return planned

    def _expiries(self) -> list[Planned]:
        return [
            (max(self.contact[b] + self.schedule.session + 1, self.engine.now), EXPIRY, b)
            for b in self.ids
            if self._silent(b) and self.engine.is_registered(b)
        ]

    def _silent(self, b: int) -> bool:
        return self.engine.node(b).process is None or b in self.cut

    def _put_off(self, plan: Planned) -> bool:
        """Who is linked to ZooKeeper is not kept waiting by a controller that is away."""
        _, rank, of = plan
        if rank == REQUEST_ARRIVES:
            return super()._put_off(plan)
        if rank not in (STOPS, READY) or of not in self.cut:
            return False
        self.plans[rank, of] = self.plans[HEALS, of]
        return True

    def _by_itself(self, plan: Planned) -> None:
        _, rank, of = plan
        asks = self.requests[of][1].sender if rank == REQUEST_ARRIVES else None
        super()._by_itself(plan)
        if asks is not None:
            self.engine.flow()
            self._ask_again(int(asks), of)

    def _ask_again(self, b: int, request: int) -> None:
        """Who is refused as a whole asks once more, before anything else can come of it."""
        process = self.engine.node(b).process
        if process is not None and process.items and not process.in_flight:
            self.resent = request
            self.engine.fire(b, moves.Timer.RETRY)
            self.resent = 0

    def _after(self, before: Cluster, move: DoneMove) -> None:
        self.engine.keep_requests(move)
        super()._after(before, move)

    def _delay(self, m: Message, body: AlterPartitionRequest) -> None:
        if self.resent and not self._is_planned(m):
            self.requests[self.resent] = (self.engine.now + RESEND_US // 1_000, m.name)
        super()._delay(m, body)

    def _leader(self) -> int:
        """A broker that missed requests while cut off leads no follower before it gets them."""
        leader = super()._leader()
        return leader if self._knows(leader) else NOBODY

    def _knows(self, b: int) -> bool:
        return not self.outage or self.engine.knows_who_leads(b)

    # --- the world ----------------------------------------------------------------------------

    def _beat(self, b: int) -> None:
        self.contact[b] = self.engine.now

    def _outage(self, event: Outside) -> None:
        if not self.outage:
            self.engine.lose_controller()
        super()._outage(event)

    def _crash(self, event: Outside) -> None:
        b = event.broker
        if b not in self.starting:
            super()._crash(event)
            return
        self.starting.discard(b)
        if event.fate == "replaced":
            self.engine.without_disk(b)
        self._ended(b)

    def _others(self, b: int) -> list[BrokerId]:
        return [ZOOKEEPER, HOST, *(BrokerId(c) for c in self.ids if c != b)]

    def _shut_down(self, b: int) -> None:
        if not self.outage:
            self.gives_up[b] = self.engine.now + _TRYING_MS
            self._ask_to_go(b)

    def _ask_to_go(self, b: int) -> None:
        """One try; a broker that leads stops in the time that a stop takes."""
        led = self.state.leader == b
        self._beat(b)
        self.engine.do(moves.ShutDown(BrokerId(b)))
        self.engine.flow()
        answer = self.engine.answer_to(b)
        if answer is None or not led:
            self._answered(b)
            return
        assert isinstance(answer.body, ControlledShutdownResponse)
        again = bool(answer.body.remaining) and self.engine.now < self.gives_up[b]
        if again:
            self.engine.do(moves.Deliver(answer.name))
        self._plan_stop(b, again=again)

    def _plan_stop(self, b: int, *, again: bool) -> None:
        """It asks again after a pause, or stops in the time that a stop takes."""
        if not again:
            self.gives_up[b] = self.engine.now
        self.plans[STOPS, b] = self.engine.now + (_BACKOFF_MS if again else self.last[b].shutdown)

    def _answered(self, b: int) -> None:
        self.engine.ask_until_gone(b)
        self._ended(b)

    # --- what comes by itself -----------------------------------------------------------------

    def _expire(self, b: int) -> None:
        if not self.outage:
            self._all_beat()
        self.engine.expire(b)

    def _outage_ends(self, _: int) -> None:
        self.outage = 0
        for b in self.ids:
            has_registered = self.engine.node(b).process is not None and b not in self.starting
            if has_registered and not self.level[b] and b not in self.cut:
                self.plans.setdefault((IS_LEVEL, b), self.engine.now + self.last[b].level)
        self.engine.find_controller()

    def _is_back(self, b: int) -> None:
        """ZooKeeper reaches it again; it catches up once it knows its leader."""
        self._beat(b)
        self.engine.flow()
        if self._knows(b):
            self.plans[IS_LEVEL, b] = self.engine.now + self.last[b].level

    def _stop(self, b: int) -> None:
        leads = self.state.leader == b and self.schedule.replicas > 1
        if self.engine.now > self.gives_up[b]:
            self._stops(b)
        elif self.outage:
            self.engine.shut_down_unanswered(b)
            self._plan_stop(b, again=self.engine.now < self.gives_up[b])
        elif leads:
            self._ask_to_go(b)
        else:
            self._answered(b)

    def _stops(self, b: int) -> None:
        """Let go or not, it stops: who asks on here is the process, and not its operator."""
        if not self.outage:
            self._answered(b)
            return
        while self.engine.node(b).process is not None:
            self.engine.shut_down_unanswered(b)
        self._ended(b)

    def _start(self, b: int) -> None:
        self.starting.add(b)
        self.plans[READY, b] = self.engine.now + self.last[b].ready

    def _ready(self, b: int) -> None:
        if self.engine.is_registered(b):
            self.plans[READY, b] = self.engine.now + RETRY_MS
            return
        self.starting.discard(b)
        self.engine.do(moves.Start(BrokerId(b)))
        self.engine.flow()
        self.engine.fire(b, moves.Timer.FLUSH)
        self._is_back(b)

    def _has_process(self, b: int) -> bool:
        return b in self.starting or super()._has_process(b)

    def _is_reachable(self, b: int) -> bool:
        process = self.engine.node(b).process
        return process is not None and process.lifecycle is Lifecycle.RUNNING and b not in self.cut

"""One generated conversation: brokers come, topics are made, and questions are asked of both until
they part; time passes, controllers take over, and the metadata version is raised on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...engine.truth import Truth
from ...protocol.features import Features
from ...protocol.ids import NO_BROKER_EPOCH, BrokerId, Incarnation, MetadataOffset
from ...protocol.kraft.sessions import CHECK_MS, NEXT_CHECK_MS
from ...protocol.messages import BrokerHeartbeatRequest, BrokerRegistrationRequest, Request
from ...protocol.registrations import registration
from .deciding_side import DecidingSide
from .engine_controller import EngineController
from .partings import partings
from .questions import KNOWN, STRANGER, Questions
from .turns import (
    Created,
    Exchange,
    Noticed,
    Raised,
    TookOver,
    Turn,
    Waited,
    fenced_in,
    parted,
)

PAUSES_MS = (1_500, 3_000, 4_500, 8_900, 9_500)
"""Silences; a session lasts 9 s."""
PAUSE_SHARE, RESTART_SHARE, RAISE_SHARE = 0.08, 0.004, 0.01
NOTICED_SHARE = 0.6
"""How often it is waited until Kafka has noticed whoever was silent for too long."""
MOST_CHECKS = 100
"""After so many looks it must have; each note of the past takes a look too."""
MARGIN_MS = 2
"""No request within so many ms of the end of a session: the real clock ticks at every look."""
STEP_ASIDE_MS = 137
REPLICATION = (1, 2, 3, 3, 4)


def topics_of(seed: int) -> str:
    """What the names of a conversation's topics begin with: no two have a topic in common."""
    return f"conversation{seed}"


class Conversation:
    """What `seed` has both asked, under the features that the deciding side begins with.

    With `raises` the metadata version may rise on the way, which the deciding side keeps.
    """

    def __init__(
        self, kafka: DecidingSide, features: Features, seed: int, *, raises: bool = False
    ) -> None:
        self.kafka = kafka
        kafka.records()
        self.engine = EngineController(features, kafka.end, kafka.last_record)
        self.seed = seed
        self.questions = Questions(seed, kafka.alter_partition)
        self.turns: list[Turn] = []
        self.held_before = self.engine.held
        """What the engine held for true before the first turn."""
        self.held_after: list[Truth] = []
        """What the engine held for true after each turn."""
        self._margin_ms = MARGIN_MS
        self._events: tuple[tuple[float, Callable[[], None]], ...] = (
            (PAUSE_SHARE, self._pause),
            (RESTART_SHARE, self._restart),
            (RAISE_SHARE if raises else 0, self._raise),
        )

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The questions among the turns."""
        return tuple(turn for turn in self.turns if isinstance(turn, Exchange))

    def run(self, questions: int) -> Turn | None:
        """Ask so many; the turn in which they part, which is the last, or None."""
        try:
            self._set_the_scene()
            while not self.parted and len(self.exchanges) < questions:
                for share, event in self._events:
                    if self.questions.dice.random() < share and not self.parted:
                        event()
                self.ask(self._next_question())
        finally:
            held = (known.broker for known in self.engine.held.registrations)
            self.kafka.clear(sorted({*KNOWN, STRANGER, *held}))
        return self.turns[-1] if self.parted else None

    @property
    def parted(self) -> bool:
        """Whether the two are not of one mind any more."""
        return bool(self.turns) and parted(self.turns[-1])

    # --- the beginning --------------------------------------------------------------------------

    def _set_the_scene(self) -> None:
        dice = self.questions.dice
        for broker in KNOWN:
            self.ask(BrokerRegistrationRequest(broker=broker, incarnation=Incarnation(1)))
            if broker != KNOWN[-1] or dice.random() < 0.5:
                self.ask(self._healthy(broker))
        for name in ("a", "b"):
            replication = dice.choice(REPLICATION)
            # An assignment to a fenced broker alone is refused.
            among = KNOWN if replication > 1 else KNOWN[:-1]
            replicas = [dice.sample(among, replication) for _ in range(2)]
            self.create(name, replicas, unclean=name == "b" and dice.random() < 0.5)

    def create(self, name: str, replicas: Sequence[Sequence[BrokerId]], *, unclean: bool) -> None:
        """Have Kafka make a topic of these replicas, whose name ends so."""
        if self.parted:
            return
        topic = f"{topics_of(self.seed)}{name}"
        partitions = self.kafka.create(topic, replicas, unclean=unclean)
        self.engine.add(partitions, self.kafka.end)
        self._note(Created(partitions, self.kafka.end))

    def _healthy(self, broker: BrokerId) -> BrokerHeartbeatRequest:
        held = self.engine.held
        known = registration(held.registrations, broker)
        return BrokerHeartbeatRequest(
            broker=broker,
            broker_epoch=known.epoch if known is not None else NO_BROKER_EPOCH,
            metadata_offset=MetadataOffset(held.next_offset),
        )

    def _next_question(self) -> Request:
        """A controller of 3.2 resigns when a broker is silent that was unregistered, and what it
        was about to write is lost or not, by chance: then nothing can be compared.
        """
        while True:
            request = self.questions.next(self.engine.held)
            if not self.engine.leaves_a_session(request):
                return request

    def _is_settled(self) -> bool:
        """Who is silent is fenced with the next question: nothing else shall find him."""
        return not self.parted and not self.engine.is_stale()

    # --- what happens ---------------------------------------------------------------------------

    def _pause(self) -> None:
        self.wait(self.questions.dice.choice(PAUSES_MS))

    def wait(self, ms: int) -> None:
        """Let time pass for both."""
        self.engine.advance(ms)
        self.kafka.advance(ms)
        self._note(Waited(ms))

    def _step_aside(self) -> None:
        while self.engine.ends_soon(self._margin_ms, self.engine.now_ms + 1):
            self.wait(STEP_ASIDE_MS)

    def _notice(self) -> None:
        """Let Kafka look for silent brokers, once, or until it must have noticed them all."""
        self._look()
        if self.questions.dice.random() >= NOTICED_SHARE:
            return
        for ms in (CHECK_MS, *[NEXT_CHECK_MS] * MOST_CHECKS):
            if self.parted or not self.engine.is_stale():
                return
            self.wait(ms)
            self._step_aside()
            self._look()
        if not self.parted:
            # Whom Kafka has not found by now it does not miss.
            self._note(Noticed((), self.engine.lapse()))

    def _look(self) -> None:
        found = self.kafka.barrier()
        if found:
            self._note(Noticed(found, self.engine.notice(fenced_in(found))))

    def _restart(self) -> None:
        if self._is_settled():
            self.restart()

    def restart(self) -> None:
        """Stop both controllers, and let others take over."""
        self._took_over(self.kafka.restart(), restarted=True)

    def _took_over(self, ms: int, *, restarted: bool) -> None:
        end = self.kafka.end
        if restarted:
            self.engine.take_over(end)
        self.engine.follow(end)
        self.engine.advance(ms)
        # When in the meantime the new controller began to count, nobody knows.
        self._margin_ms += ms
        self._note(TookOver(restarted, ms, end))

    def _raise(self) -> None:
        if not self._is_settled():
            return
        wanted = self.questions.metadata_version(self.engine.features)
        theirs, ms = self.kafka.raise_metadata_version(wanted)
        mine = self.engine.raise_metadata_version(wanted)
        self.engine.advance(ms)
        self.engine.follow(self.kafka.end)
        self._note(Raised(wanted, theirs, mine, ms, self.kafka.end))

    def ask(self, request: Request) -> None:
        """One question to both, as long as they agree."""
        if self.parted:
            return
        self._step_aside()
        self.engine.advance(1)
        self.kafka.advance(1)
        if self.engine.looks_later and self.engine.is_stale():
            self._notice()
        if self.parted:
            return
        stale = self.engine.is_stale() and not self.engine.looks_later
        before = self.kafka.barrier() if stale else ()
        controller = self.engine.held.controller_epoch
        mine = self.engine.answer(request, fenced_in(before))
        theirs = self.kafka.ask(request, expected=len(mine.records) - len(before))
        theirs = theirs._replace(records=(*before, *theirs.records))
        if self.engine.is_stale() and not self.engine.looks_later:
            # The first word since an election: only now is it looked who is silent.
            theirs = theirs._replace(records=(*theirs.records, *self.kafka.barrier()))
            lapsed = self.engine.lapse(fenced_in(theirs.records))
            mine = mine._replace(records=(*mine.records, *lapsed))
        found = partings(theirs, mine)
        self._note(Exchange(self.engine.now_ms, request, theirs, mine, found))
        if not found and self.engine.held.controller_epoch != controller:
            self._took_over(self.kafka.return_from_resignation(), restarted=False)

    def _note(self, turn: Turn) -> None:
        self.turns.append(turn)
        self.held_after.append(self.engine.held)

"""One generated conversation: brokers come, topics are made, and questions are asked of both until
they part; time passes, controllers take over, partitions are reassigned, and the metadata version
is raised on the way.
"""

from collections.abc import Callable, Sequence

from kiplab.engine.truth import Truth
from kiplab.protocol import messages, registrations
from kiplab.protocol.features import Features
from kiplab.protocol.ids import CONTROLLER, NO_BROKER_EPOCH, BrokerId, Incarnation, MetadataOffset
from kiplab.protocol.kraft.replay import CLUSTER, UNCLEAN
from kiplab.protocol.kraft.sessions import CHECK_MS, NEXT_CHECK_MS

from ..skeleton.sides import Done, Run, Side
from . import real_side, turns
from .engine_controller import EngineController
from .questions import KNOWN, MIN_ISR, STRANGER, Questions

PAUSES_MS = (1_500, 3_000, 4_500, 8_900, 9_500)
"""Silences; a session lasts 9 s."""
PAUSE_SHARE, REASSIGN_SHARE, RESTART_SHARE, RAISE_SHARE = 0.08, 0.06, 0.004, 0.01
CONFIGURE_SHARE, SWITCH_SHARE, OUTAGE_SHARE = 0.03, 0.01, 0.03
"""With eligible leader replicas only."""
INHERITS_ONE_IN = 3
"""A topic of so many has the cluster's min.insync.replicas, which changes, too."""
DELETE_SHARE, OUTAGE_MS = 0.01, 9_500
NOTICED_SHARE = 0.6
"""How often a conversation waits until Kafka has noticed whoever was silent for too long."""
MOST_CHECKS = 100
"""After so many checks it must have; each note of the past takes a check too."""
MARGIN_MS = 2
"""No request within so many ms of the end of a session: the real clock ticks at every look."""
STEP_ASIDE_MS = 137
REPLICATION = (1, 2, 3, 3, 4)
ConversationTurn = Done[turns.Turn, turns.Answer]


class Conversation(Run[turns.Turn, turns.Answer]):
    """Both sides do the same turns; `held[n]` is what the engine held for true after `n` turns."""

    engine: EngineController

    def __init__(
        self, real: Side[turns.Turn, turns.Answer], beginning: turns.Beginning, features: Features
    ) -> None:
        super().__init__(real, EngineController(features, beginning), turns.partings)
        self.features = features
        self.held: list[Truth] = [self.engine.held]

    def do(self, turn: turns.Turn) -> bool:
        """Do one more turn, unless the two have parted; whether they still agree."""
        if not self.parted:
            super().do(turn)
            self.held.append(self.engine.held)
        return not self.parted

    @property
    def requests(self) -> int:
        """How many requests were among the turns."""
        return sum(1 for done in self.done if isinstance(done.turn, turns.Asked))


def topics_of(seed: int) -> str:
    """What the names of a conversation's topics begin with: no two have a topic in common."""
    return f"conversation{seed}"


class Generated:
    """What `seed` has both asked, under the features that the deciding side begins with.

    With `raises` the metadata version may rise on the way, which the deciding side keeps.
    """

    def __init__(
        self, kafka: real_side.Controller, features: Features, seed: int, *, raises: bool = False
    ) -> None:
        self._kafka, self.beginning = kafka, kafka.begin()
        self.conversation = Conversation(kafka, self.beginning, features)
        self.engine = self.conversation.engine
        self.seed = seed
        self._elr, versions = features.has_elr, (self.beginning.oldest, self.beginning.newest)
        self.questions = Questions(seed, versions, elr=self._elr)
        self._margin_ms, self._topics = MARGIN_MS, 0
        self._events: tuple[tuple[float, Callable[[], None]], ...] = (
            (PAUSE_SHARE, self._pause),
            (REASSIGN_SHARE, self._reassign),
            (RESTART_SHARE, self._restart),
            (RAISE_SHARE if raises else 0, self._raise),
        )
        if self._elr:
            self._events += (
                (CONFIGURE_SHARE, self._configure),
                (SWITCH_SHARE, self._switch),
                (OUTAGE_SHARE, self._break_down),
                (DELETE_SHARE, self._delete),
            )

    def run(self, questions: int) -> ConversationTurn | None:
        """Ask so many; the turn in which they part, which is the last, or None."""
        try:
            self._begin()
            while not self._is_over() and self.conversation.requests < questions:
                for share, event in self._events:
                    if self.questions.dice.random() < share and not self.conversation.parted:
                        event()
                self.ask(self._next_question())
        finally:
            held = (known.broker for known in self.engine.held.registrations)
            self._kafka.clear(sorted({*KNOWN, STRANGER, *held}))
        return self.conversation.last

    # --- the beginning --------------------------------------------------------------------------

    def _begin(self) -> None:
        dice = self.questions.dice
        for broker in KNOWN:
            self.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=Incarnation(1)))
            if broker != KNOWN[-1] or dice.random() < 0.5:
                self.ask(self._healthy(broker))
        for name in ("a", "b"):
            replication = dice.choice(REPLICATION)
            # An assignment to a fenced broker alone is refused.
            among = KNOWN if replication > 1 else KNOWN[:-1]
            replicas = [dice.sample(among, replication) for _ in range(2)]
            self._create(name, replicas, unclean=name == "b" and dice.random() < 0.5)

    def _create(self, name: str, replicas: Sequence[Sequence[BrokerId]], *, unclean: bool) -> None:
        topic, dice = f"{topics_of(self.seed)}{name}", self.questions.dice
        assigned = tuple(map(tuple, replicas))
        if not self._elr or not dice.once_in(INHERITS_ONE_IN):
            min_insync = dice.choice(MIN_ISR) if self._elr else None
            self.conversation.do(turns.Created(topic, assigned, unclean, min_insync))
            return
        # Only so has it an entry for the other setting: what is there already is not written again.
        if self.conversation.do(turns.Created(topic, assigned, unclean=True)) and not unclean:
            self.conversation.do(turns.Configured(topic, UNCLEAN, "false"))

    def _healthy(self, broker: BrokerId) -> messages.BrokerHeartbeatRequest:
        held = self.engine.held
        known = registrations.registration(held.registrations, broker)
        return messages.BrokerHeartbeatRequest(
            broker=broker,
            broker_epoch=known.epoch if known is not None else NO_BROKER_EPOCH,
            metadata_offset=MetadataOffset(held.next_offset),
        )

    def _next_question(self) -> messages.Request:
        """A controller of 3.2 resigns when a broker is silent that was unregistered, and what it
        was about to write is lost or not, by chance: then nothing can be compared.
        """
        while True:
            request = self.questions.next(self.engine.held)
            if not self.engine.leaves_a_session(request):
                return request

    def _is_over(self) -> bool:
        """They parted; or a last known leader is no replica any more, as its partition moved while
        nobody could lead it: when Kafka elects it, it asks for its directory, and fails (4.2.2, by
        PartitionRegistration.directory). The engine elects it.
        """
        lost = (set(p.last_known) - set(p.replicas) for p in self.engine.held.partitions)
        return self.conversation.parted or any(lost)

    def _is_settled(self) -> bool:
        """Who is silent is fenced with the next question: nothing else shall find him."""
        return not self.conversation.parted and not self.engine.is_stale()

    # --- what happens ---------------------------------------------------------------------------

    def _pause(self) -> None:
        self.conversation.do(turns.Waited(self.questions.dice.choice(PAUSES_MS)))

    def _reassign(self) -> None:
        if self._is_settled():
            self.conversation.do(self.questions.reassignment(self.engine.held))

    def _restart(self) -> None:
        if self._is_settled() and not self._ends_at_its_log():
            self._take_over(restarted=True)

    def _ends_at_its_log(self) -> bool:
        """Whether a new controller would end by its own log. Up to 4.1 a topic that is created and
        deleted is still looked for when a record clears the ELRs of all topics, and is not there.

        Source: TopicsDelta.replay (4.0.2, 4.1.2), mended in 4.2 (KAFKA-19497).
        """
        turns_done = [done.turn for done in self.conversation.done]
        deleted = [n for n, turn in enumerate(turns_done) if isinstance(turn, turns.Deleted)]
        later = turns_done[deleted[0] :] if deleted else []
        clears = any(isinstance(t, turns.Configured) and t.topic == CLUSTER for t in later)
        return clears and self.engine.features.code_of(CONTROLLER) < (4, 2)

    def _take_over(self, *, restarted: bool) -> None:
        self.conversation.do(turns.TookOver(restarted))
        # When in the meantime the new controller began to count, nobody knows.
        self._margin_ms += self.conversation.done[-1].real.ms

    def _raise(self) -> None:
        if self._is_settled():
            self.conversation.do(
                turns.Raised(self.questions.metadata_version(self.engine.features))
            )

    def _configure(self) -> None:
        if self._is_settled():
            self.conversation.do(self.questions.setting(self.engine.held))

    def _switch(self) -> None:
        """Eligible leader replicas are no more, or are again."""
        if self._is_settled():
            self.conversation.do(turns.Switched(1 - self.engine.features.has_elr))

    def _delete(self) -> None:
        """A topic is deleted, and another one made in its place, if somebody is there for it."""
        held, dice = self.engine.held, self.questions.dice
        # A replica with an id that no broker has is the end of a controller.
        known = [entry for entry in held.registrations if entry.broker in KNOWN]
        there = [e.broker for e in known if not e.fenced and not e.in_controlled_shutdown]
        if not there or not self._is_settled():
            return
        topics = sorted({registrations.topic_of(p.name) for p in held.partitions})
        if not self.conversation.do(turns.Deleted(dice.choice(topics))):
            return
        others = [entry.broker for entry in known if entry.broker != there[0]]
        replicas = [there[0], *dice.sample(others, dice.randint(0, len(others)))]
        self._topics += 1
        self._create(f"c{self._topics}", [replicas, dice.shuffled(replicas)], unclean=False)

    def _break_down(self) -> None:
        """Everybody is silent, and some come back as new processes, one after the other."""
        dice = self.questions.dice
        self.conversation.do(turns.Waited(OUTAGE_MS))
        for broker in dice.sample(KNOWN, dice.randint(1, len(KNOWN))):
            self.ask(self.questions.next_process(self.engine.held, broker))
            if not dice.once_in(3):
                self.ask(self._healthy(broker))

    def ask(self, request: messages.Request) -> None:
        """One question to both, as long as they agree."""
        self._step_aside()
        epoch = self.engine.held.controller_epoch
        waits = 0 if self._checks_silence() else 1
        agreed = self.conversation.do(turns.Asked(request, waits, self.engine.looks_first))
        if agreed and self.engine.held.controller_epoch != epoch:
            self._take_over(restarted=False)

    def _step_aside(self) -> None:
        while not self.conversation.parted and self.engine.ends_soon(self._margin_ms):
            self.conversation.do(turns.Waited(STEP_ASIDE_MS))

    def _checks_silence(self) -> bool:
        """Let Kafka look for silent brokers, if there are any: up to 3.9 it does so with every
        request, from 4.0 on again and again; there once, or until it must have noticed them all.
        """
        if self.conversation.parted or not self.engine.is_stale():
            return False
        self.conversation.do(turns.Checked(after_ms=1))
        if self.engine.looks_later and self.questions.dice.random() >= NOTICED_SHARE:
            return True
        for ms in (CHECK_MS, *[NEXT_CHECK_MS] * MOST_CHECKS):
            if self.conversation.parted or not self.engine.is_stale():
                return True
            if self.engine.looks_later:
                self.conversation.do(turns.Waited(ms))
                self._step_aside()
            self.conversation.do(turns.Checked())
        # Whom Kafka has not found by now it does not miss.
        self.conversation.do(turns.Checked(is_last=True))
        return True

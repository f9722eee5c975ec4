"""The engine's cluster of a situation: what is delivered in it, what is held back, what was heard.

Everything that happens goes through `step`. Only what the judge himself writes into ZooKeeper is
written into the ensemble by hand, as an operator would. The brokers are those of the engine, and
answer for themselves; so their refusals are compared as well.
"""

from collections.abc import Iterator

from kiplab.engine import channels, moves
from kiplab.engine.channels import blocker
from kiplab.engine.cluster import Message
from kiplab.engine.events import Dropped, Sent
from kiplab.engine.given_situation import BrokerSetup, PartitionSetup, Setup
from kiplab.engine.nodes import ensemble_of, with_state
from kiplab.engine.setup import cluster_of
from kiplab.engine.step import Step, step
from kiplab.judge.zookeeper_era.control_answers import IDLE
from kiplab.judge.zookeeper_era.engine_control_requests import (
    alter_answer,
    engine_request,
    engine_znode,
    partition_name,
)
from kiplab.judge.zookeeper_era.sequences import (
    NO_EPOCH,
    AlterAnswer,
    Passage,
    SentRequest,
    ShutdownAnswer,
)
from kiplab.protocol.features import Features
from kiplab.protocol.ids import (
    CLIENT,
    ZOOKEEPER,
    BrokerEpoch,
    BrokerId,
    Incarnation,
    controller_on,
    host_of,
)
from kiplab.protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    LeaderAndIsrResponse,
    SessionExpired,
    StopReplicaResponse,
    UpdateMetadataResponse,
    WatcherEvent,
)
from kiplab.protocol.messages.api_message import ControlRequest
from kiplab.protocol.registrations import topic_of
from kiplab.protocol.zookeeper.ensemble_sessions import close_session, open_session
from kiplab.protocol.zookeeper.ensemble_writes import Operation, told, transact
from tests.judge.zookeeper.control_coverage import ControlCoverage
from tests.judge.zookeeper.situations import (
    CONTROLLER,
    AskForIsr,
    JudgedSituation,
    JudgedTopic,
    alter_request,
)

_FIRST_EPOCH = 100
"""The broker epoch of broker 0 at first; those of the others follow."""
KIP_380 = (2, 2)
"""The first release whose requests carry broker epochs."""
WITHOUT_EPOCH, WITH_EPOCH = 1, 2
"""Versions of ControlledShutdown that the judge speaks."""
_ANSWERS = (LeaderAndIsrResponse, UpdateMetadataResponse, StopReplicaResponse)
_DELIVERED = (
    ControlRequest,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    WatcherEvent,
    *_ANSWERS,
)
"""What arrives by itself. Replicas fetch nothing, and a session's end is heard of when a situation
says so.
"""


class UnsentAnswerError(Exception):
    """A broker of the engine did not answer what it was asked; the message says what."""


class EngineWorld:
    """One cluster, from before the first step of a situation on."""

    def __init__(
        self,
        situation: JudgedSituation,
        features: Features,
        brokers: set[int],
        coverage: ControlCoverage | None,
    ) -> None:
        self.features, self._coverage = features, coverage
        self.cluster = cluster_of(_setup(situation, features, brokers))
        self.gate_is_open = True
        self.deaf: set[int] = set()
        self.withholding: set[int] = set()
        self.topics = [topic.name for topic in situation.topics]
        self._heard: list[SentRequest] = []
        self._answers: list[ShutdownAnswer] = []
        self._asked: list[tuple[int, str]] = []
        self._alterations: list[str] = []
        self._altered: list[AlterAnswer] = []
        self._generations: dict[tuple[int, int], str] = {}
        self._now: dict[int, str] = {}
        for broker in situation.brokers:
            self.begin_generation(broker)

    # --- what is done to it -----------------------------------------------------------------------

    def do(self, move: moves.Move) -> Step:
        """One move."""
        done = step(self.cluster, move)
        if self._coverage is not None:
            self._coverage.see(self.cluster, move, done)
        self.cluster = done.cluster
        return done

    def begin_generation(self, broker: int) -> None:
        """The broker has registered anew."""
        registrations = ensemble_of(self.cluster).registrations
        (czxid,) = (r.epoch for r in registrations if r.broker == broker)
        earlier = sum(1 for known, _ in self._generations if known == broker)
        self._now[broker] = f"b{broker}g{earlier + 1}"
        self._generations[broker, czxid] = self._now[broker]

    def is_new(self, broker: int) -> bool:
        """Whether it never registered."""
        return broker not in self._now

    def learn_of_the_end(self, broker: int) -> None:
        """The broker's process hears that its session is over, and registers in another."""
        (word,) = (
            m
            for m in self.cluster.messages
            if m.receiver == broker and isinstance(m.body, SessionExpired)
        )
        self.do(moves.Deliver(word.name))
        self.begin_generation(broker)

    def write(self, *operations: Operation, owner: int | None = None) -> None:
        """A transaction by the judge's own hand; of `owner`, if any, in a session that stays."""
        whose = BrokerId(CLIENT if owner is None else owner)
        opened = open_session(ensemble_of(self.cluster), whose, Incarnation(0))
        done = transact(opened.ensemble, opened.session, operations)
        ensemble, fired = done.ensemble, done.fired
        if owner is None:
            ended = close_session(ensemble, opened.session)
            ensemble, fired = ended.ensemble, (*fired, *ended.fired)
        changed = with_state(self.cluster, ZOOKEEPER, ensemble)
        self.cluster = channels.post(changed, ZOOKEEPER, told(fired))[0]

    def ask_to_shut_down(self, broker: int, stamped: str) -> None:
        """A ControlledShutdown by whoever asks for it, in the version that the judge speaks."""
        has_epoch = self.features.code_of(BrokerId(CONTROLLER)) >= KIP_380
        shown = stamped if has_epoch else NO_EPOCH
        body = ControlledShutdownRequest(
            version=WITH_EPOCH if has_epoch else WITHOUT_EPOCH,
            broker=BrokerId(broker),
            broker_epoch=BrokerEpoch(self._epoch(shown)),
        )
        self._asked.append((broker, shown))
        self.do(moves.RawRequest(CLIENT, controller_on(BrokerId(CONTROLLER)), body))

    def ask_for_isr(self, step: AskForIsr) -> None:
        """An AlterPartition by whoever asks for it; its answer is heard when it is given."""
        release = self.features.release_of(BrokerId(CONTROLLER))
        body = alter_request(step, release, self._epoch(step.stamped))
        self._alterations.append(step.stamped)
        self.do(moves.RawRequest(CLIENT, controller_on(BrokerId(CONTROLLER)), body))

    def _epoch(self, stamped: str) -> int:
        name, _, more = stamped.partition("+")
        known = {generation: epoch for (_, epoch), generation in self._generations.items()}
        return (int(name) if stamped == NO_EPOCH else known[name]) + int(more or 0)

    # --- what arrives -----------------------------------------------------------------------------

    def go_on(self) -> None:
        """Deliver what nothing holds back, until nothing is left."""
        while (ready := next(self._ready(), None)) is not None:
            done = self.do(moves.Deliver(ready.name))
            if isinstance(ready.body, ControlRequest) and ready.receiver in self._now:
                self._hear(ready, done)
            elif isinstance(ready.body, ControlledShutdownResponse):
                self._hear_answer(ready.body)
            elif isinstance(ready.body, AlterPartitionRequest):
                self._hear_alteration(ready.body, done)

    def _ready(self) -> Iterator[Message]:
        """The controller that is judged is told first of what ZooKeeper has for everybody."""
        arriving = (m for m in self.cluster.messages if self._may_arrive(m))
        yield from sorted(arriving, key=lambda m: host_of(m.receiver) != CONTROLLER)

    def _may_arrive(self, message: Message) -> bool:
        body, receiver, sender = message.body, message.receiver, message.name.sender
        if isinstance(body, AlterPartitionRequest):
            return sender == CLIENT
        if not isinstance(body, _DELIVERED) or blocker(self.cluster, message) is not None:
            return False
        if isinstance(body, WatcherEvent):
            return self.gate_is_open or host_of(receiver) != CONTROLLER
        return receiver not in self.deaf and not (
            sender in self.withholding and isinstance(body, _ANSWERS)
        )

    def _hear(self, request: Message, done: Step) -> None:
        broker = int(request.receiver)
        answers = (
            e.body for e in done.events if isinstance(e, Sent) and e.message.sender == broker
        )
        answer = next((b.error for b in answers if isinstance(b, _ANSWERS)), None)
        if answer is None:
            raise UnsentAnswerError(f"broker {broker} did not answer {request.name}")
        assert isinstance(request.body, ControlRequest)
        generation, named = self._now[broker], self._generations
        self._heard.append(engine_request(broker, generation, request.body, int(answer), named))

    def _hear_alteration(self, asked: AlterPartitionRequest, done: Step) -> None:
        """Nobody waits for the answer: it is read off what the controller has sent."""
        sent = (e.body for e in done.events if isinstance(e, Sent | Dropped))
        (answer,) = {b for b in sent if isinstance(b, AlterPartitionResponse)}
        self._altered.append(alter_answer(asked, answer, self._alterations.pop(0)))

    def _hear_answer(self, answer: ControlledShutdownResponse) -> None:
        broker, stamped = self._asked.pop(0)
        left = tuple(sorted(topic_of(name) for name in answer.remaining))
        self._answers.append(ShutdownAnswer(broker, stamped, int(answer.error), left))

    def passage(self, title: str) -> Passage:
        """What was heard since the last one, and what ZooKeeper has now.

        A real controller behind a shut gate waits for ZooKeeper before it answers; so answers are
        told when it is open.
        """
        heard = [sent for sent in self._heard if sent.broker not in self.withholding]
        self._heard = [sent for sent in self._heard if sent.broker in self.withholding]
        altered, self._altered = self._altered, []
        answers: list[ShutdownAnswer] = []
        if self.gate_is_open:
            answers, self._answers = self._answers, []
        znodes = (engine_znode(self.cluster, topic) for topic in sorted(self.topics))
        return Passage(
            title=title,
            controller_epoch=ensemble_of(self.cluster).controller_epoch,
            requests=tuple(sorted(heard, key=lambda sent: sent.broker)),
            answers=tuple(answers),
            znodes=tuple(znode for znode in znodes if znode is not None),
            altered=tuple(altered),
        )


def _setup(situation: JudgedSituation, features: Features, brokers: set[int]) -> Setup:
    """As after the beginning of a situation; `brokers` that register later are down."""
    up = {CONTROLLER, *situation.brokers}
    topics = (JudgedTopic(IDLE, (CONTROLLER,)), *situation.topics)
    return Setup(
        features=features,
        controller=BrokerId(CONTROLLER),
        brokers=tuple(
            BrokerSetup(id=BrokerId(b), epoch=BrokerEpoch(_FIRST_EPOCH + b), up=b in up)
            for b in sorted({*up, *brokers})
        ),
        partitions=tuple(_partition(topic) for topic in topics),
    )


def _partition(topic: JudgedTopic) -> PartitionSetup:
    replicas = tuple(map(BrokerId, topic.replicas))
    name = partition_name(topic.name)
    return PartitionSetup(name=name, replicas=replicas, isr=replicas, leader=replicas[0])

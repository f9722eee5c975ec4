"""A situation told to the engine, step by step."""

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from kiplab.engine import moves
from kiplab.engine.nodes import ensemble_of
from kiplab.judge.zookeeper_era.engine_control_requests import as_in_the_engine, partition_name
from kiplab.judge.zookeeper_era.sequences import Passage
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import BrokerId, ControllerEpoch
from kiplab.protocol.zookeeper.ensemble import find
from kiplab.protocol.zookeeper.ensemble_writes import ANY_VERSION, Create, Delete, SetData
from kiplab.protocol.zookeeper.znodes import (
    CONTROLLER_EPOCH_PATH,
    CONTROLLER_PATH,
    ISR_CHANGE_PREFIX,
    ControllerEpochZnode,
    ControllerZnode,
    IsrChangeZnode,
    PartitionStateZnode,
    ReplicaAssignment,
    TopicConfigZnode,
    TopicZnode,
    partition_state_path,
    topic_config_path,
    topic_path,
)
from tests.judge.zookeeper.control_coverage import ControlCoverage
from tests.judge.zookeeper.engine_world import EngineWorld
from tests.judge.zookeeper.sequence_text import difference_lines
from tests.judge.zookeeper.situations import (
    DEPOSER,
    AskForIsr,
    AskToShutDown,
    BounceAtOnce,
    ChangeAtOnce,
    CreateTopic,
    DeleteTopic,
    DeposeController,
    DropController,
    EndSession,
    GiveAnswers,
    HearAgain,
    JudgedSituation,
    LapseSession,
    LeaderWritesIsr,
    Listen,
    OpenGate,
    RegisterBroker,
    ShutGate,
    SituationStep,
    TakeIntoIsr,
    TurnDeaf,
    WithholdAnswers,
    whole_isr,
)

ENGINE_RELEASES = {
    "2.1.1": "zk-2.1",
    "2.2.2": "zk-2.2",
    "2.6.3": "zk-2.6",
    "2.8.2": "zk-2.8",
    "3.4.1": "zk-3.4",
}
"""The engine's release for each patch release that is judged."""
NOT_TOLD: dict[type[SituationStep], str] = {
    DeleteTopic: "the engine deletes no topics",
}
"""Steps that the engine is not told, and why: what comes after is not compared."""


class EngineSituation:
    """``EngineSituation(situation, features, coverage).passages()``: what is heard, one after the
    other.
    """

    def __init__(
        self, situation: JudgedSituation, features: Features, coverage: ControlCoverage | None
    ) -> None:
        self._situation = situation
        registering = set(_registering(situation))
        self._world = EngineWorld(situation, features, registering, coverage)
        self._changed: list[str] = []

    def passages(self) -> Iterator[Passage]:
        """Tell it, up to the first step that the engine is not told."""
        for step in self._situation.steps:
            if type(step) in NOT_TOLD:
                return
            if isinstance(step, Listen):
                self._announce()
                yield self._world.passage(step.title)
            else:
                TOLD[type(step)](self, step)
                self._world.go_on()

    def _announce(self) -> None:
        """As the real judge's barrier does."""
        if self._changed and self._world.gate_is_open:
            changed = tuple(map(partition_name, self._changed))
            self._world.write(Create(ISR_CHANGE_PREFIX, IsrChangeZnode(changed), sequential=True))
            self._changed = []
        self._world.go_on()

    # --- registrations ----------------------------------------------------------------------------

    def _register(self, step: RegisterBroker) -> None:
        """A process that was never there starts; one that lost its session registers anew."""
        if self._world.is_new(step.broker):
            self._world.do(moves.Start(BrokerId(step.broker)))
            self._world.begin_generation(step.broker)
        else:
            self._world.learn_of_the_end(step.broker)

    def _end_session(self, step: EndSession | LapseSession) -> None:
        self._world.do(moves.ExpireSession(BrokerId(step.broker)))

    def _bounce(self, step: BounceAtOnce) -> None:
        """Nobody looks in between: watches go off, and are heard of later."""
        self._end_session(EndSession(step.broker))
        self._register(RegisterBroker(step.broker))

    def _change_at_once(self, step: ChangeAtOnce) -> None:
        self._end_session(EndSession(step.dead))
        self._bounce(BounceAtOnce(step.bounced))
        self._register(RegisterBroker(step.new))

    # --- ears, gate, topics -----------------------------------------------------------------------

    def _turn_deaf(self, step: TurnDeaf) -> None:
        self._world.deaf.add(step.broker)

    def _hear_again(self, step: HearAgain) -> None:
        self._world.deaf.discard(step.broker)

    def _withhold(self, step: WithholdAnswers) -> None:
        self._world.withholding.add(step.broker)

    def _give_answers(self, step: GiveAnswers) -> None:
        self._world.withholding.discard(step.broker)

    def _shut_gate(self, _step: ShutGate) -> None:
        self._world.gate_is_open = False

    def _open_gate(self, _step: OpenGate) -> None:
        self._world.gate_is_open = True

    def _ask(self, step: AskToShutDown) -> None:
        self._world.ask_to_shut_down(step.broker, step.stamped)

    def _ask_for_isr(self, step: AskForIsr) -> None:
        self._world.ask_for_isr(step)

    def _create(self, step: CreateTopic) -> None:
        topic, name = step.topic.name, partition_name(step.topic.name)
        assigned = ReplicaAssignment(name, tuple(map(BrokerId, step.topic.replicas)))
        self._world.topics.append(topic)
        self._world.write(
            Create(topic_config_path(topic), TopicConfigZnode(topic)),
            Create(topic_path(topic), TopicZnode(topic, (assigned,))),
        )

    def _write_isr(self, step: LeaderWritesIsr) -> None:
        path = partition_state_path(partition_name(step.topic))
        found = find(ensemble_of(self._world.cluster), path)
        assert found is not None
        assert isinstance(found.data, PartitionStateZnode)
        written = replace(found.data, isr=tuple(map(BrokerId, step.isr)))
        self._world.write(SetData(path, written, found.stat.version))
        self._changed.append(step.topic)

    def _take_in(self, step: TakeIntoIsr) -> None:
        ensemble, name = ensemble_of(self._world.cluster), partition_name(step.topic)
        now = next((p for p in ensemble.partitions if p.name == name), None)
        if now is None or now.leader < 0:
            return
        registered = [registration.broker for registration in ensemble.registrations]
        isr = whole_isr(now.isr, now.replicas, registered)
        self._write_isr(LeaderWritesIsr(step.topic, tuple(isr)))

    # --- controllers ------------------------------------------------------------------------------

    def _drop(self, _step: DropController) -> None:
        self._world.do(moves.FailOver())

    def _depose(self, _step: DeposeController) -> None:
        epoch = ControllerEpoch(ensemble_of(self._world.cluster).controller_epoch + 1)
        self._world.write(
            Delete(CONTROLLER_PATH, ANY_VERSION),
            Create(CONTROLLER_PATH, ControllerZnode(BrokerId(DEPOSER)), ephemeral=True),
            SetData(CONTROLLER_EPOCH_PATH, ControllerEpochZnode(epoch), ANY_VERSION),
            owner=DEPOSER,
        )


TOLD: dict[type[SituationStep], Callable[[EngineSituation, Any], None]] = {
    RegisterBroker: EngineSituation._register,
    EndSession: EngineSituation._end_session,
    LapseSession: EngineSituation._end_session,
    BounceAtOnce: EngineSituation._bounce,
    ChangeAtOnce: EngineSituation._change_at_once,
    TurnDeaf: EngineSituation._turn_deaf,
    HearAgain: EngineSituation._hear_again,
    WithholdAnswers: EngineSituation._withhold,
    GiveAnswers: EngineSituation._give_answers,
    ShutGate: EngineSituation._shut_gate,
    OpenGate: EngineSituation._open_gate,
    AskToShutDown: EngineSituation._ask,
    AskForIsr: EngineSituation._ask_for_isr,
    CreateTopic: EngineSituation._create,
    LeaderWritesIsr: EngineSituation._write_isr,
    TakeIntoIsr: EngineSituation._take_in,
    DropController: EngineSituation._drop,
    DeposeController: EngineSituation._depose,
}
"""What each step is in the engine; `Listen` alone is none of these, nor of `NOT_TOLD`."""


def engine_sequences(
    situation: JudgedSituation, features: Features, coverage: ControlCoverage | None = None
) -> tuple[Passage, ...]:
    """Every passage of a situation, as the engine's controller makes it; fewer than there are where
    a step is `NOT_TOLD`. What it has tried is added to `coverage`, if there is one.
    """
    return tuple(EngineSituation(situation, features, coverage).passages())


def features_judged(situation: JudgedSituation, patch: str) -> Features:
    """Under what the engine does as a patch release does in this situation."""
    release = ENGINE_RELEASES[patch]
    return parse_features(f"{release}/{situation.protocol}" if situation.protocol else release)


def engine_differences(
    situation: JudgedSituation,
    patch: str,
    heard: tuple[Passage, ...],
    coverage: ControlCoverage | None = None,
) -> Iterator[str]:
    """Where the engine does otherwise than a controller of this patch release was `heard` to do, in
    lines; nothing where both are alike in all that the engine is told.
    """
    engine = engine_sequences(situation, features_judged(situation, patch), coverage)
    kafka = [as_in_the_engine(passage) for passage in heard]
    del kafka[_told_passages(situation) :]
    both = [as_in_the_engine(passage) for passage in engine]
    return difference_lines(kafka, both, names=("Kafka", "the engine"))


def _told_passages(situation: JudgedSituation) -> int:
    """How many come before the first step that the engine is not told."""
    told = takewhile(lambda step: type(step) not in NOT_TOLD, situation.steps)
    return sum(1 for step in told if isinstance(step, Listen))


def _registering(situation: JudgedSituation) -> Iterator[int]:
    for step in situation.steps:
        if isinstance(step, RegisterBroker):
            yield step.broker
        if isinstance(step, ChangeAtOnce):
            yield step.new

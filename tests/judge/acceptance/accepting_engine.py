"""The engine's broker in the place of a real one: the same cases, looked at in the same way."""

from collections.abc import Iterator, Sequence
from typing import Any

from kiplab.judge.zookeeper_era.real_control_requests import FOLLOWED, CheckpointStory
from kiplab.protocol import ids, log, messages
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.registrations import (
    LeaderRecoveryState,
    PartitionRegistration,
    partition,
    registration,
)
from kiplab.protocol.replica import broker_parts, disk
from kiplab.protocol.replica.broker_state import Broker, Durable, DurableReplica, replica_of
from kiplab.protocol.zookeeper import broker_in_zookeeper, ensemble_sessions
from kiplab.protocol.zookeeper.control_requests import leader_and_isr, stop_replica, update_metadata
from kiplab.protocol.zookeeper.ensemble import Ensemble, kafka_ensemble

from . import control_bodies as questions
from .checkpoint_story import BOTH, FIRST_LEADER_EPOCHS, RECORDS
from .control_bodies import SpokenVersions, asked_broker

_ME, _CONTROLLER = ids.BrokerId(questions.ASKED_BROKER), ids.BrokerId(questions.FAKE_CONTROLLER)
_FIRST_WITH_EPOCH = {"LeaderAndIsr": 2, "UpdateMetadata": 5, "StopReplica": 1}
_TOPIC, CONTROLLER_EPOCH = "a", 10
_OLDEST = "2.1-IV2"
"""The inter-broker protocol of those that are asked at an older one than their own."""
_TELLS_OF_DEAD_LEADERS = (2, 5)
"""The release from which on clients are told the leader epoch of a partition whose leader is not
alive.
"""

_Reply = (
    messages.LeaderAndIsrResponse | messages.UpdateMetadataResponse | messages.StopReplicaResponse
)


def features_of(name: str) -> Features:
    """What stands in the engine for a broker that is asked: a release of its own, or the nearest
    one with the rule that parts the two switched.

    Raises UnaskedBrokerError for a broker that is not asked.
    """
    patch = asked_broker(name).patch
    parted = {
        "2.5.1": parse_features("zk-2.5.0", on=("kafka-9839.newer-epoch",)),
        "3.4.0": parse_features("zk-3.4", off=("kafka-13972.equal-epoch",)),
    }
    if patch in parted:
        return parted[patch]
    release = "zk-2.5.0" if patch == "2.5.0" else f"zk-{patch.rpartition('.')[0]}"
    return parse_features(f"{release}/{_OLDEST}" if "/" in name else release)


class AcceptingEngine:
    """A broker of the engine's in a cluster of which somebody else is the controller.

    `logs` are on its disk when it starts.
    """

    def __init__(self, features: Features, versions: SpokenVersions, *logs: DurableReplica) -> None:
        self._features, self._versions = features, versions
        first = broker_in_zookeeper.start(Broker(_CONTROLLER), kafka_ensemble(), features, None)
        mine = Broker(_ME, durable=Durable(logs))
        started = broker_in_zookeeper.start(mine, first.ensemble, features, None)
        self.broker: Broker = started.node
        self._ensemble: Ensemble = started.ensemble
        self.epoch = broker_parts.process_of(self.broker).epoch
        self.before = ids.BrokerEpoch(self.epoch - 1)
        self._knows_itself = False

    def answer(
        self, question: questions.ControlQuestion, _real: questions.ControlAnswer | None = None, /
    ) -> questions.ControlAnswer:
        """What it says to the next request of a case, and does: nothing is left open to Kafka."""
        if not self._knows_itself:
            self.tell((questions.BROKERS_ALONE,))
            self._knows_itself = True
        self._change_session(question.session)
        reply = self.tell((question,))
        names = [_name(_TOPIC, p) for p in range(max(1, len(question.leader_epochs)))]
        process = broker_parts.process_of(self.broker)
        return questions.ControlAnswer(
            error=reply.error.value,
            partitions=_codes(reply),
            replicas=tuple(map(self._replica, names)),
            on_disk=tuple(replica_of(self.broker, name) is not None for name in names),
            metadata=tuple(map(self._metadata, names)),
            brokers=tuple(r.broker for r in process.image.registrations) if process.image else (),
        )

    # --- what it is told -------------------------------------------------------------------------

    def tell(
        self, questions: Sequence[questions.ControlQuestion], topics: Sequence[str] = (_TOPIC,)
    ) -> _Reply:
        """Its answer to one request: the same kind of question, one for each of the topics."""
        asked = questions[0]
        version = ids.ApiVersion(self._versions.of(asked.api))
        has_epoch = version >= _FIRST_WITH_EPOCH[asked.api]
        epoch = asked.epoch(self.epoch, self.before) if has_epoch else ids.NO_BROKER_EPOCH
        head: dict[str, Any] = {
            "version": version,
            "controller": _CONTROLLER,
            "controller_epoch": ids.ControllerEpoch(CONTROLLER_EPOCH + asked.controller_epoch),
            "broker_epoch": ids.BrokerEpoch(epoch),
        }
        states = [s for topic, q in zip(topics, questions, strict=True) for s in _states(q, topic)]
        if asked.api == "LeaderAndIsr":
            lead = messages.LeaderAndIsrRequest(**head, partitions=tuple(states))
            return self._after(leader_and_isr(self.broker, lead, self._features, None))
        if asked.api == "UpdateMetadata":
            live = tuple(map(ids.BrokerId, asked.live))
            know = messages.UpdateMetadataRequest(
                **head, partitions=tuple(states), live_brokers=live
            )
            return self._after(update_metadata(self.broker, know, self._features, None))
        items = tuple(
            messages.StopReplicaItem(s.name, s.leader_epoch, asked.delete) for s in states
        )
        stop = messages.StopReplicaRequest(**head, items=items)
        return self._after(stop_replica(self.broker, stop, self._features, None))

    def _after(self, effect: broker_parts.BrokerEffect) -> _Reply:
        self.broker, sends, _ = effect
        reply = sends[0].body
        assert isinstance(reply, _Reply)
        return reply

    def _change_session(self, event: questions.SessionEvent) -> None:
        process = broker_parts.process_of(self.broker)
        assert process.session is not None
        if event == "ends":
            self._ensemble = ensemble_sessions.end_session(self._ensemble, process.session).ensemble
        if event == "is found to have ended":
            told = messages.SessionExpired(session=process.session)
            again = broker_in_zookeeper.session_expired(
                self.broker, self._ensemble, told, self._features, None
            )
            self.broker, self._ensemble = again.node, again.ensemble
            self.before, self.epoch = self.epoch, broker_parts.process_of(self.broker).epoch

    # --- what it is seen to have -----------------------------------------------------------------

    def _replica(self, name: str) -> questions.ReplicaSight | None:
        replica = replica_of(self.broker, name)
        if replica is None:
            return None
        return questions.ReplicaSight(
            "leader" if replica.leading else "follower", replica.leader_epoch
        )

    def _metadata(self, name: str) -> questions.MetadataSight | None:
        image = broker_parts.process_of(self.broker).image
        state = partition(image.partitions, name) if image else None
        if image is None or state is None:
            return None
        if registration(image.registrations, state.leader) is not None:
            return questions.MetadataSight(state.leader, state.leader_epoch)
        told = self._features.code_of(_ME) >= _TELLS_OF_DEAD_LEADERS
        return questions.MetadataSight(
            ids.NO_LEADER, state.leader_epoch if told else ids.NO_LEADER_EPOCH
        )


def _name(topic: str, index: int) -> str:
    return f"{topic}-{index}"


def _states(question: questions.ControlQuestion, topic: str) -> Iterator[PartitionRegistration]:
    for index, epoch in enumerate(question.leader_epochs):
        yield PartitionRegistration(
            name=_name(topic, index),
            replicas=tuple(map(ids.BrokerId, question.replicas)),
            isr=tuple(map(ids.BrokerId, question.isr)),
            leader=ids.BrokerId(question.leader),
            leader_epoch=ids.LeaderEpoch(epoch),
            partition_epoch=ids.PartitionEpoch(question.zk_version),
            recovery=LeaderRecoveryState(question.recovering),
        )


def _codes(reply: _Reply) -> tuple[int, ...]:
    if isinstance(reply, messages.UpdateMetadataResponse):
        return ()
    return tuple(s.error.value for s in sorted(reply.partitions, key=lambda s: s.partition))


# --- the story of its checkpoint ------------------------------------------------------------------


def engine_checkpoint(name: str) -> CheckpointStory:
    """What becomes of it. A partition that is not in the checkpoint counts as 0
    there, in the engine: it is left out here too.

    Raises UnaskedBrokerError for a broker that is not asked.
    """
    versions, features = asked_broker(name).versions, features_of(name)
    engine = AcceptingEngine(features, versions, *map(_durable, RECORDS))
    stopped_with = before_any_mail = _checkpoint(engine)
    old_mail = _lead(engine, 2, "older", FOLLOWED)
    after_old_mail = _checkpoint(engine)
    engine.tell([questions.ControlQuestion("UpdateMetadata")] * len(RECORDS), tuple(RECORDS))
    _lead(engine, 3, "own", *RECORDS)
    process = broker_parts.process_of(engine.broker)
    return CheckpointStory(
        stopped_with=stopped_with,
        before_any_mail=before_any_mail,
        old_mail=old_mail,
        after_old_mail={topic: mark for topic, mark in after_old_mail.items() if mark},
        begun_at={_topic(r.partition): r.high_watermark for r in process.replicas},
        at_the_end=_checkpoint(engine),
    )


def _durable(topic: str) -> DurableReplica:
    epoch, count = ids.LeaderEpoch(FIRST_LEADER_EPOCHS[topic] + 1), RECORDS[topic]
    return DurableReplica(f"{topic}-0", log.append(log.Log(), epoch, count), ids.Offset(count))


def _lead(
    engine: AcceptingEngine, incarnation: int, epoch: questions.GivenEpoch, *topics: str
) -> int:
    """The code of its answer to a LeaderAndIsr; `incarnation` makes its leader epochs higher."""
    asked = [
        questions.ControlQuestion(
            "LeaderAndIsr",
            (FIRST_LEADER_EPOCHS[topic] + incarnation,),
            broker_epoch=epoch,
            isr=BOTH,
            replicas=BOTH,
        )
        for topic in topics
    ]
    return engine.tell(asked, topics).error.value


def _checkpoint(engine: AcceptingEngine) -> dict[str, int]:
    """After a round of the task that writes it, if it runs."""
    engine.broker, _, _ = disk.checkpoint(engine.broker)
    return {_topic(r.partition): int(r.checkpoint) for r in engine.broker.durable.replicas}


def _topic(partition: str) -> str:
    return partition.rpartition("-")[0]

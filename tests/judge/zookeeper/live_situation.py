"""A situation told to a real controller, step by step."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kiplab.judge.wire.message_schemas import ReleaseSchemas
from kiplab.judge.zookeeper_era.control_answers import wait_until
from kiplab.judge.zookeeper_era.gates import Gate
from kiplab.judge.zookeeper_era.kafka_znodes import (
    LAPSE_TIMEOUT_S,
    SESSION_TIMEOUT_S,
    add_registration,
    commit,
    create_topic,
    end,
    registration,
    session,
    state_of,
    state_path,
    znode_of,
)
from kiplab.judge.zookeeper_era.sequences import Passage
from tests.judge.zookeeper.judged_cluster import EPOCH, JudgedCluster
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

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_CONTROLLER, _TOPICS, _DELETIONS = "/controller", "/brokers/topics", "/admin/delete_topics"


class LiveSituation:
    """``LiveSituation(situation, cluster).passages()``: what is heard, passage after passage."""

    def __init__(self, situation: JudgedSituation, cluster: JudgedCluster) -> None:
        self._situation, self._cluster = situation, cluster
        self._sessions: dict[int, KazooClient] = {}
        self._lines: dict[int, Gate] = {}
        """By broker, where its session runs over a line that is cut some day."""

    def passages(self) -> Iterator[Passage]:
        """Tell it. Raises TooQuietError where the controller does not do what it must."""
        try:
            self._set_up()
            for step in self._situation.steps:
                if isinstance(step, Listen):
                    self._cluster.come_to_rest(step.until)
                    yield self._cluster.passage(step.title)
                else:
                    DOES[type(step)](self, step)
        finally:
            for client in {id(client): client for client in self._sessions.values()}.values():
                end(client)
            for line in self._lines.values():
                line.close()

    def _set_up(self) -> None:
        for broker in self._situation.brokers:
            self._register(RegisterBroker(broker))
        self._cluster.come_to_rest()
        for topic in self._situation.topics:
            self._create(CreateTopic(topic))
        self._cluster.come_to_rest()
        self._cluster.passage("")

    # --- registrations ----------------------------------------------------------------------------

    def _register(self, step: RegisterBroker) -> None:
        fake = self._cluster.fake(step.broker)
        fake.forget()
        client = self._session(step.broker)
        transaction = client.transaction()
        add_registration(transaction, step.broker, self._said_by(step.broker))
        commit(transaction)
        self._own(step.broker, client)

    def _bounce(self, step: BounceAtOnce) -> None:
        self._cluster.fake(step.broker).forget()
        earlier, client = self._sessions[step.broker], self._session(step.broker)
        transaction = client.transaction()
        transaction.delete(znode_of(step.broker))
        add_registration(transaction, step.broker, self._said_by(step.broker))
        commit(transaction)
        self._own(step.broker, client)
        end(earlier)

    def _end_session(self, step: EndSession) -> None:
        self._cluster.registered.discard(step.broker)
        end(self._sessions.pop(step.broker))

    def _lapse(self, step: LapseSession) -> None:
        self._lines.pop(step.broker).close()
        wait_until(
            lambda: not self._cluster.client.exists(znode_of(step.broker)), "a session's expiry"
        )
        self._end_session(EndSession(step.broker))

    def _change_at_once(self, step: ChangeAtOnce) -> None:
        """One session registers both, for a transaction is of one session."""
        for broker in (step.new, step.bounced):
            self._cluster.fake(broker).forget()
        earlier = [self._sessions.pop(broker) for broker in (step.bounced, step.dead)]
        client = self._session(step.bounced)
        transaction = client.transaction()
        for broker in (step.dead, step.bounced):
            transaction.delete(znode_of(broker))
        for broker in (step.bounced, step.new):
            add_registration(transaction, broker, self._said_by(broker))
        commit(transaction)
        self._cluster.registered.discard(step.dead)
        for broker in (step.bounced, step.new):
            self._own(broker, client)
        for other in earlier:
            end(other)

    def _session(self, broker: int) -> KazooClient:
        cluster, port, timeout_s = self._cluster, self._cluster.zookeeper_port, SESSION_TIMEOUT_S
        if LapseSession(broker) in self._situation.steps:
            self._lines[broker] = Gate(cluster.loop, port)
            port, timeout_s = self._lines[broker].port, LAPSE_TIMEOUT_S
        return session(port, cluster.chroot, timeout_s)

    def _own(self, broker: int, client: KazooClient) -> None:
        self._sessions[broker] = client
        self._cluster.begin_generation(broker, client.exists(znode_of(broker)).czxid)

    def _said_by(self, broker: int) -> bytes:
        return registration(self._cluster.patch, self._cluster.fake(broker).port)

    # --- ears, gate, topics -----------------------------------------------------------------------

    def _turn_deaf(self, step: TurnDeaf) -> None:
        self._cluster.fake(step.broker).turn_deaf()

    def _hear_again(self, step: HearAgain) -> None:
        self._cluster.fake(step.broker).hear()

    def _withhold(self, step: WithholdAnswers) -> None:
        self._cluster.fake(step.broker).withhold()

    def _give_answers(self, step: GiveAnswers) -> None:
        self._cluster.fake(step.broker).give_answers()

    def _shut_gate(self, _step: ShutGate) -> None:
        self._cluster.gate.shut()

    def _open_gate(self, _step: OpenGate) -> None:
        self._cluster.gate.open()

    def _ask(self, step: AskToShutDown) -> None:
        self._cluster.ask_to_shut_down(step.broker, step.stamped)

    def _ask_for_isr(self, step: AskForIsr) -> None:
        self._cluster.ask_for_isr(step)

    def _create(self, step: CreateTopic) -> None:
        create_topic(self._cluster.client, step.topic.name, step.topic.replicas)
        self._cluster.topic_is_there(step.topic.name)

    def _delete(self, step: DeleteTopic) -> None:
        delete_topic(self._cluster.client, step.topic)

    def _write_isr(self, step: LeaderWritesIsr) -> None:
        write_isr(self._cluster.client, step.topic, step.isr)
        self._cluster.isr_was_written(step.topic)

    def _take_in(self, step: TakeIntoIsr) -> None:
        client = self._cluster.client
        now = state_of(client, step.topic)
        if now is None or now.leader < 0:
            return
        replicas = replicas_of(client, step.topic)
        isr = whole_isr(now.isr, replicas, self._cluster.registered)
        self._write_isr(LeaderWritesIsr(step.topic, tuple(isr)))

    # --- controllers ------------------------------------------------------------------------------

    def _drop(self, _step: DropController) -> None:
        epoch = self._cluster.controller_epoch()
        self._cluster.client.delete(_CONTROLLER)
        self._cluster.wait_for_controller(epoch)

    def _depose(self, _step: DeposeController) -> None:
        cluster = self._cluster
        other = b'{"version":1,"brokerid":%d,"timestamp":"1"}' % DEPOSER
        transaction = cluster.client.transaction()
        transaction.delete(_CONTROLLER)
        transaction.create(_CONTROLLER, other, ephemeral=True)
        transaction.set_data(EPOCH, b"%d" % (cluster.controller_epoch() + 1))
        commit(transaction)
        cluster.is_deposed = True


DOES: dict[type[SituationStep], Callable[[LiveSituation, Any], None]] = {
    RegisterBroker: LiveSituation._register,
    BounceAtOnce: LiveSituation._bounce,
    EndSession: LiveSituation._end_session,
    LapseSession: LiveSituation._lapse,
    ChangeAtOnce: LiveSituation._change_at_once,
    TurnDeaf: LiveSituation._turn_deaf,
    HearAgain: LiveSituation._hear_again,
    WithholdAnswers: LiveSituation._withhold,
    GiveAnswers: LiveSituation._give_answers,
    ShutGate: LiveSituation._shut_gate,
    OpenGate: LiveSituation._open_gate,
    AskToShutDown: LiveSituation._ask,
    AskForIsr: LiveSituation._ask_for_isr,
    CreateTopic: LiveSituation._create,
    DeleteTopic: LiveSituation._delete,
    LeaderWritesIsr: LiveSituation._write_isr,
    TakeIntoIsr: LiveSituation._take_in,
    DropController: LiveSituation._drop,
    DeposeController: LiveSituation._depose,
}
"""What each step does; `Listen` alone is none of these."""


def heard_live(
    situation: JudgedSituation, patch: str, zookeeper_port: int, schemas: ReleaseSchemas
) -> tuple[Passage, ...]:
    """Every passage of a situation, as a real controller of this patch release makes it.

    Raises MissingKafkaError where none can be run, DeadKafkaError where it does not start,
    TooQuietError where it does not do what it must.
    """
    chroot = f"/{situation.name}-{patch}-{uuid4().hex}"
    with JudgedCluster(patch, zookeeper_port, chroot, schemas, situation.protocol) as cluster:
        return tuple(LiveSituation(situation, cluster).passages())


# --- topics as a tool or a leader would change them ----------------------------------------------


def delete_topic(client: KazooClient, topic: str) -> None:
    """Ask for its deletion, and wait until the controller has done it."""
    client.create(f"{_DELETIONS}/{topic}")
    wait_until(lambda: not client.exists(f"{_TOPICS}/{topic}"), f"the end of topic {topic}")
    wait_until(lambda: not client.exists(f"{_DELETIONS}/{topic}"), f"the end of topic {topic}")


def write_isr(client: KazooClient, topic: str, isr: tuple[int, ...]) -> None:
    """Write another ISR, as a leader does before AlterIsr: all else stays."""
    data, stat = client.get(state_path(topic))
    client.set(
        state_path(topic), json.dumps(json.loads(data) | {"isr": isr}).encode(), stat.version
    )


def replicas_of(client: KazooClient, topic: str) -> tuple[int, ...]:
    """Where the replicas of its partition are."""
    assigned = json.loads(client.get(f"{_TOPICS}/{topic}")[0])
    return tuple(assigned["partitions"]["0"])

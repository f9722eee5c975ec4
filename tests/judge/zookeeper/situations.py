"""Situations in which controllers of ZooKeeper's years are judged: plays, told to a real controller
and to the engine's.

A comment on a line of its own is the title of a passage: what comes of the lines below it, up to
the next one, is compared. Besides the verbs of plays there are four by which the judge writes into
ZooKeeper by hand (`WRITES`), and in a `send` an epoch may be that of a generation: ``b1g2`` is the
second registration of broker 1, ``b1g2+1000`` is newer than any. Every topic has one partition.

F is a partition that broker 1 follows, L one that it leads. Cases A, B and D are those of KIP-380's
motivation; case C happens at a broker.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kiplab.engine import channels, nodes, step
from kiplab.engine.cluster import Cluster
from kiplab.judge.zookeeper_era.real_control_requests import SAYS, UNFIT
from kiplab.judge.zookeeper_plays.engine_ear import partition_name
from kiplab.plays import grammar, header
from kiplab.plays.play import Play, Statement, split
from kiplab.protocol.ids import CLIENT, ZOOKEEPER, BrokerId, ControllerEpoch, Incarnation
from kiplab.protocol.zookeeper import ensemble_sessions, znodes
from kiplab.protocol.zookeeper.ensemble import find
from kiplab.protocol.zookeeper.ensemble_writes import (
    ANY_VERSION,
    Create,
    Delete,
    Operation,
    SetData,
    transact,
)

CONTROLLER = BrokerId(0)
"""The id of the broker that is the controller; the others are the ones that are listened to."""
DEPOSER = BrokerId(99)
"""The id of who takes the controller's place."""
DELETE = "delete-topic"
"""The engine deletes no topics: what comes from here on is not compared."""
_PLAYS = Path(__file__).parent / "plays"
EPOCH = "broker-epoch"
"""The key that stamps a request with a generation."""


@cache
def situations() -> dict[str, Play]:
    """All that are recorded, by name, in the order in which they are told."""
    return {name: parsed((_PLAYS / f"{name}.play").read_text(), name) for name in SAYS}


def why_not(name: str, patch: str) -> str:
    """Why a release has no such situation; empty if it has."""
    return UNFIT.get(name, {}).get(patch, "")


def parsed(text: str, name: str) -> Play:
    """A situation. Raises PlayError for a line that is none, of a play or of the judge's own."""
    play = split(text, name)
    names, started = header.names_of(play), False
    for statement in play.statements:
        if statement.verb not in (*WRITES, DELETE):
            args = tuple(arg for arg in statement.args if arg[0] != EPOCH)
            started = grammar.check(replace(statement, args=args), names, started)
    return play


def titles_of(play: Play) -> tuple[str, ...]:
    """The titles of its passages."""
    return tuple(s.comment for s in play.statements if is_title(s) and s.comment)


def is_title(statement: Statement) -> bool:
    """Whether a line begins a passage."""
    return not statement.verb and statement.comment is not None


# --- what the judge writes by hand ----------------------------------------------------------------


class Written(msgspec.Struct, frozen=True):
    """A transaction by the judge's own hand; of `owner`, if any, in a session that stays."""

    operations: tuple[Operation, ...]
    owner: BrokerId | None = None

    @property
    def created(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The topics that it creates, each with its replicas."""
        for data in (op.data for op in self.operations if isinstance(op, Create)):
            if isinstance(data, znodes.TopicZnode):
                yield data.topic, data.assignments[0].replicas


def _create(_cluster: Cluster, line: Statement) -> Written:
    """``create-topic F replicas=2,1``: somebody creates a topic."""
    (topic,) = line.words
    replicas = tuple(BrokerId(int(id)) for id in (line.arg("replicas") or "").split(","))
    assigned = znodes.ReplicaAssignment(partition_name(topic), replicas)
    return Written(
        (
            Create(znodes.topic_config_path(topic), znodes.TopicConfigZnode(topic)),
            Create(znodes.topic_path(topic), znodes.TopicZnode(topic, (assigned,))),
        )
    )


def _write_isrs(cluster: Cluster, line: Statement) -> Written:
    """``write-isr F=2,1 L=2,1``: leaders write other ISRs, and the controller is notified."""
    isrs = {topic: tuple(BrokerId(int(id)) for id in isr.split(",")) for topic, isr in line.args}
    return Written(tuple(_written_isrs(cluster, isrs)))


def _take_in(cluster: Cluster, line: Statement) -> Written:
    """``take-in F L``: leaders take every registered replica into the ISR, the new ones last and in
    the order assigned.
    """
    ensemble = nodes.ensemble_of(cluster)
    registered = {registration.broker for registration in ensemble.registrations}
    states = {p.name: p for p in ensemble.partitions if p.leader >= 0}
    isrs = {}
    for topic in line.words:
        if (now := states.get(partition_name(topic))) is not None:
            new = [id for id in now.replicas if id in registered and id not in now.isr]
            isrs[topic] = (*now.isr, *new)
    return Written(tuple(_written_isrs(cluster, isrs)))


def _written_isrs(cluster: Cluster, isrs: dict[str, tuple[BrokerId, ...]]) -> Iterator[Operation]:
    for topic, isr in isrs.items():
        path = znodes.partition_state_path(partition_name(topic))
        znode = find(nodes.ensemble_of(cluster), path)
        assert znode is not None
        assert isinstance(znode.data, znodes.PartitionStateZnode)
        yield SetData(path, replace(znode.data, isr=isr), znode.stat.version)
    if isrs:
        changed = tuple(map(partition_name, isrs))
        yield Create(znodes.ISR_CHANGE_PREFIX, znodes.IsrChangeZnode(changed), sequential=True)


def _depose(cluster: Cluster, _line: Statement) -> Written:
    """``depose``: /controller and the next epoch go to another, whom nobody plays."""
    epoch = ControllerEpoch(nodes.ensemble_of(cluster).controller_epoch + 1)
    return Written(
        (
            Delete(znodes.CONTROLLER_PATH, ANY_VERSION),
            Create(znodes.CONTROLLER_PATH, znodes.ControllerZnode(DEPOSER), ephemeral=True),
            SetData(znodes.CONTROLLER_EPOCH_PATH, znodes.ControllerEpochZnode(epoch), ANY_VERSION),
        ),
        owner=DEPOSER,
    )


WRITES: dict[str, Callable[[Cluster, Statement], Written]] = {
    "create-topic": _create,
    "write-isr": _write_isrs,
    "take-in": _take_in,
    "depose": _depose,
}


def after_writing(cluster: Cluster, written: Written) -> step.Step:
    """What ZooKeeper makes of it: the watches that fire are on their way."""
    whose = BrokerId(CLIENT if written.owner is None else written.owner)
    opened = ensemble_sessions.open_session(nodes.ensemble_of(cluster), whose, Incarnation(0))
    done = transact(opened.ensemble, opened.session, written.operations)
    ensemble, fired = done.ensemble, done.fired
    if written.owner is None:
        ended = ensemble_sessions.end_session(ensemble, opened.session)
        ensemble, fired = ended.ensemble, (*fired, *ended.fired)
    written_to = nodes.with_state(cluster, ZOOKEEPER, ensemble)
    after, events = channels.post(written_to, ZOOKEEPER, fired)
    return step.Step(after, tuple(events))

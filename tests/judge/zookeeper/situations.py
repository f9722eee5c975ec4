"""A situation as data: who is there, and what happens to them, step by step.

The same situation is told to a real controller and to the engine's. Every topic has one partition.
"""

from collections.abc import Iterable, Sequence

import msgspec

from kiplab.judge.zookeeper_era.engine_control_requests import partition_name
from kiplab.protocol.ids import (
    NO_BROKER_EPOCH,
    BrokerEpoch,
    BrokerId,
    LeaderEpoch,
    PartitionEpoch,
)
from kiplab.protocol.messages import AlterPartitionItem, AlterPartitionRequest, IsrMember
from kiplab.protocol.registrations import LeaderRecoveryState
from kiplab.protocol.releases import RELEASES

CONTROLLER = 0
"""The id of the broker that is the controller; the others are the ones that are listened to."""
DEPOSER = 99
"""The id of who takes the controller's place."""


class JudgedTopic(msgspec.Struct, frozen=True):
    """A topic of one partition; the first of its replicas leads it at first."""

    name: str
    replicas: tuple[int, ...]


class BounceAtOnce(msgspec.Struct, frozen=True, tag=True):
    """The broker's registration is deleted and made anew in one transaction of ZooKeeper."""

    broker: int


class EndSession(msgspec.Struct, frozen=True, tag=True):
    """The broker closes its session with ZooKeeper. Its port stays open."""

    broker: int


class LapseSession(msgspec.Struct, frozen=True, tag=True):
    """The broker's session expires, and it does not know it."""

    broker: int


class RegisterBroker(msgspec.Struct, frozen=True, tag=True):
    """The broker registers: a new generation of one that was there before."""

    broker: int


class ChangeAtOnce(msgspec.Struct, frozen=True, tag=True):
    """In one transaction one broker appears, one bounces and one is gone."""

    new: int
    bounced: int
    dead: int


class TurnDeaf(msgspec.Struct, frozen=True, tag=True):
    """The broker closes its port and its connections: nothing can be delivered."""

    broker: int


class HearAgain(msgspec.Struct, frozen=True, tag=True):
    """It listens at the same port again."""

    broker: int


class WithholdAnswers(msgspec.Struct, frozen=True, tag=True):
    """The broker reads a request and does not answer, so that the next ones wait."""

    broker: int


class GiveAnswers(msgspec.Struct, frozen=True, tag=True):
    """It answers what it has read, and answers at once from now on."""

    broker: int


class ShutGate(msgspec.Struct, frozen=True, tag=True):
    """From now on nothing that ZooKeeper says reaches the controller; what that sends goes out."""


class OpenGate(msgspec.Struct, frozen=True, tag=True):
    """It hears all that was held back, in order."""


class AskToShutDown(msgspec.Struct, frozen=True, tag=True):
    """A ControlledShutdown for `broker` reaches the controller.

    `stamped` is the generation whose epoch it carries, as in ``"b1g1"``, ``"-1"`` for none, or
    ``"b1g2+1000"``. A release before KIP-380 is asked in its own version, which has no epoch.
    """

    broker: int
    stamped: str


class AskForIsr(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A leader's AlterPartition, once AlterIsr, reaches the controller, and is answered at once.

    `stamped` is as of `AskToShutDown`; the epochs are what it says. It has this version, or the
    last one that the release knows.
    """

    broker: int
    topic: str
    isr: tuple[int, ...]
    stamped: str
    leader_epoch: int
    zk_version: int
    recovering: bool = False
    version: int = 2


class CreateTopic(msgspec.Struct, frozen=True, tag=True):
    """Somebody creates a topic."""

    topic: JudgedTopic


class DeleteTopic(msgspec.Struct, frozen=True, tag=True):
    """Somebody asks for a topic to be deleted, and it is."""

    topic: str


class LeaderWritesIsr(msgspec.Struct, frozen=True, tag=True):
    """The leader writes another ISR into the partition's znode, and the controller is notified
    before the next `Listen` ends.
    """

    topic: str
    isr: tuple[int, ...]


class TakeIntoIsr(msgspec.Struct, frozen=True, tag=True):
    """The leader, if there is one, takes every registered replica into the ISR; the controller is
    notified before the next `Listen` ends.
    """

    topic: str


class DropController(msgspec.Struct, frozen=True, tag=True):
    """``/controller`` is deleted; the only broker that can be controller is elected again."""


class DeposeController(msgspec.Struct, frozen=True, tag=True):
    """In one transaction ``/controller`` and the next epoch go to another, whom nobody plays."""


class Listen(msgspec.Struct, frozen=True, tag=True):
    """All that was set off comes to its end, and what came of it is one passage.

    Where the gate is shut that is all that was queued before. `until` names a kind of request:
    one about a partition is waited for.
    """

    title: str
    until: str = ""


SituationStep = (
    BounceAtOnce
    | EndSession
    | LapseSession
    | RegisterBroker
    | ChangeAtOnce
    | TurnDeaf
    | HearAgain
    | WithholdAnswers
    | GiveAnswers
    | ShutGate
    | OpenGate
    | AskToShutDown
    | AskForIsr
    | CreateTopic
    | DeleteTopic
    | LeaderWritesIsr
    | TakeIntoIsr
    | DropController
    | DeposeController
    | Listen
)


class JudgedSituation(msgspec.Struct, frozen=True):
    """What is there before the first step, in which nothing is listened to, and the steps.

    `brokers` have registered one after the other, then `topics` were created. `protocol` is the
    inter.broker.protocol.version where it is not the release's own. `unfit` says of a release by
    its patch why it has no such situation.
    """

    name: str
    says: str
    steps: tuple[SituationStep, ...]
    brokers: tuple[int, ...] = (1, 2)
    topics: tuple[JudgedTopic, ...] = ()
    protocol: str = ""
    unfit: tuple[tuple[str, str], ...] = ()

    def why_not(self, patch: str) -> str:
        """Why a release has no such situation; empty if it has."""
        return dict(self.unfit).get(patch, "")


def whole_isr(isr: Sequence[int], replicas: Sequence[int], registered: Iterable[int]) -> list[int]:
    """An ISR with every registered replica in it, the new ones last and in the order assigned."""
    there = set(registered)
    return [*isr, *(replica for replica in replicas if replica in there and replica not in isr)]


def alter_request(step: AskForIsr, release: str, epoch: int) -> AlterPartitionRequest:
    """What is asked of either controller, with this broker epoch, in a version that it knows."""
    known = RELEASES[release].alter_partition
    state = LeaderRecoveryState.RECOVERING if step.recovering else LeaderRecoveryState.RECOVERED
    item = AlterPartitionItem(
        partition=partition_name(step.topic),
        leader_epoch=LeaderEpoch(step.leader_epoch),
        partition_epoch=PartitionEpoch(step.zk_version),
        isr=tuple(IsrMember(BrokerId(member), NO_BROKER_EPOCH) for member in step.isr),
        recovery=state,
    )
    return AlterPartitionRequest(
        version=min(step.version, known),
        broker=BrokerId(step.broker),
        broker_epoch=BrokerEpoch(epoch),
        items=(item,),
    )

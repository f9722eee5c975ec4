"""What a real controller and real brokers are asked in the course of a play, and what they answer.

Requests, answers, and what a producer or a fetcher brings are the turns of generated runs. In a
play a process also begins, with what its disk has kept, and is sent some partitions only.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec

from ...engine.cluster import Cluster
from ...protocol.ids import BrokerId, PartitionName
from ...protocol.kraft.records import Record
from ...protocol.messages import (
    AlterPartitionResponse,
    FetchRequest,
    MetadataUpdate,
    Request,
    Response,
)
from ...protocol.replica.broker_state import Broker
from ..partition import broker_turns as turns
from ..partition.observed_broker import ObservedBroker
from .renaming import Renaming


class UnaskableError(Exception):
    """A real controller, or leader, cannot be told this; the message says why."""

    def __init__(self, why: str, who: str = "controller") -> None:
        super().__init__(why)
        self.who = who


class StaleRecordingError(Exception):
    """A recording was made of another play, or beside other nodes; the message says what now."""


# --- the controller -------------------------------------------------------------------------------


class RequestAsked(msgspec.Struct, frozen=True, tag="asked"):
    """A broker or a client sends a request."""

    request: Request


class SessionOver(msgspec.Struct, frozen=True, tag="session-over"):
    """Nothing is heard of a broker until its session is over; of every other broker there is."""

    broker: BrokerId


class TakeOver(msgspec.Struct, frozen=True, tag="take-over"):
    """Another controller becomes active."""


class VersionRaised(msgspec.Struct, frozen=True, tag="version-raised"):
    """The metadata version is to be another one."""

    metadata_version: str


ControllerQuestion = RequestAsked | SessionOver | TakeOver | VersionRaised


class Written(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record of Kafka's own metadata log, in the play's numbers.

    `kafka_offset` is where it is in Kafka's log. `record` is None for what the engine keeps no
    record of: `name` says what it is.
    """

    offset: int
    kafka_offset: int
    name: str
    version: int
    record: Record | None = None
    beyond: str = ""
    """What only Kafka has in it."""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a question. `response` is None where nobody waits for one; `refused` says why
    an operator was refused.
    """

    question: ControllerQuestion
    response: Response | None = None
    written: tuple[Written, ...] = ()
    refused: str = ""


AskKafka = Callable[[ControllerQuestion, Cluster, int], Decision]
"""`DecidingKafka.decide`."""


class DecidingKafka(Protocol):
    """A real controller, or one whose answers were stored."""

    @property
    def renaming(self) -> Renaming:
        """What is called otherwise in its log."""

    @property
    def scene_records(self) -> int:
        """How many records its log has before the first line."""

    def decide(self, question: ControllerQuestion, cluster: Cluster, expected: int) -> Decision:
        """What it makes of a question, `cluster` being what has come of its decisions so far.

        `expected` is how many records the engine would write: so many are waited for.
        Raises UnaskableError for a question that no real controller can be asked.
        """


# --- brokers --------------------------------------------------------------------------------------


class ProcessBegun(msgspec.Struct, frozen=True, tag="begun"):
    """A process has the metadata up to its own registration, and plays its partitions from now on,
    with the logs that its disk has kept.
    """

    update: MetadataUpdate


class MetadataPlayed(msgspec.Struct, frozen=True, tag="played"):
    """More metadata; `told` are those of its partitions that are not what they were."""

    update: MetadataUpdate
    told: tuple[PartitionName, ...]


LeaderQuestion = (
    ProcessBegun
    | MetadataPlayed
    | FetchRequest
    | AlterPartitionResponse
    | turns.ProducedTurn
    | turns.ReplicatedTurn
    | turns.TruncatedTurn
    | turns.LagTurn
    | turns.RetryTurn
    | turns.LostTurn
)


class DecidingLeaders(Protocol):
    """Real brokers, or some whose answers were stored."""

    @property
    def turns(self) -> int:
        """How many turns they have taken."""

    def decide(
        self, broker: Broker, question: LeaderQuestion, cluster: Cluster
    ) -> ObservedBroker | None:
        """What is observed of a broker when that has happened to it, `broker` being what it was
        before; None where nobody is asked, and the engine's word is taken.

        Raises UnaskableError for what no real broker can be told.
        """


class RealNodes(NamedTuple):
    """A real controller and real brokers, or stored answers of theirs; None is the engine's."""

    deciding: DecidingKafka | None = None
    leading: DecidingLeaders | None = None

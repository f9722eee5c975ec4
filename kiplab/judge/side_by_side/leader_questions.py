"""What happens to a real broker in the course of a play, and what is seen of it then.

Requests, answers, and what a producer or a fetcher brings are the turns of generated runs. In a
play a process also begins, with what its disk has kept, and is told of some partitions only.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from ...engine.cluster import Cluster
from ...protocol.ids import PartitionName
from ...protocol.messages import AlterPartitionResponse, FetchRequest, MetadataUpdate
from ...protocol.replica.broker_state import Broker
from ..partition.broker_sight import BrokerSight
from ..partition.broker_turns import (
    LagTurn,
    LostTurn,
    ProducedTurn,
    ReplicatedTurn,
    RetryTurn,
    TruncatedTurn,
)


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
    | ProducedTurn
    | ReplicatedTurn
    | TruncatedTurn
    | LagTurn
    | RetryTurn
    | LostTurn
)


class DecidingLeaders(Protocol):
    """Real brokers, or what some have said before."""

    @property
    def turns(self) -> int:
        """How many turns they have taken."""

    def plays(self, broker: Broker, cluster: Cluster) -> bool:
        """Whether this broker is a real one."""

    def decide(
        self, broker: Broker, question: LeaderQuestion, cluster: Cluster
    ) -> BrokerSight | None:
        """What is seen of a broker when that has happened to it, `broker` being what it was before;
        None where nobody is asked, and the engine's word is taken.

        Raises UnaskableError for what no real broker can be told.
        """

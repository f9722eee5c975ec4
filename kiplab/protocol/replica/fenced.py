"""A broker that counts itself out: what it refuses, whoever asks (KIP-343, unbuilt).

In comes a request of a client or a follower. A broker that has not been told yet that it is active,
that was told it is not, or that has fenced itself because it could not reach the controller in
time, answers none of the requests that lead clients and followers on: produce, fetches, metadata,
and what asks for offsets. What the controller asks of it, it answers, and its heartbeats go on;
else it would never come back. The text names no error: it is NOT_LEADER_OR_FOLLOWER, at which
clients ask another broker who leads. What is under way when the fence goes up is completed. Out
goes a refusal, or None; nothing changes here. A process without a state of this kind, as in every
release, refuses nothing.
"""

from __future__ import annotations

from ..errors import KafkaError
from ..facts import Compared, Refused
from ..features import Features
from ..ids import BrokerId
from .broker_parts import Here, is_fenced
from .broker_state import Broker

METADATA = "metadata"


def fenced_refuses(here: Here, partition: str, request: str) -> Refused | None:
    """The same of one request about one partition, as a refusal.

    Source: none; KIP-343 as it is written.
    """
    if not here.fenced:
        return None
    return _refused(here.id, request, partition)


def refuses_metadata(broker: Broker, features: Features) -> Refused | None:
    """Why it does not tell a client who leads what.

    Source: none; KIP-343 as it is written.
    """
    return _refused(broker.id, METADATA, None) if is_fenced(broker, features) else None


def _refused(node: BrokerId, request: str, partition: str | None) -> Refused:
    # KIP-343, BrokerState Enum: INACTIVE is who should be fenced from the cluster.
    return Refused(
        node=node,
        request=request,
        error=KafkaError.NOT_LEADER_OR_FOLLOWER,
        guard="343.refuse-while-fenced",
        compared=(Compared("broker state", "active or stopping", "fenced"),),
        partition=partition,
    )

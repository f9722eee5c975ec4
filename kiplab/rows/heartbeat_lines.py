"""What a controller says to a heartbeat: what the broker asked for and was granted.

In come the request and the cluster before and after it. How the broker stood and how it stands now,
and whether it wants to shut down, choose the words; nothing is decided again here. Out goes the
text, and what the controller calls the change of the partitions that follows from it.
Source: BrokerHeartbeatManager.calculateNextBrokerState and
ReplicationControlManager.processBrokerHeartbeat, 3.2 to 4.3.
"""

from typing import NamedTuple

from ..engine.cluster import Cluster
from ..engine.truth import registration_of, sessions, truth
from ..protocol.ids import BrokerId
from ..protocol.messages import BrokerHeartbeatRequest
from ..protocol.releases import CodeVersion


class Granted(NamedTuple):
    """What is said of a broker's wish, and the name of what it does to partitions."""

    text: str
    context: str


_ASKED = "has requested and been granted"
_AT_ONCE = "an immediate shutdown."
_LET_GO = Granted(
    "The request from broker {id} to shut down has been granted since the lowest active offset … is"
    " now greater than the broker's controlled shutdown offset ….",
    "handleBrokerFenced",
)
_GRANTED = {
    ("fenced", "unfenced", False): Granted(
        "The request from broker {id} to unfence has been granted because it has caught up with the"
        " {caught_up}.",
        "handleBrokerUnfenced",
    ),
    ("fenced", "fenced", True): Granted(
        f"Fenced broker {{id}} {_ASKED} {_AT_ONCE}", "handleBrokerFenced"
    ),
    ("unfenced", "fenced", True): Granted(
        f"Unfenced broker {{id}} {_ASKED} {_AT_ONCE}", "handleBrokerFenced"
    ),
    ("unfenced", "fenced", False): Granted(
        f"Unfenced broker {{id}} {_ASKED} fencing", "handleBrokerFenced"
    ),
    ("unfenced", "leaving", True): Granted(
        f"Unfenced broker {{id}} {_ASKED} a controlled shutdown.", "enterControlledShutdown[{id}]"
    ),
    ("leaving", "fenced", True): _LET_GO,
    ("leaving", "fenced", False): _LET_GO,
}
"""By how the broker stood, how it stands now, and whether it wants to shut down. What is not here
leaves things as they are, and is said at DEBUG if at all.
"""


def granted(
    request: BrokerHeartbeatRequest, before: Cluster, after: Cluster, code: CodeVersion
) -> Granted | None:
    """What the controller says at INFO, in the words of `code`; None where it says nothing."""
    id = request.broker
    stood, stands = _standing(before, id), _standing(after, id)
    found = _GRANTED.get((stood, stands, request.want_shut_down))
    if found is None:
        return None
    text = found.text.format(id=id, caught_up=_caught_up_with(id, before, code))
    return Granted(text, found.context.format(id=id))


def _standing(cluster: Cluster, id: BrokerId) -> str:
    session = next((s for s in sessions(cluster) if s.broker == id), None)
    if session is None or session.fenced:
        return "fenced"
    return "leaving" if session.leaving else "unfenced"


def _caught_up_with(id: BrokerId, before: Cluster, code: CodeVersion) -> str:
    """KAFKA-13959 changed the condition in 3.3, and the words with it."""
    if code < (3, 3):
        return f"last committed metadata offset {truth(before).next_offset - 1}"
    found = registration_of(before, id)
    offset = found.record_offset if found is not None else "…"
    whose = "its" if code >= (3, 5) else "it's"
    return f"offset of {whose} register broker record {offset}"

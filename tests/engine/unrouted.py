"""What of the engine's tables lacks a request, a node, a move or a kind of guard, and why."""

from kiplab.engine import moves
from kiplab.engine.nodes import Clients
from kiplab.engine.route_kinds import NodeKind, never
from kiplab.protocol import messages
from kiplab.protocol.guards import GuardKind
from kiplab.protocol.kip343.heartbeat_controller import HeartbeatController
from kiplab.protocol.replica.broker_state import Broker
from kiplab.protocol.zookeeper.ensemble import Ensemble
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperController

_NEXT = "nothing is kept of the one under way: the next one is sent as if there had been none"
_RAW = "only a raw request makes it ask that"
_CONTROL = (
    messages.LeaderAndIsrRequest,
    messages.UpdateMetadataRequest,
    messages.StopReplicaRequest,
)
_SENT_AGAIN = "it stays at the head of its queue, and is sent again"
NOT_MISSED: dict[tuple[NodeKind, type], str] = {
    (Broker, messages.FetchRequest): _NEXT,
    (Broker, messages.BrokerRegistrationRequest): _NEXT,
    (Broker, messages.BrokerHeartbeatRequest): _NEXT,
    (Broker, messages.MetadataHeartbeatRequest): _NEXT,
    (Broker, messages.ElectLeadersRequest): _RAW,
    (Broker, messages.UnregisterBrokerRequest): _RAW,
    (Broker, messages.AssignReplicasToDirsRequest): (
        "it is sent with the next change of the partition, or by the next process"
    ),
    (Broker, messages.ControlledShutdownRequest): "the next try is one more `shut-down`",
    (Broker, messages.SetPartitionStateRequest): "the thread waits for as long as it takes",
    **never(Broker, _RAW, _CONTROL),
    (Clients, messages.ElectLeadersRequest): "whoever asked for the election asks again, or not",
    (Clients, messages.UnregisterBrokerRequest): "the operator asks again, or does not",
    (Clients, messages.AssignReplicasToDirsRequest): _RAW,
    (Clients, messages.ControlledShutdownRequest): _RAW,
    (Clients, messages.SetPartitionStateRequest): _RAW,
    (Clients, messages.MetadataHeartbeatRequest): _RAW,
    **never(Clients, _RAW, _CONTROL),
    **never(ZooKeeperController, _SENT_AGAIN, _CONTROL),
    **never(HeartbeatController, _SENT_AGAIN, _CONTROL),
}
"""Requests whose sender changes nothing when no answer will come."""
PLANS_NOTHING: dict[NodeKind, str] = {
    Broker: "its rules set its timers",
    Clients: "they have no timers",
    Ensemble: "it is written to",
    HeartbeatController: "it waits for heartbeats, and there is no clock",
    ZooKeeperController: "its events come from queues and watches, and there is no clock",
}
"""Kinds of nodes that plan nothing."""
NOT_OFFERED: dict[type, str] = {
    moves.Race: "which two meet is for people to say, or for a search that asks (bound races)",
    moves.Upgrade: "which release is for people to say",
    moves.UpgradeMetadata: "which metadata version is for people to say",
    moves.UpgradeElr: "whether the cluster has the feature is for people to say",
    moves.ConfigureBrokers: "how many replicas have to be in sync is for people to say",
    moves.DeleteTopic: "which topic nobody needs any more is for people to say",
    moves.RemoveDirectory: "which disk is taken away is for people to say",
    moves.RawRequest: "what a forger writes is for people to say",
}
"""Moves that no menu has."""
HARMLESS = {
    GuardKind.REFUSAL: "what is refused breaks nothing",
    GuardKind.RULE: "the promises are made of them",
    GuardKind.AS_SPECIFIED: "what a KIP wants keeps its promises",
    GuardKind.FEATURE: "with eligible leader replicas the promise asks for all of them",
}
"""Kinds of guards that void no promise while they are on."""
NO_BUTTON = dict.fromkeys(
    (timer for timer in moves.Timer if f"fire {timer}" not in moves.OFFERED),
    "rarely wanted in a lab: its line can be written into the play",
)
"""Timers that no button fires, and why."""

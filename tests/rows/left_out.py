"""What has no mark, tick, words or label of its own in rows and pictures, and why."""

from collections import ChainMap

from kiplab.engine import events
from kiplab.engine.cluster import Cluster, Observed, UncleanLeaderEpoch
from kiplab.protocol import facts, features, zookeeper_facts
from kiplab.protocol.kraft.controller_state import Controller, ControllerTimers
from kiplab.protocol.replica.broker_state import Broker, Durable, IsrState, Leading, Timers
from kiplab.protocol.zookeeper.ensemble import Ensemble
from kiplab.protocol.zookeeper.znodes import Stat
from kiplab.protocol.zookeeper.zookeeper_controller import ZooKeeperTimers
from kiplab.rows.columns import MarkKind

_BANDS = "a band, a strip or a tick changes there"
_AN_ARROW = "messages are arrows"
_A_TICK = "it is a tick on ZooKeeper's lane"
_ON_THE_AXIS = "a consumer has no lane: the axis tells it, and so does the transcript"
_NO_LANE = "a producer has no lane: the transcript tells it, and its answers have marks"


def by_type(names_by_reason: dict[str, str]) -> dict[type, str]:
    """The reason of each event, out of the names of the events by their reasons."""
    homes = [vars(module) for module in (facts, zookeeper_facts, events)]
    known = ChainMap(*homes)
    return {known[n]: reason for reason, names in names_by_reason.items() for n in names.split()}


UNMARKED = by_type(
    {
        "marked where it matters, by `_fetched`": "Fetched",
        _BANDS: "ElrChanged LastKnownLeaderChanged"
        " IsrProposed IsrChanged BrokerChanged BecameLeader BecameFollower Registered"
        " RecordWritten HighWatermarkMoved LeaderRecovery RecoveryStateChanged",
        "the axis tells it": "TransactionBegun TransactionEnded TopicConfigured"
        " TopicDeleted ReplicaDeleted",
        "no record goes with it": "EpochDropped",
        "each election has its own mark or band": "PeriodicElections",
        _ON_THE_AXIS: "PollFailed PositionValidated PositionReset PositionTruncated ConsumerRaised"
        " MetadataRefreshed ReplicaPreferred",
        _NO_LANE: "BatchQueued BatchWaits ProducerInformed",
        _A_TICK: "ZnodeChanged SessionOpened SessionEnded",
        "the controller's queue has a row where something waits in it": "RequestsQueued",
        _AN_ARROW: "Sent Delivered Dropped",
        "the transcript tells it, and what comes of it has marks": "BrokerDeclared",
        "the transcript tells it; what it refuses has marks": "BrokerStateChanged",
        "marked with the line of the play that lost its object": "NotApplicable",
    }
)
"""Events without a mark of their own, and why."""

PLAIN = by_type(
    {
        "it goes as the play or the protocol wants it": "Delivered Happened BrokerChanged"
        " LifecycleChanged BecameLeader BecameFollower LeaderRecovery TransactionBegun"
        " TransactionEnded Appended Fetched HighWatermarkMoved IsrProposed PeriodicElections"
        " EpochDropped Polled MetadataRefreshed PositionValidated ReplicaPreferred TopicConfigured"
        " TopicDeleted ReplicaDeleted BatchAcknowledged ProducerInformed ZnodeChanged SessionOpened"
        " SessionEnded RequestsQueued",
        "its sentence says what became of it": "IsrReverted IsrStuck PollFailed PositionTruncated"
        " PositionReset BatchQueued BatchWaits BatchRequeued ConsumerRaised BrokerDeclared"
        " BrokerStateChanged BrokersCompared ReplicaStopped ControllerStoodDown ShutdownTried",
    }
)
"""Events whose line in the transcript begins with a plain dot, and why."""

_LABELLED = "it happens on no broker's lane: the moment's label and its card say it"
_OF_THE_CONTROLLER = "it stands above the controller's line"
NOT_DRAWN: dict[MarkKind, str] = {
    "finding": "the row of findings has a flag there",
    "appended": "the end of the log moves there",
    "destroyed": "the broker is down from there on, with its records gone",
    "lost": "the strip of the committed records says so, from there on",
    "broken": "the verdict and the sentences name the property",
    "not applicable": _LABELLED,
    "happened": _LABELLED,
    "bounced": _OF_THE_CONTROLLER,
    "unchanged": _OF_THE_CONTROLLER,
    "compared": _OF_THE_CONTROLLER,
    "queue dropped": "the row of the queue says so where it ends",
    "elected": "a tile of the controller's lane begins there",
    "stopped fetching": "the band says so from there on",
}
"""Marks without a glyph or words on a lane, and why."""

_A_BRANCH = "the tree has a branch of its own for it, with words made there"
_ALL_BELOW = "its fields, below it, are all there is to say"
NOT_SHORT: dict[type, str] = {
    **dict.fromkeys((Cluster, Controller, Broker, features.Features, Ensemble), _A_BRANCH),
    **dict.fromkeys((Durable, Leading, IsrState, Observed, UncleanLeaderEpoch), _ALL_BELOW),
    **dict.fromkeys((Timers, ControllerTimers, ZooKeeperTimers, Stat), _ALL_BELOW),
}
"""Structs of the state that have no few words of their own, and why."""

UNSAID = by_type(
    {
        "the bands of the brokers begin or end there": "IsrChanged RecoveryStateChanged",
        "the strips of the partition begin or end there": "ElrChanged LastKnownLeaderChanged",
    }
)
"""What a record changed that its tick has no words for, and why."""
NOT_DONE = {"expect": "the runner judges it"}
"""Verbs without a deed, and why."""
AS_WRITTEN = {"hold": "nothing happens yet", "expect": "it asks, and does nothing"}
"""Verbs whose lines are their own label, and why."""

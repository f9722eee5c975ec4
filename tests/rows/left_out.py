"""What has no mark, tick, words or label of its own in rows and pictures, and why."""

from kiplab.engine.cluster import Cluster, Observed, UncleanLeaderEpoch
from kiplab.engine.events import Delivered, Dropped, Happened, NotApplicable, Sent
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
UNMARKED: dict[type, str] = {
    facts.Fetched: "marked where it matters, by `_fetched`",
    **dict.fromkeys((facts.IsrProposed, facts.IsrChanged, facts.BrokerChanged), _BANDS),
    **dict.fromkeys((facts.BecameLeader, facts.BecameFollower, facts.Registered), _BANDS),
    **dict.fromkeys((facts.RecordWritten, facts.HighWatermarkMoved), _BANDS),
    facts.LeaderRecovery: _BANDS,
    **dict.fromkeys((facts.TransactionBegun, facts.TransactionEnded), "the axis tells it"),
    facts.EpochDropped: "no record goes with it",
    facts.TopicConfigured: "the axis tells it",
    facts.PeriodicElections: "each election has its own mark or band",
    **dict.fromkeys((facts.PollFailed, facts.PositionValidated, facts.PositionReset), _ON_THE_AXIS),
    **dict.fromkeys((facts.PositionTruncated, facts.ConsumerRaised), _ON_THE_AXIS),
    **dict.fromkeys((facts.MetadataRefreshed, facts.ReplicaPreferred), _ON_THE_AXIS),
    **dict.fromkeys((facts.BatchQueued, facts.BatchWaits, facts.ProducerInformed), _NO_LANE),
    **dict.fromkeys(
        (zookeeper_facts.ZnodeChanged, zookeeper_facts.SessionOpened, zookeeper_facts.SessionEnded),
        _A_TICK,
    ),
    zookeeper_facts.RequestsQueued: "the controller's queue has a row where something waits in it",
    **dict.fromkeys((Sent, Delivered, Dropped), _AN_ARROW),
    zookeeper_facts.BrokerDeclared: "the transcript tells it, and what comes of it has marks",
    zookeeper_facts.BrokerStateChanged: "the transcript tells it; what it refuses has marks",
    NotApplicable: "marked with the line of the play that lost its object",
}
"""Events without a mark of their own, and why."""

_AS_WANTED = "it goes as the play or the protocol wants it"
_IN_WORDS = "its sentence says what became of it"
PLAIN: dict[type, str] = {
    **dict.fromkeys((Delivered, Happened), _AS_WANTED),
    **dict.fromkeys((facts.BrokerChanged, facts.LifecycleChanged), _AS_WANTED),
    **dict.fromkeys((facts.BecameLeader, facts.BecameFollower), _AS_WANTED),
    facts.LeaderRecovery: _AS_WANTED,
    **dict.fromkeys((facts.TransactionBegun, facts.TransactionEnded), _AS_WANTED),
    **dict.fromkeys((facts.Appended, facts.Fetched, facts.HighWatermarkMoved), _AS_WANTED),
    **dict.fromkeys((facts.IsrProposed, facts.PeriodicElections, facts.EpochDropped), _AS_WANTED),
    **dict.fromkeys((facts.Polled, facts.MetadataRefreshed, facts.PositionValidated), _AS_WANTED),
    **dict.fromkeys((facts.ReplicaPreferred, facts.TopicConfigured), _AS_WANTED),
    **dict.fromkeys((facts.IsrReverted, facts.IsrStuck, facts.PollFailed), _IN_WORDS),
    **dict.fromkeys((facts.PositionTruncated, facts.PositionReset), _IN_WORDS),
    **dict.fromkeys((facts.BatchQueued, facts.BatchWaits, facts.BatchRequeued), _IN_WORDS),
    **dict.fromkeys((facts.BatchAcknowledged, facts.ProducerInformed), _AS_WANTED),
    facts.ConsumerRaised: _IN_WORDS,
    **dict.fromkeys((zookeeper_facts.ZnodeChanged, zookeeper_facts.SessionOpened), _AS_WANTED),
    **dict.fromkeys((zookeeper_facts.SessionEnded, zookeeper_facts.RequestsQueued), _AS_WANTED),
    **dict.fromkeys(
        (zookeeper_facts.BrokerDeclared, zookeeper_facts.BrokerStateChanged), _IN_WORDS
    ),
    **dict.fromkeys((zookeeper_facts.BrokersCompared, zookeeper_facts.ReplicaStopped), _IN_WORDS),
    **dict.fromkeys(
        (zookeeper_facts.ControllerStoodDown, zookeeper_facts.ShutdownTried), _IN_WORDS
    ),
}
"""Events whose line in the transcript begins with a plain dot, and why."""

_LABELLED = "it happens on no broker's lane: the moment's label and its card say it"
_OF_THE_CONTROLLER = "it stands above the controller's line"
NOT_DRAWN: dict[MarkKind, str] = {
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

UNSAID: dict[type, str] = {facts.IsrChanged: "the bands of the brokers begin or end there"}
"""What a record changed that its tick has no words for, and why."""
AS_WRITTEN = {"hold": "nothing happens yet", "expect": "it asks, and does nothing"}
"""Verbs whose lines are their own label, and why."""

"""What an operator does not read here, and why: for every kind of event, error and change.

Either Kafka writes nothing, or it writes at a level that nobody keeps on, or its line is left out
for the reason given. A reason that quotes Kafka names who writes it and in which releases.
"""

from kiplab.engine import events
from kiplab.protocol import errors, facts, zookeeper_facts
from kiplab.protocol.replica.broker_state import Lifecycle
from tests.rows.left_out import by_type

_CLIENTS = "it is in a client's log and in no node's"
_ITS_OWN_FILE = (
    'Kafka writes "Leader ... starts at leader epoch ..." (Partition.makeLeader, 3.2 to 4.3) or'
    ' "Follower ..." (Partition.makeFollower, 3.2 to 4.3) at INFO; left out because it goes to'
    " state-change.log, a file of its own"
)
_NO_THREADS = (
    '; Kafka also writes "Removed fetcher for partitions ..." and "Added fetcher to broker ..." at'
    " INFO (AbstractFetcherManager.removeFetcherForPartitions and addPartitionsToFetcherThread, 3.2"
    " to 4.3); left out because there are no fetcher threads here"
)
_NOBODY = "no node knows it"
UNLOGGED: dict[type, str] = {
    facts.NotProposed: (
        "a leader passes a follower over without a word (Partition.isReplicaIsrEligible, 3.3 to"
        " 4.3, which from 3.6 on warns of replicas of a deleted topic alone)"
    ),
    facts.IsrProposed: (
        'Kafka writes "Shrinking ISR from ... to ..." at INFO (Partition.maybeShrinkIsr, 3.2 to'
        " 4.3); left out because it ends with the log ends of the replicas, which the fact has not"
        ' got. Of an ISR that grows it only writes "Submitting ISR state change ..." at DEBUG'
        " (Partition.submitAlterPartition, 3.2 to 4.3)"
    ),
    facts.RecordWritten: (
        "Kafka writes every record of a broker at INFO (ClusterControlManager.replay, 3.6 to 4.3:"
        ' "Replayed ..."; 3.2 to 3.5: "Registered new broker: ..." or "Re-registered ...", and of'
        ' fences in 3.2 alone "Fenced broker: ..." and "Unfenced broker: ..."), before it from 3.7'
        ' on "Amending registration ..." and from 3.9 on "Registering a new incarnation ..."'
        " (ClusterControlManager.registerBroker, 3.7 to 4.3), and records of a partition at TRACE,"
        " from 3.6 on at DEBUG (ReplicationControlManager.replay, 3.2 to 4.3); left out because the"
        " whole record is in it, and it is shown as a tick"
    ),
    facts.LeaderElected: (
        'Kafka writes "UNCLEAN partition change for ..." at INFO, and at DEBUG without the first'
        " word for a clean election (PartitionRegistration.maybeLogPartitionChange, 3.2 to 4.3);"
        " left out because it repeats every field that the record changed"
    ),
    facts.Destroyed: "who dies writes nothing",
    facts.BecameLeader: _ITS_OWN_FILE,
    facts.BecameFollower: _ITS_OWN_FILE + _NO_THREADS,
    facts.LeaderRecovery: (
        'no Kafka recovers, so none says so; Kafka only writes "The topic partition ... was marked'
        ' as RECOVERING. Marking the topic partition as RECOVERED." at INFO (Partition.makeLeader,'
        " 3.3 to 3.9), and does"
    ),
    facts.Fetched: (
        'Kafka writes "Recorded replica ..." at DEBUG (Partition.updateFollowerFetchState, 3.2 to'
        " 4.3); left out as routine"
    ),
    facts.Appended: (
        'Kafka writes "Appended message set ..." at TRACE (UnifiedLog.append, 3.2 to 4.3); left out'
        " as routine"
    ),
    **dict.fromkeys(
        (facts.TransactionBegun, facts.TransactionEnded),
        "a leader writes nothing of it; coordinators do, and there are none here",
    ),
    facts.HighWatermarkMoved: (
        'Kafka writes "High watermark updated ..." at DEBUG (Partition.maybeIncrementLeaderHW, 3.2'
        " to 4.3); left out as routine"
    ),
    **by_type(
        {
            _CLIENTS: "Polled PollFailed PositionValidated PositionTruncated PositionReset"
            " ConsumerRaised MetadataRefreshed BatchQueued BatchWaits BatchAcknowledged"
            " BatchRequeued BatchFailed ProducerInformed ReplicaPreferred",
            _NOBODY: "Happened NotApplicable CommittedLost PropertyBroken",
        }
    ),
    events.Sent: (
        'Kafka writes "Sending fetch request ..." at TRACE'
        " (AbstractFetcherThread.processFetchRequest, 3.2 to 4.3), and the other requests at DEBUG"
        " or TRACE too (BrokerLifecycleManager.sendBrokerHeartbeat and sendBrokerRegistration, 3.2"
        " to 4.3; DefaultAlterPartitionManager.sendRequest, 3.3 to 4.3, DefaultAlterIsrManager"
        " before); left out as routine"
    ),
    events.Dropped: (
        'Kafka writes "Disconnecting from node ... due to request timeout." at INFO'
        " (NetworkClient.handleTimedOutRequests, 3.2 to 4.3) and a fetcher whose connection broke"
        ' "Error in response for fetch request ..." at WARN'
        " (AbstractFetcherThread.processFetchRequest, 3.2 to 4.3); left out because there are"
        " messages here, and no connections"
    ),
    zookeeper_facts.RequestsQueued: (
        'Kafka writes "Sending LeaderAndIsr request to broker ..." and its siblings at INFO'
        " (AbstractControllerBrokerRequestBatch.sendLeaderAndIsrRequest, zk-2.6 to zk-3.4), before"
        " that at TRACE and one line for each partition; left out because it goes to"
        " state-change.log, a file of its own"
    ),
    zookeeper_facts.QueueDropped: (
        "nobody says what was in the queue; its thread writes that it stops, as it does with"
        " nothing in it"
    ),
    zookeeper_facts.ReplicaStopped: (
        'Kafka writes "Removed fetcher for partitions ..." at INFO'
        " (AbstractFetcherManager.removeFetcherForPartitions, zk-2.1 to zk-3.4); left out because"
        " there are no fetcher threads here"
    ),
    **dict.fromkeys(
        (zookeeper_facts.BrokerDeclared, zookeeper_facts.BrokerStateChanged),
        "KIP-343 was never built, so there is no line to quote",
    ),
    zookeeper_facts.CheckpointLost: "nobody compares the file with the one before it",
}
"""Events that no operator reads of here, and why."""
UNLOGGED_CHANGES = {
    **dict.fromkeys(
        (facts.BrokerChange.REGISTERED, facts.BrokerChange.UNREGISTERED),
        "what the controller writes is the record itself: RecordWritten, in UNLOGGED",
    ),
    **dict.fromkeys(
        (facts.BrokerChange.UNFENCED, facts.BrokerChange.SHUTTING_DOWN),
        "the controller says it of the heartbeat that asked for it: controller_log.py",
    ),
}
"""What may become of a registration without a line of the controller, and why."""
UNLOGGED_FETCH_ERRORS = {
    errors.KafkaError.FENCED_LEADER_EPOCH: "its words depend on who moved on: `_fenced` says them",
    errors.KafkaError.OFFSET_OUT_OF_RANGE: (
        'Kafka writes "Reset fetch offset for partition ..." at WARN'
        ' (AbstractFetcherThread.fetchOffsetAndTruncate, 3.2 to 4.3) and "Current offset ... is out'
        ' of range ..." at INFO (AbstractFetcherThread.handleOutOfRangeError, 3.2 to 4.3); left out'
        " because both speak of a ListOffsets answer that is no message here, and the truncation"
        " has a line of its own"
    ),
    errors.KafkaError.UNKNOWN_TOPIC_OR_PARTITION: (
        'Kafka writes "Received UNKNOWN_TOPIC_OR_PARTITION from the leader ..." at WARN'
        " (AbstractFetcherThread.processFetchRequest, 3.2 to 4.3); left out because no partition is"
        " created or deleted here"
    ),
}
"""Errors of a fetch without an entry of `_FETCH_ERRORS`, and why."""
UNLOGGED_WAITING = {
    errors.KafkaError.NEW_LEADER_ELECTED: (
        'Kafka writes "The alter partition request successfully updated the partition state to ..."'
        " at DEBUG (Partition.handleAlterPartitionError, 3.3 to 4.3); left out because the state"
        " that it names is not kept"
    )
}
"""Errors at which a leader waits without a line, and why."""
UNLOGGED_LIFE = {
    Lifecycle.STARTING: "a log begins with the process: there is nothing to say yet",
}
"""States of a process that none of its lines is about, and why."""

"""Kafka's words for the fields of the state, and the fields that a reader is spared, and why.

A field is named ``"Struct.field"``. One that no table here names is shown under its own name.
"""

LABELS = {
    "adding": "adding replicas",
    "isr": "ISR",
    "last_contact_ms": "last contact (ms)",
    "min_insync_replicas": "min.insync.replicas",
    "recovery": "leader recovery state",
    "registrations": "broker registrations",
    "removing": "removing replicas",
    "Controller.epoch": "controller epoch",
    "Controller.next_offset": "next metadata offset",
    "Controller.heartbeats": "broker heartbeats",
    "Controller.contacts": "contacts under a broker epoch",
    "Controller.checks_from_ms": "checks for silent brokers from (ms)",
    "Controller.active_since_ms": "active since (ms)",
    "Contact.epoch": "broker epoch",
    "Registration.epoch": "broker epoch",
    "Registration.record_offset": "offset of its RegisterBrokerRecord",
    "HeartbeatState.metadata_offset": "metadata offset it reported",
    "DurableReplica.checkpoint": "checkpointed high watermark",
    "Log.end": "log end offset (LEO)",
    "Log.epochs": "leader-epoch cache",
    "Log.flushed": "flushed up to",
    "Log.start": "log start offset",
    "Volatile.lifecycle": "broker state",
    "Volatile.epoch": "broker epoch",
    "Volatile.ready_to_unfence": "wants to be unfenced",
    "Volatile.image": "metadata image",
    "Volatile.published": "metadata published up to its own registration",
    "Volatile.replicas": "replicas it plays",
    "Volatile.items": "pending AlterPartition",
    "Volatile.in_flight": "AlterPartition on its way",
    "Volatile.controller": "controller it believes in",
    "Volatile.controller_epoch": "highest controller epoch it has received",
    "Volatile.control_plane": "controller on it",
    "Volatile.session": "session with ZooKeeper",
    "Volatile.checkpoints": "checkpoints high watermarks",
    "Volatile.stopped": "partitions it does not fetch",
    "Volatile.shutdown_tries": "tries at a controlled shutdown",
    "Volatile.isr_changes": "ISR changes not announced yet",
    "Replica.leader": "leader it believes in",
    "Leading.start_offset": "leader-epoch start offset",
    "Leading.controller_epoch": "controller epoch that made it leader",
    "Leading.remotes": "followers as it sees them",
    "IsrState.isr": "committed ISR",
    "IsrState.sent": "pending ISR change",
    "RemoteReplica.end": "log end offset (LEO)",
    "RemoteReplica.leader_end_at_last_fetch": "leader's LEO at its last fetch",
    "RemoteReplica.epoch": "broker epoch of its last fetch",
    "RemoteReplica.observed": "incarnation that fetched",
    "RemoteReplica.last_fetch_ms": "last fetch (ms)",
    "RemoteReplica.last_caught_up_ms": "last caught up (ms)",
    "AlterPartitionItem.isr": "proposed ISR",
    "IsrMember.epoch": "broker epoch",
    "IsrMember.observed": "incarnation that caught up",
    "MetadataUpdate.offset": "last metadata offset",
    "FetchRequest.replica_epoch": "broker epoch",
    "FetchRequest.leader_epoch": "current leader epoch",
    "FetchResponse.diverging": "logs diverge at",
    "Message.request": "answers",
    "Observed.isr_epochs": "incarnations that caught up into the ISR",
    "Observed.damaged": "ISR members that died without the committed records",
    "Observed.excused": "durability no longer promised",
    "Observed.unclean_epoch": "since the last unclean election",
    "UncleanLeaderEpoch.epoch": "leader epoch",
    "UncleanLeaderEpoch.consumed": "read by consumers while RECOVERING",
    "Consumer.position": "next offset",
    "Consumer.last_epoch": "leader epoch of the last record it read",
    "Consumer.leader": "leader it believes in",
    "Consumer.reset": "auto.offset.reset",
    "Consumer.validating": "position in doubt",
    "Consumer.nearest": "replica nearest to it",
    "Consumer.preferred": "replica that it was sent to",
    "Consumer.observed": "what it has read",
    "Producer.leader": "leader it believes in",
    "Producer.batches": "batches not acknowledged",
    "Producer.batch_count": "batches so far",
    "Producer.observed": "what acks=all has acknowledged",
    "Batch.count": "records",
    "Batch.acks_all": "acks=all",
    "Batch.created_ms": "made at (ms)",
    "Batch.due_ms": "waits until (ms)",
    "Batch.at": "waits for an answer of",
    "Ensemble.zxid": "last transaction (zxid)",
    "Znode.children_created": "sequential children so far",
    "TopicConfigZnode.unclean_leader_election": "unclean.leader.election.enable",
    "Stat.ephemeral_owner": "ephemeral, of session",
    "ZooKeeperController.epoch": "controller epoch",
    "ZooKeeperController.epoch_version": "version of /controller_epoch",
    "ZooKeeperController.live": "live brokers it knows",
    "ZooKeeperController.channels": "queues for brokers",
    "ZooKeeperController.offline": "partitions without a leader",
    "LiveBroker.epoch": "broker epoch",
    "Cluster.now_ms": "time (ms)",
    "Cluster.cut": "cut links",
    "Cluster.broken": "broken properties",
    "Cluster.forged": "a raw request was sent",
    "Cluster.inherited": "an upgrade inherits from older rules",
}
"""What a field is called, where Kafka says it otherwise than the struct: in one, or in all."""

NOTES = {
    "observed": "no node knows this",
    "Controller.heartbeats": "only the active controller knows them",
    "Controller.contacts": "a broker seen under its epoch has a session",
    "Broker.durable": "survives a crash",
    "Broker.process": "gone with a crash",
    "Volatile.image": "what it believes; it may be late",
    "Volatile.control_plane": "only one of them is the controller",
    "ZooKeeperController.live": "a cache: ZooKeeper may have newer values",
    "ZooKeeperController.partitions": "a cache: ZooKeeper may have newer values",
}
"""A note on a field besides its value."""

LEFT_OUT = {
    "Cluster.sent": "counts that only give the next message its name",
    "Features.release": "shown as the release of each node",
    "Features.nodes": "shown as the release of each node",
    "Features.overrides": "the switches above the panel show them",
    "Cluster.timed": "a run with a clock shows its time, one without has none",
    "Znode.partition": "in the path",
    "BrokerZnode.incarnation": "stands for host and port",
    "Ensemble.last_sessions": "counts that only give the next session its id",
    "ZooKeeperController.broker": "it is on this broker",
    "ZooKeeperController.session": "the session of its process",
    "ZooKeeperController.timers": "it has none",
    "ZooKeeperSession.last_contact_ms": "no run with ZooKeeper has a clock",
    "SetPartitionStateResponse.error": "the thread that asked waits: it is never on its way",
    "SetPartitionStateResponse.partition": "the thread that asked waits: it is never on its way",
    "SetPartitionStateResponse.partition_epoch": "the thread that asked waits for it",
    "TextZnode.text": "only comparisons with a real ZooKeeper write such znodes",
    "Message.receiver": "in the message's own line",
    "Message.receiver_incarnation": "a message to an earlier incarnation never arrives",
}
"""Fields that are not shown, and why."""


def _places(text: str) -> frozenset[str]:
    return frozenset(text.split())


OF_OTHER_MODES = _places("""
    Controller.contacts Controller.checks_from_ms Controller.active_since_ms
    Volatile.controller Volatile.controller_epoch Volatile.control_plane Volatile.session
    Volatile.state Volatile.checkpoints Volatile.stopped Volatile.shutdown_tries
    Volatile.isr_changes Leading.controller_epoch Znode.children_created Stat.ephemeral_owner
    ReplicaAssignment.adding ReplicaAssignment.removing
    ZooKeeperController.epoch_version ZooKeeperController.epoch ZooKeeperController.live
    ZooKeeperController.shutting_down ZooKeeperController.channels
    ZooKeeperController.partitions ZooKeeperController.offline
    Log.start Consumer.nearest Consumer.preferred FetchResponse.log_start_offset
""")
"""Fields that say something in some modes or releases only, once records were deleted, or of a
consumer that is near a follower: not shown while they hold their default.
"""

CLOCKED = _places("""
    Cluster.now_ms Batch.created_ms Batch.due_ms Contact.last_contact_ms
    Controller.active_since_ms Controller.checks_from_ms Controller.timers Volatile.timers
    HeartbeatState.last_contact_ms RemoteReplica.last_fetch_ms RemoteReplica.last_caught_up_ms
""")
"""Shown only in a run with a clock: 0 without one."""

INLINE = _places("""
    Durable.replicas DurableReplica.log Replica.leading Leading.isr_state Znode.data Znode.stat
    BrokerChannel.queue
""")
"""Their content is shown one level up."""

IDENTITY = dict(
    place.split(".")
    for place in _places("""
    Registration.broker PartitionRegistration.name HeartbeatState.broker Contact.broker
    DurableReplica.partition RemoteReplica.broker Replica.partition Broker.id
    AlterPartitionItem.partition AlterPartitionResult.partition IsrMember.broker
    Observed.partition Message.name Consumer.name Producer.name Batch.number Znode.path
    ZooKeeperSession.id Watch.path LiveBroker.broker BrokerChannel.broker
    ReplicaAssignment.partition
""")
)
"""The field that names one of many: it becomes the row's label, and has no row of its own.

A struct that is not listed is named by its first field.
"""

NOTHING = {
    "Broker.process": "down",
    "Volatile.image": "none yet",
    "Volatile.controller": "none yet",
    "RemoteReplica.epoch": "has not fetched yet",
}
"""The meaning of None."""

"""Kafka's words for the fields of the state, and which fields a reader is spared, and why.

A field is named ``"Struct.field"``. One that no table here names is shown under its own name.
"""

from __future__ import annotations

from ..protocol.ids import CONTROLLER, NO_LEADER

LABELS = {
    "Controller.epoch": "controller epoch",
    "Controller.next_offset": "next metadata offset",
    "Controller.registrations": "broker registrations",
    "Controller.heartbeats": "broker heartbeats",
    "Controller.contacts": "contacts under a broker epoch",
    "Controller.checks_from_ms": "looks for silent brokers from (ms)",
    "Controller.active_since_ms": "active since (ms)",
    "Contact.epoch": "broker epoch",
    "Contact.last_contact_ms": "last contact (ms)",
    "Features.metadata_version": "metadata version",
    "Registration.epoch": "broker epoch",
    "Registration.record_offset": "offset of its RegisterBrokerRecord",
    "PartitionRegistration.isr": "ISR",
    "PartitionRegistration.recovery": "leader recovery state",
    "PartitionRegistration.adding": "adding replicas",
    "PartitionRegistration.removing": "removing replicas",
    "PartitionRegistration.min_insync_replicas": "min.insync.replicas",
    "HeartbeatState.last_contact_ms": "last contact (ms)",
    "HeartbeatState.metadata_offset": "metadata offset it reported",
    "DurableReplica.checkpoint": "checkpointed high watermark",
    "Log.end": "log end offset (LEO)",
    "Log.epochs": "leader-epoch cache",
    "Log.flushed": "flushed up to",
    "Log.start": "log start offset",
    "Broker.durable": "durable",
    "Broker.process": "process",
    "Volatile.lifecycle": "broker state",
    "Volatile.epoch": "broker epoch",
    "Volatile.ready_to_unfence": "wants to be unfenced",
    "Volatile.image": "metadata image",
    "Volatile.published": "metadata published up to its own registration",
    "Volatile.replicas": "replicas it plays",
    "Volatile.items": "pending AlterPartition",
    "Volatile.in_flight": "AlterPartition on its way",
    "Replica.leader": "leader it believes in",
    "Replica.min_insync_replicas": "min.insync.replicas",
    "Leading.start_offset": "leader-epoch start offset",
    "Leading.remotes": "followers as it sees them",
    "IsrState.isr": "committed ISR",
    "IsrState.sent": "pending ISR change",
    "IsrState.recovery": "leader recovery state",
    "RemoteReplica.end": "log end offset (LEO)",
    "RemoteReplica.leader_end_at_last_fetch": "leader's LEO at its last fetch",
    "RemoteReplica.epoch": "broker epoch of its last fetch",
    "RemoteReplica.observed": "life that fetched",
    "RemoteReplica.last_fetch_ms": "last fetch (ms)",
    "RemoteReplica.last_caught_up_ms": "last caught up (ms)",
    "AlterPartitionItem.isr": "proposed ISR",
    "AlterPartitionItem.recovery": "leader recovery state",
    "AlterPartitionResult.isr": "ISR",
    "AlterPartitionResult.recovery": "leader recovery state",
    "IsrMember.epoch": "broker epoch",
    "IsrMember.observed": "life that caught up",
    "MetadataUpdate.registrations": "broker registrations",
    "MetadataUpdate.offset": "last metadata offset",
    "FetchRequest.replica_epoch": "broker epoch",
    "FetchRequest.leader_epoch": "current leader epoch",
    "FetchResponse.diverging": "logs part at",
    "Message.body": "body",
    "Message.request": "answers",
    "Observed.committed": "committed",
    "Observed.isr_epochs": "lives that caught up into the ISR",
    "Observed.damaged": "ISR members that died without the committed records",
    "Observed.excused": "durability no longer promised",
    "Observed.reign": "since the last unclean election",
    "UncleanReign.epoch": "leader epoch",
    "UncleanReign.given": "given to consumers while RECOVERING",
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
    "Producer.made": "batches so far",
    "Producer.observed": "what acks=all has acknowledged",
    "Batch.count": "records",
    "Batch.acks_all": "acks=all",
    "Batch.created_ms": "made at (ms)",
    "Batch.due_ms": "waits until (ms)",
    "Batch.at": "waits for an answer of",
    "Cluster.now_ms": "time (ms)",
    "Cluster.cut": "cut links",
    "Cluster.broken": "broken properties",
    "Cluster.forged": "a raw request was sent",
    "Cluster.inherited": "an upgrade inherits from older rules",
}
"""What a field is called, where Kafka says it otherwise than the struct."""

NOTES = {
    "Controller.heartbeats": "only the sitting controller knows them",
    "Controller.contacts": "who was heard of under its epoch has a session",
    "Broker.durable": "survives a crash",
    "Broker.process": "gone with a crash",
    "Volatile.image": "what it believes; it may be late",
    "RemoteReplica.observed": "no node knows this",
    "IsrMember.observed": "no node knows this",
    "Consumer.observed": "no node knows this",
    "Producer.observed": "no node knows this",
}
"""What to know of a field besides its value."""

LEFT_OUT = {
    "Cluster.sent": "counts that only give the next message its name",
    "Features.release": "shown as the release of each node",
    "Features.nodes": "shown as the release of each node",
    "Features.overrides": "the switches above the panel show them",
    "Cluster.timed": "a run with a clock shows its time, one without has none",
    "Message.receiver": "in the message's own line",
    "Message.receiver_incarnation": "a message to a life that is over never arrives anyway",
}
"""Fields that are not shown, and why."""

OF_OTHER_MODES = {
    "Controller.contacts": (),
    "Controller.checks_from_ms": 0,
    "Controller.active_since_ms": 0,
    "Volatile.controller": CONTROLLER,
    "Volatile.controller_epoch": None,
    "Volatile.control_plane": None,
    "Log.start": 0,
    "Consumer.nearest": NO_LEADER,
    "Consumer.preferred": NO_LEADER,
    "FetchResponse.log_start_offset": 0,
}
"""Fields that say something in some modes or releases only, once records were deleted, or of a
consumer that is near a follower, and what they hold otherwise: not shown.
"""

CLOCKED = {
    "Cluster.now_ms",
    "Batch.created_ms",
    "Batch.due_ms",
    "Contact.last_contact_ms",
    "Controller.active_since_ms",
    "Controller.checks_from_ms",
    "Controller.timers",
    "Volatile.timers",
    "HeartbeatState.last_contact_ms",
    "RemoteReplica.last_fetch_ms",
    "RemoteReplica.last_caught_up_ms",
}
"""Shown only in a run with a clock: 0 without one."""

INLINE = {
    "Durable.replicas",
    "DurableReplica.log",
    "Replica.leading",
    "Leading.isr_state",
}
"""Their content is shown one level up."""

IDENTITY = {
    "Registration": "broker",
    "PartitionRegistration": "name",
    "HeartbeatState": "broker",
    "Contact": "broker",
    "DurableReplica": "partition",
    "RemoteReplica": "broker",
    "Replica": "partition",
    "Broker": "id",
    "AlterPartitionItem": "partition",
    "AlterPartitionResult": "partition",
    "IsrMember": "broker",
    "Observed": "partition",
    "Message": "name",
    "Consumer": "name",
    "Producer": "name",
    "Batch": "number",
}
"""The field that names one of many: it becomes the row's label, and has no row of its own.

A struct that is not listed is named by its first field.
"""

NOTHING = {
    "Broker.process": "down",
    "Volatile.image": "none yet",
    "IsrState.sent": "none",
    "RemoteReplica.epoch": "has not fetched yet",
}
"""What None means."""

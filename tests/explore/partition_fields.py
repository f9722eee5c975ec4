"""What becomes of every field of a cluster in the normal form of the level "partition".

A field is part of a state, or the same throughout a search, or told from other fields. What is none
of these would let a search prove falsehoods: tests/explore/test_partition_fields.py holds these
tables to the structs themselves. A field of the first kind also needs a place in
`normal_partition.py` and, both ways, in `compiled/packing.py`.
"""

from collections.abc import Mapping

from kiplab.engine.cluster import Cluster, Message, MessageName, Observed
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState
from kiplab.protocol.log import EpochStart, Log
from kiplab.protocol.messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    IsrMember,
    MetadataUpdate,
)
from kiplab.protocol.registrations import PartitionRegistration, Registration
from kiplab.protocol.replica.broker_state import (
    Broker,
    Durable,
    DurableReplica,
    IsrState,
    Leading,
    RemoteReplica,
    Replica,
    Volatile,
)

IN_STATE: Mapping[type, tuple[str, ...]] = {
    Cluster: ("controller", "brokers", "messages", "observed"),
    Controller: ("registrations", "partitions", "heartbeats"),
    HeartbeatState: ("broker", "fenced"),
    Registration: ("broker", "epoch", "incarnation", "fenced"),
    PartitionRegistration: ("isr", "leader", "leader_epoch", "partition_epoch"),
    Broker: ("id", "incarnation", "durable", "process"),
    Durable: ("replicas",),
    DurableReplica: ("log", "checkpoint"),
    Log: ("epochs", "end"),
    EpochStart: ("epoch", "offset"),
    Volatile: ("epoch", "image", "replicas", "items", "in_flight"),
    MetadataUpdate: ("registrations", "partitions"),
    Replica: ("leader", "leader_epoch", "partition_epoch", "high_watermark", "leading"),
    Leading: ("start_offset", "isr_state", "remotes"),
    IsrState: ("isr", "sent"),
    RemoteReplica: ("broker", "end", "epoch", "observed"),
    AlterPartitionItem: ("leader_epoch", "partition_epoch", "isr"),
    IsrMember: ("broker", "epoch", "observed"),
    Message: ("name", "receiver", "receiver_incarnation", "body"),
    MessageName: ("sender", "incarnation", "kind"),
    AlterPartitionRequest: ("broker", "broker_epoch", "items"),
    Observed: ("committed", "isr_epochs", "damaged", "excused"),
}
"""Fields that make one state another one."""

_ONE_PARTITION = "There is one partition."
_NO_CLOCK = "The level has no clock."
_NO_UNCLEAN = "The level has no unclean election."
_NO_REASSIGNMENT = "The level refuses plays with a reassignment, and has no action for one."
_NO_SHUTDOWN = "The level refuses plays with a controlled shutdown, and has no action for one."
_NO_ZOOKEEPER = "The level is of KRaft."
CONSTANT: Mapping[type, Mapping[str, str]] = {
    Cluster: {
        "features": "No action switches a guard or a release.",
        "cut": "No action cuts or heals a link.",
        "timed": _NO_CLOCK,
        "now_ms": _NO_CLOCK,
        "forged": "No action is a raw request.",
        "inherited": "No action is an upgrade.",
        "consumers": "Who reads is no part of the level.",
        "producers": "Who writes, and waits for an answer, is no part of the level.",
    },
    Controller: {
        "epoch": "There is one controller, and it never fails.",
        "timers": _NO_CLOCK,
        "watches_sessions": _NO_CLOCK,
        "auto_leader_rebalance": "Only a clock lets the controller look for better leaders.",
        "checks_from_ms": _NO_CLOCK,
        "active_since_ms": _NO_CLOCK,
    },
    HeartbeatState: {
        "last_contact_ms": _NO_CLOCK,
        "controlled_shutdown_offset": _NO_SHUTDOWN,
    },
    Registration: {"in_controlled_shutdown": _NO_SHUTDOWN},
    PartitionRegistration: {
        "name": _ONE_PARTITION,
        "replicas": _NO_REASSIGNMENT,
        "recovery": _NO_UNCLEAN,
        "adding": _NO_REASSIGNMENT,
        "removing": _NO_REASSIGNMENT,
        "min_insync_replicas": "No action changes a topic's settings.",
        "unclean_leader_election": "No action changes a topic's settings.",
    },
    DurableReplica: {"partition": _ONE_PARTITION},
    Log: {
        "start": "No action deletes records, and no play begins with a log that lacks some.",
        "transactions": "No action writes in a transaction, and no play begins with one.",
    },
    Volatile: {
        "timers": _NO_CLOCK,
        "controller": "In KRaft it has one address.",
        "controller_epoch": "In KRaft no broker has one.",
        "control_plane": "In KRaft no broker has one.",
        "session": _NO_ZOOKEEPER,
        "checkpoints": "In KRaft the task runs from the start.",
        "stopped": _NO_ZOOKEEPER,
        "shutdown_tries": _NO_ZOOKEEPER,
        "isr_changes": _NO_ZOOKEEPER,
        "state": "KIP-343's heartbeats need ZooKeeper.",
    },
    Leading: {"controller_epoch": _NO_ZOOKEEPER},
    IsrState: {"recovery": _NO_UNCLEAN},
    Replica: {
        "partition": _ONE_PARTITION,
        "replicas": _NO_REASSIGNMENT,
        "min_insync_replicas": "No action changes a topic's settings.",
    },
    RemoteReplica: {"last_fetch_ms": _NO_CLOCK, "last_caught_up_ms": _NO_CLOCK},
    AlterPartitionItem: {"partition": _ONE_PARTITION, "recovery": _NO_UNCLEAN},
    AlterPartitionRequest: {"version": "No action switches a release."},
    Message: {"request": "Only replies have one, and every reply flows at once."},
    Observed: {"partition": _ONE_PARTITION, "unclean_epoch": _NO_UNCLEAN},
}
"""Fields that have the same value in everything that a search meets."""

TOLD_FROM_OTHERS: Mapping[type, Mapping[str, str]] = {
    Cluster: {
        "broken": "What broke before makes no difference to what can happen.",
        "sent": "Counters for names: worked out of the messages in flight.",
    },
    Controller: {
        "next_offset": "Broker epochs only have to be new; they become numbers of lives.",
        "write_offset": "As next_offset: after a fail-over it decides which new number comes next.",
        "contacts": (
            "Whoever is unfenced: the first heartbeat of a life is the one that unfences it."
        ),
    },
    HeartbeatState: {
        "metadata_offset": "No action reads it: an unfencing broker brings its own.",
        "target_offset": "A broker that has seen its registration is beyond it.",
    },
    Registration: {"record_offset": "It is the broker epoch, or right behind that."},
    Log: {"flushed": "A crash takes the whole disk."},
    Volatile: {
        "lifecycle": "A process of a state is registered, and recovers when it is unfenced.",
        "ready_to_unfence": "As lifecycle.",
        "published": "A start ends with the image that has the registration.",
    },
    MetadataUpdate: {"offset": "Whether an image is under way is told from what it would change."},
    RemoteReplica: {"leader_end_at_last_fetch": "Only a run with a clock asks for it."},
    Message: {"lane": "It depends on the kind.", "connection": "No request times out."},
    MessageName: {"ordinal": "There is one request of each life, and one image to each broker."},
}
"""Fields that a normal form leaves out or sets anew."""

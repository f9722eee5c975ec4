"""Kafka's words for the fields of the state, and the fields that a reader is spared, and why.

A field is named ``"Struct.field"``. One that no table here names is shown under its own name.
"""

import tomllib
from importlib.resources import files

_WORDS = tomllib.loads((files(__package__) / "state_words.toml").read_text("utf-8"))
LABELS, NOTES, LEFT_OUT, NOTHING = (
    dict[str, str](_WORDS[table]) for table in ("labels", "notes", "left_out", "nothing")
)
"""What fields are called, notes on them, those that are not shown and why, the meaning of None."""


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

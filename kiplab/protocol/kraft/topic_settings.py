"""The settings of topics: unclean.leader.election.enable and min.insync.replicas.

The input is a change of a topic's setting, or of the cluster-level min.insync.replicas, which is
every topic's that has none of its own (IncrementalAlterConfigs); or the feature
eligible.leader.replicas.version at another level (UpdateFeatures). The output is the record, the
new metadata for every broker, and a fact that says whether this controller reads the setting at
all. A setting elects no leader: a partition without one waits for an unfenced broker, or for the
controller's check of leaderless partitions, within 300 s. With eligible leader replicas (KIP-966) a
new min.insync.replicas clears them, and the cluster has an entry: switching the feature on writes
one from the controller's properties. It changes no partition's ELR; and switching it off changes no
partition at all.
"""

from ..facts import TopicConfigured
from ..features import Features
from ..ids import CONTROLLER, Count
from .controller_state import Controller
from .elections import has_unclean_elections
from .records import ClearElrRecord, ConfigRecord, Record
from .replay import CLUSTER, MIN_INSYNC, UNCLEAN, ControllerEffect, commit, finalize


def configure(
    controller: Controller,
    topic: str,
    unclean_leader_election: bool | None,
    min_insync_replicas: Count | None,
    features: Features,
) -> ControllerEffect:
    """Change the setting of the two that is given.

    Source: ConfigurationControlManager.incrementalAlterConfigs (3.2.0 to 3.9.0-rc3, 4.3.1).
    """
    if min_insync_replicas is not None:
        return set_min_insync_replicas(controller, topic, min_insync_replicas, features)
    return allow_unclean_elections(
        controller, topic, features, allowed=bool(unclean_leader_election)
    )


def allow_unclean_elections(
    controller: Controller, topic: str, features: Features, *, allowed: bool
) -> ControllerEffect:
    """Write the setting down. Up to 3.8 that is all: no code reads it (KAFKA-12670).

    Source: ConfigurationControlManager.incrementalAlterConfigResource and
    uncleanLeaderElectionEnabledForTopic (3.2.0 to 3.9.0-rc3); QuorumController.
    incrementalAlterConfigs (3.9.0-rc3, 4.3.1), which elects no leader.
    """
    value = "true" if allowed else "false"
    controller, sends, facts = commit(controller, (ConfigRecord(topic, UNCLEAN, value),), features)
    heeded = has_unclean_elections(features)
    return controller, sends, (*facts, TopicConfigured(topic, UNCLEAN, value, heeded))


def set_min_insync_replicas(
    controller: Controller, topic: str, count: Count, features: Features
) -> ControllerEffect:
    """Write the setting down, and with eligible leader replicas the record that clears them. The
    topic "" is the cluster-level entry.

    Source: ConfigurationControlManager.incrementalAlterConfigResource and
    createClearElrRecordsAsNeeded (4.0.2, 4.3.1).
    """
    records: list[Record] = [ConfigRecord(topic, MIN_INSYNC, str(count))]
    # KIP-966, Proposed Changes, "When updating the config min.insync.replicas": the ELR is removed
    # if the ISR is large enough by the new value. Kafka asks for no ISR, and removes the last known
    # leader too: ConfigurationControlManager.createClearElrRecordsAsNeeded (4.3.1).
    clears = "966.elr-cleared" in features.active(CONTROLLER)
    records += [ClearElrRecord(topic)] if clears else []
    controller, sends, facts = commit(controller, records, features)
    told = TopicConfigured(topic, MIN_INSYNC, str(count), features.has_elr)
    return controller, sends, (*facts, told)


def configure_brokers(
    controller: Controller, min_insync_replicas: Count, features: Features
) -> ControllerEffect:
    """Change the cluster-level min.insync.replicas. The same value once more is written, too, and
    with eligible leader replicas it clears those of every topic.

    Source: ConfigurationControlManager.incrementalAlterConfigResource (3.9.0-rc3, 4.3.1), where it
    names KAFKA-14136.
    """
    return set_min_insync_replicas(controller, CLUSTER, min_insync_replicas, features)


def finalize_elr(controller: Controller, level: Count, features: Features) -> ControllerEffect:
    """The level of eligible.leader.replicas.version is another one. Who has the feature has a
    cluster-level min.insync.replicas.

    Source: ConfigurationControlManager.updateFeatures and maybeGenerateElrSafetyRecords (4.0.2,
    4.3.1).
    """
    if not level or controller.cluster_min_insync_replicas is not None:
        return finalize(controller)
    value = str(controller.static_min_insync_replicas)
    records = (ConfigRecord(CLUSTER, MIN_INSYNC, value),)
    controller, sends, facts = commit(controller, records, features)
    return controller, sends, (*facts, TopicConfigured(CLUSTER, MIN_INSYNC, value, True))

"""A topic's settings while the controller runs: unclean.leader.election.enable.

In comes the setting that an operator wants (IncrementalAlterConfigs). Out go its record, the new
metadata for every broker, and a fact that says whether this controller reads the setting at all.
Nobody is elected by it: a partition without a leader waits for what the controller does next about
it, an unfenced broker or its own look at leaderless partitions, within 300 s.
"""

from __future__ import annotations

from ..facts import TopicConfigured
from ..features import Features
from .controller_state import Controller
from .periodic_elections import has_unclean_elections
from .records import ConfigRecord
from .replay import ControllerEffect, commit

UNCLEAN = "unclean.leader.election.enable"


def allow_unclean_elections(
    controller: Controller, topic: str, features: Features, *, allowed: bool
) -> ControllerEffect:
    """Write the setting down. Up to 3.8 that is all: nobody reads it (KAFKA-12670).

    Source: ConfigurationControlManager.incrementalAlterConfigResource and
    uncleanLeaderElectionEnabledForTopic (3.2.0 to 3.9.0-rc3); QuorumController.
    incrementalAlterConfigs (3.9.0-rc3, 4.3.1), which elects nobody.
    """
    value = "true" if allowed else "false"
    record = ConfigRecord(topic, UNCLEAN, value)
    controller, sends, facts = commit(controller, (record,), features)
    told = TopicConfigured(
        topic=topic, name=UNCLEAN, value=value, heeded=has_unclean_elections(features)
    )
    return controller, sends, (*facts, told)

"""Partitions per incident: those that share leaders, followers and whole replica sets.

The kernel follows one replica set. An event hits all partitions that share the failed part at once,
so that the incident, and not the partition, is independent of the next one.
"""

from .fate_groups import GROUP_OF as GROUP_OF
from .fate_groups import LOSS_CAUSES as LOSS_CAUSES
from .fate_groups import FateGroup as FateGroup
from .fate_groups import IncidentSizes as IncidentSizes
from .fate_groups import partitions_per_incident as partitions_per_incident
from .partition_placement import Placement as Placement
from .partition_placement import placed as placed
from .partition_placement import sets_in_use as sets_in_use

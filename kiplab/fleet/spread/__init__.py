"""Partitions per incident: those that share leaders, followers and whole replica sets.

The kernel follows one replica set. An event hits all partitions that share the failed part at once,
so that the incident, and not the partition, is independent of the next one.
"""

from .fate_groups import GROUP_OF as GROUP_OF
from .fate_groups import LOSS_CAUSES as LOSS_CAUSES
from .fate_groups import SIZED as SIZED
from .fate_groups import FateGroup as FateGroup
from .incident_sizes import BIN_EDGES as BIN_EDGES
from .incident_sizes import IncidentSizes as IncidentSizes
from .incident_sizes import SeenIncidents as SeenIncidents
from .incident_sizes import partitions_per_incident as partitions_per_incident
from .incident_sizes import seen_incidents as seen_incidents
from .partition_placement import Placement as Placement
from .partition_placement import placed as placed
from .partition_placement import sets_in_use as sets_in_use

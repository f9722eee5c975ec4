"""The levels by name."""

from .cluster_level import CLUSTER
from .level_table import ExploreError, Level
from .partition_level import PARTITION
from .recovery_level import RECOVERY
from .zookeeper_level import ZOOKEEPER

LEVELS = {level.name: level for level in (PARTITION, CLUSTER, RECOVERY, ZOOKEEPER)}


def level_named(name: str) -> Level:
    """The level of this name. Raises ExploreError that lists what there is."""
    if name not in LEVELS:
        listed = "; ".join(f"{level.name}: {level.sentence}" for level in LEVELS.values())
        raise ExploreError(f"there is no level {name!r}; the levels are {listed}")
    return LEVELS[name]

"""The feature sets that schedules are compared under: every guard is on in some, off in others."""

from __future__ import annotations

from ...protocol.features import Features, parse_features
from ..kernel.feature_sets import feature_sets, features_of
from ..kernel.mirrored_guards import PURGE
from .outside_events import features_with

COMPARED: dict[str, Features] = {
    **{name: features_of(name) for name in feature_sets("kraft")},
    **{name: features_of(name) for name in (PURGE, f"841+903+{PURGE}")},
    "later": features_with(on=("kafka-12670", "966", "kafka-15021")),
    "as 3.5": features_with(),
}
"""The sets of the fleet, two of them with a controller of 4.0, later rules that count for the high
watermark, and 3.5 as it is.
"""

_LATER = ("841.registered", "841.shutting-down", "zookeeper.leader-skips-absent")
"""What 3.3 brought to the code with ZooKeeper: the kernel is that of 3.2."""
COMPARED_WITH_ZOOKEEPER: dict[str, Features] = {
    "none": parse_features("zk-3.4", off=_LATER),
    "704": parse_features("zk-3.4", off=_LATER, on=("704.specified",)),
}
"""The sets with ZooKeeper that change what the set does; KIP-380 and KIP-343 are only counted."""


def compared_set(number: int) -> str:
    """Of pair `number` of a comparison: the sets take turns."""
    return list(COMPARED)[number % len(COMPARED)]

"""The feature sets that schedules are compared under: every guard is on in some, off in others."""

from kiplab.fleet.kernel.feature_sets import feature_sets, features_of
from kiplab.fleet.kernel.mirrored_guards import PURGE, WRITES
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.releases import Mode

BASE_RELEASE = "3.5"
"""Whose code the kernel mirrors; guards of later releases are switched on by hand."""
COMPARED: dict[str, Features] = {
    **{name: features_of(name) for name in feature_sets("kraft")},
    **{name: features_of(name) for name in (PURGE, f"841+903+{PURGE}")},
    "later": parse_features(BASE_RELEASE, on=("kafka-12670", "966", "kafka-15021")),
    "as 3.5": parse_features(BASE_RELEASE),
}
"""The sets of the fleet, two of them with a controller of 4.0, later rules that count for the high
watermark, and 3.5 as it is.
"""

COMPARED_WITH_ZOOKEEPER: dict[str, Features] = {
    name: features_of(name, zookeeper=True)
    for name in (*feature_sets("zookeeper"), WRITES, f"380+{WRITES}")
    if "343" not in name
}
"""The sets with ZooKeeper that an engine can have (KIP-343 was never built, and is only counted),
two of them with leaders that write the ISR themselves.
"""

COMPARED_IN = {Mode.KRAFT: COMPARED, Mode.ZOOKEEPER: COMPARED_WITH_ZOOKEEPER}

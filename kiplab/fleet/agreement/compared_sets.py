"""The feature sets that schedules are compared under, and how often each guard is on and off."""

from __future__ import annotations

from ...protocol.features import Features
from .outside_events import features_with

_UNCLEAN = "kafka-12670"
COMPARED: dict[str, Features] = {
    "none": features_with(on=(_UNCLEAN,), off=("841", "903")),
    "841": features_with(on=(_UNCLEAN,), off=("903",)),
    "903": features_with(on=(_UNCLEAN,), off=("841",)),
    "841+903": features_with(on=(_UNCLEAN,)),
    "704": features_with(on=(_UNCLEAN, "704.specified"), off=("841", "903")),
    "841+903+704": features_with(on=(_UNCLEAN, "704.specified")),
    "later": features_with(on=(_UNCLEAN, "966", "kafka-15021")),
    "as 3.5": features_with(),
}
"""The sets of the fleet, 3.5 as it is, and later rules that count for the high watermark."""


def compared_set(number: int) -> tuple[str, Features]:
    """Pair `number` of a comparison: the sets take turns."""
    name = list(COMPARED)[number % len(COMPARED)]
    return name, COMPARED[name]

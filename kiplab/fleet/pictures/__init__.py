"""Pictures of a study's results, each with its sentence and its table."""

from .answer_pictures import (
    delay_map,
    forest,
    losses_by_cause,
    pictures_of,
    rates_by_reboots,
    survival,
)
from .fleet_picture import FleetPicture
from .forced_tornado import tornado
from .incident_picture import incident_sizes
from .verification_picture import verification

__all__ = [
    "FleetPicture",
    "delay_map",
    "forest",
    "incident_sizes",
    "losses_by_cause",
    "pictures_of",
    "rates_by_reboots",
    "survival",
    "tornado",
    "verification",
]

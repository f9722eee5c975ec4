"""The verification as a picture: every metric over what its referee says."""

from collections.abc import Sequence

import msgspec

from ...figures.how_often import verification_chart
from ..verification.refereed import Refereed
from ..verification.verified import JOINT_LEVEL, verify
from .fleet_picture import FleetPicture


def verification(rows: Sequence[Refereed] | None = None, *, effort: float = 1.0) -> FleetPicture:
    """Whether the numbers are right: `rows` of `kiplab.fleet.verify`, or a verification made now,
    which takes about 100 s of one core at effort 1.

    Raises ValueError for no effort, MissingExtraError without numba and scipy.
    """
    compared = [verified_metric(row) for row in (verify(effort) if rows is None else rows)]
    level = f"{100 * JOINT_LEVEL:g} % for all of them together"
    return FleetPicture(chart=verification_chart.verified_chart(compared, level))


def verified_metric(row: Refereed) -> verification_chart.VerifiedMetric:
    """A row of the verification, as the picture needs it."""
    return msgspec.convert(row, verification_chart.VerifiedMetric, from_attributes=True)

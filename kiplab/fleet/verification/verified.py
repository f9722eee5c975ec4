"""`kiplab.fleet.verify`: for every metric somebody who ought to know, and whether they agree."""

from __future__ import annotations

from ...extras import needed_by
from .kernel_blocks import SEED
from .refereed import Refereed, all_refereed

JOINT_LEVEL = 0.999


def verify(effort: float = 1.0, *, seed: int = SEED) -> tuple[Refereed, ...]:
    """Every metric under every feature set that matters to it, each beside its referee.

    Seeds are fixed: the same effort gives the same rows. If the fleet is right all rows agree with
    a probability of 99.9 %, whatever the effort; the more of it, the smaller an error that shows.
    1 is about a minute of one core, after the kernel's compilation.

    Raises ValueError for no effort, MissingExtraError without numba and scipy.
    """
    if effort <= 0:
        raise ValueError(f"an effort of {effort:g}; expected more than 0, as in verify(1.0)")
    with needed_by("the verification"):
        import numba  # noqa: F401
        import scipy  # noqa: F401

    from .engine_claims import engine_claims
    from .estimator_claims import estimator_claims
    from .kernel_claims import kernel_claims

    claims = [
        *kernel_claims(effort, seed),
        *estimator_claims(effort, seed),
        *engine_claims(effort, seed),
    ]
    return all_refereed(claims, JOINT_LEVEL)

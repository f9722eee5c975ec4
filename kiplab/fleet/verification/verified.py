"""`kiplab.fleet.verify`: a referee for every metric, and whether the numbers agree."""

from collections.abc import Iterator

from ...extras import needed_by
from .biased_claims import biased_claims
from .chain_claims import chain_claims
from .engine_claims import engine_claims
from .estimator_claims import estimator_claims
from .formula_claims import formula_claims
from .kernel_blocks import SEED
from .outage_claims import outage_claims
from .refereed import Claim, Refereed, all_refereed

JOINT_LEVEL = 0.999
_MOST, _SEEDS = 1_000, 1 << 32
"""The greatest effort, and how many seeds there are."""


def verify(effort: float = 1.0, *, seed: int = SEED) -> tuple[Refereed, ...]:
    """Every metric under every feature set that matters to it, each beside its referee.

    The same effort and seed give the same rows. If the fleet is right all rows agree with
    a probability of 99.9 %, whatever the effort; the more of it, the smaller an error that shows.
    1 is about 100 s of one core, after the kernel's compilation.

    Raises ValueError for no effort or seed, MissingExtraError without numba and scipy.
    """
    _check(effort, seed)
    with needed_by("the verification"):
        import numba  # noqa: F401
        import scipy  # noqa: F401

    return all_refereed(claims(effort, seed), JOINT_LEVEL)


def _check(effort: float, seed: int) -> None:
    if not 0 < effort <= _MOST:
        expected = f"expected more than 0, {_MOST:,} at most, as in verify(1.0)"
        raise ValueError(f"an effort of {effort:g}; {expected}")
    if not 0 <= seed < _SEEDS:
        raise ValueError(f"a seed of {seed}; expected 0 to {_SEEDS - 1}")


def claims(effort: float = 1.0, seed: int = SEED) -> Iterator[Claim]:
    """Everything that is compared; nothing of it is worked out yet."""
    yield from chain_claims(effort, seed)
    yield from formula_claims(effort, seed)
    yield from estimator_claims(effort, seed)
    yield from biased_claims(effort, seed)
    yield from outage_claims(effort, seed)
    yield from engine_claims(effort, seed)

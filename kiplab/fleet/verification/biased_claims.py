"""Estimates of failures biased in the kernel's own schedules: beside exact chains at base rates,
and beside naive years where events are frequent, crash loops too.
"""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ..estimators.forced_windows import STALE_JOIN
from ..kernel.world import SECOND, YEAR, Exponential
from ..parameters.parameter_table import Parameters
from ..reference.last_standing_chain import StandingRates, standing_rates
from ..reference.two_replica_chain import LAST_REPLICA_LOSS
from .chain_claims import AT_ONCE, NOTICED
from .checked_worlds import BOTH, world_of
from .kernel_blocks import Lived, yearly
from .refereed import Certain, Claim, Referee
from .weighed_blocks import biased_runs, weighed_by

_AWAY = 420 * SECOND
_CRASHES, _BOUNCES = 1, 12
_OFFLINE = "offline"
_FEWEST, _USUAL = 150, 200
"""Samples of each block."""


def biased_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Two and three replicas at base rates."""
    for replicas in (2, 3):
        world = replace(
            AT_ONCE,
            replication_factor=replicas,
            crash_mean_us=YEAR // _CRASHES,
            bounce_mean_us=YEAR // _BOUNCES,
            crash_restart=Exponential(_AWAY),
            clean_restart=Exponential(_AWAY),
        )
        rates = StandingRates(
            replicas=replicas,
            crash=_CRASHES,
            bounce=_BOUNCES,
            restart=YEAR / _AWAY,
            lost=world.tail_lost,
        )
        exact, estimates = standing_rates(rates), biased_runs(world, BOTH, _samples(effort), seed)
        regime = f"failures biased, {replicas} replicas at base rates"
        # Each is missed that much less long, and may meet another before it is noticed.
        margin = replicas * NOTICED * (1 / _AWAY + _CRASHES / YEAR)
        for metric in ("expansions", _OFFLINE, LAST_REPLICA_LOSS):
            ours, theirs = weighed_by(estimates, metric), partial(Certain, exact[metric])
            yield Claim(metric, BOTH, Referee.EXACT_CHAIN, regime, ours, theirs, margin)


def biased_sooner(
    p: Parameters, counts: Lived, effort: float, seed: int, regime: str
) -> Iterator[Claim]:
    """Beside naive years of the same world without KIPs; nothing is dropped."""
    estimates = biased_runs(world_of(p), "none", _samples(effort), seed)
    # In crash loops too few samples come to a stale join to be trusted.
    joins = () if p.early_crash_factor > 1 else (STALE_JOIN,)
    for metric in (*joins, _OFFLINE, LAST_REPLICA_LOSS):
        ours, theirs = weighed_by(estimates, metric), yearly(counts, "none", metric)
        yield Claim(metric, "none", Referee.NAIVE, f"failures biased, {regime}", ours, theirs)


def _samples(effort: float) -> int:
    return max(_FEWEST, round(_USUAL * effort))

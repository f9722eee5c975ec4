"""The kernel's counts beside formulas, each in a world where it holds."""

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from ..estimators.dropped_paths import away_s, met_by_another
from ..parameters.years import SECONDS_PER_YEAR
from ..reference import closed_forms
from .checked_worlds import BOTH, QUIET, world_of
from .kernel_blocks import lived, yearly
from .refereed import Certain, Claim, Referee


def formula_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Years in proportion to `effort`. Raises MissingExtraError without scipy."""
    yield from _at_base(200_000 * effort, seed)
    yield from _short_of_replicas(100 * effort, seed)
    yield from _shocks(2_000 * effort, seed)


def _at_base(years: float, seed: int) -> Iterator[Claim]:
    sets = ("none", BOTH)
    counts = lived(world_of(QUIET), sets, years, seed)
    leaders_stop = QUIET.bounces_per_year
    again = {"none": leaders_stop, BOTH: 0.0}
    returns, regime = closed_forms.expansions(QUIET), "two replicas at base rates"
    # Nothing is planned, and no replica leaves twice, while one is out.
    margin = closed_forms.alone_share(QUIET)
    for features in sets:
        rates = {"incidents": returns, "expansions": returns + again[features]}
        for metric, expected in rates.items():
            ours, theirs = yearly(counts, features, metric), partial(Certain, expected)
            yield Claim(metric, features, Referee.CLOSED_FORM, regime, ours, theirs, margin)


def _short_of_replicas(years: float, seed: int) -> Iterator[Claim]:
    parameters = replace(
        QUIET,
        min_insync_replicas=2,
        crashes_per_year=4_000.0,
        bounces_per_year=0.0,
        # Longer than the tail of what was not flushed reaches back.
        crash_restart_s=40.0,
        crash_restart_sigma=0.0,
        catch_up_s=1.0,
        tail_lost=1.0,
    )
    counts = lived(world_of(parameters), (BOTH,), years, seed)
    metric = "last_replica_loss"
    regime = "min.insync.replicas=2, 4,000 crashes a year that lose what was not flushed"
    ours = yearly(counts, BOTH, metric)
    theirs = partial(Certain, closed_forms.last_replica_losses(parameters))
    # Either may go once more while the other is away, and then again as the only one.
    margin = 2 * met_by_another(parameters, away_s(parameters))
    yield Claim(metric, BOTH, Referee.CLOSED_FORM, regime, ours, theirs, margin)


def _shocks(years: float, seed: int) -> Iterator[Claim]:
    for racks, shocks in ((3, "shocks of the cluster"), (1, "shocks of cluster and rack")):
        parameters = replace(
            QUIET,
            replication_factor=3,
            racks=racks,
            crashes_per_year=0.0,
            bounces_per_year=0.0,
            cluster_shocks_per_year=20.0,
            rack_shocks_per_year=20.0 if racks == 1 else 0.0,
            shock_tail_lost=0.5,
        )
        counts = lived(world_of(parameters), (BOTH,), years, seed)
        losses = closed_forms.shock_losses(parameters)
        # The next shock may come while they are away.
        soon = losses / parameters.shock_tail_lost * away_s(parameters) / SECONDS_PER_YEAR
        regime, theirs = f"three replicas, {shocks}", partial(Certain, losses)
        for metric in ("shock_loss", "committed_loss"):
            ours = yearly(counts, BOTH, metric)
            yield Claim(metric, BOTH, Referee.CLOSED_FORM, regime, ours, theirs, soon)

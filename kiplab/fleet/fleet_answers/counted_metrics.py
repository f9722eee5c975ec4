"""The meaning of each metric of the kernel, in a sentence, and the unit of its rate.

The kernel simulates replica sets, and follows one partition of each: losses and times are that
partition's, and a rate is per partition and year.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

from ..pipeline.study_plan import FORCED

FORCED_WITHOUT = "without cuts, shocks and failovers of the controller"
"""What forced samples know nothing of."""
_PARTITION = "per partition and year"
_MICROSECONDS = "microseconds per partition and year"


class CountedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """What is counted, in words, and what its rate is per."""

    name: str
    counts: str
    unit: str = _PARTITION

    @property
    def is_time(self) -> bool:
        """Whether its numbers are microseconds."""
        return self.unit.startswith("microseconds")


_BY_NAME = {
    "incidents": "what happens to the set from outside: crashes, planned restarts, cuts, shocks",
    "expansions": "a replica is taken back into the ISR",
    "stale_join": "a replica is taken into the ISR for what it was as an earlier incarnation",
    "committed_loss": "records that were acknowledged by every member of the ISR are gone",
    "race_loss": "committed records are gone because a stale replica came to lead",
    "last_replica_loss": "committed records are gone with the last member of the ISR",
    "unclean_loss": "committed records are gone by an unclean election",
    "shock_loss": "committed records are gone because all replicas went at once",
    "offline": "the partition comes to be without a leader",
    "stale_join_after_crash": "a stale join that begins with a crash, and so can cost records",
    "all_replicas_gone": "the last replica goes while those before it are still away, one by one",
    "refused": "an AlterPartition request is refused",
}
_TIMES = {
    "offline_us": "the partition is without a leader",
    "under_min_us": "the ISR is smaller than min.insync.replicas",
    "recovery_us": "the partition is RECOVERING after an unclean election; for how long readers see"
    " what does not fit together is not counted",
}
_EVERY = (
    *(CountedMetric(name=name, counts=counts) for name, counts in _BY_NAME.items()),
    *(CountedMetric(name=n, counts=what, unit=_MICROSECONDS) for n, what in _TIMES.items()),
)
COUNTED = {counted.name: counted for counted in _EVERY}
"""By name; a test holds it to what the kernel and forced samples count."""


def counted_in(metric: str, method: str) -> str:
    """What a row of this metric counts, with what is left out.

    Raises KeyError for a metric that there is not.
    """
    without = f"; {FORCED_WITHOUT}" if method == FORCED else ""
    return f"{COUNTED[metric].counts}{without}"


@cache
def who_checks() -> Mapping[str, str]:
    """By metric, who ought to know its number.

    The tests write it: `tests/fleet/referees/test_referees.py --rewrite`.
    """
    return tomllib.loads(files(__package__).joinpath("who_checks.toml").read_text("utf-8"))

"""What eligible leader replicas (KIP-966) save and what they cost: records that are lost with the
last replica, and hours without a leader, with and without them, beside each other.

In a whole fleet and year. Without them a loss of the last replica is unmarked. With them the last
leader leads uncleanly, RECOVERING: the loss is marked, and counted as one by an unclean election.
In a shock all have crashed: with them that loss is marked, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from ...figures.how_often.fleet_words import set_words
from ..estimators.forced_outages import ALL_GONE_US, UNCLEAN_LOSS
from ..estimators.forced_windows import LAST_REPLICA_LOSS
from ..kernel.feature_sets import OF_TODAY
from ..parameters.meaningful_sets import ELR
from ..statistics.event_rates import FoundRate
from .fleet_row import FleetRow, SweptValues, found_words

if TYPE_CHECKING:
    from .fleet_answer import FleetAnswer

_OFFLINE, _SHOCKS = "offline_us", "shock_loss"
_COUNTED = (LAST_REPLICA_LOSS, UNCLEAN_LOSS, _SHOCKS, _OFFLINE)
_HOUR_S = 3_600.0
LEFT_OUT = (
    "Every crash counts as unclean, as after kill -9, also one that loses nothing.",
    "Left out: records of acks=1, which are truncated when an eligible leader replica leads;"
    " replicas that never return, with which an outage has no end; a change of"
    " min.insync.replicas, or of the feature, in an outage; an operator who elects by hand; a disk"
    " that is taken out of log.dirs, after which a stop counts as clean.",
)
_ALONE = (
    "With min.insync.replicas = 1 no replica but the last one is eligible: nothing is saved, a"
    " loss is marked, and an outage lasts as long."
)


class ElrSide(msgspec.Struct, frozen=True, kw_only=True):
    """Of one of the two sets, a year in all clusters: losses in incidents, by the last replica
    (`unmarked` and `marked`) and in shocks; hours of partitions without a leader, of every cause
    (`hours`), and after the replicas went one by one (`outage_hours`, None where nothing is
    forced).
    """

    features: str
    unmarked: FoundRate
    marked: FoundRate
    shocks: FoundRate
    hours: FoundRate
    outage_hours: FoundRate | None

    @property
    def sentences(self) -> Iterator[str]:
        """Both numbers with their intervals; never a bare zero."""
        mark = "marked" if self.features == ELR else "unmarked"
        losses = (
            f"by the last replica, unmarked: {_words(self.unmarked)}",
            f"by the last replica, marked (RECOVERING): {_words(self.marked)}",
            f"in shocks, {mark}: {_words(self.shocks)}",
        )
        yield f"{set_words(self.features)}, losses a year in the fleet: {'; '.join(losses)}."
        hours = [f"of every cause, as counted: {_words(self.hours)}"]
        if self.outage_hours is not None:
            hours.append(f"after all replicas went one by one: {_words(self.outage_hours)}")
        without = "partition-hours a year in the fleet without a leader"
        yield f"{set_words(self.features)}, {without}: {'; '.join(hours)}."

    def report(self) -> dict[str, Any]:
        """As an object of JSON."""
        rates = {name: getattr(self, name) for name in self.__struct_fields__[1:]}
        ends = ("rate", "low", "high", "because")
        return {
            name: found and {end: getattr(found, end) for end in ends}
            for name, found in rates.items()
        }


def _words(found: FoundRate) -> str:
    """Why something cannot happen is said where the rate is."""
    return "cannot happen" if found.because is not None else found_words(found)


class ElrPrice(msgspec.Struct, frozen=True, kw_only=True):
    """The two sides at one point of a study."""

    scenario_id: str
    swept: SweptValues
    min_insync_replicas: int
    sides: tuple[ElrSide, ...]

    @property
    def sentences(self) -> Iterator[str]:
        """Those of each side; with min.insync.replicas = 1 what that means."""
        for side in self.sides:
            yield from side.sentences
        if self.min_insync_replicas == 1:
            yield _ALONE

    def report(self) -> dict[str, Any]:
        """As an object of JSON, the sides by the names of their sets."""
        sides = {side.features: side.report() for side in self.sides}
        return {"scenario": self.scenario_id, "swept": dict(self.swept), **sides}


def elr_prices(answer: FleetAnswer) -> tuple[ElrPrice, ...]:
    """Of each point where both sets were seen, in the order of the study; none without both.

    Raises MissingExtraError without numpy.
    """
    if not {*OF_TODAY} <= {*answer.study.feature_sets}:
        return ()
    rows = {
        (row.scenario_id, row.features, metric): row
        for metric in (*_COUNTED, ALL_GONE_US)
        for row in answer.best(metric)
    }
    found = []
    for scenario in answer.study.scenarios:
        keys = [(scenario.scenario_id, name) for name in OF_TODAY]
        if all((*key, metric) in rows for key in keys for metric in _COUNTED):
            sides = tuple(_side(answer, rows, key) for key in keys)
            found.append(
                ElrPrice(
                    scenario_id=scenario.scenario_id,
                    swept=rows[*keys[0], _OFFLINE].swept,
                    min_insync_replicas=scenario.parameters.min_insync_replicas,
                    sides=sides,
                )
            )
    return tuple(found)


def _side(
    answer: FleetAnswer, rows: dict[tuple[str, str, str], FleetRow], key: tuple[str, str]
) -> ElrSide:
    yearly = {
        metric: answer.incidents.of(rows[*key, metric])
        for metric in (*_COUNTED, ALL_GONE_US)
        if (*key, metric) in rows
    }
    outage = yearly.get(ALL_GONE_US)
    return ElrSide(
        features=key[1],
        unmarked=yearly[LAST_REPLICA_LOSS],
        marked=yearly[UNCLEAN_LOSS],
        shocks=yearly[_SHOCKS],
        hours=yearly[_OFFLINE].times(1 / _HOUR_S),
        outage_hours=outage and outage.times(1 / _HOUR_S),
    )

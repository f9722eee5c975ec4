"""Rows as studies of fleets give them, made up: for the pictures of `kiplab/figures/how_often`."""

from collections.abc import Callable
from itertools import product
from typing import Any

from msgspec.structs import replace

from kiplab.figures.how_often.delay_map import DelayScale, MapCell, map_chart
from kiplab.figures.how_often.first_loss_survival import FleetOfSize, survival_chart
from kiplab.figures.how_often.incident_chart import KindOfIncident, incident_chart
from kiplab.figures.how_often.losses_by_cause import CauseOfLoss, causes_chart
from kiplab.figures.how_often.measured_rate import NOT_REACHED, Certainty, MeasuredRate, rate_of
from kiplab.figures.how_often.paired_forest import PairedDifference, forest_chart
from kiplab.figures.how_often.plot_sheet import Chart
from kiplab.figures.how_often.rates_by_reboots import RatePoint, rates_chart
from kiplab.figures.how_often.tornado_chart import Leverage, tornado_chart


def unseen(high: float) -> MeasuredRate:
    return MeasuredRate(certainty=Certainty.UNSEEN, high=high)


def never(because: str) -> MeasuredRate:
    return MeasuredRate(certainty=Certainty.NEVER, because=because)


REFUSED = never("KIP-841 refuses the join while the broker is fenced, KIP-903 once it is back")
WARY = replace(rate_of(1e-9, 1e-10, 2e-9), alarms=("only 40 effective samples, of 100 wanted",))
REBOOTS = (4.0, 12.0, 26.0, 52.0)


def about(rate: float, by: float = 0.1) -> MeasuredRate:
    """A rate with an interval of so much to both sides."""
    return rate_of(rate, rate * (1 - by), rate * (1 + by))


def rate_points() -> list[RatePoint]:
    """Two metrics under six sets, of which one sees nothing at few reboots, and two cannot."""
    per_reboot = {"none": 7e-10, "841": 5.5e-11, "903": 6.4e-10}
    joins = [
        _point("stale_join", features, reboots, about(rate * reboots, 0.15))
        for features, rate in per_reboot.items()
        for reboots in REBOOTS
    ]
    losses = [
        _point("race_loss", features, reboots, about(rate * 2e-8 * reboots**2, 0.4))
        for features, rate in per_reboot.items()
        for reboots in REBOOTS
        if (features, reboots) != ("841", 4.0)
    ]
    rare = [_point("race_loss", "841", 4.0, unseen(3e-17))]
    never_at_all = [
        _point(*place, REFUSED)
        for place in product(("stale_join", "race_loss"), ("841+903", "841+903+704"), REBOOTS)
    ]
    same = [replace(point, features="704") for point in joins if point.features == "none"]
    return joins + same + losses + rare + never_at_all


def _point(metric: str, features: str, reboots: float, rate: MeasuredRate) -> RatePoint:
    label = "as Kafka" if features in ("none", "841", "841+903") else "as specified"
    return RatePoint(metric=metric, features=features, label=label, reboots=reboots, estimate=rate)


def levers() -> list[Leverage]:
    """The parameters that spec/fleet.md measured, one without effect and one without a rate."""
    powers = {
        "mean of slow AlterPartition requests": ("15 s", "30 s", "60 s", 1.6),
        "hard crashes per broker and year": ("0.5", "1", "2", 1.2),
        "restart after a crash, median": ("150 s", "300 s", "600 s", -1.1),
        "share of AlterPartition requests that are slow": ("0.0005", "0.001", "0.002", 1.0),
        "catch-up": ("90 s", "180 s", "360 s", 0.1),
        "fast AlterPartition requests": ("5 ms", "10 ms", "20 ms", 0.0),
        "share of crashes that lose the tail": ("0", "0.1", "0.2", 1.0),
    }
    levers = [
        Leverage(
            parameter=name,
            lower_value=lower,
            usual_value=usual,
            higher_value=higher,
            factor=4.0,
            lower=about(4.7e-15 * 2**-power),
            usual=about(4.7e-15),
            higher=about(4.7e-15 * 2**power),
        )
        for name, (lower, usual, higher, power) in powers.items()
    ]
    levers[-1] = replace(levers[-1], lower=never("no crash loses a record"))
    return levers


def fleets() -> list[FleetOfSize]:
    """From a cluster to LinkedIn's of 2019, one that saw nothing, and one that was not reached."""
    rate = about(2.6e-5, 0.05)
    named = {"One cluster, 780 replica sets": 780, "10 clusters": 7_800, "100 clusters": 78_000}
    return [
        *(FleetOfSize(name=name, yearly=rate.times(sets)) for name, sets in named.items()),
        FleetOfSize(name="One cluster, three replicas", yearly=unseen(4e-3)),
        FleetOfSize(name="The same, weighed", yearly=NOT_REACHED),
    ]


def map_cells() -> list[MapCell]:
    """Rates on both sides of once a year, some cells without one."""
    cells = []
    for reboots, delay in product((*REBOOTS, 104.0), (0.3, 1.0, 3.0, 10.0, 30.0)):
        found, ratio = about(4e-2 * reboots * delay / 10), about(1e-4 * delay)
        cell = MapCell(reboots=reboots, delay=delay, estimate=found, ratio=ratio, method="forced")
        cells.append(cell)
    cells[0] = replace(cells[0], estimate=unseen(3e-3), ratio=unseen(3e-5))
    cells[5] = replace(cells[5], estimate=NOT_REACHED, ratio=NOT_REACHED)
    cells[-1] = replace(cells[-1], estimate=replace(cells[-1].estimate, alarms=WARY.alarms))
    return cells


def kinds_of_incidents() -> list[KindOfIncident]:
    """One AlterPartition of a leader, whole replica sets, and a kind that never happened."""
    joined = [(2**n, 900 // 2**n) for n in range(9)]
    sets = [(64, 300), (128, 40)]
    named: dict[str, list[tuple[int, int]]] = {
        "A stale replica joins, partitions placed at random": joined,
        "The last replica goes, few replica sets": sets,
        "A shock": [],
    }
    return [KindOfIncident(name=name, sizes=tuple(sizes)) for name, sizes in named.items()]


def causes() -> list[CauseOfLoss]:
    """Ten orders of magnitude between the race and the last replica."""
    rates = {
        "race_loss": about(4.7e-15),
        "last_replica_loss": about(2.6e-5, 0.02),
        "shock_loss": about(4e-6),
        "unclean_loss": never("unclean elections are off"),
    }
    return [
        CauseOfLoss(features=features, cause=cause, estimate=found)
        for features, found_by in (("none", rates), ("841+903", rates | {"race_loss": REFUSED}))
        for cause, found in found_by.items()
    ]


def differences() -> list[PairedDifference]:
    """Every kind of outcome, in each of two standings."""
    sets = ["841", "903", "704", "841+903", "841+704", "903+704", "841+903+704"]
    gaps = {"841": -1.02e-2, "841+903": -1.1e-2, "903": -6e-4, "704": 0.0}
    rows = []
    for name in sets:
        gap = gaps.get(name, -1e-2)
        label = "as specified" if name.endswith("+704") else "as Kafka"
        ends: dict[str, Any] = {"low": gap - 8e-4, "high": gap + 8e-4, "gain": 1.3}
        about = ends if gap else {"low": 0.0, "high": 0.0, "alike": True}
        rows.append(PairedDifference(features=name, label=label, against="none", gap=gap, **about))
    return rows


DELAY = DelayScale("slow AlterPartition requests, mean", "s")
MakeChart = Callable[..., Chart]
CHARTS: dict[str, tuple[MakeChart, tuple[Any, ...]]] = {
    "rates": (rates_chart, (rate_points(),)),
    "tornado": (tornado_chart, (levers(), "The rate of losses by the race")),
    "survival": (survival_chart, (fleets(), "Something is lost")),
    "map": (map_chart, (map_cells(), "Losses", DELAY, "Lost with the last replica")),
    "incidents": (incident_chart, (kinds_of_incidents(),)),
    "causes": (causes_chart, (causes(),)),
    "forest": (forest_chart, (differences(), "A stale replica joins the ISR")),
}
"""Every chart: what makes it, and from what."""
EMPTY: dict[str, tuple[MakeChart, tuple[Any, ...]]] = {
    name: (make, ([], *others)) for name, (make, (_, *others)) in CHARTS.items()
}
"""Every chart with nothing to show."""

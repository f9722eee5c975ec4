"""How many partitions an incident takes in the clusters of a study, as a picture."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from ...figures.how_often import incident_chart
from ...figures.how_often.fleet_words import metric_words
from ..fleet_answers.fleet_answer import FleetAnswer
from ..parameters.parameter_table import Parameters
from ..spread.fate_groups import GROUP_OF, FateGroup, partitions_per_incident
from .fleet_picture import FleetPicture
from .picture_rows import where_of

HIT = ("stale_join", "last_replica_loss", "shock_loss")
_NOUNS = {
    FateGroup.PAIR: "leader-follower pair",
    FateGroup.SET: "replica set",
    FateGroup.BROKER: "broker",
    FateGroup.CLUSTER: "shock",
}


def incident_sizes(
    answer: FleetAnswer,
    metrics: Sequence[str] = HIT,
    *,
    replica_sets: Sequence[int] | None = None,
    seed: int = 0,
) -> FleetPicture:
    """How many partitions one incident takes, by how partitions are placed.

    `replica_sets` are other numbers of sets than the study's, to compare them. Raises ValueError
    for a metric without incidents and for more than six kinds of them, MissingExtraError without
    numpy.
    """
    parameters = answer.study.scenarios[0].parameters
    placed = replica_sets or (parameters.replica_sets,)
    kinds = [
        _kind(replace(parameters, replica_sets=sets), metric, seed, several=len(placed) > 1)
        for metric in metrics
        for sets in placed
    ]
    return FleetPicture(chart=incident_chart.incident_chart(kinds), where=where_of(answer))


def _kind(
    parameters: Parameters, metric: str, seed: int, *, several: bool
) -> incident_chart.KindOfIncident:
    """Every group that an incident may hit, as likely as any other, by its partitions."""
    counts = Counter(partitions_per_incident(parameters, metric, seed).sizes.tolist())
    placed = f" ({parameters.replica_sets:,} replica sets)" if several else ""
    return incident_chart.KindOfIncident(
        name=f"{metric_words(metric)}{placed}",
        bins=tuple(
            incident_chart.SizeBin(size, size, many) for size, many in sorted(counts.items())
        ),
        noun=_NOUNS[GROUP_OF[metric]],
    )

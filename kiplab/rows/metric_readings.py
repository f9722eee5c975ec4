"""The metrics of a run, read off its clusters and moves: node, value, and from when to when."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise

from ..engine.cluster import Cluster
from ..engine.truth import truth
from ..protocol.ids import CONTROLLER, BrokerId, node_name
from ..protocol.registrations import partition
from ..protocol.releases import RELEASES, CodeVersion
from ..protocol.replica.broker_parts import process_of
from ..protocol.replica.broker_state import Broker
from .columns import MetricRow, Rows
from .metrics import METRICS, Led, Metric
from .snapshots import Moment, Snapshot, stretches

_Key = tuple[str, BrokerId]
_Read = dict[tuple[int, int], dict[_Key, int]]
"""By the identity of a state and of features: most stay the same object from step to step."""


def metric_rows(shots: Sequence[Snapshot]) -> Iterator[MetricRow]:
    """The reports of every node through the run, metric after metric, node after node."""
    readings = list(_readings(shots))
    nodes: dict[str, set[BrokerId]] = {name: set() for name in METRICS}
    for name, node in {key for reading in readings for key in reading}:
        nodes[name].add(node)
    xs = [shot.x for shot in shots]
    for metric in METRICS.values():
        for node in sorted(nodes[metric.name]):
            values = (reading.get((metric.name, node)) for reading in readings)
            for x0, x1, value in stretches(zip(xs, values, strict=True), xs[-1] + 1):
                yield MetricRow(metric.name, metric.kind, node_name(node), x0, x1, value)


def _readings(shots: Sequence[Snapshot]) -> Iterator[dict[_Key, int]]:
    counts: Counter[_Key] = Counter()
    read_before: _Read = {}
    for shot in shots:
        for move in shot.moves:
            counts.update(_marks(move))
        cluster = shot.cluster
        readings = {key: counts[key] for key in _once(read_before, cluster, METRICS, _counting)}
        readings |= _once(read_before, cluster, truth(cluster), _of_controller)
        for node in cluster.brokers:
            readings |= _once(read_before, cluster, node, partial(_of_broker, node))
        yield readings


def _once(
    read_before: _Read,
    cluster: Cluster,
    state: object,
    read: Callable[[Cluster], Iterator[tuple[_Key, int]]],
) -> dict[_Key, int]:
    key = id(state), id(cluster.features)
    if key not in read_before:
        read_before[key] = dict(read(cluster))
    return read_before[key]


def _of_broker(node: Broker, cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    if node.process is not None:
        led = list(_led(node, cluster.features.code_of(node.id)))
        for metric in METRICS.values():
            if metric.is_counted is not None and _has(cluster, metric, node.id):
                yield (metric.name, node.id), sum(map(metric.is_counted, led))


def _led(node: Broker, code: CodeVersion) -> Iterator[Led]:
    """What a running broker takes itself for the leader of.

    Source: ReplicaManager.leaderPartitionsIterator, 3.2 to 4.3.
    """
    image = process_of(node).image
    registrations = () if image is None else image.partitions
    for replica in process_of(node).replicas:
        if replica.leading is not None:
            registration = partition(registrations, replica.partition)
            adding = registration.adding if registration is not None else ()
            yield Led(replica, replica.leading.isr_state.isr, adding, code)


def _of_controller(cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    for metric in METRICS.values():
        if metric.total is not None and _has(cluster, metric, CONTROLLER):
            yield (metric.name, CONTROLLER), metric.total(truth(cluster))


def _counting(cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    """Who counts what, from 0 on; also a broker that is down, for what it counted before."""
    for metric in METRICS.values():
        if metric.marked is not None:
            for node in [b.id for b in cluster.brokers] if metric.by_brokers else [CONTROLLER]:
                if _has(cluster, metric, node):
                    yield (metric.name, node), 0


def _marks(moment: Moment) -> Iterator[_Key]:
    for metric in METRICS.values():
        for node in metric.marked(moment) if metric.marked is not None else ():
            if _has(moment.step.cluster, metric, node):
                yield metric.name, node


def _has(cluster: Cluster, metric: Metric, node: BrokerId) -> bool:
    return metric.is_read_at(RELEASES[cluster.features.release_of(node)])


# --- metric totals --------------------------------------------------------------------------------


MetricChoice = bool | str | Iterable[str]
"""Which metrics a picture shows: none (False), those that move (True), ``"all"``, or by name."""
ALL = "all"


def totals(rows: Rows, name: str) -> tuple[int | None, ...]:
    """The sum that all nodes report at each x; None where no node does."""
    sums: list[int | None] = [None] * rows.meta.end
    for row in rows.metrics:
        if row.metric == name:
            for x in range(row.x0, row.x1):
                sums[x] = (sums[x] or 0) + row.value
    return tuple(sums)


def reports(rows: Rows, name: str, x: int) -> list[tuple[str, int]]:
    """(node, value) of everyone who reports it at x."""
    return [(r.node, r.value) for r in rows.metrics if r.metric == name and r.x0 <= x < r.x1]


def first_move(rows: Rows, name: str) -> int | None:
    """The first x at which the total is another than the one before; None if it never is."""
    reported = [(x, value) for x, value in enumerate(totals(rows, name)) if value is not None]
    changes = (x for (_, before), (x, value) in pairwise(reported) if value != before)
    return next(changes, None)


def moves(runs: Sequence[Rows]) -> dict[str, int]:
    """The metrics that move in any of these runs, and at which x first: the earliest come first."""
    first: dict[str, int] = {}
    for name in METRICS:
        places = [x for x in (first_move(run, name) for run in runs) if x is not None]
        if places:
            first[name] = min(places)
    return dict(sorted(first.items(), key=lambda item: item[1]))


def chosen(runs: Sequence[Rows], metrics: MetricChoice) -> tuple[str, ...]:
    """The names of the metrics to show: of those that move, the first to move first; ``"all"`` are
    those that any of the runs reports. Raises ValueError, naming those there are, for another name.
    """
    if isinstance(metrics, bool):
        return tuple(moves(runs)) if metrics else ()
    if metrics == ALL:
        reported = {row.metric for run in runs for row in run.metrics}
        return tuple(name for name in METRICS if name in reported)
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    unknown = [name for name in names if name not in METRICS]
    if unknown:
        raise ValueError(f"there is no metric {unknown[0]!r}; there are {', '.join(METRICS)}")
    return names


def metrics_sentence(rows: Rows, names: Sequence[str]) -> str:
    """The same in a sentence: ``Metrics: OfflinePartitionsCount 0, 1 at 8, 0 at 10.``"""
    words = "; ".join(f"{name} {', '.join(_changes(rows, name))}" for name in names)
    return f" Metrics: {words}." if words else ""


def _changes(rows: Rows, name: str) -> Iterator[str]:
    values = totals(rows, name)
    for x, value in enumerate(values):
        if x == 0 or values[x - 1] != value:
            word = "not reported" if value is None else str(value)
            yield f"{word} at {rows.meta.number(x)}" if x else word

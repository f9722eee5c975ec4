"""The metrics of a run, read off its clusters and moves: who reported what, from when to when."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ..engine.cluster import Cluster
from ..engine.truth import truth
from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.registrations import partition
from ..protocol.releases import RELEASES, CodeVersion
from ..protocol.replica.broker_state import Broker
from .columns import MetricRow
from .log_moment import Moment
from .metrics import METRICS, Led, Metric
from .snapshots import Snapshot
from .wording import lane_of

_Key = tuple[str, BrokerId]
_Known = dict[tuple[int, int], dict[_Key, int]]
"""What was read of a state under some features, by the identity of both: most stay the same object
from step to step.
"""


def metric_rows(shots: Sequence[Snapshot]) -> Iterator[MetricRow]:
    """What every node reported through the run, metric after metric, node after node."""
    readings = list(_readings(shots))
    nodes: dict[str, set[BrokerId]] = {name: set() for name in METRICS}
    for name, node in {key for reading in readings for key in reading}:
        nodes[name].add(node)
    xs = [shot.x for shot in shots]
    for metric in METRICS.values():
        for node in sorted(nodes[metric.name]):
            values = [reading.get((metric.name, node)) for reading in readings]
            yield from _stretches(metric, node, xs, values)


def _readings(shots: Sequence[Snapshot]) -> Iterator[dict[_Key, int]]:
    counts: Counter[_Key] = Counter()
    known: _Known = {}
    before = shots[0].cluster
    for shot in shots:
        for step in shot.steps:
            counts.update(_marks(Moment(before, step)))
            before = step.cluster
        yield _reading(shot.cluster, counts, known)


def _reading(cluster: Cluster, counts: Counter[_Key], known: _Known) -> dict[_Key, int]:
    found = {key: counts[key] for key in _once(known, cluster, METRICS, _counting)}
    found |= _once(known, cluster, truth(cluster), _of_controller)
    for node in cluster.brokers:
        found |= _once(known, cluster, node, partial(_of_broker, node))
    return found


def _once(
    known: _Known,
    cluster: Cluster,
    state: object,
    read: Callable[[Cluster], Iterator[tuple[_Key, int]]],
) -> dict[_Key, int]:
    key = id(state), id(cluster.features)
    if key not in known:
        known[key] = dict(read(cluster))
    return known[key]


def _of_broker(node: Broker, cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    """The gauges of a broker that runs."""
    if node.process is not None:
        led = list(_led(node, cluster.features.code_of(node.id)))
        for metric in METRICS.values():
            if metric.is_counted is not None and _has(cluster, metric, node.id):
                yield (metric.name, node.id), sum(map(metric.is_counted, led))


def _led(node: Broker, code: CodeVersion) -> Iterator[Led]:
    """What a running broker takes itself for the leader of.

    Source: ReplicaManager.leaderPartitionsIterator, 3.2 to 4.3.
    """
    process = node.process
    image = process.image if process is not None else None
    for replica in process.replicas if process is not None else ():
        if replica.leading is not None:
            seen = partition(image.partitions, replica.partition) if image is not None else None
            adding = seen.adding if seen is not None else ()
            yield Led(replica, replica.leading.isr_state.isr, adding, code)


def _of_controller(cluster: Cluster) -> Iterator[tuple[_Key, int]]:
    for metric in METRICS.values():
        if metric.held is not None and _has(cluster, metric, CONTROLLER):
            yield (metric.name, CONTROLLER), metric.held(truth(cluster))


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
    """Whether the code that the node runs has this metric."""
    return metric.is_read_at(RELEASES[cluster.features.release_of(node)])


def _stretches(
    metric: Metric, node: BrokerId, xs: Sequence[int], values: Sequence[int | None]
) -> Iterator[MetricRow]:
    """Neighbours of one value as one row; where nothing is reported there is none."""
    starts = [n for n, value in enumerate(values) if n == 0 or values[n - 1] != value]
    ends = [*(xs[n] for n in starts[1:]), xs[-1] + 1]
    for n, end in zip(starts, ends, strict=True):
        value = values[n]
        if value is not None:
            yield MetricRow(metric.name, metric.kind, lane_of(node), xs[n], end, value)

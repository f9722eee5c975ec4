"""Offsets and epochs of a play as small numbers, and back.

Rules only compare offsets and add single records, so a long stretch without anything in it may
shrink, as long as the records that can still be written fit into it. Epochs rise by one from the
highest one that there is.
"""

from collections.abc import Iterable, Iterator

from ...engine.cluster import Cluster
from ...engine.truth import truth
from ...protocol.log import Log
from ...protocol.replica.broker_state import Replica
from .word_layout import FOUR


class NotCompiledError(ValueError):
    """Why the compiled search cannot speak of a question; the engine's own search can."""


class NumberScale:
    """Numbers of a play, rising, and the small ones that stand for them.

    Between two of them lies what lay there before, but at most `room`; beyond the last one
    everything goes on one by one.
    """

    def __init__(self, name: str, numbers: Iterable[int], first: int, room: int) -> None:
        self.name = name
        self.real = sorted(set(numbers))
        self.small = [first]
        for one, next in zip(self.real, self.real[1:], strict=False):
            self.small.append(self.small[-1] + min(next - one, room))

    def down(self, number: int) -> int:
        """The small number. Raises NotCompiledError if it is not small enough."""
        at = max(i for i, real in enumerate(self.real) if real <= number)
        return fitting(self.name, self.small[at] + number - self.real[at], FOUR)

    def up(self, small: int) -> int:
        """The play's number."""
        at = max(i for i, number in enumerate(self.small) if number <= small)
        return self.real[at] + small - self.small[at]


def fitting(name: str, value: int, most: int) -> int:
    """`value` itself. Raises NotCompiledError where a word has no room for it."""
    if not 0 <= value <= most:
        raise NotCompiledError(f"{name} {value} is beyond the {most} that its words have room for")
    return value


class SmallNumbers:
    """The three number scales of one search that may write `writes` records.

    Raises NotCompiledError when a log has a leader epoch that the controller does not know yet.
    """

    def __init__(self, cluster: Cluster, writes: int) -> None:
        state = truth(cluster).partitions[0]
        replicas = list(_replicas(cluster))
        logs = [*_logs(cluster), cluster.observed[0].committed]
        epochs = [e.epoch for log in logs for e in log.epochs]
        epochs += [state.leader_epoch, *(r.leader_epoch for r in replicas)]
        if min(epochs) < 0 or max(epochs) > state.leader_epoch:
            raise NotCompiledError("a log has a leader epoch that the controller does not know yet")
        offsets = {0, *_offsets(cluster), *(log.end for log in logs)}
        offsets |= {e.offset for log in logs for e in log.epochs}
        self.offsets = NumberScale("offset", offsets, 0, writes + 1)
        self.epochs = NumberScale("leader epoch", epochs, 1, 1)
        versions: list[int] = [r.partition_epoch for r in replicas if r.leading is not None]
        versions += list(_known_versions(cluster))
        self.versions = NumberScale(
            "partition epoch", [min([state.partition_epoch, *versions])], 0, 1
        )


def _replicas(cluster: Cluster) -> Iterator[Replica]:
    for node in cluster.brokers:
        if node.process is not None:
            yield from node.process.replicas


def _logs(cluster: Cluster) -> Iterator[Log]:
    for node in cluster.brokers:
        yield from (r.log for r in node.durable.replicas)


def _offsets(cluster: Cluster) -> Iterator[int]:
    for node in cluster.brokers:
        yield from (r.checkpoint for r in node.durable.replicas)
    for replica in _replicas(cluster):
        yield replica.high_watermark
        if replica.leading is not None:
            yield replica.leading.start_offset
            yield from (r.end for r in replica.leading.remotes if r.end >= 0)


def _known_versions(cluster: Cluster) -> Iterator[int]:
    for node in cluster.brokers:
        known = node.process.image if node.process is not None else None
        if known is not None:
            yield from (p.partition_epoch for p in known.partitions)

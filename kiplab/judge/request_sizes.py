"""`kiplab.request_sizes`: the saving of naming each topic once, as a table and a picture.

The size of a control request's body is that of its fields: no header, no flexible version.
"""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    import plotly.graph_objects as go

BROKERS, HOST, LISTENER, RACK = 3, 20, "PLAINTEXT", 5
"""Live brokers; the lengths of their host's name and their rack's; their only listener."""


class BodyBytes(NamedTuple):
    """What a version's body takes, but for names of topics: `fixed` with its live brokers, for each
    partition, for each replica of one, and for each topic; None where a partition has the name.
    """

    fixed: int
    partition: int
    replica: int
    topic: int | None = None


BEFORE_AND_AFTER = {
    "LeaderAndIsr": {1: BodyBytes(106, 31, 8), 2: BodyBytes(114, 29, 8, 6)},
    "UpdateMetadata": {4: BodyBytes(178, 34, 8), 5: BodyBytes(186, 32, 8, 6)},
    "StopReplica": {0: BodyBytes(13, 6, 0), 1: BodyBytes(21, 4, 0, 6)},
}
"""KIP-380: the last version that repeats a name, the first that does not; as in Kafka's schemas."""
LONGEST_NAME = 249
"""Of a topic."""


class ImpossibleRequestError(ValueError):
    """A request that there cannot be; the message says why."""


class RequestShape(NamedTuple):
    """So many partitions and topics, in-sync replicas of each, and bytes of a topic's name."""

    partitions: int
    topics: int
    name_length: int
    replicas: int


def request_size(api: str, version: int, shape: RequestShape) -> int:
    """Bytes of the body. Raises ImpossibleRequestError for a shape that no request can have, and
    KeyError for a version that is none of `BEFORE_AND_AFTER`.
    """
    _check(shape)
    body = BEFORE_AND_AFTER[api][version]
    of_partitions = shape.partitions * (body.partition + body.replica * shape.replicas)
    if body.topic is None:
        return body.fixed + of_partitions + shape.partitions * shape.name_length
    return body.fixed + of_partitions + shape.topics * (body.topic + shape.name_length)


def _check(shape: RequestShape) -> None:
    """Raises ImpossibleRequestError for a shape that no request can have."""
    if shape.topics < 1 or shape.replicas < 1:
        fewest = "topics" if shape.topics < 1 else "replicas"
        raise ImpossibleRequestError(f"{fewest}={getattr(shape, fewest)}; there is at least one")
    if shape.partitions < shape.topics:
        raise ImpossibleRequestError(
            f"partitions={shape.partitions}, topics={shape.topics}; every topic has a partition"
        )
    if not 1 <= shape.name_length <= LONGEST_NAME:
        raise ImpossibleRequestError(
            f"name_length={shape.name_length}; a topic's name has from 1 to {LONGEST_NAME} bytes"
        )


# --- the table ------------------------------------------------------------------------------------

_USUAL = RequestShape(1000, 10, 20, 3)
TOLD = (
    ("LeaderAndIsr", _USUAL),
    ("LeaderAndIsr", _USUAL._replace(replicas=1)),
    ("LeaderAndIsr", _USUAL._replace(name_length=100)),
    ("LeaderAndIsr", _USUAL._replace(name_length=249)),
    ("LeaderAndIsr", RequestShape(100_000, 1000, 20, 3)),
    ("LeaderAndIsr", RequestShape(1000, 1000, 20, 3)),
    ("LeaderAndIsr", RequestShape(1, 1, 20, 3)),
    ("UpdateMetadata", _USUAL),
    ("StopReplica", _USUAL),
)
"""What shows most: how much it depends on the length of names, and on partitions for each topic."""
_LINE = "{:<15} {:>10} {:>7} {:>6} {:>8} {:>12} {:>12} {:>8}"
_WIDTH = len(_LINE.format(*[""] * 8))


class SizeChange(msgspec.Struct, frozen=True):
    """A request's body before KIP-380 and since, in bytes, and in which versions."""

    api: str
    versions: tuple[int, int]
    partitions: int
    topics: int
    name_length: int
    replicas: int
    before: int
    after: int

    @property
    def change(self) -> float:
        """By how much of itself it grew; negative where it shrank."""
        return self.after / self.before - 1

    def line(self) -> str:
        """It, in a table."""
        old, new = self.versions
        shape = (f"{self.partitions:,}", f"{self.topics:,}", self.name_length, self.replicas)
        sizes = (f"v{old} {self.before:,}", f"v{new} {self.after:,}", f"{self.change:+.1%}")
        return _LINE.format(self.api, *shape, *sizes).rstrip()


class RequestSizes(msgspec.Struct, frozen=True):
    """What `kiplab.request_sizes` found, a row for each request."""

    rows: tuple[SizeChange, ...]

    def text(self) -> str:
        """A table, and what is the same in all of its rows."""
        heads = ("request", "partitions", "topics", "name", "replicas", "before", "after", "change")
        lines = [_LINE.format(*heads), *(row.line() for row in self.rows)]
        return "\n".join([*lines, fill(NOTE, _WIDTH)])

    def report(self) -> dict[str, Any]:
        """Plain values."""
        return dict(msgspec.to_builtins(self))

    def figure(self, **options: Any) -> go.Figure:
        """A bar for each row; options as of `kiplab.figures.request_sizes_chart.sizes_figure`:
        `theme`, `width`.

        Raises ValueError for one of them, MissingExtraError without plotly.
        """
        from ..figures.request_sizes_chart import sizes_figure

        return sizes_figure(self.report()["rows"], NOTE, **options)

    def __repr__(self) -> str:
        return self.text()


NOTE = (
    f"Bytes of the body, without a header; names in bytes. {BROKERS} live brokers with host names"
    f" of {HOST} bytes, one listener {LISTENER}, racks of {RACK}."
)


def request_sizes(
    partitions: int | None = None, topics: int = 10, name_length: int = 20, replicas: int = 3
) -> RequestSizes:
    """How large LeaderAndIsr, UpdateMetadata and StopReplica are about so many partitions of so
    many topics, with names of so many bytes, before KIP-380 and since; without any number, nine
    requests that show where it saves and where it does not.

    Raises ImpossibleRequestError for numbers that no request can have.
    """
    requests: tuple[tuple[str, RequestShape], ...] = TOLD
    if partitions is not None:
        shape = RequestShape(partitions, topics, name_length, replicas)
        requests = tuple((api, shape) for api in BEFORE_AND_AFTER)
    rows = []
    for api, shape in requests:
        first, last = BEFORE_AND_AFTER[api]
        before, after = (request_size(api, version, shape) for version in (first, last))
        rows.append(SizeChange(api, (first, last), *shape, before=before, after=after))
    return RequestSizes(tuple(rows))

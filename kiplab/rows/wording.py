"""Small words that several rows share."""

from ..protocol.ids import BrokerId, node_name
from ..protocol.messages import BODIES, asked_by


def api_name(kind: str) -> str:
    """``"AlterPartition reply"`` of ``"alter-partition-reply"``."""
    asked = asked_by(kind)
    name = BODIES[asked].api.label
    return name if asked == kind else f"{name} reply"


def offsets(first: int, last: int) -> str:
    """One offset, or from the first to the last of many; both are inclusive."""
    return f"offset {first}" if first == last else f"offsets {first}–{last}"


def lane_of(node: int) -> str:
    """The lane of a node: ``"broker 2"``, ``"controller"`` or ``"client"``."""
    return node_name(BrokerId(node))


def plural(count: int, noun: str) -> str:
    """``1 record``, ``10 records``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"

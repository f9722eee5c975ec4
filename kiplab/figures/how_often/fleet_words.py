"""The meanings of the fleet's names in a picture: sets of KIPs, metrics, signs."""

from collections.abc import Hashable, Iterable, Sequence
from html import escape
from typing import TypeVar

import msgspec

from ...rows.sentences import html_table

NO_KIPS = "none"
_OF_TODAY = {"elr": "Kafka 4.3 with ELR", "no-elr": "Kafka 4.3 without ELR"}
"""Sets that are named after no KIP (ELR: eligible leader replicas, KIP-966)."""
_SameKey = TypeVar("_SameKey", bound=Hashable)
_METRICS = {
    "stale_join": "A stale replica joins the ISR",
    "stale_join_after_crash": "A stale replica joins after a crash",
    "committed_loss": "Committed records are lost",
    "race_loss": "Lost by the race (KAFKA-14139)",
    "last_replica_loss": "Lost with the last replica",
    "unclean_loss": "Lost by an unclean election",
    "shock_loss": "Lost in a shock",
    "offline": "A partition goes offline",
    "all_replicas_gone": "All replicas are gone, one by one",
    "offline_us": "Time offline",
    "all_gone_us": "Time offline, all replicas gone one by one",
    "under_min_us": "Time below min.insync.replicas",
    "recovery_us": "Time in recovery",
}


def metric_words(metric: str) -> str:
    """``A stale replica joins the ISR``; a metric without words says its name."""
    return _METRICS.get(metric, metric.replace("_", " ").capitalize())


def set_words(features: str) -> str:
    """``KIP-841+903``; ``no KIP`` for none; ``Kafka 4.3 with ELR``."""
    kips = "no KIP" if features == NO_KIPS else f"KIP-{features}"
    return _OF_TODAY.get(features, kips)


def sets_words(several: list[str]) -> str:
    """Sets that came to the same: ``KIP-841 (also with 704)``."""
    first, *others = several
    had, also = {*first.split("+")} - {NO_KIPS}, []
    for other in others:
        kips = other.split("+")
        more = "+".join(kip for kip in kips if kip not in had)
        is_more = had < {*kips} and not {first, other} & {*_OF_TODAY}
        also.append(f"with {more}" if is_more else set_words(other))
    return set_words(first) + (f" (also {', '.join(also)})" if also else "")


def counted(count: int, what: str) -> str:
    """``1 incident``, ``2,000 incidents``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(words: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def alike(pairs: Iterable[tuple[_SameKey, str]]) -> dict[_SameKey, list[str]]:
    """Names that came to the same, by what they came to, in their order."""
    same: dict[_SameKey, list[str]] = {}
    for key, name in pairs:
        same.setdefault(key, []).append(name)
    return same


def capital(words: str) -> str:
    """With a capital letter, but for the name of a parameter."""
    return words if "_" in words else words[:1].upper() + words[1:]


class PlotTable(msgspec.Struct, frozen=True):
    """A caption, heads, and a line of words per row."""

    caption: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]


def plot_table_html(table: PlotTable) -> str:
    """The table as HTML; the first word of a line is its head."""
    cells = ((first, (f"<td>{escape(word)}</td>" for word in more)) for first, *more in table.lines)
    lines = "".join(
        f'<tr><th scope="row">{escape(first)}</th>{"".join(more)}</tr>' for first, more in cells
    )
    return html_table(table.caption, table.heads, lines)

"""The fate of KIP-343's ideas: with AlterIsr (KIP-497), in KRaft (KIP-631), or never."""

from html import escape
from typing import Any

import msgspec

from .sentences import html_table

TITLE = "What became of KIP-343"
HEADS = ("KIP-343", "what became of it", "by", "clause")
LOOK = (
    "<style>.kiplab-fates.kiplab-fates :is(td, th) { text-align: left; }"
    " .kiplab-fates.kiplab-fates tbody th { font-weight: normal; }"
    " .kiplab-fates.kiplab-fates .kiplab-kip { white-space: nowrap; }</style>"
)
"""From the left, as sentences are read, and no KIP broken at its hyphen."""


class IdeaFate(msgspec.Struct, frozen=True):
    """An idea of KIP-343, its fate, the KIP that brought it (or None), and the ledger's clause."""

    idea: str
    became: str
    by: int | None
    clause: str


FATES = (
    IdeaFate("heartbeats to the controller", "BrokerHeartbeat, every 2 s", 631, "343.18"),
    IdeaFate(
        "the incarnation id, which is the czxid of the broker's znode",
        "the broker epoch: the czxid since 2.2, in KRaft the offset of the registration",
        380,
        "343.12",
    ),
    IdeaFate(
        "a heartbeat with a higher incarnation is accepted",
        "a heartbeat with any other epoch is refused: STALE_BROKER_EPOCH",
        None,
        "343.30",
    ),
    IdeaFate(
        "a target state in each heartbeat",
        "two flags: to be fenced, to be shut down",
        631,
        "343.26",
    ),
    IdeaFate(
        "inactive, active, stopping",
        "fenced, unfenced, in controlled shutdown, and an answer that ends it",
        631,
        "343.13",
    ),
    IdeaFate(
        "the controller declares silent brokers inactive",
        "broker.session.timeout.ms, 9 s",
        631,
        "343.22",
    ),
    IdeaFate(
        "a broker that cannot reach the controller fences itself",
        "a broker that is cut off keeps serving clients",
        None,
        "343.19",
    ),
    IdeaFate(
        "leaders propose an ISR to the controller",
        "AlterIsr, from 3.2 on AlterPartition, with a partition epoch",
        497,
        "343.35",
    ),
    IdeaFate(
        "brokers still register in ZooKeeper: an RPC was rejected",
        "BrokerRegistration",
        631,
        "343.66",
    ),
    IdeaFate(
        "legacy brokers, always active, recognised by the version of their znode",
        "the whole cluster moves at one metadata version",
        None,
        "343.64",
    ),
)


class IdeaFates(msgspec.Struct, frozen=True):
    """The table: as text, as rows, as HTML in a notebook."""

    rows: tuple[IdeaFate, ...] = FATES

    def text(self) -> str:
        """A line for each idea."""
        return "\n".join(
            f"{row.idea} -> {row.became} ({_brought(row)}; clause {row.clause})"
            for row in self.rows
        )

    def report(self) -> dict[str, Any]:
        """The rows, for programs."""
        return {"title": TITLE, "rows": [msgspec.structs.asdict(row) for row in self.rows]}

    def _repr_html_(self) -> str:
        table = html_table(TITLE, HEADS, "".join(map(_line, self.rows)))
        return LOOK + table.replace("<table>", '<table class="kiplab-fates">')


def heartbeat_fates() -> IdeaFates:
    """The ideas of KIP-343 that KRaft and AlterIsr took over, and those never built."""
    return IdeaFates()


def _line(row: IdeaFate) -> str:
    by = f'<td class="kiplab-kip">{_brought(row)}</td>'
    cells = f"<td>{escape(row.became)}</td>{by}<td>{row.clause}</td>"
    return f'<tr><th scope="row">{escape(row.idea)}</th>{cells}</tr>'


def _brought(row: IdeaFate) -> str:
    return "never" if row.by is None else f"KIP-{row.by}"

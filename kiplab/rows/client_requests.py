"""What clients asked brokers, and what they were told: a row each, like those of messages.

Clients' requests are atomic: a request arrives at the moment at which it was sent. Consumers and
producers that have a name have a lane in pictures; whoever has none (a producer, an admin client)
has one only where a guard refused it and there are others: else the axis says enough.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from ..engine import cluster, consumers, moves
from ..engine.events import Event
from ..engine.history import Recorded
from ..protocol import facts, ids
from ..protocol.replica.client_reads import CONSUMER_FETCH, END_OF_EPOCH, LIST_OFFSETS
from ..protocol.replica.produce import DELETE_RECORDS, PRODUCE
from .columns import MessageRow, Rows, lane_of, offsets
from .message_paths import clause_of, compared_words
from .snapshots import Snapshot

API_LABELS = {
    CONSUMER_FETCH: "Fetch",
    PRODUCE: "Produce",
    LIST_OFFSETS: "ListOffsets",
    END_OF_EPOCH: "OffsetForLeaderEpoch",
    DELETE_RECORDS: "DeleteRecords",
}
"""The requests of clients, as Kafka calls them."""
NOBODY = "nobody"
"""The receiver of what could not be asked, as no leader is known."""
RAISES = "raises "
"""How the outcome begins of what an application has to deal with; the exception follows."""


class ClientTold(NamedTuple):
    """What a client learnt: its request, its fate as in `MessageRow`, in words; the node asked."""

    request: str
    fate: str
    outcome: str
    node: int
    error: str = ""


def client_requests(shots: Sequence[Snapshot]) -> tuple[MessageRow, ...]:
    """In the order in which they were asked."""
    return tuple(
        row
        for shot in shots
        for move in shot.moves
        for row in _of_step(move.step, move.named, shot.x)
    )


def _of_step(step: Recorded, events: Sequence[tuple[str, Event]], x: int) -> Iterator[MessageRow]:
    """A row per request; what a client makes of its answer is said with that."""
    row: MessageRow | None = None
    for id, event in events:
        after = _AFTER.get(type(event))
        if after is not None and row is not None:
            row = replace(row, outcome=after(event), ended=(*row.ended, id))
            continue
        client, client_told = _client(step, event), _told(event, step.cluster)
        if client and client_told is not None:
            if row is not None:
                yield row
            row = _row(client, client_told, event, id, x)
    if row is not None:
        yield row


def _client(step: Recorded, event: Event) -> str:
    """Who asked: as the fact says, or as the move does; empty for what no client asked."""
    for kind in ("consumer", "producer"):
        name = getattr(event, kind, "")
        if name:
            return client_name(kind, name)
    if isinstance(event, facts.Appended) and not isinstance(step.move, moves.Produce):
        # A producer with a name is told of it, at once or later.
        return ""
    client_of = _CLIENTS.get(type(step.move))
    return client_of(step.move) if client_of is not None else ""


def _told(event: Event, after: cluster.Cluster) -> ClientTold | None:
    if isinstance(event, facts.ConsumerRaised):
        mine = consumers.consumer_of(after, event.consumer, event.partition)
        node = ids.NO_LEADER if mine is None else mine.leader
        return ClientTold(END_OF_EPOCH, "delivered", f"{RAISES}{event.exception}", node)
    if isinstance(event, facts.Refused):
        if event.request not in API_LABELS:
            return None
        return ClientTold(event.request, "refused", "", event.node, event.error.name)
    if type(event) not in _TELLS:
        return None
    request, outcome = _TELLS[type(event)]
    first, last = getattr(event, "first", 0), getattr(event, "last", 0)
    said = outcome.format(e=event, range=_range(first, last) if first <= last else "nothing")
    error, node = getattr(event, "error", None), getattr(event, "node", ids.NO_LEADER)
    if error is None:
        return ClientTold(request, "delivered", said, node)
    return ClientTold(request, "dropped", said, node, error.name)


def _row(client: str, client_told: ClientTold, event: Event, id: str, x: int) -> MessageRow:
    label = API_LABELS[client_told.request]
    guard = event.guard or "" if isinstance(event, facts.Refused) else ""
    compared = event.compared if isinstance(event, facts.Refused) else ()
    return MessageRow(
        name=f"{client_told.request} of {client} at {id}",
        kind=client_told.request,
        sender=client,
        receiver=NOBODY if client_told.node == ids.NO_LEADER else lane_of(client_told.node),
        x_sent=x,
        x_arrived=x,
        fate=client_told.fate,
        label=label,
        detail=f"{label} of {client}",
        outcome=client_told.outcome,
        partition=str(getattr(event, "partition", "") or ""),
        error=client_told.error,
        guard=guard,
        clause=clause_of(guard),
        compared=tuple(map(compared_words, compared)),
        began=id,
        ended=(id,),
    )


def clients_shown(rows: Rows, partition: str = "") -> list[str]:
    """The clients that have a lane in a picture of that partition, those first that asked first."""
    found: dict[str, list[MessageRow]] = {}
    for row in asked_about(rows, partition):
        found.setdefault(row.sender, []).append(row)
    named = any(name not in NAMELESS for name in found)
    return [
        name
        for name, asked in found.items()
        if name not in NAMELESS or (named and any(row.guard for row in asked))
    ]


def asked_about(rows: Rows, partition: str = "") -> Iterator[MessageRow]:
    """The requests about a partition; about all of them without one."""
    return (row for row in rows.clients if not partition or row.partition in ("", partition))


# --- who asked, and what it was told ------------------------------------------------------------


def client_name(kind: str, name: str) -> str:
    """``consumer``, ``consumer audit``."""
    return kind if name == kind else f"{kind} {name}"


def short_name(client: str) -> str:
    """``audit``, ``shop``, ``admin``: its own name, or in one word what it is."""
    return client.removeprefix("consumer ").removeprefix("producer ").removesuffix(" client")


ADMIN, PRODUCER = "admin client", "producer"
NAMELESS = (ADMIN, PRODUCER)
"""Clients that nobody gave a name."""
_CLIENTS: dict[type, Callable[[Any], str]] = {
    moves.Poll: lambda move: client_name("consumer", move.consumer),
    moves.ResetOffset: lambda move: client_name("consumer", move.consumer),
    moves.ProduceAs: lambda move: client_name("producer", move.producer),
    moves.Resend: lambda move: client_name("producer", move.producer),
    moves.Produce: lambda _: PRODUCER,
    moves.DeleteRecords: lambda _: ADMIN,
}


def _range(first: int, last: int) -> str:
    return offsets(first, last).split(" ")[1]


_TELLS: dict[type, tuple[str, str]] = {
    facts.Polled: (CONSUMER_FETCH, "reads {range}"),
    facts.PollFailed: (CONSUMER_FETCH, "no answer"),
    facts.Appended: (PRODUCE, "writes {range}"),
    facts.BatchAcknowledged: (PRODUCE, "{range} acknowledged"),
    facts.BatchWaits: (PRODUCE, "writes {range}, waits"),
    facts.BatchRequeued: (PRODUCE, "no answer"),
    facts.ReplicaPreferred: (CONSUMER_FETCH, "sent to broker {e.replica}"),
    facts.PositionValidated: (END_OF_EPOCH, "{e.position} holds"),
    facts.PositionTruncated: (END_OF_EPOCH, "back to {e.after}"),
    facts.PositionReset: (LIST_OFFSETS, "goes to {e.after}"),
    facts.RecordsDeleted: (DELETE_RECORDS, "deletes below {e.start}"),
}
"""The request of which an event tells, and what the client learns; an error is no answer."""

_AFTER: dict[type, Callable[[Any], str]] = {
    facts.ConsumerRaised: lambda e: f"{RAISES}{e.exception}",
    facts.BatchRequeued: lambda _: "will send it again",
    facts.BatchFailed: lambda e: f"{RAISES}{e.exception}",
}
"""What a client makes of an answer."""

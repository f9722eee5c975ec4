"""Requests of clients to brokers with their answers: a row each, like those of messages.

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
from .columns import MessageRow, Rows, offsets
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


class ClientAnswer(NamedTuple):
    """What a client learnt: its request, its fate as in `MessageRow`, in words; the node asked."""

    request: str
    fate: str
    outcome: str
    node: ids.BrokerId
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
    if isinstance(event, facts.Appended) and not isinstance(step.move, moves.Produce):
        # A producer with a name gets an answer, at once or later.
        return _named(event)
    return _named(event) or _named(step.move) or _NAMELESS.get(type(step.move), "")


def _named(event: Any) -> str:
    """The client by name that an event or a move is about; empty if there is none."""
    names = ((kind, getattr(event, kind, "")) for kind in ("consumer", "producer"))
    return next((client_name(kind, name) for kind, name in names if name), "")


def _told(event: Event, after: cluster.Cluster) -> ClientAnswer | None:
    if isinstance(event, facts.ConsumerRaised):
        mine = consumers.consumer_of(after, event.consumer, event.partition)
        node = ids.NO_LEADER if mine is None else mine.leader
        return ClientAnswer(END_OF_EPOCH, "delivered", f"{RAISES}{event.exception}", node)
    if isinstance(event, facts.Refused):
        if event.request not in API_LABELS:
            return None
        return ClientAnswer(event.request, "refused", "", event.node, event.error.name)
    if type(event) not in _TELLS:
        return None
    request, outcome = _TELLS[type(event)]
    first, last = getattr(event, "first", 0), getattr(event, "last", 0)
    of = offsets(first, last).split(" ")[1] if first <= last else "nothing"
    words, node = outcome.format(e=event, range=of), getattr(event, "node", ids.NO_LEADER)
    error = getattr(event, "error", None)
    if error is None:
        return ClientAnswer(request, "delivered", words, node)
    return ClientAnswer(request, "dropped", words, node, error.name)


def _row(client: str, client_told: ClientAnswer, event: Event, id: str, x: int) -> MessageRow:
    label = API_LABELS[client_told.request]
    refused = event if isinstance(event, facts.Refused) else None
    guard = refused.guard or "" if refused else ""
    return MessageRow(
        name=f"{client_told.request} of {client} at {id}",
        kind=client_told.request,
        sender=client,
        receiver=NOBODY if client_told.node == ids.NO_LEADER else ids.node_name(client_told.node),
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
        compared=tuple(map(compared_words, refused.compared if refused else ())),
        began=id,
        ended=(id,),
    )


def clients_shown(rows: Rows, partition: str = "") -> list[str]:
    """The clients that have a lane in a picture of that partition, those first that asked first."""
    requests = list(requests_about(rows, partition))
    clients = dict.fromkeys(row.sender for row in requests)
    named = any(name not in NAMELESS for name in clients)
    guarded = {row.sender for row in requests if row.guard and named}
    return [name for name in clients if name not in NAMELESS or name in guarded]


def requests_about(rows: Rows, partition: str = "") -> Iterator[MessageRow]:
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
"""Clients without a name."""
_NAMELESS: dict[type, str] = {moves.Produce: PRODUCER, moves.DeleteRecords: ADMIN}
"""Who makes a move that names no client."""


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

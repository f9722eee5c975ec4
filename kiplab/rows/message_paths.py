"""Messages: the beginning and the end of each, and its fate there."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ..engine import moves, truth
from ..engine.cluster import Cluster, MessageName, broker
from ..engine.events import Delivered, Dropped, Event, Sent
from ..protocol.facts import Compared, IsrChanged, Refused
from ..protocol.guards import GUARDS
from ..protocol.ids import NO_LEADER, BrokerId, broker_list, node_name
from ..protocol.messages import ANSWERED, BODIES, Against, ApiRequest, FetchRequest, asked_by
from ..protocol.messages.replication_messages import AlterPartitionItem, AlterPartitionRequest
from . import columns, operator_log
from .snapshots import Moment, Snapshot, replica_at

LEADER_EPOCH_IN_ZOOKEEPER = "zookeeper.leader-epoch"
"""The check by which brokers pass over a LeaderAndIsr that is not newer than what they know."""


def messages(shots: Sequence[Snapshot]) -> tuple[columns.MessageRow, ...]:
    """All messages in the order they were sent."""
    rows: dict[MessageName, columns.MessageRow] = {}
    for shot in shots:
        for move in shot.moves:
            for id, event in move.named:
                if isinstance(event, Sent | Delivered | Dropped):
                    row = rows.get(event.message) or _sent(event, shot.x, move)
                    changes = _changes(row, id, event, shot.x, move)
                    rows[event.message] = replace(row, **changes)
    return tuple(_with_answers(tuple(rows.values())))


def _changes(
    row: columns.MessageRow, id: str, event: Sent | Delivered | Dropped, x: int, move: Moment
) -> dict[str, Any]:
    """What an event makes of a message's row. A queued request may come to a later incarnation."""
    if isinstance(event, Dropped):
        return {"x_arrived": x, "fate": "dropped", "outcome": event.why, "ended": (id,)}
    meant = move.sent_for.get(event.message)
    changes: dict[str, Any] = {} if meant is None else {"meant_for": meant}
    if isinstance(event, Sent):
        return changes | {"began": id, "duplicate": isinstance(move.step.move, moves.Duplicate)}
    now = truth.registration_of(move.before, event.receiver)
    return changes | {
        "x_arrived": x,
        "held": tuple(held_by_receiver(event, move.before)),
        "log": operator_log.all_lines(move),
        "previous_incarnation": event.previous_incarnation,
        "earlier_life": meant is not None and now is not None and meant < now.epoch,
        **_answered(row, id, event, move),
    }


def _sent(event: Sent | Delivered | Dropped, x: int, move: Moment) -> columns.MessageRow:
    name, before = event.message, move.before
    sender = broker(move.step.cluster, name.sender) or broker(before, name.sender)
    process = sender.process if sender is not None else None
    return columns.MessageRow(
        name=str(name),
        kind=name.kind,
        sender=node_name(name.sender),
        receiver=node_name(event.receiver),
        x_sent=x,
        x_arrived=None,
        fate="in flight",
        label=event.body.on_arrow(
            lambda name: getattr(truth.partition_of(before, name), "isr", ())
        ),
        detail=event.body.in_words(),
        fields=tuple(event.body.details()) if isinstance(event.body, ApiRequest) else (),
        partition=event.body.about(),
        sent_by=-1 if process is None else process.epoch,
    )


def _answered(row: columns.MessageRow, id: str, event: Delivered, move: Moment) -> dict[str, Any]:
    """The fate of a message that arrived, and the ids of the events about it."""
    refused = next((e for e in move.step.events if _is_about(e, event)), None)
    if not isinstance(refused, Refused) or _is_idle(refused):
        outcome = _accepted(event, move.step.events)
        what = (i for i, fact in move.named if outcome and isinstance(fact, IsrChanged))
        return {"fate": "delivered", "outcome": outcome, "ended": (id, *what)}
    return {
        "fate": "refused",
        "error": refused.error.name,
        "guard": refused.guard or "",
        "clause": clause_of(refused.guard),
        "compared": tuple(map(compared_words, refused.compared)),
        "partition": refused.partition or row.partition,
        "ended": (id, *(i for i, fact in move.named if _is_about(fact, event))),
    }


def _with_answers(rows: Sequence[columns.MessageRow]) -> Iterator[columns.MessageRow]:
    """Requests whose answer came at the same moment have its log lines too."""
    answers: dict[tuple[str, str, int | None], list[str]] = {}
    for row in rows:
        if row.kind in ANSWERED and row.fate == "delivered" and row.log:
            key = (asked_by(row.kind), row.receiver, row.x_arrived)
            answers.setdefault(key, []).extend(row.log)
    for row in rows:
        more = answers.get((row.kind, row.sender, row.x_arrived))
        yield replace(row, log=tuple(dict.fromkeys((*row.log, *more)))) if more else row


def _is_about(event: Event, delivered: Delivered) -> bool:
    return isinstance(event, Refused) and event.node == delivered.receiver


def _is_idle(refused: Refused) -> bool:
    """A LeaderAndIsr that says what its receiver knows: the error in the answer is harmless."""
    says = {compared.requested == compared.held for compared in refused.compared}
    return refused.guard == LEADER_EPOCH_IN_ZOOKEEPER and says == {True}


def _accepted(event: Delivered, events: Sequence[Event]) -> str:
    """The fate of a request that the controller refused for a partition."""
    body = event.body
    if not isinstance(body, ApiRequest) or body.against is not Against.PARTITION:
        return ""
    changed = next((e for e in events if isinstance(e, IsrChanged)), None)
    if changed is None:
        return "accepted"
    isr = broker_list(changed.after)
    return f"accepted: ISR {isr}, partition epoch {changed.partition_epoch}"


def compared_words(compared: Compared) -> str:
    """``broker 2: request 41, registered 57``."""
    if compared.requested in ("member", "caught up"):
        return f"{compared.name} is {compared.held}"
    if compared.name.startswith("broker") and compared.name.endswith(" epoch"):
        who = compared.name.removesuffix(" epoch")
        return f"{who}: request {compared.requested}, registered {compared.held}"
    return f"{compared.name}: request {compared.requested}, here {compared.held}"


def clause_of(guard: str | None) -> str:
    """``KIP-903: its clause``; empty for no guard."""
    guarded = GUARDS.get(guard or "")
    return f"{guarded.subject}: {guarded.clause}" if guarded is not None else ""


# --- told messages --------------------------------------------------------------------------------


ARROWS_MAX = 12
MESSAGES_MAX = 6
"""A picture of more messages marks metadata where it arrives."""
METADATA = ("metadata", "update-metadata", "update-metadata-reply")


def drawn_messages(rows: columns.Rows, partition: str = "") -> list[columns.MessageRow]:
    """The messages that get an arrow, most telling first; equal ones share one arrow.

    Those that arrived at once and were not refused have none: hover cards and tables list them.
    With `partition`, those about others have none either.
    """
    groups: dict[tuple[object, ...], list[columns.MessageRow]] = {}
    for m in _telling(rows, partition):
        groups.setdefault(_alike(m), []).append(m)
    merged = [_merged(group) for group in groups.values()]
    merged.sort(key=lambda m: (m.fate != "refused", BODIES[m.kind].prominence, m.x_sent))
    return merged[:ARROWS_MAX]


def marked_messages(
    rows: columns.Rows, partition: str = "", *others: columns.Rows
) -> list[columns.MessageRow]:
    """Of `drawn_messages`, the metadata that has no arrow where there are more than MESSAGES_MAX
    messages, or in a picture together with such `others`. What is sent or ends at the last moment
    keeps it.
    """
    # How many arrows there would be if every metadata message had one of its own.
    crowds = (
        sum(m.kind in METADATA for m in _telling(each, partition))
        + sum(m.kind not in METADATA for m in drawn_messages(each, partition))
        for each in (rows, *others)
    )
    if max(crowds) <= MESSAGES_MAX:
        return []
    last = rows.meta.end - 1
    metadata = (m for m in drawn_messages(rows, partition) if m.kind in METADATA)
    return [m for m in metadata if m.fate != "refused" and last not in (m.x_sent, m.x_arrived)]


def _telling(rows: columns.Rows, partition: str) -> list[columns.MessageRow]:
    """Those that took their time, or were refused; of a partition, if one is named."""
    about = ("", partition or None)
    telling = (m for m in rows.messages if m.is_telling)
    return [m for m in telling if m.earlier_life or not partition or m.partition in about]


def _alike(m: columns.MessageRow) -> tuple[object, ...]:
    """What equal messages share; those for an earlier incarnation that come at once are equal."""
    if m.earlier_life:
        return (m.sender, m.receiver, m.x_arrived, m.fate, m.error, m.meant_for)
    return (m.kind, m.sender, m.receiver, m.x_arrived, m.fate, m.partition)


def _merged(group: list[columns.MessageRow]) -> columns.MessageRow:
    first, *others = group
    if not others:
        return first
    ended = (*first.ended, *(id for m in others for id in (m.began, *m.ended) if id))
    if first.earlier_life:
        detail = "; ".join(m.detail for m in group)
        fields = (*first.fields, *dict.fromkeys(m.detail for m in group))
        return replace(first, label=_bundle(group), detail=detail, fields=fields, ended=ended)
    return replace(first, label=f"{first.label} ×{len(group)}", ended=ended)


def _bundle(group: list[columns.MessageRow]) -> str:
    """``LeaderAndIsr, StopReplica ×2 · 3 requests for czxid 100``."""
    names = [BODIES[m.kind].api.label for m in group]
    listed = ", ".join(
        name if names.count(name) == 1 else f"{name} ×{names.count(name)}"
        for name in dict.fromkeys(names)
    )
    return f"{listed} · {len(group)} requests for czxid {group[0].meant_for}"


# --- what the receiver held -----------------------------------------------------------------------


def held_by_receiver(event: Delivered, before: Cluster) -> Iterator[str]:
    """What the receiver compares the request with; `before` is the cluster as the request came."""
    if isinstance(event.body, ApiRequest):
        yield from _HELD[event.body.against](event.body, event, before)


def _controller(body: AlterPartitionRequest, _: Delivered, before: Cluster) -> Iterator[str]:
    for item in body.items:
        yield from _partition(item, before)
        registered = (_registered(m.broker, before) for m in item.isr)
        yield f"registered are {'; '.join(registered)}"


def _partition(item: AlterPartitionItem, before: Cluster) -> Iterator[str]:
    state = truth.partition_of(before, item.partition)
    if state is None:
        yield f"the controller knows no {item.partition}"
        return
    leader = "no leader" if state.leader == NO_LEADER else f"leader {state.leader}"
    epochs = f"leader epoch {state.leader_epoch}, partition epoch {state.partition_epoch}"
    yield f"the controller held {leader}, {epochs}, ISR {broker_list(state.isr)}"


def _registered(id: BrokerId, before: Cluster) -> str:
    registration = truth.registration_of(before, id)
    if registration is None:
        return f"broker {id} not at all"
    state = "fenced" if registration.fenced else "active"
    if registration.in_controlled_shutdown:
        state = "shutting down"
    return f"broker {id} as epoch {registration.epoch}, {state}"


def _leader(body: FetchRequest, event: Delivered, before: Cluster) -> Iterator[str]:
    mine = replica_at(before, event.receiver, body.partition)
    if mine is None:
        yield f"broker {event.receiver} has no {body.partition}"
        return
    part = "leads" if mine.leading is not None else "does not lead"
    mark = f"high watermark {mine.high_watermark}"
    yield f"broker {event.receiver} {part} with leader epoch {mine.leader_epoch}, {mark}"


_HELD: dict[Against, Callable[[Any, Delivered, Cluster], Iterable[str]]] = {
    Against.PARTITION: _controller,
    Against.REPLICA: _leader,
    Against.REGISTRATION: lambda _, event, before: [
        f"registered is {_registered(event.message.sender, before)}"
    ],
    Against.NOTHING: lambda *_: (),
}

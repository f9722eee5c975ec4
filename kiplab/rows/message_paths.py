"""Messages: where each began, where it ended, and what became of it there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ..engine import explain
from ..engine.cluster import Cluster, MessageName, broker
from ..engine.events import Delivered, Dropped, Event, Sent
from ..engine.history import Recorded
from ..engine.moves import Duplicate
from ..engine.truth import partition_of
from ..protocol.facts import Compared, IsrChanged, Refused
from ..protocol.guards import GUARDS
from ..protocol.ids import BrokerId, broker_list
from ..protocol.messages import ANSWERED, AlterPartitionRequest, FetchRequest, asked_by
from . import message_contents
from .columns import MessageRow
from .operator_log import Moment, all_lines
from .snapshots import Snapshot
from .wording import api_name, lane_of

Found = dict[MessageName, MessageRow]


def messages(shots: Sequence[Snapshot]) -> tuple[MessageRow, ...]:
    """All messages in the order they were sent."""
    found: Found = {}
    before = shots[0].cluster
    for shot in shots:
        for step in shot.steps:
            for event in step.events:
                _note(found, event, shot.x, before, step)
            before = step.cluster
    return tuple(_with_answers(found.values()))


def _note(found: Found, event: Event, x: int, before: Cluster, step: Recorded) -> None:
    if isinstance(event, Sent):
        sent = _sent(event, x, before, step.cluster)
        found[event.message] = replace(sent, duplicate=isinstance(step.move, Duplicate))
    elif isinstance(event, Delivered):
        row = found.get(event.message) or _sent(event, x, before, step.cluster)
        row = replace(row, held=tuple(message_contents.held(event, before)))
        row = replace(row, log=all_lines(Moment(before, step)))
        found[event.message] = _delivered(row, event, x, step.events)
    elif isinstance(event, Dropped):
        row = found.get(event.message) or _sent(event, x, before, step.cluster)
        found[event.message] = replace(row, x_arrived=x, fate="dropped", outcome=event.why)


def _sent(event: Sent | Delivered | Dropped, x: int, before: Cluster, after: Cluster) -> MessageRow:
    name = event.message
    sender = broker(after, name.sender) or broker(before, name.sender)
    process = sender.process if sender is not None else None
    return MessageRow(
        name=str(name),
        kind=name.kind,
        sender=lane_of(name.sender),
        receiver=lane_of(event.receiver),
        x_sent=x,
        x_arrived=None,
        fate="in flight",
        label=_label(name.kind, event.body, before),
        detail=explain.describe(event.body),
        fields=tuple(message_contents.fields(event.body)),
        partition=_partition(event.body),
        sent_by=-1 if process is None else process.epoch,
    )


def _delivered(row: MessageRow, event: Delivered, x: int, events: Sequence[Event]) -> MessageRow:
    row = replace(
        row, x_arrived=x, fate="delivered", previous_incarnation=event.previous_incarnation
    )
    refused = next((e for e in events if _is_about(e, event)), None)
    if isinstance(refused, Refused):
        return replace(
            row,
            fate="refused",
            error=refused.error.name,
            guard=refused.guard or "",
            clause=_clause(refused.guard),
            compared=tuple(_compared(c) for c in refused.compared),
            partition=refused.partition or row.partition,
        )
    return replace(row, outcome=_accepted(event, events))


def _with_answers(rows: Iterable[MessageRow]) -> Iterator[MessageRow]:
    """Requests whose answer came at the same moment have its log lines too."""
    kept = tuple(rows)
    answers: dict[tuple[str, str, int | None], list[str]] = {}
    for row in kept:
        if row.kind in ANSWERED and row.fate == "delivered" and row.log:
            key = (asked_by(row.kind), row.receiver, row.x_arrived)
            answers.setdefault(key, []).extend(row.log)
    for row in kept:
        found = answers.get((row.kind, row.sender, row.x_arrived))
        log = dict.fromkeys((*row.log, *(found or ())))
        yield replace(row, log=tuple(log)) if found else row


def _is_about(event: Event, delivered: Delivered) -> bool:
    return isinstance(event, Refused) and event.node == delivered.receiver


def _accepted(event: Delivered, events: Sequence[Event]) -> str:
    if not isinstance(event.body, AlterPartitionRequest):
        return ""
    changed = next((e for e in events if isinstance(e, IsrChanged)), None)
    if changed is None:
        return "accepted"
    isr = broker_list(changed.after)
    return f"accepted: ISR {isr}, partition epoch {changed.partition_epoch}"


def _compared(compared: Compared) -> str:
    """``broker 2: request 41, registered 57``."""
    if compared.requested in ("member", "caught up"):
        return f"{compared.name} is {compared.held}"
    if compared.name.startswith("broker") and compared.name.endswith(" epoch"):
        who = compared.name.removesuffix(" epoch")
        return f"{who}: request {compared.requested}, registered {compared.held}"
    return f"{compared.name}: request {compared.requested}, here {compared.held}"


def _clause(guard: str | None) -> str:
    found = GUARDS.get(guard or "")
    return f"{found.subject}: {found.clause}" if found is not None else ""


def _partition(body: Any) -> str:
    if isinstance(body, AlterPartitionRequest):
        # A request about several partitions belongs to all of them.
        return body.items[0].partition if len(body.items) == 1 else ""
    name = getattr(body, "partition", "")
    return str(name)


# --- labels -------------------------------------------------------------------------------------


def _label(kind: str, body: Any, before: Cluster) -> str:
    """A few words: the API, then what it wants."""
    if isinstance(body, AlterPartitionRequest) and body.items:
        several = f" · {len(body.items)} partitions" if len(body.items) > 1 else ""
        return f"AlterPartition v{body.version}{several} · {_wish(body, before)}"
    if isinstance(body, FetchRequest):
        return f"Fetch · from offset {body.offset}"
    return api_name(kind)


def _wish(body: AlterPartitionRequest, before: Cluster) -> str:
    item = body.items[0]
    state = partition_of(before, item.partition)
    isr: tuple[BrokerId, ...] = state.isr if state is not None else ()
    asked = {m.broker: m.epoch for m in item.isr}
    added = [b for b in asked if b not in isr]
    removed = [b for b in isr if b not in asked]
    if added:
        return f"add {', '.join(_as_epoch(b, asked[b], body.version) for b in added)}"
    if removed:
        return f"remove {', '.join(str(b) for b in removed)}"
    return f"ISR {broker_list(asked)}"


def _as_epoch(broker: BrokerId, epoch: int, version: int) -> str:
    """Before version 3 the request cannot say which life of a broker it means."""
    if version >= 3 and epoch >= 0:
        return f"{broker} as epoch {epoch}"
    return f"{broker}, no epoch sent"


def refusals(rows: Sequence[MessageRow]) -> Iterator[MessageRow]:
    """The refused ones, in order of arrival."""
    return iter(sorted((m for m in rows if m.fate == "refused"), key=lambda m: m.x_arrived or 0))

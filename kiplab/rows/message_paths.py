"""Messages: where each began, where it ended, and what became of it there."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from ..engine import explain, moves, truth
from ..engine.cluster import Cluster, MessageName, broker
from ..engine.events import Delivered, Dropped, Event, Sent
from ..protocol.facts import Compared, IsrChanged, Refused
from ..protocol.guards import GUARDS
from ..protocol.ids import BrokerId, PartitionName, broker_list
from ..protocol.messages import ANSWERED, BODIES, Against, ApiRequest, asked_by
from . import columns, message_contents, operator_log
from .snapshots import Moment, Snapshot

Found = dict[MessageName, columns.MessageRow]
LEADER_EPOCH_IN_ZOOKEEPER = "zookeeper.leader-epoch"
"""The check by which brokers pass over a LeaderAndIsr that is not newer than what they know."""


def messages(shots: Sequence[Snapshot]) -> tuple[columns.MessageRow, ...]:
    """All messages in the order they were sent."""
    found: Found = {}
    for shot in shots:
        for move in shot.moves:
            for id, event in move.named:
                if isinstance(event, Sent | Delivered | Dropped):
                    row = found.get(event.message) or _sent(event, shot.x, move)
                    changes = _changes(row, event, shot.x, move) | _address(event, move)
                    changes |= _ids(id, event, move, changes)
                    found[event.message] = replace(row, **changes)
    return tuple(_with_answers(found.values()))


def _changes(
    row: columns.MessageRow, event: Sent | Delivered | Dropped, x: int, move: Moment
) -> dict[str, Any]:
    """What an event makes of a message's row."""
    if isinstance(event, Sent):
        return {"duplicate": isinstance(move.step.move, moves.Duplicate)}
    if isinstance(event, Dropped):
        return {"x_arrived": x, "fate": "dropped", "outcome": event.why}
    held, log = tuple(message_contents.held(event, move.before)), operator_log.all_lines(move)
    gone = event.previous_incarnation
    arrived = {"x_arrived": x, "held": held, "log": log, "previous_incarnation": gone}
    return arrived | _answered(row, event, move.step.events)


def _address(event: Sent | Delivered | Dropped, move: Moment) -> dict[str, Any]:
    """For which incarnation of its receiver a queued request is, and whether it came to a later
    one.
    """
    meant = move.sent_for.get(event.message)
    if meant is None or isinstance(event, Dropped):
        return {}
    if isinstance(event, Sent):
        return {"meant_for": meant}
    now = truth.registration_of(move.before, event.receiver)
    return {"meant_for": meant, "earlier_life": now is not None and meant < now.epoch}


def _ids(
    id: str, event: Sent | Delivered | Dropped, move: Moment, changes: dict[str, Any]
) -> dict[str, Any]:
    """The ids of the events that a message's row is about."""
    if isinstance(event, Sent):
        return {"began": id}
    if isinstance(event, Dropped):
        return {"ended": (id,)}
    refused, accepted = changes["fate"] == "refused", bool(changes.get("outcome"))
    what = (
        other
        for other, fact in move.named
        if (refused and _is_about(fact, event)) or (accepted and isinstance(fact, IsrChanged))
    )
    return {"ended": (id, *what)}


def _sent(event: Sent | Delivered | Dropped, x: int, move: Moment) -> columns.MessageRow:
    name, before = event.message, move.before
    sender = broker(move.step.cluster, name.sender) or broker(before, name.sender)
    process = sender.process if sender is not None else None
    return columns.MessageRow(
        name=str(name),
        kind=name.kind,
        sender=columns.lane_of(name.sender),
        receiver=columns.lane_of(event.receiver),
        x_sent=x,
        x_arrived=None,
        fate="in flight",
        label=event.body.on_arrow(partial(_isr, before)),
        detail=explain.describe(event.body),
        fields=tuple(message_contents.fields(event.body)),
        partition=event.body.about(),
        sent_by=-1 if process is None else process.epoch,
    )


def _isr(cluster: Cluster, partition: PartitionName) -> tuple[BrokerId, ...]:
    state = truth.partition_of(cluster, partition)
    return state.isr if state is not None else ()


def _answered(row: columns.MessageRow, event: Delivered, events: Sequence[Event]) -> dict[str, Any]:
    refused = next((e for e in events if _is_about(e, event)), None)
    if not isinstance(refused, Refused) or _is_idle(refused):
        return {"fate": "delivered", "outcome": _accepted(event, events)}
    return {
        "fate": "refused",
        "error": refused.error.name,
        "guard": refused.guard or "",
        "clause": clause_of(refused.guard),
        "compared": tuple(map(compared_words, refused.compared)),
        "partition": refused.partition or row.partition,
    }


def _with_answers(rows: Iterable[columns.MessageRow]) -> Iterator[columns.MessageRow]:
    """Requests whose answer came at the same moment have its log lines too."""
    messages = tuple(rows)
    answers: dict[tuple[str, str, int | None], list[str]] = {}
    for row in messages:
        if row.kind in ANSWERED and row.fate == "delivered" and row.log:
            key = (asked_by(row.kind), row.receiver, row.x_arrived)
            answers.setdefault(key, []).extend(row.log)
    for row in messages:
        found = answers.get((row.kind, row.sender, row.x_arrived))
        log = dict.fromkeys((*row.log, *(found or ())))
        yield replace(row, log=tuple(log)) if found else row


def _is_about(event: Event, delivered: Delivered) -> bool:
    return isinstance(event, Refused) and event.node == delivered.receiver


def _is_idle(refused: Refused) -> bool:
    """A LeaderAndIsr that says once more what its receiver knows: the answer is an error, and
    nobody minds.
    """
    says = {compared.requested == compared.held for compared in refused.compared}
    return refused.guard == LEADER_EPOCH_IN_ZOOKEEPER and says == {True}


def _accepted(event: Delivered, events: Sequence[Event]) -> str:
    """What became of a request that the controller held against a partition."""
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
    found = GUARDS.get(guard or "")
    return f"{found.subject}: {found.clause}" if found is not None else ""


def refusals(rows: Sequence[columns.MessageRow]) -> Iterator[columns.MessageRow]:
    """The refused ones, in order of arrival."""
    return iter(sorted((m for m in rows if m.fate == "refused"), key=lambda m: m.x_arrived or 0))


# --- told messages --------------------------------------------------------------------------------


ARROWS_MAX = 12


def told_messages(rows: columns.Rows, partition: str = "") -> list[columns.MessageRow]:
    """The messages that get an arrow, most telling first; equal ones share one arrow.

    Those that arrived at once and were not refused have none: hover cards and tables list them.
    With `partition`, those about others have none either.
    """
    told = [m for m in rows.messages if m.is_telling]
    if partition:
        told = [m for m in told if m.earlier_life or m.partition in ("", partition)]
    groups: dict[tuple[object, ...], list[columns.MessageRow]] = {}
    for m in told:
        groups.setdefault(_alike(m), []).append(m)
    merged = [_merged(group) for group in groups.values()]
    return sorted(merged, key=_rank)[:ARROWS_MAX]


def _alike(m: columns.MessageRow) -> tuple[object, ...]:
    """What equal messages have in common; what is for an earlier incarnation and comes at one
    moment is one bundle, whatever it asks for.
    """
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


def _rank(message: columns.MessageRow) -> tuple[bool, int, int]:
    return (message.fate != "refused", BODIES[message.kind].told, message.x_sent)

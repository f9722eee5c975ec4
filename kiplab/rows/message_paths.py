"""Messages: where each began, where it ended, and what became of it there."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from ..engine import explain
from ..engine.cluster import Cluster, MessageName, broker
from ..engine.events import Delivered, Dropped, Event, Sent
from ..engine.history import Recorded
from ..engine.moves import Duplicate
from ..engine.truth import partition_of, registration_of
from ..protocol.facts import Compared, IsrChanged, Refused
from ..protocol.guards import GUARDS
from ..protocol.ids import BrokerId, PartitionName, broker_list
from ..protocol.messages import ANSWERED, Against, ApiRequest, asked_by
from . import message_contents
from .columns import MessageRow
from .log_moment import Moment
from .operator_log import all_lines
from .queued_requests import MailWatch
from .snapshots import Snapshot
from .wording import lane_of

Found = dict[MessageName, MessageRow]
LEADER_EPOCH_IN_ZOOKEEPER = "zookeeper.leader-epoch"
"""The check by which brokers pass over a LeaderAndIsr that is not newer than what they know."""


def messages(shots: Sequence[Snapshot]) -> tuple[MessageRow, ...]:
    """All messages in the order they were sent."""
    found: Found = {}
    before = shots[0].cluster
    mail = MailWatch(before)
    for shot in shots:
        for step, events in shot.named_steps():
            mail.note(step.events, step.cluster)
            for id, event in events:
                _note(found, event, shot.x, before, step)
                _address(found, event, mail, before)
                _name(found, id, event, events)
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


def _address(found: Found, event: Event, mail: MailWatch, before: Cluster) -> None:
    """For which life of its receiver a queued request is, and whether it came to a later one."""
    if not isinstance(event, Sent | Delivered) or event.message not in mail.sent_for:
        return
    meant = mail.sent_for[event.message]
    row = replace(found[event.message], meant_for=meant)
    if isinstance(event, Delivered):
        now = registration_of(before, event.receiver)
        row = replace(row, earlier_life=now is not None and meant < now.epoch)
    found[event.message] = row


def _name(found: Found, id: str, event: Event, events: Sequence[tuple[str, Event]]) -> None:
    """The ids of the events that a message's row is about."""
    if isinstance(event, Sent):
        found[event.message] = replace(found[event.message], began=id)
    elif isinstance(event, Delivered | Dropped):
        row = found[event.message]
        what = [other for other, fact in events if _says_so(fact, event, row)]
        found[event.message] = replace(row, ended=(id, *what))


def _says_so(fact: Event, event: Delivered | Dropped, row: MessageRow) -> bool:
    """Whether a fact is what a message's fate was read from."""
    if row.fate == "refused":
        return isinstance(event, Delivered) and _is_about(fact, event)
    accepted = row.fate == "delivered" and row.outcome
    return bool(accepted) and isinstance(fact, IsrChanged)


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
        label=event.body.on_arrow(partial(_isr, before)),
        detail=explain.describe(event.body),
        fields=tuple(message_contents.fields(event.body)),
        partition=event.body.about(),
        sent_by=-1 if process is None else process.epoch,
    )


def _isr(cluster: Cluster, partition: PartitionName) -> tuple[BrokerId, ...]:
    state = partition_of(cluster, partition)
    return state.isr if state is not None else ()


def _delivered(row: MessageRow, event: Delivered, x: int, events: Sequence[Event]) -> MessageRow:
    row = replace(
        row, x_arrived=x, fate="delivered", previous_incarnation=event.previous_incarnation
    )
    refused = next((e for e in events if _is_about(e, event)), None)
    if isinstance(refused, Refused) and not _is_idle(refused):
        return replace(
            row,
            fate="refused",
            error=refused.error.name,
            guard=refused.guard or "",
            clause=clause_of(refused.guard),
            compared=tuple(map(compared_words, refused.compared)),
            partition=refused.partition or row.partition,
        )
    return replace(row, outcome=_accepted(event, events))


def _with_answers(rows: Iterable[MessageRow]) -> Iterator[MessageRow]:
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


def refusals(rows: Sequence[MessageRow]) -> Iterator[MessageRow]:
    """The refused ones, in order of arrival."""
    return iter(sorted((m for m in rows if m.fate == "refused"), key=lambda m: m.x_arrived or 0))

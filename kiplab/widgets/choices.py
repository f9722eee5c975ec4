"""What can be done where one stands: each choice with its line, or with what is in its way."""

from __future__ import annotations

import msgspec

from ..engine import moves
from ..engine.cluster import Cluster, Message, broker
from ..engine.explain import describe
from ..engine.possible import why_not
from ..plays.play import Statement
from ..plays.values import LOSSES
from ..plays.written import statement_of
from ..protocol.ids import BrokerId, node_name
from ..protocol.kraft.state import registration
from ..protocol.replica.state import Lifecycle, Loss

LOSS_WORDS = {"nothing": "kept", "what was not flushed": "tail-lost", "the whole disk": "replaced"}
"""What a crash takes with it, in words, and as the play's line says it."""
BROKER_CHOICES = ("Crash", "Expire", "Start", "Unfence", "Fetch")
"""What can happen to a broker, in the order of the buttons."""


class Choice(msgspec.Struct, frozen=True):
    """A button: its label, the line it writes, and why it cannot be done now (None: it can)."""

    label: str
    line: Statement
    reason: str | None


def about_broker(cluster: Cluster, id: BrokerId, disk: str) -> tuple[Choice, ...]:
    """One choice per label of BROKER_CHOICES; `disk` is one of the values of LOSS_WORDS."""
    crash = moves.Crash(id, Loss(LOSSES[disk]))
    plain: tuple[moves.Move, ...] = (crash, moves.ExpireSession(id), moves.Start(id))
    first = [_choice(cluster, move) for move in plain]
    fetch = _choice(cluster, moves.Fire(id, moves.Timer.FETCH))
    found = (*first, _unfence(cluster, id), fetch)
    named = zip(BROKER_CHOICES, found, strict=True)
    return tuple(msgspec.structs.replace(choice, label=label) for label, choice in named)


def about_message(cluster: Cluster, message: Message) -> tuple[Choice, Choice]:
    """Deliver it, or drop it."""
    deliver = _choice(cluster, moves.Deliver(message.name))
    drop = _choice(cluster, moves.Drop(message.name))
    return _brief(cluster, message, "Deliver", deliver), _brief(cluster, message, "Drop", drop)


def _brief(cluster: Cluster, message: Message, label: str, choice: Choice) -> Choice:
    """A line speaks of the oldest message that it fits: kind and sender are mostly enough."""
    kind, sender = message.name.kind, message.name.sender
    alike = (m for m in cluster.messages if (m.name.kind, m.name.sender) == (kind, sender))
    exact = choice.line.args if next(alike) is not message else choice.line.args[:1]
    return Choice(label, msgspec.structs.replace(choice.line, args=exact), choice.reason)


def _choice(cluster: Cluster, move: moves.Move) -> Choice:
    return Choice("", statement_of(move), why_not(cluster, move))


def _unfence(cluster: Cluster, id: BrokerId) -> Choice:
    """The play's ``unfence`` ends a recovery first; a broker that has recovered sends a heartbeat.

    A broker that is not fenced has nothing to ask for.
    """
    node = broker(cluster, id)
    lifecycle = node.process.lifecycle if node and node.process else Lifecycle.STARTING
    if lifecycle in (Lifecycle.STARTING, Lifecycle.RECOVERY):
        ready = lifecycle is Lifecycle.RECOVERY
        reason = None if ready else why_not(cluster, moves.FinishRecovery(id))
        return Choice("", Statement("unfence", (str(id),)), reason)
    heartbeat = _choice(cluster, moves.Fire(id, moves.Timer.HEARTBEAT))
    known = registration(cluster.controller.registrations, id)
    if known is not None and not known.fenced:
        return msgspec.structs.replace(heartbeat, reason=f"{node_name(id)} is not fenced")
    return heartbeat


def standing(cluster: Cluster, id: BrokerId) -> str:
    """How a broker does, in a few words: ``"runs as epoch 41, fenced"``."""
    node = broker(cluster, id)
    known = registration(cluster.controller.registrations, id)
    fenced = ", fenced" if known is not None and known.fenced else ""
    if node is None or node.process is None:
        return f"down{fenced or ', not noticed yet'}"
    epoch = f" as epoch {node.process.epoch}" if node.process.epoch >= 0 else ""
    return f"{_LIFE[node.process.lifecycle]}{epoch}{fenced}"


def route(message: Message) -> str:
    """``"broker 1 → controller"``."""
    return f"{node_name(message.name.sender)} → {node_name(message.receiver)}"


def content(message: Message) -> str:
    """What a message says."""
    return describe(message.body)


_LIFE = {
    Lifecycle.STARTING: "waits to register",
    Lifecycle.RECOVERY: "recovering",
    Lifecycle.RUNNING: "runs",
    Lifecycle.PENDING_CONTROLLED_SHUTDOWN: "shutting down",
}

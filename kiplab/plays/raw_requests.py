"""`send`: a request with any field values, so that each test vector is a play."""

from __future__ import annotations

from collections.abc import Collection

from ..engine.cluster import Cluster
from ..engine.nodes import kind_of
from ..engine.routes import JOINT_ROUTES, ROUTES
from ..engine.truth import controller_of, partition_of
from ..protocol.ids import NO_LEADER, BrokerId
from ..protocol.messages import KINDS, Request
from ..protocol.replica.broker_state import Broker
from . import values
from .play import Statement
from .request_words import REQUEST_FORMS, RequestForm, Sending, made, said_of
from .values import Keys

ITEMS_MAX = 12
"""How many partitions one request may name."""


def raw_request(statement: Statement, cluster: Cluster) -> tuple[BrokerId, BrokerId, Request]:
    """(sender, receiver, body). A field that is not given has the value that fits the situation."""
    sender = BrokerId(int(statement.arg("from", "1") or ""))
    form = REQUEST_FORMS[statement.words[0]]
    body = made(form, statement, Sending(cluster, sender, form.struct))
    return sender, _receiver(statement, cluster, body), body


def _receiver(statement: Statement, cluster: Cluster, body: Request) -> BrokerId:
    """Who is named, or the controller if it answers such a request, or the partition's leader."""
    to = statement.arg("to")
    if to:
        return BrokerId(int(to))
    controller = controller_of(cluster)
    if controller is not None and _answers(cluster, controller, body):
        return controller
    state = partition_of(cluster, body.about())
    return state.leader if state else NO_LEADER


def _answers(cluster: Cluster, node: BrokerId, body: Request) -> bool:
    key = kind_of(cluster, node), type(body)
    return key in ROUTES or key in JOINT_ROUTES


def raw_statement(sender: BrokerId, receiver: BrokerId, body: Request) -> Statement:
    """The line that says exactly this request."""
    kind = KINDS[type(body)]
    to = (("to", str(receiver)),) if receiver >= 0 else ()
    return Statement(
        "send", (kind,), (("from", str(sender)), *to, *said_of(REQUEST_FORMS[kind], body))
    )


# --- its words ----------------------------------------------------------------------------------


def _words(form: RequestForm) -> Keys:
    """A broker that answers such a request may be named."""
    to = {"to": values.broker} if (Broker, form.struct) in ROUTES else {}
    return {"from": values.any_broker, **to, **{word.key: word.form.read for word in form.own}}


WORDS: dict[str, Keys] = {kind: _words(form) for kind, form in REQUEST_FORMS.items()}
"""What `send` takes for each kind of request."""


def words_of(statement: Statement) -> Keys:
    """What the request of this line takes; of every other line, nothing."""
    return WORDS[statement.words[0]] if statement.verb == "send" else {}


def said_again(statement: Statement, key: str, seen: Collection[str]) -> set[str]:
    """What may be said once more if `key`, after those `seen`, begins another partition."""
    several = REQUEST_FORMS[statement.words[0]].several if statement.verb == "send" else None
    if several is None or key != several.begins or key not in seen:
        return set()
    return {word.key for word in several.each.own}

"""Requests and responses of the replication control plane, with the fields of each version.

A body holds every field of its newest version. `version` is the version on the wire, and the
receiving rule reads only its fields. Fields named `observed...` are never on the wire and no rule
reads them: with them an observer of the run checks what a broker epoch of -1 hides.
"""

import operator
from functools import reduce
from typing import TYPE_CHECKING

import msgspec

from ..ids import BrokerId
from . import (
    broker_messages,
    directory_messages,
    heartbeat_messages,
    replication_messages,
    zookeeper_messages,
)

# Whoever adds a message writes it into one of these files: there is no list of names here.
from .api_message import *  # noqa: F403
from .api_message import ApiMessage, ApiRequest, ApiResponse
from .broker_messages import *  # noqa: F403
from .directory_messages import *  # noqa: F403
from .heartbeat_messages import *  # noqa: F403
from .replication_messages import *  # noqa: F403
from .zookeeper_messages import *  # noqa: F403

FILES = (
    *(replication_messages, broker_messages, zookeeper_messages, heartbeat_messages),
    directory_messages,
)
"""The modules of messages, in the order in which all of them are listed. What is new comes last:
recordings have the place of a request in this order.
"""


_MESSAGES: tuple[type[ApiMessage], ...] = tuple(
    body
    for file in FILES
    for body in vars(file).values()
    if isinstance(body, type) and issubclass(body, ApiMessage) and body.__module__ == file.__name__
)
REQUESTS = tuple(body for body in _MESSAGES if issubclass(body, ApiRequest))
RESPONSES = tuple(body for body in _MESSAGES if issubclass(body, ApiResponse))
_OTHERS = tuple(body for body in _MESSAGES if body not in (*REQUESTS, *RESPONSES))

if TYPE_CHECKING:
    Request = ApiRequest
    Response = ApiResponse
    Body = ApiMessage
else:
    # Closed unions, so that a body can be read back from JSON and numbers be found in it.
    Request = reduce(operator.or_, REQUESTS)
    Response = reduce(operator.or_, RESPONSES)
    Body = reduce(operator.or_, _MESSAGES)


def _kind(body: type[ApiMessage]) -> str:
    if body.__struct_config__.tag is None:
        raise TypeError(f"{body.__name__} has no tag; say what plays call it, as in tag='fetch'")
    return str(body.__struct_config__.tag)


def _answers(request: type[ApiRequest]) -> tuple[type[ApiResponse], ...]:
    return tuple(response for response in RESPONSES if response.api is request.api)


_IN_ORDER = (*(body for request in REQUESTS for body in (request, *_answers(request))), *_OTHERS)
KINDS: dict[type[ApiMessage], str] = {body: _kind(body) for body in _IN_ORDER}
"""The name a play uses for each kind of message: each answer behind its request."""
BODIES: dict[str, type[ApiMessage]] = {kind: body for body, kind in KINDS.items()}
"""The same, the other way round."""
ANSWERED: dict[str, str] = {
    _kind(answer): _kind(request) for request in REQUESTS for answer in _answers(request)
}
"""The kind of each answer, and what it answers: ``{"fetch-reply": "fetch", ...}``."""


def asked_by(kind: str) -> str:
    """The kind of request that a message belongs to: itself, or what it answers."""
    return ANSWERED.get(kind, kind)


def api_kinds() -> tuple[str, ...]:
    """Every kind of message that is no answer."""
    return tuple(kind for kind in BODIES if kind not in ANSWERED)


class Send(msgspec.Struct, frozen=True):
    """A rule's wish to send; the engine gives the message a name and a channel."""

    receiver: BrokerId
    body: Body

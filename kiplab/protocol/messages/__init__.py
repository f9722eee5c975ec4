"""Requests and responses of the replication control plane, with what each version carries.

A body holds every field of its newest version; `version` says what is on the wire, and the
receiving rule reads only that. Fields named `observed...` are never on the wire and no rule reads
them: they let an observer of the run check what a broker epoch of -1 hides.
"""

from __future__ import annotations

from typing import get_args

import msgspec

from ..ids import BrokerId
from .api_message import Against, Api, ApiMessage, ApiRequest, ApiResponse
from .broker_messages import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
)
from .metadata_messages import ElectLeadersRequest, ElectLeadersResponse, MetadataUpdate
from .replication_messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResult,
    FetchRequest,
    FetchResponse,
    IsrMember,
    RecoveryOnWire,
)

Request = (
    AlterPartitionRequest
    | FetchRequest
    | BrokerRegistrationRequest
    | BrokerHeartbeatRequest
    | ElectLeadersRequest
)
Response = (
    AlterPartitionResponse
    | FetchResponse
    | BrokerRegistrationResponse
    | BrokerHeartbeatResponse
    | ElectLeadersResponse
)
Body = Request | Response | MetadataUpdate

KINDS: dict[type[ApiMessage], str] = {}
"""The name a play uses for each kind of message: each answer behind its request."""
BODIES: dict[str, type[ApiMessage]] = {}
"""The same, the other way round."""
ANSWERED: dict[str, str] = {}
"""The kind of each answer, and what it answers: ``{"fetch-reply": "fetch", ...}``."""


def declare(*bodies: type[ApiMessage]) -> None:
    """Enter messages into the tables above, requests before their answers."""
    for body in bodies:
        kind = str(body.__struct_config__.tag)
        KINDS[body], BODIES[kind] = kind, body
        asked = (k for b, k in KINDS.items() if b.api is body.api and issubclass(b, ApiRequest))
        if issubclass(body, ApiResponse):
            ANSWERED[kind] = next(asked)


for _request in get_args(Request):
    declare(_request, *(r for r in get_args(Response) if r.api is _request.api))
declare(MetadataUpdate)


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


__all__ = [
    "ANSWERED",
    "BODIES",
    "KINDS",
    "Against",
    "AlterPartitionItem",
    "AlterPartitionRequest",
    "AlterPartitionResponse",
    "AlterPartitionResult",
    "Api",
    "ApiMessage",
    "ApiRequest",
    "ApiResponse",
    "Body",
    "BrokerHeartbeatRequest",
    "BrokerHeartbeatResponse",
    "BrokerRegistrationRequest",
    "BrokerRegistrationResponse",
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "FetchRequest",
    "FetchResponse",
    "IsrMember",
    "MetadataUpdate",
    "RecoveryOnWire",
    "Request",
    "Response",
    "Send",
    "api_kinds",
    "asked_by",
    "declare",
]

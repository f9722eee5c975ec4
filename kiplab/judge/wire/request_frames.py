"""Requests and answers with their headers, as they stand between two nodes, without their size."""

import struct
from collections.abc import Mapping
from typing import Any

import msgspec

from .message_bytes import INT16, INT32, read_message, read_unsigned_varint, written_message
from .message_schemas import MessageSchema, ReleaseSchemas

CLIENT = "kiplab"
_HEADER = struct.Struct(">hhi")
NO_TAGS = b"\0"
_WITHOUT_CLIENT = ("ControlledShutdown", 0)
"""The one request whose header does not say who asks, in its first version."""


class UnknownRequestError(ValueError):
    """A frame whose API, or whose version of it, the schemas do not have; or one with bytes left
    over.
    """


class ReceivedRequest(msgspec.Struct, frozen=True):
    """A request as it was read. `api` is a name such as ``"LeaderAndIsr"``; `client` is who asks,
    None where the header does not say.
    """

    api: str
    version: int
    correlation: int
    client: str | None
    body: dict[str, Any]


def written_request(
    schemas: ReleaseSchemas,
    api: str,
    version: int,
    correlation: int,
    body: Mapping[str, Any],
) -> bytes:
    """The frame of a request. Raises KeyError for an API that the schemas do not have, and what
    `written_message` raises for its body.
    """
    schema = schemas.requests[api]
    assert schema.api_key is not None
    head = _HEADER.pack(schema.api_key, version, correlation)
    if (api, version) != _WITHOUT_CLIENT:
        head += INT16.pack(len(CLIENT)) + CLIENT.encode()
    head += NO_TAGS if schema.flexible.have(version) else b""
    return head + written_message(schema, body, version)


def read_request(schemas: ReleaseSchemas, frame: bytes) -> ReceivedRequest:
    """What a frame asks. Raises UnknownRequestError for what no schema describes, IndexError or
    struct.error where the frame ends too early.
    """
    key, version, correlation = _HEADER.unpack_from(frame)
    api, schema = _named(schemas, key)
    if not schema.versions.have(version):
        raise UnknownRequestError(f"there is no {api} v{version}")
    client, at = None, _HEADER.size
    if (api, version) != _WITHOUT_CLIENT:
        client, at = _read_client(frame, at)
    if schema.flexible.have(version):
        at = _past_tags(frame, at)
    body, end = read_message(schema, frame, version, at)
    if end != len(frame):
        raise UnknownRequestError(f"{api} v{version}: {len(frame) - end} bytes too many")
    return ReceivedRequest(api, version, correlation, client, body)


def written_answer(
    schemas: ReleaseSchemas, request: ReceivedRequest, body: Mapping[str, Any]
) -> bytes:
    """The frame of an answer to `request`. Raises what `written_message` raises for its body."""
    schema = schemas.responses[request.api]
    tags = NO_TAGS if _is_tagged(request.api, schema, request.version) else b""
    return INT32.pack(request.correlation) + tags + written_message(schema, body, request.version)


def read_answer(
    schemas: ReleaseSchemas, api: str, version: int, frame: bytes
) -> tuple[int, dict[str, Any]]:
    """(correlation of the request, answer). Raises UnknownRequestError for bytes left over,
    IndexError or struct.error where the frame ends too early.
    """
    (correlation,) = INT32.unpack_from(frame)
    schema = schemas.responses[api]
    at = INT32.size
    if _is_tagged(api, schema, version):
        at = _past_tags(frame, at)
    answer, end = read_message(schema, frame, version, at)
    if end != len(frame):
        raise UnknownRequestError(f"{api} v{version}: {len(frame) - end} bytes too many")
    return correlation, answer


def _named(schemas: ReleaseSchemas, key: int) -> tuple[str, MessageSchema]:
    for api, schema in schemas.requests.items():
        if schema.api_key == key:
            return api, schema
    raise UnknownRequestError(f"there is no API with the key {key}")


def _read_client(frame: bytes, at: int) -> tuple[str | None, int]:
    (size,) = INT16.unpack_from(frame, at)
    at += INT16.size
    return (None, at) if size < 0 else (frame[at : at + size].decode(), at + size)


def _past_tags(frame: bytes, at: int) -> int:
    """Where the header ends; nobody puts anything into its tagged fields yet."""
    count, at = read_unsigned_varint(frame, at)
    for _ in range(count):
        _, at = read_unsigned_varint(frame, at)
        size, at = read_unsigned_varint(frame, at)
        at += size
    return at


def _is_tagged(api: str, schema: MessageSchema, version: int) -> bool:
    # Whoever asks for the versions cannot know yet how the answer is headed.
    return schema.flexible.have(version) and api != "ApiVersions"

"""One blocking connection to a node of Kafka: fake brokers and an admin client speak over it."""

import socket
import struct
from collections.abc import Mapping
from typing import Any

import msgspec

from ...incident.reading.message_bytes import (
    INT16,
    INT32,
    PYTHON_FORMS,
    message_reader,
    pass_tags,
    written_message,
)
from ...incident.reading.message_fields import MessageSchema
from .metadata_log import ReleaseSchemas

PATIENCE_S = 30


class LostConnectionError(ConnectionError):
    """The node closed the connection, or answered another request."""


class NodeConnection:
    """Requests go out and answers come back one at a time, as between a broker and a controller.

    Raises OSError if no process listens at that port of the loopback interface.
    """

    def __init__(self, port: int, schemas: ReleaseSchemas) -> None:
        self.schemas = schemas
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._asked = 0

    def ask(self, api: str, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request such as ``("ElectLeaders", 2, {...})``. Raises KeyError for an
        API that the release lacks, LostConnectionError without an answer, TimeoutError after
        `PATIENCE_S`.
        """
        self._asked += 1
        frame = written_request(self.schemas, api, version, self._asked, body)
        self._socket.sendall(INT32.pack(len(frame)) + frame)
        data = self._received(INT32.unpack(self._received(INT32.size))[0])
        try:
            request_id, answer = read_answer(self.schemas, api, version, data)
        except UnknownRequestError as problem:
            raise LostConnectionError(str(problem)) from None
        if request_id != self._asked:
            raise LostConnectionError(f"{api}: answer {request_id} came to request {self._asked}")
        return answer

    def _received(self, size: int) -> bytes:
        out = bytearray()
        while len(out) < size:
            more = self._socket.recv(size - len(out))
            if not more:
                raise LostConnectionError("the node closed the connection")
            out += more
        return bytes(out)

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


RequestBody = Mapping[str, Any]
CLIENT = "kiplab"
_HEADER = struct.Struct(">hhi")
NO_TAGS = b"\0"
_WITHOUT_CLIENT = ("ControlledShutdown", 0)
"""The one request whose header does not say who asks, in its first version."""


class UnknownRequestError(ValueError):
    """A frame of which the schemas lack the API or the version, or one with bytes left over."""


class ReceivedRequest(msgspec.Struct, frozen=True):
    """A request of an API such as ``"LeaderAndIsr"``; `client` is None where it does not say."""

    api: str
    version: int
    correlation: int
    client: str | None
    body: dict[str, Any]


def written_request(
    schemas: ReleaseSchemas, api: str, version: int, correlation: int, body: RequestBody
) -> bytes:
    """The frame of a request. Raises KeyError for an unknown API, and as `written_message`."""
    schema = schemas.requests[api]
    assert schema.api_key is not None
    head = _HEADER.pack(schema.api_key, version, correlation)
    if (api, version) != _WITHOUT_CLIENT:
        head += INT16.pack(len(CLIENT)) + CLIENT.encode()
    head += NO_TAGS if schema.flexible.have(version) else b""
    return head + written_message(schema, body, version)


def read_request(schemas: ReleaseSchemas, frame: bytes) -> ReceivedRequest:
    """What a frame asks. Raises UnknownRequestError, or IndexError or struct.error at its end."""
    key, version, correlation = _HEADER.unpack_from(frame)
    api = next((api for api, schema in schemas.requests.items() if schema.api_key == key), None)
    if api is None:
        raise UnknownRequestError(f"there is no API with the key {key}")
    schema = schemas.requests[api]
    if not schema.versions.have(version):
        raise UnknownRequestError(f"there is no {api} v{version}")
    client, at = None, _HEADER.size
    if (api, version) != _WITHOUT_CLIENT:
        (size,), at = INT16.unpack_from(frame, at), at + INT16.size
        if size >= 0:
            client, at = frame[at : at + size].decode(), at + size
    if schema.flexible.have(version):
        at = pass_tags(frame, at)
    return ReceivedRequest(
        api, version, correlation, client, _body(frame, at, schema, api, version)
    )


def written_answer(schemas: ReleaseSchemas, request: ReceivedRequest, body: RequestBody) -> bytes:
    """The frame of an answer to `request`. Raises what `written_message` raises for its body."""
    schema = schemas.responses[request.api]
    tags = NO_TAGS if _is_tagged(request.api, schema, request.version) else b""
    return INT32.pack(request.correlation) + tags + written_message(schema, body, request.version)


def read_answer(
    schemas: ReleaseSchemas, api: str, version: int, frame: bytes
) -> tuple[int, dict[str, Any]]:
    """(correlation, answer). Raises UnknownRequestError, or IndexError or struct.error."""
    (correlation,), schema = INT32.unpack_from(frame), schemas.responses[api]
    at = INT32.size
    if _is_tagged(api, schema, version):
        at = pass_tags(frame, at)
    return correlation, _body(frame, at, schema, api, version)


def _body(frame: bytes, at: int, schema: MessageSchema, api: str, version: int) -> dict[str, Any]:
    body, end = message_reader(schema, version, PYTHON_FORMS)(frame, at)
    if end != len(frame):
        raise UnknownRequestError(f"{api} v{version}: {len(frame) - end} bytes too many")
    return dict(body)


def _is_tagged(api: str, schema: MessageSchema, version: int) -> bool:
    # Whoever asks for the versions cannot know yet how the answer is headed.
    return schema.flexible.have(version) and api != "ApiVersions"

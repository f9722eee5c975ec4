"""One blocking connection to a node of Kafka: fake brokers and an admin client speak over it."""

from __future__ import annotations

import socket
import struct
from collections.abc import Mapping
from typing import Any

from .message_schemas import ReleaseSchemas
from .reading import read_message
from .varints import INT32
from .writing import written_message

PATIENCE_S = 30
CLIENT = b"kiplab"
_HEADER = struct.Struct(">hhih")
NO_TAGS = b"\0"


class LostConnectionError(ConnectionError):
    """The node closed the connection, or answered what it was not asked."""


class NodeConnection:
    """Requests go out and answers come back one at a time, as between a broker and a controller.

    Raises OSError if nobody listens at that port of the loopback interface.
    """

    def __init__(self, port: int, schemas: ReleaseSchemas) -> None:
        self.schemas = schemas
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._asked = 0

    def ask(self, api: str, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a request such as ``("ElectLeaders", 2, {...})``.

        Raises KeyError for an API that the release does not have, LostConnectionError where no
        answer came, TimeoutError after `PATIENCE_S`.
        """
        self._asked += 1
        frame = self._header(api, version) + written_message(
            self.schemas.requests[api], body, version
        )
        self._socket.sendall(INT32.pack(len(frame)) + frame)
        return self._answer(api, version)

    def _header(self, api: str, version: int) -> bytes:
        schema = self.schemas.requests[api]
        assert schema.api_key is not None
        head = _HEADER.pack(schema.api_key, version, self._asked, len(CLIENT)) + CLIENT
        return head + NO_TAGS if schema.flexible.have(version) else head

    def _answer(self, api: str, version: int) -> dict[str, Any]:
        data = self._received(INT32.unpack(self._received(INT32.size))[0])
        (asked,) = INT32.unpack_from(data)
        if asked != self._asked:
            raise LostConnectionError(f"{api}: answer {asked} came to request {self._asked}")
        schema = self.schemas.responses[api]
        # Whoever asks for the versions cannot know yet how the answer is headed.
        tagged = schema.flexible.have(version) and api != "ApiVersions"
        at = INT32.size + (len(NO_TAGS) if tagged else 0)
        answer, end = read_message(schema, data, version, at)
        if end != len(data):
            raise LostConnectionError(f"{api} v{version}: {len(data) - end} bytes too many")
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

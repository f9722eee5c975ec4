"""One blocking connection to a node of Kafka: fake brokers and an admin client speak over it."""

import socket
from collections.abc import Mapping
from typing import Any

from .message_bytes import INT32
from .message_schemas import ReleaseSchemas
from .request_frames import UnknownRequestError, read_answer, written_request

PATIENCE_S = 30


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
        frame = written_request(self.schemas, api, version, self._asked, body)
        self._socket.sendall(INT32.pack(len(frame)) + frame)
        return self._answer(api, version)

    def _answer(self, api: str, version: int) -> dict[str, Any]:
        data = self._received(INT32.unpack(self._received(INT32.size))[0])
        try:
            asked, answer = read_answer(self.schemas, api, version, data)
        except UnknownRequestError as problem:
            raise LostConnectionError(str(problem)) from None
        if asked != self._asked:
            raise LostConnectionError(f"{api}: answer {asked} came to request {self._asked}")
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

"""Sessions with a real ZooKeeper by kazoo: opened, closed, dropped unsaid, taken over, expired.

A client of kazoo's would open another session when its own has expired; these give up instead, for
in a comparison every session counts. What a watch says is noted in the order in which it arrives,
and before the answer to whatever was asked after it.
"""

import logging
import socket
import struct
import threading
from typing import Any

from kiplab.extras import needed_by
from kiplab.judge.java_process import DeadKafkaError

PATIENCE_S = 60.0
SESSION_S = 60.0
"""Long enough that no machine is so busy that a session is lost."""

SessionIdentity = tuple[int, bytes]
"""The id of a session and its password."""


class KazooSession:
    """One client, connected to the server at `address`.

    `as_session` is a session that there is, to be taken over. Raises DeadKafkaError if the server
    does not answer, MissingExtraError without kazoo.
    """

    def __init__(self, address: str, as_session: SessionIdentity | None = None) -> None:
        with needed_by("a comparison with a real ZooKeeper"):
            from kazoo.client import KazooClient
            from kazoo.handlers.threading import SequentialThreadingHandler
            from kazoo.retry import KazooRetry
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        self.heard: list[tuple[str, str]] = []
        self._last: Any = None
        self._lost = threading.Event()
        self._settled = threading.Event()
        handler = SequentialThreadingHandler()
        self._connect = handler.create_connection
        handler.create_connection = self._keeping
        handler.dispatch_callback = lambda callback: callback.func(*callback.args)
        self._socket: socket.socket | None = None
        self.client: Any = KazooClient(
            address,
            timeout=SESSION_S,
            client_id=as_session,
            handler=handler,
            connection_retry=KazooRetry(max_tries=1),
        )
        self.client.add_listener(self._state_changed)
        self.client.start_async()
        if not self._settled.wait(PATIENCE_S):
            self.close()
            raise DeadKafkaError(f"ZooKeeper at {address} did not answer within {PATIENCE_S:.0f} s")

    @property
    def id(self) -> int:
        """The session's id."""
        return int(self.client.client_id[0])

    def note(self, event: Any) -> None:
        """As a watch: what it says; when the connection ends, kazoo says so too."""
        # Who watches a znode and its children is called twice with the one event that came.
        if event.type in _EVENTS and event is not self._last:
            self.heard.append((_EVENTS[event.type], event.path))
        self._last = event

    def caught_up(self) -> list[tuple[str, str]]:
        """All that its watches have said: what is asked now is answered after that."""
        self.client.exists("/")
        return self.heard

    def close(self) -> None:
        """End the session and say so; one that is dropped stays as it is."""
        self.client.stop()
        self.client.close()

    def drop(self) -> SessionIdentity:
        """Break the connection and say nothing: the session lives on. Its id and password."""
        identity: SessionIdentity = self.client.client_id
        assert self._socket is not None
        self._socket.shutdown(socket.SHUT_RDWR)
        self._lost.wait(PATIENCE_S)
        self.close()
        return identity

    def _keeping(self, *args: Any, **keywords: Any) -> socket.socket:
        made: socket.socket = self._connect(*args, **keywords)
        self._socket = made
        return made

    def _state_changed(self, state: str) -> None:
        # Kazoo has three: CONNECTED, SUSPENDED and LOST.
        if state == "LOST":
            self._lost.set()
        if state != "SUSPENDED":
            self._settled.set()


_EVENTS = {
    "CREATED": "NodeCreated",
    "DELETED": "NodeDeleted",
    "CHANGED": "NodeDataChanged",
    "CHILD": "NodeChildrenChanged",
}
"""Kazoo's names, and ZooKeeper's."""


def come_back(
    address: str, session: SessionIdentity, timeout_ms: int = int(SESSION_S * 1000)
) -> int:
    """The timeout that the server grants the session, 0 if it has ended; then the line is cut.

    Kazoo would go on and open another session. ConnectRequest and ConnectResponse of
    zookeeper.jute (ZooKeeper 3.9.5).
    """
    host, _, port = address.partition(":")
    number, password = session
    asked = struct.pack(">iqiqi", 0, 0, timeout_ms, number, len(password)) + password
    with socket.create_connection((host, int(port)), PATIENCE_S) as server:
        server.sendall(struct.pack(">i", len(asked)) + asked)
        with server.makefile("rb") as answer:
            _, _, granted_ms = struct.unpack(">iii", answer.read(12))
    return int(granted_ms)
